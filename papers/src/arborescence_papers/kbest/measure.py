"""Measures of k-best lists on test sets: malformed trees, oracle accuracy, and averages.

After Zmigrod, Vieira and Cotterell (2021), Figure 1 and Appendix A; the oracle is not in the paper.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.errors import ScoresError
from arborescence.inference.kbest import kbest
from arborescence.treebank.statistics import paired_p, ratio_interval
from arborescence_papers.common.groups import by_size, group_of, read_table
from arborescence_papers.common.statistics import Average, average, holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence_papers.common.experiment import Experiment, Results
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.scores import Scores

    Whole = NDArray[np.int64]
    Numbers = NDArray[np.float64]

#: The paper's Appendix A, by language: sentences to learn from, and the rate in percent for each k.
PAPER: Final = read_table(__file__, "paper_appendix_a.csv")
#: The k of the paper.
PAPER_KS: Final = (1, 5, 10, 20, 50)


class Counts(NamedTuple):
    """Counts for each of S sentences and K list lengths; one column if independent of k.

    Counts of several parsers can be added (`sum_of`). Rates are quotients of two counts.

    Attributes
    ----------
    lists : (S, 1) int64
        The number of lists: 1 for each parser.
    words : (S, 1) int64
        The words that count for UAS.
    trees : (S, K) int64
        The number of trees in the list: less than k if the sentence has fewer trees.
    malformed : (S, K) int64
        The number of these trees, found without the constraint, with several root edges.
    touched : (S, K) int64
        Whether the list contains such a tree.
    multi, single : (S, K) int64
        The number of correct words in the most accurate of the first k trees, found without and
        with the constraint.
    multi_exact, single_exact : (S, K) int64
        Whether the list contains the gold tree.
    """

    lists: Whole
    words: Whole
    trees: Whole
    malformed: Whole
    touched: Whole
    multi: Whole
    single: Whole
    multi_exact: Whole
    single_exact: Whole

    @classmethod
    def of(cls, scores: Scores, ks: Sequence[int]) -> Self:
        """Find the k-best lists of a test set, and count.

        Parameters
        ----------
        scores
            A parser's scores of the test set.
        ks
            The list lengths k, increasing.

        Raises
        ------
        ScoresError
            If the parser has no edge scores.
        NoTreeError
            If a sentence has no tree.

        Notes
        -----
        The list for a smaller k is a prefix of the longest, so two searches per sentence suffice.

        Examples
        --------
        Two words, both children of the root in the best tree without the constraint:

        >>> from arborescence_papers.common.scores import Scores
        >>> matrix = np.array([[0, 3, 3], [0, 0, 1], [0, 2, 0]], np.float32)
        >>> gold = np.array([-1, 0, 1])
        >>> scores = Scores("Birdish", "train", 1, {}, False, [gold], [np.array([True, True])],
        ...                 [gold], [gold], [matrix])
        >>> counts = Counts.of(scores, [1, 2, 5])
        >>> counts.trees, counts.malformed
        (array([[1, 2, 3]]), array([[1, 1, 1]]))
        >>> counts.multi, counts.single
        (array([[1, 1, 2]]), array([[0, 2, 2]]))
        """
        if scores.matrices is None:
            raise ScoresError(
                "its parser gives edges no scores, so there is no list of its k best trees: take a "
                "graph-based parser"
            )
        rows: dict[str, list[Whole]] = {name: [] for name in cls._fields}
        for matrix, gold, counted in zip(scores.matrices, scores.gold, scores.counted, strict=True):
            rows["lists"].append(np.ones(1, np.int64))
            rows["words"].append(counted.sum(keepdims=True))
            for root in ("multi", "single"):
                heads, _, _ = kbest(matrix, ks[-1], root=root, projective=scores.projective)
                last = np.minimum(ks, len(heads)) - 1
                same = heads[:, 1:] == gold[1:]
                right = np.maximum.accumulate(same[:, counted].sum(axis=1))
                exact = np.maximum.accumulate(same.all(axis=1))
                rows[root].append(right[last])
                rows[f"{root}_exact"].append(exact[last])
                if root == "multi":
                    malformed = ((heads == 0).sum(axis=1) != 1).cumsum()[last]
                    rows["trees"].append(last + 1)
                    rows["malformed"].append(malformed)
                    rows["touched"].append(malformed > 0)
        return cls.from_json(rows)

    @classmethod
    def from_json(cls, columns: Mapping[str, Iterable[object]]) -> Self:
        """Restore the counts from the output of `as_json`."""
        return cls(**{name: np.array(rows, np.int64) for name, rows in columns.items()})

    def as_json(self) -> dict[str, list[list[int]]]:
        """Return the columns as JSON values."""
        return {name: column.tolist() for name, column in self._asdict().items()}

    @classmethod
    def sum_of(cls, parsers: Iterable[Self]) -> Self:
        """Add the counts of several parsers on the same sentences."""
        return cls(*(np.sum(columns, axis=0) for columns in zip(*parsers, strict=True)))


class Outcome(NamedTuple):
    """The counts of a treebank, and rates computed from them: percentages, one for each k.

    Attributes
    ----------
    treebank, split : str
        Its name, and the part that the parsers were trained on: ``"train"`` or ``"dev"``.
    size : int
        The number of training sentences; 0 if unknown, as for some given parsers.
    loaded : bool
        Whether the parser was given, not trained.
    counts : Counts
        The sum over all parsers.

    Examples
    --------
    Two sentences; one of them has two malformed trees among its five best:

    >>> column = lambda *rows: np.array(rows)
    >>> counts = Counts(lists=column([1], [1]), words=column([4], [6]),
    ...                 trees=column([1, 5], [1, 5]), malformed=column([0, 2], [0, 0]),
    ...                 touched=column([0, 1], [0, 0]), multi=column([3, 3], [5, 6]),
    ...                 single=column([3, 4], [5, 6]), multi_exact=column([0, 0], [0, 1]),
    ...                 single_exact=column([0, 1], [0, 1]))
    >>> outcome = Outcome("Birdish", "train", 100, False, counts)
    >>> outcome.rates, outcome.touched, outcome.well_formed
    (array([ 0., 20.]), array([ 0., 50.]), array([1., 4.]))
    >>> outcome.multi_uas, outcome.single_uas, outcome.gain
    (array([80., 90.]), array([ 80., 100.]), array([ 0., 10.]))
    """

    treebank: str
    split: str
    size: int
    loaded: bool
    counts: Counts

    @property
    def group(self) -> str:
        """The group by training size; empty if unknown."""
        return group_of(self.size)

    @property
    def sentences(self) -> int:
        """The number of test sentences."""
        return len(self.counts.lists)

    @property
    def rates(self) -> Numbers:
        """The percentage of malformed trees among all trees found without the constraint."""
        return _percent(self.counts.malformed, self.counts.trees)

    @property
    def growth(self) -> float:
        """The last rate divided by the first; nan if the first is 0."""
        first, last = self.rates[[0, -1]].tolist()
        return last / first if first else nan

    @property
    def touched(self) -> Numbers:
        """The percentage of lists with a malformed tree."""
        return _percent(self.counts.touched, self.counts.lists)

    @property
    def well_formed(self) -> Numbers:
        """The mean number of dependency trees (one root edge) in a list; not a percentage."""
        well_formed = self.counts.trees - self.counts.malformed
        return _percent(well_formed, self.counts.lists) / 100

    @property
    def multi_uas(self) -> Numbers:
        """The oracle UAS (most accurate of the first k trees) without the constraint."""
        return _percent(self.counts.multi, self.counts.words)

    @property
    def single_uas(self) -> Numbers:
        """The oracle UAS with the constraint."""
        return _percent(self.counts.single, self.counts.words)

    @property
    def gain(self) -> Numbers:
        """The gain in oracle UAS from the constraint, in percentage points."""
        return self.single_uas - self.multi_uas

    @property
    def gain_ps(self) -> list[float]:
        """The p-values of the gains: permutation tests paired by sentence."""
        return [paired_p(column) for column in (self.counts.single - self.counts.multi).T]

    @property
    def multi_exact(self) -> Numbers:
        """The percentage of lists, found without the constraint, that contain the gold tree."""
        return _percent(self.counts.multi_exact, self.counts.lists)

    @property
    def single_exact(self) -> Numbers:
        """The same with the constraint."""
        return _percent(self.counts.single_exact, self.counts.lists)


def measure(
    experiment: Experiment, recipes: Sequence[Recipe], ks: Sequence[int], results: Results
) -> list[Outcome]:
    """Train the parsers of each treebank, find the k best trees, and count.

    Parameters
    ----------
    experiment
        The treebanks.
    recipes
        The training recipes of each treebank. They differ only by their seeds.
    ks
        The list lengths k, increasing.
    results
        The cache of counts.
    """

    def count(recipe: Recipe, scores: Scores) -> tuple[int, Counts]:
        kept = results.once(
            f"{recipe.name}/{scores.treebank}",
            scores.settings | {"ks": list(ks)},
            lambda: Counts.of(scores, ks).as_json(),
        )
        return scores.training_sentences, Counts.from_json(kept)

    plans = {
        treebank: recipes if experiment.trains(treebank) else recipes[:1]
        for treebank in experiment.treebanks
    }
    return [
        Outcome(
            treebank.name,
            treebank.split,
            found[-1][0],
            not experiment.trains(treebank),
            Counts.sum_of(counts for _, counts in found),
        )
        for treebank, found in experiment.measure(plans, count).items()
    ]


def adjusted_ps(outcomes: Sequence[Outcome]) -> list[list[float]]:
    """Return the p-values of each treebank's gains, Holm-adjusted over treebanks for each k."""
    columns = zip(*(one.gain_ps for one in outcomes), strict=True)
    return [list(row) for row in zip(*map(holm, columns), strict=True)]


class Growth(NamedTuple):
    """The ratio of a rate to the rate at k = 1.

    Attributes
    ----------
    of_averages : Average
        The ratio of the average rates; nan if no tree is malformed at k = 1.
    of_treebanks : Average
        The average of the treebanks' ratios: dominated by those with a very low rate at k = 1.
    median : float
        The median of the ratios.
    without : int
        The number of treebanks without a ratio, because their rate at k = 1 is 0.
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
            return cls(average([]), average([]), nan, len(first))
        ratios = rates[some] / first[some]
        growth = float(rates.sum() / first.sum())
        return cls(
            Average(growth, ratio_interval(rates, first), len(first)),
            average(ratios),
            float(np.median(ratios)),
            int((~some).sum()),
        )


class Averages(NamedTuple):
    """Averages over some treebanks, for each k.

    Attributes
    ----------
    treebanks : int
        The number of treebanks.
    growths : list of Growth
        The growth from k = 1.
    gain_ps : list of float
        The p-values of the gains: permutation tests paired by treebank.
    rates, touched, well_formed, multi_uas, single_uas, multi_exact, single_exact, gain : lists
        The averages of the properties of `Outcome`.
    """

    treebanks: int
    growths: list[Growth]
    gain_ps: list[float]
    rates: list[Average]
    touched: list[Average]
    well_formed: list[Average]
    multi_uas: list[Average]
    single_uas: list[Average]
    multi_exact: list[Average]
    single_exact: list[Average]
    gain: list[Average]

    @classmethod
    def over(cls, outcomes: Sequence[Outcome]) -> Self:
        """Average over one or more treebanks."""
        columns = {
            name: np.array([getattr(one, name) for one in outcomes]).T for name in cls._fields[3:]
        }
        rates, gains = columns["rates"], columns["gain"]
        return cls(
            len(outcomes),
            [Growth.between(rates[0], column) for column in rates],
            [paired_p(column) for column in gains],
            *(list(map(average, column)) for column in columns.values()),
        )


def paper_growths(rows: Sequence[Mapping[str, float]]) -> dict[int, tuple[float, Growth]]:
    """Return the average rate and its growth from k = 1, for each k, over rows of the paper."""
    rates = {k: np.array([row[str(k)] for row in rows]) for k in PAPER_KS}
    return {
        k: (average(column).value, Growth.between(rates[1], column)) for k, column in rates.items()
    }


def averages(outcomes: Sequence[Outcome]) -> dict[str, Averages]:
    """Average over all treebanks, and over each non-empty group by training size."""
    groups = by_size(outcomes, lambda outcome: outcome.size)
    return {name: Averages.over(some) for name, some in groups.items()}


def _percent(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Numbers:
    """Return the ratios of the sums over sentences in percent; 0 / 0 counts as 0."""
    sums: Numbers = 100 * part.sum(axis=0) / whole.sum(axis=0).clip(1)
    return sums
