"""What the k best trees of a treebank are like, for each k."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, NamedTuple

from arborescence.experiments.common.groups import group_of
from arborescence.experiments.common.statistics import Interval, holm, paired_p, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.experiments.kbest.lists import Counts

    Numbers = NDArray[np.float64]


class Outcome(NamedTuple):
    """What was counted of a treebank, and rates of it: percentages, one for each k.

    Attributes
    ----------
    treebank : str
        Its name.
    split : str
        The part that the parsers learned from: ``"train"`` or ``"dev"``.
    lessons : int
        From how many sentences they learned; 0 if that is not known, as of parsers that were given.
    counts : Counts
        Of all parsers together.

    Examples
    --------
    Two sentences; one of them has two malformed trees among its five best:

    >>> import numpy as np
    >>> from arborescence.experiments.kbest.lists import Counts
    >>> column = lambda *rows: np.array(rows)
    >>> counts = Counts(lists=column([1], [1]), words=column([4], [6]),
    ...                 trees=column([1, 5], [1, 5]), malformed=column([0, 2], [0, 0]),
    ...                 touched=column([0, 1], [0, 0]), multi=column([3, 3], [5, 6]),
    ...                 single=column([3, 4], [5, 6]), multi_exact=column([0, 0], [0, 1]),
    ...                 single_exact=column([0, 1], [0, 1]))
    >>> outcome = Outcome("Birdish", "train", 100, counts)
    >>> outcome.rates, outcome.touched, outcome.well_formed
    (array([ 0., 20.]), array([ 0., 50.]), array([1., 4.]))
    >>> outcome.multi_uas, outcome.single_uas, outcome.gain
    (array([80., 90.]), array([ 80., 100.]), array([ 0., 10.]))
    """

    treebank: str
    split: str
    lessons: int
    counts: Counts

    @property
    def group(self) -> str:
        """The group by training size; empty if that is not known."""
        return group_of(self.lessons) if self.lessons else ""

    @property
    def sentences(self) -> int:
        """How many sentences the test part has."""
        return len(self.counts.lists)

    @property
    def rates(self) -> Numbers:
        """The share of malformed trees in all trees that are found without the constraint."""
        return _percent(self.counts.malformed, self.counts.trees)

    @property
    def rate_intervals(self) -> list[Interval]:
        """Where the rates lie for other sentences of the kind."""
        return _intervals(self.counts.malformed, self.counts.trees)

    @property
    def growth(self) -> float:
        """How many times as high the last rate is as the first; nan if that is 0."""
        first, last = self.rates[[0, -1]].tolist()
        return last / first if first else nan

    @property
    def sentence_rates(self) -> Numbers:
        """The mean of the sentences' shares: short sentences with few trees weigh as much."""
        means: Numbers = 100 * (self.counts.malformed / self.counts.trees).mean(axis=0)
        return means

    @property
    def touched(self) -> Numbers:
        """The share of lists with a malformed tree."""
        return _percent(self.counts.touched, self.counts.lists)

    @property
    def well_formed(self) -> Numbers:
        """How many dependency trees a list has on average; no percentage."""
        well_formed = self.counts.trees - self.counts.malformed
        return _percent(well_formed, self.counts.lists) / 100

    @property
    def multi_uas(self) -> Numbers:
        """The oracle UAS without the constraint: of the best tree among the first k."""
        return _percent(self.counts.multi, self.counts.words)

    @property
    def single_uas(self) -> Numbers:
        """The oracle UAS with the constraint."""
        return _percent(self.counts.single, self.counts.words)

    @property
    def gain(self) -> Numbers:
        """What the constraint adds to the oracle UAS, in points."""
        return self.single_uas - self.multi_uas

    @property
    def gain_intervals(self) -> list[Interval]:
        """Where the gains lie for other sentences of the kind."""
        return _intervals(self.counts.single - self.counts.multi, self.counts.words)

    @property
    def gain_ps(self) -> list[float]:
        """The p-values of the gains: paired by sentences."""
        return [paired_p(column) for column in (self.counts.single - self.counts.multi).T]

    @property
    def multi_exact(self) -> Numbers:
        """The share of lists, found without the constraint, that hold the gold tree."""
        return _percent(self.counts.multi_exact, self.counts.lists)

    @property
    def single_exact(self) -> Numbers:
        """The same with the constraint."""
        return _percent(self.counts.single_exact, self.counts.lists)


def _percent(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Numbers:
    """Return the quotients of the sums over sentences; 0 of 0 words is 0."""
    sums: Numbers = 100 * part.sum(axis=0) / whole.sum(axis=0).clip(1)
    return sums


def _intervals(part: NDArray[np.int64], whole: NDArray[np.int64]) -> list[Interval]:
    found = []
    for column in range(part.shape[1]):
        low, high = ratio_interval(part[:, column], whole[:, column % whole.shape[1]])
        found.append(Interval(100 * low, 100 * high))
    return found


def adjusted_ps(outcomes: Sequence[Outcome]) -> list[list[float]]:
    """Return the p-values of the gains of each treebank, by Holm's method over those of a k."""
    columns = zip(*(one.gain_ps for one in outcomes), strict=True)
    return [list(row) for row in zip(*map(holm, columns), strict=True)]
