"""papers/MISPRINTS.md: its numbers are those of the data, and each test that it names exists."""

import re
from pathlib import Path

import pytest

from arborescence_papers.common.groups import read_table
from arborescence_papers.kbest import measure as kbest
from arborescence_papers.root import measure as root

HERE = Path(__file__).resolve().parents[2]
TEXT = (HERE / "papers" / "MISPRINTS.md").read_text(encoding="utf-8")


def row(place):
    """The cells of the row for a place."""
    [line] = [line for line in TEXT.splitlines() if line.startswith(f"| {place} |")]
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[2:5]]


def test_the_numbers_of_root():
    printed, right, _ = row("Section 3")
    assert printed == "exact match gains 0.60 %"
    [number] = re.findall(r"(\d\.\d\d) %", right)
    rows = root.PAPER.values()
    assert f"{sum(one['exact_change'] for one in rows) / len(rows):.2f}" == number
    table = read_table(root.__file__, "paper_table_1.csv").values()
    assert f"{sum(one['exact_change'] * one['treebanks'] for one in table) / 63:.2f}" == number


def test_the_numbers_of_kbest():
    printed, right, _ = row("Section 6")
    assert printed == "up to 36 %"
    [(number, language)] = re.findall(r"(\d\d\.\d\d) %, of (\w+)", right)
    worst = max(kbest.PAPER, key=lambda name: kbest.PAPER[name]["50"])
    assert (worst, f"{kbest.PAPER[worst]['50']:.2f}") == (language, number)
    assert "whose best trees are all well-formed" in right
    assert kbest.PAPER[worst]["1"] == 0
    assert kbest.PAPER["Scottish Gaelic"]["50"] == 11.75


def test_each_work_has_a_table():
    headings = re.findall(r"^## \*(\w+)\*", TEXT, re.MULTILINE)
    assert headings == ["root", "kbest", "lecture", "undirected"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.py::\w+)`", TEXT))))
def test_named_tests_exist(name):
    path, function = name.split("::")
    own = path.startswith("papers/")
    folder = HERE / "papers" / "tests" if own else HERE / "tests"
    text = (folder / path.removeprefix("papers/")).read_text(encoding="utf-8")
    assert f"\ndef {function}(" in text
