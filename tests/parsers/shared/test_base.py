"""How sentences are gathered into batches."""

from __future__ import annotations

from itertools import chain

import pytest

from arborescence.parsers.shared.given import batches
from arborescence.treebank import Sentence


def sentence(words: int) -> Sentence:
    return Sentence.from_words(["tree"] * words)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], []),
        ([25] * 700, [328, 328, 44]),  # 8,192 words
        ([3000] * 3, [1, 1, 1]),  # their matrices would take three times as much together
        ([5, 3000, 5, 5], [2, 2]),
        ([1000] * 10, [5, 5]),
    ],
)
def test_batches(lengths: list[int], expected: list[int]) -> None:
    sentences = [sentence(words) for words in lengths]
    found = list(batches(sentences))
    assert [len(batch) for batch in found] == expected
    assert list(chain.from_iterable(found)) == sentences
