"""Matrix products of float32 in the calling thread: kernels that leave the process's BLAS alone.

A BLAS starts as many threads as there are cores, and only a whole process can change this. Here
the second matrix is stored in panels of sixteen columns, once for many products (`PanelMatrix`).
Each sum adds in the order of its row, so a row of the product does not depend on the other rows;
each product is rounded before it is added, so it is the same on every processor.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.compiling.lanes import LANES, as_row, multiply
from arborescence.compiling.native import has_wide_registers

#: Rows are multiplied in blocks of about this many numbers, which stay in the cache for all panels.
_BLOCK: Final = 2**16
#: The largest number of rows and panels whose sums are in registers at once: with registers of
#: sixteen numbers, and with smaller registers. For a single row, both load the panels equally fast.
_WIDE: Final = (8, 2)
_NARROW: Final = (6, 1)
_SINGLE: Final = (1, 4)
_LINE: Final = 64  # bytes of a cache line
#: The largest number of sums that are computed at once.
AT_ONCE: Final = 8 * 2 * LANES


class PanelMatrix:
    """A matrix (K, N) float32 by which rows are multiplied.

    Attributes
    ----------
    panels : (P, K, 16) float32
        Sixteen columns each, with zeros after the last one.
    columns : int
        N.

    Examples
    --------
    >>> PanelMatrix(np.eye(2, 3)).after(np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([[1., 2., 0.],
           [3., 4., 0.]], dtype=float32)
    """

    def __init__(self, matrix: np.ndarray) -> None:
        depth, self.columns = matrix.shape
        self.panels = aligned((-(-self.columns // LANES), depth, LANES), np.float32)
        self.panels[-1:] = 0
        for number, panel in enumerate(self.panels):
            part = matrix[:, number * LANES : (number + 1) * LANES]
            panel[:, : part.shape[1]] = part

    def after(self, rows: np.ndarray) -> np.ndarray:
        """Return the product of rows (M, at least K) and this matrix; K columns are used."""
        product = np.empty((len(rows), self.columns), dtype=np.float32)
        multiply_all(np.ascontiguousarray(rows), self.panels, product, has_wide_registers())
        return product


def aligned(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Return an array that begins at a cache line: so lanes load faster."""
    room = np.empty(math.prod(shape) * np.dtype(dtype).itemsize + _LINE, dtype=np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + len(room) - _LINE].view(dtype).reshape(shape)


class Rows(NamedTuple):
    """Rows that lie in a vector."""

    #: contiguous
    numbers: np.ndarray
    #: the place of the first number of the first row
    start: int
    #: the distance between the starts of two neighbouring rows
    width: int


class Panels(NamedTuple):
    """The panels of a matrix, in a vector."""

    #: contiguous
    numbers: np.ndarray
    #: the place of the first number
    start: int
    #: the number of rows of the matrix
    depth: int
    #: the number of columns of the matrix
    columns: int


@kernel
@takes("float32[:, ::1], float32[:, :, ::1], out float32[:, ::1], bool")
def multiply_all(rows: np.ndarray, panels: np.ndarray, product: np.ndarray, wide: bool) -> None:
    """Fill `product` with rows times panels; `wide`: see `has_wide_registers`."""
    scratch = np.empty(AT_ONCE, dtype=np.float32)
    multiply_rows(
        Rows(as_row(rows), 0, rows.shape[1]),
        rows.shape[0],
        Panels(as_row(panels), 0, panels.shape[1], product.shape[1]),
        Rows(as_row(product), 0, product.shape[1]),
        scratch,
        wide,
    )


@uncounted_kernel
def multiply_rows(
    rows: Rows, count: int, panels: Panels, product: Rows, scratch: np.ndarray, wide: bool
) -> None:
    """Multiply `count` rows by panels, of types as in `multiply`; `scratch` has `AT_ONCE` sums."""
    most, side = _SINGLE if count == 1 else _WIDE if wide else _NARROW
    width = side * LANES
    block = max(1, _BLOCK // (panels.depth + 1) // most) * most
    for begin in range(0, count, block):
        end = min(begin + block, count)
        for column in range(0, panels.columns, width):
            used = min(width, panels.columns - column)
            row = begin
            while row < end:
                row_block = Rows(rows.numbers, rows.start + row * rows.width, rows.width)
                to = Rows(
                    product.numbers, product.start + row * product.width + column, product.width
                )
                into = to if used == width else Rows(scratch, 0, width)
                taken = _multiply_some(row_block, end - row, panels, column, into, most)
                if used < width:
                    for r in range(min(taken, end - row)):
                        for k in range(used):
                            to.numbers[to.start + r * to.width + k] = scratch[r * width + k]
                row += taken


@inlined_kernel
def _multiply_some(
    rows: Rows, count: int, panels: Panels, column: int, product: Rows, most: int
) -> int:
    """Multiply some of `count` rows by the panels from a column on; return the number of rows."""
    # If there are fewer rows or panels than are multiplied at once, the last ones are repeated.
    depth, last = panels.depth, count - 1
    panel_1 = panels.start + column * depth
    after = panels.start + ((panels.columns - 1) // LANES) * LANES * depth
    panel = depth * LANES
    panel_2 = min(panel_1 + panel, after)
    if most == 1:
        firsts = panel_1, panel_2, min(panel_1 + 2 * panel, after), min(panel_1 + 3 * panel, after)
        a, x = (rows.start,), (product.start,)
        multiply(rows.numbers, a, panels.numbers, firsts, depth, product.numbers, x)
        return 1
    if most == 8:
        pair = panel_1, panel_2
        if count > 4:
            b, y = _eight(rows, last), _eight(product, last)
            multiply(rows.numbers, b, panels.numbers, pair, depth, product.numbers, y)
            return 8
        c, z = _four(rows, last), _four(product, last)
        multiply(rows.numbers, c, panels.numbers, pair, depth, product.numbers, z)
        return 4
    single = (panel_1,)
    if count > 3:
        d, v = _six(rows, last), _six(product, last)
        multiply(rows.numbers, d, panels.numbers, single, depth, product.numbers, v)
        return 6
    e, w = _three(rows, last), _three(product, last)
    multiply(rows.numbers, e, panels.numbers, single, depth, product.numbers, w)
    return 3


@inlined_kernel
def _start(rows: Rows, number: int, last: int) -> int:
    return rows.start + min(number, last) * rows.width


@inlined_kernel
def _three(rows: Rows, last: int) -> tuple[int, int, int]:
    return rows.start, _start(rows, 1, last), _start(rows, 2, last)


@inlined_kernel
def _four(rows: Rows, last: int) -> tuple[int, int, int, int]:
    return rows.start, _start(rows, 1, last), _start(rows, 2, last), _start(rows, 3, last)


@inlined_kernel
def _six(rows: Rows, last: int) -> tuple[int, int, int, int, int, int]:
    more = _start(rows, 4, last), _start(rows, 5, last)
    return _four(rows, last) + more


@inlined_kernel
def _eight(rows: Rows, last: int) -> tuple[int, int, int, int, int, int, int, int]:
    more = _start(rows, 6, last), _start(rows, 7, last)
    return _six(rows, last) + more
