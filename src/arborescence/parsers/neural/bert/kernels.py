"""Kernels of BERT between its matrix products: attention, norms and the rectifier GELU.

Each sum has one order, and no product is rounded together with a sum: so the results are the same
on every processor, and those of a window do not depend on other windows.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.compiling.lanes import LANES
from arborescence.parsers.neural.kernels import exp

_ONE: Final = np.float32(1)
_ZERO: Final = np.float32(0)
_HALF: Final = np.float32(0.5)
_ROOT_HALF: Final = np.float32(0.5**0.5)
# The error function by Abramowitz and Stegun 1964, 7.1.26: the error is at most 1.5e-7.
_STEP: Final = np.float32(0.3275911)
_E1, _E2, _E3, _E4, _E5 = (
    np.float32(factor)
    for factor in (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
)


@kernel
@takes("float32[:, ::1], int64[::1], float32[:, ::1], out float32[:, ::1]")
def attend(
    # (N, 3 size) float32: queries, keys and values of pieces, window after window
    vectors: np.ndarray,
    starts: np.ndarray,  # (W + 1,) int64: the first piece of each window, and N
    # (heads, D) float32: is added to scores, by the distance to the other piece; the middle column
    # is for distance 0, and D is 0, or at least 2 P - 1 for windows of P pieces
    distances: np.ndarray,
    out: np.ndarray,  # (N, size) float32: written
) -> None:
    """Mix the values of each window by the softmax of its scores (Vaswani et al. 2017)."""
    size = out.shape[1]
    heads, middle = distances.shape[0], distances.shape[1] // 2
    width = size // heads
    factor = np.float32(_ONE / np.float32(math.sqrt(width)))
    longest = 1
    for window in range(starts.size - 1):
        longest = max(longest, starts[window + 1] - starts[window])
    keys = np.empty((width, longest), dtype=np.float32)  # of one head, transposed
    shares = np.empty(longest, dtype=np.float32)
    sums = np.empty(width, dtype=np.float32)
    for window in range(starts.size - 1):
        first, count = starts[window], starts[window + 1] - starts[window]
        for head in range(heads):
            column = head * width
            for place in range(count):
                for k in range(width):
                    keys[k, place] = vectors[first + place, size + column + k]
            for row in range(first, first + count):
                for place in range(np.uint64(count)):
                    shares[place] = _ZERO
                for k in range(width):
                    _add(vectors[row, column + k] * factor, keys[k], np.uint64(count), shares)
                if middle:
                    own = distances[head, middle - (row - first) :]
                    for place in range(np.uint64(count)):
                        shares[place] += own[place]
                total = _softmax(shares, np.uint64(count))
                for k in range(np.uint64(width)):
                    sums[k] = _ZERO
                for place in range(count):
                    values = vectors[first + place, 2 * size + column : 2 * size + column + width]
                    _add(shares[place], values, np.uint64(width), sums)
                for k in range(width):
                    out[row, column + k] = sums[k] / total


@inlined_kernel
def _add(share: np.float32, numbers: np.ndarray, count: Any, sums: np.ndarray) -> None:
    for k in range(count):
        sums[k] += share * numbers[k]


@inlined_kernel
def _softmax(scores: np.ndarray, count: Any) -> np.float32:
    """Replace scores by ``e^(score - highest)``, and return their sum."""
    highest = scores[0]
    for k in range(count):
        highest = scores[k] if scores[k] > highest else highest
    for k in range(count):
        scores[k] = exp(scores[k] - highest)
    total = _ZERO
    for k in range(count):
        total += scores[k]
    return total


@kernel
@takes("float32[:, ::1], float32[::1], float32[::1], float64, out float32[:, ::1]")
def add_and_norm(
    added: np.ndarray,  # (N, size) float32
    weights: np.ndarray,  # (size,) float32
    bias: np.ndarray,  # (size,) float32
    epsilon: float,  # is added to the variance
    vectors: np.ndarray,  # (N, size) float32: changed
) -> None:
    """Add to vectors; then give each the mean 0 and the variance 1, and scale and shift it.

    A layer's norm (Ba et al. 2016).
    """
    count, size = vectors.shape
    length = np.float32(size)
    sums = np.empty(LANES, dtype=np.float32)
    for row in range(count):
        for k in range(np.uint64(size)):
            vectors[row, k] += added[row, k]
        mean = _sum(vectors[row], _ZERO, False, sums) / length
        variance = _sum(vectors[row], mean, True, sums) / length
        scale = _ONE / np.sqrt(variance + np.float32(epsilon))
        for k in range(np.uint64(size)):
            vectors[row, k] = (vectors[row, k] - mean) * scale * weights[k] + bias[k]


@inlined_kernel
def _sum(numbers: np.ndarray, mean: np.float32, squared: bool, sums: np.ndarray) -> np.float32:
    """Return the sum of numbers, or of their squared distances from their mean: by lanes."""
    for lane in range(np.uint64(LANES)):
        sums[lane] = _ZERO
    whole = numbers.size // LANES * LANES
    for k in range(0, whole, LANES):
        for lane in range(np.uint64(LANES)):
            x = numbers[np.uint64(k) + lane] - mean
            sums[lane] += x * x if squared else x
    for k in range(whole, numbers.size):
        x = numbers[k] - mean
        sums[k - whole] += x * x if squared else x
    total = _ZERO
    for lane in range(LANES):
        total += sums[lane]
    return total


@kernel
@takes("out float32[:, ::1]")
def gelu(rows: np.ndarray) -> None:
    """Replace each number by ``x * (1 + erf(x / sqrt(2))) / 2`` (Hendrycks and Gimpel 2016)."""
    for row in range(rows.shape[0]):
        for k in range(np.uint64(rows.shape[1])):
            x = rows[row, k]
            size = abs(x) * _ROOT_HALF
            t = _ONE / (_ONE + _STEP * size)
            series = ((((_E5 * t + _E4) * t + _E3) * t + _E2) * t + _E1) * t
            erf = _ONE - series * exp(-size * size)
            rows[row, k] = x * (_ONE + (-erf if x < _ZERO else erf)) * _HALF
