"""Matrix products of bytes: weights are int8, rows are bytes, and sums are int32.

Each column of the matrix has its own scale, and so has each row: a number is an integer from -127
to 127 times the scale. Sums of integers are exact, and the few steps with floats have one order: so
the product is the same on every processor, bit for bit. Rows are stored as uint8, with 128 added,
because the instruction for four products and their sum (VNNI) wants it; the sums are corrected by
128 times the sum of the column's weights. Processors without VNNI multiply int16 instead.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.compiling.lanes import LANES, as_row
from arborescence.compiling.native import has_vnni, has_wide_registers
from arborescence.core.products import AT_ONCE, Panels, Rows, aligned, multiply_rows

#: The largest integer of a weight or of a row.
MOST: Final = 127
#: The byte that stands for 0 in a row: each integer of a row is stored with this number added.
ZERO: Final = 128
#: Rows are multiplied in blocks of this many: their sums stay in the cache.
BLOCK: Final = 48
#: The depth of panels is a multiple of this.
_GROUP: Final = 4
#: Adding this number to a small float rounds it to an integer, in the lowest bits of the sum.
_SHIFT: Final = np.float32(1.5 * 2**23)
_SHIFT_BITS: Final = np.int32(_SHIFT.view(np.int32))
#: If no number of a row is larger, all become 0: 127 divided by the largest must be finite.
_LEAST: Final = np.float32(1e-30)
#: The types of weights, and of the rows that they multiply.
_ROWS_FOR: Final[dict[Any, Any]] = {np.int8: np.uint8, np.int16: np.int16}


class ByteRows(NamedTuple):
    """Rows of numbers, rounded to bytes."""

    #: (M, K) uint8: integers from -127 to 127, plus 128
    numbers: np.ndarray
    #: (M,) float32: the factor of the integers of each row
    scales: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, depth: int) -> ByteRows:
        """Round the first `depth` numbers of each row; the largest becomes 127 or -127."""
        numbers = np.empty((len(rows), depth), dtype=np.uint8)
        scales = np.empty(len(rows), dtype=np.float32)
        round_rows(np.ascontiguousarray(rows), numbers, scales)
        return cls(numbers, scales)


class ByteMatrix:
    """A matrix (K, N) float32, rounded to int8, by which rows are multiplied.

    Attributes
    ----------
    panels : (P, at least K, 16) int8 or int16
        Sixteen columns each, with zeros after the last column and the last row. int8 has four
        numbers of each column side by side, int16 two.
    scales : (N,) float32
        The factor of the integers of each column.
    offsets : (N,) int32
        The correction of the sums of each column: rows are stored with 128 added to each number.

    Examples
    --------
    >>> matrix = ByteMatrix(np.array([[127, 4, 0], [0, -4, 127]], dtype=np.float32))
    >>> matrix.after(np.array([[1, 0], [0, 2]], dtype=np.float32)).round(2)
    array([[127.,   4.,   0.],
           [  0.,  -8., 254.]], dtype=float32)
    """

    def __init__(self, matrix: np.ndarray, weight: type | None = None) -> None:
        """Round a matrix; `weight`, int8 or int16, is the type that is fastest here by default."""
        weight = weight or (np.int8 if has_vnni() else np.int16)
        self._rows = _ROWS_FOR[weight]
        self._depth, columns = matrix.shape
        self.scales = np.abs(matrix).max(axis=0, initial=0) / np.float32(MOST)
        integers: np.ndarray = np.rint(matrix / np.where(self.scales > 0, self.scales, 1))
        integers = integers.astype(weight)
        self.offsets = (integers.sum(axis=0, dtype=np.int32) * -ZERO).astype(np.int32)
        group = _GROUP // np.dtype(weight).itemsize
        padded = np.pad(integers, [(0, -self._depth % _GROUP), (0, -columns % LANES)])
        depth, count = len(padded), padded.shape[1] // LANES
        parts = padded.reshape(depth // group, group, count, LANES).transpose(2, 0, 3, 1)
        self.panels = aligned((count, depth, LANES), weight)
        self.panels[:] = parts.reshape(self.panels.shape)

    def after(self, rows: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
        """Return the product of rows (M, at least K) float32 and this matrix, plus the bias."""
        return self.after_bytes(ByteRows.of(rows, self._depth), bias)

    def after_bytes(self, rows: ByteRows, bias: np.ndarray | None = None) -> np.ndarray:
        """Return the product of rows (M, at least K) and this matrix, plus the bias."""
        product = np.empty((len(rows.numbers), len(self.scales)), dtype=np.float32)
        multiply_bytes(
            rows.numbers,
            rows.scales,
            self.panels,
            self.scales,
            self.offsets,
            np.zeros(len(self.scales), dtype=np.float32) if bias is None else bias,
            self.room(max(min(len(product), BLOCK), 1)),
            product,
            has_wide_registers(),
        )
        return product

    def room(self, count: int) -> np.ndarray:
        """Return an array for `count` rows that kernels multiply by the panels."""
        return np.full((count, self.panels.shape[1]), ZERO, dtype=self._rows)


@inlined_kernel
def to_byte(number: np.float32) -> np.int32:
    """Round to the nearest integer from -127 to 127, and add 128."""
    bits = np.float32(number + _SHIFT).view(np.int32)
    integer = np.int32(bits - _SHIFT_BITS)
    integer = np.int32(-MOST) if integer < -MOST else integer
    integer = np.int32(MOST) if integer > MOST else integer
    return np.int32(integer + ZERO)


@kernel
@takes("float32[:, ::1], out uint8[:, ::1], out float32[::1]")
def round_rows(rows: np.ndarray, numbers: np.ndarray, scales: np.ndarray) -> None:
    """Round rows (M, at least K) to `numbers`, (M, K), and `scales`, (M,): see `ByteRows`."""
    depth = np.uint64(numbers.shape[1])
    for m in range(rows.shape[0]):
        largest = np.int32(0)  # the bits of a float that is not negative have its order
        for k in range(depth):
            size = np.float32(abs(rows[m, k])).view(np.int32)
            largest = size if size > largest else largest
        most = np.int32(largest).view(np.float32)
        factor = np.float32(MOST) / most if most > _LEAST else np.float32(0)
        for k in range(depth):
            numbers[m, k] = to_byte(rows[m, k] * factor)
        scales[m] = most / np.float32(MOST)


@kernel
@takes(
    *(
        f"uint8[:, ::1], float32[::1], {weight}[:, :, ::1], float32[::1], int32[::1], "
        f"float32[::1], out {row}[:, ::1], out float32[:, ::1], bool"
        for weight, row in (("int8", "uint8"), ("int16", "int16"))
    )
)
def multiply_bytes(
    # (M, at least K) uint8, (M,) float32: see `ByteRows`
    numbers: np.ndarray,
    row_scales: np.ndarray,
    # (P, at least K, 16) int8 or int16, (N,) float32, (N,) int32: see `ByteMatrix`
    panels: np.ndarray,
    scales: np.ndarray,
    offsets: np.ndarray,
    bias: np.ndarray,  # (N,) float32: is added to each row of the product
    room: np.ndarray,  # used for a block of rows: see `ByteMatrix.room`
    product: np.ndarray,  # written: (M, N) float32
    wide: bool,  # see `has_wide_registers`
) -> None:
    """Fill `product` with rows times panels."""
    count, columns = product.shape
    depth = min(numbers.shape[1], room.shape[1])
    sums = np.empty((room.shape[0], columns), dtype=np.int32)
    scratch = np.empty(AT_ONCE, dtype=np.int32)
    of_matrix = Panels(as_row(panels), 0, panels.shape[1], columns)
    into = Rows(as_row(sums), 0, columns)
    for begin in range(0, count, room.shape[0]):
        some = min(room.shape[0], count - begin)
        for r in range(some):
            for k in range(np.uint64(depth)):
                room[r, k] = numbers[begin + r, k]
        multiply_rows(Rows(as_row(room), 0, room.shape[1]), some, of_matrix, into, scratch, wide)
        for r in range(some):
            scale = row_scales[begin + r]
            for j in range(np.uint64(columns)):
                integer = np.int32(sums[r, j] + offsets[j])
                product[begin + r, j] = np.float32(integer) * (scale * scales[j]) + bias[j]
