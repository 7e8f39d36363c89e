"""A treebank compared with another annotation of its text: the words in both, the right heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.errors import TreebankError
from arborescence.treebank.alignment import align
from arborescence.treebank.columns import ROOT, UNKNOWN, Numbering

if TYPE_CHECKING:
    import numpy.typing as npt

    from arborescence.treebank.columns import Columns, Integers

    _Mask = npt.NDArray[np.bool_]

# In `counterparts`: a predicted word that is not aligned with a gold word.
_UNALIGNED = -3


class TreeColumns:
    """The trees of some sentences: arrays over all words."""

    def __init__(self, columns: Columns, relations: Numbering) -> None:
        vectors = columns.head_vectors()
        #: int64 (n,): the head of each word, as an index among all words, ROOT or UNKNOWN.
        self.heads = columns.heads(vectors)
        self.root_violations, self.nonprojective, self.broken, first = columns.count_trees(vectors)
        self.first_broken = columns.place_of(first) if first >= 0 else ""
        #: int64 (n,): the number of the relation of each word, without its subtype.
        self.relations = relations(columns)


class Compared(NamedTuple):
    """A part of a text in both treebanks, and masks of its words with the right heads."""

    #: The part of the gold treebank.
    ours: Columns
    #: The part of the parsed treebank.
    theirs: Columns
    #: The gold trees.
    gold: TreeColumns
    #: The parsed trees.
    predicted: TreeColumns
    #: (k,) The words that are in both, as indices in the gold treebank.
    g: Integers
    #: (k,) The same words as indices in the parsed treebank.
    p: Integers
    #: (k,) Whether these words have the right head.
    attached: _Mask
    #: (k,) Whether these words have the right head and relation.
    labelled: _Mask
    #: (k,) Whether these words have the right edge, turned.
    turned: _Mask


def compare(ours: Columns, theirs: Columns, relations: Numbering) -> Compared:
    """Compare a part of the text; TreebankError if a gold word has no head."""
    g, p = align(ours, theirs)
    gold, predicted = TreeColumns(ours, relations), TreeColumns(theirs, relations)
    for word in np.flatnonzero(gold.heads == UNKNOWN)[:1]:
        raise TreebankError(f"the gold word {ours.describe(int(word))} has no head")
    guessed = np.full(len(gold.heads), _UNALIGNED)
    guessed[g] = counterparts(g, p, len(predicted.heads))[predicted.heads[p]]
    heads = gold.heads[g]
    attached = heads == guessed[g]
    turned = (heads >= 0) & (guessed[heads] == g)
    labelled = attached & (gold.relations[g] == predicted.relations[p])
    return Compared(ours, theirs, gold, predicted, g, p, attached, labelled, turned)


def counterparts(gold_words: Integers, predicted_words: Integers, predicted: int) -> Integers:
    """Return the aligned gold word of each predicted word; the last two are UNKNOWN and ROOT."""
    aligned = np.full(predicted + 2, _UNALIGNED)
    aligned[predicted_words] = gold_words
    aligned[[ROOT, UNKNOWN]] = ROOT, UNKNOWN
    return aligned
