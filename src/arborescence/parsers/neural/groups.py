"""Groups of sentences of similar length, which a neural parser parses together, and their trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.forward import Found
    from arborescence.parsers.shared.base import Options
    from arborescence.treebank import Sentence

#: How many words and roots a group has at most, unless one sentence has more.
_WORDS: Final = 2048


class Group(NamedTuple):
    """Some sentences of a batch, and what the network found for them.

    Attributes
    ----------
    numbers : list of int
        Their numbers in the batch.
    rows : (B, T) int64
        See `inputs.Layout`.
    words : (B,) int64
        Their numbers of words.
    found : Found
    """

    numbers: list[int]
    rows: NDArray[np.int64]
    words: NDArray[np.int64]
    found: Found


class Trees(NamedTuple):
    """K trees of each sentence of a batch: see `annotated`.

    Attributes
    ----------
    starts : (B + 1,) int64
    heads, labels : (K, N) int64
    probabilities : (K, N) float64 or None
    """

    starts: NDArray[np.int64]
    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None

    @classmethod
    def empty(cls, sentences: Sequence[Sentence], k: int, options: Options) -> Self:
        """Make room for k trees of each sentence."""
        starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)])
        heads, labels = np.full((2, k, starts[-1]), -1)
        return cls(starts, heads, labels, np.ones(heads.shape) if options.confidence else None)

    def put(
        self,
        group: Group,
        heads: NDArray[np.int64],
        labels: NDArray[np.int64],
        probabilities: NDArray[np.float64] | None,
    ) -> None:
        """Write the trees of a group, each (B, K, T), to their places."""
        k = heads.shape[1]  # short sentences may have fewer trees
        for place, (b, words) in enumerate(zip(group.numbers, group.words.tolist(), strict=True)):
            nodes = slice(self.starts[b], self.starts[b] + words + 1)
            self.heads[:k, nodes] = heads[place, :, : words + 1]
            self.labels[:k, nodes] = labels[place, :, : words + 1]
            if self.probabilities is not None and probabilities is not None:
                self.probabilities[:k, nodes] = probabilities[place, :, : words + 1]


def grouped(lengths: Sequence[int], most_edges: int) -> Iterator[list[int]]:
    """Yield the numbers of sentences of similar length, in groups that fit into memory.

    >>> list(grouped([1, 2000, 3, 2], 10**6))
    [[1], [2, 3, 0]]
    """
    group: list[int] = []
    words = 0
    for b in np.argsort(-np.array(lengths, dtype=np.int64), kind="stable").tolist():
        longest = lengths[group[0]] if group else lengths[b]
        full = words + lengths[b] > _WORDS
        if group and (full or (len(group) + 1) * longest**2 > most_edges):
            yield group
            group, words = [], 0
        group.append(b)
        words += lengths[b] + 1
    if group:
        yield group
