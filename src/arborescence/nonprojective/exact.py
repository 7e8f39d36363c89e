"""Exact sums of floats, in a long accumulator.

Every finite float64 is a whole multiple of 2^-1074, and every float32 of 2^-149, so a sum of
floats is a whole number in that unit. It is held here as base-2^32 digits in an int64 array,
least significant first: wide enough for any sum of scores, so that nothing is ever rounded
(Kulisch's long accumulator). Digits may be negative or too large until `normalize` carries.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arborescence._jit import kernel

if TYPE_CHECKING:
    import numpy as np

MASK = (1 << 32) - 1

# Bits below the point, and digits, that hold every sum of up to 2^30 floats of a type.
BIAS_32, DIGITS_32 = 149, 12
BIAS_64, DIGITS_64 = 1074, 68

# Rounded values are scaled by 2^-64, so that sums of the largest floats do not overflow.
SCALE_EXPONENT = -64
SCALE = 2.0**SCALE_EXPONENT


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
