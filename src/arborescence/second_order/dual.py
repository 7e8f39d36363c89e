"""The best second-order tree of any kind, by dual decomposition (Koo et al. 2010).

Finding it is NP-hard (McDonald and Satta 2007). Without the demand that the choices of the head
automata form a tree, it is easy; and so is finding a tree without siblings and grandparents. Prices
on edges make the two agree: the automata pay them, and the tree earns them. Whatever the prices,
the weight of the best choices plus that of the best tree is a bound on the weight of every tree.
Each round moves the prices against the disagreement, along the deflected subgradient of Camerini,
Fratta and Maffioli (1975), by the step of Polyak (1969). If the bound falls to the weight of a
tree, that is the best one.

Where the bound stays above, branch and bound may go on: an edge is required, and forbidden.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.core.faults import FINE
from arborescence.core.graph import ALL_WORDS
from arborescence.core.kernels import kernel
from arborescence.nonprojective.decode import decode_kernel
from arborescence.second_order.automata import Edges, run_automata
from arborescence.second_order.parts import find_nearer, weights_in
from arborescence.second_order.units import ABSENT, LOWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.second_order.units import Units

# Of the step to where the bound would be the best known weight, if it were linear. After so many
# rounds without a lower bound it shrinks. (The fastest of ten settings on random graphs.)
_STEP: Final = 1.3
_SHRINK: Final = 0.9
_PATIENCE: Final = 6
# How much a direction is deflected from the last one; Camerini et al. recommend 1.5.
_DEFLECTION: Final = 1.5
# How fast the average over the trees of all rounds forgets.
_FORGET: Final = 0.1


class Answer(NamedTuple):
    """What a search found, in units."""

    heads: NDArray[np.int64]
    """(N,)"""
    weight: int
    """Of these heads; at most LOWEST if a part is absent."""
    bound: int
    """No tree weighs more; at most LOWEST if there is no tree."""
    rounds: int
    prices: NDArray[np.int64]
    """(2, N, N): those at the lowest bound, before branching."""


class _Problem(NamedTuple):
    """A part of the trees: those of some of the edges."""

    bound: int
    scores: NDArray[np.int64]
    prices: NDArray[np.int64]
    branch: tuple[int, int]
    """An edge that some rounds had in their trees, and others not; (0, 0) if that is not needed."""


class Search:
    """A search for the best tree; the best one seen so far.

    Parameters
    ----------
    units, single
        The sentence, and whether exactly one edge leaves the root.
    rounds
        The largest number of rounds for each problem.
    heads : (N,) int64
        A tree to start from; its parts may be absent.
    most
        The search ends when it finds a tree that weighs more.
    """

    def __init__(
        self,
        units: Units,
        single: bool,
        rounds: int,
        heads: NDArray[np.int64],
        most: int = -ABSENT,
    ) -> None:
        self._units = units
        self._single = single
        self._rounds = rounds
        self._heads = heads
        self._weight = weight_in_units(units, heads)
        self._most = most
        self._done = 0

    def run(self, branches: int, prices: NDArray[np.int64] | None = None) -> Answer:
        """Search with at most so many branchings, from these prices on."""
        scores = self._units.scores
        if prices is None:
            present = np.where(scores > LOWEST, scores, 0)
            prices = np.stack([present, np.zeros_like(present)])
        first = self._solve(scores, prices)
        # Problems whose bound is above the best tree, the highest bound first.
        queue = [(-first.bound, 0, first)]
        many, closed = 1, ABSENT
        while queue and self._is_open(-queue[0][0]) and branches > 0:
            branches -= 1
            problem = heapq.heappop(queue)[2]
            for scores in _branch(problem, self._single):
                part = self._solve(scores, problem.prices)
                if self._is_open(part.bound):
                    heapq.heappush(queue, (-part.bound, many, part))
                    many += 1
                else:
                    closed = max(closed, part.bound)
        bound = max(closed, self._weight, -queue[0][0] if queue else ABSENT)
        return Answer(self._heads, self._weight, bound, self._done, first.prices)

    def _is_open(self, bound: int) -> bool:
        """Tell whether trees of this bound could be better than the best one, and matter."""
        return bound > self._weight + self._units.slack and self._weight <= self._most

    def _solve(self, scores: NDArray[np.int64], prices: NDArray[np.int64]) -> _Problem:
        """Bound the weight of the trees of these edges, and look for better ones among them."""
        units = self._units
        size = len(scores)
        edges = Edges.of(scores)
        chosen, tops = np.empty((size, size), np.bool_), np.empty(size, np.int64)
        direction, average = np.zeros((2, size, size)), np.zeros((size, size))
        earned, heads = np.empty((1, size, size)), np.empty(size, np.int64)
        prices, kept = prices.copy(), prices
        bound, step, stale = -ABSENT, _STEP, 0
        earn(scores, prices, earned[0])
        for _ in range(self._rounds):
            self._done += 1
            value = weight = ABSENT
            _, fault = decode_kernel(earned, False, ALL_WORDS, self._single, heads)
            if fault == FINE:
                value, weight = play(
                    scores, *units[1:3], *edges, self._single, prices, heads, chosen, tops
                )
            if value <= LOWEST:
                return _Problem(ABSENT, scores, kept, (0, 0))
            if weight > self._weight:
                self._heads, self._weight = heads.copy(), weight
            stale += 1
            if value < bound:
                bound, kept, stale = value, prices.copy(), 0
            elif stale == _PATIENCE:
                step, stale = step * _SHRINK, 0
            if bound < -units.limit:  # no tree weighs so little
                return _Problem(ABSENT, scores, kept, (0, 0))
            if not self._is_open(_multiple(bound, units.step)):
                break
            goal = self._weight if self._weight > LOWEST else value - units.limit // 8
            pull = step * float(value - goal)
            move(prices, direction, average, chosen, tops, heads, pull, 2 * units.limit)
            earn(scores, prices, earned[0])
        bound = _multiple(bound, units.step)
        branch = _doubtful(scores, average) if self._is_open(bound) else (0, 0)
        return _Problem(bound, scores, kept, branch)


def _multiple(bound: int, step: int) -> int:
    """Return the largest multiple of `step` that is not above the bound."""
    return bound // step * step


def weight_in_units(units: Units, heads: NDArray[np.int64]) -> int:
    """Return the weight of a tree in units; ABSENT if a part is absent. O(n)."""
    weights = weights_in(units, heads)
    return ABSENT if (weights <= LOWEST).any() else int(weights.sum())


def _doubtful(scores: NDArray[np.int64], average: NDArray[np.float64]) -> tuple[int, int]:
    """Return the edge whose share in the trees of the rounds is nearest to one half."""
    doubt = np.where(scores > LOWEST, np.abs(average - 0.5), np.inf)
    h, d = np.unravel_index(int(doubt.argmin()), doubt.shape)
    return int(h), int(d)


def _branch(problem: _Problem, single: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the scores with an edge required, and with it forbidden."""
    h, d = problem.branch
    required, forbidden = problem.scores.copy(), problem.scores.copy()
    forbidden[h, d] = ABSENT
    required[:, d] = ABSENT
    if single and h == 0:
        required[0] = ABSENT
    required[h, d] = problem.scores[h, d]
    return required, forbidden


@kernel
def earn(scores: np.ndarray, prices: np.ndarray, earned: np.ndarray) -> None:
    """Fill what a tree earns with each edge (N, N): whole numbers, so floats are exact. O(n²)."""
    size = scores.shape[0]
    for h in range(size):
        for d in range(size):
            earned[h, d] = -np.inf
            if scores[h, d] > LOWEST:
                earned[h, d] = prices[0, h, d] + prices[1, h, d]


@kernel
def play(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    modifiers: np.ndarray,
    counts: np.ndarray,
    above: np.ndarray,
    many: np.ndarray,
    single: bool,
    prices: np.ndarray,
    heads: np.ndarray,
    chosen: np.ndarray,
    tops: np.ndarray,
) -> tuple[int, int]:
    """Run the automata, and weigh the decoder's tree (N,).

    Returns the bound, ABSENT if an automaton has no choice, and the weight of the tree. The other
    parameters are those of `run_automata`, and so is the cost.
    """
    value = run_automata(
        scores,
        siblings,
        grandparents,
        modifiers,
        counts,
        above,
        many,
        single,
        prices,
        chosen,
        tops,
    )
    if value <= LOWEST:
        return ABSENT, ABSENT
    price, weight = weigh(scores, siblings, grandparents, prices, heads)
    return value + price, weight


@kernel
def weigh(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    prices: np.ndarray,
    heads: np.ndarray,
) -> tuple[int, int]:
    """Return what a tree earns, and its weight: ABSENT if a part is absent. O(n)."""
    size = heads.shape[0]
    nearer = np.zeros(size, np.int64)
    find_nearer(heads, nearer)
    price, weight = 0, 0
    for d in range(1, size):
        h = heads[d]
        price += prices[0, h, d] + prices[1, h, d]
        part = scores[h, d]
        if siblings.shape[0] > 0:
            part += siblings[h, d, nearer[d]]
        if grandparents.shape[0] > 0 and h > 0:
            part += grandparents[heads[h], h, d]
        weight = weight + part if min(weight, part) > LOWEST else ABSENT
    return price, weight


@kernel
def move(
    prices: np.ndarray,
    direction: np.ndarray,
    average: np.ndarray,
    chosen: np.ndarray,
    tops: np.ndarray,
    heads: np.ndarray,
    pull: float,
    limit: int,
) -> None:
    """Raise the prices of edges that the automata choose, lower those of the tree's edges. O(n²).

    Parameters
    ----------
    prices : (2, N, N) int64, changed
    direction : (2, N, N) float64, changed
        The last direction; 0 in the first round.
    average : (N, N) float64, changed
        How often edges were in the trees.
    chosen, tops
        From `run_automata`.
    heads : (N,) int64
        The tree.
    pull
        How far the bound should fall.
    limit
        The largest absolute price.
    """
    size = heads.shape[0]
    along, squares = 0.0, 0.0
    for h in range(size):
        for d in range(1, size):
            tree = heads[d] == h
            average[h, d] += _FORGET * (tree - average[h, d])
            along += (chosen[h, d] * 1.0 - tree) * direction[0, h, d]
            squares += direction[0, h, d] ** 2 + direction[1, h, d] ** 2
            if tops[d] >= 0:
                along += ((tops[d] == h) * 1.0 - tree) * direction[1, h, d]
    keep = -_DEFLECTION * along / squares if along < 0.0 else 0.0
    squares = 0.0
    for h in range(size):
        for d in range(1, size):
            tree = heads[d] == h
            direction[0, h, d] = keep * direction[0, h, d] + (chosen[h, d] * 1.0 - tree)
            if tops[d] >= 0:
                direction[1, h, d] = keep * direction[1, h, d] + ((tops[d] == h) * 1.0 - tree)
            squares += direction[0, h, d] ** 2 + direction[1, h, d] ** 2
    step = pull / squares if squares > 0.0 else 0.0
    for k in range(2):
        for h in range(size):
            for d in range(1, size):
                change = step * direction[k, h, d]
                wanted = prices[k, h, d] + min(max(change, -limit), limit)
                prices[k, h, d] = round(min(max(wanted, -limit), limit))
