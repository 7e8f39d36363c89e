"""k-best lists and iterators over trees in decreasing order of weight, for all families of trees.

Each family has its own algorithm (Zmigrod, Vieira and Cotterell 2021; Huang and Chiang 2005), whose
state is kept, so that the next call continues where the last call stopped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from arborescence.core.faults import FINE, no_answer
from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from arborescence.core.graph import Graph

# `stream` finds 1, 2, 4, ... trees at a time, and at most this many.
_MOST_AHEAD = 256
# `list_one` allocates room for this many trees at first. A sentence may have far fewer than k.
_ROOM_AT_FIRST = 1024


class TreeSearch(Protocol):
    """The state of a k-best search of one family."""

    def find(
        self, graph: Graph, single: bool, lists: TreeLists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences `start` to `stop`; continue the lists that have a count.

        Returns the state for the next call; the first sentence without a tree, or any sentence; and
        the fault: the reason why there is no tree, or `FINE`.
        """


def fill_lists(
    state: TreeSearch, graph: Graph, single: bool, lists: TreeLists, start: int = 0, stop: int = 1
) -> TreeSearch:
    """Fill, or continue, the lists of some sentences; return the state for the next call."""
    state, sentence, fault = state.find(graph, single, lists, start, stop)
    if fault != FINE:
        raise no_answer(graph, sentence, fault, single)
    return state


def list_one(
    state: TreeSearch, graph: Graph, single: bool, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k best trees of a sentence and their weights. Memory grows with the trees."""
    size = graph.scores.shape[1]
    room = min(k, _ROOM_AT_FIRST)
    lists = TreeLists.of(1, room, size)
    state = fill_lists(state, graph, single, lists)
    listed = last = int(lists.counts[0])
    heads, weights = lists.heads[0, :listed], lists.weights[0, :listed]
    while last == room and listed < k:
        room = min(k - listed, listed)
        lists = TreeLists.of(1, room, size)
        lists.counts[0] = 0
        state = fill_lists(state, graph, single, lists)
        last = int(lists.counts[0])
        heads = np.concatenate([heads, lists.heads[0, :last]])
        weights = np.concatenate([weights, lists.weights[0, :last]])
        listed += last
    return heads, weights


def stream(
    state: TreeSearch, graph: Graph, single: bool
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Find the best tree of a sentence; return an iterator over all trees and their weights."""
    lists = TreeLists.of(1, 1, graph.scores.shape[1])
    return _stream(fill_lists(state, graph, single, lists), graph, single, lists)


def _stream(
    state: TreeSearch, graph: Graph, single: bool, lists: TreeLists
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Yield the trees in the lists, then further trees, found in blocks of growing size."""
    size = graph.scores.shape[1]
    room = 1
    while True:
        listed = lists.counts[0]
        yield from zip(lists.heads[0, :listed], lists.weights[0, :listed].tolist(), strict=True)
        if listed < room or size == 1:
            return
        room = min(2 * room, _MOST_AHEAD)
        lists = TreeLists.of(1, room, size)
        lists.counts[0] = 0
        state = fill_lists(state, graph, single, lists)


def most_trees(n: int, single: bool, projective: bool) -> int:
    """Return the number of trees of a complete graph of n words, at most 2^62."""
    if n < 2:
        return 1
    if projective:
        count = math.comb(3 * n - 2, n - 1) // n if single else math.comb(3 * n, n) // (2 * n + 1)
        return min(count, 2**62)
    base, power = (n, n - 1) if single else (n + 1, n - 1)
    return base**power if power * math.log2(base) < 62 else 2**62


class TreeLists(NamedTuple):
    """The trees of each sentence, best first."""

    #: (B, k, N), -1 where there is no tree yet
    heads: NDArray[np.int64]
    #: (B, k)
    weights: NDArray[np.float64]
    #: (B,) the number of trees in the list; -1 before the first search
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, batch: int, k: int, size: int) -> Self:
        """Allocate k trees for each of `batch` sentences of at most `size` nodes."""
        try:
            heads, weights = np.empty((batch, k, size), np.int64), np.empty((batch, k))
        except (MemoryError, ValueError):  # ValueError: larger than the address space
            raise OptionError(
                f"k is {k}: there is no memory for {k} trees of each of {batch} sentences of "
                f"{size - 1} words; ask for fewer trees"
            ) from None
        counts = np.empty(batch, np.int64)
        heads.fill(-1)  # in less than half the time of np.full
        weights.fill(-np.inf)
        counts.fill(-1)
        return cls(heads, weights, counts)


def longer(array: NDArray[Any], used: int) -> NDArray[Any]:
    """Return an array twice as long, with the same first `used` rows."""
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
