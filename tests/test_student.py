"""Text for a small network: which of its sentences are parsed, and which are learned from."""

from importlib import import_module
from pathlib import Path

import pytest

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
