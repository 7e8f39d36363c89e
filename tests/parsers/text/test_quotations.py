"""Spaces within quotation marks, and marks at the ends of sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arborescence.parsers import model_file
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.text import Text
from arborescence.parsers.text.characters import (
    CLOSING,
    LOWER,
    OPENING,
    PARAGRAPH,
    QUOTE,
    TERMINAL,
    UPPER,
)
from arborescence.parsers.text.quotations import end_at_full_stops, mend, without_spaces
from arborescence.parsers.text.sentences import FIRST, LAST, LETTERS
from arborescence.treebank import Sentence

FRENCH = Path(__file__).parents[3] / "models/fr/src/arborescence_fr/fr.npz"
DIALOGUE = (
    "« Tu viens ? » demanda Marie. « Oui, j’arrive ! »",
    "« Je ne viendrai pas. »",
    "« Bonjour », dit-il.",
)


@pytest.fixture(scope="module")
def french():
    header, arrays = model_file.load(FRENCH)
    return Text.from_file(header["text"], scheme.part(arrays, "text/")).tokenizer


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"])
@pytest.mark.parametrize("marks", ["«»", '""', "“”"])
def test_spaced_marks(french, space: str, marks: str) -> None:
    for text in DIALOGUE:
        given = text.replace("« ", "«" + space).replace(" »", space + "»")
        given = given.translate(str.maketrans("«»", marks))
        found = list(french.split(given))
        forms = [form for sentence in found for form in sentence.forms]
        assert {*marks} & {*forms} == {*marks}
        assert not any(form != form.strip() or form.endswith(space) for form in forms)
        assert all(any(form.isalpha() for form in sentence.forms) for sentence in found)
        assert len(found) == 1 + text.count(". «")


@pytest.mark.parametrize("text", ["Er rief: »Ja!« und ging.", "un « mot", '5" and 6" long'])
def test_other_spaces_stay(text: str) -> None:
    read = Reading(['"']).read(text)
    kept = "un" if text.startswith("un") else text
    assert without_spaces(read, text, ()).text.count(" ") == read.text.count(" ") - (kept == "un")


@pytest.mark.parametrize(
    ("kinds", "gaps", "ends", "right"),
    [
        # a closing bracket opens no sentence
        ([UPPER, CLOSING, UPPER, UPPER], [1, 1, 1, PARAGRAPH], [0], [1]),
        ([UPPER, CLOSING, LOWER, UPPER], [1, 1, 1, PARAGRAPH], [0], []),
        # an opening one ends none
        ([UPPER, OPENING, UPPER, UPPER], [1, 1, 1, PARAGRAPH], [1], [0]),
        # marks alone are no sentence
        ([UPPER, QUOTE, UPPER, UPPER], [1, 1, 1, PARAGRAPH], [0, 1], [0]),
    ],
)
def test_mended(kinds, gaps, ends, right) -> None:
    letters = np.zeros((len(kinds), LETTERS), dtype=np.uint64)
    letters[:, FIRST] = letters[:, LAST] = kinds
    scores = np.full(len(kinds), -1.0)
    scores[ends] = 1.0
    scores[-1] = np.inf
    mend(scores, letters, np.array(gaps, dtype=np.uint8))
    assert np.flatnonzero(scores > 0).tolist() == [*right, len(kinds) - 1]


@pytest.fixture(scope="module")
def japanese():
    """A model of sentences that stand alone in their texts, as in treebanks of Japanese."""
    texts = ["猫 が 来 た 。", "犬 が 寝 て いる 。", "鳥 は 木 で 歌う 。", "彼 は 本 を 読む 。"]
    texts += [
        "「 猫 が 来 た 。 」 と 彼 は 読む 。",
        "彼 は 「 鳥 が 歌う 。 犬 が 寝る 。 」 と 読む 。",
    ]
    sentences = []
    for text in texts:
        words = text.split()
        misc = ["SpaceAfter=No"] * (len(words) - 1) + ["_"]
        sentences.append(Sentence.from_words(words, lemmas=words, misc=misc))
    return Text.train(sentences * 10).tokenizer


@pytest.mark.parametrize(
    "expected",
    [
        ["猫が来た。", "犬が寝ている。"],
        ["「猫が来た。」と彼は読む。", "犬が寝ている。"],
    ],
)
def test_ideographic_full_stops_need_no_space(japanese, expected: list[str]) -> None:
    text = "".join(expected)
    found = list(japanese.split(text))
    assert [each.text for each in found] == expected
    assert all(form[0] != "。" or form == "。" for each in found for form in each.forms)
    tokens = [(i, i + 1) for i in range(len(text))]
    stops = japanese.sentence_stops(text, *zip(*tokens, strict=True))
    assert stops == np.cumsum([len(each) for each in expected]).tolist()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("猫。犬。", [1, 3]),
        ("「猫。犬。」鳥。", [7]),
        ("「猫。\n犬。鳥。", [5, 7]),  # a bracket is open to the end of its paragraph
        ("猫。」犬。。", [5]),
        ("猫.犬.", []),
    ],
)
def test_where_ideographic_full_stops_end_sentences(text: str, ends: list[int]) -> None:
    kinds = {"「": OPENING, "」": CLOSING, "。": TERMINAL}
    letters = np.zeros((len(text), LETTERS), dtype=np.uint64)
    letters[:, FIRST] = letters[:, LAST] = [kinds.get(each, LOWER) for each in text]
    gaps = np.array([PARAGRAPH if each == "\n" else 0 for each in text], dtype=np.uint8)
    scores = np.full(len(text), -2.0)
    end_at_full_stops(scores, letters, gaps, text, np.arange(len(text)))
    assert np.flatnonzero(scores > 0).tolist() == ends
