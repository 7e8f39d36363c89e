"""Eisner's algorithm (1996, 2000) in exact integer arithmetic, if rounding could matter.

Scores are multiples of a power of two, which depends on the sentence. They have mostly three or
four 32-bit digits, as in `accumulator`, but without carries: an int64 holds the digit sums of 2^16
words. `sign_of_difference` carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.accumulator import MASK, add_float, unit_of
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, pop, push, splits_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# If a difference is this large, the lower digits cannot change its sign.
_DECIDED = 1 << 22


class ExactChart(NamedTuple):
    """The scores and the best weight of each span, in D digits each, lowest first."""

    #: the unit is 2^-bias
    bias: int
    #: (N, N, D) int64: the scores, [h, d]
    scores: np.ndarray
    #: (2, N, N) int64: the split of the best span, [kind, h, e]; -1 if there is none
    splits: np.ndarray
    #: (2, N, N, D) int64: its weight; the kind is INCOMPLETE or COMPLETE
    spans: np.ndarray


@kernel
@takes("float64[:, ::1], int64")
def unit_of_scores(scores: np.ndarray, n: int) -> tuple[int, int]:
    """Return `unit_of` of the edges of a sentence. O(n²)."""
    edges = np.empty(n * (n + 1))
    count = 0
    for h in range(n + 1):
        for d in range(1, n + 1):
            if h != d:
                edges[count] = scores[h, d]
                count += 1
    return unit_of(edges[:count])


@inlined_kernel
def sign_of_difference(
    one: np.ndarray, with_one: np.ndarray, other: np.ndarray, with_other: np.ndarray
) -> int:
    """Return the sign of ``one + with_one - other - with_other``. O(D), usually O(1)."""
    total = 0
    for k in range(one.shape[0] - 1, -1, -1):
        total = total * (MASK + 1) + (one[k] + with_one[k]) - (other[k] + with_other[k])
        if abs(total) >= _DECIDED:
            break
    return 1 if total > 0 else -1 if total < 0 else 0


def exact_chart(scores: NDArray[np.float64], n: int, single: bool) -> ExactChart:
    """Return the chart of a sentence. O(n³ D)."""
    bias, width = unit_of_scores(scores, n)
    chart = ExactChart(
        bias,
        np.zeros((n + 1, n + 1, width), np.int64),
        np.full((2, n + 1, n + 1), -1, np.int64),
        np.zeros((2, n + 1, n + 1, width), np.int64),
    )
    fill_exact_chart(scores, n, single, *chart)
    return chart


@kernel
@takes(
    "float64[:, ::1], int64, bool, int64, out int64[:, :, ::1], out int64[:, :, ::1], "
    "out int64[:, :, :, ::1]"
)
def fill_exact_chart(
    scores: np.ndarray,
    n: int,
    single: bool,
    bias: int,
    values: np.ndarray,
    splits: np.ndarray,
    spans: np.ndarray,
) -> None:
    """Fill the arrays of an `ExactChart`: splits hold -1 before, other arrays 0. O(n³ D)."""
    chart = ExactChart(bias, values, splits, spans)
    for j in range(n + 1):
        splits[COMPLETE, j, j] = j  # a single word has no split
        for i in range(j - 1, -1, -1):
            for h, e in ((i, j), (j, i)):
                if e > 0 and scores[h, e] != -np.inf:
                    add_float(values[h, e], scores[h, e], 1, bias)
                    fill_span(chart, INCOMPLETE, h, e, single)
            fill_span(chart, COMPLETE, i, j, single)
            fill_span(chart, COMPLETE, j, i, single)


@kernel
def fill_span(chart: ExactChart, kind: int, h: int, e: int, single: bool) -> None:
    """Compute the best weight of a span from its parts. O(n D)."""
    r = choose_split(chart, kind, h, e, single)
    if r >= 0:
        left, right = parts_of(kind, h, e, r)
        chart.splits[kind, h, e] = r
        for k in range(chart.spans.shape[3]):
            weight = chart.spans[left][k] + chart.spans[right][k]
            if kind == INCOMPLETE:
                weight += chart.scores[h, e, k]
            chart.spans[kind, h, e, k] = weight


@kernel
def choose_split(chart: ExactChart, kind: int, h: int, e: int, single: bool) -> int:
    """Return the first of the best splits of a span, or -1. O(n D)."""
    low, stop = splits_of(kind, h, e, single)
    spans = chart.spans
    choice = -1
    for r in range(low, stop):
        left, right = parts_of(kind, h, e, r)
        if chart.splits[left] >= 0 and chart.splits[right] >= 0:
            if choice >= 0:
                best_left, best_right = parts_of(kind, h, e, choice)
                if (
                    sign_of_difference(
                        spans[left], spans[right], spans[best_left], spans[best_right]
                    )
                    <= 0
                ):
                    continue
            choice = r
    return choice


@kernel
@takes("int64, int64[:, :, ::1], int64[:, :, :, ::1], int64, bool, out float64[:, :, :, ::1]")
def fill_gaps(
    bias: int, splits: np.ndarray, spans: np.ndarray, n: int, single: bool, gaps: np.ndarray
) -> None:
    """Compute the weight of each split of a span, minus the weight of the best split. O(n³ D).

    - bias, splits, spans: of the `ExactChart`
    - n, single: the number of words, and whether exactly one edge may leave the root
    - gaps: (2, n + 1, n + 1, n + 1) float64, ``[kind, head, end, split]``, all -inf: filled with
            numbers of at most 0; splits that do not exist keep -inf. The score of the edge is not
            included, so incomplete spans of both directions have the same gaps.
    """
    for h in range(n + 1):
        for e in range(n + 1):
            for kind in (INCOMPLETE, COMPLETE):
                best = splits[kind, h, e]
                if h == e or best < 0:
                    continue
                low, stop = splits_of(kind, h, e, single)
                best_left, best_right = parts_of(kind, h, e, best)
                for r in range(low, stop):
                    left, right = parts_of(kind, h, e, r)
                    if splits[left] >= 0 and splits[right] >= 0:
                        gap = difference(
                            spans[left],
                            spans[right],
                            spans[best_left],
                            spans[best_right],
                            bias,
                        )
                        gaps[kind, h, e, r] = gap
                        if kind == INCOMPLETE:
                            gaps[kind, e, h, r] = gap


@kernel
def difference(
    one: np.ndarray, with_one: np.ndarray, other: np.ndarray, with_other: np.ndarray, bias: int
) -> float:
    """Return ``one + with_one - other - with_other`` as a float64. O(D), usually O(1)."""
    # Digits are not carried, so leading digits may cancel. If the total has more bits than a float,
    # the lower digits are negligible.
    total = 0.0
    for k in range(one.shape[0] - 1, -1, -1):
        total = total * (MASK + 1) + ((one[k] + with_one[k]) - (other[k] + with_other[k]))
        if abs(total) > 2.0**100:
            return np.ldexp(total, 32 * k - bias)
    return np.ldexp(total, -bias)


@kernel
def best_exactly(scores: np.ndarray, n: int, single: bool, heads: np.ndarray) -> bool:
    """Write the exact best projective tree; False if there is none. O(n³ D).

    Of equal trees, the first split wins: the lowest root, and the leftmost split.
    """
    bias, width = unit_of_scores(scores, n)
    values = np.zeros((n + 1, n + 1, width), np.int64)
    splits = np.full((2, n + 1, n + 1), -1, np.int64)
    spans = np.zeros((2, n + 1, n + 1, width), np.int64)
    fill_exact_chart(scores, n, single, bias, values, splits, spans)
    if splits[COMPLETE, 0, n] < 0:
        return False
    stack = np.empty((n + 2, 3), np.int64)
    top, kind, h, e = pop(stack, push(stack, 0, (COMPLETE, 0, n)))
    while top >= 0:
        if kind == INCOMPLETE:
            heads[e] = h
        left, right = parts_of(kind, h, e, splits[kind, h, e])
        top, kind, h, e = pop(stack, push(stack, push(stack, top, left), right))
    return True
