"""Double-double arithmetic: sums with about twice the precision of float64 (Dekker 1971; Knuth).

A *double-double* here is three float64, (high, low, lost). Its value is high + low, and high is
that sum rounded to float64. lost bounds the total rounding error; 0 means that the value is exact.
Most sums of scores are exact in this form and need no long accumulator.

Scores are multiplied by `SCALE` when they are added, so that sums of the largest floats do not
overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.compiling.kernels import inlined_kernel
from arborescence.compiling.lanes import fill, places, where
from arborescence.core.accumulator import SCALE

if TYPE_CHECKING:
    import numpy as np

    # In an array, a double-double is a row of three numbers.
    DoubleDouble = tuple[float, float, float] | np.ndarray

# The result of `dd_sign` if the error bounds do not determine the sign.
UNSURE = 2

# A bound on the error if a scaled score underflows.
_UNDERFLOW = 2.0**-1073


@inlined_kernel
def two_sum(one: Any, other: Any) -> tuple[Any, Any]:
    """Return the rounded sum of two floats, and its rounding error (Knuth's two-sum). O(1).

    Also of lanes of floats.
    """
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)


@inlined_kernel
def dd_add(total: DoubleDouble, value: float) -> tuple[float, float, float]:
    """Return a double-double plus a float64. O(1)."""
    high, rest = two_sum(total[0], value)
    low, gone = two_sum(total[1], rest)
    high, low = two_sum(high, low)
    return high, low, total[2] + abs(gone)


@inlined_kernel
def dd_subtract(one: DoubleDouble, other: DoubleDouble) -> tuple[float, float, float]:
    """Return the difference of two double-doubles. O(1)."""
    return dd_add(dd_add((one[0], one[1], one[2] + other[2]), -other[0]), -other[1])


@inlined_kernel
def dd_add_score(total: DoubleDouble, score: float, sign: int) -> tuple[float, float, float]:
    """Return a double-double plus ``sign`` times `SCALE` times a score. O(1)."""
    scaled = score * SCALE
    lost = total[2] if scaled / SCALE == score else total[2] + _UNDERFLOW
    return dd_add((total[0], total[1], lost), sign * scaled)


@inlined_kernel
def subtract_scores(high: np.ndarray, low: np.ndarray, lost: np.ndarray, start: int) -> None:
    """Replace sixteen pairs of scores by `SCALE` times their differences, as double-doubles. O(1).

    The scores are in `high` and `low`, float64, from `start` on.
    """
    here = places(start)
    one, other = high[here], low[here]
    first, second = one * SCALE, other * SCALE
    exact = (first * (1.0 / SCALE) == one) & (second * (1.0 / SCALE) == other)
    high[here], low[here] = two_sum(first, 0.0 - second)
    lost[here] = where(exact, 0.0, fill(one, 2.0 * _UNDERFLOW))


@inlined_kernel
def dd_sign(one: DoubleDouble, other: DoubleDouble) -> int:
    """Return the sign of the difference of two double-doubles, or UNSURE. O(1)."""
    lost = one[2] + other[2]
    if lost > 0.0:
        off = 4.0 * (abs(one[1]) + abs(other[1]) + lost)
        if abs(one[0] - other[0]) <= off:
            return UNSURE
    if one[0] != other[0]:
        return 1 if one[0] > other[0] else -1
    if one[1] != other[1]:
        return 1 if one[1] > other[1] else -1
    return 0
