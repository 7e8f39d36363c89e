"""Intervals and tests: against known distributions, by hand, and what must not change them."""

from __future__ import annotations

from math import comb, isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arborescence.treebank.statistics import (
    change_interval,
    mean_interval,
    paired_p,
    ratio_interval,
)

small = st.lists(st.integers(-9, 9), min_size=1, max_size=8)


def coverage(truth, interval, draws):
    """How often the interval of a sample holds the truth."""
    intervals = [interval(*draw) for draw in draws]
    return np.mean([low <= truth <= high for low, high in intervals])


def test_coverage_of_a_mean():
    generator = np.random.default_rng(1)
    draws = [(generator.exponential(3, 60),) for _ in range(200)]
    for level in (0.95, 0.5):
        share = coverage(3, lambda x: mean_interval(x, level=level, resamples=200), draws)  # noqa: B023
        assert share == pytest.approx(level, abs=0.05)


def test_coverage_of_a_rate():
    """Long sentences are parsed worse: their words are no independent draws."""
    generator = np.random.default_rng(2)
    draws = []
    for _ in range(200):
        words = generator.integers(2, 40, 100)
        draws.append((generator.binomial(words, 0.9 - 0.01 * words), words))
    words = np.arange(2, 40)
    truth = ((0.9 - 0.01 * words) * words).sum() / words.sum()
    share = coverage(truth, lambda *x: ratio_interval(*x, resamples=200), draws)
    assert share == pytest.approx(0.95, abs=0.04)


def test_coverage_of_a_change():
    generator = np.random.default_rng(3)
    draws = []
    for _ in range(200):
        before = generator.binomial(20, 0.8, 100)
        draws.append((before, before + generator.binomial(20 - before, 0.1)))
    share = coverage(0.02 / 0.8, lambda *x: change_interval(*x, resamples=200), draws)
    assert share == pytest.approx(0.95, abs=0.04)


def test_pairs_make_changes_sure():
    """What both systems have in common does not blur their difference."""
    generator = np.random.default_rng(4)
    before = generator.integers(0, 100, 200).astype(float)
    paired = change_interval(before + 1, before + 2)
    mixed = change_interval(before + 1, generator.permutation(before) + 2)
    assert 0 < paired.low < paired.high
    assert mixed.low < 0 < mixed.high


def test_a_resample_is_what_it_should_be():
    """Two items: of all samples, a quarter has the one twice, a quarter the other."""
    low, high = mean_interval([0, 1], level=0.4)
    assert (low, high) == (0.5, 0.5)
    assert mean_interval([0, 1], level=0.6) == (0, 1)
    assert mean_interval([2, 2, 2]) == (2, 2)


def test_many_items_in_chunks(monkeypatch):
    values = np.random.default_rng(5).random(100)
    whole = mean_interval(values, resamples=300)
    monkeypatch.setattr("arborescence.treebank.statistics._CELLS", 1000)
    assert mean_interval(values, resamples=300) == whole  # draws do not depend on the memory


@given(small, st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_what_moves_with_the_values(values, seed):
    low, high = mean_interval(values, seed=seed, resamples=200)
    if len(values) == 1:
        assert isnan(low)
        assert isnan(high)
        return
    assert min(values) <= low <= high <= max(values)
    again = mean_interval(values[::-1], seed=seed, resamples=200)
    assert (low, high) == again
    scaled = mean_interval([4 * value + 8 for value in values], seed=seed, resamples=200)
    assert scaled == pytest.approx((4 * low + 8, 4 * high + 8))


def test_without_an_interval():
    for found in (
        mean_interval([3]),
        ratio_interval([1], [2]),
        ratio_interval([1, 1], [0, 1]),
        change_interval([0, 0, 1], [1, 1, 1]),
    ):
        assert all(map(isnan, found))
    assert ratio_interval([0, 0, 0], [4, 5, 6]) == (0, 0)


def test_p_values_by_hand():
    assert paired_p([0, 0, 0]) == paired_p([3]) == paired_p([1, -1]) == 1
    assert paired_p([1, 1]) == 2 / 4
    assert paired_p([1, 2, 4]) == 2 / 8
    assert paired_p([1, 2, -4]) == 1  # only 1 + 2 - 4 and 4 - 1 - 2 are as near to 0
    assert paired_p([0.1, 0.2, 0.3, -0.6]) == 1  # 0, but for rounding
    assert paired_p([1] * 14) == 2 / 2**14
    # As many up as down or fewer, of ten: the sign test.
    tail = sum(comb(10, k) for k in (0, 1, 2))
    assert paired_p([1] * 8 + [-1] * 2) == pytest.approx(2 * tail / 2**10)


def test_drawn_p_values_are_near_the_exact_ones():
    tail = sum(comb(40, k) for k in range(14))
    drawn = paired_p([1.5] * 27 + [-1.5] * 13 + [0] * 60)
    assert drawn == pytest.approx(2 * tail / 2**40, abs=0.005)
    values = np.random.default_rng(6).normal(0.3, 1, 14)
    exact = paired_p(values)
    # One more that hardly matters: drawn instead of enumerated.
    assert paired_p([*values, 1e-9]) == pytest.approx(exact, abs=0.015)
    assert paired_p(np.ones(500), resamples=99) == 1 / 100


def test_false_alarms_are_as_rare_as_they_say():
    generator = np.random.default_rng(7)
    ps = [paired_p(generator.integers(-3, 4, 60), resamples=400) for _ in range(400)]
    assert np.mean(np.array(ps) <= 0.1) == pytest.approx(0.1, abs=0.04)


@given(small, st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_what_p_values_do_not_see(difference, zeros):
    p = paired_p(difference)
    assert p == paired_p([-value for value in difference])
    assert p == paired_p([*[0] * zeros, *difference[::-1]])
    assert p == paired_p([value / 7 for value in difference])


@pytest.mark.parametrize("test", [mean_interval, paired_p])
def test_columns_that_cannot_be_used(test):
    with pytest.raises(ValueError, match=r"one or more numbers, not \(0,\)"):
        test([])
    with pytest.raises(ValueError, match=r"one or more numbers, not \(1, 2\)"):
        test([[1, 2]])
    with pytest.raises(ValueError, match=r"\[2\] is nan: leave out"):
        test([1, 2, nan])
    with pytest.raises(ValueError, match="resamples must be at least 1, not 0"):
        test(np.arange(1, 20), resamples=0)


@pytest.mark.parametrize("test", [ratio_interval, change_interval])
def test_pairs_that_cannot_be_used(test):
    with pytest.raises(ValueError, match=r"in pairs, not 2 of \w+ and 3 of \w+"):
        test([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"\[1\] is inf"):
        test([1, np.inf], [1, 2])


def test_levels_that_cannot_be_used():
    with pytest.raises(ValueError, match="level must lie between 0 and 1, not 95"):
        mean_interval([1, 2], level=95)
