"""Parts of all trees, each given by its bans; the best tree of a part, and its weight."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.budget import work_of
from arborescence.errors import NoTreeError, OptionError
from arborescence.inference.conflicts import (
    Conflict,
    against,
    check_cost,
    every_label,
    label,
    restrict,
    way_of,
)
from arborescence.inference.decode import best_labels, decode
from arborescence.inference.levels import LevelScale
from arborescence.system.lazy import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.core.budget import Budget
    from arborescence.inference.conflicts import Alternative, Ban, Heads, Way
    from arborescence.inference.levels import LeveledScores

    #: A tree (None: not found), its weight beyond its scores, and how much more a better tree may
    #: weigh.
    Decoded = tuple[Heads | None, float, float]
    Decoder = Callable[[NDArray[np.float64]], Decoded]
    #: The best score of each edge (N, N), and bits of the labels that are left (see `restrict`).
    Left = tuple[NDArray[np.float64], NDArray[np.uint64]]
    #: The name of a rule, and a word that breaks it.
    Site = tuple[str, int]


#: The work of one call of a user's decoder, in calls of `decode`.
_OTHER: Final = 10
#: The units of work to weigh one label of one edge.
_WEIGHING: Final = 2
#: Labels of all edges are weighed only if the budget is this many times the work of weighing them.
_WITHIN: Final = 4
#: The number of trees whose conflicts are kept: multipliers return to some trees.
_KNOWN_TREES: Final = 64


class Lazy(NamedTuple):
    """Weights of edges, and a function that weighs edges with each label only where needed."""

    #: (N, N): the weight of each edge
    edges: NDArray[Any]
    #: the number L of labels
    labels: int
    #: returns the weights (E, L) of E edges, given by their heads and dependents, with each label:
    #: the highest of an edge is the edge's weight, or all are -inf
    weigh: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[Any]]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the table: (N, N, L)."""
        return len(self.edges), len(self.edges), self.labels

    def table(self) -> NDArray[np.float64]:
        """Weigh all edges with each label: (N, N, L)."""
        table, edges = np.zeros(self.shape), pairs_of(len(self.edges))
        table[edges] = self.weigh(*edges)
        return table


@lru_cache(maxsize=16)
def pairs_of(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the heads and dependents of all edges among a number of nodes."""
    heads, words = np.nonzero(~np.eye(size, dtype=np.bool_))
    return heads[words > 0], words[words > 0]


class Part(NamedTuple):
    """A part of all trees, given by its bans, and the best tree of the part.

    Attributes
    ----------
    bound : int
        A bound of the weights of the part's trees, as a whole number.
    heads : (N,) int64
        The heads of the best tree; without meaning if `later`.
    labels : (N,) int64
        The labels of the best tree; without meaning if `later`.
    bans : tuple of Ban
        The bans that all trees of the part keep.
    prices : (C,) float64
        The prices of cuts (`multipliers`) that prove the bound.
    tight : bool
        Whether multipliers have tightened the bound.
    weight : int
        The weight of the best tree, without prices; without meaning if `later`.
    gap : int
        A bound of how much more another tree of the part may weigh.
    later : bool
        Whether the part is not decoded yet.
    paid : frozenset of (str, int)
        The rules, each with a word, that trees of the part may break.
    due : int
        The price of these rules, as a whole number.
    """

    bound: int
    heads: Heads
    labels: Heads
    bans: Way
    prices: NDArray[np.float64]
    tight: bool = False
    weight: int = 0
    gap: int = 0
    later: bool = False
    paid: frozenset[Site] = frozenset()
    due: int = 0

    @property
    def net(self) -> int:
        """The weight of the best tree, less the price of the rules that it breaks."""
        return self.weight - self.due


class Breach:
    """A conflict of a tree. If it has a `cost`, a tree may pay: once for a rule and a word."""

    def __init__(self, conflict: Conflict, problem: Problem, cost: int | None) -> None:
        self.site: Site = (conflict.rule, conflict.word)
        self.cost = cost
        self.size = len(conflict.alternatives)
        self.cut = False  # whether the conflict has a cut (`multipliers`)
        self._alternatives = conflict.alternatives
        self._way = problem.way

    @property
    def sure(self) -> bool:
        """Whether there is only one alternative, so that all trees must take it."""
        return self.size == 1 and self.cost is None

    @property
    @remembered
    def ways(self) -> list[Way]:
        """The alternatives, as bans, made when needed: most conflicts are only counted."""
        return [self._way(alternative) for alternative in self._alternatives]

    def checked(self, tree: Part) -> list[Way]:
        """Return the alternatives, as bans; raise OptionError if the tree takes one of them."""
        for number, way in enumerate(self.ways):
            if not any(against(banned, tree.heads, tree.labels).any() for banned in way):
                raise OptionError(
                    "conflicts(...) returned a conflict of which the tree takes the "
                    f"alternative {number}: {self._alternatives[number]}"
                )
        return self.ways


class Problem:
    """The trees of one sentence. Weights are whole numbers, so that nothing is rounded.

    Attributes
    ----------
    scores : (N, N, L) float64
        The scores of the edges that were weighed so far, with each label.
    best : (N, N) float64
        The highest score of each edge over labels.
    budget : Budget
        The budget of work for the sentence.
    nodes : int
        The number of trees decoded so far.
    lost : int or None
        A bound of the weights of trees that were left out, although they may keep the rules.
    """

    def __init__(
        self,
        scores: NDArray[np.float64] | Lazy,
        rules: Callable[[Heads, Heads], Sequence[Any]],
        decoder: Decoder | None,
        options: Any,
        budget: Budget,
        scale: LevelScale | None = None,
        ranked: LeveledScores | None = None,
    ) -> None:
        self.scale, self.ranked = scale or LevelScale(), ranked
        self._weigh = scores.weigh if isinstance(scores, Lazy) else None
        if isinstance(scores, Lazy):
            self.best = scores.edges.astype(np.float64)
            self.scores = scores = np.empty(scores.shape)  # unread where nothing is weighed
            self._weighed = np.zeros(self.best.shape, np.bool_)
        else:
            self.scores, self.best = scores, best_labels(scores, 1)
            self._weighed = np.ones(self.best.shape, np.bool_)
        self._edges = self.best.copy()
        # The labels of edges that a tree of any part may have.
        every = every_label(scores.shape[2])
        self._left = np.full((*self.best.shape, len(every)), every)
        self._any_banned = False
        self.rules = rules
        # Whether the weight of a tree is the sum of its scores.
        self.sums_up = decoder is None and ranked is None
        self.options = options
        self._decoder = decoder
        self.words = np.arange(1, len(scores))
        self.whole_number = self.scale.whole
        self._ways: dict[Any, Way] = {}
        self._conflicts: dict[tuple[bytes, bytes], list[Breach]] = {}
        self.costs: dict[Site, tuple[float, int]] = {}  # costs of broken rules, and their levels
        self.budget = budget
        self.nodes = 0
        self.lost: int | None = None

    @property
    @remembered
    def largest(self) -> float:
        """The largest absolute value of a score."""
        scores = self.rows(self._left, ...)
        return float(np.abs(scores, where=scores > -np.inf, out=np.zeros_like(scores)).max())

    def weigh(self, heads: NDArray[np.int64], words: NDArray[np.int64]) -> None:
        """Weigh the labels of some edges, if they were not weighed before; `best` stays."""
        new = ~self._weighed[heads, words]
        if self._weigh is not None and new.any():
            edges = heads[new], words[new]
            self.scores[edges] = self._weigh(*edges)
            self._weighed[edges] = True

    def weigh_all(self) -> bool:
        """Weigh the labels of all edges; return whether the budget was large enough."""
        if self._weigh is not None:
            work = _WEIGHING * self.scores.size
            if self.budget.left < _WITHIN * work:
                return False
            self.budget.spend(work)
            self.weigh(*pairs_of(len(self.best)))
            self.scores[~self._weighed] = 0  # loops, and edges into the root
            self.best = best_labels(self.rows(self._left, ...), 1)
            self._weigh = None
        return True

    def tell(
        self, kind: str, part: Part, below: list[tuple[Way, Part | None]], rule: str = ""
    ) -> None:
        """Report a step. Here nothing is reported; `Search` overrides the method."""

    def decode(self, best: NDArray[np.float64], **options: Any) -> Decoded:
        """Return the best tree by the scores of edges alone."""
        how = self.options | options
        self.budget.spend(work_of(len(best), projective=how["projective"]))
        return decode(best, **how), 0.0, 0.0

    def _decode(self, best: NDArray[np.float64]) -> Decoded:
        """Return the best tree, by the user's decoder if there is one."""
        if self._decoder is None:
            return self.decode(best)
        self.budget.spend(_OTHER * work_of(len(best), projective=self.options["projective"]))
        return self._decoder(best)

    def ban_everywhere(self, bans: Iterable[Ban]) -> None:
        """Take edges out of all parts, from now on."""
        for banned in bans:
            self._any_banned = True
            restrict(banned, self.scores, self._weighed, self._edges, self._left, self.best)

    def is_outdated(self, part: Part) -> bool:
        """Tell whether the tree of a part has edges that have been banned from all parts since."""
        if not self._any_banned:
            return False
        edges, labels = (part.heads[1:], self.words), part.labels[1:]
        left = self._left[(*edges, labels // 64)] >> (labels % 64).astype(np.uint64)
        return not bool((left & np.uint64(1)).all())

    def conflicts_of(self, part: Part) -> list[Breach]:
        """Return the conflicts of a part's tree; all trees must take a conflict's only alternative.

        The edges against such an alternative are banned from all parts.
        """
        tree = part.heads.tobytes(), part.labels.tobytes()
        if tree in self._conflicts:
            return self._conflicts[tree]
        if len(self._conflicts) > _KNOWN_TREES:
            self._conflicts.clear()
        conflicts = self._conflicts[tree] = []
        for each in self.rules(part.heads, part.labels):
            conflict = each if isinstance(each, Conflict) else Conflict(each)
            conflicts.append(Breach(conflict, self, self._cost(conflict)))
        sure = [conflict for conflict in conflicts if conflict.sure]
        if sure:
            bans = [banned for conflict in sure for banned in conflict.checked(part)[0]]
            self.ban_everywhere(bans)
            rules = ", ".join(sorted({conflict.site[0] for conflict in sure} - {""}))
            self.tell("everywhere", part, [((banned,), None) for banned in bans], rules)
        return conflicts

    def _cost(self, conflict: Conflict) -> int | None:
        """Return the cost of a conflict, as a whole number; None if trees must keep the rule."""
        if conflict.cost is None:
            return None
        cost = check_cost(conflict.cost, conflict.level)
        self.costs[conflict.rule, conflict.word] = cost, conflict.level
        return self.scale.price(cost, conflict.level)

    def way(self, alternative: Alternative) -> Way:
        """Return an alternative as bans."""
        forbid, require = edges = tuple(map(tuple, alternative))
        try:
            known = self._ways.get(edges)
        except TypeError:  # an array is not hashed
            return way_of(forbid, require, self.scores.shape)
        if known is None:
            known = self._ways[edges] = way_of(forbid, require, self.scores.shape)
        return known

    def left(self, bans: Way, before: Left | None = None) -> Left:
        """Return the edges that bans leave, of all edges or of the edges left `before`."""
        best, left = before or (self.best, self._left)
        if not bans:
            return best, left
        best, left = best.copy(), left.copy()
        for banned in bans:
            restrict(banned, self.scores, self._weighed, self._edges, left, best)
        return best, left

    def rows(self, left: NDArray[np.uint64], edges: Any) -> NDArray[np.float64]:
        """Return the scores of edges with each label, -inf for labels that are not left."""
        return np.where(self._are_left(left, edges), self.scores[edges], -np.inf)

    def _are_left(self, left: NDArray[np.uint64], edges: Any) -> NDArray[np.bool_]:
        """Tell which labels of edges are left."""
        bits = left[edges].astype("<u8", copy=False).view(np.uint8)
        labels = np.unpackbits(bits, axis=-1, count=self.scores.shape[2], bitorder="little")
        return labels.view(np.bool_)

    def masked(self, part: Part) -> NDArray[np.float64] | None:
        """Return the scores of the edges that a part may have, -inf for others.

        None if there is not enough budget to weigh the labels of all edges.
        """
        if not self.weigh_all():
            return None
        return self.rows(self.left(part.bans)[1], ...)

    def decoded(self, part: Part, bans: Way, left: Left | None = None) -> Part | None:
        """Return the part with these bans within another part, and its best tree; None if empty."""
        new: Any = {"bans": bans, "tight": False, "later": False}
        decoded = self.tree(part, *(left or self.left(bans)), **new)
        return decoded and decoded._replace(bound=min(part.bound, decoded.net + decoded.gap))

    def tree(
        self,
        part: Part,
        best: NDArray[np.float64],
        left: NDArray[np.uint64] | Callable[[Any], NDArray[np.float64]],
        decoder: Decoder | None = None,
        **new: Any,
    ) -> Part | None:
        """Return a part, with `new` entries, and with the best tree by given scores.

        `best` (N, N) has the highest score over labels. `left` has bits of the labels that are
        left, or is a function that returns the scores of edges with each label.
        """
        self.nodes += 1
        if -np.inf in best.max(axis=0).tolist()[1:]:  # a word without edges
            return None
        if self.ranked is not None and decoder is None and not callable(left):
            return self._ranked(part._replace(**new), left)
        while True:
            try:
                heads, beyond, more = (decoder or self._decode)(best)
            except NoTreeError:
                return None
            gap = self.whole_number(more)
            if heads is None:
                self.lose(gap - part.due)
                return None
            labels = np.full(len(heads), -1)
            if callable(left):
                left((heads[1:], self.words)).argmax(axis=-1, out=labels[1:])
                break
            self.weigh(heads[1:], self.words)
            if label(self.scores, left, heads, best, labels):
                break
        scores = self.scores[heads[1:], self.words, labels[1:]].tolist()
        weight = sum(map(self.whole_number, scores), self.whole_number(beyond))
        return part._replace(heads=heads, labels=labels, weight=weight, gap=gap, **new)

    def _ranked(self, part: Part, left: NDArray[np.uint64]) -> Part | None:
        """Return a part with its best tree, by lists of numbers."""
        assert self.ranked is not None  # noqa: S101 - asked before
        work = work_of(len(left), projective=self.options["projective"])
        self.budget.spend(_OTHER * work)
        try:
            heads, labels = self.ranked.best(self._are_left(left, ...), **self.options)
        except NoTreeError:
            return None
        weight = self.ranked.weight(heads, labels)
        return part._replace(heads=heads, labels=labels, weight=weight)

    def lose(self, bound: int) -> None:
        """Note that the search leaves out trees, whose weights are at most this bound."""
        self.lost = bound if self.lost is None else max(bound, self.lost)

    def bounds(self, part: Part) -> Callable[[Way], int | None]:
        """Return a function that bounds the trees of a part that take an alternative.

        The function returns None if there are no such trees. A tree has one edge into each word, so
        it weighs no more than the sum of the best edges.
        """
        left = self.masked(part)
        if left is None:  # without the labels' scores: no label weighs more than its edge
            left = self.left(part.bans)[0][..., None]
        best: list[float] = left.max(axis=(0, 2)).tolist()
        most = sum(map(self.whole_number, best[1:])) - part.due

        def bound_of(way: Way) -> int | None:
            less = 0
            for required, heads, words, labels in way:
                axes = (heads, words, labels) if left.shape[2] > 1 else (heads, words, [0])
                inside = left[np.ix_(*axes)].max(axis=(0, 2), initial=-np.inf) if required else ()
                for word, score in zip(words.tolist(), inside, strict=False):
                    if score == -np.inf:
                        return None
                    less = max(
                        less, self.whole_number(best[word]) - self.whole_number(float(score))
                    )
            return min(part.bound, most - less)

        return bound_of
