"""Models that someone has tampered with are refused, or do no harm."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.text import Text
from hostile import arrays_like, headers_like
from raw_texts import TREEBANK

RAW = "They don't grow. He went du park!\n\nBirds sang (they said)."
_TRIED = 150


@pytest.fixture(scope="module")
def model():
    header, arrays = Text.train(TREEBANK).to_file()
    return json.loads(json.dumps(header)), arrays


def use(header, arrays):
    """Do with a model what can be done; return whether it was refused."""
    try:
        text = Text.from_file(header, arrays)
    except ModelError:
        return True
    found = list(text.tokenizer.split(RAW))
    tokens = "".join(sentence.text or "" for sentence in found)
    assert "".join(tokens.split()) == "".join(RAW.split())
    if text.lemmatizer:
        list(text.lemmatizer.lemmatize([*found, *TREEBANK[:9]], overwrite=True))
    return False


def some(tampered):
    tampered = list(tampered)
    order = np.random.default_rng(4).permutation(len(tampered))[:_TRIED]
    return [tampered[i] for i in order]


def test_arrays(model):
    header, arrays = model
    generator = np.random.default_rng(3)
    refused = 0
    tampered = [
        (name, *other) for name, array in arrays.items() for other in arrays_like(array, generator)
    ]
    for name, how, other in some(tampered):
        try:
            refused += use(header, arrays | {name: other})
        except Exception as error:
            error.add_note(f"{name} {how}")
            raise
    assert refused > 20
    for name in arrays:
        assert use(header, {other: array for other, array in arrays.items() if other != name})


def test_headers(model):
    header, arrays = model
    refused = 0
    for how, other in some(headers_like(header)):
        try:
            refused += use(other, arrays)
        except Exception as error:
            error.add_note(how)
            raise
    assert refused > 20
