"""Copies of training sentences in other spellings: in one case, with other quotation marks.

From the copies, a model learns to decide without capitals, or with capitals alone, and learns the
meaning of opening and closing quotation marks.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.treebank.spelling import respelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.core.choices import Spelling
    from arborescence.treebank import Sentence

# The share of sentences that are copied in each spelling.
_LOWER: Final = 0.1
_UPPER: Final = 0.05
_QUOTED: Final = 0.1
#: The number of sentences that are copied together if a treebank has no paragraphs.
_TOGETHER: Final = 5
_MARKS: Final = {*'"“”„«»—–', "``", "--"}
_STREAM: Final = 64  # makes these random numbers independent of others with the same seed


def varied(treebank: Sequence[Sentence], rng: int) -> list[Sentence]:
    """Return copies of some sentences in other spellings.

    Sentences of a paragraph are copied together, so that they remain a text.

    >>> from arborescence.treebank import Sentence
    >>> said = [Sentence.from_words(["She", "said", ":", '"', "Yes", '"'])] * 100
    >>> [copy.forms for copy in varied(said, rng=1)][0]
    ['she', 'said', ':', '"', 'yes', '"']
    """
    generator = np.random.default_rng((rng, _STREAM))
    paragraphs = _paragraphs(treebank)
    counts = Counter(form for sentence in treebank for form in sentence.forms)
    directed = sum(counts[mark] for mark in "“”„«»")
    quotes: Spelling = "straight" if directed > counts['"'] + counts["``"] else "typographic"
    copies: list[Sentence] = []
    shares: tuple[tuple[Spelling, float], ...] = (
        ("lower", _LOWER), ("upper", _UPPER), (quotes, _QUOTED)
    )  # fmt: skip
    for spelling, share in shares:
        remaining = int(share * len(treebank))
        for number in generator.permutation(len(paragraphs)).tolist():
            paragraph = paragraphs[number]
            if len(paragraph) <= remaining and _changes(paragraph, spelling):
                copies += respelled(paragraph, spelling)
                remaining -= len(paragraph)
    return copies


def _changes(paragraph: Sequence[Sentence], spelling: Spelling) -> bool:
    """Return whether a spelling changes a paragraph as models read it."""
    forms = [form for sentence in paragraph for form in sentence.forms]
    if spelling in ("lower", "upper"):
        return any(form.lower() != form.upper() for form in forms)
    return not _MARKS.isdisjoint(forms)


def _paragraphs(treebank: Sequence[Sentence]) -> list[Sequence[Sentence]]:
    starts = [
        place
        for place, sentence in enumerate(treebank)
        if any(line.startswith(("# newpar", "# newdoc")) for line in sentence.comments)
    ]
    if len(starts) <= 1:
        starts = list(range(0, len(treebank), _TOGETHER))
    bounds = sorted({0, *starts, len(treebank)})
    return [treebank[start:stop] for start, stop in pairwise(bounds)]
