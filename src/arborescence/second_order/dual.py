"""The best second-order tree of any kind, by dual decomposition (Koo et al. 2010).

This problem is NP-hard (McDonald and Satta 2007). It has two easy parts: the best choices of the
head automata, if these need not form a tree; and the best tree without siblings and grandparents.
Prices on edges make the two parts agree: the automata pay the prices, and the tree earns them. For
any prices, the weight of the best choices plus the weight of the best tree is a bound on the weight
of every tree. Each round moves the prices against the disagreement, along the deflected subgradient
of Camerini, Fratta and Maffioli (1975), by the step of Polyak (1969). If the bound falls to the
weight of a tree, this tree is the best tree. `solve` does all rounds for several sentences.

If the bound stays above, branch and bound may go on: an edge is required, and then forbidden.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import kernel, never_negative, takes, uncounted_kernel
from arborescence.core.faults import FINE, NOT_GREEDY
from arborescence.nonprojective.decode import solve as decode_others
from arborescence.nonprojective.forest import Forest, new_forest
from arborescence.nonprojective.greedy import Greedy, decode_greedily, new_greedy
from arborescence.second_order.automata import ChildChoices, new_choices, run_automata
from arborescence.second_order.edges import (
    LISTED,
    EdgeParts,
    Listed,
    ceilings_of,
    indexed,
    weigh,
    without_hopeless,
)
from arborescence.second_order.units import ABSENT, LOWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.second_order.units import Scale

# A fraction of the step after which a linear bound would equal the best known weight; the factor by
# which this fraction shrinks; and the number of rounds without a lower bound before it shrinks.
# (The fastest of ten settings on random graphs.)
_STEP: Final = 1.3
_SHRINK: Final = 0.9
_PATIENCE: Final = 6
# The deflection of a direction from the last direction; Camerini et al. recommend 1.5.
_DEFLECTION: Final = 1.5
# The weight of the newest tree in the average over the trees of all rounds.
_FORGET: Final = 0.1


class Answer(NamedTuple):
    """The result of a search, in units."""

    #: (N,): the best tree seen
    heads: NDArray[np.int64]
    #: the weight of the tree; at most LOWEST if a part is absent
    weight: int
    #: no tree weighs more; at most LOWEST if there is no tree
    bound: int
    #: the number of rounds done
    rounds: int
    #: (2, E): the prices at the lowest bound, before branching
    prices: NDArray[np.int64]


class DualProblem(NamedTuple):
    """A subset of the trees: the trees that have only some of the edges."""

    #: no tree of the subset weighs more
    bound: int
    #: (E,): the scores of these edges; ABSENT for other edges
    scores: NDArray[np.int64]
    #: (2, E): the prices at the lowest bound
    prices: NDArray[np.int64]
    #: the edge for branching: in the trees of about half of the rounds; -1 if it is not needed
    branch: int


class DualSearch:
    """A search for the best tree, with the best tree so far.

    Parameters
    ----------
    listed, units
        The edges of a sentence, and their units.
    single
        Whether exactly one edge leaves the root.
    rounds
        The largest number of rounds for each problem.
    heads : (N,) int64
        A tree to start from.
    weight
        The weight of this tree; ABSENT if it has absent parts, or if there is no such tree.
    most
        The search ends when it finds a tree that weighs more.
    """

    def __init__(
        self,
        listed: Listed,
        units: Scale,
        single: bool,
        rounds: int,
        heads: NDArray[np.int64],
        weight: int,
        most: int = -ABSENT,
    ) -> None:
        self._listed = listed
        self._units = units
        self._single = single
        self._rounds = rounds
        self._heads = heads
        self._weight = weight
        self._most = most
        self._done = 0

    def solve(self, scores: NDArray[np.int64], prices: NDArray[np.int64]) -> DualProblem:
        """Bound the weight of the trees of these edges, and look for better trees among them."""
        listed, units = self._listed, self._units
        ends = np.array([[0] * 4, [len(self._heads), *map(len, (scores, *listed[3:]))]])
        heads, prices = self._heads.copy(), prices.copy()
        result = np.array([[self._weight, 0, 0, 0]])
        solve(
            ends,
            listed._replace(scores=scores),
            self._single,
            self._rounds,
            np.array([[units.limit, units.step, units.slack]]),
            self._most,
            heads,
            prices,
            result,
        )
        self._weight, bound, branch, rounds = result[0].tolist()
        self._heads = heads
        self._done += rounds
        return DualProblem(bound, scores, prices, branch)

    def run(self, branches: int, first: DualProblem) -> Answer:
        """Search with at most `branches` branchings, from `first`, the problem of all trees."""
        # Problems whose bound is above the best tree, the highest bound first.
        queue = [(-first.bound, 0, first)]
        many, closed = 1, ABSENT
        while queue and self._is_open(-queue[0][0]) and branches > 0:
            branches -= 1
            problem = heapq.heappop(queue)[2]
            for scores in self._branch(problem):
                part = self.solve(scores, problem.prices)
                if self._is_open(part.bound):
                    heapq.heappush(queue, (-part.bound, many, part))
                    many += 1
                else:
                    closed = max(closed, part.bound)
        bound = max(closed, self._weight, -queue[0][0] if queue else ABSENT)
        return Answer(self._heads, self._weight, bound, self._done, first.prices)

    def _is_open(self, bound: int) -> bool:
        """Tell whether trees of this bound may be better than the best tree, and are needed."""
        return bound > self._weight + self._units.slack and self._weight <= self._most

    def _branch(self, problem: DualProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the scores with an edge required, and with the edge forbidden."""
        modifiers, roots = self._listed.modifiers, self._listed.firsts[1]
        edge, scores = problem.branch, problem.scores
        required, forbidden = scores.copy(), scores.copy()
        forbidden[edge] = ABSENT
        required[modifiers == modifiers[edge]] = ABSENT
        if self._single and edge < roots:
            required[:roots] = ABSENT
        required[edge] = scores[edge]
        return required, forbidden


def first_prices(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the initial prices, (2, E): the tree earns the scores."""
    present = np.where(scores > LOWEST, scores, 0)
    return np.stack([present, np.zeros_like(present)])


@kernel
@takes(
    f"int64[:, ::1], {LISTED}, bool, int64, int64[:, ::1], int64, out int64[::1], "
    "out int64[:, ::1], out int64[:, ::1]"
)
def solve(
    ends: np.ndarray,
    listed: Listed,
    single: bool,
    rounds: int,
    limits: np.ndarray,
    most: int,
    heads: np.ndarray,
    prices: np.ndarray,
    results: np.ndarray,
) -> None:
    """Run the rounds of several sentences, for m edges a word: at most O(n m³) a round.

    Without grandparents, a round takes O(n m²). The tree takes O(n²).

    - ends: (B + 1, 4): where the nodes, edges, pairs and grandparents of each sentence begin
    - listed: of all sentences in a row; the edges of each sentence are numbered from 0
    - single, rounds, most: as for `DualSearch`
    - limits: (B, 3): the fields limit, step and slack of each sentence's units
    - heads: (N,), changed: the best known trees, in a row
    - prices: (2, E), changed: the initial prices, and in the end the prices at the lowest bound
    - results: (B, 4), changed: the weight of the best known tree (ABSENT if there is none), the
      bound (ABSENT if no tree exists), the edge for branching (-1 if it is not needed), and the
      number of rounds done
    """
    firsts, modifiers, scores, pairs, grandparents = listed
    for b in range(results.shape[0]):
        node, edge, pair, third = ends[b]
        last, stop, no_pair, no_third = ends[b + 1]
        edges = indexed(
            firsts[2 * node + b : 2 * last + b + 1],
            modifiers[edge:stop],
            scores[edge:stop],
            pairs[pair:no_pair],
            grandparents[third:no_third],
            single,
        )
        solve_one(
            edges,
            single,
            rounds,
            limits[b],
            most,
            heads[node:last],
            prices[:, edge:stop],
            results[b],
        )


class Work(NamedTuple):
    """Scratch arrays of the rounds of a sentence."""

    #: (1, N, N) float64: the tree's income from each edge
    earned: np.ndarray
    #: (1, N) int64: the decoder's tree
    tree: np.ndarray
    #: (0,) int64, for the decoder: the sentence is not padded
    lengths: np.ndarray
    #: for the decoder: the greedy graph
    greedy: Greedy
    #: for the decoder: the contraction forest
    forest: Forest


@kernel
def new_work(size: int) -> Work:
    """Allocate the arrays for a sentence of `size` nodes."""
    earned = np.full((1, size, size), -np.inf)
    greedy = new_greedy(earned, size - 1)
    return Work(
        earned=earned,
        tree=np.empty((1, size), np.int64),
        lengths=np.empty(0, np.int64),
        greedy=greedy,
        forest=new_forest(greedy.best, size - 1),
    )


@uncounted_kernel
def find_tree(work: Work, single: bool) -> bool:
    """Find the best tree by the income from edges; return whether a tree exists. O(n²)."""
    _, fault, shift = decode_greedily(
        work.earned, False, work.lengths, single, work.tree, 0, work.greedy
    )
    if fault == NOT_GREEDY:
        _, fault = decode_others(
            work.earned, False, work.lengths, single, work.tree, 0, shift, work.greedy, work.forest
        )
    return fault == FINE


@kernel
def solve_one(
    every: EdgeParts,
    single: bool,
    rounds: int,
    limits: np.ndarray,
    most: int,
    heads: np.ndarray,
    prices: np.ndarray,
    result: np.ndarray,
) -> None:
    """Run the rounds of a sentence; parameters as for `solve`."""
    limit, unit, slack = limits
    size = heads.shape[0]
    work = new_work(size)
    weight, bound, branch, rounds_done = result[0], ABSENT, -1, 0
    ceilings = ceilings_of(every, single)
    fine = True
    if weight <= LOWEST:
        # Start with the best tree if each edge had its best sibling and grandparent.
        for e in range(every.heads.shape[0]):
            if ceilings.totals[e] > LOWEST:
                work.earned[0, every.heads[e], every.modifiers[e]] = ceilings.totals[e]
        fine = find_tree(work, single)
        if fine:
            heads[:] = work.tree[0]
            _, weight = weigh(every, prices.copy(), heads, single)
        work.earned[:] = -np.inf
    origin = np.empty(every.heads.shape[0], np.int64)
    edges = without_hopeless(every, ceilings, weight, single, origin)
    many = edges.heads.shape[0]
    current, best_prices = np.empty((2, many), np.int64), np.empty((2, many), np.int64)
    for e in range(many):
        for k in range(2):
            current[k, e] = best_prices[k, e] = prices[k, origin[e]]
    direction, average = np.zeros((2, many)), np.zeros(many)
    choices = new_choices(edges)
    if fine:
        bound = -ABSENT
    step, stale = _STEP, 0
    while fine and rounds_done < rounds:
        rounds_done += 1
        for e in range(many):
            work.earned[0, edges.heads[e], edges.modifiers[e]] = current[0, e] + current[1, e]
        value = ABSENT
        if find_tree(work, single):
            value = run_automata(edges, single, current, choices)
        if value <= LOWEST:
            bound = ABSENT
            break
        price, of_tree = weigh(edges, current, work.tree[0], single)
        value += price
        if of_tree > weight:
            heads[:] = work.tree[0]
            weight = of_tree
        stale += 1
        if value < bound:
            bound, stale = value, 0
            best_prices[:] = current
        elif stale == _PATIENCE:
            step, stale = step * _SHRINK, 0
        if bound < -limit:  # every tree weighs more, so there is no tree
            bound = ABSENT
            break
        if bound // unit * unit <= weight + slack or weight > most:
            break
        goal = weight if weight > LOWEST else value - limit // 8
        pull = step * float(value - goal)
        move(edges, current, direction, average, choices, work.tree[0], pull, 2 * limit)
    if bound > LOWEST:
        bound = bound // unit * unit
        if bound > weight + slack and weight <= most:
            branch = origin[doubtful(average)]
    for e in range(many):
        for k in range(2):
            prices[k, origin[e]] = best_prices[k, e]
    result[0], result[1], result[2], result[3] = weight, bound, branch, rounds_done


@kernel
def doubtful(average: np.ndarray) -> int:
    """Return the edge whose share in the trees of the rounds is nearest to one half."""
    best = 0
    for e in range(average.shape[0]):
        if abs(average[e] - 0.5) < abs(average[best] - 0.5):
            best = e
    return best


@uncounted_kernel
@never_negative
def move(
    edges: EdgeParts,
    prices: np.ndarray,
    direction: np.ndarray,
    average: np.ndarray,
    choices: ChildChoices,
    heads: np.ndarray,
    pull: float,
    limit: int,
) -> None:
    """Raise the prices of edges that automata choose, and lower the tree's prices. O(1) an edge.

    `prices` (2, E), `direction` (2, E), the last direction (0 in the first round), and `average`
    (E,), the share of recent trees that have an edge, are changed. `choices` are from
    `run_automata`; the automata whose prices change are marked. `heads` (N,) is the tree, `pull` is
    how far the bound should fall, and `limit` is the largest absolute price.
    """
    along, squares = 0.0, 0.0
    for e in range(average.shape[0]):
        d = edges.modifiers[e]
        tree = 1.0 if heads[d] == edges.heads[e] else 0.0
        average[e] += _FORGET * (tree - average[e])
        along += (choices.chosen[e] - tree) * direction[0, e]
        squares += direction[0, e] ** 2 + direction[1, e] ** 2
        if choices.tops[d] >= 0:
            along += ((choices.tops[d] == e) - tree) * direction[1, e]
    keep = -_DEFLECTION * along / squares if along < 0.0 else 0.0
    squares = 0.0
    for e in range(average.shape[0]):
        d = edges.modifiers[e]
        tree = 1.0 if heads[d] == edges.heads[e] else 0.0
        direction[0, e] = keep * direction[0, e] + (choices.chosen[e] - tree)
        if choices.tops[d] >= 0:
            direction[1, e] = keep * direction[1, e] + ((choices.tops[d] == e) - tree)
        squares += direction[0, e] ** 2 + direction[1, e] ** 2
    step = pull / squares if squares > 0.0 else 0.0
    for k in range(2):
        for e in range(average.shape[0]):
            change = step * direction[k, e]
            wanted = prices[k, e] + min(max(change, -limit), limit)
            price = round(min(max(wanted, -limit), limit))
            if price != prices[k, e]:
                if k == 0:
                    choices.falls[edges.heads[e]] += max(prices[0, e] - price, 0)
                prices[k, e] = price
                choices.moved[edges.heads[e] if k == 0 else edges.modifiers[e]] = True
