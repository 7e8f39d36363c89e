"""Prim's algorithm: grow one tree, always by the best edge that leaves it (Prim 1957)."""

from __future__ import annotations

import numpy as np

from arborescence._jit import kernel


@kernel
def prim_dense(weights: np.ndarray, start: int, parents: np.ndarray) -> None:
    """Find the maximum spanning tree of a dense graph, grown from `start`. O(N²).

    Of edges that weigh the same, the one whose pair of nodes u < v comes first is taken first, so
    the tree does not depend on where it starts.

    Parameters
    ----------
    weights : (N, N) float64
        Symmetric and C-contiguous; ``-inf`` is an absent edge. The diagonal is ignored.
    start
        The node whose component is spanned first.
    parents : (N,) int64
        Written: the neighbour through which each node was reached, and -1 for `start`. A graph in
        several parts gets a tree of each, so that another -1 says that it is not connected.
    """
    size = len(weights)
    # The nodes that are not in the tree yet, and the best edge from it to each of them.
    outside = np.empty(size, np.int64)
    best = np.full(size, -np.inf)
    left = 0
    parents[:] = -1
    for node in range(size):
        if node != start:
            outside[left] = node
            left += 1
    newest = start
    while left:
        row = weights[newest]
        nearest = 0
        for k in range(left):
            node = outside[k]
            weight = row[node]
            # Of two edges into one node, the one from the lower node comes first.
            if weight > best[node] or (
                weight == best[node] and weight > -np.inf and newest < parents[node]
            ):
                best[node] = weight
                parents[node] = newest
            other = outside[nearest]
            if best[node] > best[other] or (
                best[node] == best[other] and _precedes(parents[node], node, parents[other], other)
            ):
                nearest = k
        newest = outside[nearest]
        left -= 1
        outside[nearest] = outside[left]


@kernel
def _precedes(a: int, b: int, c: int, d: int) -> bool:
    """Tell whether the pair {a, b} comes before {c, d} in lexicographic order."""
    low, other_low = min(a, b), min(c, d)
    return low < other_low or (low == other_low and max(a, b) < max(c, d))
