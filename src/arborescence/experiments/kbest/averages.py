"""What is averaged over treebanks, each of the same weight; and how malformed trees grow with k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.experiments.common.groups import grouped
from arborescence.experiments.common.statistics import (
    Interval,
    mean_interval,
    paired_p,
    ratio_interval,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.experiments.kbest.outcomes import Outcome

#: How many times as many trees are malformed as at k = 1, on average, in the paper; by k.
PAPER: Final[Mapping[int, int]] = {50: 13}


class Average(NamedTuple):
    """An average over treebanks, and where it lies for other treebanks."""

    value: float
    interval: Interval

    @classmethod
    def of(cls, column: Sequence[float] | NDArray[np.float64]) -> Self:
        """Return the average of a number of each treebank.

        Examples
        --------
        >>> Average.of([1.0, 3.0])
        Average(value=2.0, interval=Interval(low=1.0, high=3.0))
        """
        return cls(float(np.mean(column)), mean_interval(column))


class Growth(NamedTuple):
    """How many times as high a rate is as that of the best trees, k = 1.

    Attributes
    ----------
    of_averages : Average
        The average rate over the average rate; nan if nothing is malformed at k = 1.
    of_treebanks : Average
        The average of the treebanks' ratios: ruled by those with a tiny rate at k = 1.
    median : float
        The median of the ratios.
    without : int
        How many treebanks have no ratio, as none of their best trees is malformed.
    """

    of_averages: Average
    of_treebanks: Average
    median: float
    without: int

    @classmethod
    def between(cls, first: NDArray[np.float64], rates: NDArray[np.float64]) -> Self:
        """Compare the rates of treebanks at k = 1 with those at another k.

        Examples
        --------
        >>> growth = Growth.between(np.array([0.5, 2.0, 0.0]), np.array([4.0, 6.0, 0.5]))
        >>> print(f"{growth.of_averages.value:.1f}", growth.of_treebanks.value, growth.median)
        4.2 5.5 5.5
        >>> growth.without
        1
        """
        some = first > 0
        if not some.any():
            none = Average(np.nan, Interval(np.nan, np.nan))
            return cls(none, none, np.nan, len(first))
        ratios = rates[some] / first[some]
        return cls(
            Average(float(rates.sum() / first.sum()), ratio_interval(rates, first)),
            Average.of(ratios),
            float(np.median(ratios)),
            int((~some).sum()),
        )


class Averages(NamedTuple):
    """Averages over some treebanks, for each k.

    Attributes
    ----------
    treebanks : int
        How many.
    rates, multi_uas, single_uas, gains, multi_exact, single_exact, touched, well_formed : lists
        Averages of what an `Outcome` says.
    growths : list of Growth
        From k = 1.
    gain_ps : list of float
        The p-values of the gains: paired by treebanks.
    """

    treebanks: int
    rates: list[Average]
    growths: list[Growth]
    touched: list[Average]
    well_formed: list[Average]
    multi_uas: list[Average]
    single_uas: list[Average]
    gains: list[Average]
    gain_ps: list[float]
    multi_exact: list[Average]
    single_exact: list[Average]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Self:
        """Average over treebanks; at least one."""

        def columns(name: str) -> list[NDArray[np.float64]]:
            return list(np.array([getattr(one, name) for one in outcomes]).T)

        def averages(name: str) -> list[Average]:
            return [Average.of(column) for column in columns(name)]

        rates = columns("rates")
        return cls(
            treebanks=len(outcomes),
            rates=averages("rates"),
            growths=[Growth.between(rates[0], column) for column in rates],
            touched=averages("touched"),
            well_formed=averages("well_formed"),
            multi_uas=averages("multi_uas"),
            single_uas=averages("single_uas"),
            gains=averages("gain"),
            gain_ps=[paired_p(column) for column in columns("gain")],
            multi_exact=averages("multi_exact"),
            single_exact=averages("single_exact"),
        )


def by_size(outcomes: Sequence[Outcome]) -> dict[str, Averages]:
    """Average over all treebanks, and over each group by training size that has any."""
    groups = grouped(outcomes, lambda outcome: outcome.lessons)
    return {name: Averages.of(some) for name, some in groups.items()}
