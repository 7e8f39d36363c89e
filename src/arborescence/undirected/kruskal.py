"""The maximum spanning forest by Kruskal's algorithm (1956), with quicksort and filtering.

Before the worse part is sorted, edges that would close a cycle are removed: *Filter-Kruskal*
(Osipov, Sanders and Singler 2009).
"""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.tree import find
from arborescence.undirected.edges import OUT_EDGES, UndirectedEdges, move

# A part with at most this many edges is sorted by insertion.
_SHORT = 16
# The size of quicksort's stack. If it is full, the current part is sorted by insertion, which is
# slow but correct.
_WAITING = 200


@kernel
@takes(f"int64, {OUT_EDGES}, out bool[::1]")
def kruskal(n: int, edges: UndirectedEdges, chosen: np.ndarray) -> None:
    """Find the maximum spanning forest. Expected O(m log m); O(m + n log² n) for random weights."""
    u, v, _, origin = edges
    link = np.arange(n).astype(np.int32)
    missing = n - 1
    starts = np.empty(_WAITING, np.int64)
    stops = np.empty(_WAITING, np.int64)
    waiting = 0
    dice = np.ones(1, np.uint64)
    start, stop = 0, len(u)
    while True:
        while stop - start > _SHORT and waiting < _WAITING:
            middle = _partition(edges, start, stop, dice)
            starts[waiting], stops[waiting] = middle, stop
            waiting += 1
            stop = middle
        _sort(edges, start, stop)
        for e in range(start, stop):
            a, b = find(link, u[e]), find(link, v[e])
            if a != b:
                link[a] = b
                chosen[origin[e]] = True
                missing -= 1
        if waiting == 0 or missing == 0:
            return
        waiting -= 1
        start = starts[waiting]
        stop = _filter(link, edges, start, stops[waiting])


@inlined_kernel
def _filter(link: np.ndarray, edges: UndirectedEdges, start: int, stop: int) -> int:
    """Remove the edges within a component; return the end of the remaining edges."""
    left = start
    for e in range(start, stop):
        a, b = find(link, edges.u[e]), find(link, edges.v[e])
        move(edges, e, left)
        edges.u[left] = a
        edges.v[left] = b
        left += a != b
    return left


@inlined_kernel
def _precedes(edges: UndirectedEdges, a: int, b: int) -> bool:
    """Return whether edge a comes before edge b."""
    weight, origin = edges.weight, edges.origin
    return weight[a] > weight[b] or (weight[a] == weight[b] and origin[a] < origin[b])


@inlined_kernel
def _swap(edges: UndirectedEdges, a: int, b: int) -> None:
    """Exchange two edges."""
    u, v, weight, origin = edges
    u[a], u[b] = u[b], u[a]
    v[a], v[b] = v[b], v[a]
    weight[a], weight[b] = weight[b], weight[a]
    origin[a], origin[b] = origin[b], origin[a]


@kernel
def _partition(edges: UndirectedEdges, start: int, stop: int, dice: np.ndarray) -> int:
    """Move better edges to the front; return the start of the other edges (at least one edge)."""
    # The pivot is the median of three edges at random places, one from each third
    third = (stop - start) // 3
    dice[0] = dice[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    a = start + int(dice[0] >> np.uint64(33)) % third
    b, c = a + third, a + 2 * third
    if _precedes(edges, b, a):
        a, b = b, a
    if _precedes(edges, c, b):
        b = a if _precedes(edges, c, a) else c
    weight, origin = edges.weight, edges.origin
    pivot_weight, pivot_origin = weight[b], origin[b]
    middle = start
    for e in range(start, stop):
        better = (weight[e] > pivot_weight) | (
            (weight[e] == pivot_weight) & (origin[e] < pivot_origin)
        )
        _swap(edges, e, middle)
        middle += better
    return middle


@kernel
def _sort(edges: UndirectedEdges, start: int, stop: int) -> None:
    """Sort edges by insertion, the best first."""
    for e in range(start + 1, stop):
        at = e
        while at > start and _precedes(edges, at, at - 1):
            _swap(edges, at - 1, at)
            at -= 1
