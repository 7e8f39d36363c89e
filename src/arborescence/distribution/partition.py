"""Kernels of a distribution over a batch."""
# log-partition, entropy, marginals, derivatives, weights

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, reordered_kernel, takes
from arborescence.core.faults import BAD_SCORE, FINE, NO_TREE, TOO_FAR
from arborescence.core.tree import projective_kernel, tree_kernel
from arborescence.core.weights import FURTHEST, SMALLEST
from arborescence.nonprojective.sums import eliminate, eliminate_in_logs
from arborescence.projective.sums import (
    Inside,
    inside,
    new_inside,
    outside,
    sum_in_logs,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from arborescence.core.weights import EdgeWeights

# The imaginary step in `derivatives`. Its square is below the precision of float64 at 1.
_TINY = 2.0**-60


class Sums(NamedTuple):
    """The sums over the trees of each sentence."""

    #: (B,): the log-partition of each sentence
    log_partition: NDArray[np.float64]
    #: (B,): the log-partition minus the shifts of the weights
    log_sums: NDArray[np.float64]
    #: (B,): the entropy of each sentence's trees; without meaning if marginals are not requested
    entropy: NDArray[np.float64]
    #: (B, N, N): the marginals of the edges; (0, 0, 0) if not requested
    marginals: NDArray[np.float64]

    @classmethod
    def of(cls, batch: int, size: int, *, marginals: bool) -> Self:
        """Allocate the sums of `batch` sentences of at most `size` nodes."""
        shape = (batch, size, size) if marginals else (0, 0, 0)
        return cls(np.empty(batch), np.empty(batch), np.empty(batch), np.zeros(shape))

    def share(self, part: slice) -> Self:
        """Return the sums of some of the sentences."""
        if part == slice(0, len(self.entropy)):
            return self  # all of them: for a single sentence, views would cost time
        return type(self)(*(array[part] for array in self))


@lru_cache
def no_gaps(size: int) -> NDArray[np.float64]:
    """Return the `gaps` of sentences that need none, with N = `size` nodes."""
    return np.empty((2, size, size, 0))


@kernel
def sum_over_trees(
    weights: np.ndarray,
    logs: np.ndarray,
    n: int,
    single: bool,
    projective: bool,
    sums: Inside,
    slopes: Inside,
    marginals: np.ndarray,
    gaps: np.ndarray,
) -> tuple[Any, float]:
    """Return the log-sum over trees (-inf if none), and the entropy; fill the marginals. O(n³).

    `weights` and `logs` (N, N), float64 or complex128, are from `as_weights`; the weights may be
    scaled in place. `sums` and `slopes` are scratch, of the type of the weights. `marginals` are
    (N, N) zeros of this type, or (0, 0) if not requested. `gaps` are as in `partition`.
    """
    wanted = marginals.shape[0] > 0
    if projective:
        total, log_scale = 0.0 * weights[0, 0], 0.0
        if gaps.shape[3] == 0:
            total, log_scale = inside(weights, n, single, sums, False)
            if not total.real > SMALLEST and none_lost(weights, logs, n):
                total, log_scale = inside(weights, n, single, sums, True)
        served = total.real > SMALLEST
        if served and wanted:
            outside(weights, n, single, sums, total, slopes, marginals)
            # Scaled sums are not small, but derivatives with respect to sums of 0 may overflow.
            served = log_scale == 0.0 or whole(marginals, n)
        if not served:
            return sum_in_logs(logs, n, single, sums, slopes, marginals, gaps)
        log_sum = np.log(total) - log_scale
    else:
        log_sum = eliminate(weights, n, single, marginals)
        if np.isnan(log_sum.real):
            return eliminate_in_logs(logs, n, single, marginals)
    entropy = 0.0
    if wanted:
        entropy = log_sum.real
        for h in range(n + 1):
            entropy -= expected(marginals[h], logs[h], n)
    return log_sum, entropy


@reordered_kernel
def expected(marginals: np.ndarray, logs: np.ndarray, n: int) -> float:
    """Return the sum of marginals times logarithms in a row, without absent edges. O(n)."""
    total = 0.0
    for d in range(1, n + 1):
        share = marginals[d].real
        total += share * logs[d].real if share > 0.0 else 0.0
    return total


@inlined_kernel
def none_lost(weights: np.ndarray, logs: np.ndarray, n: int) -> bool:
    """Return whether the weights of all present edges are far from underflow. O(n²)."""
    for h in range(n + 1):
        for d in range(1, n + 1):
            if weights[h, d].real < SMALLEST and logs[h, d].real > -np.inf:
                return False
    return True


@inlined_kernel
def whole(marginals: np.ndarray, n: int) -> bool:
    """Return whether the marginals of the edges into each word sum to 1. O(n²)."""
    words = 0
    for d in range(1, n + 1):
        words += abs(marginals[: n + 1, d].sum() - 1.0) < 1e-9  # False for NaN
    return words == n


@kernel
@takes(
    "core.weights.EdgeWeights(out float64[:, :, ::1], float64[:, :, ::1], float64[::1], "
    "float64[::1]), int64[::1], bool, bool, distribution.partition.Sums(out float64[::1], "
    "out float64[::1], out float64[::1], out float64[:, :, ::1]), float64[:, :, :, ::1]"
)
def partition(
    of: EdgeWeights,
    lengths: np.ndarray,
    single: bool,
    projective: bool,
    sums: Sums,
    gaps: np.ndarray,
) -> tuple[int, int]:
    """Fill the sums over the trees of every sentence. O(n³) per sentence.

    `of` is from `as_weights`; its weights may be scaled in place. `lengths` is (B,) int64, or (0,)
    if every sentence has N - 1 words. The marginals of `sums` must be 0. `gaps` are from `no_gaps`,
    or for a single sentence from `ModerateScores`. Returns the first sentence without a result, and
    its fault code; or B and FINE.
    """
    weights, logs, shifts, scales = of
    log_partition, log_sums, entropy, marginals = sums
    batch, size, _ = logs.shape
    inner, slopes = new_inside(size, weights, projective), new_inside(size, weights, projective)
    none = np.empty((0, 0))
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        log_partition[b] = 0.0
        log_sums[b] = 0.0
        entropy[b] = 0.0
        if np.isnan(shifts[b]):
            return b, BAD_SCORE
        if shifts[b] == -np.inf:
            return b, NO_TREE
        if n == 0:
            continue
        shares = marginals[b] if marginals.shape[0] > 0 else none
        if shifts[b] == np.inf:
            return b, TOO_FAR
        log_sum, uncertainty = sum_over_trees(
            weights[b], logs[b], n, single, projective, inner, slopes, shares, gaps
        )
        if log_sum == -np.inf:
            return b, NO_TREE
        log_sums[b] = scales[b] + log_sum
        log_partition[b] = shifts[b] + log_sums[b]
        # Values below 0 or above 1 are rounding errors.
        entropy[b] = max(uncertainty, 0.0)
        for h in range(min(n + 1, shares.shape[0])):
            for d in range(1, n + 1):
                shares[h, d] = min(max(shares[h, d], 0.0), 1.0)
        if not (log_sum > -FURTHEST and abs(log_partition[b]) < np.inf):
            return b, TOO_FAR
    return batch, FINE


@kernel
@takes(
    "float64[:, :, ::1], float64[:, :, ::1], int64[::1], bool, bool, float64[:, :, ::1], "
    "out float64[:, :, ::1], float64[:, :, :, ::1]"
)
def derivatives(
    weights: np.ndarray,
    logs: np.ndarray,
    lengths: np.ndarray,
    single: bool,
    projective: bool,
    direction: np.ndarray,
    slopes_of_marginals: np.ndarray,
    gaps: np.ndarray,
) -> None:
    """Fill the derivatives of all marginals in a direction of the scores. O(n³) per sentence.

    `direction` (B, N, N) is finite for present edges; `slopes_of_marginals` (B, N, N) must be 0.
    Other arguments are as in `partition`, which must have found a tree for every sentence.

    By complex-step differentiation (Squire and Trapp 1998): the same code runs on complex numbers
    with a tiny imaginary step, and does not subtract nearly equal numbers.
    """
    batch, size, _ = logs.shape
    turned = np.empty((size, size), np.complex128)
    turned_logs = np.empty((size, size), np.complex128)
    sums, slopes = new_inside(size, turned, projective), new_inside(size, turned, projective)
    marginals = np.empty((size, size), np.complex128)
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        largest = 0.0
        for h in range(n + 1):
            for d in range(1, n + 1):
                if logs[b, h, d] > -np.inf:
                    largest = max(largest, abs(direction[b, h, d]))
        if n == 0 or largest == 0.0:
            continue
        for h in range(n + 1):
            for d in range(n + 1):
                step = 0.0
                if logs[b, h, d] > -np.inf:
                    step = _TINY * (direction[b, h, d] / largest)
                turned[h, d] = weights[b, h, d] * (1.0 + 1j * step)
                turned_logs[h, d] = logs[b, h, d] + 1j * step
        marginals[:] = 0.0
        sum_over_trees(turned, turned_logs, n, single, projective, sums, slopes, marginals, gaps)
        for h in range(n + 1):
            for d in range(1, n + 1):
                slopes_of_marginals[b, h, d] = marginals[h, d].imag / _TINY * largest


@kernel
@takes(
    "int64[:, :, ::1], float64[:, :, ::1], float64[:, :, ::1], int64[::1], bool, bool, "
    "out float64[:, ::1]"
)
def weigh(
    rows: np.ndarray,
    scores: np.ndarray,
    logs: np.ndarray,
    lengths: np.ndarray,
    single: bool,
    projective: bool,
    weights: np.ndarray,
) -> None:
    """Fill `weights` (B, K) with the weights of head vectors. O(n) each; O(n²) if projective.

    `rows` (B, K, N) has K head vectors of each sentence; values for the root and padding are
    ignored. A weight is NaN if the head vector is not one of the sentence's trees. `logs` (B, N, N)
    are the terms of the sums; an edge is absent if its entry of `scores` (B, N, N) is -inf.
    """
    batch, count, size = rows.shape
    mark = np.empty(size, np.int64)
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        for k in range(count):
            heads = rows[b, k, : n + 1]
            weights[b, k] = np.nan
            if tree_kernel(heads, single, mark) and (not projective or projective_kernel(heads)):
                total = 0.0
                present = True
                for d in range(1, n + 1):
                    present = present and scores[b, heads[d], d] > -np.inf
                    total += logs[b, heads[d], d]
                if present:
                    weights[b, k] = total
