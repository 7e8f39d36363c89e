"""What the experiment has found, and what is said of many treebanks at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite, log10
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.experiments.common.groups import ALL, grouped
from arborescence.experiments.common.statistics import (
    Correlation,
    Interval,
    correlation,
    holm,
    mean_interval,
    rank_correlation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arborescence.experiments.common.recipes import Recipe
    from arborescence.experiments.common.treebanks import LeftOut
    from arborescence.experiments.root.effects import Effect


@dataclass(frozen=True)
class Findings:
    """What there is to report.

    Attributes
    ----------
    recipes : list of Recipe
        How the parsers of each treebank were trained; they differ by their seeds.
    effects : list of Effect
        What the constraint does on each treebank.
    curve : list of Effect
        What it does on one treebank, for more and more sentences to learn from; empty if there is
        no learning curve.
    studied : dict of str to list of Effect
        What it does on each treebank if parsers are trained in other ways, by their names; empty if
        they were not compared.
    left_out : list of LeftOut
        The treebanks without which all this is.
    """

    recipes: list[Recipe]
    effects: list[Effect]
    curve: list[Effect]
    studied: dict[str, list[Effect]]
    left_out: list[LeftOut]


#: How many treebanks the paper has.
PAPER_TREEBANKS: Final = 63
#: The paper's average percentage of malformed trees in each group.
PAPER: Final[Mapping[str, float]] = {ALL: 1.80, "low": 6.21, "medium": 1.02, "high": 0.63}
#: The paper's highest percentage, and its treebank.
PAPER_WORST: Final = (23.57, "Kurmanji")
#: What the paper shows over the size of a treebank, all in percent.
MEASURES: Final[Mapping[str, Callable[[Effect], float]]] = {
    "malformed trees": lambda effect: effect.rate,
    "relative change of UAS": lambda effect: effect.uas.relative,
    "relative change of exact match": lambda effect: effect.exact.relative,
}
# Sentences of more words than one of these, up to the next one, are counted together.
_LENGTHS: Final = (0, 5, 10, 20, 40, inf)
_NONE: Final = Interval(float("nan"), float("nan"))


class Average(NamedTuple):
    """A mean over items of the same weight.

    Attributes
    ----------
    value : float
        The mean; nan if there is no item.
    interval : Interval
        Its interval, over items.
    items : int
        How many there are.
    """

    value: float
    interval: Interval
    items: int


def average(values: Iterable[float]) -> Average:
    """Average the numbers that are finite: a relative change of nothing is none.

    Examples
    --------
    >>> average([1.0, 3.0, float("nan")])
    Average(value=2.0, interval=Interval(low=1.0, high=3.0), items=2)
    """
    finite = [value for value in values if isfinite(value)]
    if not finite:
        return Average(float("nan"), _NONE, 0)
    return Average(fmean(finite), mean_interval(finite), len(finite))


def groups(effects: Sequence[Effect]) -> dict[str, list[Effect]]:
    """Group treebanks by the number of sentences that there are to learn from, as *root* does.

    Returns
    -------
    dict
        All treebanks first, then the groups that are not empty. A treebank is in none of them if it
        is not known what its parser has learned from, and its `lessons` are 0.
    """
    return grouped(effects, lambda effect: effect.lessons)


def sized(effects: Iterable[Effect]) -> list[Effect]:
    """Return those of which it is known how many sentences the parser has learned from."""
    return [effect for effect in effects if effect.lessons]


class Trend(NamedTuple):
    """How a measure goes with the number of sentences that there are to learn from.

    Attributes
    ----------
    ranks : Correlation
        Of Spearman.
    logs : Correlation
        Of Pearson, with the logarithm of that number.
    treebanks : int
        How many have the measure.
    """

    ranks: Correlation
    logs: Correlation
    treebanks: int


def trend(effects: Iterable[Effect], measure: Callable[[Effect], float]) -> Trend:
    """Correlate a measure with size, over the treebanks that have both."""
    pairs = [
        (log10(effect.lessons), value)
        for effect in sized(effects)
        if isfinite(value := measure(effect))
    ]
    if not pairs:
        none = Correlation(float("nan"), _NONE, float("nan"))
        return Trend(none, none, 0)
    sizes, values = zip(*pairs, strict=True)
    return Trend(rank_correlation(sizes, values), correlation(sizes, values), len(pairs))


def by_length(effects: Sequence[Effect]) -> dict[str, Average]:
    """Average the percentage of malformed trees over treebanks, for some ranges of lengths."""
    averages = {}
    for above, most in pairwise(_LENGTHS):
        rates = []
        for effect in effects:
            here = (effect.lengths > above) & (effect.lengths <= most)
            if here.any():
                rates.append(100 * float(effect.malformed[:, here].mean()))
        name = f"{above + 1:.0f} to {most:.0f}" if most < inf else f"{above + 1:.0f} or more"
        averages[name] = average(rates)
    return averages


def root_edges(effects: Iterable[Effect]) -> dict[int, int]:
    """Count malformed trees by their root edges, over all treebanks and parsers."""
    found = np.concatenate([effect.roots[effect.malformed] for effect in effects])
    numbers, counts = np.unique(found, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


class Significance(NamedTuple):
    """Whether the constraint changes what is right on a treebank, beyond chance.

    Attributes
    ----------
    p : float
        The p-value of this treebank's test.
    adjusted : float
        The same after Holm's method, over all treebanks.
    """

    p: float
    adjusted: float

    @property
    def star(self) -> str:
        """A star if the difference is significant at 0.05 among all treebanks."""
        return "\\*" if self.adjusted < 0.05 else ""


def significances(ps: Sequence[float]) -> list[Significance]:
    """Adjust the p-values of treebanks.

    Examples
    --------
    >>> significances([0.01, 0.04])
    [Significance(p=0.01, adjusted=0.02), Significance(p=0.04, adjusted=0.04)]
    """
    return [Significance(p, adjusted) for p, adjusted in zip(ps, holm(ps), strict=True)]
