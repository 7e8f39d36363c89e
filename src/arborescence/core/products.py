"""Matrix products of float32 in the calling thread: kernels that leave the process's BLAS alone.

A BLAS starts as many threads as there are cores, and only a whole process can say otherwise. Here
the second matrix is stored in panels of sixteen columns, once for many products (`PanelMatrix`).
Each sum is taken in the order of its row, so a row of the product does not depend on the other
rows.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.compiling.lanes import LANES, as_row, multiply
from arborescence.compiling.native import has_wide_registers

#: Rows are taken in blocks of about so many numbers, which stay in the cache for all panels.
_BLOCK: Final = 2**16
#: The most rows and panels whose sums are in registers at once: with registers of sixteen numbers,
#: and with smaller ones. A single row waits for the panels, whatever the registers.
_WIDE: Final = (8, 2)
_NARROW: Final = (6, 1)
_SINGLE: Final = (1, 4)
#: The most numbers that are found at once.
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
    >>> Matrix(np.eye(2, 3)).after(np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([[1., 2., 0.],
           [3., 4., 0.]], dtype=float32)
    """

    def __init__(self, matrix: np.ndarray) -> None:
        depth, self.columns = matrix.shape
        self.panels = empty_panels(-(-self.columns // LANES), depth)
        self.panels[-1:] = 0
        for number, panel in enumerate(self.panels):
            part = matrix[:, number * LANES : (number + 1) * LANES]
            panel[:, : part.shape[1]] = part

    def after(self, rows: np.ndarray) -> np.ndarray:
        """Return the product of rows (M, at least K), of which K columns are used, and this."""
        found = np.empty((len(rows), self.columns), dtype=np.float32)
        multiply_all(np.ascontiguousarray(rows), self.panels, found, has_wide_registers())
        return found


def empty_panels(*shape: int) -> np.ndarray:
    """Return an array (..., 16) that begins at a line of the cache: lanes load faster so."""
    room = np.empty((int(np.prod(shape)) + 1) * LANES, dtype=np.float32)
    start = -(room.ctypes.data // room.itemsize) % LANES
    return room[start : start + len(room) - LANES].reshape(*shape, LANES)


class Rows(NamedTuple):
    """Rows that lie in a vector."""

    #: float32, contiguous
    numbers: np.ndarray
    #: the place of the first number of the first row
    start: int
    #: from the start of a row to that of the next
    width: int


class Panels(NamedTuple):
    """The panels of a matrix, in a vector."""

    #: float32, contiguous
    numbers: np.ndarray
    #: the place of the first number
    start: int
    depth: int
    columns: int


@kernel
@takes("float32[:, ::1], float32[:, :, ::1], out float32[:, ::1], bool")
def multiply_all(rows: np.ndarray, panels: np.ndarray, found: np.ndarray, wide: bool) -> None:
    """Fill `found` with the product of rows and panels; `wide`: see `has_wide_registers`."""
    scratch = np.empty(AT_ONCE, dtype=np.float32)
    multiply_rows(
        Rows(as_row(rows), 0, rows.shape[1]),
        rows.shape[0],
        Panels(as_row(panels), 0, panels.shape[1], found.shape[1]),
        Rows(as_row(found), 0, found.shape[1]),
        scratch,
        wide,
    )


@uncounted_kernel
def multiply_rows(
    rows: Rows, count: int, panels: Panels, found: Rows, scratch: np.ndarray, wide: bool
) -> None:
    """Multiply `count` rows by panels; `scratch` has `AT_ONCE` numbers."""
    most, side = _SINGLE if count == 1 else _WIDE if wide else _NARROW
    width = side * LANES
    block = max(1, _BLOCK // (panels.depth + 1) // most) * most
    for begin in range(0, count, block):
        end = min(begin + block, count)
        for column in range(0, panels.columns, width):
            here = min(width, panels.columns - column)
            row = begin
            while row < end:
                one = Rows(rows.numbers, rows.start + row * rows.width, rows.width)
                to = Rows(found.numbers, found.start + row * found.width + column, found.width)
                into = to if here == width else Rows(scratch, 0, width)
                done = _multiply_some(one, end - row, panels, column, into, most)
                if here < width:
                    for r in range(min(done, end - row)):
                        for k in range(here):
                            to.numbers[to.start + r * to.width + k] = scratch[r * width + k]
                row += done


@inlined_kernel
def _multiply_some(
    rows: Rows, count: int, panels: Panels, column: int, found: Rows, most: int
) -> int:
    """Multiply the first of `count` rows by the panels from a column on; return how many."""
    # If there are fewer rows or panels than are taken at once, the last ones are taken again.
    depth, last = panels.depth, count - 1
    one = panels.start + column * depth
    after = panels.start + ((panels.columns - 1) // LANES) * LANES * depth
    panel = depth * LANES
    two = min(one + panel, after)
    if most == 1:
        firsts = one, two, min(one + 2 * panel, after), min(one + 3 * panel, after)
        a, x = (rows.start,), (found.start,)
        multiply(rows.numbers, a, panels.numbers, firsts, depth, found.numbers, x)
        return 1
    if most == 8:
        pair = one, two
        if count > 4:
            b, y = _eight(rows, last), _eight(found, last)
            multiply(rows.numbers, b, panels.numbers, pair, depth, found.numbers, y)
            return 8
        c, z = _four(rows, last), _four(found, last)
        multiply(rows.numbers, c, panels.numbers, pair, depth, found.numbers, z)
        return 4
    single = (one,)
    if count > 3:
        d, v = _six(rows, last), _six(found, last)
        multiply(rows.numbers, d, panels.numbers, single, depth, found.numbers, v)
        return 6
    e, w = _three(rows, last), _three(found, last)
    multiply(rows.numbers, e, panels.numbers, single, depth, found.numbers, w)
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
