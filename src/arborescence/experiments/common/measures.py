"""What is counted when trees are compared sentence by sentence, with and without directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from arborescence.treebank.tally import base

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from arborescence.treebank import Sentence


@dataclass(frozen=True)
class Counts:
    """How many edges of each of S sentences a parser has found.

    Punctuation is left out: words whose gold relation is ``punct``, as in `evaluate`.

    Attributes
    ----------
    words : (S,) int64
        The words that count, and with them their gold edges.
    directed : (S,) int64
        How many of those edges the parser's tree has too.
    undirected : (S,) int64
        How many it has in the same or in the other direction.
    roots : (S,) bool
        Whether the words that hang from the root are those of gold.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> gold = Sentence.from_words("Old trees grow .".split(), heads=[-1, 2, 3, 0, 3],
    ...                            deprels=["amod", "nsubj", "root", "punct"])
    >>> counts = Counts.of([gold], [[-1, 2, 0, 2, 3]])
    >>> counts.words, counts.directed, counts.undirected, counts.roots
    (array([3]), array([1]), array([2]), array([False]))
    """

    words: NDArray[np.int64]
    directed: NDArray[np.int64]
    undirected: NDArray[np.int64]
    roots: NDArray[np.bool_]

    @classmethod
    def of(cls, gold: Iterable[Sentence], trees: Iterable[ArrayLike]) -> Self:
        """Compare the gold trees of sentences with head vectors."""
        rows = []
        for sentence, tree in zip(gold, trees, strict=True):
            heads, found = sentence.heads, np.asarray(tree)
            counted = counts_for_uas(sentence)
            same = heads[1:] == found[1:]
            turned = found[heads[1:]] == np.arange(1, len(heads))
            roots = np.array_equal(heads == 0, found == 0)
            rows.append((counted.sum(), same[counted].sum(), (same | turned)[counted].sum(), roots))
        words, directed, undirected, right = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return cls(words, directed, undirected, right.astype(np.bool_))

    @property
    def uas(self) -> float:
        """The percentage of words with the right head."""
        return _percent(self.directed.sum(), self.words.sum())

    @property
    def undirected_uas(self) -> float:
        """The percentage of words whose gold edge is in the tree, in whatever direction."""
        return _percent(self.undirected.sum(), self.words.sum())

    @property
    def right_roots(self) -> float:
        """The percentage of sentences with the right root."""
        return _percent(self.roots.sum(), self.roots.size)


def counts_for_uas(sentence: Sentence) -> NDArray[np.bool_]:
    """Return which words count: (n,), those whose gold relation is not ``punct``."""
    return np.array([base(name) != "punct" for name in sentence.deprels], dtype=np.bool_)


def wins(ours: Counts, theirs: Counts) -> float:
    """Return the percentage of sentences of which `ours` has more right heads than `theirs`."""
    return _percent((ours.directed > theirs.directed).sum(), ours.words.size)


def oracle_uas(ours: Counts, theirs: Counts) -> float:
    """Return the UAS in percent if the tree with more right heads is taken for each sentence."""
    best = np.maximum(ours.directed, theirs.directed)
    return _percent(best.sum(), ours.words.sum())


def _percent(part: np.int64, whole: np.int64 | int) -> float:
    return float(100 * part / whole) if whole else 0.0
