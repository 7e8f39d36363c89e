"""Times of decoders by sentence length, and of `kbest` against the algorithm of Camerini et al.

The complexity claims of Zmigrod, Vieira and Cotterell (2020); Table 1 of Zmigrod, Vieira and
Cotterell (2021).
"""

from __future__ import annotations

import platform
import time
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_args

import numpy as np

from arborescence.core.errors import ScoresError
from arborescence.core.graph import Root
from arborescence.core.remembered import remembered
from arborescence.core.tree import root_count
from arborescence.experiments.common.results import Results
from arborescence.experiments.common.statistics import Interval, ratio_interval
from arborescence.experiments.common.treebanks import LeftOut
from arborescence.experiments.runtime.clock import machine, race
from arborescence.experiments.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    EISNER,
    GREEDY,
    N_RUNS,
    NAIVE,
    PROJECTIVE,
    REWEIGHTED,
    UNCONSTRAINED,
    count_worse,
)
from arborescence.experiments.runtime.graphs import KINDS
from arborescence.inference.kbest import kbest
from arborescence.nonprojective.camerini import kbest_by_camerini

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from arborescence.experiments.common.experiment import Experiment
    from arborescence.experiments.common.recipes import Recipe
    from arborescence.experiments.common.scores import Scores

    Result = TypeVar("Result")
    #: The scores of some sentences of a test set, and their origin.
    Sample = tuple[list[NDArray[np.float32]], dict[str, Any]]

_SEED: Final = 1
_ROUNDS: Final = 5
# Bilexical CKY takes a second for a sentence of this many words; longer ones would take minutes.
_LONGEST: Final = 100
_ONE_WORD: Final = np.zeros((2, 2), np.float32)
# The k best trees for increasing n and k: the kinds of graphs, and their number. For increasing k:
# the number of words, and the additional multiples of the largest k.
_LISTED: Final = ("model-like", "uniform")
_SENTENCES: Final = 20
_WORDS: Final = 25
_TIMES: Final = (2, 4, 10)


class Timed(NamedTuple):
    """The times of the decoders for one tree of a sentence of n words.

    Attributes
    ----------
    kind : str
        The kind of graphs, one of `graphs.KINDS`.
    n, sentences : int
        The number of words and of sentences.
    seconds : dict of str to float
        The seconds per sentence of each of `DECODERS`.
    easy : int
        The number of sentences whose greedy graph is a tree: no contraction is needed without the
        constraint.
    several : int
        The number of sentences whose best unconstrained tree has several root edges.
    worse : dict of str to int
        The number of sentences for which the trees of `N_RUNS` and `REWEIGHTED` are not optimal.
    """

    kind: str
    n: int
    sentences: int
    seconds: dict[str, float]
    easy: int
    several: int
    worse: dict[str, int]


def batch_of(kind: str, n: int, sentences: int) -> NDArray[Any]:
    """Return random graphs of a kind: (sentences, n + 1, n + 1) float32, always the same."""
    return KINDS[kind](np.random.default_rng([_SEED, n]), sentences, n)


def enough(n: int) -> int:
    """Return a batch size for n words at which the overhead of a call is negligible."""
    return min(1000, max(10, 400_000 // (n + 1) ** 2))


def time_decoders(
    kind: str,
    n: int,
    *,
    sentences: int,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> Timed:
    """Time all decoders on the same batch of graphs, in turn.

    Parameters
    ----------
    kind
        One of `graphs.KINDS`.
    n
        The number of words of each sentence.
    sentences
        The number of sentences.
    rounds
        The number of times each decoder is timed; the minimum is used.
    clock
        Returns seconds.

    Examples
    --------
    >>> timed = time_decoders("uniform", 4, sentences=10, rounds=1)
    >>> timed.worse
    {'n runs': 0, 'reweighting': 0}
    """
    batch = batch_of(kind, n, sentences)
    took = race([partial(find, batch) for find in DECODERS.values()], rounds, clock)
    best, free = DECODERS[CONSTRAINED](batch), DECODERS[UNCONSTRAINED](batch)
    return Timed(
        kind=kind,
        n=n,
        sentences=sentences,
        seconds={name: t / sentences for name, t in zip(DECODERS, took, strict=True)},
        easy=int((DECODERS[GREEDY](batch) == free).all(axis=1).sum()),
        several=int((root_count(free) > 1).sum()),
        worse={
            name: count_worse(batch, best, DECODERS[name](batch)) for name in (N_RUNS, REWEIGHTED)
        },
    )


class Projective(NamedTuple):
    """The times of the decoders for one projective tree of a sentence of n words.

    Attributes
    ----------
    n, sentences : int
        The number of words and of sentences.
    few : int
        The number of sentences of `NAIVE`: the first ones.
    seconds : dict of str to float
        The seconds per sentence of each of `PROJECTIVE`, and of `CONSTRAINED`, which finds any
        tree.
    worse : int
        The number of sentences for which the tree of `NAIVE` is not optimal.
    """

    n: int
    sentences: int
    few: int
    seconds: dict[str, float]
    worse: int


def few_of(n: int) -> int:
    """Return a batch size for n words at which O(n⁵) takes a second or two."""
    return min(1000, max(2, 10**7 // n**4))


def time_projective(
    n: int,
    *,
    sentences: int,
    few: int,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> Projective:
    """Time decoders for one projective tree on a batch of uniform graphs, in turn.

    Parameters
    ----------
    n, sentences, rounds, clock
        As in `time_decoders`.
    few
        The number of sentences for `NAIVE`: the first ones.

    Examples
    --------
    >>> timed = time_projective(4, sentences=10, few=5, rounds=1)
    >>> list(timed.seconds), timed.worse
    (['with the constraint', 'Eisner', 'bilexical CKY'], 0)
    """
    batch = batch_of("uniform", n, sentences)
    runners = {CONSTRAINED: DECODERS[CONSTRAINED], **PROJECTIVE}
    batches = {name: batch[:few] if name == NAIVE else batch for name in runners}
    took = race([partial(find, batches[name]) for name, find in runners.items()], rounds, clock)
    best, naive = (PROJECTIVE[name](batch[:few]) for name in (EISNER, NAIVE))
    return Projective(
        n=n,
        sentences=sentences,
        few=few,
        seconds={name: t / len(batches[name]) for name, t in zip(runners, took, strict=True)},
        worse=count_worse(batch[:few], best, naive),
    )


@dataclass(frozen=True)
class Lists:
    """The times of the k best trees of S sentences, one call per sentence.

    Attributes
    ----------
    root : {"multi", "single"}
    k : int
    ours, theirs : list of S floats
        Seconds of `kbest` and of `kbest_by_camerini`.
    our_calls, their_calls : list of S floats
        Seconds of both for a sentence of one word, which has one tree, timed in turn with those
        above, because the speed of a machine varies. This is the overhead of a call: checking the
        input, allocating memory and passing about eighty arrays.
    unequal : int
        The number of sentences for which the two find trees of different weights.

    Examples
    --------
    >>> lists = Lists("multi", 10, ours=[30.0, 50.0], theirs=[50.0, 70.0],
    ...               our_calls=[20.0, 20.0], their_calls=[10.0, 10.0], unequal=0)
    >>> lists.called, lists.speed_up
    (1.5, 2.5)
    """

    root: Root
    k: int
    ours: list[float]
    theirs: list[float]
    our_calls: list[float]
    their_calls: list[float]
    unequal: int

    @property
    def called(self) -> float:
        """The ratio of the total times of calls, theirs to ours."""
        return sum(self.theirs) / sum(self.ours)

    @property
    def searches(self) -> NDArray[np.float64]:
        """The seconds without the overhead of a call, (2, S): ours and theirs."""
        calls = np.array([self.our_calls, self.their_calls])
        searches: NDArray[np.float64] = np.array([self.ours, self.theirs]) - calls
        return searches

    @property
    def speed_up(self) -> float:
        """The ratio of total times without the overhead of a call, theirs to ours."""
        ours, theirs = self.searches.sum(axis=1).tolist()
        return float(theirs / ours)

    @property
    @remembered
    def interval(self) -> Interval:
        """The bootstrap interval of the speed-up, over sentences."""
        ours, theirs = self.searches
        return ratio_interval(theirs, ours)

    @property
    def microseconds(self) -> tuple[float, float]:
        """The mean microseconds per sentence, without the overhead of a call: ours and theirs.

        At least 0.001, because the difference could be negative for very short searches.
        """
        ours, theirs = (1e6 * self.searches.mean(axis=1)).clip(1e-3).tolist()
        return ours, theirs


class Measured(NamedTuple):
    """The times of lists, and the treebank or kind of graphs.

    Attributes
    ----------
    name : str
        A treebank, or a kind of graphs.
    words : float
        The mean number of words per sentence.
    lists : Lists
    """

    name: str
    words: float
    lists: Lists


def time_lists(
    graphs: Sequence[NDArray[Any]],
    root: Root,
    k: int,
    *,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> Lists:
    """Time both algorithms on the same sentences, in turn.

    Parameters
    ----------
    graphs
        The scores of each sentence, (n + 1, n + 1).
    root
        As in `kbest`.
    k
        The number of trees.
    rounds
        The number of times each call is timed; the minimum is used.
    clock
        Returns seconds.

    Examples
    --------
    >>> lists = time_lists([np.ones((4, 4), np.float32)], "single", 5, rounds=1)
    >>> len(lists.ours), len(lists.theirs), lists.unequal
    (1, 1, 0)
    """
    ours = partial(kbest, k=k, root=root)
    theirs = partial(kbest_by_camerini, k=k, root=root)

    seconds, unequal = [], 0
    for scores in graphs:
        runners = [partial(find, one) for one in (scores, _ONE_WORD) for find in (ours, theirs)]
        seconds.append(race(runners, rounds, clock))
        unequal += not _same(ours(scores)[1], theirs(scores)[1])
    mine, other, my_calls, other_calls = map(list, zip(*seconds, strict=True))
    return Lists(root, k, mine, other, my_calls, other_calls, unequal)


def _same(weights: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Return whether weights agree, with a tolerance: Camerini's are rounded more than once."""
    return len(weights) == len(others) and np.allclose(weights, others, rtol=1e-12, atol=0)


class Times(NamedTuple):
    """All measured times.

    Attributes
    ----------
    treebanks : list of Measured
        The k best trees of sentences of treebanks; empty without treebanks.
    decoders : list of Timed
        The best trees of random graphs.
    with_words, with_trees : list of Measured
        The k best trees of random graphs, for increasing numbers of words, and for increasing k.
    projective : list of Projective
        The best projective trees of random graphs.
    """

    treebanks: list[Measured]
    decoders: list[Timed]
    with_words: list[Measured]
    with_trees: list[Measured]
    projective: list[Projective]


def measure(
    experiment: Experiment, recipe: Recipe, sizes: Sequence[int], ks: Sequence[int], sentences: int
) -> Times:
    """Train the parsers of all treebanks, then measure all times.

    Parameters
    ----------
    experiment
        The treebanks. Times are saved in its output folder and reused.
    recipe
        The training recipe of the parser of each treebank.
    sizes
        The numbers of words of random graphs, increasing.
    ks
        The list lengths k.
    sentences
        The number of sentences sampled from each test set.
    """
    results = Results(experiment.output / "times")

    def draw(recipe: Recipe, scores: Scores) -> Sample:
        if scores.matrices is None:  # possible for a given model
            raise ScoresError("its parser gives edges no scores")
        order = np.random.default_rng(recipe.seed).permutation(len(scores.matrices))
        drawn = [scores.matrices[i].copy() for i in sorted(order[:sentences].tolist())]
        return drawn, {"scores": scores.settings, "seed": recipe.seed}

    # All parsers are trained before the first measurement, so that no other process runs during it.
    samples = experiment.measure({one: [recipe] for one in experiment.treebanks}, draw)

    short = [n for n in sizes if n <= _LONGEST]
    steps = len(samples) + len(KINDS) * len(sizes) + len(_LISTED) * (len(sizes) + 1) + len(short)
    progress = experiment.progress or (lambda *_: None)
    done = count()
    here = {"machine": {"name": platform.node()} | machine(), "rounds": _ROUNDS}

    def once(file: str, settings: dict[str, Any], make: Callable[[], Result]) -> Result:
        progress(f"times: {file}", next(done), steps)
        return results.once(file, here | settings, make)

    def decoders(kind: str, n: int) -> Timed:
        sentences = enough(n)

        def make() -> dict[str, Any]:
            return time_decoders(kind, n, sentences=sentences, rounds=_ROUNDS)._asdict()

        return Timed(**once(f"decoders/{kind}, {n}", {"sentences": sentences}, make))

    def projective(n: int) -> Projective:
        sentences, few = enough(n), few_of(n)

        def make() -> dict[str, Any]:
            return time_projective(n, sentences=sentences, few=few, rounds=_ROUNDS)._asdict()

        return Projective(**once(f"projective/{n}", {"sentences": sentences, "few": few}, make))

    def lists(
        file: str, name: str, graphs: Sequence[NDArray[Any]], ks: Sequence[int], **settings: Any
    ) -> list[Measured]:
        def make() -> list[dict[str, Any]]:
            return [
                asdict(time_lists(graphs, root, k, rounds=_ROUNDS))
                for root in reversed(get_args(Root))  # the paper's table is about "multi"
                for k in ks
            ]

        kept = once(file, settings | {"ks": list(ks), "sentences": len(graphs)}, make)
        words = fmean(len(scores) - 1 for scores in graphs)
        return [Measured(name, words, Lists(**one)) for one in kept]

    of_treebanks = []
    for treebank, [(graphs, settings)] in samples.items():
        name = treebank.name
        try:
            of_treebanks += lists(f"treebanks/{name}", name, graphs, ks, **settings)
        except OSError as error:
            reason = f"its times cannot be kept: {error.strerror or error}"
            experiment.left_out.append(LeftOut(name, reason, failed=True))
    of_decoders = [decoders(kind, n) for kind in KINDS for n in sizes]
    most = max(ks)
    more = (*ks, *(times * most for times in _TIMES))
    with_words, with_trees = [], []
    for kind in _LISTED:
        for n in sizes:
            graphs = [*batch_of(kind, n, _SENTENCES)]
            with_words += lists(f"lists/{kind}, {n}", kind, graphs, [most])
        graphs = [*batch_of(kind, _WORDS, _SENTENCES)]
        with_trees += lists(f"lists/{kind}, all k", kind, graphs, more)
    of_projective = [projective(n) for n in short]
    progress("times: all done", steps, steps)
    return Times(of_treebanks, of_decoders, with_words, with_trees, of_projective)
