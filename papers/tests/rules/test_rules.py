"""The experiment on rules: what is counted, its tables, and that it goes on where it was."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import pytest

from arborescence import OptionError
from arborescence.parsers import Keeper, LinearParser
from arborescence.treebank import Sentence
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.report import files_of, write
from arborescence_papers.rules import draw, report, reproduce
from arborescence_papers.rules.measure import (
    KEPT,
    LABELED,
    OWN,
    TREES,
    Outcome,
    Trees,
    first_that_keeps,
)
from reports import rows_of
from small_treebanks import write_treebanks

RECIPE = Recipe(loss="mira", root="single", epochs=2, bits=10, sentences=3)
BIRDISH = Outcome(
    treebank="Birdish",
    split="train",
    kind="linear",
    size=1200,
    sentences=200,
    words=2000,
    gold=1,
    ways={OWN: Trees(80.0, 30), KEPT: Trees(81.5, 0), TREES: Trees(80.5, 12)},
    rules=Counter({"leaf-punct": 4, "too-many-subjects": 30}),
    certified=27,
    decodes=500,
    seconds=(0.5, 0.75),
)
ARBORIC = replace(
    BIRDISH,
    treebank="Arboric",
    size=200,
    ways={OWN: Trees(60.0, 50), KEPT: Trees(59.5, 0), TREES: Trees(60.0, 20)},
    rules=Counter({"leaf-punct": 60}),
    certified=50,
)


def test_tables(tmp_path):
    joint = replace(BIRDISH, kind="joint", rules=Counter())
    write(
        tmp_path, files_of(report.parts([BIRDISH, ARBORIC, joint], ["gain.svg"], recipe=RECIPE), [])
    )
    sizes = rows_of(tmp_path / "by-size-of-the-treebank.csv")
    assert [(row["sentences to learn from"], row["gain"]) for row in sizes[:3]] == [
        ("all", "0.50"),
        ("low", "-0.50"),
        ("medium", "1.50"),
    ]
    assert sizes[0] == {
        "parser": "linear",
        "sentences to learn from": "all",
        "treebanks": "2",
        "broken sentences, %": "20.00",
        "LAS without rules": "70.00",
        "LAS with rules": "70.50",
        "gain": "0.50",
        "worst": "-0.50",
        "best": "1.50",
        "broken sentences": "80",
        "certified": "77",
        "broken afterwards": "0",
        "trees decoded a sentence": "2.50",
        "ms a sentence without rules": "2.50",
        "ms with rules": "3.75",
    }
    assert (sizes[3]["parser"], sizes[3]["treebanks"]) == ("joint", "1")
    ways = rows_of(tmp_path / "other-ways-to-keep-rules.csv")
    assert [row["sentences that still break a rule"] for row in ways[:2]] == ["0", "32"]
    assert ways[1]["mean gain, LAS"] == "0.25"
    rules = rows_of(tmp_path / "rules-by-how-often.csv")
    assert [list(row.values()) for row in rules] == [
        ["`leaf-punct`", "64", "0"],
        ["`too-many-subjects`", "30", "0"],
    ]
    assert [row["broken rules"] for row in rows_of(tmp_path / "treebanks-linear.csv")] == [
        "34",
        "60",
    ]


def test_plots(tmp_path):
    outcomes = [BIRDISH, ARBORIC, replace(BIRDISH, kind="joint")]
    assert draw(outcomes, tmp_path) == ["broken.svg", "gain.svg"]
    words = "".join(ET.fromstring((tmp_path / "gain.svg").read_bytes()).itertext())
    assert "points of LAS" in words
    assert "joint" in words


def test_the_first_tree_that_keeps_the_rules():
    def tree(*labels):
        return Sentence.from_words(
            ["She", "saw", "them"],
            upos=["PRON", "VERB", "PRON"],
            heads=[-1, 2, 0, 2],
            deprels=[labels[0], "root", labels[1]],
        )

    bad, good, worse = tree("nsubj", "nsubj"), tree("nsubj", "obj"), tree("obj", "obj")
    lists = {1: [bad, worse, good, tree("obj", "nsubj")], 2: [worse]}
    own, gold, asked = [good, bad, worse], [good, good, good], []

    def kbest(sentences, k):
        asked.append((len(sentences), k))
        for trees in lists.values():
            yield [(each, 0.0) for each in trees]

    found = first_that_keeps(Keeper("ud"), own, gold, kbest)
    assert [each.deprels for each in found] == [good.deprels, good.deprels, worse.deprels]
    assert asked == [(2, 10)]


@pytest.fixture
def trained(monkeypatch):
    """How each parser was trained."""
    asked = []

    def train(treebank, **options):
        asked.append((len(treebank), options["epochs"]))
        return LinearParser.train(treebank, **options)

    monkeypatch.setattr("arborescence_papers.rules.measure._TRAIN", {"linear": train})
    return asked


def test_from_treebanks_to_tables(trained, tmp_path):
    treebanks, output = write_treebanks(tmp_path / "ud"), tmp_path / "out"
    seen = []
    left_out = reproduce(
        treebanks, output, recipe=RECIPE, tested=2, progress=lambda *step: seen.append(step)
    )
    assert [one.treebank for one in left_out] == ["Empty", "Untaught", "Untested"]
    assert trained == [(3, 2), (3, 2)]
    assert seen[-1] == ("parsers: all done", 2, 2)
    rows = rows_of(output / "treebanks-linear.csv")
    assert [row["treebank"] for row in rows] == ["Birdish", "Arboric"]
    assert [row["test sentences"] for row in rows] == ["2", "2"]
    for row in rows:
        assert f"LAS, {LABELED}" in row
        assert row["broken afterwards"] == "0"
    written = (output / "report.md").read_bytes()

    reproduce(treebanks, output, recipe=RECIPE, tested=2)  # nothing is trained again
    assert len(trained) == 2
    assert (output / "report.md").read_bytes() == written
    (output / "measured" / "linear" / "Birdish.json").unlink()
    reproduce(treebanks, output, recipe=RECIPE, tested=2)
    assert len(trained) == 3


def test_a_second_order_parser_has_no_lists(tmp_path):
    treebanks, output = write_treebanks(tmp_path / "ud"), tmp_path / "out"
    reproduce(treebanks, output, recipe=RECIPE, tested=2, kinds=["second-order"], only=["Birdish"])
    [way] = rows_of(output / "other-ways-to-keep-rules.csv")
    assert (way["parser"], way["trees"]) == ("second-order", KEPT)


def test_what_is_broken_is_left_out(tmp_path):
    treebanks = write_treebanks(tmp_path / "ud")
    (treebanks / "Arboric" / "ar-ud-test.conllu.gz").write_bytes(b"no gzip")
    only = ["Birdish", "Arboric"]
    [arboric] = reproduce(treebanks, tmp_path / "out", recipe=RECIPE, only=only)
    assert (arboric.treebank, arboric.failed) == ("Arboric", True)
    assert "- Arboric: " in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize("wrong", [{"kinds": ["neural"]}, {"tested": 0}, {"jobs": 2}])
def test_options_that_do_not_exist(tmp_path, wrong):
    with pytest.raises(OptionError):
        reproduce(write_treebanks(tmp_path / "ud"), tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()
