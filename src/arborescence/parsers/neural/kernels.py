"""Kernels of the neural network: LSTMs, characters, tags, edges, relations.

`e^x` is computed as 2^k times a Taylor series: so compilers can vectorize loops over many x. Each
sum has one order, and no product is rounded together with a sum: so the results are the same on
every processor.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.compiling.lanes import LANES, as_row, fill, places
from arborescence.core.byte_products import BLOCK, MOST, ZERO, to_byte
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
#: The probability of a tag is nothing if its logit is so much less than the best: below 1e-5.
_FEW: Final = np.float32(-12)
# The Taylor series of (e^r - 1 - r) / r^2.
_C2, _C3, _C4, _C5, _C6, _C7 = (
    np.float32(1 / factorial) for factorial in (2, 6, 24, 120, 720, 5040)
)


@inlined_kernel
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


@inlined_kernel
def exp(x: np.float32) -> np.float32:
    """Return e^x."""
    power, rest = _parts_of_exp(x)
    return power + power * rest


@inlined_kernel
def _one_by_sigmoid(x: np.float32) -> np.float32:
    return _ONE + exp(-x)


@inlined_kernel
def _tanh_by(x: np.float32, divisor: np.float32) -> np.float32:
    """Return tanh(x) / divisor; the divisor is at least 1, and may be very large.

    tanh(x) = m / (m + 2) with m = e^2x - 1, which is exact for small x, too.
    """
    power, rest = _parts_of_exp(_TWO * abs(x))
    m = power * rest + (power - _ONE)
    result = m / ((m + _TWO) * divisor)
    return -result if x < _ZERO else result


@kernel
@takes(
    *(
        f"uint8[:, ::1], float32[:, ::1], int64[::1], {weight}[:, :, :, ::1], float32[:, ::1], "
        f"int32[:, ::1], int64[::1], int64[::1], out {row}[:, ::1], out uint8[:, ::1], bool"
        for weight, row in (("int8", "uint8"), ("int16", "int16"))
    )
)
def lstm(
    inputs: np.ndarray,  # uint8 (N, K), as in `byte_products.ByteRows`: the inputs
    # float32 (U, 8 H), int64 (N,): rows to add to the gates (input, forget, output, new, for each
    # direction), and which one for each row of inputs
    gates: np.ndarray,
    which: np.ndarray,
    # for each direction, a matrix (H + K, 4 H) as in `byte_products.ByteMatrix`: the weights of
    # previous outputs and of inputs; int8 or int16 (2, P, at least H + K, 16), float32 (2, 4 H),
    # int32 (2, 4 H)
    panels: np.ndarray,
    scales: np.ndarray,
    offsets: np.ndarray,
    # mirrored (N,), sizes (T,), int64: as in `inputs.BatchLayout`: the second direction reads and
    # writes mirrored rows
    mirrored: np.ndarray,
    sizes: np.ndarray,
    room: np.ndarray,  # used: for B rows, see `byte_products.ByteMatrix.room`
    # written: uint8 (N, at least 2 H): the outputs of both directions side by side, times 127
    out: np.ndarray,
    wide: bool,  # see `has_wide_registers`
) -> None:
    """Run a layer of LSTMs in both directions (Hochreiter and Schmidhuber 1997)."""
    hidden, size_of_input = scales.shape[1] // 4, inputs.shape[1]
    columns = 4 * hidden
    cells = np.empty((sizes[0], hidden), dtype=np.float32)
    sums = np.empty((BLOCK, columns), dtype=np.int32)
    divisors = np.empty(columns, dtype=np.float32)
    scratch = np.empty(AT_ONCE, dtype=np.int32)
    into = Rows(as_row(sums), 0, columns)
    for direction in range(2):
        of_direction = Panels(as_row(panels[direction]), 0, panels.shape[2], columns)
        for b in range(sizes[0]):
            for j in range(hidden):
                cells[b, j] = _ZERO
                room[b, j] = ZERO
        start = 0
        for size in sizes:
            for first in range(0, size, BLOCK):
                some = min(BLOCK, size - first)
                for b in range(first, first + some):
                    row = mirrored[start + b] if direction else start + b
                    for k in range(np.uint64(size_of_input)):
                        room[b, np.uint64(hidden) + k] = inputs[row, k]
                before = Rows(as_row(room), first * room.shape[1], room.shape[1])
                multiply_rows(before, some, of_direction, into, scratch, wide)
                for b in range(first, first + some):
                    row = mirrored[start + b] if direction else start + b
                    written = out[row, direction * hidden : (direction + 1) * hidden]
                    _step(
                        gates[which[row], direction * columns : (direction + 1) * columns],
                        sums[b - first],
                        scales[direction],
                        offsets[direction],
                        divisors,
                        cells[b],
                        written,
                    )
                    for j in range(hidden):
                        room[b, j] = written[j]
            start += size


@inlined_kernel
def _step(
    # (4 H,) each
    gates: np.ndarray,
    sums: np.ndarray,
    scales: np.ndarray,
    offsets: np.ndarray,
    divisors: np.ndarray,  # written: 1 by the sigmoid of each gate
    # (H,) each, changed and written
    cells: np.ndarray,
    out: np.ndarray,
) -> None:
    """Compute one step of the LSTM of one direction.

    The inputs of the gates are `gates` plus the corrected and scaled `sums`. Three short loops are
    faster than one, of which a processor sees only one pass at a time.
    """
    hidden = np.uint64(cells.size)
    leave, new = np.uint64(2) * hidden, np.uint64(3) * hidden
    for j in range(new):
        integer = np.int32(sums[j] + offsets[j])
        divisors[j] = _one_by_sigmoid(gates[j] + np.float32(integer) * scales[j])
    for j in range(hidden):
        integer = np.int32(sums[new + j] + offsets[new + j])
        x = gates[new + j] + np.float32(integer) * scales[new + j]
        cells[j] = _tanh_by(x, divisors[j]) + cells[j] / divisors[hidden + j]
    for j in range(hidden):
        out[j] = to_byte(_tanh_by(cells[j], divisors[leave + j]) * np.float32(MOST))


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
@takes("int64[:, ::1], float32[:, ::1], float32[:, ::1], float32[::1], int64, out uint8[:, ::1]")
def average(
    # int64 (N, k), float32 (N, k): the numbers of vectors, -1 for the last one, and their shares
    chosen: np.ndarray,
    shares: np.ndarray,
    vectors: np.ndarray,  # float32 (V, D)
    units: np.ndarray,  # float32 (D,): what an integer of each column is worth
    column: int,
    out: np.ndarray,  # uint8 (N, at least column + D): written from `column` on, see `ByteRows`
) -> None:
    """Add vectors by their shares."""
    sums = np.empty(vectors.shape[1], dtype=np.float32)
    for row in range(chosen.shape[0]):
        sums[:] = _ZERO
        for place in range(chosen.shape[1]):
            number = chosen[row, place] % vectors.shape[0]
            _add_share(shares[row, place], vectors[number], sums)
        _put(sums, _ONE, units, out[row], column)


@kernel
@takes(
    "float32[:, ::1], int64, float32[:, ::1], float32[::1], int64, int64, out uint8[:, ::1], "
    "out int64[::1]"
)
def choose_tags(
    logits: np.ndarray,  # float32 (N, at least first + V): the logits of tags from `first` on
    first: int,
    # vectors, units, column, out: as for `average`: the mean of the vectors of all tags, by their
    # probabilities; 0 for the roots, which are the first rows
    vectors: np.ndarray,
    units: np.ndarray,
    column: int,
    roots: int,
    out: np.ndarray,
    best: np.ndarray,  # int64 (N,): written: the most probable tag of each row
) -> None:
    """Choose tags by their logits, and return the mean of their vectors."""
    sums = np.empty(vectors.shape[1], dtype=np.float32)
    for row in range(logits.shape[0]):
        best[row] = 0
        for tag in range(1, vectors.shape[0]):
            if logits[row, first + tag] > logits[row, first + best[row]]:
                best[row] = tag
        highest = logits[row, first + best[row]]
        total = _ZERO
        sums[:] = _ZERO
        if row >= roots:
            for tag in range(vectors.shape[0]):
                less = logits[row, first + tag] - highest
                if less > _FEW:
                    share = exp(less)
                    total += share
                    _add_share(share, vectors[tag], sums)
        _put(sums, _ONE / total if total > _ZERO else _ZERO, units, out[row], column)


@inlined_kernel
def _add_share(share: np.float32, vector: np.ndarray, sums: np.ndarray) -> None:
    for k in range(np.uint64(sums.size)):
        sums[k] += share * vector[k]


@inlined_kernel
def _put(
    sums: np.ndarray, factor: np.float32, units: np.ndarray, out: np.ndarray, column: int
) -> None:
    """Write a vector, times a factor, as bytes."""
    for k in range(np.uint64(sums.size)):
        out[np.uint64(column) + k] = to_byte(sums[k] * factor / units[k])


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


@kernel
@takes("float32[:, :, ::1], int64[::1], float32[:, ::1], int64[::1], out float32[:, ::1]")
def score_relations(
    # float32 (U, columns, L): the product of the vector of each head and the weights of each
    # relation
    products: np.ndarray,
    heads: np.ndarray,  # int64 (E,): the head of each edge: a row of `products`
    vectors: np.ndarray,  # float32 (N, columns): the vectors of all dependents
    dependents: np.ndarray,  # int64 (E,): the dependent of each edge: a row of `vectors`
    scores: np.ndarray,  # float32 (E, L): filled
) -> None:
    """Score all relations of edges by the vectors of their dependents."""
    for edge in range(heads.size):
        sums = scores[edge]
        sums[:] = _ZERO
        for k in range(products.shape[1]):
            _add_share(vectors[dependents[edge], k], products[heads[edge], k], sums)


@kernel
@takes("float32[:, ::1], float32[:, ::1], int64[::1], out float32[:, :, ::1]")
def score_edges(
    # float32 (N, at least K) and (N, K): the vectors of heads and of dependents, sentence by
    # sentence
    heads: np.ndarray,
    dependents: np.ndarray,
    lengths: np.ndarray,  # int64 (B,): the number of nodes of each sentence
    # float32 (B, T, T): ``[head, dependent]``, filled where a sentence has nodes
    scores: np.ndarray,
) -> None:
    """Score the edges of sentences by the products of the vectors of their ends."""
    depth = dependents.shape[1]
    panel = np.empty(depth * LANES, dtype=np.float32)
    found = np.empty((4, LANES), dtype=np.float32)
    start = 0
    for b in range(lengths.size):
        n = lengths[b]
        for first in range(0, n, LANES):
            for lane in range(LANES):
                row = start + min(first + lane, n - 1)
                for k in range(depth):
                    panel[k * LANES + lane] = dependents[row, k]
            for head in range(0, n, 4):
                _multiply_four(as_row(heads), heads.shape[1], start, head, n, panel, as_row(found))
                for r in range(min(4, n - head)):
                    for lane in range(min(LANES, n - first)):
                        scores[b, head + r, first + lane] = found[r, lane]
        start += n


@inlined_kernel
def _multiply_four(
    rows: np.ndarray,
    width: int,
    start: int,
    head: int,
    n: int,
    panel: np.ndarray,
    found: np.ndarray,
) -> None:
    """Multiply four rows from `head` on by a panel; after the last row, this row again."""
    a = (start + head) * width
    b = (start + min(head + 1, n - 1)) * width
    c = (start + min(head + 2, n - 1)) * width
    d = (start + min(head + 3, n - 1)) * width
    one = fill(found[places(0)], 0)
    two = three = four = one
    for k in range(panel.size // LANES):
        other = panel[places(k * LANES)]
        one = one + other * rows[a + k]
        two = two + other * rows[b + k]
        three = three + other * rows[c + k]
        four = four + other * rows[d + k]
    found[places(0)] = one
    found[places(LANES)] = two
    found[places(2 * LANES)] = three
    found[places(3 * LANES)] = four


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
    curved = np.zeros((weights.size + LANES - 1) // LANES * LANES, dtype=np.float32)
    for head in range(n):
        for dependent in range(n):
            for k in range(np.uint64(weights.size)):
                x = heads[first + head, k] + dependents[first + dependent, k]
                curved[k] = weights[k] * _tanh_by(x, _ONE)
            scores[head, dependent] = _sum(curved)


@inlined_kernel
def _sum(values: np.ndarray) -> np.float32:
    """Add numbers, a multiple of sixteen: in each lane, and then all lanes."""
    lanes = values[places(0)]
    for k in range(LANES, values.size, LANES):
        lanes = lanes + values[places(k)]
    total = lanes[0]
    for lane in range(1, LANES):
        total += lanes[lane]
    return total
