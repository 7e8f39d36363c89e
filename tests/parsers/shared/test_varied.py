"""Copies of sentences in other spellings, to learn from."""

from __future__ import annotations

import pytest

from arborescence.parsers import train
from arborescence.parsers.shared.varied import varied
from arborescence.parsers.tagger.tagger import Tagger
from arborescence.parsers.text.model import Text
from arborescence.treebank import Sentence, respelled
from samples import treebank


def said(mark, number):
    closing = "»" if mark == "«" else mark
    words = ["She", "said", ":", mark, f"No{number}", closing, "."]
    return Sentence.from_words(words, comments=[f"# sent_id = {number}"])


def test_shares_and_spellings():
    sentences = [said('"', number) for number in range(200)]
    copies = varied(sentences, rng=3)
    kinds = {
        spelling: {one.forms[4] for one in copies if one in list(respelled(sentences, spelling))}
        for spelling in ("lower", "upper", "typographic")
    }
    assert [len(some) for some in kinds.values()] == [20, 10, 20]
    assert len(copies) == 50
    assert varied(sentences, rng=3) == copies != varied(sentences, rng=4)


def test_directed_quotation_marks_become_straight():
    copies = varied([said("«", number) for number in range(100)], rng=3)
    assert sum('"' in one.forms for one in copies) == 10


def test_paragraphs_stay_together():
    numbers = range(90)
    new = ["# newpar"]
    sentences = [
        one.replace(comments=new + one.comments if number % 3 == 0 else one.comments)
        for number, one in zip(numbers, map(said, "'" * 90, numbers), strict=True)
    ]
    found = [int(one.sent_id) for one in varied(sentences, rng=3)]
    assert len(found) == 9 + 3
    for first in range(0, len(found), 3):
        start = found[first]
        assert found[first : first + 3] == [start, start + 1, start + 2]
        assert start % 3 == 0


def test_nothing_is_copied_that_would_be_read_as_before():
    assert varied([Sentence.from_words(["中", "文"])] * 100, rng=1) == []


@pytest.mark.parametrize("copied", [False, True])
def test_tagger_and_tokenizer_learn_from_copies(monkeypatch, copied):
    learned = {}
    for part in (Tagger, Text):

        def noted(sentences, part=part, train=part.train, **options):
            learned[part] = list(sentences)
            return train(sentences, **options)

        monkeypatch.setattr(part, "train", noted)
    sentences = treebank() * 10
    options = {"jackknife": False, "columns": ("form", "upos"), "epochs": 1, "bits": 10}
    parser = train(sentences, kind="linear", varied=copied, **options)
    copies = varied(sentences, rng=1) if copied else []
    assert bool(copies) == copied
    assert [len(learned[part]) - len(sentences) for part in (Tagger, Text)] == [len(copies)] * 2
    assert [one.forms for one in learned[Text]] == [one.forms for one in [*sentences, *copies]]
    assert parser.info["sentences"] == len(sentences)  # the scores of its edges come from tags
