"""Words that an annotator has corrected: they keep their annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

#: The entry in MISC by which an annotator keeps the annotation of a word.
CORRECTED: Final = "Corrected=Yes"


def next_corrected(sentence: Sentence, fixed: Iterator[Sentence] | None) -> Sentence | None:
    """Return the next corrected sentence, which has as many words, or raise TreebankError."""
    if fixed is None:
        return None
    corrected = next(fixed, None)
    if corrected is None:
        raise TreebankError(
            f"{sentence.source}:{sentence.line}: no corrected sentence is left for this one"
        )
    if len(corrected) != len(sentence):
        raise TreebankError(
            f"{corrected.source}:{corrected.line}: {len(corrected)} words, but the sentence to "
            f"convert ({sentence.source}:{sentence.line}) has {len(sentence)}"
        )
    return corrected


def marked(sentence: Sentence) -> list[bool]:
    """Return which words are corrected."""
    return [CORRECTED in entry.split("|") for entry in sentence.misc]


def kept_heads(sentence: Sentence) -> NDArray[np.int64]:
    """Return the head vector of corrected words; -1 for the other words."""
    return np.where([False, *marked(sentence)], sentence.tree, -1)


def keep(matrix: NDArray[np.float32], sentence: Sentence) -> None:
    """Remove all edges into corrected words, except the edge from the corrected head."""
    heads = kept_heads(sentence)
    for word in np.flatnonzero(heads >= 0).tolist():
        score = matrix[heads[word], word]
        matrix[:, word] = -np.inf
        matrix[heads[word], word] = score


def overlaid(sentence: Sentence, fixed: Sentence, columns: tuple[str, ...]) -> Sentence:
    """Return a converted sentence with MISC of `fixed`, and the columns of its marked words."""
    stays = marked(fixed)
    if not any(stays):
        return sentence.replace(misc=fixed.misc)
    new = {
        name: [b if stay else a for a, b, stay in zip(*both, stays, strict=True)]
        for name in columns
        for both in [(getattr(sentence, name), getattr(fixed, name))]
    }
    return sentence.replace(misc=fixed.misc, **new)
