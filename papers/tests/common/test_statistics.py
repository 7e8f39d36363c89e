"""Correlations and corrected p-values: by hand, and what must not change them."""

from __future__ import annotations

from itertools import permutations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arborescence_papers.common.statistics import (
    correlation,
    holm,
    log_slope,
    rank_correlation,
)


def test_holm_by_hand():
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.5]) == [1, 1]
    assert holm([0.04, 0.04, 0.04]) == pytest.approx([0.12] * 3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
@settings(max_examples=50, deadline=None)
def test_holm_lies_between_one_test_and_bonferroni(ps, random):
    adjusted = holm(ps)
    assert all(p <= q <= min(1, len(ps) * p) for p, q in zip(ps, adjusted, strict=True))
    order = list(range(len(ps)))
    random.shuffle(order)
    assert holm(ps[i] for i in order) == [adjusted[i] for i in order]


def test_correlations_by_hand():
    found = correlation([1, 2, 3, 4], [1, 3, 2, 5])
    assert found.value == pytest.approx(5.5 / np.sqrt(5 * 8.75))
    # Spearman: 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15); of the 24 pairings 4 are as far up.
    found = rank_correlation([1, 2, 3, 4], [1, 3, 2, 5])
    assert found.value == pytest.approx(0.8)
    pairings = [np.corrcoef(range(4), order)[0, 1] for order in permutations(range(4))]
    assert found.p == pytest.approx(2 * np.mean(np.array(pairings) > 0.79))
    assert -1 <= found.interval.low < found.interval.high <= 1
    # Ties share a rank: 1.5, 1.5, 3 and 1, 2, 3.
    assert rank_correlation([5, 5, 7], [1, 2, 3]).value == pytest.approx(np.sqrt(3) / 2)


def test_ranks_see_no_scale():
    generator = np.random.default_rng(8)
    x = generator.normal(size=30)
    y = x + generator.normal(size=30)
    options = {"resamples": 300}
    found = rank_correlation(x, y, **options)
    assert rank_correlation(np.exp(3 * x), y**3, **options) == found
    assert correlation(2 * x + 1, y, **options).value == pytest.approx(
        correlation(x, y, **options).value
    )
    assert found.interval.low < found.value < found.interval.high
    assert found.p < 0.01
    down = rank_correlation(x, -y, **options)
    assert down.value == pytest.approx(-found.value)
    assert down.interval == pytest.approx((-found.interval.high, -found.interval.low))
    assert rank_correlation(x, generator.normal(size=30), **options).p > 0.05
    assert found != rank_correlation(x, y, seed=1, **options)


def test_correlations_that_are_not_there():
    for found in (correlation([1], [2]), rank_correlation([1, 2, 3], [4, 4, 4])):
        assert isnan(found.value)
        assert isnan(found.interval.low)
        assert isnan(found.p)
    assert correlation([1, 2], [5, 3])[::2] == (pytest.approx(-1), 1)


def test_slopes():
    n = np.array([10, 50, 100, 500])
    assert log_slope(n, 3e-6 * n**2) == pytest.approx(2)
    assert log_slope(n, [4, 4, 4, 4]) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="positive"):
        log_slope([1, 2], [0, 1])
    with pytest.raises(ValueError, match="two different"):
        log_slope([2, 2], [3, 1])


@pytest.mark.parametrize("test", [correlation, rank_correlation, log_slope])
def test_pairs_that_cannot_be_used(test):
    with pytest.raises(ValueError, match=r"in pairs, not 2 of \w+ and 3 of \w+"):
        test([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"\[1\] is inf"):
        test([1, np.inf], [1, 2])


def test_options_that_cannot_be_used():
    for wrong in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            holm([0.5, wrong])
