"""Kernels of the neural network: LSTMs, characters, softmax, edges, relations.

`e^x` is computed as 2^k times a Taylor series: so compilers can vectorize loops over many x.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.compiling.kernels import fused_kernel, kernel, reordered_kernel, takes
from arborescence.compiling.lanes import LANES, as_row
from arborescence.core.products import AT_ONCE, Panels, Rows, multiply_rows

_ONE: Final = np.float32(1)
_TWO: Final = np.float32(2)
_ZERO: Final = np.float32(0)

# e^x = 2^k e^r, where k is the integer nearest to x / log 2. Below _LOWEST, e^x is nearly 0; above
# _HIGHEST, e^x is too large for a float32.
_LOWEST: Final = np.float32(-87)
_HIGHEST: Final = np.float32(88)
# Adding this number to x rounds x to an integer, which is in the lowest bits of the sum.
_SHIFT: Final = np.float32(1.5 * 2**23)
_LOG2_E: Final = np.float32(1 / np.log(2))
# log 2 in two parts. The product of the first part and a small integer is exact.
_LOG_2_HIGH: Final = np.float32(355 / 512)
_LOG_2_LOW: Final = np.float32(np.log(2) - 355 / 512)
_BIAS: Final = np.int32(127 << 23)
# The Taylor series of (e^r - 1 - r) / r^2.
_C2, _C3, _C4, _C5, _C6, _C7 = (
    np.float32(1 / factorial) for factorial in (2, 6, 24, 120, 720, 5040)
)


@fused_kernel
def _parts_of_exp(x: np.float32) -> tuple[np.float32, np.float32]:
    """Return 2^k and e^r - 1, where e^x = 2^k e^r and abs(r) <= log(2) / 2."""
    x = _LOWEST if x < _LOWEST else x
    x = _HIGHEST if x > _HIGHEST else x
    shifted = np.float32(x * _LOG2_E + _SHIFT)
    k = shifted - _SHIFT
    r = (x - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    series = ((((_C7 * r + _C6) * r + _C5) * r + _C4) * r + _C3) * r + _C2
    bits = np.int32(np.int32(shifted.view(np.int32) << np.int32(23)) + _BIAS)
    return bits.view(np.float32), r + r * r * series


@fused_kernel
def _exp(x: np.float32) -> np.float32:
    power, rest = _parts_of_exp(x)
    return power + power * rest


@fused_kernel
def _sigmoid(x: np.float32) -> np.float32:
    return _ONE / (_ONE + _exp(-x))


@fused_kernel
def _tanh(x: np.float32) -> np.float32:
    """Return tanh(x) = m / (m + 2) with m = e^2x - 1, which is exact for small x, too."""
    power, rest = _parts_of_exp(_TWO * abs(x))
    m = power * rest + (power - _ONE)
    result = m / (m + _TWO)
    return -result if x < _ZERO else result


@kernel
@takes(
    "float32[:, ::1], float32[:, :, :, ::1], float32[:, ::1], int64[::1], int64[::1], "
    "out float32[:, ::1], bool"
)
def lstm(
    # float32 (N, 8 H): the products of inputs and weights: four gates (input, forget, output, new)
    # for each direction
    gates: np.ndarray,
    # float32 (2, P, H, 16): the weights of previous outputs, for each direction, in panels
    weights: np.ndarray,
    bias: np.ndarray,  # float32 (2, 4 H)
    # mirrored (N,), sizes (T,), int64: as in `inputs.BatchLayout`: the second direction reads and
    # writes mirrored rows
    mirrored: np.ndarray,
    sizes: np.ndarray,
    # written: float32 (N, at least 2 H): the outputs of both directions side by side
    out: np.ndarray,
    wide: bool,  # see `has_wide_registers`
) -> None:
    """Run a layer of LSTMs in both directions (Hochreiter and Schmidhuber 1997)."""
    hidden = weights.shape[2]
    cells = np.empty((sizes[0], hidden), dtype=np.float32)
    outputs = np.empty((sizes[0], hidden), dtype=np.float32)
    recurrent = np.empty((sizes[0], 4 * hidden), dtype=np.float32)
    scratch = np.empty(AT_ONCE, dtype=np.float32)
    for direction in range(2):
        of_direction = Panels(as_row(weights[direction]), 0, hidden, 4 * hidden)
        for b in range(sizes[0]):
            for j in range(hidden):
                cells[b, j] = _ZERO
            for j in range(4 * hidden):
                recurrent[b, j] = _ZERO
        start = 0
        for size in sizes:
            if start:
                before = Rows(as_row(outputs), 0, hidden)
                into = Rows(as_row(recurrent), 0, 4 * hidden)
                multiply_rows(before, size, of_direction, into, scratch, wide)
            for b in range(size):
                row = mirrored[start + b] if direction else start + b
                _step(gates[row], recurrent[b], bias[direction], cells[b], outputs[b], direction)
                for j in range(hidden):
                    out[row, direction * hidden + j] = outputs[b, j]
            start += size


@fused_kernel
def _step(
    gates: np.ndarray,
    recurrent: np.ndarray,
    bias: np.ndarray,
    cells: np.ndarray,
    outputs: np.ndarray,
    direction: int,
) -> None:
    """Compute one step of the LSTM of one direction.

    The inputs of the gates are the sums of `gates`, `recurrent` and `bias`.
    """
    hidden = np.uint64(cells.size)
    gate = np.uint64(direction) * np.uint64(4) * hidden
    for j in range(hidden):
        enter = _sigmoid(gates[gate + j] + recurrent[j] + bias[j])
        at = hidden + j
        forget = _sigmoid(gates[gate + at] + recurrent[at] + bias[at])
        at += hidden
        leave = _sigmoid(gates[gate + at] + recurrent[at] + bias[at])
        at += hidden
        new = _tanh(gates[gate + at] + recurrent[at] + bias[at])
        cell = enter * new + forget * cells[j]
        cells[j] = cell
        outputs[j] = leave * _tanh(cell)


@kernel
@takes("int64[:, ::1], float32[:, ::1], int64[::1], float32[::1], out float32[:, ::1]")
def spell(
    letters: np.ndarray, table: np.ndarray, widths: np.ndarray, bias: np.ndarray, out: np.ndarray
) -> None:
    """Run convolutions over the characters of forms, and keep the largest values (at least 0).

    `letters`, int64 (U, C), has the numbers of the characters of each form; 0 after its end.
    `table`, float32 (characters, places * filters), has the products of each character and the
    weights of each place of a window, one window after the other. `widths`, int64 (W,), has the
    number of places of each window; `bias` is float32 (W * filters,). `out`, float32
    (U, W * filters), is written.
    """
    filters = np.uint64(bias.size // widths.size)
    sums = np.empty(filters, dtype=np.float32)
    for u in range(letters.shape[0]):
        length = letters.shape[1]
        while length > 0 and letters[u, length - 1] == 0:
            length -= 1
        for k in range(bias.size):
            out[u, k] = _ZERO
        first = np.uint64(0)
        for window in range(widths.size):
            width = widths[window]
            column = np.uint64(window) * filters
            for middle in range(length):
                for f in range(filters):
                    sums[f] = bias[column + f]
                begin = middle - width // 2
                for place in range(max(0, -begin), min(width, length - begin)):
                    letter = letters[u, begin + place]
                    at = first + np.uint64(place) * filters
                    for f in range(filters):
                        sums[f] += table[letter, at + f]
                for f in range(filters):
                    if sums[f] > out[u, column + f]:
                        out[u, column + f] = sums[f]
            first += np.uint64(width) * filters


@kernel
@takes("out float32[:, ::1], int64[::1]")
def softmax(rows: np.ndarray, best: np.ndarray) -> None:
    """Turn the logits of tags into their probabilities.

    `rows`, float32 (N, V), is changed in place. `best`, int64 (N,), has the column of the largest
    logit of each row.
    """
    for row in range(rows.shape[0]):
        highest = rows[row, best[row]]
        for value in range(np.uint64(rows.shape[1])):
            rows[row, value] = _exp(rows[row, value] - highest)
        _normalize(rows, row)


@reordered_kernel
def _normalize(rows: np.ndarray, row: int) -> None:
    """Divide a row by its sum."""
    total = _ZERO
    for k in range(rows.shape[1]):
        total += rows[row, k]
    share = _ONE / total
    for k in range(rows.shape[1]):
        rows[row, k] *= share


@kernel
@takes("float32[:, ::1], int64, float64, int64[::1], out float32[:, ::1]")
def rectify(rows: np.ndarray, first: int, slope: float, order: np.ndarray, out: np.ndarray) -> None:
    """Apply a leaky rectifier to some columns of rows, reorder the rows, and append a 1 to each.

    The columns of `rows`, float32 (N, any), are used from `first` on. Negative numbers are
    multiplied by `slope`. `order`, int64 (N,), has the row to put at each place. `out`, float32
    (N, columns + 1), is written.
    """
    start = np.uint64(first)
    columns = np.uint64(out.shape[1] - 1)
    factor = np.float32(slope)
    for place in range(order.size):
        row = order[place]
        for k in range(columns):
            x = rows[row, start + k]
            out[place, k] = factor * x if x < _ZERO else x
        out[place, columns] = _ONE


@reordered_kernel
def _dot(products: np.ndarray, head: int, relation: int, rows: np.ndarray, row: int) -> np.float32:
    total = _ZERO
    for k in range(np.uint64(rows.shape[1])):
        total += products[head, relation, k] * rows[row, k]
    return total


@kernel
@takes("float32[:, :, ::1], int64[::1], float32[:, ::1], int64[::1], out float32[:, ::1]")
def score_relations(
    # float32 (U, L, columns): the product of the vector of each head and the weights of each
    # relation
    products: np.ndarray,
    heads: np.ndarray,  # int64 (E,): the head of each edge: a row of `products`
    vectors: np.ndarray,  # float32 (N, columns): the vectors of all dependents
    dependents: np.ndarray,  # int64 (E,): the dependent of each edge: a row of `vectors`
    scores: np.ndarray,  # float32 (E, L): filled
) -> None:
    """Score all relations of edges by the vectors of their dependents."""
    for edge in range(heads.size):
        for relation in range(products.shape[1]):
            scores[edge, relation] = _dot(
                products, heads[edge], relation, vectors, dependents[edge]
            )


@kernel
@takes("float32[:, ::1], float32[:, ::1], int64[::1], out float32[:, :, ::1], bool")
def score_edges(
    # float32 (N, K + 1) and (N, at least K): the vectors of heads and of dependents, sentence by
    # sentence
    heads: np.ndarray,
    dependents: np.ndarray,
    lengths: np.ndarray,  # int64 (B,): the number of nodes of each sentence
    # float32 (B, T, T): ``[head, dependent]``, filled where a sentence has nodes
    scores: np.ndarray,
    wide: bool,  # see `has_wide_registers`
) -> None:
    """Score the edges of sentences by the products of the vectors of their ends."""
    sentences, size, _ = scores.shape
    depth = dependents.shape[1]
    most = (size + LANES - 1) // LANES
    panels = np.empty(most * depth * LANES, dtype=np.float32)
    scratch = np.empty(AT_ONCE, dtype=np.float32)
    start = 0
    for b in range(sentences):
        n = lengths[b]
        for place in range((n + LANES - 1) // LANES * LANES):
            panel, lane = divmod(place, LANES)
            row = start + min(place, n - 1)
            for k in range(depth):
                panels[(panel * depth + k) * LANES + lane] = dependents[row, k]
        multiply_rows(
            Rows(as_row(heads), start * heads.shape[1], heads.shape[1]),
            n,
            Panels(panels, 0, depth, n),
            Rows(as_row(scores), b * size * size, size),
            scratch,
            wide,
        )
        start += n


@kernel
@takes("float32[:, ::1], float32[:, ::1], float32[::1], int64, int64, out float32[:, ::1]")
def score_pairs(
    # heads, dependents: float32 (N, at least columns)
    heads: np.ndarray,
    dependents: np.ndarray,
    weights: np.ndarray,  # float32 (columns,)
    # first, n: the first row of the sentence, and the number of its rows
    first: int,
    n: int,
    # float32 (at least n, at least n): filled: ``[head, dependent]`` is the product of the weights
    # and tanh(head + dependent)
    scores: np.ndarray,
) -> None:
    """Score the edges of a sentence by an MLP over pairs (Kiperwasser and Goldberg 2016)."""
    curved = np.empty(weights.size, dtype=np.float32)
    for head in range(n):
        for dependent in range(n):
            for k in range(np.uint64(weights.size)):
                curved[k] = weights[k] * _tanh(
                    heads[first + head, k] + dependents[first + dependent, k]
                )
            scores[head, dependent] = _sum(curved)


@reordered_kernel
def _sum(values: np.ndarray) -> np.float32:
    total = _ZERO
    for k in range(np.uint64(values.size)):
        total += values[k]
    return total
