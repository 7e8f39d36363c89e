"""Lanes: sixteen numbers at once (explicit SIMD), for the loops that take most of the time.

LLVM finds most of the SIMD by itself, but not for short rows: each loop then begins with checks
for overlap and ends with single steps, and for 25 words these take three times as long as the work.
Lanes need no checks and no single steps: a kernel loads 16 numbers, computes with all of them, and
stores them. ``row[places(k)]`` are the 16 numbers from k on of a contiguous vector, and can be
assigned to.

The functions here define each operation in NumPy, and run without the JIT. `jit_lanes` has the
instructions. Lanes also take the operators ``> >= < <= == != & | ~ + - *`` with lanes of the same
type or with a number, which then takes the type of the lanes, and ``[]``. Complex numbers have only
sums and products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lanes = NDArray[Any]

#: The number of lanes. An array that lanes are stored to has a multiple of this as its length.
LANES = 16


def is_row(array: NDArray[Any]) -> bool:
    """Return whether an array is contiguous, so that `as_row` may be used."""
    return array.flags.c_contiguous


def as_row(array: NDArray[Any]) -> NDArray[Any]:
    """Return all numbers of a contiguous array as a vector, without reference counts."""
    return array.reshape(-1)


def places(start: int) -> NDArray[np.uintp]:
    """Return the places of sixteen numbers in a vector, from `start` on; none may be negative."""
    return np.arange(start, start + LANES, dtype=np.uintp)


def gather(array: NDArray[Any], at: int, stride: int) -> Lanes:
    """Return every `stride`-th number from `at` on of a contiguous vector."""
    gathered = array[at : at + stride * (LANES - 1) + 1 : stride].copy()
    if at < 0 or len(gathered) < LANES:
        raise IndexError(f"each {stride}-th of {LANES} numbers from {at} on, of {len(array)}")
    return gathered


def turn(tile: NDArray[Any]) -> None:
    """Transpose a contiguous vector of `LANES` rows of `LANES` numbers."""
    if len(tile) != LANES * LANES:
        raise IndexError(f"a tile of {LANES * LANES} numbers, not {len(tile)}")
    tile[:] = tile.reshape(LANES, LANES).T.reshape(-1).copy()


def numbers(start: int) -> Lanes:
    """Return the int32 `start`, `start` + 1, and so on."""
    return np.arange(start, start + LANES, dtype=np.int32)


def fill(values: Lanes, number: float) -> Lanes:
    """Return lanes of the type of `values` that all have one number."""
    return np.full(LANES, number, values.dtype)


def doubles(values: Lanes) -> Lanes:
    """Return floats as float64."""
    return values.astype(np.float64)


def longs(values: Lanes) -> Lanes:
    """Return int32 as int64."""
    return values.astype(np.int64)


def magnitude(values: Lanes) -> Lanes:
    """Return the absolute values of floats."""
    return np.abs(values)


def plus_product(total: Lanes, one: Lanes, other: Lanes) -> Lanes:
    """Return ``total + one * other`` of floats or complex numbers; may be rounded only once."""
    result: Lanes = total + one * other
    return result


def multiply(
    rows: NDArray[Any],
    starts: tuple[int, ...],
    panels: NDArray[Any],
    firsts: tuple[int, ...],
    depth: int,
    found: NDArray[Any],
    to: tuple[int, ...],
) -> None:
    """Multiply some rows by some panels, and keep all sums in registers meanwhile.

    All three arrays are contiguous vectors. A row has `depth` numbers, a panel `depth` times
    sixteen. The products of row r and the panels are stored side by side from ``to[r]`` on.

    The numbers are floats of one type: each sum adds in the order of the row, for any number of
    rows, and each product is rounded before it is added, so all processors find the same. Or the
    numbers are integers, uint8 by int8 or int16 by int16, with int32 sums: `depth` is a multiple of
    four or of two, and a panel has four or two numbers of each column side by side. Four bytes need
    a processor with VNNI; the result is the same.
    """
    group = 4 // panels.itemsize if found.dtype == np.int32 else 1
    for start, place in zip(starts, to, strict=True):
        row = rows[start : start + depth].astype(found.dtype).reshape(-1, group)
        for number, first in enumerate(firsts):
            panel = panels[first : first + depth * LANES].reshape(-1, LANES, group)
            at = place + number * LANES
            found[at : at + LANES] = np.einsum("kg,klg->l", row, panel)


def where(condition: Lanes, one: Lanes | float, other: Lanes | float) -> Lanes:
    """Return `one` where the condition is true, else `other`; one of them may be a number."""
    return np.where(condition, one, other)


def top(values: Lanes) -> Any:
    """Return the largest number."""
    return values.max()


def count(condition: Lanes) -> int:
    """Return the number of lanes in which the condition is true."""
    return int(np.count_nonzero(condition))


def lowest(condition: Lanes) -> int:
    """Return the first lane where the condition is true; `LANES` if there is none."""
    return int(np.argmax(condition)) if condition.any() else LANES
