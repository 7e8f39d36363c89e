"""The best projective tree with siblings and grandparents, by dynamic programming.

Siblings alone take O(n³) (McDonald and Pereira 2006, after Eisner 1996), with grandparents O(n⁴)
(Koo and Collins 2010). Beside Eisner's complete and incomplete spans, there are spans *between* two
neighbouring modifiers of one head. With grandparents, each span has a *context*: the head of the
span's own head, or for a span between modifiers, the head of both. If c is the context and s lies
between h and d::

    between[c, s, d]    = max over r of complete[c, s, r] + complete[c, d, r + 1]
    incomplete[c, h, d] = scores[h, d] + grandparents[c, h, d] + the larger of
        complete[h, d, next to h] + siblings[h, d, h]
        max over s of incomplete[c, h, s] + between[h, s, d] + siblings[h, d, s]
    complete[c, h, e]   = max over r of incomplete[c, h, r] + complete[h, r, e]

Without grandparents there is one context, 0. The weights are whole numbers, so nothing is rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.second_order.units import ABSENT, LOWEST, UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.second_order.units import Units

_COMPLETE, _INCOMPLETE, _BETWEEN = 0, 1, 2


def best_projective(units: Units, single: bool) -> tuple[NDArray[np.int64], int]:
    """Return heads and weight of the best projective tree; ABSENT if none.

    Time O(n³), memory O(n²); with grandparents O(n⁴) and O(n³).
    """
    size = len(units.scores)
    contexts = size if units.grandparents.size else 1
    charts = np.full((4, contexts, size, size), ABSENT, np.int64)
    heads = np.full(size, -1, np.int64)
    weight = fill_spans(*units[:3], single, charts)
    if weight > LOWEST:
        read_spans(*units[:3], charts, np.empty((2 * size, 4), np.int64), heads)
        return heads, weight
    return heads, ABSENT


@inlined_kernel
def best_of_two(one: np.ndarray, other: np.ndarray) -> int:
    """Return the highest ``one + other``. O(n)."""
    best = 3 * ABSENT
    for r in range(one.shape[0]):
        best = max(best, one[r] + other[r])
    return best


@inlined_kernel
def best_of_three(one: np.ndarray, other: np.ndarray, third: np.ndarray) -> int:
    """Return the highest ``one + other + third``. O(n)."""
    best = 3 * ABSENT
    for r in range(one.shape[0]):
        best = max(best, one[r] + other[r] + third[r])
    return best


@inlined_kernel
def or_absent(weight: int) -> int:
    """Return a weight, or ABSENT if the sum contains an absent part. O(1)."""
    return weight if weight > LOWEST else ABSENT


@inlined_kernel
def is_context(c: int, h: int, i: int, j: int, contexts: int) -> bool:
    """Tell whether a span from i to j with the head h can have the context c. O(1)."""
    if contexts == 1:
        return True
    return c == 0 if h == 0 else c < i or c > j


@inlined_kernel
def weight_of_edge(scores: np.ndarray, grandparents: np.ndarray, c: int, h: int, d: int) -> int:
    """Return the weight of the edge h -> d below c. O(1)."""
    score: int = scores[h, d]
    if h > 0 and grandparents.shape[0] > 0:
        score += grandparents[c, h, d]
    return score


@kernel
@takes(f"{UNITS}, bool, out int64[:, :, :, ::1]")
def fill_spans(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
    charts: np.ndarray,
) -> int:
    """Fill the charts; return the best tree's weight, at most LOWEST if none.

    O(n³), with grandparents O(n⁴).

    `scores`, `siblings` and `grandparents` are of `Units`; `single` tells whether exactly one edge
    leaves the root. `charts` (4, C, N, N) hold ABSENT, for C = N contexts, or C = 1 without
    grandparents: complete spans ``[c, head, end]``; the same transposed; incomplete spans ``[c,
    head, dependent]``; and spans between modifiers, in both orders.
    """
    _, contexts, size, _ = charts.shape
    complete, across, incomplete, between = charts[0], charts[1], charts[2], charts[3]
    nothing = np.zeros(size, np.int64)
    for j in range(size):
        for c in range(contexts):
            complete[c, j, j] = across[c, j, j] = 0
        for i in range(j - 1, -1, -1):
            if i > 0:
                for c in range(contexts):
                    if contexts == 1 or c < i or c > j:
                        meet = best_of_two(complete[c, i, i:j], complete[c, j, i + 1 : j + 1])
                        between[c, i, j] = between[c, j, i] = or_absent(meet)
            for h, d in ((i, j), (j, i)):
                inner = h if contexts > 1 else 0
                if d == 0 or scores[h, d] == ABSENT:
                    continue
                first = complete[inner, d, h + 1 if h < d else h - 1]
                if siblings.shape[0] > 0:
                    first += siblings[h, d, h]
                for c in range(contexts):
                    if is_context(c, h, i, j, contexts):
                        best = first
                        if not (single and h == 0):
                            of_siblings = siblings[h, d] if siblings.shape[0] > 0 else nothing
                            more = best_of_three(
                                incomplete[c, h, i + 1 : j],
                                between[inner, d, i + 1 : j],
                                of_siblings[i + 1 : j],
                            )
                            best = max(best, more)
                        best += weight_of_edge(scores, grandparents, c, h, d)
                        incomplete[c, h, d] = or_absent(best)
            for c in range(contexts):
                if is_context(c, i, i, j, contexts):
                    inner = i if contexts > 1 else 0
                    right = best_of_two(
                        incomplete[c, i, i + 1 : j + 1], across[inner, j, i + 1 : j + 1]
                    )
                    complete[c, i, j] = across[c, j, i] = or_absent(right)
                if is_context(c, j, i, j, contexts):
                    inner = j if contexts > 1 else 0
                    left = best_of_two(incomplete[c, j, i:j], across[inner, i, i:j])
                    complete[c, j, i] = across[c, i, j] = or_absent(left)
    weight: int = complete[0, 0, size - 1]
    return weight


@inlined_kernel
def push(stack: np.ndarray, height: int, kind: int, c: int, h: int, e: int) -> int:
    """Push a span on a stack, ``(H, 4)`` int64, of this height; return the new height. O(1)."""
    stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = kind, c, h, e
    return height + 1


@kernel
@takes(f"{UNITS}, int64[:, :, :, ::1], out int64[:, ::1], out int64[::1]")
def read_spans(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    charts: np.ndarray,
    stack: np.ndarray,
    heads: np.ndarray,
) -> None:
    """Write the heads (N,) of the best tree from filled charts; of ties, the first split. O(n²).

    ``stack`` (2 N, 4) int64 is scratch.
    """
    _, contexts, size, _ = charts.shape
    complete, across, incomplete, between = charts[0], charts[1], charts[2], charts[3]
    top = push(stack, 0, _COMPLETE, 0, 0, size - 1)
    while top > 0:
        top -= 1
        kind, c, h, e = stack[top]
        if h == e:
            continue
        i, j = min(h, e), max(h, e)
        inner = h if contexts > 1 else 0
        if kind == _BETWEEN:
            r = i
            while complete[c, i, r] + complete[c, j, r + 1] != between[c, h, e]:
                r += 1
            top = push(stack, top, _COMPLETE, c, i, r)
            top = push(stack, top, _COMPLETE, c, j, r + 1)
        elif kind == _COMPLETE:
            r = i + 1 if h < e else i
            while incomplete[c, h, r] + across[inner, e, r] != complete[c, h, e]:
                r += 1
            top = push(stack, top, _INCOMPLETE, c, h, r)
            top = push(stack, top, _COMPLETE, inner, r, e)
        else:
            heads[e] = h
            below = incomplete[c, h, e] - weight_of_edge(scores, grandparents, c, h, e)
            nearest = h + 1 if h < e else h - 1
            first = complete[inner, e, nearest]
            if siblings.shape[0] > 0:
                first += siblings[h, e, h]
            if first == below:
                top = push(stack, top, _COMPLETE, inner, e, nearest)
                continue
            s = i + 1
            while True:
                more = incomplete[c, h, s] + between[inner, e, s]
                if siblings.shape[0] > 0:
                    more += siblings[h, e, s]
                if more == below:
                    break
                s += 1
            top = push(stack, top, _INCOMPLETE, c, h, s)
            top = push(stack, top, _BETWEEN, inner, s, e)
