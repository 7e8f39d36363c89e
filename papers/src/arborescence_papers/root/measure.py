"""The effect of the root constraint on the trees of test sets, and summaries over treebanks.

After Zmigrod, Vieira and Cotterell (2020), Tables 1 and 2, Figures 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from math import inf, isfinite, log10, nan
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.system.lazy import remembered
from arborescence.treebank.statistics import Interval, change_interval, paired_p, ratio_interval
from arborescence_papers.common.groups import ALL, by_size, read_table
from arborescence_papers.common.statistics import (
    Average,
    Correlation,
    average,
    correlation,
    percent,
    rank_correlation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence_papers.common.experiment import Experiment
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.scores import Scores
    from arborescence_papers.common.treebanks import Treebank

#: The paper's Table 2, by language; all rates and changes are in percent.
PAPER: Final = read_table(__file__, "paper_table_2.csv")
#: The paper's rates of malformed trees by group: Table 1, and the average of Table 2.
PAPER_GROUPS: Final = {
    name: row["malformed"] for name, row in read_table(__file__, "paper_table_1.csv").items()
} | {ALL: fmean(row["malformed"] for row in PAPER.values())}
#: The measures that the paper shows against the size of a treebank, all in percent.
MEASURES: Final[Mapping[str, Callable[[Effect], float]]] = {
    "malformed trees": lambda effect: effect.rate,
    "relative change of UAS": lambda effect: effect.uas.relative,
    "relative change of exact match": lambda effect: effect.exact.relative,
}
#: The columns of the paper's tables that have these measures.
COLUMNS: Final = dict(zip(MEASURES, ("malformed", "uas_change", "exact_change"), strict=True))
# Bounds of the groups of sentence lengths: a group has more words than one bound, up to the next.
_LENGTHS: Final = (0, 5, 10, 20, 40, inf)


@dataclass(frozen=True)
class Change:
    """Correct items in S sentences, without and with the root constraint, for P parsers.

    Attributes
    ----------
    whole : (S,) int64
        The number of items of each sentence, such as words.
    multi, single : (P, S) int64
        The number of correct items without the constraint, and with it.

    Examples
    --------
    >>> change = Change(np.array([4, 4]), np.array([[2, 3]]), np.array([[3, 3]]))
    >>> change.rate_multi, change.rate_single, f"{change.relative:.1f}"
    (62.5, 75.0, '20.0')
    """

    whole: NDArray[np.int64]
    multi: NDArray[np.int64]
    single: NDArray[np.int64]

    @classmethod
    def join(cls, changes: Sequence[Self]) -> Self:
        """Combine parsers that were tested on the same sentences."""
        return cls(
            changes[0].whole,
            np.concatenate([one.multi for one in changes]),
            np.concatenate([one.single for one in changes]),
        )

    @property
    def rate_multi(self) -> float:
        """The percentage correct without the constraint; nan if there are no items."""
        return percent(self.multi.sum(), self.whole.sum() * len(self.multi))

    @property
    def rate_single(self) -> float:
        """The percentage correct with the constraint; nan if there are no items."""
        return percent(self.single.sum(), self.whole.sum() * len(self.single))

    @property
    def relative(self) -> float:
        """The relative change in percent; nan if nothing is correct without the constraint."""
        return percent(self.single.sum() - self.multi.sum(), self.multi.sum())

    @property
    def each(self) -> list[float]:
        """The relative change for each parser."""
        return [
            percent(single - multi, multi)
            for multi, single in zip(self.multi.sum(axis=1), self.single.sum(axis=1), strict=True)
        ]

    @property
    @remembered
    def interval(self) -> Interval:
        """The bootstrap interval of the relative change in percent, over sentences."""
        return change_interval(self.multi.sum(axis=0), self.single.sum(axis=0)).percent

    @property
    @remembered
    def p(self) -> float:
        """The p-value of the difference: a sign-flip permutation test over sentences."""
        return paired_p((self.single - self.multi).sum(axis=0))


@dataclass(frozen=True)
class Effect:
    """The effect of the root constraint on P parsers of a treebank with S test sentences.

    The parsers differ only by their seeds. A tree is malformed if it has more than one root edge;
    every spanning tree has at least one.

    Attributes
    ----------
    treebank, split
        As in `Scores`.
    size : int
        The number of training sentences; 0 if unknown.
    loaded : bool
        Whether the parser was given, not trained.
    lengths : (S,) int32
        The number of words of each sentence.
    roots : (P, S) int64
        The number of root edges of each tree found without the constraint.
    uas : Change
        Words with the correct head, among those that count.
    exact : Change
        Sentences in which every word, including punctuation, has the correct head.

    Examples
    --------
    >>> from arborescence_papers.common.scores import Scores
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[2, 0],
    ...                                deprels=["nsubj", "root"])
    >>> scores = Scores.of([[[0, 2, 3], [0, 0, 0], [0, 1, 0]]], [sentence],
    ...                    treebank="Birdish", training_sentences=100)
    >>> effect = Effect.of(scores)
    >>> effect.rate, effect.uas.rate_multi, effect.uas.rate_single, effect.exact.rate_single
    (100.0, 50.0, 100.0, 100.0)
    """

    treebank: str
    split: str
    size: int
    loaded: bool
    lengths: NDArray[np.int32]
    roots: NDArray[np.int64]
    uas: Change
    exact: Change

    @classmethod
    def of(cls, scores: Scores) -> Self:
        """Compare the trees that one parser finds without the constraint and with it."""
        columns = []
        for gold, counted, *trees in zip(
            scores.gold, scores.counted, scores.multi, scores.single, strict=True
        ):
            multi, single = (tree[1:] == gold[1:] for tree in trees)
            columns.append(
                (
                    (trees[0] == 0).sum(),
                    *(counted.sum(), multi[counted].sum(), single[counted].sum()),
                    *(multi.all(), single.all()),
                )
            )
        table = np.array(columns, dtype=np.int64)
        roots, words, *right = table.T
        uas_multi, uas_single, exact_multi, exact_single = (row[np.newaxis] for row in right)
        return cls(
            treebank=scores.treebank,
            split=scores.split,
            size=scores.training_sentences,
            loaded="model" in scores.settings,
            lengths=scores.lengths,
            roots=roots[np.newaxis],
            uas=Change(words, uas_multi, uas_single),
            exact=Change(np.ones_like(words), exact_multi, exact_single),
        )

    @classmethod
    def join(cls, effects: Sequence[Self]) -> Self:
        """Combine parsers of the same treebank."""
        return replace(
            effects[0],
            roots=np.concatenate([one.roots for one in effects]),
            uas=Change.join([one.uas for one in effects]),
            exact=Change.join([one.exact for one in effects]),
        )

    @property
    def malformed(self) -> NDArray[np.bool_]:
        """Which trees have more than one root edge: (P, S)."""
        return np.not_equal(self.roots, 1)

    @property
    def rate(self) -> float:
        """The percentage of malformed trees."""
        return 100 * float(self.malformed.mean())

    @property
    def rates(self) -> list[float]:
        """The same for each parser."""
        return [100 * float(rate) for rate in self.malformed.mean(axis=1)]

    @property
    @remembered
    def rate_interval(self) -> Interval:
        """The bootstrap interval of the percentage, over sentences."""
        parsers, sentences = self.roots.shape
        low, high = ratio_interval(self.malformed.sum(axis=0), np.full(sentences, parsers))
        return Interval(100 * low, 100 * high)


def measure(
    experiment: Experiment,
    plans: Mapping[Treebank, Mapping[str, Sequence[Recipe]]],
    what: str = "",
) -> dict[Treebank, dict[str, Effect]]:
    """Train the parsers of each treebank, and measure the effect of the constraint.

    Parameters
    ----------
    experiment
        The treebanks.
    plans
        For each treebank, named lists of recipes that differ only by their seeds. The parsers of a
        list are combined.
    what
        A prefix of the reason if a treebank fails.
    """
    recipes = {
        treebank: list(chain.from_iterable(plan.values())) for treebank, plan in plans.items()
    }
    measured = experiment.measure(recipes, lambda _, scores: Effect.of(scores), what)
    joined = {}
    for treebank, effects in measured.items():
        parsers = iter(effects)
        joined[treebank] = {
            name: Effect.join(list(islice(parsers, len(some))))
            for name, some in plans[treebank].items()
        }
    return joined


@dataclass(frozen=True)
class Findings:
    """The data of the report.

    Attributes
    ----------
    recipes : list of Recipe
        The training recipes of each treebank; they differ only by their seeds.
    effects : list of Effect
        The effect on each treebank.
    curve : list of Effect
        The effect on one treebank, for increasing numbers of training sentences; empty if there is
        no learning curve.
    studied : dict of str to list of Effect
        The effect on each treebank for each training method, keyed by its name; empty if methods
        were not compared.
    """

    recipes: list[Recipe]
    effects: list[Effect]
    curve: list[Effect]
    studied: dict[str, list[Effect]]


def groups(effects: Sequence[Effect]) -> dict[str, list[Effect]]:
    """Group treebanks by the number of their training sentences: see `by_size`."""
    return by_size(effects, lambda effect: effect.size)


def sized(effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects with a known number of training sentences."""
    return [effect for effect in effects if effect.size]


class Trend(NamedTuple):
    """The correlation of a measure with the number of training sentences.

    Attributes
    ----------
    ranks : Correlation
        Spearman's correlation.
    logs : Correlation
        Pearson's correlation with the logarithm of that number.
    treebanks : int
        The number of treebanks that have the measure.
    """

    ranks: Correlation
    logs: Correlation
    treebanks: int


def trend(effects: Iterable[Effect], measure: Callable[[Effect], float]) -> Trend:
    """Correlate a measure with size, over the treebanks that have both."""
    pairs = [
        (log10(effect.size), value)
        for effect in sized(effects)
        if isfinite(value := measure(effect))
    ]
    if not pairs:
        none = Correlation(nan, Interval(nan, nan), nan)
        return Trend(none, none, 0)
    sizes, values = zip(*pairs, strict=True)
    return Trend(rank_correlation(sizes, values), correlation(sizes, values), len(pairs))


def by_length(effects: Sequence[Effect]) -> dict[str, Average]:
    """Average the percentage of malformed trees over treebanks, for ranges of sentence length."""
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
    """Count malformed trees by number of root edges, over all treebanks and parsers."""
    found = np.concatenate([effect.roots[effect.malformed] for effect in effects])
    numbers, counts = np.unique(found, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
