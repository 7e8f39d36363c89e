"""Text for a small network: which of its sentences are parsed, and which are learned from."""

import json
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import arborescence as arb
from arborescence.treebank import Sentence
from arborescence.treebank.copies import Held

MODELS = Path(__file__).parents[1] / "models"
TESTED = "The owls of the old forest sleep in their trees ."
FREE = "An owl that sees at night can hunt ."


@pytest.fixture
def student(monkeypatch):
    monkeypatch.syspath_prepend(str(MODELS))
    return import_module("student")


class Teacher:
    """It cuts text at blanks and line ends, and hangs all words from the first."""

    def read_text(self, source):
        for line in source.read().decode().split("\n\n"):
            yield Sentence.from_words(line.split())

    def parse(self, sentences, confidence):
        assert confidence
        for each in sentences:
            deprels = ["root", *["dep"] * (len(each) - 1)]
            probs = ["SpacesAfter=\\n|EdgeProb=0.9"] * len(each)
            yield each.replace(heads=[0, *[1] * (len(each) - 1)], deprels=deprels, misc=probs)


def test_a_sentence_is_parsed_once_and_no_copy_of_a_test_sentence(student, monkeypatch, tmp_path):
    monkeypatch.setattr(student.arb, "load", lambda name, language: Teacher())
    copy = "Today " + TESTED.removesuffix(" .") + " again ."
    lines = [FREE, "Too short .", copy, FREE.upper(), " ".join(["long"] * 61)]
    (tmp_path / "owls.txt").write_text("\n".join(lines), encoding="utf-8")
    held = Held([Sentence.from_words(TESTED.split())])
    found = list(student.parsed("en", [tmp_path / "owls.txt"], held))
    assert [each.forms for each in found] == [FREE.split()]
    assert [each.sent_id for each in found] == ["owls-0"]


def test_the_least_sure_sentences_are_left_out_and_no_line_ends_stay(student):
    def sure(probability):
        misc = [f"EdgeProb={probability}", f"SpaceAfter=No|EdgeProb={probability}"]
        misc += [f"SpacesAfter=\\n\\n|EdgeProb={probability}"]
        return Sentence.from_words(["Owls", "hoot", "."], heads=[2, 0, 2], misc=misc)

    every = [sure(each / 10) for each in (9, 2, 8, 7)]
    found = list(student.surest(every, 0.25))
    assert len(found) == 3
    assert {tuple(each.misc) for each in found} == {("_", "SpaceAfter=No", "_")}
    assert len(student.surest(every, 0)) == 4


def test_a_smaller_network_knows_the_most_frequent_words(student):
    parser = arb.load(MODELS / "af" / "src" / "arborescence_af" / "af.npz")
    frequent, rare = (Sentence.from_words(each.split()) for each in ("Die ou man", "lees boeke"))
    assert len({"die", "ou", "man", "lees"} & set(parser.vocabulary.words)) == 4
    made = student.smaller(parser, [frequent, frequent, rare], 3)
    assert set(made.vocabulary.words) == {"die", "ou", "man"}
    before, after = ([each.scores(one) for one in (frequent, rare)] for each in (parser, made))
    assert np.array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])


def test_the_card_names_all_sources_and_the_teacher(student, monkeypatch, tmp_path):
    def package(models, treebank, *, name, output, licence, note):
        output.mkdir()
        assert (models, treebank.name, name) == ([Path("xx.npz")], "Xish-A", "xx")
        assert licence == "CC-BY-SA-4.0 AND MIT"
        card = f"# Card\n\n{note}\n\n## How it was made\n\nby hand\n\nTo cite it, cite.\n"
        (output / "README.md").write_text(card)
        return Packed(output)

    class Packed(NamedTuple):
        folder: Path

    monkeypatch.setattr(student, "package", package)
    monkeypatch.setattr(student, "measured", lambda language, gold: f"{language}: {len(gold)}.")
    listed = {"Xish-A": ["CC-BY-SA-4.0"], "Xish-B": ["MIT"]}
    for name in listed:
        place = tmp_path / name
        place.mkdir()
        (place / "test.conllu").write_bytes(bytes(Sentence.from_words(TESTED.split())))
        (place / "LICENSE").write_text(f"terms of {name}")
    treebanks = {name: {"licences": each, "train": [1, 11]} for name, each in listed.items()}
    (tmp_path / "treebanks.json").write_text(json.dumps({"treebanks": treebanks}))
    lines = ["a.txt\tnews (CC BY 4.0)\thttps://a.org", "b.txt\tnews (CC BY 4.0)\thttps://a.org"]
    (tmp_path / "sources.tsv").write_text("\n".join(lines))
    given = Namespace(
        language="xx", names=["Xish-A", "Xish-B"], treebanks=tmp_path, texts=tmp_path,
        output=tmp_path, share=0.5, epochs=8, start=Path("a/earlier/xx.npz"), rate=0.001, words=90,
    )  # fmt: skip
    student.packed(given, Path("xx.npz"), 1234)
    card = (tmp_path / "package" / "README.md").read_text()
    assert "UD_Xish-B (11 words, MIT: see `LICENSE-Xish-B`), 1,234 words of free text" in card
    assert card.count("news (CC BY 4.0)") == card.count("<https://a.org>") == 1
    command = "student.py xx ../shared treebanks texts output Xish-A Xish-B --share 0.5 --epochs 8"
    assert command + " --start earlier/xx.npz --rate 0.001 --words 90\n" in card
    assert "xx: 1." in card
    assert "by hand" not in card
    assert card.endswith("To cite it, cite.\n")
    assert (tmp_path / "package" / "LICENSE-Xish-B").read_text() == "terms of Xish-B"
