"""Heads and relations that a person has fixed, and that parsed trees keep.

All other edges into a word with a fixed head are absent. So the best tree, the k best and the
probabilities are those among all trees that have the fixed edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.faults import listed
from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence


class Fixed(NamedTuple):
    """What is fixed in sentences with N nodes (words and roots) in a row."""

    heads: NDArray[np.int64]  # (N,); -1: any
    labels: NDArray[np.int64]  # (N,): numbers of relations among `names`; -1: any
    names: tuple[str, ...]  # the relations of the parser, and others that sentences have

    @classmethod
    def of(cls, sentences: Sequence[Sentence], labels: Sequence[str]) -> Self:
        """Read the heads and relations that are not ``_``."""
        numbers = {"_": -1} | {name: number for number, name in enumerate(labels)}
        of_words: list[int] = []
        for sentence in sentences:
            of_words.append(-1)
            for label in sentence.deprels:
                of_words.append(numbers.setdefault(label, len(numbers) - 1))
        heads = [sentence.tree for sentence in sentences]
        return cls(np.concatenate(heads), np.array(of_words), tuple(numbers)[1:])

    def part(self, nodes: NDArray[np.int64]) -> Self:
        """Return what is fixed of some of the nodes."""
        return self._replace(heads=self.heads[nodes], labels=self.labels[nodes])

    def weights(self, scores: NDArray[np.float32], heads: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return weights (B, T, T) without the edges that are not fixed; heads: (B, T)."""
        rows, words = np.nonzero(heads >= 0)
        fixed = heads[rows, words]
        kept, scores = scores[rows, fixed, words], scores.copy()
        scores[rows, :, words] = -np.inf
        scores[rows, fixed, words] = np.where(np.isneginf(kept), 0, kept)  # a filter may lack it
        return scores

    def relations(
        self, table: NDArray[np.float32], scores: NDArray[np.float32], labels: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return weights (B, T, T, L) of labeled edges, without other relations than fixed ones."""
        # labels: (B, T). A relation that the parser does not have is only written.
        rows, words = np.nonzero((labels >= 0) & (labels < table.shape[-1]))
        table = table.copy()
        table[rows, :, words] = -np.inf
        table[rows, :, words, labels[rows, words]] = scores[rows, :, words]
        return table

    def filtered(
        self, starts: NDArray[np.int64], heads: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a filter's edges, as from `keep_edges`, with only the fixed one where there is."""
        owners = np.repeat(np.arange(len(self.heads)), np.diff(starts))
        free, fixed = self.heads[owners] < 0, np.flatnonzero(self.heads >= 0)
        owners = np.concatenate([owners[free], fixed])
        heads = np.concatenate([heads[free], self.heads[fixed]])
        order = np.lexsort((heads, owners))
        return np.searchsorted(owners[order], np.arange(len(starts))), heads[order]


def contradiction(sentence: Sentence, single: bool) -> TreebankError:
    """Return the error that says why no tree has the heads that are fixed in a sentence."""
    heads = sentence.tree
    where = f"{sentence.source}:{sentence.line}: " if sentence.line else ""
    roots = np.flatnonzero(heads == 0)
    if single and roots.size > 1:
        said = f"{listed(roots)} hang from the root, and one word may"
    else:
        cycle = np.array(_cycle(heads.tolist()), dtype=np.int64)
        said = (
            f"the heads of {listed(cycle)} form a cycle"
            if cycle.size
            else "no tree has all of its fixed heads"
        )
    advice = "mend them, or let the parser give up the fewest (keep='anyway')"
    return TreebankError(f"{where}{said}: {advice}")


def _cycle(heads: list[int]) -> list[int]:
    """Return the words of a cycle, or none."""
    for word in range(1, len(heads)):
        path = [word]
        while heads[path[-1]] > 0 and heads[path[-1]] not in path:
            path.append(heads[path[-1]])
        if heads[path[-1]] > 0:
            return path[path.index(heads[path[-1]]) :]
    return []
