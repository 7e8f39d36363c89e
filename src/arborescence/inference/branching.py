"""The best tree that keeps rules, with a certificate: branch and bound on conflicts, best first.

Riedel and Clarke (2006, *Incremental Integer Linear Programming for Non-projective Dependency
Parsing*) add the constraints that a tree breaks, one after the other; Martins, Smith and Xing
(2009, *Concise Integer Linear Programming Formulations for Dependency Parsing*) give them all at
once. Here the relaxed problem is an exact decoder, and a conflict is branched on (Land and Doig
1960). Where many conflicts each cost a little, Lagrange multipliers add up their costs.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.accumulator import BIAS_64, rounded_whole
from arborescence.errors import NoTreeError, StoppedError
from arborescence.inference.charging import repaired
from arborescence.inference.conflicts import Alternative, Edges, can_be_excluded
from arborescence.inference.multipliers import Cuts, tighten
from arborescence.inference.parts import Part, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from arborescence.inference.conflicts import Heads, Way
    from arborescence.inference.parts import Breach, Left

#: So many nodes are branched on before the bounds of nodes are tightened by multipliers.
_PATIENCE: Final = 12
#: Of more alternatives, those that require edges are decoded only when no other part has a higher
#: bound. As a cut, they are weak, and long.
_MANY: Final = 8
#: After so many, a tree that keeps the rules is looked for: the better it is, the more is pruned.
_REPAIRS: Final = (16, 64, 256)


class Due(NamedTuple):
    """What a tree pays for a rule or a demand that it does not keep, because of a word."""

    name: str
    word: int
    price: float
    level: int = 0


class Solution(NamedTuple):
    """A tree that keeps the rules, and what is known about how good it is.

    Attributes
    ----------
    heads : (n + 1,) int64
        The head vector.
    labels : (n + 1,) int64, or None
        The labels of the edges, if the scores are labeled; -1 for the root.
    weight : float
        The exact sum of its scores, less what it pays, rounded once.
    bound : float
        No tree that keeps the rules (and is not among those before) has a higher weight, if it pays
        as much at each level; infinite, if one that pays less may exist.
    certified : bool
        Whether no other such tree has a higher weight. Without rounding: if it is false, `bound`
        may still be equal to `weight`.
    nodes : int
        The number of trees decoded until it was known.
    paid : float
        What it pays in units of scores.
    levels : tuple of int
        What it pays at each level above the scores, the highest level first.
    dues : tuple of Due
        What it pays for what, votes aside.
    """

    heads: Any
    labels: Any
    weight: float
    bound: float
    certified: bool
    nodes: int
    paid: float = 0.0
    levels: tuple[int, ...] = ()
    dues: tuple[Due, ...] = ()


class Event(NamedTuple):
    """What a search has just done with a part of all trees.

    Attributes
    ----------
    kind : str
        ``"first-tree"``: all trees, to begin with. ``"conflict"``: the part was divided.
        ``"repair"``: the best one when edges of conflicts are charged. ``"keeps-rules"``: a tree
        does, or pays. ``"again"``: the part was decoded again. ``"later"``: for the first time.
        ``"multipliers"`` have lowered its bound. ``"everywhere"``: bans of all parts. ``"tree"``:
        the result, or ``"limit"`` if it is not certified.
    part : Part
    below : list of (bans, Part or None)
        What came of it, None where there is no tree. Of ``"everywhere"`` the bans only.
    waiting : list of Part
        The other parts on the heap.
    nodes : int
        The number of trees decoded so far.
    rule : str
        The name of the rule that is broken, if it has one.
    """

    kind: str
    part: Part
    below: list[tuple[Way, Part | None]]
    waiting: list[Part]
    nodes: int
    rule: str = ""


class Search(Problem):
    """The search in one sentence."""

    watch: Callable[[Event], None] | None = None

    def run(self, k: int, *, by_heads: bool, banned: bool) -> list[Solution]:
        """Return the k best trees that keep the rules; see `solve`.

        `banned` tells whether edges are banned from the start.
        """
        # Entries are (-bound, 0 for a tree that keeps the rules and 1 for others, number, part).
        self.heap: list[tuple[int, int, int, Part]] = []
        self.numbers = count()
        self.known: int | None = None  # the highest weight of a tree that keeps the rules
        self.by_heads, self.branched = by_heads, 0
        first = self.first(banned=banned)
        cuts = Cuts(self.scores.shape, _MANY)
        found: dict[tuple[bytes, bytes], Solution] = {}
        half = self.budget.left / 2
        while self.heap and len(found) < k and (self.heap[0][1] == 0 or self.goes_on(half)):
            _, kind, _, node = heappop(self.heap)
            if kind == 0:
                tree = node.heads.tobytes(), b"" if by_heads else node.labels.tobytes()
                if tree not in found:
                    found[tree] = self.result(node, node.bound)
            else:
                self.go_on(node, first, cuts, split=k > 1)
        if not found and (not self.heap or not (found := self.uncertified(first))):
            raise NoTreeError("no tree keeps the rules: loosen them, or let more edges be present")
        return list(found.values())

    def go_on(self, node: Part, first: Part, cuts: Cuts, *, split: bool) -> None:
        """Lower the bound of a node, or divide it; now and then look for a tree of it."""
        if self.branched >= _PATIENCE and not (node.tight or node.later):
            tight = tighten(self, node, cuts, self.known, self.answer)
            if tight is not None:
                self.tell("multipliers", node, [(node.bans, tight)])
                self.push(tight)
            return
        self.branched += 1
        if self.branched in _REPAIRS:
            self.repair(first if self.branched == _REPAIRS[0] else node)
        self.branch(node, split=split)

    def first(self, *, banned: bool) -> Part:
        """Return all trees that the edges which are left make, with the best of them; push it."""
        first = self.tree(Part(0, self.words, self.words, (), np.empty(0)), *self.left(()))
        if first is None:
            if not banned:
                self.decode(self.best)  # says why there is none
            raise NoTreeError("no tree has the required edges and none of the forbidden ones")
        first = first._replace(bound=self.weight(first) + first.gap)
        self.tell("first-tree", first, [])
        self.push(first)
        return first

    def goes_on(self, half: float) -> bool:
        """Tell whether there is budget for the proof; half of it, if no tree is known yet."""
        return not self.budget.over and (self.known is not None or self.budget.left >= half)

    def uncertified(self, first: Part) -> dict[tuple[bytes, bytes], Solution]:
        """Return the best tree known to keep the rules; search for one if need be.

        The deepest node has the fewest conflicts left.
        """
        if self.known is None and not self.budget.over:
            self.repair(first)
        while self.known is None and self.heap:
            if self.budget.over:
                raise StoppedError(
                    f"none of the {self.nodes} trees tried keeps the rules, and there are more: "
                    "give more budget, or loosen the rules"
                )
            deepest = max(self.heap, key=lambda entry: (len(entry[3].bans), -entry[0]))
            self.heap.remove(deepest)
            self.branch(deepest[3], dive=True, split=False)
        answers = [entry for entry in self.heap if entry[1] == 0]
        if not answers:
            return {}
        return {(b"", b""): self.result(min(answers)[3], -min(self.heap)[0])}

    def result(self, node: Part, bound: int) -> Solution:
        """Return the tree of a node, whose bound is its weight, as a result."""
        bound = bound if self.lost is None else max(bound, self.lost)
        certified = bound == node.bound
        self.tell("tree" if certified else "limit", node, [])
        (gains, weight), (most_gains, most) = map(self.scale.split, (node.bound, bound))
        dues = tuple(Due(*site, *self.costs[site]) for site in sorted(node.paid))
        return Solution(
            node.heads,
            node.labels,
            rounded_whole(weight, BIAS_64),
            rounded_whole(most, BIAS_64) if most_gains == gains else np.inf,
            certified,
            self.nodes,
            rounded_whole(self.scale.split(node.due)[1], BIAS_64),
            tuple(-gain for gain in gains),
            dues,
        )

    def tell(
        self, kind: str, part: Part, below: list[tuple[Way, Part | None]], rule: str = ""
    ) -> None:
        """Report what was done to whoever watches."""
        if self.watch is not None:
            waiting = [entry[3] for entry in self.heap]
            self.watch(Event(kind, part, below, waiting, self.nodes, rule))

    def push(self, node: Part) -> None:
        """Put a node on the heap."""
        heappush(self.heap, (-node.bound, 1, next(self.numbers), node))

    def answer(self, node: Part, conflicts: list[Breach]) -> bool:
        """Put the tree of a node on the heap, if it keeps all rules that must be kept.

        It pays for the others that it breaks, and only for these.
        """
        costs = {one.site: one.cost for one in conflicts if one.cost is not None}
        if any(one.cost is None for one in conflicts):
            return False
        answer = node._replace(paid=frozenset(costs), due=sum(costs.values()))
        answer = answer._replace(bound=self.weight(answer))
        self.tell("keeps-rules", node, [(node.bans, answer)])
        heappush(self.heap, (-answer.bound, 0, next(self.numbers), answer))
        self.known = answer.bound if self.known is None else max(self.known, answer.bound)
        return True

    def branch(self, node: Part, *, split: bool, dive: bool = False) -> None:
        """Push the parts of a node on the heap; if `dive`, divide the best of them in turn."""
        going: Part | None = node
        while going is not None:
            if self.budget.over:
                self.push(going)
                return
            below = self.parts(going, split)
            going = max(below, key=lambda part: part.bound) if dive and below else None
            for part in below:
                if part is not going:
                    self.push(part)

    def repair(self, node: Part) -> None:
        """Look for a tree of a node that keeps the rules, perhaps not the best, and push it."""
        tree = repaired(self, node, known=self.known is not None)
        if tree is not None and not self.sums_up:
            edges = _edges(tree.heads, tree.labels)
            tree = self.decoded(node, self.way(Alternative(require=edges)))
        if tree is not None:
            self.answer(tree._replace(bans=node.bans), self.conflicts_of(tree))

    def parts(self, node: Part, split: bool) -> list[Part]:
        """Divide a node by a conflict of its tree.

        If the tree keeps the rules, it is pushed as an answer; if `split`, the other trees of the
        node are divided by the edge that they lack. Parts have no tree in common where the
        alternatives before a part can be excluded. Where a rule may be broken at a cost, a tree
        that breaks it is in the last part, which pays, or still breaks it in one of the others. So
        each tree is in a part that has paid for nothing that the tree keeps: bounds hold.
        """
        if node.later or self.is_outdated(node):
            return self.again(node)
        conflicts = self.conflicts_of(node)
        if any(one.sure for one in conflicts):
            return self.parts(node, split)
        self.answer(node, conflicts)
        found = [one for one in conflicts if one.cost is None or one.site not in node.paid]
        if not found:
            return self.others(node) if split else self.rest(node)
        chosen = min(found, key=lambda one: one.size)
        ways = chosen.checked(node)
        below, bans = self.divided(node, ways, wait=len(ways) > _MANY and self.sums_up)
        if chosen.cost is not None:  # the best tree is that of the node, with no alternative
            due, bound = node.due + chosen.cost, node.bound - chosen.cost
            paid = node._replace(paid=node.paid | {chosen.site}, due=due, bans=bans, bound=bound)
            below.append((bans, paid))
        return self.made(node, below, chosen.site[0])

    def again(self, node: Part) -> list[Part]:
        """Decode a node whose tree is not known, or has edges that are gone."""
        again = self.decoded(node, node.bans)
        self.tell("later" if node.later else "again", node, [(node.bans, again)])
        return [] if again is None else [again]

    def rest(self, node: Part) -> list[Part]:
        """Leave out the other trees of a node whose tree keeps the rules; note their bound."""
        if node.bound > self.weight(node):
            self.lose(node.bound)
        return []

    def others(self, node: Part) -> list[Part]:
        """Divide the other trees of a node by the edge of its tree that they lack."""
        edges = _edges(node.heads, None if self.by_heads else node.labels)
        below, _ = self.divided(node, [self.way(Alternative(forbid=[edge])) for edge in edges])
        return self.made(node, below, "")

    def made(self, node: Part, below: list[tuple[Way, Part | None]], rule: str) -> list[Part]:
        """Report what came of a node; return the parts that have trees."""
        self.tell("conflict", node, below, rule)
        return [part for _, part in below if part is not None]

    def divided(
        self, node: Part, ways: list[Way], *, wait: bool = False
    ) -> tuple[list[tuple[Way, Part | None]], Way]:
        """Return a part for each alternative, and bans that leave the trees that take none.

        If they `wait`, those that require edges get a bound instead of a tree.
        """
        below: list[tuple[Way, Part | None]] = []
        bans = new = node.bans
        left: Left | None = None
        bound_of = self.bounds(node) if wait else None
        for way in sorted(ways, key=lambda way: not can_be_excluded(way)):
            part = None
            if self.budget.over:
                part = node._replace(bans=bans + way, tight=False, later=True)
            elif bound_of is None or not any(banned.required for banned in way):
                left, new = self.left(new, left), ()
                part = self.decoded(node, bans + way, self.left(way, left))
            elif (bound := bound_of(way)) is not None:
                part = node._replace(bound=bound, bans=bans + way, tight=False, later=True)
            below.append((bans + way, part))
            if can_be_excluded(way):
                other = way[0]._replace(required=not way[0].required)
                bans, new = (*bans, other), (*new, other)
        return below, bans


def _edges(heads: Heads, labels: Heads | None) -> list[Edges]:
    """Return the edges of a tree."""
    words = range(1, len(heads))
    return [Edges(int(heads[d]), d, None if labels is None else int(labels[d])) for d in words]
