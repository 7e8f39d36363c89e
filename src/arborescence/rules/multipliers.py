"""Lagrange multipliers of conflicts: a lower bound of a part where many cost a little each.

A cut says that a tree that keeps the rules has at most so many of some edges. Each has a price. For
any prices, a tree within the cuts weighs no more than the best tree when edges are charged, plus
what the cuts allow, at these prices. Prices rise where the best tree breaks a cut, and fall where
it has room (subgradient steps of Polyak's length).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.core.accumulator import BIAS_64, rounded_whole, whole_number
from arborescence.inference.decode import best_labels
from arborescence.rules.conflicts import against

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.rules.conflicts import Way
    from arborescence.rules.parts import Found, Part, Problem

#: So many decodes tighten the bound of all trees, and that of a part of them.
_STEPS_AT_FIRST: Final = 60
_STEPS: Final = 8
#: Sums of larger scores might overflow.
_LARGEST: Final = 1e100


class Cuts:
    """Inequalities of conflicts: of these edges, a tree that keeps the rules has at most so many.

    A tree that takes none of m alternatives has, for each of them, an edge into some word that is
    against it. So of the m sets of such edges, each into one word, a tree has edges of m - 1. Rules
    that may be broken at a cost give no cuts, and conflicts with more than `longest` alternatives
    weak and long ones, which are left out.
    """

    def __init__(self, shape: tuple[int, ...], longest: int) -> None:
        self.shape = shape
        self.longest = longest
        self.seen: set[bytes] = set()
        self.flat = self.of = np.empty(0, np.int64)  # edges (as one number each), and their cuts
        self.most = np.empty(0)

    def add(self, conflicts: list[Found], tree: Part) -> None:
        """Add the cuts of the conflicts of a tree."""
        for ways, _, cost in conflicts:
            if len(ways) > self.longest or cost is not None:
                continue
            sets = [self._edges_against(way, tree) for way in ways]
            flat = np.concatenate(sets)
            if flat.tobytes() not in self.seen:
                self.seen.add(flat.tobytes())
                self.flat = np.concatenate([self.flat, flat])
                self.of = np.concatenate([self.of, np.full(len(flat), len(self.most))])
                self.most = np.append(self.most, len(sets) - 1.0)

    def _edges_against(self, way: Way, tree: Part) -> NDArray[np.int64]:
        """Return edges into one word that are against an alternative, that of the tree too."""
        each = [(ban, against(ban, tree.heads, tree.labels)) for ban in way]
        (required, (heads, _, labels)), words = next(pair for pair in each if pair[1].any())
        word = 1 + int(np.argmax(words))
        edges = np.zeros(self.shape, np.bool_)
        edges[:, word] = required
        edges[np.ix_(heads, np.array([word]), labels)] = not required
        return np.flatnonzero(edges)

    def padded(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return prices of all cuts: 0 for those that are new."""
        return np.concatenate([prices, np.zeros(len(self.most) - len(prices))])

    def charges(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each edge is charged, (N, N, L)."""
        size = int(np.prod(self.shape))
        of_edges = np.bincount(self.flat, prices[self.of], minlength=size).astype(np.float64)
        return of_edges.reshape(self.shape)

    def counts(self, tree: Part) -> NDArray[np.float64]:
        """Return how many edges of each cut a tree has."""
        words = np.arange(1, len(tree.heads))
        flat = np.ravel_multi_index((tree.heads[1:], words, tree.labels[1:]), self.shape)
        has = np.isin(self.flat, flat)
        return np.bincount(self.of[has], minlength=len(self.most)).astype(np.float64)


def tighten(
    problem: Problem,
    part: Part,
    cuts: Cuts,
    known: int | None,
    answer: Callable[[Part, list[Found]], bool],
) -> Part | None:
    """Return a part with a lower bound, and the prices that prove it; None if it is empty.

    `known` is the highest weight of a tree that keeps the rules. `answer` is called with each tree
    that is found, and its conflicts, and says whether it keeps the rules.
    """
    masked = problem.masked(part)
    largest = float(np.abs(masked[np.isfinite(masked)]).max(initial=0.0))
    target = None if known is None else rounded_whole(known + part.due, BIAS_64)
    prices, kept, lowest, stride = part.prices, part.prices, np.inf, 1.0
    steps = _STEPS if part.bans else _STEPS_AT_FIRST
    for _ in range(steps if largest < _LARGEST and problem.sums_up else 0):
        prices = cuts.padded(prices)
        charged = masked - cuts.charges(prices)
        best = best_labels(charged, 1)
        tree = problem.tree(part, best, charged)
        if tree is None:
            return None
        # The rounding of sums of so many numbers of this size is less.
        size = len(tree.heads)
        rounding = 2.0**-50 * (size + len(prices)) * size * (largest + prices.sum())
        bound = float(best[tree.heads[1:], problem.words].sum() + prices @ cuts.most + rounding)
        if bound < lowest:
            lowest, kept = bound, prices
        else:
            stride *= 0.8
        if target is not None and lowest <= target:
            break
        conflicts = problem.conflicts_of(tree)
        if any(one.sure for one in conflicts):
            break
        if not answer(tree, conflicts):
            cuts.add(conflicts, tree)
        prices = cuts.padded(prices)
        over = cuts.counts(tree) - cuts.most
        length = float((over[(prices > 0) | (over > 0)] ** 2).sum())
        if not length:
            break
        gap = bound - (lowest - 1.0 if target is None else target)
        prices = np.maximum(0.0, prices + stride * gap / length * over)
    tight = part._replace(tight=True)
    if lowest < np.inf:
        lower = whole_number(lowest, BIAS_64) - part.due
        tight = tight._replace(bound=min(part.bound, lower), prices=kept)
    return tight
