"""Log-partition, marginals and draws of projective trees (Baker 1979, Paskin 2001).

`outside` is backpropagation through `inside`. No step subtracts, so each marginal has about the
relative error of float64. If weights are too small for floats, logarithms are used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.random import uniform
from arborescence.core.rows import add_row, row_product
from arborescence.core.weights import SMALLEST, scale_column
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, pop, push, splits_of

# A bound on sums. A marginal is a sum times its derivative, and is at most 1. So the derivative
# of a larger sum would be too small for a float.
LARGEST = 1e50


class Inside(NamedTuple):
    """The sum over all derivations of each span, its logarithm, or its derivative."""

    #: (N, N): [head, end]
    complete: np.ndarray
    #: (N, N): the same transposed, [end, head]
    across: np.ndarray
    #: (N, N): [head, dependent]
    incomplete: np.ndarray


@kernel
def new_inside(size: int, like: np.ndarray, projective: bool = True) -> Inside:
    """Allocate the sums for up to `size` nodes; empty arrays if not `projective`."""
    shape = (size, size) if projective else (0, 0)
    return Inside(
        np.zeros(shape, like.dtype), np.zeros(shape, like.dtype), np.zeros(shape, like.dtype)
    )


@kernel
def inside(
    weights: np.ndarray,
    n: int,
    single: bool,
    sums: Inside,
    scaled: bool,
) -> tuple[Any, float]:
    """Fill the sums; return the sum over all trees of n > 0 words, and the log of its scale. O(n³).

    Without a scale, small terms may underflow; the sum is correct if it is at least SMALLEST. If
    the sum of the first words is smaller, this sum is returned at once, because arithmetic close to
    underflow is slow. With a scale, the sum is 0 if a sum was too small or too large for floats.

    `weights` (N, N), float64 or complex128, are from `as_weights`. If `scaled`, the weights change
    in place: all edges into a word are divided by the sum over the trees of all words before the
    word, so that most sums are near 1. This is for very long sentences; present edges then weigh at
    least SMALLEST.
    """
    complete, across, incomplete = sums
    log_scale = 0.0
    for j in range(n + 1):
        complete[j, j] = across[j, j] = 1.0
        before = complete[0, j - 1].real if scaled and j > 0 else 0.0
        if before > 0.0:
            log_scale -= np.log(before)
            for h in range(n + 1):
                weights[h, j] /= before
        for i in range(j - 1, -1, -1):
            stop = splits_of(INCOMPLETE, i, j, single)[1]
            meet = row_product(complete[i, i:stop], complete[j, i + 1 : stop + 1])
            incomplete[i, j] = meet * weights[i, j]
            incomplete[j, i] = meet * weights[j, i]
            right = row_product(incomplete[i, i + 1 : j + 1], across[j, i + 1 : j + 1])
            left = row_product(incomplete[j, i:j], across[i, i:j])
            complete[i, j] = across[j, i] = right
            complete[j, i] = across[i, j] = left
            if scaled and (
                too_far(meet, complete[i, i:stop], complete[j, i + 1 : stop + 1])
                or too_small(incomplete[i, j], meet, weights[i, j])
                or too_small(incomplete[j, i], meet, weights[j, i])
                or too_far(right, incomplete[i, i + 1 : j + 1], across[j, i + 1 : j + 1])
                or too_far(left, incomplete[j, i:j], across[i, i:j])
            ):
                return 0.0 * weights[0, 0], log_scale
        if not scaled and 0.0 < complete[0, j].real < SMALLEST:
            return complete[0, j], log_scale
    return complete[0, n], log_scale


@inlined_kernel
def too_small(product: Any, one: Any, other: Any) -> bool:
    """Tell whether a product of two numbers may have underflowed. O(1)."""
    return product.real < SMALLEST and one.real > 0.0 and other.real > 0.0


@inlined_kernel
def too_far(total: Any, one: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether the dot product of two rows is too large, or may have underflowed.

    O(1), or O(n) if the sum is small.
    """
    if not total.real < LARGEST:
        return True
    if total.real < SMALLEST:
        for r in range(one.shape[0]):
            if one[r].real > 0.0 and other[r].real > 0.0:
                return True
    return False


@kernel
def outside(
    weights: np.ndarray,
    n: int,
    single: bool,
    sums: Inside,
    total: Any,
    slopes: Inside,
    marginals: np.ndarray,
) -> None:
    """Fill the marginals from the sums of `inside`; `slopes` is scratch. O(n³)."""
    complete, across, incomplete = sums
    slope_complete, slope_across, slope_incomplete = slopes
    slope_complete[: n + 1, : n + 1] = 0.0
    slope_across[: n + 1, : n + 1] = 0.0
    slope_incomplete[: n + 1, : n + 1] = 0.0
    slope_complete[0, n] = 1.0 / total
    for j in range(n, 0, -1):
        for i in range(j):
            slope = slope_complete[j, i] + slope_across[i, j]
            add_row(slope_incomplete[j, i:j], slope, across[i, i:j])
            add_row(slope_across[i, i:j], slope, incomplete[j, i:j])
            slope = slope_complete[i, j] + slope_across[j, i]
            add_row(slope_incomplete[i, i + 1 : j + 1], slope, across[j, i + 1 : j + 1])
            add_row(slope_across[j, i + 1 : j + 1], slope, incomplete[i, i + 1 : j + 1])
            marginals[i, j] = slope_incomplete[i, j] * incomplete[i, j]
            if i > 0:
                marginals[j, i] = slope_incomplete[j, i] * incomplete[j, i]
            slope = slope_incomplete[i, j] * weights[i, j] + slope_incomplete[j, i] * weights[j, i]
            stop = splits_of(INCOMPLETE, i, j, single)[1]
            add_row(slope_complete[i, i:stop], slope, complete[j, i + 1 : stop + 1])
            add_row(slope_complete[j, i + 1 : stop + 1], slope, complete[i, i:stop])


@inlined_kernel
def way_of(one: np.ndarray, other: np.ndarray, below: np.ndarray, r: int) -> Any:
    """Return the logarithm of the weight of one split of a span. O(1)."""
    if below.shape[0] == 0:
        return one[r] + other[r]
    return one[r] + other[r] + below[r]


@inlined_kernel
def log_dot(one: np.ndarray, other: np.ndarray, below: np.ndarray) -> Any:
    """Return the logarithm of the dot product of two rows of logarithms. O(n)."""
    highest = -np.inf
    for r in range(one.shape[0]):
        highest = max(highest, way_of(one, other, below, r).real)
    total = 0.0 * np.exp(one[0])
    if highest == -np.inf:
        return total + highest
    for r in range(one.shape[0]):
        total += np.exp(way_of(one, other, below, r) - highest)
    return np.log(total) + highest


@kernel
def inside_in_logs(logs: np.ndarray, n: int, single: bool, sums: Inside, gaps: np.ndarray) -> Any:
    """Fill the logarithms of the sums; return the log-partition. O(n³), with O(n³) exps.

    - logs: (N, N) float64 or complex128: the logarithms of the weights; real parts of -inf for
      absent edges, loops and column 0
    - n, single, sums: as in `inside`
    - gaps: (2, N, N, N) float64, or (2, N, N, 0): added to the logarithm of each split of a span,
      ``[kind, head, end, split]``, if scores are too far apart for logarithms: see
      `distribution.moderate_scores`
    """
    complete, across, incomplete = sums
    for j in range(n + 1):
        complete[j, j] = across[j, j] = 0.0
        for i in range(j - 1, -1, -1):
            stop = splits_of(INCOMPLETE, i, j, single)[1]
            meet = log_dot(
                complete[i, i:stop],
                complete[j, i + 1 : stop + 1],
                gaps[INCOMPLETE, i, j, i:stop],
            )
            incomplete[i, j] = meet + logs[i, j]
            incomplete[j, i] = meet + logs[j, i]
            right = log_dot(
                incomplete[i, i + 1 : j + 1],
                across[j, i + 1 : j + 1],
                gaps[COMPLETE, i, j, i + 1 : j + 1],
            )
            left = log_dot(incomplete[j, i:j], across[i, i:j], gaps[COMPLETE, j, i, i:j])
            complete[i, j] = across[j, i] = right
            complete[j, i] = across[i, j] = left
    return complete[0, n]


@kernel
def sum_in_logs(
    logs: np.ndarray,
    n: int,
    single: bool,
    sums: Inside,
    slopes: Inside,
    marginals: np.ndarray,
    gaps: np.ndarray,
) -> tuple[Any, float]:
    """Return the log-partition and the entropy by logarithms, and fill the marginals. O(n³).

    `logs`, `n`, `single` and `gaps` are as in `inside_in_logs`; `sums` and `slopes` are scratch.
    `marginals` are (N, N), of the type of the logs; or (0, 0) if neither marginals nor the entropy
    are requested.
    """
    log_sum = inside_in_logs(logs, n, single, sums, gaps)
    entropy = 0.0
    if log_sum.real > -np.inf and marginals.shape[0] > 0:
        entropy = outside_in_logs(logs, n, single, sums, slopes, marginals, gaps)
    return log_sum, entropy


@inlined_kernel
def share_out(
    share: Any,
    log_sum: Any,
    one: np.ndarray,
    other: np.ndarray,
    below: np.ndarray,
    to_one: np.ndarray,
    to_other: np.ndarray,
) -> float:
    """Divide a span's marginal among its splits; return marginal times entropy. O(n)."""
    entropy = 0.0
    if share.real > 0.0:
        for r in range(one.shape[0]):
            way = way_of(one, other, below, r) - log_sum
            if way.real > -np.inf:
                of_way = share * np.exp(way)
                to_one[r] += of_way
                to_other[r] += of_way
                entropy -= of_way.real * way.real
    return entropy


@kernel
def outside_in_logs(
    logs: np.ndarray,
    n: int,
    single: bool,
    sums: Inside,
    shares: Inside,
    marginals: np.ndarray,
    gaps: np.ndarray,
) -> float:
    """Fill the marginals from the sums of `inside_in_logs`; return the entropy. O(n³).

    The entropy is the sum over spans of the split's entropy times the span's marginal: so it
    needs no large logarithms. `shares` is scratch.
    """
    complete, across, incomplete = sums
    share_complete, share_across, share_incomplete = shares
    share_complete[: n + 1, : n + 1] = 0.0
    share_across[: n + 1, : n + 1] = 0.0
    share_incomplete[: n + 1, : n + 1] = 0.0
    share_complete[0, n] = 1.0
    entropy = 0.0
    for j in range(n, 0, -1):
        for i in range(j):
            entropy += share_out(
                share_complete[j, i] + share_across[i, j],
                complete[j, i],
                incomplete[j, i:j],
                across[i, i:j],
                gaps[COMPLETE, j, i, i:j],
                share_incomplete[j, i:j],
                share_across[i, i:j],
            )
            entropy += share_out(
                share_complete[i, j] + share_across[j, i],
                complete[i, j],
                incomplete[i, i + 1 : j + 1],
                across[j, i + 1 : j + 1],
                gaps[COMPLETE, i, j, i + 1 : j + 1],
                share_incomplete[i, i + 1 : j + 1],
                share_across[j, i + 1 : j + 1],
            )
            share = share_incomplete[i, j]
            marginals[i, j] = share
            # From the better of the two edges: with a much worse edge, rounding loses the sum.
            meet = incomplete[i, j] - logs[i, j]
            if i > 0:
                marginals[j, i] = share_incomplete[j, i]
                share += share_incomplete[j, i]
                if logs[j, i].real > logs[i, j].real:
                    meet = incomplete[j, i] - logs[j, i]
            stop = splits_of(INCOMPLETE, i, j, single)[1]
            entropy += share_out(
                share,
                meet,
                complete[i, i:stop],
                complete[j, i + 1 : stop + 1],
                gaps[INCOMPLETE, i, j, i:stop],
                share_complete[i, i:stop],
                share_complete[j, i + 1 : stop + 1],
            )
    for d in range(1, n + 1):
        scale_column(marginals, n, d)
    return entropy


@kernel
@takes("float64[:, ::1], int64, bool, float64[:, :, :, ::1], int64[::1], out int64[:, ::1]")
def draw_down(
    logs: np.ndarray,
    n: int,
    single: bool,
    gaps: np.ndarray,
    source: np.ndarray,
    heads: np.ndarray,
) -> None:
    """Draw trees by inside sums. O(n³), with O(n³) exps, and O(n²) per tree.

    `logs` (N, N) are from `as_weights`; `source` (2,) is the source of randomness, from
    `core.random`; `heads` (k, N) are filled.
    """
    sums = new_inside(n + 1, logs)
    inside_in_logs(logs, n, single, sums, gaps)
    complete, across, incomplete = sums
    stack = np.empty((n + 2, 3), np.int64)
    for draw in range(heads.shape[0]):
        tree = heads[draw]
        tree[0] = -1
        top, kind, h, e = pop(stack, push(stack, 0, (COMPLETE, 0, n)))
        while top >= 0:
            low, stop = splits_of(kind, h, e, single)
            if kind == INCOMPLETE:
                tree[e] = h
                i, j = min(h, e), max(h, e)
                one, other = complete[i, low:stop], complete[j, low + 1 : stop + 1]
                whole = incomplete[h, e] - logs[h, e]
            else:
                one, other = incomplete[h, low:stop], across[e, low:stop]
                whole = complete[h, e]
            below = gaps[kind, h, e, low:stop]
            left_over = uniform(source)
            split = 0
            for r in range(stop - low):
                share = np.exp(way_of(one, other, below, r) - whole)
                if share > 0.0:
                    split = r
                    left_over -= share
                    if left_over < 0.0:
                        break
            first, second = parts_of(kind, h, e, low + split)
            top, kind, h, e = pop(stack, push(stack, push(stack, top, first), second))


@kernel
@takes("float64[:, ::1], int64, bool, float64[:, :, :, ::1], out float64[:, ::1]")
def sum_projective(
    logs: np.ndarray, n: int, single: bool, gaps: np.ndarray, marginals: np.ndarray
) -> float:
    """Return the log-partition, and fill the marginals. O(n³), with O(n³) exps."""
    sums, slopes = new_inside(n + 1, logs), new_inside(n + 1, logs)
    log_sum, _ = sum_in_logs(logs, n, single, sums, slopes, marginals, gaps)
    return log_sum
