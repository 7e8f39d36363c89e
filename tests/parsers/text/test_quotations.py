"""Spaces within quotation marks, and marks at the ends of sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arborescence.parsers import model_file
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.text import Text
from arborescence.parsers.text.characters import CLOSING, LOWER, OPENING, PARAGRAPH, QUOTE, UPPER
from arborescence.parsers.text.quotations import mend, without_spaces
from arborescence.parsers.text.sentences import FIRST, LAST, LETTERS

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
