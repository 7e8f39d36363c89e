"""Exponentials of scores as edge weights, scaled so that the edges into each word sum to 1.

A tree has exactly one edge into each word. So scaling all edges into a word by one factor scales
all trees by that factor, and the result is corrected at the end. If the edges into each word sum to
1, no sum over trees exceeds 1, for scores of any size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.accumulator import two_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Underflow may have changed a sum over trees that is smaller than this.
SMALLEST = 1e-250

# Float64 holds logarithms of this size to ten decimal places. An edge that every tree needs may not
# lie further below the best edges: such scores need `distribution.moderate_scores`.
FURTHEST = 1e6

# A difference of scores that makes one of two edges negligible; and a bound on the weight of a
# negligible edge.
_FAR = 400.0
_NEXT_TO_NOTHING = 1e-150


class EdgeWeights(NamedTuple):
    """Scores as weights: the weight of a tree is the product of its edge weights and two scales."""

    #: (B, N, N): ``[b, h, d]``, 0 for absent edges; padding is not written
    weights: NDArray[np.float64]
    #: (B, N, N): the logarithms of the weights
    logs: NDArray[np.float64]
    #: (B,): the logarithm of the first scale, the sum of the highest scores, from `lower`. NaN if a
    #: score is NaN or +inf; -inf if there is no tree because no edge enters a word or none leaves
    #: the root; +inf if the root edges are too far from the other edges for float64.
    shifts: NDArray[np.float64]
    #: (B,): the logarithm of the second scale, from `normalize`. It is of moderate size.
    scales: NDArray[np.float64]


def as_weights(
    scores: NDArray[np.float64], lengths: NDArray[np.int64], single: bool
) -> EdgeWeights:
    """Return scores, contiguous ``[b, h, d]``, as weights. O(n²).

    Lengths are (0,) if every sentence has N - 1 words. If `single`, root edges have their own
    scale, and for each word the edges from other words sum to 1.
    """
    logs, weights = np.empty_like(scores), np.empty_like(scores)
    shifts, scales = np.empty(len(scores)), np.zeros(len(scores))
    lower(scores, lengths, single, logs, shifts)
    # NumPy's exp is five times as fast as a loop in a kernel. With a single root, `normalize`
    # weighs the root edges, because they might overflow before they are scaled down.
    first = 1 if single else 0
    if lengths.size:
        for b, n in enumerate(lengths.tolist()):
            np.exp(logs[b, first : n + 1, : n + 1], out=weights[b, first : n + 1, : n + 1])
    else:
        np.exp(logs[:, first:], out=weights[:, first:])
    scaled = EdgeWeights(weights, logs, shifts, scales)
    normalize(scaled, lengths, single)
    return scaled


@kernel
@takes("float64[:, :, ::1], int64[::1], bool, out float64[:, :, ::1], out float64[::1]")
def lower(
    scores: np.ndarray, lengths: np.ndarray, single: bool, logs: np.ndarray, shifts: np.ndarray
) -> None:
    """Fill `logs`: the scores minus the highest score of each word. O(n²).

    If `single`, root edges are first lowered by `surplus`, so that the root is the best head of at
    most one word. The highest score of a word is that of its root edge only if all other edges into
    the word are negligible.
    """
    batch, size, _ = scores.shape
    highest, raised = np.empty(size), np.empty(size)
    first = 1 if single else 0
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        highest[:] = -np.inf
        logs[b, : n + 1, : n + 1] = -np.inf
        shifts[b] = 0.0
        for h in range(n + 1):
            for d in range(1, n + 1):
                score = scores[b, h, d]
                if h != d:
                    if not score < np.inf:
                        shifts[b] = np.nan
                    if h >= first and score > highest[d]:
                        highest[d] = score
        too_high = surplus(scores[b, 0], highest, n) if single else 0.0
        shifts[b] += too_high if too_high < FURTHEST else np.inf
        lost = 0.0
        for d in range(1, n + 1):
            raised[d] = 0.0
            if single and scores[b, 0, d] - highest[d] > too_high + _FAR:
                highest[d] = scores[b, 0, d]
                raised[d] = too_high
            shifts[b], rounded = two_sum(shifts[b], highest[d])
            lost += rounded - raised[d]
        if abs(lost) < np.inf:
            shifts[b] += lost
        if not abs(shifts[b]) < np.inf:
            continue
        # Subtract first: the difference is exact if the scores are close to each other.
        for h in range(n + 1):
            for d in range(1, n + 1):
                if h != d:
                    logs[b, h, d] = scores[b, h, d] - highest[d] + raised[d]
                    if h == 0:
                        logs[b, h, d] -= too_high


@kernel
def surplus(root: np.ndarray, highest: np.ndarray, n: int) -> float:
    """Return the second largest lead of a root edge over the other edges; at least 0. O(n)."""
    ahead, second = -np.inf, -np.inf
    for d in range(1, n + 1):
        lead = root[d] - highest[d] if root[d] > -np.inf else -np.inf
        if lead > ahead:
            ahead, second = lead, ahead
        elif lead > second:
            second = lead
    return second if 0.0 < second < np.inf else 0.0


@kernel
@takes(
    "core.weights.EdgeWeights(out float64[:, :, ::1], out float64[:, :, ::1], out float64[::1], "
    "out float64[::1]), int64[::1], bool"
)
def normalize(of: EdgeWeights, lengths: np.ndarray, single: bool) -> None:
    """Scale the weights so that the edges into each word sum to 1. O(n²).

    If `single`, the edges from other words sum to 1, and the highest root edge weighs 1; the
    weights of root edges are not read.
    """
    weights, logs, shifts, scales = of
    batch, size, _ = weights.shape
    totals, logs_of_totals = np.empty(size), np.empty(size)
    first = 1 if single else 0
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        if n == 0 or not abs(shifts[b]) < np.inf:
            continue
        totals[:] = 0.0
        for h in range(first, n + 1):
            for d in range(1, n + 1):
                totals[d] += weights[b, h, d]
        for d in range(1, n + 1):
            if totals[d] < _NEXT_TO_NOTHING:
                totals[d] = 1.0  # the root is the only head that is not negligible
            logs_of_totals[d] = np.log(totals[d])
            scales[b] += logs_of_totals[d]
            totals[d] = 1.0 / totals[d]
        for h in range(n + 1):
            for d in range(1, n + 1):
                logs[b, h, d] -= logs_of_totals[d]
                if h >= first:
                    weights[b, h, d] *= totals[d]
        if single:
            best = logs[b, 0, 1 : n + 1].max()
            if best > -FURTHEST:
                scales[b] += best
            else:
                shifts[b] = best if best == -np.inf else np.inf
            if best > -np.inf:
                for d in range(n + 1):
                    logs[b, 0, d] -= best
                    weights[b, 0, d] = np.exp(logs[b, 0, d])


@inlined_kernel
def scale_column(marginals: np.ndarray, n: int, d: int) -> None:
    """Scale the marginals of the edges into a word to sum to 1, despite rounding. O(n)."""
    total = 0.0 * marginals[0, d]
    for h in range(n + 1):
        total += marginals[h, d]
    if total.real > 0.0:
        for h in range(n + 1):
            marginals[h, d] /= total
