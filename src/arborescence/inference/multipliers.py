"""Lagrange multipliers of conflicts: a lower bound of a part where many conflicts cost a little.

A cut is a set of edges, with the largest number of them that a tree within the rules has. Each cut
has a price, which is charged for each of its edges. For any prices, a tree within the cuts weighs
no more than the best tree with charged edges, plus, for each cut, its price times its largest
number. The price of a cut rises if the best tree breaks the cut, and falls if the tree has fewer
edges of the cut (subgradient steps of Polyak's length).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.inference.conflicts import against, can_be_excluded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.inference.conflicts import Ban, Way
    from arborescence.inference.parts import Breach, Left, Part, Problem

#: The number of decodes that tighten the bound of a part, and of the part of all trees.
_STEPS: Final = (8, 60)
#: The number of edges of cuts that can be added up while a decode looks at one edge.
_FAST: Final = 4
#: Sums of larger scores might overflow.
_LARGEST: Final = 1e100


class Cuts:
    """Inequalities of conflicts: limits of the number of edges in a tree that keeps the rules.

    If a tree takes none of the m alternatives of a conflict, a word has an edge against each
    alternative. The set of all edges against an alternative into its word has at most one edge of a
    tree. A tree within the rules has at most m - 1 edges of the m sets. Rules with a cost give no
    cuts. Conflicts with more than `longest` alternatives are left out: their cuts are weak and
    long.
    """

    def __init__(self, shape: tuple[int, ...], longest: int) -> None:
        self.shape = shape
        self.longest = longest
        self.seen: set[object] = set()  # the bans and words of each cut, and its edges
        self._against: dict[tuple[int, int], tuple[Ban, NDArray[np.int64]]] = {}
        self.most = np.empty(0)
        # Edges without labels: heads and words, (2, P). The place of each edge in this list is in
        # `numbers`, (N, N); -1 if the edge is not in the list.
        self.pairs = np.empty((2, 0), np.int64)
        self.numbers = np.full(shape[:2], -1)
        # (2, E): for each edge of a cut, its place in an array (P, L), and its cut. There is room
        # for more edges, since to copy all edges for each tree takes longer than to decode.
        self.size = 0
        self._room = np.empty((2, 0), np.int64)

    @property
    def edges(self) -> NDArray[np.int64]:
        """For each edge of a cut, its place in an array (P, L), and its cut: (2, E)."""
        return self._room[:, : self.size]

    def add(self, conflicts: list[Breach], tree: Part) -> None:
        """Add the cuts of the conflicts of a tree."""
        new: list[NDArray[np.int64]] = []
        most: list[float] = []
        for breach in conflicts:
            if breach.cut or breach.size > self.longest or breach.cost is not None:
                continue
            breach.cut = True
            made_of = tuple(_against(way, tree) for way in breach.ways)
            kind = tuple((id(banned), word) for banned, word in made_of)
            if kind in self.seen:
                continue
            self.seen.add(kind)
            edges = np.concatenate([self._edges_against(*pair) for pair in made_of], axis=1)
            if edges.tobytes() not in self.seen:
                self.seen.add(edges.tobytes())
                new.append(edges)
                most.append(breach.size - 1.0)
        if new:
            cuts = np.arange(len(self.most), len(self.most) + len(new))
            heads, words, labels = np.concatenate(new, axis=1)
            places = self._rows(heads, words) * self.shape[-1] + labels
            first, self.size = self.size, self.size + len(places)
            if self.size > self._room.shape[1]:
                more = np.empty((2, self.size), np.int64)
                self._room = np.concatenate([self._room[:, :first], more], axis=1)
            self.edges[0, first:] = places
            self.edges[1, first:] = np.repeat(cuts, [edges.shape[1] for edges in new])
            self.most = np.append(self.most, most)

    def _rows(self, heads: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of edges in the list of pairs; new edges are added to it."""
        new = np.zeros(self.numbers.shape, np.bool_)
        new[heads, words] = self.numbers[heads, words] < 0
        pairs = np.array(np.nonzero(new))
        self.numbers[tuple(pairs)] = self.pairs.shape[1] + np.arange(pairs.shape[1])
        self.pairs = np.concatenate([self.pairs, pairs], axis=1)
        return self.numbers[heads, words]

    def _edges_against(self, banned: Ban, word: int) -> NDArray[np.int64]:
        """Return the banned edges into a word."""
        known = self._against.get((id(banned), word))  # the ban is kept, so its id stays its own
        if known is not None:
            return known[1]
        required, heads, _, labels = banned
        of_heads, of_labels = np.repeat(heads, len(labels)), np.tile(labels, len(heads))
        if required:
            others = np.ones(self.shape[::2], np.bool_)
            others[of_heads, of_labels] = False
            of_heads, of_labels = np.nonzero(others)
        edges = np.array([of_heads, np.full(len(of_heads), word), of_labels])
        self._against[id(banned), word] = banned, edges
        return edges

    def padded(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return prices of all cuts: 0 for new cuts."""
        return np.concatenate([prices, np.zeros(len(self.most) - len(prices))])

    def charges(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the charge for each of the `pairs` with each label, (P, L)."""
        size = self.pairs.shape[1], self.shape[-1]
        places, cuts = self.edges
        # `bincount` returns whole numbers if there is no edge.
        sums = np.bincount(places, prices[cuts], minlength=size[0] * size[1])
        return sums.astype(np.float64, copy=False).reshape(size)

    def counts(self, tree: Part) -> NDArray[np.float64]:
        """Return the number of edges of each cut that a tree has."""
        in_tree = np.zeros((self.pairs.shape[1], self.shape[-1]), np.bool_)
        rows = self.numbers[tree.heads[1:], np.arange(1, len(tree.heads))]
        in_tree[rows[rows >= 0], tree.labels[1:][rows >= 0]] = True
        places, cuts = self.edges
        has = in_tree.ravel()[places]
        return np.bincount(cuts[has], minlength=len(self.most)).astype(np.float64)


def tighten(
    problem: Problem,
    part: Part,
    cuts: Cuts,
    known: int | None,
    answer: Callable[[Part, list[Breach]], bool],
) -> Part | None:
    """Return a part with a lower bound, and the prices that prove the bound; None if it is empty.

    Without enough budget, the bound stays. `known` is the highest known weight of a tree that keeps
    the rules. `answer` is called with each tree that is decoded, and the tree's conflicts; it says
    whether the tree keeps the rules.
    """
    if not problem.weigh_all():
        return part._replace(tight=True)
    left = problem.left(part.bans)
    target = -np.inf if known is None else problem.scale.rounded(known + part.due)
    prices, kept, lowest, stride = part.prices, part.prices, np.inf, 1.0
    steps = _STEPS[not part.bans] * (problem.largest < _LARGEST)
    for _ in range(steps * problem.sums_up):
        if problem.budget.over:
            break
        prices = cuts.padded(prices)
        decoded = _charged(problem, part, cuts, prices, left)
        if decoded is None:
            return None
        tree, bound = decoded
        if bound < lowest:
            lowest, kept = bound, prices
        else:
            stride *= 0.8
        step = stride * (bound - (lowest - 1.0 if known is None else target))
        if lowest <= target or not _learned(problem, cuts, tree, answer):
            break
        moved = _moved(cuts, tree, cuts.padded(prices), step)
        if moved is None:
            break
        prices = moved
    tight = part._replace(tight=True)
    if lowest < np.inf:
        lower = problem.scale.whole(lowest) - part.due
        tight = tight._replace(bound=min(part.bound, lower), prices=kept)
    return tight


def _charged(
    problem: Problem, part: Part, cuts: Cuts, prices: NDArray[np.float64], left: Left
) -> tuple[Part, float] | None:
    """Return a part's best tree when edges are charged, and its bound of all trees of the part."""
    (best, labels), pairs = left, tuple(cuts.pairs)
    best = best.copy()
    problem.budget.spend((cuts.size + cuts.pairs.shape[1] * cuts.shape[-1]) // _FAST)
    charged = problem.rows(labels, pairs) - cuts.charges(prices)
    best[pairs] = charged.max(axis=-1)
    tree = problem.tree(part, best, partial(_rows, problem, labels, cuts.numbers, charged))
    if tree is None:
        return None
    # More than the rounding errors of the sums.
    size = len(tree.heads)
    rounding = 2.0**-50 * (size + len(prices)) * size * (problem.largest + prices.sum())
    of_cuts = (prices * cuts.most).sum()
    return tree, float(best[tree.heads[1:], problem.words].sum() + of_cuts + rounding)


def _learned(
    problem: Problem, cuts: Cuts, tree: Part, answer: Callable[[Part, list[Breach]], bool]
) -> bool:
    """Add the cuts of a tree's conflicts; False if a conflict has only one alternative."""
    conflicts = problem.conflicts_of(tree)
    if any(breach.sure for breach in conflicts):
        return False
    if not answer(tree, conflicts):
        cuts.add(conflicts, tree)
    return True


def _moved(
    cuts: Cuts, tree: Part, prices: NDArray[np.float64], step: float
) -> NDArray[np.float64] | None:
    """Return prices after a step against the cuts that a tree breaks; None if it breaks no cut."""
    over = cuts.counts(tree) - cuts.most
    length = float((over[(prices > 0) | (over > 0)] ** 2).sum())
    return np.maximum(0.0, prices + step / length * over) if length else None


def _against(way: Way, tree: Part) -> tuple[Ban, int]:
    """Return, for an alternative that a tree does not take, a ban and a word whose edge it bans."""
    if can_be_excluded(way):
        [banned] = way
        return banned, int(banned.words[0])
    each = ((banned, against(banned, tree.heads, tree.labels)) for banned in way)
    banned, words = next(pair for pair in each if pair[1].any())
    return banned, 1 + int(np.argmax(words))


def _rows(
    problem: Problem, left: Any, numbers: Any, charged: NDArray[np.float64], edges: Any
) -> NDArray[np.float64]:
    """Return the scores of edges with each label that is left, charged if the edges are in cuts."""
    rows, at = problem.rows(left, edges), numbers[edges]
    rows[at >= 0] = charged[at[at >= 0]]
    return rows
