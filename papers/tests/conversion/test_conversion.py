"""The experiment on conversion: samples of several sizes, converters by hand, converted parts."""

from __future__ import annotations

from itertools import product

import pytest

from arborescence import OptionError
from arborescence.parsers import pair
from arborescence.treebank import Sentence, write
from arborescence_papers import conversion
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.conversion import measure, report, reproduce, sources
from reports import rows_of

NOUNS = ["owls", "mice", "cats", "dogs", "bees", "ants"]
PLACES = ["Rome", "Oslo", "Bern", "Paris", "Cairo"]
WORDS = list(product(NOUNS, PLACES))
RECIPE = Recipe(loss="mira", root="single", epochs=2, sentences=12)


def old(noun, place):
    """Return a sentence in which the preposition is a head."""
    words = [noun, "sleep", "in", place, "."]
    return Sentence.from_words(
        words, upos=["N", "V", "P", "N", "."], heads=[2, 0, 2, 3, 2],
        deprels=["SUBJ", "ROOT", "ADV", "P", "PU"],
    )  # fmt: skip


def new(noun, place):
    """Return the same in Universal Dependencies."""
    return old(noun, place).replace(
        upos=["NOUN", "VERB", "ADP", "PROPN", "PUNCT"], heads=[2, 0, 4, 2, 2],
        deprels=["nsubj", "root", "case", "obl:loc", "punct"],
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "more" / "Owlish"
    place.mkdir(parents=True)
    dev, test, train = WORDS[:12], WORDS[12:18], WORDS[18:]
    for name, items, make in (
        ("dev", dev, new), ("test", test, new), ("dev-old", dev, old), ("test-old", test, old),
        ("train-old", [*train, dev[0], test[0]], old),
    ):  # fmt: skip
        write([make(*each) for each in items], place / f"{name}.conllu.gz")
    part = sources._beside("train-old", "Owlish")
    for module in (sources, measure, conversion):
        monkeypatch.setattr(module, "PARTS", {"Owlish": part})
    monkeypatch.setattr(measure, "SIZES", (2, 8))
    monkeypatch.setattr(conversion, "SIZES", (2, 8))
    monkeypatch.setattr(report, "SIZES", (2, 8))
    return place.parent


def test_from_treebanks_to_a_report(folder, tmp_path):
    by_hand = tmp_path / "by-hand" / "Owlish"
    by_hand.mkdir(parents=True)
    half = [new(*each) for each in WORDS[12:15]] + [old(*each) for each in WORDS[15:18]]
    write(half, by_hand / "test-old.conllu")
    out = tmp_path / "out"
    how = {"recipe": RECIPE, "converters": by_hand.parent}
    assert reproduce(folder, out, **how) == []
    [row] = rows_of(out / "conversion.csv")
    assert (row["test words"], row["as it is"], row["by hand"]) == ("30", "0.0", "50.0")
    assert row["8"] == "100.0"
    [row] = rows_of(out / "parser.csv")
    assert 0 <= float(row["8"]) <= 100
    [row] = rows_of(out / "whole.csv")
    right = {"paired": "100.0", "LAS": "100.0", "UPOS": "100.0", "breaking": "0"}
    assert row.items() >= right.items()
    assert 0 <= float(row["error of edges"]) <= 100
    assert row["words/s"] != "0"
    learned, mean = rows_of(out / "worth-linear.csv")
    assert float(learned["old"]) < 50 < float(learned["converted"])
    gain = float(learned["converted + dev"]) - float(learned["dev"])
    assert float(learned["gain"]) == pytest.approx(gain, abs=0.11)
    assert list(mean.values())[1:] == list(learned.values())[1:]
    assert "conversion" in (out / "curve.svg").read_text()
    before = (out / "report.md").read_text()
    measured = {file: file.stat().st_mtime_ns for file in out.rglob("*.json")}
    reproduce(folder, out, **how)  # nothing is measured again
    assert (out / "report.md").read_text() == before
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*.json")} == measured


def test_neural_parsers_learn_from_converted_parts(folder):
    pytest.importorskip("torch", reason="trains neural parsers")
    plan = measure.Plan(folder, None, "neural", 6, Recipe(epochs=1, sentences=4))
    assert measure.worth_of("Owlish", plan).keys() == set(measure.FROM)


def test_copies_of_dev_and_test_are_left_out(folder):
    assert len(sources.Old(folder, "Owlish").train()) == len(WORDS[18:])


def test_las_counts_paired_words_with_a_paired_head():
    [found] = pair([old("owls", "Rome")], [new("owls", "Rome")]).pairs
    assert measure.las([found], [new("owls", "Rome")]) == (100, 5)
    [half] = pair(
        [Sentence.from_words(["owls", "x", "here"], heads=[2, 0, 2], deprels=["a", "root", "b"])],
        [Sentence.from_words(["owls", "y", "z", "here"], heads=[2, 0, 2, 1],
                             deprels=["a", "root", "b", "b:c"])],
    ).pairs  # fmt: skip
    assert half.words.tolist() == [0, -1, 3]  # the head of the first word is not paired
    assert measure.las([half], [half.old.replace(heads=[2, 0, 1])]) == (100, 1)


def test_what_is_left_out_and_what_is_wrong(folder, tmp_path):
    (folder / "Owlish" / "test.conllu.gz").unlink()
    with pytest.raises(ValueError, match="no treebank that can be used"):
        reproduce(folder, tmp_path / "out", kind="none")
    for options, message in (
        ({"only": ["Grove"]}, "Grove: not of Owlish"),
        ({"kind": "random"}, "linear, neural, none"),
        ({"jobs": 2}, "one by one"),
        ({"tested": 0}, "tested"),
    ):
        with pytest.raises(OptionError, match=message):
            reproduce(folder, tmp_path / "out", **options)
