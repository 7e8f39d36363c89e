"""Confidence intervals (bootstrap), p-values (permutation tests), and correlations.

The sampled units (treebanks, sentences or seeds) are called items here. Intervals come from the
bootstrap (Efron and Tibshirani 1993), p-values from permutations; neither assumes a distribution.
Dror et al. (2018) explain which test to use for which question about parsers, and Berg-Kirkpatrick
et al. (2012) how reliable such tests are. The same seed gives the same numbers, independent of the
order of the items.

References
----------
Bradley Efron and Robert Tibshirani (1993), *An Introduction to the Bootstrap*.

Taylor Berg-Kirkpatrick, David Burkett and Dan Klein (2012), *An Empirical Investigation of
Statistical Significance in NLP*.

Rotem Dror, Gili Baumer, Segev Shlomov and Roi Reichart (2018), *The Hitchhiker's Guide to Testing
Statistical Significance in Natural Language Processing*.
"""

from __future__ import annotations

import warnings
from itertools import product
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]

_RESAMPLES: Final = 5_000
_CELLS: Final = 1 << 20  # random numbers drawn at a time
_ENUMERATED: Final = 14  # up to so many differences, all sign patterns (2^14) are enumerated


class Interval(NamedTuple):
    """A confidence interval; nan if it cannot be estimated from the items."""

    low: float
    high: float

    @property
    def percent(self) -> Interval:
        """The interval in percent: both ends times 100."""
        return Interval(100 * self.low, 100 * self.high)


_NONE: Final = Interval(float("nan"), float("nan"))


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
        return Average(float("nan"), _NONE, 0)
    return Average(fmean(finite), mean_interval(finite), len(finite))


def ratio_interval(
    part: ArrayLike,
    whole: ArrayLike,
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = _RESAMPLES,
) -> Interval:
    """Return the bootstrap interval of a ratio of sums, ``sum(part) / sum(whole)``, such as a UAS.

    Parameters
    ----------
    part, whole : (N,)
        Two numbers per item, such as correct words and all words, which are resampled together.
    seed
        The same seed gives the same interval.
    level
        The confidence level. With few items (below about 20), the true coverage is lower, as for
        all percentile intervals.
    resamples
        The number of bootstrap samples.

    Returns
    -------
    Interval
        Percentiles of the ratios of the resamples (Efron and Tibshirani 1993, chapter 13). Both
        ends are nan if the whole is 0 in a resample, or if there is only one item, because its
        variance is unknown. If all parts are 0, the interval is ``[0, 0]``.

    Raises
    ------
    OptionError
        If there is no item, a number is not finite, or the columns differ in length.

    Examples
    --------
    >>> low, high = ratio_interval([3, 0, 5, 2], [4, 1, 5, 4])
    >>> print(f"{low:.2f} {high:.2f}")
    0.40 0.94
    """
    columns = _columns(part=part, whole=whole)
    if not 0 < level < 1:
        raise OptionError(f"level must lie between 0 and 1, not {level}")
    _check(resamples)
    if columns.shape[1] == 1:
        return _NONE
    parts, wholes = columns[:, np.lexsort(columns)]
    return _percentiles(_resampled(_ratio, parts, wholes, seed, resamples), level)


def mean_interval(values: ArrayLike, **options: Any) -> Interval:
    """Return the bootstrap interval of a mean over items. Otherwise as `ratio_interval`.

    Examples
    --------
    >>> low, high = mean_interval([1.0, 2.0, 4.0, 2.0])
    >>> print(f"{low:.2f} {high:.2f}")
    1.25 3.50
    """
    column = _column(values, "values")
    return ratio_interval(column, np.ones_like(column), **options)


def change_interval(before: ArrayLike, after: ArrayLike, **options: Any) -> Interval:
    """Return the bootstrap interval of a relative change, ``sum(after) / sum(before) - 1``.

    The two numbers of an item, such as the correct words of a sentence in two trees, are resampled
    together, so the difficulty of a sentence cancels out. Otherwise as `ratio_interval`.

    Examples
    --------
    >>> low, high = change_interval([3, 2, 5, 4], [4, 2, 5, 5])
    >>> print(f"{low:.2f} {high:.2f}")
    0.00 0.29
    """
    befores, afters = _columns(before=before, after=after)
    return ratio_interval(afters - befores, befores, **options)


def paired_p(difference: ArrayLike, *, seed: int = 0, resamples: int = 10_000) -> float:
    """Return the p-value of a paired sign-flip permutation test.

    Parameters
    ----------
    difference : (N,)
        The difference of two systems for each item. Differences of 0 have no effect.
    seed
        The same seed gives the same p-value.
    resamples
        The number of sign patterns that are drawn.

    Returns
    -------
    float
        Two-sided; 1.0 if all differences are 0. Exact for up to 14 non-zero differences; for more,
        ``(hits + 1) / (resamples + 1)``, which is never 0.

    Raises
    ------
    OptionError
        If the array is empty, or a difference is not finite.

    Notes
    -----
    Fisher's permutation test: under the null hypothesis, both signs of each difference are equally
    likely (Dror et al. 2018, section 3.2). For equal differences, only the number of positive signs
    is drawn. This takes a hundredth of the time of SciPy's `permutation_test`, which draws each
    sign.

    Examples
    --------
    >>> paired_p([1, 1, 0, 1, 2, 1])
    0.0625
    """
    _check(resamples)
    column = _column(difference, "differences")
    sizes = np.abs(column[column != 0])
    # A tolerance, because sums that are equal in real arithmetic may differ by rounding.
    least = abs(float(column.sum())) - 1e-12 * float(sizes.sum())
    if sizes.size <= _ENUMERATED:
        signs = np.array(list(product((-1, 1), repeat=sizes.size)))
        return float((np.abs(signs @ sizes) >= least).mean())
    distinct, counts = np.unique(sizes, return_counts=True)
    generator = np.random.default_rng(seed)
    hits = 0
    for start in range(0, resamples, batch := _batch(distinct)):
        up = generator.binomial(counts, 0.5, (min(batch, resamples - start), distinct.size))
        hits += int((np.abs((2 * up - counts) @ distinct) >= least).sum())
    return (hits + 1) / (resamples + 1)


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
    x: ArrayLike, y: ArrayLike, *, seed: int = 0, resamples: int = _RESAMPLES
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
    one, other = _columns(x=x, y=y)
    return _correlation(_pearson, one, other, seed, resamples)


def rank_correlation(
    x: ArrayLike, y: ArrayLike, *, seed: int = 0, resamples: int = _RESAMPLES
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
    one, other = _columns(x=x, y=y)
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
    columns = _columns(x=x, y=y)
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


def _column(values: ArrayLike, name: str) -> Numbers:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or not column.size:
        raise OptionError(f"{name} must be a row of one or more numbers, not {column.shape}")
    if not (fine := np.isfinite(column)).all():
        place = int(np.argmin(fine))
        raise OptionError(
            f"{name}[{place}] is {column[place]}: leave out items that have no such number"
        )
    return column


def _columns(**given: ArrayLike) -> Numbers:
    columns = [_column(values, name) for name, values in given.items()]
    if len({column.size for column in columns}) > 1:
        sizes = " and ".join(f"{len(c)} of {name}" for name, c in zip(given, columns, strict=True))
        raise OptionError(f"numbers must come in pairs, not {sizes}")
    return np.array(columns)


def _check(resamples: int) -> None:
    if resamples < 1:
        raise OptionError(f"resamples must be at least 1, not {resamples}")


def _batch(column: Numbers) -> int:
    """Return the number of resamples per batch, to limit memory."""
    return max(1, _CELLS // column.size)


def _resampled(
    statistic: Callable[..., Numbers], x: Numbers, y: Numbers, seed: int, resamples: int
) -> Numbers:
    """Return a statistic of two columns for bootstrap resamples of the items: (resamples,)."""
    with warnings.catch_warnings(action="ignore"):  # the statistic may be undefined for a resample
        found = _stats().bootstrap(
            (x, y),
            statistic,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            batch=_batch(x),
            method="percentile",
            rng=np.random.default_rng(seed),
        )
    distribution: Numbers = found.bootstrap_distribution
    return distribution


def _percentiles(values: Numbers, level: float = 0.95) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _ratio(part: Numbers, whole: Numbers, axis: int) -> Any:
    """Return the ratio of the sums; nan where the sum of `whole` is 0."""
    wholes = whole.sum(axis)
    return part.sum(axis) / np.where(wholes == 0, np.nan, wholes)


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
        return Correlation(float("nan"), _NONE, float("nan"))
    values = _resampled(of, x, y, seed, resamples)
    pairings = _stats().permutation_test(
        (x,),
        lambda one, axis: of(one, np.broadcast_to(y, one.shape), axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    interval = _percentiles(values[~np.isnan(values)])
    return Correlation(float(of(x, y)), interval, float(pairings.pvalue))
