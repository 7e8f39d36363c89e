"""Head rules: the tables beside the rules as the thesis words them, files, coordination."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from arborescence.errors import OptionError, TreebankError
from arborescence.treebank.phrase_structure import HeadRules
from arborescence.treebank.phrase_structure.head_rules import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

COLLINS = HeadRules.load("collins")


def head_of_np(children: list[str]) -> int:
    """The rules for NP in Collins (1999), Appendix A, one sentence after the other."""
    places = range(len(children))

    def first(where: Iterable[int], *wanted: str) -> int | None:
        return next((place for place in where if children[place] in wanted), None)

    if children[-1] == "POS":
        return places[-1]
    for found in (
        first(reversed(places), "NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"),
        first(places, "NP"),
        first(reversed(places), "$", "ADJP", "PRN"),
        first(reversed(places), "CD"),
        first(reversed(places), "JJ", "JJS", "RB", "QP"),
    ):
        if found is not None:
            return found
    return places[-1]


def test_noun_phrases_as_in_the_thesis() -> None:
    rng = np.random.default_rng(0)
    rules = HeadRules.load("collins", coordination="rules")
    tags = ["NN", "NNP", "NNS", "NX", "POS", "JJR", "NP", "$", "ADJP", "PRN", "CD", "JJ", "RB"]
    tags += ["QP", "DT", "PP", "SBAR", "PRP", "CC"]
    for _ in range(1000):
        children = [tags[place] for place in rng.integers(len(tags), size=rng.integers(1, 6))]
        assert rules.find("NP-SBJ-3", children) == (head_of_np(children), True)


@pytest.mark.parametrize("name", TABLES)
def test_a_row_is_a_list_of_priorities(name: str) -> None:
    rules = HeadRules.load(name, coordination="rules")
    for phrase, rows in rules.rows.items():
        if len(rows) > 1:
            continue
        [(direction, groups)] = rows
        for one, other in product([group.split("|")[0] for group in groups], repeat=2):
            if one == "*":
                continue
            better = min(one, other, key=[group.split("|")[0] for group in groups].index)
            same = 0 if direction == "left" else 2
            for children in ([one, "XYZ", other], [other, "XYZ", one]):
                child, decided = rules.find(phrase, children)
                assert decided
                assert children[child] == better
                assert child == same or one != other


def test_the_two_tables_have_the_same_phrases() -> None:
    one, other = (HeadRules.load(name).rows for name in TABLES)
    assert set(other) - set(one) == {"X"}
    assert set(one) <= set(other)


@pytest.mark.parametrize(
    ("phrase", "children", "child", "decided"),
    [
        ("XYZ", ["IN", "RB"], 0, False),  # no row: the leftmost
        ("XYZ", [",", "RB"], 1, True),  # nothing to choose from
        ("XYZ", [",", ","], 0, False),
        ("PP", [",", "NP", "NP", "."], 2, False),  # not named: as the row searches, no punctuation
        ("FRAG", ["NP", "ADVP", "."], 1, True),  # a row without categories is decided by direction
        ("LST", ["CD", ":"], 1, True),  # punctuation that a row names
        ("VP", ["ADVP|PRT", "VBD-X"], 1, True),
        ("", ["S", "."], 0, True),
        ("PRT|ADVP", ["RB", "RP"], 1, True),
    ],
)
def test_what_is_decided(phrase: str, children: list[str], child: int, decided: bool) -> None:
    assert COLLINS.find(phrase, children) == (child, decided)


@pytest.mark.parametrize(
    ("phrase", "children", "by_rules", "before", "first"),
    [
        ("NP", "DT NN CC NN", 3, 1, 1),
        ("NP", "NN , NN CC NN", 4, 2, 0),
        ("NP", "NN , NN , CC NN", 5, 2, 0),
        ("NP", "JJ , JJ NNS CC NNS", 5, 3, 3),
        ("NP", "CC NN CC NN", 3, 1, 1),  # both ... and
        ("NP", "NP CC NP", 0, 0, 0),
        ("NP", "CC NN", 1, 1, 1),
        ("S", "CC NP VP", 2, 2, 2),
        ("S", "S : CC S", 0, 0, 0),
        ("VP", "VBD CC VBD NP", 0, 0, 0),
        ("PP", "IN CC IN NP", 2, 0, 0),
    ],
)
def test_coordination(phrase: str, children: str, by_rules: int, before: int, first: int) -> None:
    for way, child in (("rules", by_rules), ("before", before), ("first", first)):
        rules = HeadRules.load("collins", coordination=way)  # type: ignore[arg-type]
        assert rules.find(phrase, children.split()) == (child, True)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my.rules"
    path.write_text(
        "\ufeff# function tags decide; then verbs, whatever their form\n"
        "@punctuation $. $,\n@coordinators KON\n@coordination first\n\n"
        "S   left  -HD V*\n*   right -HD|-NK\nNP  right NN|NE  *\n"
    )
    rules = HeadRules.load(path)
    assert rules.find("S", ["NP-SB", "VVFIN", "VVINF-HD"]) == (2, True)
    assert rules.find("S", ["NP-SB", "VAFIN", "VVINF"]) == (1, True)
    assert rules.find("PP", ["APPR-HD", "NN-NK"]) == (1, True)
    assert rules.find("PP", ["APPR", "NN", "$."]) == (1, False)
    assert rules.find("NP", ["ART", "ADJA", "$,"]) == (1, True)
    assert rules.find("NP", ["NN", "KON", "NN"]) == (0, True)
    assert rules.name == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NP up NN", "rules:1: after the phrase 'NP' comes left or right, then categories"),
        ("# NP\n\nNP", "rules:3: after the phrase 'NP' comes left or right"),
        ("@coordination last", "rules:1: @coordination is rules, before or first"),
        ("@coordination", "rules:1: @coordination is rules, before or first"),
        ("@heads NN", "rules:1: '@heads' is not @punctuation"),
        ("# nothing", "rules: no head rules"),
    ],
)
def test_broken_files(text: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        HeadRules.parse(text, "rules")


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        HeadRules.load(tmp_path / "none")
    (tmp_path / "image").write_bytes(b"\xff\xfe")
    with pytest.raises(TreebankError, match="image: the head rules are not UTF-8 text"):
        HeadRules.load(tmp_path / "image")
    with pytest.raises(OptionError, match="coordination must be 'rules', 'before' or 'first'"):
        HeadRules.load("collins", coordination="last")  # type: ignore[arg-type]
