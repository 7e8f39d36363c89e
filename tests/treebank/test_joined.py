"""Sentences as one stretch of bytes."""

import numpy as np

from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import FORM, LEMMA, Sentence, read_head_vectors

SENTENCES = [
    Sentence.from_words(["Old", "Bäume"], lemmas=["_", "Baum"], heads=[-1, 2, 0]),
    Sentence.from_words(["Grow"], comments=["# text = Grow"]),
    Sentence.from_words(["_", "sing"], lemmas=["__", "_"], heads=[-1, -1, 0]),
]


def test_columns_are_found_in_the_bytes():
    joined = Joined.of(SENTENCES)
    raw = joined.raw.tobytes()
    assert raw == b"".join(map(bytes, SENTENCES))
    spans = joined.places_of_columns
    forms = [raw[row[FORM] : row[FORM + 1] - 1].decode() for row in spans]
    assert forms == [form for sentence in SENTENCES for form in sentence.forms]
    assert joined.offsets.tolist() == [0, 2, 3, 5]
    assert joined.places[-1] == len(raw)


def test_blanks():
    joined = Joined.of(SENTENCES)
    assert joined.is_blank(LEMMA).tolist() == [True, False, True, False, True]
    assert joined.is_given(LEMMA).tolist() == [True, False, True]
    assert joined.is_blank(FORM).tolist() == [False, False, False, True, False]


def test_head_vectors():
    joined = Joined.of(SENTENCES)
    vectors = np.empty(8, dtype=np.int64)
    read_head_vectors(joined.raw, joined.places_of_columns, joined.offsets, vectors)
    assert vectors.tolist() == [head for sentence in SENTENCES for head in sentence.tree]


def test_no_sentences():
    joined = Joined.of([])
    assert (len(joined.raw), len(joined.spans), joined.offsets.tolist()) == (0, 0, [0])
    assert joined.is_given(LEMMA).tolist() == []
