"""The best projective tree: Eisner (1996, 2000), in O(n³) time and O(n²) memory.

For i < j, where C[h, e] is the best complete span of the head h that ends at e, and I[h, d] is the
best incomplete span of the edge h -> d (see `spans`)::

    meet    = max over i <= r < j of C[i, r] + C[j, r + 1]
    I[i, j] = meet + scores[i, j],    I[j, i] = meet + scores[j, i]
    C[i, j] = max over i < r <= j of I[i, r] + C[r, j]
    C[j, i] = max over i <= r < j of I[j, r] + C[r, i]

The root, node 0, is a head like the words. With a single root edge,
I[0, d] = C[d, 1] + scores[0, d]. Almost all time is spent in three maxima over sums of two rows. So
all rows are contiguous in memory, for lanes (`compiling.lanes`), and a second copy of C is
transposed.

The charts are float64. Their tree is returned only if nothing was rounded, or if, at each span of
the tree, the best split is better than all other splits by more than the rounding error. Otherwise
the exact chart is computed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.compiling.kernels import (
    indexing_kernel,
    inlined_kernel,
    kernel,
    never_negative,
    takes,
    uncounted_kernel,
)
from arborescence.compiling.lanes import LANES, as_row, places, top, where
from arborescence.core.faults import BAD_SCORE, FINE, NO_TREE, no_answer
from arborescence.core.graph import ALL_WORDS, in_float64
from arborescence.projective.exact_chart import best_exactly, unit_of_scores
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, pop, push, splits_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from arborescence.core.graph import Graph

# Sums of finite scores do not overflow if the absolute values sum to less than this.
_SAFE = 1e300

# A bound on ((1 + 2^-53)^(2n) - 1) / (n + 2) for every n that fits in memory.
_LOSS = 2.0**-51

# Integers with at most this many bits are exact in float64.
_WHOLE_BITS = 52


class Charts(NamedTuple):
    """The best weight of every span of a sentence; -inf if the span does not exist."""

    #: (N, N + LANES) float64: C[h, e]
    complete: np.ndarray
    #: (N, N + LANES) float64: the transposed copy of `complete`, [e, h]
    across: np.ndarray
    #: (N, N + LANES) float64: I[h, d]
    incomplete: np.ndarray


@indexing_kernel
def best_sum(left: np.ndarray, start: int, right: np.ndarray, begin: int, count: int) -> float:
    """Return the maximum of ``left[start + k] + right[begin + k]`` over all k < `count`. O(n).

    `count` is at least 1. From `count` to the end of the lanes, one of the two vectors is -inf.
    """
    best = left[places(start)] + right[places(begin)]
    for k in range(LANES, count, LANES):
        value = left[places(start + k)] + right[places(begin + k)]
        best = where(value > best, value, best)
    return top(best)


@indexing_kernel
def fill(scores: np.ndarray, n: int, single: bool, charts: Charts) -> None:
    """Fill the charts. O(n³)."""
    width = charts.complete.shape[1]
    complete, across = as_row(charts.complete), as_row(charts.across)
    incomplete = as_row(charts.incomplete)
    # A span that is not filled yet must not be part of a maximum.
    for x in range((n + 1) * width):
        complete[x] = across[x] = incomplete[x] = -np.inf
    for x in range(n + 1):
        complete[x * width + x] = across[x * width + x] = 0.0
    # Shorter spans come first. Spans of one length do not need each other, so the processor can
    # work on the next span before a span is finished.
    for length in range(1, n + 1):
        for i in range(n + 1 - length):
            j = i + length
            row_i, row_j = i * width, j * width
            if single and i == 0:
                meet = complete[row_j + 1]
            else:
                meet = best_sum(complete, row_i + i, complete, row_j + i + 1, length)
            # To load lanes just after a store into them is slow, so store last.
            to_right = meet + scores[i, j]
            to_left = meet + scores[j, i] if i > 0 else -np.inf
            right, left = to_right, to_left
            if length > 1:
                right = max(
                    right, best_sum(incomplete, row_i + i + 1, across, row_j + i + 1, length - 1)
                )
                left = max(
                    left, best_sum(incomplete, row_j + i + 1, across, row_i + i + 1, length - 1)
                )
            incomplete[row_i + j] = to_right
            incomplete[row_j + i] = to_left
            complete[row_i + j] = across[row_j + i] = right
            complete[row_j + i] = across[row_i + j] = left


@inlined_kernel
def choose(one: np.ndarray, other: np.ndarray) -> tuple[int, float, float]:
    """Return the first r with the highest ``one[r] + other[r]``, this sum, and the second best."""
    choice, best, second = 0, -np.inf, -np.inf
    for r in range(one.shape[0]):
        v = one[r] + other[r]
        if v > best:
            choice, best, second = r, v, best
        elif v > second:
            second = v
    return choice, best, second


@uncounted_kernel
def read_tree(n: int, single: bool, charts: Charts, stack: np.ndarray, heads: np.ndarray) -> float:
    """Write the best tree from filled charts; return its margin over other trees. O(n²).

    The margin is the smallest difference of the best and the second best split over the tree's
    spans, less rounding errors. ``stack`` (N + 1, 3) int64 is scratch.
    """
    margin = np.inf
    top, kind, h, e = pop(stack, push(stack, 0, (COMPLETE, 0, n)))
    while top >= 0:
        low, stop = splits_of(kind, h, e, single)
        if kind == INCOMPLETE:
            heads[e] = h
            left_sums, right_sums = charts.complete[min(h, e)], charts.complete[max(h, e)]
            r, best, second = choose(left_sums[low:stop], right_sums[low + 1 : stop + 1])
        else:
            r, best, second = choose(charts.incomplete[h, low:stop], charts.across[e, low:stop])
        first, last = parts_of(kind, h, e, low + r)
        top, kind, h, e = pop(stack, push(stack, push(stack, top, first), last))
        if best - second < margin:
            margin = best - second
    return margin


@kernel
@never_negative
@takes("float64[:, ::1], int64")
def sum_sizes(scores: np.ndarray, n: int) -> tuple[float, float]:
    """Return the sums over words of the largest absolute and largest positive scores. O(n²).

    The first sum is NaN if a score is NaN or +inf. No tree weighs more than the second sum.
    """
    of_words = np.zeros((2, n + 1))
    largest, highest = of_words[0], of_words[1]
    bad = 0
    for h in range(n + 1):
        for d in range(1, n + 1):
            score = scores[h, d]
            present = (h != d) & (score != -np.inf)
            bad += 1 if present & (not score < np.inf) else 0
            size = abs(score) if present else 0.0
            largest[d] = size if size > largest[d] else largest[d]
            highest[d] = score if present & (score > highest[d]) else highest[d]
    if bad > 0:
        return np.nan, np.nan
    sizes = 0.0
    positive = 0.0
    for d in range(1, n + 1):
        sizes += largest[d]
        positive += highest[d]
    return sizes, positive


@kernel
@takes("float64[:, :, ::1], int64[::1], bool, out int64[:, ::1]")
def eisner_kernel(
    scores: np.ndarray, lengths: np.ndarray, single: bool, heads: np.ndarray
) -> tuple[int, int]:
    """Find every best projective tree; return the first sentence without one, or B and FINE.

    O(n³) for each sentence.

    - scores: (B, N, N) float64, contiguous, ``[b, h, d]``
    - lengths: (B,) int64, or (0,) if every sentence has N - 1 words
    - heads: (B, N) int64, filled
    """
    batch, size, _ = scores.shape
    shape = (size, size + LANES)
    charts = Charts(np.empty(shape), np.empty(shape), np.empty(shape))
    stack = np.empty((size + 1, 3), np.int64)
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        heads[b] = -1
        sizes, positive = sum_sizes(scores[b], n)
        if np.isnan(sizes):
            return b, BAD_SCORE
        if n == 0:
            continue
        exact = sizes < _SAFE
        if exact:
            fill(scores[b], n, single, charts)
            if charts.complete[0, n] == -np.inf:
                return b, NO_TREE
            margin = read_tree(n, single, charts, stack, heads[b])
            # Suppose another tree is better in exact arithmetic. Its weight is the sum of its
            # positive scores, at most `positive`, minus the sum of its negative sizes. So its
            # sizes sum to at most 2 * positive minus the weight of our tree. The errors of both
            # trees are at most _LOSS * (n + 2) times the sizes of both trees.
            size_of_tree = 0.0
            for d in range(1, n + 1):
                size_of_tree += abs(scores[b, heads[b, d], d])
            exact = margin > _LOSS * (n + 2) * (2.0 * positive + 2.0 * size_of_tree)
            # Sums are also exact if they fit the bits of a float64, as with small integers.
            if not exact:
                exact = math.frexp(sizes)[1] + unit_of_scores(scores[b], n)[0] <= _WHOLE_BITS
        if not exact:
            heads[b] = -1
            if not best_exactly(scores[b], n, single, heads[b]):
                return b, NO_TREE
    return batch, FINE


def decode_plainly(scores: Any, single: bool) -> NDArray[np.int64] | None:
    """Return the best projective tree of one float64 matrix (N, N).

    None stands for other input, and for a matrix that is faulty or has no tree.
    """
    if type(scores) is not np.ndarray or scores.ndim != 2 or scores.dtype != np.float64:
        return None
    size, columns = scores.shape
    if size != columns or size == 0:
        return None
    heads = np.empty((1, size), np.int64)
    _, fault = eisner_kernel(np.array(scores[None], order="C"), ALL_WORDS, single, heads)
    return heads[0] if fault == FINE else None


def decode_projective(
    graph: Graph, single: bool, heads: NDArray[np.int64], start: int, stop: int
) -> None:
    """Fill `heads` (B, N) for the sentences `start` to `stop` of a flattened batch."""
    for part, scores, lengths in in_float64(graph, start, stop):
        sentence, fault = eisner_kernel(scores, lengths, single, heads[part])
        if fault != FINE:
            raise no_answer(graph, part.start + sentence, fault, single)
