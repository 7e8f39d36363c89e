"""Kruskal's algorithm: take the best edge of all that closes no cycle (Kruskal 1956).

Sorting all edges would take most of the time. So they are sorted as quicksort does, the better part
first, and before the worse part is looked at, edges that would close a cycle are thrown out of it:
the *Filter-Kruskal* of Osipov, Sanders and Singler (2009).
"""

from __future__ import annotations

import numpy as np

from arborescence.core.jit import inlined_kernel, kernel, spliced_kernel
from arborescence.core.union_find import find

# A part of so few edges is sorted by insertion.
_SHORT = 16
# How many parts may wait. If ever more have to, the part at hand is sorted by insertion, which is
# slow but right.
_WAITING = 200


@kernel
def kruskal(
    n: int, u: np.ndarray, v: np.ndarray, weight: np.ndarray, origin: np.ndarray, chosen: np.ndarray
) -> None:
    """Find the maximum spanning forest. Expected O(m log m); O(m + n log² n) for random weights.

    Parameters
    ----------
    n
        Nodes 0, ..., n - 1.
    u, v, weight, origin
        The fields of `Edges`; overwritten.
    chosen : (M,) bool
        Written: True for each of the caller's edges that is chosen.
    """
    link = np.arange(n).astype(np.int32)
    missing = n - 1
    starts = np.empty(_WAITING, np.int64)
    stops = np.empty(_WAITING, np.int64)
    waiting = 0
    dice = np.ones(1, np.uint64)
    start, stop = 0, len(u)
    while True:
        while stop - start > _SHORT and waiting < _WAITING:
            middle = _partition(u, v, weight, origin, start, stop, dice)
            starts[waiting], stops[waiting] = middle, stop
            waiting += 1
            stop = middle
        _sort(u, v, weight, origin, start, stop)
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
        stop = _filter(link, u, v, weight, origin, start, stops[waiting])


@spliced_kernel
def _filter(
    link: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    weight: np.ndarray,
    origin: np.ndarray,
    start: int,
    stop: int,
) -> int:
    """Throw out the edges that lie within one component; return where those left over stop."""
    left = start
    for e in range(start, stop):
        a, b = find(link, u[e]), find(link, v[e])
        u[left] = a
        v[left] = b
        weight[left] = weight[e]
        origin[left] = origin[e]
        left += a != b
    return left


@inlined_kernel
def _precedes(weight: np.ndarray, origin: np.ndarray, a: int, b: int) -> bool:
    """Tell whether edge a is taken before edge b."""
    return weight[a] > weight[b] or (weight[a] == weight[b] and origin[a] < origin[b])


@inlined_kernel
def _swap(
    u: np.ndarray, v: np.ndarray, weight: np.ndarray, origin: np.ndarray, a: int, b: int
) -> None:
    """Exchange two edges."""
    u[a], u[b] = u[b], u[a]
    v[a], v[b] = v[b], v[a]
    weight[a], weight[b] = weight[b], weight[a]
    origin[a], origin[b] = origin[b], origin[a]


@kernel
def _partition(
    u: np.ndarray,
    v: np.ndarray,
    weight: np.ndarray,
    origin: np.ndarray,
    start: int,
    stop: int,
    dice: np.ndarray,
) -> int:
    """Move the better edges to the front; return where the others start, of which there are some.

    The pivot is the median of three edges at random places, one from each third.
    """
    third = (stop - start) // 3
    dice[0] = dice[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    a = start + int(dice[0] >> np.uint64(33)) % third
    b, c = a + third, a + 2 * third
    if _precedes(weight, origin, b, a):
        a, b = b, a
    if _precedes(weight, origin, c, b):
        b = a if _precedes(weight, origin, c, a) else c
    pivot_weight, pivot_origin = weight[b], origin[b]
    middle = start
    for e in range(start, stop):
        better = (weight[e] > pivot_weight) | (
            (weight[e] == pivot_weight) & (origin[e] < pivot_origin)
        )
        _swap(u, v, weight, origin, e, middle)
        middle += better
    return middle


@spliced_kernel
def _sort(
    u: np.ndarray, v: np.ndarray, weight: np.ndarray, origin: np.ndarray, start: int, stop: int
) -> None:
    """Sort edges by insertion, the best first."""
    for e in range(start + 1, stop):
        at = e
        while at > start and _precedes(weight, origin, at, at - 1):
            _swap(u, v, weight, origin, at - 1, at)
            at -= 1
