"""The graph with contracted cycles, slow and simple: all edges are kept, with exact weights.

Ties are broken as in `decode` (see its notes).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from arborescence.explaining.problem import number
from arborescence.explaining.steps import (
    Detail,
    Edge,
    Node,
    Pair,
    Step,
    edge_name,
    edges_name,
    full_name,
    node_name,
    number_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arborescence.explaining.problem import ScoredSentence


@dataclass(frozen=True)
class Entry:
    """An edge into a node: the original edge, its current weight, and the edges it kicks out."""

    #: the head of the original edge
    head: int
    #: the dependent of the original edge
    into: int
    #: the current weight
    gain: Fraction
    #: the edges that this edge kicks out
    kicks_out: tuple[Pair, ...] = ()

    @property
    def edge(self) -> Pair:
        """The original edge."""
        return self.head, self.into


#: If there are more edges than this, a table counts them, or leaves them out.
MANY = 10


@dataclass(frozen=True)
class BestEdge:
    """A node with its bestInEdge."""

    #: the node
    node: Node
    #: its bestInEdge; None if it has none yet
    edge: Pair | None
    #: the node's edges before, which were kicked out
    before: tuple[Pair, ...]


@dataclass(frozen=True)
class Kick:
    """An edge with its current weight, and its kicksOut."""

    #: the original edge
    edge: Pair
    #: its current weight
    weight: float
    #: the edges that it kicks out
    kicks_out: tuple[Pair, ...]
    #: further entries of the *lecture*'s `adjust` as printed, which also adjusts edges in a cycle
    as_printed: tuple[Pair, ...]


@dataclass(frozen=True)
class Record(Detail):
    """The *lecture*'s tables as far as they are filled: bestInEdge and kicksOut."""

    #: the bestInEdge of each node
    best: tuple[BestEdge, ...]
    #: the kicksOut of all edges; if there are many edges, of the shown and the chosen edges
    kicks: tuple[Kick, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return the two tables side by side."""
        rows = [["node", "bestInEdge", "edge", "weight", "kicksOut"]]
        left = [
            [node_name(row_left.node, names), _best_name(row_left, names)] for row_left in self.best
        ]
        right = [
            [
                full_name(row_left.edge, names),
                number_name(row_left.weight),
                _kick_name(row_left, names),
            ]
            for row_left in self.kicks
        ]
        for of_best, of_kick in zip_longest(left, right):
            rows.append([*(of_best or ["", ""]), *(of_kick or ["", "", ""])])
        return rows


def _best_name(best: BestEdge, names: Sequence[str]) -> str:
    before = f", not {edges_name(best.before, names)}" if best.before else ""
    return "" if best.edge is None else edge_name(best.edge, names) + before


def _kick_name(kick: Kick, names: Sequence[str]) -> str:
    printed = f"faulty adjust: {edges_name(kick.as_printed, names)}" if kick.as_printed else ""
    return "; ".join(filter(None, [edges_name(kick.kicks_out, names), printed]))


class Contraction:
    """The nodes, their entering edges and their chosen edges; changed by each contraction."""

    def __init__(
        self,
        problem: ScoredSentence,
        tree: Sequence[int | None] = (),
        *,
        whole: bool = False,
        recorded: bool = True,
    ) -> None:
        self.problem = problem
        # Whether the weight of an edge into a cycle includes the weights of the edges that stay on
        # the cycle, so that a tree weighs the same before and after (the weights of *root*). Else
        # it is only the change of weight (the weights of the *lecture*).
        self.whole = whole
        # the members of each contracted node, in the order of its cycle
        self.members: dict[int, list[int]] = {}
        # the edges that enter each node, also of nodes inside others
        self.entering: dict[int, list[Entry]] = {d: [] for d in range(1, problem.n + 1)}
        for (h, d), score in problem.scores.items():
            self.entering[d].append(Entry(h, d, score))
        # the edge that each node has chosen; for a member of a cycle, its edge on the cycle
        self.chosen: dict[int, Entry] = {}
        # the edges that were kicked out of each node, and further entries of the printed `adjust`
        self.kicked: dict[int, list[Pair]] = {}
        self._as_printed: dict[Pair, list[Pair]] = {}
        self._parent: dict[int, int] = {}
        self._preferred = tree
        self._recorded = recorded
        self._next = problem.n + 1

    def top(self, node: int) -> int:
        """Return the node of the current graph that contains a node."""
        while node in self._parent:
            node = self._parent[node]
        return node

    @property
    def tops(self) -> list[int]:
        """The nodes of the current graph, by their first word."""
        return list(dict.fromkeys(map(self.top, range(self.problem.n + 1))))

    @property
    def weight(self) -> Fraction:
        """The weight of the chosen edges of the current graph."""
        return sum((self.chosen[x].gain for x in self.tops if x), Fraction(0))

    def above(self, x: int) -> int:
        """Return the node that the chosen edge of a node comes from."""
        return self.top(self.chosen[x].head)

    def words(self, x: int) -> tuple[int, ...]:
        """Return the words below a node."""
        return self.node(x).words

    def node(self, x: int) -> Node:
        """Return a node as steps show it."""
        return Node(x, tuple(map(self.node, self.members.get(x, ()))))

    def name(self, x: int) -> str:
        """Return the name of a node."""
        return node_name(self.node(x), self.problem.words)

    def best(self, x: int, entries: Sequence[Entry] | None = None) -> Entry | None:
        """Return the best edge into a node, among all its edges or among some `entries`.

        On a tie, an edge of the preferred tree wins; then the lowest head; then the first edge, by
        `_order`.
        """
        entries = self.entering[x] if entries is None else entries
        if not entries:
            return None
        most = max(entry.gain for entry in entries)

        def key(entry: Entry) -> tuple[Any, ...]:
            preferred = bool(self._preferred) and self._preferred[entry.into] == entry.head
            return not preferred, entry.head, self._order(x, entry.into)

        return min((entry for entry in entries if entry.gain == most), key=key)

    def _order(self, x: int, word: int) -> tuple[tuple[bool, int], ...]:
        """Return the place of a word in a node: the largest member comes before the others."""
        if x not in self.members:
            return ()
        sizes = [len(self.words(member)) for member in self.members[x]]
        for place, member in enumerate(self.members[x]):
            if word in self.words(member):
                other = place != sizes.index(max(sizes))
                return (other, place), *self._order(member, word)
        raise AssertionError(f"{word} is not in {x}")

    def contract(self, cycle: list[int]) -> int:
        """Make a node of a cycle of chosen edges; return the node, without a chosen edge."""
        x = self._next
        self._next += 1
        self.members[x] = cycle
        for member in cycle:
            self._parent[member] = x
        self.entering[x] = []
        on_cycle = [self.chosen[member].gain for member in cycle] if self.whole else []
        for member in cycle:
            kicked = self.chosen[member]
            for entry in self.entering[member]:
                if self.top(entry.head) != x:
                    gain = entry.gain + sum(on_cycle) - kicked.gain
                    kicks_out = (*entry.kicks_out, kicked.edge)
                    self.entering[x].append(Entry(entry.head, entry.into, gain, kicks_out))
                elif entry != kicked:
                    self._as_printed.setdefault(entry.edge, []).append(kicked.edge)
        return x

    def open(self, x: int) -> tuple[int, Pair]:
        """Open a contracted node; return the member that its edge enters, and the edge kicked out.

        This member takes the edge; the other members keep their edges of the cycle.
        """
        entry = self.chosen[x]
        for member in self.members[x]:
            del self._parent[member]
        entered = self.top(entry.into)
        kicked = self.chosen[entered].edge
        self.kicked.setdefault(entered, []).append(kicked)
        [self.chosen[entered]] = [e for e in self.entering[entered] if e.edge == entry.edge]
        return entered, kicked

    def forget_root_edges(self, x: int) -> list[Pair]:
        """Delete the edges from the root into a node."""
        deleted = [entry.edge for entry in self.entering[x] if entry.head == 0]
        self.entering[x] = [entry for entry in self.entering[x] if entry.head > 0]
        return deleted

    def shown(self, x: int, entry: Entry) -> Edge:
        """Return an edge into a node as steps show it."""
        return Edge(self.top(entry.head), x, number(entry.gain), entry.edge, entry.kicks_out)

    def record(self, shown: Iterable[Entry] = ()) -> Record:
        """Return the lecture's tables; if there are many edges, of the `shown` and the chosen."""
        chosen = {x: self.chosen[x].edge for x in sorted(self.entering) if x in self.chosen}
        best = tuple(
            BestEdge(self.node(x), chosen.get(x), tuple(self.kicked.get(x, ())))
            for x in sorted(self.entering)
        )
        last = {entry.edge: entry for x in sorted(self.entering) for entry in self.entering[x]}
        edges: Iterable[Pair] = [*(entry.edge for entry in shown), *chosen.values()]
        as_printed: dict[Pair, list[Pair]] = {}
        if len(last) <= MANY:
            edges = self.problem.in_order(last)
        if self.problem.words.edges:  # the notation of the lecture
            as_printed = self._as_printed
        kicks = tuple(
            Kick(
                edge,
                number(last[edge].gain),
                last[edge].kicks_out,
                tuple(as_printed.get(edge, ())),
            )
            for edge in dict.fromkeys(edges)
        )
        return Record(best, kicks)

    def step(self, kind: str, text: str, **parts: Any) -> Step:
        """Return a step with the current graph."""
        if not self._recorded:
            return Step(kind, text, self.problem.words, **parts)
        if not self.whole:
            parts.setdefault("detail", self.record())
        tops = self.tops
        words = [d for d in tops if 0 < d <= self.problem.n]
        heads: list[int | None] = [-1, *[None] * self.problem.n]
        for d in words:
            heads[d] = self.chosen[d].head if d in self.chosen else None
        parts.setdefault("heads", tuple(heads))
        return Step(
            kind,
            text,
            self.problem.words,
            nodes=tuple(map(self.node, tops)),
            edges=tuple(self.shown(x, entry) for x in tops if x for entry in self.entering[x]),
            chosen=tuple(self.shown(x, self.chosen[x]) for x in tops if x in self.chosen),
            **parts,
        )
