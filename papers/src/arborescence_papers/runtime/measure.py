"""Times of decoders by sentence length, and of the k best trees by `kbest` and as published.

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

from arborescence.core.choices import Root
from arborescence.core.tree import root_count
from arborescence.errors import ScoresError
from arborescence.inference.kbest import kbest
from arborescence_papers.common.experiment import Results
from arborescence_papers.common.treebanks import LeftOut
from arborescence_papers.runtime.clock import machine, race
from arborescence_papers.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    EISNER,
    FALLBACK,
    GREEDY,
    N_RUNS,
    NAIVE,
    PROJECTIVE,
    REWEIGHTED,
    UNCONSTRAINED,
    count_worse,
)
from arborescence_papers.runtime.graphs import KINDS
from arborescence_papers.runtime.published import (
    CAMERINI,
    KBEST,
    KBEST_DEP,
    LEAVING_OUT,
    N_STARTS,
    kbest_published,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence_papers.common.experiment import Experiment
    from arborescence_papers.common.recipes import Recipe
    from arborescence_papers.common.scores import Scores

    Result = TypeVar("Result")
    #: The k best trees and their weights.
    List = tuple[NDArray[np.int64], NDArray[np.float64]]
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

#: The other ways to the best tree with one root edge.
ONE_ROOT: Final = (N_RUNS, FALLBACK, REWEIGHTED)
#: The name of `kbest`.
OURS: Final = "arborescence.kbest"
#: Who finds the k best trees: the algorithms with which the papers compare, theirs, and `kbest`.
CONTESTANTS: Final[Mapping[Root, tuple[str, ...]]] = {
    "multi": (CAMERINI, KBEST, OURS),
    "single": (N_STARTS, KBEST_DEP, LEAVING_OUT, OURS),
}
#: The algorithm of Zmigrod, Vieira and Cotterell (2021).
PAPERS: Final[Mapping[Root, str]] = {"multi": KBEST, "single": KBEST_DEP}


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
        The number of sentences for which the trees of each of `ONE_ROOT` are not optimal.
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
    {'n runs': 0, 'fallback': 0, 'reweighting': 0}
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
        worse={name: count_worse(batch, best, DECODERS[name](batch)) for name in ONE_ROOT},
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
    words : list of S ints
        The number of words of each sentence.
    seconds : dict of str to list of S floats
        The seconds of each of `CONTESTANTS`.
    calls : dict of str to list of S floats
        Their seconds for a sentence of one word, which has one tree, timed in turn with those
        above, because the speed of a machine varies. This is the overhead of a call: checking the
        input, allocating memory and passing arrays.
    unequal : int
        The number of sentences for which two find different lists.
    unfinished : int
        The number of sentences for which leaving trees out gave up.

    Examples
    --------
    >>> lists = Lists("multi", 10, [4, 5], {KBEST: [50.0, 70.0], OURS: [30.0, 50.0]},
    ...               {KBEST: [10.0, 10.0], OURS: [20.0, 20.0]}, unequal=0, unfinished=0)
    >>> lists.ratio(KBEST, OURS), lists.microseconds(OURS)
    (2.5, 20000000.0)
    """

    root: Root
    k: int
    words: list[int]
    seconds: dict[str, list[float]]
    calls: dict[str, list[float]]
    unequal: int
    unfinished: int

    def searches(self, name: str) -> NDArray[np.float64]:
        """Return the seconds without the overhead of a call: (S,)."""
        searches: NDArray[np.float64] = np.subtract(self.seconds[name], self.calls[name])
        return searches

    def ratio(self, slow: str, fast: str) -> float:
        """Return the ratio of total times without the overhead of a call."""
        return float(self.searches(slow).sum() / self.searches(fast).sum())

    def microseconds(self, name: str) -> float:
        """Return the mean microseconds per sentence, without the overhead of a call.

        At least 0.001, because the difference could be negative for very short searches.
        """
        return max(1e6 * float(self.searches(name).mean()), 1e-3)


class Measured(NamedTuple):
    """The times of lists, and the treebank or kind of graphs.

    Attributes
    ----------
    name : str
        A treebank, or a kind of graphs.
    lists : Lists
    """

    name: str
    lists: Lists

    @property
    def words(self) -> float:
        """The mean number of words per sentence."""
        return fmean(self.lists.words)


def time_lists(
    graphs: Sequence[NDArray[Any]],
    root: Root,
    k: int,
    *,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> Lists:
    """Time all contestants on the same sentences, in turn.

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
    >>> lists.words, lists.unequal, lists.unfinished, len(lists.seconds[OURS])
    ([3], 0, 0, 1)
    """
    names = CONTESTANTS[root]
    find: dict[str, Callable[..., List]] = {
        name: partial(kbest_published, k=k, name=name) for name in names if name != OURS
    }
    find[OURS] = lambda scores: kbest(scores, k, root=root)[:2]
    seconds, unequal, unfinished = [], 0, 0
    for scores in graphs:
        runners = [partial(find[name], one) for one in (scores, _ONE_WORD) for name in names]
        seconds.append(race(runners, rounds, clock))
        ours = find[OURS](scores)
        lists = {name: find[name](scores) for name in names}
        short = {name for name, (_, weights) in lists.items() if len(weights) < len(ours[1])}
        unfinished += LEAVING_OUT in short
        same = all(same_lists(one, ours) for one in lists.values())
        unequal += not same or not short <= {LEAVING_OUT}
    columns = list(map(list, zip(*seconds, strict=True)))
    return Lists(
        root,
        k,
        words=[len(scores) - 1 for scores in graphs],
        seconds=dict(zip(names, columns[: len(names)], strict=True)),
        calls=dict(zip(names, columns[len(names) :], strict=True)),
        unequal=unequal,
        unfinished=unfinished,
    )


def same_lists(one: List, other: List) -> bool:
    """Return whether two lists of trees agree as far as both go.

    The weights must, with a tolerance, because those of `kbest_published` are rounded more than
    once; and the trees that weigh more than the last one, in any order: it may tie with trees that
    are not in the list.
    """
    (heads, weights), (others, their_weights) = one, other
    m = min(len(weights), len(their_weights))
    if not np.allclose(weights[:m], their_weights[:m], rtol=1e-12, atol=0):
        return False
    above = np.count_nonzero(~np.isclose(weights[:m], weights[m - 1 : m], rtol=1e-12, atol=0))
    return sorted(heads[:above].tolist()) == sorted(others[:above].tolist())


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
        return [Measured(name, Lists(**one)) for one in kept]

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
