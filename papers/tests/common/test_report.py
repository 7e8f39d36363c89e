"""What reports are made of."""

from __future__ import annotations

import csv
import io
from math import nan

import pytest

from arborescence.treebank.statistics import Interval
from arborescence_papers.common import report
from arborescence_papers.common.treebanks import LeftOut


def test_csv_can_be_read_again():
    rows = [["name", "rate"], ["A, B", "1.5"], ['"C"', ""], ["D|E\n", "–"]]
    assert list(csv.reader(io.StringIO(report.csv_text(*rows)))) == rows


def test_the_files_of_a_report():
    one, other = report.table(("k", "rate"), [(1, "12,000")]), report.table(("", "n"), [])
    texts = report.with_tables(f"# The k-best\n\n{one}\ntext\n\n{one}\n## Rates\n\n{other}")
    assert list(texts) == ["report.md", "the-k-best.csv", "the-k-best-2.csv", "rates.csv"]
    assert texts["the-k-best-2.csv"] == 'k,rate\n1,"12,000"\n'
    assert texts["rates.csv"] == ",n\n"


def test_tables():
    assert report.table(("", "n"), [("a", 1), ("b", 2.5)]).splitlines() == [
        *("|  | n |", "| --- | --- |", "| a | 1 |", "| b | 2.5 |")
    ]
    assert report.table(("a",), []) == "| a |\n| --- |\n"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        *((1.005, 1, "1.0"), (-1.25, 2, "-1.25"), (12544, 0, "12,544"), (nan, 2, "–")),
        *((-0.004, 2, "0.00"), (0.0, 2, "0.00"), (100.0, 1, "100.0")),
    ],
)
def test_numbers(value, digits, text):
    assert report.number(value, digits) == text


def test_intervals():
    assert report.with_interval(-0.5, Interval(-1, 0.001)) == "-0.50 [-1.00, 0.00]"
    assert report.with_interval(5, Interval(4.44, 6), 1) == "5.0 [4.4, 6.0]"
    assert report.with_interval(5, Interval(nan, nan), 1) == "5.0"
    assert report.with_interval(nan, Interval(nan, nan)) == "–"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        *((0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001"), (0.0094, "0.009")),
        *((0.01, "0.01"), (0.049, "0.05"), (1.0, "1.00"), (nan, "–")),
    ],
)
def test_p_values(p, text):
    assert report.p_value(p) == text


def test_those_that_are_left_out():
    assert report.left_out([]) == ""
    untested = LeftOut("Untested", "no test part", failed=False)
    broken = LeftOut("Broken", "x.conllu:1: wrong", failed=True)
    section = report.left_out([untested, broken])
    assert section.startswith("## ")
    assert section.index("these:\n\n- Broken: x.conllu:1: wrong\n") < section.index(
        "part:\n\n- Untested: no test part\n"
    )
    assert "wrong" not in report.left_out([untested])
    assert "lack" not in report.left_out([broken])


def test_files_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "deep" / "out"
    report.write(folder, {"a.md": "ü\n", "b.csv": "1\r\n"})
    assert (folder / "a.md").read_bytes() == "ü\n".encode()
    assert (folder / "b.csv").read_bytes() == b"1\r\n"
    with pytest.raises(UnicodeEncodeError):
        report.write(folder, {"a.md": "\ud800"})
    assert sorted(path.name for path in folder.iterdir()) == ["a.md", "b.csv"]
    assert (folder / "a.md").read_bytes() == "ü\n".encode()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        report.write(tmp_path / "file", {"a.md": ""})
