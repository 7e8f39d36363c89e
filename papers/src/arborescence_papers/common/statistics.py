"""Averages, correlations and corrected p-values over items: treebanks, sentences or seeds.

Intervals and paired tests are in `arborescence.treebank.statistics`. The same seed gives the same
numbers, independent of the order of the items.
"""

from __future__ import annotations

import warnings
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.errors import OptionError
from arborescence.treebank.statistics import (
    NO_INTERVAL,
    RESAMPLES,
    Interval,
    bootstrap,
    columns_of_numbers,
    mean_interval,
    percentiles,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from arborescence.treebank.statistics import Numbers


class Average(NamedTuple):
    """An unweighted mean over items.

    Attributes
    ----------
    value : float
        The mean; nan if there is no item.
    interval : Interval
        Its bootstrap interval over items.
    items : int
        The number of items.
    """

    value: float
    interval: Interval
    items: int


class Correlation(NamedTuple):
    """A correlation of two columns.

    Attributes
    ----------
    value : float
        From -1 to 1; nan if a column is constant.
    interval : Interval
        Its bootstrap interval.
    p : float
        The p-value of the null hypothesis that the columns are independent.
    """

    value: float
    interval: Interval
    p: float


def percent(part: Any, whole: Any) -> float:
    """Return the sum of `part` in percent of the sum of `whole`; nan if that is 0.

    Examples
    --------
    >>> percent(3, 4), percent(1, 0)
    (75.0, nan)
    """
    return float(100 * part / whole) if whole else float("nan")


def average(values: Iterable[float]) -> Average:
    """Average the finite numbers; others, such as a relative change from 0, are ignored.

    Examples
    --------
    >>> average([1.0, 3.0, float("nan")])
    Average(value=2.0, interval=Interval(low=1.0, high=3.0), items=2)
    """
    finite = [float(value) for value in values if isfinite(value)]
    if not finite:
        return Average(float("nan"), NO_INTERVAL, 0)
    return Average(fmean(finite), mean_interval(finite), len(finite))


def holm(ps: Iterable[float]) -> list[float]:
    """Adjust the p-values of several tests by Holm's method (Holm 1979).

    Parameters
    ----------
    ps
        The p-values of one family of tests.

    Returns
    -------
    list of float
        In the same order. If adjusted values below 0.05 are called significant, the probability of
        one or more false positives is at most 0.05, even for dependent tests.

    Raises
    ------
    OptionError
        If a value is not a probability.

    Notes
    -----
    Sture Holm (1979), *A Simple Sequentially Rejective Multiple Test Procedure*: the smallest of m
    values is multiplied by m, the next one by m - 1, and so on; then each value is at least as
    large as the previous one.

    Examples
    --------
    >>> holm([0.03, 0.01, 0.5])
    [0.06, 0.03, 0.5]
    """
    given = np.asarray(list(ps), dtype=np.float64)
    if not ((given >= 0) & (given <= 1)).all():
        raise OptionError(f"p-values must lie between 0 and 1, not {given.tolist()}")
    order = np.argsort(given, kind="stable")
    steps = np.maximum.accumulate(given[order] * np.arange(given.size, 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(steps, 1)
    return [float(p) for p in adjusted]


def correlation(
    x: ArrayLike, y: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> Correlation:
    """Return Pearson's correlation, its 95 % interval and its p-value.

    Parameters
    ----------
    x, y : (N,)
        Two numbers for each item; for tens or hundreds of items.
    seed
        The same seed gives the same result.
    resamples
        The number of bootstrap samples, and of random pairings.

    Returns
    -------
    Correlation
        The interval consists of percentiles over the resamples in which neither column is constant.
        The p-value is two-sided, and uses all pairings if there are at most `resamples`. All are
        nan if a column is constant.

    Raises
    ------
    OptionError
        As from `ratio_interval`.

    Examples
    --------
    >>> found = correlation([1, 2, 3, 4], [1, 3, 2, 5])
    >>> print(f"{found.value:.2f} {found.p:.2f}")
    0.83 0.25
    """
    one, other = columns_of_numbers(x=x, y=y)
    return _correlation(_pearson, one, other, seed, resamples)


def rank_correlation(
    x: ArrayLike, y: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES
) -> Correlation:
    """Return Spearman's rank correlation, its 95 % interval and its p-value.

    It measures whether one column increases with the other, on any scale. Equal items share a rank;
    each resample is ranked again. Otherwise as `correlation`.

    Examples
    --------
    >>> found = rank_correlation([20, 100, 1000, 10000], [6.0, 4.5, 5.0, 1.0])
    >>> print(f"{found.value:.2f} {found.p:.2f}")
    -0.80 0.33
    """
    one, other = columns_of_numbers(x=x, y=y)
    return _correlation(_spearman, one, other, seed, resamples)


def log_slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent of a power law: the least-squares slope of log y over log x.

    Parameters
    ----------
    x, y : (N,)
        Two positive numbers for each item, such as words and seconds.

    Raises
    ------
    OptionError
        If there is no item, a number is not positive, the columns differ in length, or all of x
        are the same.

    Examples
    --------
    >>> print(f"{log_slope([10, 20, 40], [3, 12, 48]):.2f}")
    2.00
    """
    columns = columns_of_numbers(x=x, y=y)
    if not (columns > 0).all():
        raise OptionError("a power law needs positive numbers")
    one, other = np.log(columns)
    if np.ptp(one) == 0:
        raise OptionError("a slope needs two different numbers in x")
    return float(np.polyfit(one, other, 1)[0])


def _stats() -> Any:
    """Import `scipy.stats` at first use."""
    import scipy.stats

    return scipy.stats


def _pearson(x: Numbers, y: Numbers, axis: int = -1) -> Any:
    """Return the correlations along an axis; nan where a column is constant."""
    with warnings.catch_warnings(action="ignore"):  # for constant columns
        return _stats().pearsonr(x, y, axis=axis).statistic


def _spearman(x: Numbers, y: Numbers, axis: int = -1) -> Any:
    one, other = (_stats().rankdata(column, axis=axis) for column in (x, y))
    return _pearson(one, other, axis)


def _correlation(
    of: Callable[..., Any], x: Numbers, y: Numbers, seed: int, resamples: int
) -> Correlation:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(float("nan"), NO_INTERVAL, float("nan"))
    values = bootstrap(of, x, y, seed, resamples)
    pairings = _stats().permutation_test(
        (x,),
        lambda one, axis: of(one, np.broadcast_to(y, one.shape), axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    interval = percentiles(values[~np.isnan(values)])
    return Correlation(float(of(x, y)), interval, float(pairings.pvalue))
