"""The best tree that keeps rules, with a certificate: branch and bound on conflicts, best first.

Riedel and Clarke (2006, *Incremental Integer Linear Programming for Non-projective Dependency
Parsing*) add the constraints that a tree breaks step by step; Martins, Smith and Xing
(2009, *Concise Integer Linear Programming Formulations for Dependency Parsing*) state all
constraints at once. Here an exact decoder solves the relaxed problem, and the search branches on a
conflict (Land and Doig 1960). Where many conflicts each cost a little, Lagrange multipliers add up
the costs.
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
from arborescence.system.lazy import remembered

if TYPE_CHECKING:
    from collections.abc import Callable

    from arborescence.inference.conflicts import Heads, Way
    from arborescence.inference.levels import LevelScale
    from arborescence.inference.parts import Breach, Left

#: The number of nodes that are branched on before multipliers tighten the bounds of nodes.
_PATIENCE: Final = 12
#: If a conflict has more alternatives than this, the alternatives that require edges are decoded
#: only when no other part has a higher bound; and the conflict's cut would be weak and long.
_MANY: Final = 8
#: After these numbers of branchings, the search looks for a tree that keeps the rules: the better
#: this tree is, the more parts are pruned.
_REPAIRS: Final = (16, 64, 256)


class Due(NamedTuple):
    """The price that a tree pays because a word breaks a rule or a demand.

    Attributes
    ----------
    name : str
        The name of the rule or of the demand.
    word : int
        The number of the word.
    price : float
        The price.
    level : int
        0 for a price in units of scores, or a level above the scores.
    """

    name: str
    word: int
    price: float
    level: int = 0


class Solution(NamedTuple):
    """A tree that keeps the rules, its weight, and a bound of the weights of other trees.

    Attributes
    ----------
    heads : (n + 1,) int64
        The head vector.
    labels : (n + 1,) int64, or None
        The labels of the edges, if the scores are labeled; -1 for the root.
    weight : float
        The exact sum of the tree's scores, less its prices in units of scores, rounded once.
    bound : float
        An upper bound of the weights of all trees that keep the rules, pay as much at each level,
        and are not earlier in the list; infinite, if a tree that pays less may exist.
    certified : bool
        Whether none of the trees that `bound` covers weighs more than this tree. Rounding does not
        matter here: `bound` may be equal to `weight` although `certified` is false.
    nodes : int
        The number of trees that were decoded until this tree was known.
    paid : float
        The sum of the tree's prices in units of scores.
    levels : tuple of int
        The sum of the tree's prices at each level above the scores, the highest level first.
    dues : tuple of Due
        Each price that the tree pays, votes aside.
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
    """A step of a search with a part of all trees.

    Attributes
    ----------
    kind : str
        ``"prices"``: the search begins, and single edges have prices. ``"demands"``: the edges that
        no tree may have were left out. ``"first-tree"``: the best of all trees was decoded.
        ``"conflict"``: the part was
        divided. ``"repair"``: the best tree was decoded with charges for edges of conflicts.
        ``"keeps-rules"``: a tree keeps the rules, or pays. ``"again"``: the part was decoded again.
        ``"later"``: the part was decoded for the first time. ``"multipliers"``: multipliers have
        lowered the part's bound. ``"everywhere"``: edges were banned from all parts. ``"tree"``:
        the part's tree is a certified result; ``"limit"``: a result without a certificate.
    part : Part
        The part of the step.
    below : list of (bans, Part or None)
        The parts that the step has made, None where a part has no tree. With ``"demands"`` and
        ``"everywhere"``, only the bans.
    waiting : list of Part
        The other parts on the heap.
    nodes : int
        The number of trees decoded so far.
    rule : str
        The name of the rule that the tree breaks, if the rule has a name.
    scale : LevelScale
        The conversion of bounds into prices at levels, and scores.
    """

    kind: str
    part: Part
    below: list[tuple[Way, Part | None]]
    waiting: list[Part]
    nodes: int
    rule: str
    scale: LevelScale


class Search(Problem):
    """The search in one sentence."""

    watch: Callable[[Event], None] | None = None

    def run(
        self, k: int, *, by_heads: bool, bans: Way = (), priced: bool = False
    ) -> list[Solution]:
        """Return the k best trees that keep the rules; see `solve`.

        The edges of `bans` are banned from the start. `priced` tells whether edges have prices.
        """
        # Entries are (-bound, 0 for a tree that keeps the rules and 1 for others, number, part).
        self.heap: list[tuple[int, int, int, Part]] = []
        self.numbers = count()
        self.known: int | None = None  # the highest weight of a tree that keeps the rules
        self.by_heads, self.branched = by_heads, 0
        first = self.first(bans, priced=priced)
        solutions: dict[tuple[bytes, bytes], Solution] = {}
        half = self.budget.left / 2
        while self.heap and len(solutions) < k and (self.heap[0][1] == 0 or self.goes_on(half)):
            _, kind, _, node = heappop(self.heap)
            if kind == 0:
                tree = node.heads.tobytes(), b"" if by_heads else node.labels.tobytes()
                if tree not in solutions:
                    solutions[tree] = self.result(node, node.bound)
            else:
                self.go_on(node, first, split=k > 1)
        if solutions:
            return list(solutions.values())
        known = self.uncertified(first) if self.heap else None
        if known is None:
            raise NoTreeError("no tree keeps the rules: loosen them, or let more edges be present")
        return [known]

    def go_on(self, node: Part, first: Part, *, split: bool) -> None:
        """Lower the bound of a node, or divide the node; sometimes, look for a tree in it."""
        if self.branched >= _PATIENCE and not (node.tight or node.later):
            tight = tighten(self, node, self.cuts, self.known, self.answer)
            if tight is not None:
                self.tell("multipliers", node, [(node.bans, tight)])
                self.push(tight)
            return
        self.branched += 1
        if self.branched in _REPAIRS:
            self.repair(first if self.branched == _REPAIRS[0] else node)
        self.branch(node, split=split)

    @property
    @remembered
    def cuts(self) -> Cuts:
        """The cuts of conflicts, made when needed: most searches end before."""
        return Cuts(self.scores.shape, _MANY)

    def first(self, bans: Way, *, priced: bool) -> Part:
        """Push the part of all trees, with its best tree, on the heap; return the part."""
        every = Part(0, self.words, self.words, (), np.empty(0))
        if priced:
            self.tell("prices", every._replace(later=True), [])
        if bans:
            self.decode(self.best)  # raises an error for bad scores, and if there is no tree
            self.ban_everywhere(bans)
            self.tell("demands", every._replace(later=True), [((ban,), None) for ban in bans])
        first = self.tree(every, *self.left(()))
        if first is None:
            if not bans:
                self.decode(self.best)  # raises the error that names the reason
            raise NoTreeError("no tree has the required edges and no forbidden edge")
        first = first._replace(bound=first.net + first.gap)
        self.tell("first-tree", first, [])
        self.push(first)
        return first

    def goes_on(self, half: float) -> bool:
        """Tell whether the proof may go on; if no tree is known, it may use half of the budget."""
        return not self.budget.over and (self.known is not None or self.budget.left >= half)

    def uncertified(self, first: Part) -> Solution | None:
        """Return the best known tree that keeps the rules; if there is none, search for a tree.

        The search begins at the deepest node, which has the fewest conflicts left.
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
        return self.result(min(answers)[3], -min(self.heap)[0]) if answers else None

    def result(self, node: Part, bound: int) -> Solution:
        """Return the tree of a node as a result; the bound of the node is the tree's weight."""
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
        """Report a step to the function `watch`."""
        if self.watch is not None:
            waiting = [entry[3] for entry in self.heap]
            self.watch(Event(kind, part, below, waiting, self.nodes, rule, self.scale))

    def push(self, node: Part) -> None:
        """Put a node on the heap."""
        heappush(self.heap, (-node.bound, 1, next(self.numbers), node))

    def answer(self, node: Part, conflicts: list[Breach]) -> bool:
        """Put the tree of a node on the heap, if the tree keeps all rules without a cost.

        For each rule with a cost, the tree pays only if the tree breaks the rule.
        """
        costs = {breach.site: breach.cost for breach in conflicts if breach.cost is not None}
        if any(breach.cost is None for breach in conflicts):
            return False
        due = sum(costs.values())
        answer = node._replace(paid=frozenset(costs), due=due, bound=node.weight - due)
        self.tell("keeps-rules", node, [(node.bans, answer)])
        heappush(self.heap, (-answer.bound, 0, next(self.numbers), answer))
        self.known = answer.bound if self.known is None else max(self.known, answer.bound)
        return True

    def branch(self, node: Part, *, split: bool, dive: bool = False) -> None:
        """Push the parts of a node on the heap; if `dive`, divide the best part again and again."""
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
        """Look for any tree of a node that keeps the rules, and push this tree."""
        tree = repaired(self, node, known=self.known is not None)
        if tree is not None and not self.sums_up:
            edges = _edges(tree.heads, tree.labels)
            tree = self.decoded(node, self.way(Alternative(require=edges)))
        if tree is not None:
            self.answer(tree._replace(bans=node.bans), self.conflicts_of(tree))

    def parts(self, node: Part, split: bool) -> list[Part]:
        """Divide a node by a conflict of its tree.

        If the tree keeps the rules, the tree is pushed as an answer; if `split`, the node's other
        trees are divided by the edge of this tree that they lack. Two parts share no tree if the
        alternatives of the first part can be excluded from the second. If a rule has a cost, a tree
        that breaks the rule is in the last part, which pays the cost, or in another part, where the
        tree still breaks the rule. So each tree is in a part that has paid only for rules that the
        tree breaks: bounds hold.
        """
        if node.later or self.is_outdated(node):
            return self.again(node)
        conflicts = self.conflicts_of(node)
        if any(breach.sure for breach in conflicts):
            return self.parts(node, split)
        self.answer(node, conflicts)
        broken = [
            breach for breach in conflicts if breach.cost is None or breach.site not in node.paid
        ]
        if not broken:
            return self.others(node) if split else self.rest(node)
        chosen = min(broken, key=lambda breach: breach.size)
        ways = chosen.checked(node)
        below, bans = self.divided(node, ways, wait=len(ways) > _MANY and self.sums_up)
        if chosen.cost is not None:  # the part that pays keeps the best tree of the node
            due, bound = node.due + chosen.cost, node.bound - chosen.cost
            paid = node._replace(paid=node.paid | {chosen.site}, due=due, bans=bans, bound=bound)
            below.append((bans, paid))
        return self.made(node, below, chosen.site[0])

    def again(self, node: Part) -> list[Part]:
        """Decode a node whose tree is not known, or has edges that were banned since."""
        again = self.decoded(node, node.bans)
        self.tell("later" if node.later else "again", node, [(node.bans, again)])
        return [] if again is None else [again]

    def rest(self, node: Part) -> list[Part]:
        """Leave out the other trees of a node whose tree keeps the rules; note their bound."""
        if node.bound > node.net:
            self.lose(node.bound)
        return []

    def others(self, node: Part) -> list[Part]:
        """Divide the other trees of a node by the edge of its tree that they lack."""
        edges = _edges(node.heads, None if self.by_heads else node.labels)
        below, _ = self.divided(node, [self.way(Alternative(forbid=[edge])) for edge in edges])
        return self.made(node, below, "")

    def made(self, node: Part, below: list[tuple[Way, Part | None]], rule: str) -> list[Part]:
        """Report the parts of a divided node; return the parts that have trees."""
        self.tell("conflict", node, below, rule)
        return [part for _, part in below if part is not None]

    def divided(
        self, node: Part, ways: list[Way], *, wait: bool = False
    ) -> tuple[list[tuple[Way, Part | None]], Way]:
        """Return a part for each alternative, and the bans of the trees that take no alternative.

        If `wait`, the parts whose alternatives require edges get a bound instead of a tree.
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
