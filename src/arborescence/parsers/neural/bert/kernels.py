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
from arborescence.compiling.lanes import LANES, as_row, fill, places, top, turn, where
from arborescence.core.products import AT_ONCE, Panels, Rows, multiply_rows
from arborescence.parsers.neural.kernels import exp

_ONE: Final = np.float32(1)
_ZERO: Final = np.float32(0)
_HALF: Final = np.float32(0.5)
#: The score of a piece that is not there.
_LOWEST: Final = np.float32(-1e30)
_ROOT_HALF: Final = np.float32(0.5**0.5)
# The error function by Abramowitz and Stegun 1964, 7.1.26: the error is at most 1.5e-7.
_STEP: Final = np.float32(0.3275911)
_E1, _E2, _E3, _E4, _E5 = (
    np.float32(factor)
    for factor in (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
)


@kernel
@takes("float32[:, ::1], int64[::1], float32[:, ::1], out float32[:, ::1], bool")
def attend(
    # (N, 3 size) float32: queries, keys and values of pieces, window after window
    vectors: np.ndarray,
    starts: np.ndarray,  # (W + 1,) int64: the first piece of each window, and N
    # (heads, D) float32: is added to scores, by the distance to the other piece; the middle column
    # is for distance 0, and D is 0, or at least 2 P - 1 for windows of P pieces
    distances: np.ndarray,
    out: np.ndarray,  # (N, size) float32: written
    wide: bool,  # see `has_wide_registers`
) -> None:
    """Mix the values of each window by the softmax of its scores (Vaswani et al. 2017)."""
    size = out.shape[1]
    heads, middle = distances.shape[0], distances.shape[1] // 2
    width = size // heads
    factor = np.float32(_ONE / np.float32(math.sqrt(width)))
    longest = 1
    for window in range(starts.size - 1):
        longest = max(longest, starts[window + 1] - starts[window])
    across = -(-longest // LANES) * LANES
    keys = np.zeros(across * width, dtype=np.float32)  # panels of sixteen pieces
    values = np.zeros(-(-width // LANES) * LANES * longest, dtype=np.float32)  # of sixteen numbers
    tile = np.zeros(LANES * LANES, dtype=np.float32)
    shares = np.empty(longest * across, dtype=np.float32)
    totals, scratch = np.empty(longest, dtype=np.float32), np.empty(AT_ONCE, dtype=np.float32)
    for window in range(starts.size - 1):
        first, count = starts[window], starts[window + 1] - starts[window]
        lanes = -(-count // LANES) * LANES
        of_window = Rows(shares, 0, across)
        for head in range(heads):
            column = head * width
            queries = Rows(as_row(vectors), first * 3 * size + column, 3 * size)
            _panels(queries, count, width, size, factor, tile, keys, values)
            multiply_rows(
                queries,
                count,
                Panels(keys, 0, width, count),
                of_window,
                scratch,
                wide,
            )
            for row in range(count):
                begin = row * across
                if middle:
                    for place in range(count):
                        shares[begin + place] += distances[head, middle - row + place]
                for place in range(count, lanes):
                    shares[begin + place] = _LOWEST
                totals[row] = _softmax(shares, begin, begin + lanes, scratch)
            multiply_rows(
                of_window,
                count,
                Panels(values, 0, count, width),
                Rows(as_row(out), first * size + column, size),
                scratch,
                wide,
            )
            for row in range(count):
                part = _ONE / totals[row]
                for k in range(np.uint64(column), np.uint64(column + width)):
                    out[first + row, k] *= part


@inlined_kernel
def _panels(
    vectors: Rows,
    count: int,
    width: int,
    size: int,
    factor: np.float32,
    tile: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
) -> None:
    """Write the keys of a head, times a factor, and its values as panels: see `PanelMatrix`.

    `vectors` are the queries of the head, before keys and values, of `count` pieces; `width` is the
    number of columns.
    """
    numbers = vectors.numbers
    for k in range(0, width, LANES):
        used = min(LANES, width - k)
        key, value = vectors.start + size + k, vectors.start + 2 * size + k
        for block in range(0, count, LANES):
            for place in range(block, min(block + LANES, count)):
                row, to = place * vectors.width, (place - block) * LANES
                if used == LANES:
                    tile[places(to)] = numbers[places(key + row)] * factor
                    values[places(k * count + place * LANES)] = numbers[places(value + row)]
                else:
                    for lane in range(used):
                        tile[to + lane] = numbers[key + row + lane] * factor
                        values[k * count + place * LANES + lane] = numbers[value + row + lane]
            turn(tile)
            for lane in range(used):
                keys[places((block * width) + (k + lane) * LANES)] = tile[places(lane * LANES)]


@inlined_kernel
def _softmax(scores: np.ndarray, start: int, end: int, scratch: np.ndarray) -> np.float32:
    """Replace scores by ``e^(score - highest)``, and return their sum; lanes from start to end."""
    best = scores[places(start)]
    for k in range(start + LANES, end, LANES):
        other = scores[places(k)]
        best = where(other > best, other, best)
    highest = top(best)
    for k in range(np.uint64(start), np.uint64(end)):
        scores[k] = exp(scores[k] - highest)
    sums = scores[places(start)]
    for k in range(start + LANES, end, LANES):
        sums = sums + scores[places(k)]
    scratch[places(0)] = sums
    total = _ZERO
    for lane in range(LANES):
        total += scratch[lane]
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
def _sum(numbers: np.ndarray, mean: Any, squared: bool, sums: np.ndarray) -> np.float32:
    """Return the sum of numbers, or of their squared distances from their mean: by lanes."""
    for lane in range(LANES):
        sums[lane] = _ZERO
    whole = numbers.size // LANES * LANES
    total = sums[places(0)]
    for k in range(0, whole, LANES):
        x = numbers[places(k)] - fill(total, mean)
        total = total + (x * x if squared else x)
    sums[places(0)] = total
    for k in range(whole, numbers.size):
        rest = numbers[k] - mean
        sums[k - whole] += rest * rest if squared else rest
    total_of_all = _ZERO
    for lane in range(LANES):
        total_of_all += sums[lane]
    return total_of_all


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


@kernel
@takes("float32[:, ::1], float32[::1], out float32[:, :, ::1]")
def mix(
    vectors: np.ndarray,  # (N, size) float32: of a layer
    shares: np.ndarray,  # (L,) float32: of this layer in each mixture
    mixtures: np.ndarray,  # (N, L, size) float32: changed
) -> None:
    """Add a layer to mixtures of layers."""
    for row in range(vectors.shape[0]):
        for number in range(shares.size):
            share = shares[number]
            for k in range(np.uint64(vectors.shape[1])):
                mixtures[row, number, k] += share * vectors[row, k]


@kernel
@takes("float32[:, ::1], int64[::1], int64[::1], out float32[:, ::1]")
def average(
    vectors: np.ndarray,  # (N, size) float32
    which: np.ndarray,  # (M,) int64: the vectors of all means, one mean after the other
    starts: np.ndarray,  # (W + 1,) int64: where in `which` each mean begins, and M
    out: np.ndarray,  # (W, size) float32: written
) -> None:
    """Average some vectors, at least one for each mean."""
    for mean in range(out.shape[0]):
        first, last = starts[mean], starts[mean + 1]
        part = _ONE / np.float32(last - first)
        for k in range(np.uint64(out.shape[1])):
            out[mean, k] = vectors[which[first], k]
        for place in range(first + 1, last):
            for k in range(np.uint64(out.shape[1])):
                out[mean, k] += vectors[which[place], k]
        for k in range(np.uint64(out.shape[1])):
            out[mean, k] *= part
