"""Prim's algorithm: grow one tree, always by the best edge that leaves it (Prim 1957)."""

from __future__ import annotations

import numpy as np

from arborescence._jit import inlined_kernel, kernel, spliced_kernel

# Where a node stands that is not in the heap.
_UNSEEN, _DONE = -1, -2


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


@kernel
def prim(
    n: int, u: np.ndarray, v: np.ndarray, weight: np.ndarray, origin: np.ndarray, chosen: np.ndarray
) -> None:
    """Find the maximum spanning forest with a binary heap of the nodes to be reached. O(m log n).

    Parameters
    ----------
    n
        Nodes 0, ..., n - 1.
    u, v, weight, origin
        The fields of `Edges`.
    chosen : (M,) bool
        Written: True for each of the caller's edges that is chosen.
    """
    first, edges, ends = _neighbours(n, u, v)
    # Where each node stands: its place in the heap, _UNSEEN or _DONE; and the best edge into it.
    place = np.full(n, _UNSEEN, np.int32)
    via = np.empty(n, np.int32)
    heap = np.empty(n, np.int32)
    for start in range(n):
        if place[start] != _UNSEEN:
            continue
        node = start
        size = 0
        while True:
            place[node] = _DONE
            for k in range(first[node], first[node + 1]):
                e, other = edges[k], ends[k]
                at = place[other]
                if at == _DONE or (at != _UNSEEN and not _is_better(weight, e, via[other])):
                    continue
                if at == _UNSEEN:
                    at = size
                    size += 1
                via[other] = e
                _rise(heap, place, via, weight, at, other)
            if size == 0:
                break
            node = heap[0]
            chosen[origin[via[node]]] = True
            size -= 1
            if size:
                _sink(heap, place, via, weight, size, heap[size])


@spliced_kernel
def _neighbours(n: int, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort the edges by their ends: those at node x are from ``first[x]`` to ``first[x + 1]``."""
    first = np.zeros(n + 2, np.int64)
    for e in range(len(u)):
        first[u[e] + 2] += 1
        first[v[e] + 2] += 1
    for node in range(n):
        first[node + 2] += first[node + 1]
    edges = np.empty(2 * len(u), np.int32)
    ends = np.empty(2 * len(u), np.int32)
    for e in range(len(u)):
        for a, b in ((u[e], v[e]), (v[e], u[e])):
            edges[first[a + 1]] = e
            ends[first[a + 1]] = b
            first[a + 1] += 1
    return first, edges, ends


@inlined_kernel
def _is_better(weight: np.ndarray, e: int, other: int) -> bool:
    """Tell whether edge e is to be taken before another."""
    return weight[e] > weight[other] or (weight[e] == weight[other] and e < other)


@inlined_kernel
def _rise(
    heap: np.ndarray, place: np.ndarray, via: np.ndarray, weight: np.ndarray, at: int, node: int
) -> None:
    """Put a node into the heap at a place, or as far above it as its edge is better."""
    while at > 0:
        above = (at - 1) // 2
        if not _is_better(weight, via[node], via[heap[above]]):
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = node
    place[node] = at


@inlined_kernel
def _sink(
    heap: np.ndarray, place: np.ndarray, via: np.ndarray, weight: np.ndarray, size: int, node: int
) -> None:
    """Put a node in place of the heap's top, or as far below it as other edges are better."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _is_better(weight, via[heap[below + 1]], via[heap[below]]):
            below += 1
        if not _is_better(weight, via[heap[below]], via[node]):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = node
    place[node] = at
