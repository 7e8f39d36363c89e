"""Heads and relations that a person has fixed, and that parsed trees keep.

All other edges into a word with a fixed head are absent. So the best tree, the k best and the
probabilities are those among all trees that have the fixed edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.core.faults import listed
from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence


_GAVE_UP: Final = "# gave_up ="


class Fixed(NamedTuple):
    """The fixed heads and relations of sentences, with their N nodes (words and roots) in a row."""

    #: (N,): the fixed heads; -1: any head
    heads: NDArray[np.int64]
    #: (N,): the fixed relations, as indices of `names`; -1: any relation
    labels: NDArray[np.int64]
    #: the relations of the parser, and other relations of the sentences
    names: tuple[str, ...]

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
        # labels: (B, T). A relation that the parser does not have gets a column, too.
        rows, words = np.nonzero(labels >= 0)
        table = self._with_all_names(table)
        table[rows, :, words] = -np.inf
        table[rows, :, words, labels[rows, words]] = scores[rows, :, words]
        return table

    def wide(self, table: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return weights (N, N, L) in which fixed relations that the parser lacks are, too."""
        wide = self._with_all_names(table).astype(np.float64)
        words = np.flatnonzero(self.labels >= table.shape[-1])
        wide[:, words, self.labels[words]] = table[:, words].max(axis=-1)
        words = np.flatnonzero((self.heads >= 0) & (self.labels >= 0))
        edges = self.heads[words], words, self.labels[words]
        wide[edges] = np.maximum(wide[edges], table.min(initial=0, where=np.isfinite(table)))
        return wide

    def _with_all_names(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return weights of labeled edges (..., L), -inf for relations that the parser lacks."""
        more = len(self.names) - table.shape[-1]
        return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, more)], constant_values=-np.inf)

    def given_up(self, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which heads and which relations of a tree are not those that are fixed: (2, N)."""
        pairs = (self.heads, heads), (self.labels, labels)
        return np.array([(fixed >= 0) & (fixed != found) for fixed, found in pairs])

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


def released(sentence: Sentence, gone: NDArray[np.bool_], before: Iterable[int]) -> Sentence:
    """Return a sentence without the heads and relations of `gone`, (2, N); a comment says whose."""
    heads = np.where(gone[0], -1, sentence.tree)
    pairs = zip(sentence.deprels, gone[1, 1:].tolist(), strict=True)
    words = sorted({*before, *np.flatnonzero(gone.any(axis=0)).tolist()})
    comments = [line for line in sentence.comments if not line.startswith(_GAVE_UP)]
    return sentence.replace(
        heads=heads,
        deprels=["_" if yes else label for label, yes in pairs],
        comments=[*comments, f"{_GAVE_UP} {', '.join(map(str, words))}"],
    )


_GIVE_UP: Final = "let the parser give up the fewest (keep='anyway')"


def contradiction(sentence: Sentence, single: bool, advice: str = _GIVE_UP) -> TreebankError:
    """Return the error that says why no tree has the heads that are fixed in a sentence."""
    heads = sentence.tree
    roots = np.flatnonzero(heads == 0)
    if single and roots.size > 1:
        said = f"{listed(roots)} hang from the root, and one word may"
    else:
        cycle = np.array(_cycle(heads.tolist()), dtype=np.int64)
        said = (
            f"the heads of {listed(cycle)} form a cycle"
            if cycle.size
            else "no tree has all of its fixed heads and relations"
        )
    return _error(sentence, f"{said}: mend them", advice)


def breaking(
    sentence: Sentence, broken: Mapping[str, NDArray[np.int64]], gone: NDArray[np.bool_]
) -> TreebankError:
    """Return the error that says which rules no tree keeps that has what is fixed."""
    rules = ", ".join(f"{name} ({listed(words)})" for name, words in broken.items())
    few = listed(np.flatnonzero(gone.any(axis=0)))
    said = f"no tree has all that is fixed and keeps the rules: {rules}; to mend {few} is enough"
    return _error(sentence, said)


def _error(sentence: Sentence, said: str, advice: str = _GIVE_UP) -> TreebankError:
    where = f"{sentence.source}:{sentence.line}: " if sentence.line else ""
    return TreebankError(f"{where}{said}, or {advice}")


def _cycle(heads: list[int]) -> list[int]:
    """Return the words of a cycle, or none."""
    for word in range(1, len(heads)):
        path = [word]
        while heads[path[-1]] > 0 and heads[path[-1]] not in path:
            path.append(heads[path[-1]])
        if heads[path[-1]] > 0:
            return path[path.index(heads[path[-1]]) :]
    return []
