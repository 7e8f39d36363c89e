"""Exact sums of floats: in a long accumulator (Kulisch and Miranker 1986), or as double-doubles.

Every finite float64 is a multiple of 2^-1074, and every float32 of 2^-149, so a sum of floats is an
integer in that unit. The integer is stored as base-2^32 digits in an int64 array, least significant
digit first. The array is wide enough for any sum of scores, so there is no rounding. Digits may be
negative or too large until `normalize` carries.

A *double-double* (Dekker 1971; Knuth) is three float64, (high, low, lost). Its value is high + low,
and high is that sum rounded to float64. lost bounds the total rounding error; 0 means that the
value is exact. Most sums of scores are exact in this form and need no long accumulator. Scores are
multiplied by `SCALE` when they are added, so that sums of the largest floats do not overflow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel
from arborescence.compiling.lanes import fill, places, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    # In an array, a double-double is a row of three numbers.
    DoubleDouble = tuple[float, float, float] | np.ndarray

MASK = (1 << 32) - 1

# Fraction bits, and number of digits, for any sum of up to 2^30 floats of a type.
BIAS_32, DIGITS_32 = 149, 12
BIAS_64, DIGITS_64 = 1074, 68

# Rounded values are multiplied by 2^-64, so that sums of the largest floats do not overflow.
SCALE_EXPONENT = -64
SCALE = 2.0**SCALE_EXPONENT

_FRACTION = (1 << 52) - 1


def rounded_sum(scores: Sequence[float]) -> float:
    """Return the exact sum of scores, rounded once; -inf if a score is -inf. Usually O(n).

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
    """Return ``score * 2**bias``, which is an integer."""
    numerator, denominator = score.as_integer_ratio()
    return numerator << (bias + 1 - denominator.bit_length())


def rounded_whole(weight: int, bias: int) -> float:
    """Return ``weight / 2**bias``, rounded once."""
    try:
        return weight / (1 << bias)
    except OverflowError:
        return math.inf if weight > 0 else -math.inf


@inlined_kernel
def bias_of(scores: np.ndarray) -> int:
    """Return the number of fraction bits of sums of scores of this type."""
    return BIAS_32 if scores.itemsize == 4 else BIAS_64


@kernel
def unit_of(weights: np.ndarray) -> tuple[int, int]:
    """Return small ``(bias, digits)`` that hold any sum of up to 2^30 of these weights. O(m).

    Finite weights are multiples of 2^-bias.
    """
    bits_set = np.zeros(2048, np.int64)  # for each exponent: the bits set in any weight
    bits = weights.view(np.int64)
    first, last = 2046, 0
    for i in range(bits.shape[0]):
        field = bits[i] >> 52 & 2047
        bits_set[field] |= bits[i] & _FRACTION | 1 << 52
        first = min(first, field)
        last = max(last, field)
    lowest, highest = 2000, -2000
    for field in range(first, min(last, 2046) + 1):  # 2047 is infinity
        # Subnormal numbers have no leading bit; their exponent is that of the smallest normal
        # numbers.
        fraction = bits_set[field] if field > 0 else bits_set[field] & _FRACTION
        if fraction != 0:
            zeros = 0
            while fraction & 1 == 0:
                fraction >>= 1
                zeros += 1
            place = max(field, 1) - 1075
            lowest = min(lowest, place + zeros)
            highest = max(highest, place)
    if lowest == 2000:  # all are zeros
        return 0, 3
    # `highest` is the exponent of a last bit. It is below `lowest` if all weights have few bits.
    return -lowest, max(highest - lowest, 0) // 32 + 3


@kernel
def add_float(digits: np.ndarray, value: float, sign: int, bias: int) -> None:
    """Add ``sign * value``, a finite multiple of ``2**-bias``, to the accumulator. O(1)."""
    if value == 0.0:
        return
    fraction, exponent = math.frexp(value)
    whole = sign * int(math.ldexp(fraction, 53))
    place = exponent - 53 + bias
    if place < 0:
        whole >>= -place  # only zero bits are shifted out, as value is a multiple of 2**-bias
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
    """Normalize the accumulator and return the sign of the sum: -1, 0 or 1. O(D)."""
    normalize(digits)
    last = digits.shape[0] - 1
    if digits[last] < 0:
        return -1
    for k in range(last + 1):
        if digits[k] != 0:
            return 1
    return 0


@inlined_kernel
def negate(digits: np.ndarray) -> None:
    """Change the sign of the sum and normalize it. O(D)."""
    for k in range(digits.shape[0]):
        digits[k] = -digits[k]
    normalize(digits)


@kernel
def rounded(digits: np.ndarray, bias: int) -> float:
    """Normalize and return `SCALE` times the sum, with a relative error of at most 2^-50. O(D)."""
    sign = sign_of(digits)
    if sign < 0:
        negate(digits)  # leading digits of a negative number would cancel
    total = 0.0
    for k in range(digits.shape[0] - 1, -1, -1):
        if digits[k] != 0:
            total += math.ldexp(float(digits[k]), 32 * k - bias + SCALE_EXPONENT)
    if sign < 0:
        negate(digits)
    return sign * total


@kernel
def rounded_once(digits: np.ndarray, bias: int) -> float:
    """Return the sum as a float64, rounded once, half to even; overwrites the digits. O(D)."""
    sign = sign_of(digits)
    if sign == 0:
        return 0.0
    if sign < 0:
        negate(digits)
    top = digits.shape[0] - 1
    while digits[top] == 0:
        top -= 1
    bits = 32 * top
    while digits[top] >> (bits - 32 * top) != 0:
        bits += 1
    # Keep the first 62 bits, and set the last of them if any later bit is set: so the sum is
    # rounded only once.
    cut = max(bits - 62, 0)
    leading, rest = 0, 0
    for k in range(top + 1):
        place = 32 * k - cut
        if place >= 0:
            leading += digits[k] << place
        elif place > -63:
            leading += digits[k] >> -place
            rest |= digits[k] & ((1 << -place) - 1)
        else:
            rest |= digits[k]
    size: float = np.ldexp(float(leading | (1 if rest else 0)), cut - bias)
    return sign * size


# The result of `dd_sign` if the error bounds do not determine the sign.
UNSURE = 2

# A bound on the error if a scaled score underflows.
_UNDERFLOW = 2.0**-1073


@inlined_kernel
def two_sum(one: Any, other: Any) -> tuple[Any, Any]:
    """Return the rounded sum of two floats or lanes, and its error (Knuth's two-sum). O(1)."""
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
    """Replace 16 pairs of scores, `high` and `low`, by `SCALE` times their differences. O(1)."""
    lanes = places(start)
    minuend, subtrahend = high[lanes], low[lanes]
    first, second = minuend * SCALE, subtrahend * SCALE
    exact = (first * (1.0 / SCALE) == minuend) & (second * (1.0 / SCALE) == subtrahend)
    high[lanes], low[lanes] = two_sum(first, 0.0 - second)
    lost[lanes] = where(exact, 0.0, fill(minuend, 2.0 * _UNDERFLOW))


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
