from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arborescence.core.exact import (
    BIAS_32,
    BIAS_64,
    DIGITS_32,
    DIGITS_64,
    SCALE,
    add_float,
    normalize,
    rounded,
    sign_of,
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


@given(terms)
def test_the_sum_is_exact(drawn):
    width, signed = drawn
    bias = WIDTHS[width][0]
    truth = sum(sign * Fraction(value) for value, sign in signed)
    total = accumulated(width, signed)
    assert value_of(total, bias) == truth
    normalize(total)
    assert value_of(total, bias) == truth
    assert ((total[:-1] >= 0) & (total[:-1] < 2**32)).all()
    assert sign_of(total) == (truth > 0) - (truth < 0)


@given(terms)
def test_rounding_is_close_and_leaves_the_sum_alone(drawn):
    width, signed = drawn
    bias = WIDTHS[width][0]
    truth = sum(sign * Fraction(value) for value, sign in signed)
    total = accumulated(width, signed)
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
