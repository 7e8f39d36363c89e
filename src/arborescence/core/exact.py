"""Exact sums of floats, in a long accumulator.

Every finite float64 is a whole multiple of 2^-1074, and every float32 of 2^-149, so a sum of
floats is a whole number in that unit. It is held here as base-2^32 digits in an int64 array,
least significant first: wide enough for any sum of scores, so that nothing is ever rounded
(Kulisch's long accumulator). Digits may be negative or too large until `normalize` carries.

Most sums fit two floats, and then they are exact without an accumulator: a *double* is a pair
of float64 whose sum is meant, the first of them that sum rounded, with a bound on what has been
lost, which is 0 as long as nothing has been (Dekker 1971, Knuth's two-sum).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arborescence.core.jit import inlined_kernel, kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

MASK = (1 << 32) - 1

# Bits below the point, and digits, that hold every sum of up to 2^30 floats of a type.
BIAS_32, DIGITS_32 = 149, 12
BIAS_64, DIGITS_64 = 1074, 68

# Rounded values are scaled by 2^-64, so that sums of the largest floats do not overflow.
SCALE_EXPONENT = -64
SCALE = 2.0**SCALE_EXPONENT

# More than is lost where a scaled score underflows.
_UNDERFLOW = 2.0**-1073

# What `double_sign` says where the bounds leave it open.
UNSURE = 2


def rounded_sum(scores: Sequence[float]) -> float:
    """Return the exact sum of scores, rounded once; -inf if one of them is.

    O(n), and more where a part of the sum lies beyond the largest float.

    Examples
    --------
    >>> rounded_sum([1e308, 1e308, -1e308]), rounded_sum([1e308, 1e308]), rounded_sum([0.5] * 3)
    (1e+308, inf, 1.5)
    """
    try:
        return math.fsum(scores)
    except OverflowError:
        if -math.inf in scores:
            return -math.inf
        return rounded_whole(sum(whole_number(score, BIAS_64) for score in scores), BIAS_64)


def whole_number(score: float, bias: int) -> int:
    """Return ``score * 2**bias``, which is a whole number."""
    numerator, denominator = score.as_integer_ratio()
    return numerator << (bias + 1 - denominator.bit_length())


def rounded_whole(weight: int, bias: int) -> float:
    """Return ``weight / 2**bias``, rounded once."""
    try:
        return weight / (1 << bias)
    except OverflowError:
        return math.inf if weight > 0 else -math.inf


@kernel
def add_float(digits: np.ndarray, value: float, sign: int, bias: int) -> None:
    """Add ``sign * value`` to the accumulator. O(1).

    Parameters
    ----------
    digits : (D,) int64 array, changed in place
    value : finite float, a multiple of ``2**-bias``
    sign : 1 or -1
    bias : `BIAS_32` or `BIAS_64`
    """
    if value == 0.0:
        return
    fraction, exponent = math.frexp(value)
    whole = sign * int(math.ldexp(fraction, 53))
    place = exponent - 53 + bias
    if place < 0:
        whole >>= -place  # the bits shifted out are zeros: value is a multiple of 2**-bias
        place = 0
    digit = place >> 5
    shift = place & 31
    low = (whole & MASK) << shift
    high = (whole >> 32) << shift
    digits[digit] += low & MASK
    digits[digit + 1] += (low >> 32) + (high & MASK)
    digits[digit + 2] += high >> 32


@kernel
def normalize(digits: np.ndarray) -> None:
    """Carry, so that all digits but the last lie in [0, 2^32). O(D)."""
    carry = 0
    last = digits.shape[0] - 1
    for k in range(last):
        total = digits[k] + carry
        digits[k] = total & MASK
        carry = total >> 32
    digits[last] += carry


@kernel
def sign_of(digits: np.ndarray) -> int:
    """Return the sign of the sum, -1, 0 or 1; the accumulator is normalized. O(D)."""
    normalize(digits)
    last = digits.shape[0] - 1
    if digits[last] < 0:
        return -1
    for k in range(last + 1):
        if digits[k] != 0:
            return 1
    return 0


@kernel
def rounded(digits: np.ndarray, bias: int) -> float:
    """Return `SCALE` times the sum, to a relative error of 2^-50; it is normalized. O(D)."""
    sign = sign_of(digits)
    if sign < 0:
        # Leading digits of a negative number would cancel: round its absolute value.
        for k in range(digits.shape[0]):
            digits[k] = -digits[k]
        normalize(digits)
    total = 0.0
    for k in range(digits.shape[0] - 1, -1, -1):
        if digits[k] != 0:
            total += math.ldexp(float(digits[k]), 32 * k - bias + SCALE_EXPONENT)
    if sign < 0:
        for k in range(digits.shape[0]):
            digits[k] = -digits[k]
        normalize(digits)
    return sign * total


@inlined_kernel
def two_sum(one: float, other: float) -> tuple[float, float]:
    """Return the rounded sum of two floats, and what rounding has taken off. O(1)."""
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)


@inlined_kernel
def double_add(high: float, low: float, lost: float, value: float) -> tuple[float, float, float]:
    """Return the double (high, low, lost) plus a float64. O(1)."""
    high, rest = two_sum(high, value)
    low, gone = two_sum(low, rest)
    high, low = two_sum(high, low)
    return high, low, lost + abs(gone)


@inlined_kernel
def double_add_score(
    high: float, low: float, lost: float, score: float, sign: int
) -> tuple[float, float, float]:
    """Return a double plus ``sign`` times `SCALE` times a score. O(1)."""
    scaled = score * SCALE
    if scaled / SCALE != score:
        lost += _UNDERFLOW
    return double_add(high, low, lost, sign * scaled)


@inlined_kernel
def double_difference(one: float, other: float) -> tuple[float, float, float]:
    """Return `SCALE` times the difference of two scores, as a double. O(1)."""
    first, second = one * SCALE, other * SCALE
    lost = 0.0 if first / SCALE == one and second / SCALE == other else 2.0 * _UNDERFLOW
    high, low = two_sum(first, -second)
    return high, low, lost


@inlined_kernel
def double_sign(
    high: float,
    low: float,
    lost: float,
    other_high: float,
    other_low: float,
    other_lost: float,
) -> int:
    """Return the sign of the difference of two doubles, or UNSURE. O(1)."""
    if lost + other_lost > 0.0:
        off = 4.0 * (abs(low) + abs(other_low) + lost + other_lost)
        if abs(high - other_high) <= off:
            return UNSURE
    if high != other_high:
        return 1 if high > other_high else -1
    if low != other_low:
        return 1 if low > other_low else -1
    return 0
