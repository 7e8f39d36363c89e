from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arborescence.core.accumulator import (
    BIAS_32,
    BIAS_64,
    DIGITS_32,
    DIGITS_64,
    SCALE,
    add_float,
    normalize,
    rounded,
    rounded_once,
    sign_of,
    unit_of,
)

WIDTHS = {32: (BIAS_32, DIGITS_32), 64: (BIAS_64, DIGITS_64)}
terms = st.sampled_from([32, 64]).flatmap(
    lambda width: st.tuples(
        st.just(width),
        st.lists(
            st.tuples(
                st.floats(allow_nan=False, allow_infinity=False, width=width),
                st.sampled_from([1, -1]),
            ),
            max_size=30,
        ),
    )
)


def accumulated(width, signed):
    bias, digits = WIDTHS[width]
    total = np.zeros(digits, np.int64)
    for value, sign in signed:
        add_float(total, value, sign, bias)
    return total


def value_of(digits, bias):
    return sum(Fraction(int(digit)) * 2 ** (32 * k) for k, digit in enumerate(digits)) / 2**bias


def summed(width, signed):
    """The sum in the accumulator, its bias, and the truth."""
    truth = sum(sign * Fraction(value) for value, sign in signed)
    return accumulated(width, signed), WIDTHS[width][0], truth


@given(terms)
def test_the_sum_is_exact(drawn):
    total, bias, truth = summed(*drawn)
    assert value_of(total, bias) == truth
    normalize(total)
    assert value_of(total, bias) == truth
    assert ((total[:-1] >= 0) & (total[:-1] < 2**32)).all()
    assert sign_of(total) == (truth > 0) - (truth < 0)


@given(terms)
def test_rounding_is_close_and_leaves_the_sum_alone(drawn):
    total, bias, truth = summed(*drawn)
    close = Fraction(rounded(total, bias))
    assert abs(close - truth * Fraction(SCALE)) <= (
        abs(truth) * Fraction(SCALE) / 2**50 + Fraction(2) ** -1070
    )
    assert value_of(total, bias) == truth


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("sign", [1, -1])
def test_many_of_the_largest_do_not_overflow(width, sign):
    largest = float(np.finfo(f"float{width}").max)
    total = accumulated(width, [(largest, sign)] * 5000)
    assert value_of(total, WIDTHS[width][0]) == 5000 * sign * Fraction(largest)
    assert np.isfinite(rounded(total, WIDTHS[width][0]))


@given(terms)
def test_rounding_once_is_that_of_fractions(drawn):
    width, signed = drawn
    truth = sum((sign * Fraction(value) for value, sign in signed), Fraction(0))
    assume(abs(truth) <= Fraction(np.finfo(np.float64).max))
    assert rounded_once(accumulated(width, signed), WIDTHS[width][0]) == float(truth)


@given(st.lists(st.floats(allow_nan=False, width=64), max_size=30))
def test_a_unit_and_its_digits_hold_every_sum(weights):
    weights = np.array(weights, np.float64)
    bias, digits = unit_of(weights)
    total, truth = np.zeros(digits, np.int64), Fraction(0)
    for weight in weights[np.isfinite(weights)].tolist():
        add_float(total, weight, 1, bias)
        truth += Fraction(weight)
    normalize(total)
    assert sum(int(digit) << 32 * k for k, digit in enumerate(total)) == truth * Fraction(2) ** bias
