"""One root edge, step by step: Algorithm 1 of Zmigrod, Vieira and Cotterell (2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arborescence.explaining.chu_liu_edmonds import contract, contract_cycles, expand, no_tree
from arborescence.explaining.contraction import Contraction
from arborescence.explaining.problem import listed, number
from arborescence.explaining.steps import (
    Detail,
    Edge,
    Node,
    edge_cells,
    edge_name,
    node_name,
    number_name,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from arborescence.explaining.contraction import Entry
    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step


@dataclass(frozen=True)
class Child(Detail):
    """A child of the root, and the weight of the greedy graph without its root edge."""

    #: the child
    node: Node
    #: its root edge
    root_edge: Edge
    #: the best edge into the child that does not come from the root
    other: Edge | None
    #: the weight of the greedy graph with the other edge
    without: float | None


@dataclass(frozen=True)
class Children(Detail):
    """The children of the root."""

    #: the children
    children: tuple[Child, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each child."""
        rows = [["child of the root", "root edge", "weight", "other edge", "weight", "without it"]]
        for child in self.children:
            other, without = ["none", ""], ""
            if child.other is not None and child.without is not None:
                other = edge_cells(child.other, names)[:2]
                without = number_name(child.without)
            root_edge = edge_name(child.root_edge.stands_for, names)
            weight = number_name(child.root_edge.weight)
            rows.append([node_name(child.node, names), root_edge, weight, *other, without])
        return rows


def steps(problem: ScoredSentence, *, recorded: bool = True) -> Iterator[Step]:
    """Yield the steps to the best tree with exactly one root edge."""
    state = Contraction(problem, whole=True, recorded=recorded)
    if (yield from contract_cycles(state)) and (yield from constrain(state)):
        yield from expand(state)


def constrain(state: Contraction) -> Generator[Step, None, bool]:
    """Reduce and optimize until one edge leaves the root; return whether a tree is left."""
    # Each iteration is a call of `constrain` in Algorithm 1, lines 9 to 16
    problem = state.problem
    while problem.n:
        roots = [x for x in state.tops if x and state.chosen[x].head == 0]  # line 10
        yield state.step("root-edges", _how_many(state, roots))
        if len(roots) == 1:
            break
        others = {r: other for r in roots if (other := other_edge(state, r)) is not None}
        yield state.step(
            "other-heads",
            "Without its root edge, each child of the root takes its best edge from elsewhere: the "
            "table says what the greedy graph weighs then.",
            looks_at=tuple(e.edge for r in roots for e in state.entering[r] if e.head > 0),
            detail=_children(state, roots),
        )
        if not others:
            yield no_tree(
                state,
                f"{len(roots)} edges leave the root, and none of their words has another head "
                "left: there is no tree with a single root edge.",
            )
            return False
        # Line 12; on a tie the first child.
        r = max(others, key=lambda child: others[child].gain - state.chosen[child].gain)
        removed, other = state.chosen[r], others[r]
        state.chosen[r] = other
        heaviest = f"Without {problem.edge(removed.edge)} the greedy graph weighs most, "
        heaviest += f"{number_name(number(state.weight))}"
        path = [state.top(other.head)]
        while path[-1] not in (0, r):
            path.append(state.above(path[-1]))
        if path[-1] == r:  # lines 13 and 14
            yield state.step(
                "reduction",
                f"Reduction: {heaviest}, but has a critical cycle, of "
                f"{listed([state.name(x) for x in path])}. It is contracted, and the root edges "
                "into it stay.",
                looks_at=(other.edge,),
            )
            x = yield from contract(state, path)
            best = state.best(x)
            if best is None:
                raise AssertionError("a child of the root has lost its root edge")
            state.chosen[x] = best
        else:  # lines 15 and 16
            yield state.step(
                "optimization",
                f"Optimization: {heaviest}, and has no cycle. So {state.name(r)} takes "
                f"{problem.edge(other.edge)}, and its root edges are deleted.",
                looks_at=(other.edge,),
                forbidden=tuple(state.forget_root_edges(r)),
            )
    return True


def other_edge(state: Contraction, r: int) -> Entry | None:
    """Return the best edge into a node that does not come from the root."""
    return state.best(r, [entry for entry in state.entering[r] if entry.head > 0])


def _children(state: Contraction, roots: Sequence[int]) -> Children:
    children = []
    for r in roots:
        entry, other = state.chosen[r], other_edge(state, r)
        children.append(
            Child(
                state.node(r),
                state.shown(r, entry),
                None if other is None else state.shown(r, other),
                None if other is None else number(state.weight - entry.gain + other.gain),
            )
        )
    return Children(tuple(children))


def _how_many(state: Contraction, roots: Sequence[int]) -> str:
    if len(roots) == 1:
        return "One edge leaves the root, as it must."
    names = listed([state.name(r) for r in roots])
    return f"{len(roots)} edges leave the root, to {names}, and only one may."
