"""`kbest` beside the algorithm of Camerini et al.: Table 1 of *kbest*."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from arborescence.experiments.common.statistics import Interval, ratio_interval
from arborescence.experiments.runtime.clock import race
from arborescence.inference.kbest import kbest
from arborescence.nonprojective.camerini import kbest_by_camerini

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.core.graph import Root

    Item = TypeVar("Item")
    Key = TypeVar("Key", bound=Hashable)

_ONE_WORD: Final = np.zeros((2, 2), np.float32)


@dataclass(frozen=True)
class Lists:
    """How long the k best trees of S sentences take, one call each.

    Attributes
    ----------
    root : {"multi", "single"}
    k : int
    ours, theirs : list of S floats
        Seconds of `kbest` and of `kbest_by_camerini`.
    our_calls, their_calls : list of S floats
        Seconds of both for a sentence of one word, which has one tree, taken by turns with those
        above: a machine may be slower for a while. That is what a call takes besides the search:
        the input is checked, and memory and some eighty arrays are handed over.
    unequal : int
        Sentences for which the two do not find trees of the same weights.

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
        """How many times as fast as theirs our calls are, over all sentences."""
        return sum(self.theirs) / sum(self.ours)

    @property
    def searches(self) -> NDArray[np.float64]:
        """The seconds without those of a call, (2, S): ours and theirs."""
        calls = np.array([self.our_calls, self.their_calls])
        searches: NDArray[np.float64] = np.array([self.ours, self.theirs]) - calls
        return searches

    @property
    def speed_up(self) -> float:
        """How many times as fast as theirs our search is, without what a call takes."""
        ours, theirs = self.searches.sum(axis=1).tolist()
        return float(theirs / ours)

    @cached_property
    def interval(self) -> Interval:
        """Where the speed-up probably lies for other such sentences."""
        ours, theirs = self.searches
        return ratio_interval(theirs, ours)

    @property
    def microseconds(self) -> tuple[float, float]:
        """Those of a sentence, on average, without those of a call: ours and theirs.

        No less than a thousandth: where there is next to nothing to do, the difference could be
        negative.
        """
        ours, theirs = (1e6 * self.searches.mean(axis=1)).clip(1e-3).tolist()
        return ours, theirs


class Measured(NamedTuple):
    """Lists, and whose.

    Attributes
    ----------
    name : str
        A treebank, or a kind of graphs.
    words : float
        How many a sentence has, on average.
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
    """Time both algorithms on the same sentences, by turns.

    Parameters
    ----------
    graphs
        The scores of each sentence, (n + 1, n + 1).
    root
        Whether exactly one edge may leave the root, or one or more.
    k
        How many trees.
    rounds
        How often each call is timed; the least counts.
    clock
        Tells seconds.

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
    """Tell if weights agree; Camerini's are rounded more than once."""
    return len(weights) == len(others) and np.allclose(weights, others, rtol=1e-12, atol=0)


def grouped(measured: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group what was measured, in the order in which it comes.

    Examples
    --------
    >>> grouped([5, 2, 4], lambda number: number % 2 == 0)
    {False: [5], True: [2, 4]}
    """
    groups: dict[Key, list[Item]] = {}
    for item in measured:
        groups.setdefault(key(item), []).append(item)
    return groups
