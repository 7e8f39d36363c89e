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
    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step


@dataclass(frozen=True)
class Child(Detail):
    """A child of the root: what it would lose by its other head.

    Attributes
    ----------
    node : Node
    root_edge : Edge
    other : Edge or None
        The best edge into it that does not come from the root.
    loss : float or None
        The weight of the root edge minus that of the other.
    """

    node: Node
    root_edge: Edge
    other: Edge | None
    loss: float | None


@dataclass(frozen=True)
class Children(Detail):
    """The children of the root."""

    children: tuple[Child, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each child."""
        rows = [["child of the root", "root edge", "weight", "other edge", "weight", "loss"]]
        for child in self.children:
            other, loss = ["none", ""], ""
            if child.other is not None and child.loss is not None:
                other = edge_cells(child.other, names)[:2]
                loss = number_name(child.loss)
            root_edge = edge_name(child.root_edge.stands_for, names)
            weight = number_name(child.root_edge.weight)
            rows.append([node_name(child.node, names), root_edge, weight, *other, loss])
        return rows


def steps(problem: Problem, *, recorded: bool = True) -> Iterator[Step]:
    """Yield the steps to the best tree with exactly one root edge."""
    state = Contraction(problem, recorded=recorded)
    if (yield from contract_cycles(state)) and (yield from leave_one_root_edge(state)):
        yield from expand(state)


def leave_one_root_edge(state: Contraction) -> Generator[Step, None, bool]:
    """Reduce and optimize until one edge leaves the root; return whether there is such a tree."""
    roots = [x for x in state.tops if x and state.chosen[x].head == 0]
    if not state.problem.n:
        return True
    yield state.step("root-edges", _how_many(state, roots), detail=_children(state, roots))
    while len(roots) > 1:
        for k, r in enumerate(roots):
            roots[k] = yield from reduce(state, r)
        losses = {}
        for r in roots:
            other = other_edge(state, r)
            if other is not None:
                losses[r] = state.chosen[r].gain - other.gain
        yield state.step(
            "other-heads",
            "The other head of each child of the root is its best head that is not the root. Each "
            "one that exists is now below another child, so any child that has one can take it.",
            looks_at=tuple(
                entry.edge for r in roots for entry in state.entering[r] if entry.head > 0
            ),
            detail=_children(state, roots),
        )
        if not losses:
            yield no_tree(
                state,
                f"{len(roots)} edges leave the root, and none of their words has another head "
                "left: there is no tree with a single root edge.",
            )
            return False
        least = min(losses, key=losses.__getitem__)  # on a tie the first one
        yield from optimize(state, roots, least, number(losses[least]))
    return True


def reduce(state: Contraction, r: int) -> Generator[Step, None, int]:
    """Contract while a child's other head is below the child itself; return its node then."""
    problem = state.problem
    while True:
        other = other_edge(state, r)
        if other is None:
            return r
        path = [state.top(other.head)]
        while path[-1] not in (0, r):
            path.append(state.above(path[-1]))
        if path[-1] == 0:
            return r
        yield state.step(
            "reduction",
            f"Reduction: the other head of {state.name(r)}, by {problem.edge(other.edge)}, is "
            f"below {state.name(r)} itself. Without the root edge this would be a critical "
            f"cycle, of {listed([state.name(x) for x in path])}: it is contracted.",
            looks_at=tuple(e.edge for e in state.entering[r] if e.head > 0),
        )
        state.chosen[r] = other
        r = yield from contract(state, path)
        from_root = state.best(r, [entry for entry in state.entering[r] if entry.head == 0])
        if from_root is None:
            raise AssertionError("a child of the root has lost its root edge")
        state.chosen[r] = from_root
        yield state.step(
            "root-edge",
            f"{state.name(r)} is still a child of the root, by {problem.edge(from_root.edge)}.",
            looks_at=(from_root.edge,),
        )


def optimize(
    state: Contraction, roots: list[int], r: int, loss: float
) -> Generator[Step, None, None]:
    """Give a child of the root its other head, and delete its root edges."""
    other = other_edge(state, r)
    if other is None:
        raise AssertionError("a child of the root has lost its other head")
    state.chosen[r] = other
    deleted = state.forget_root_edges(r)
    roots.remove(r)
    yield state.step(
        "optimization",
        f"Optimization: {state.name(r)} loses least, {number_name(loss)}. It takes its other head, "
        f"by {state.problem.edge(other.edge)}, and no edge from the root may enter it again. "
        f"{_how_many(state, roots)}",
        looks_at=(other.edge,),
        forbidden=tuple(deleted),
        detail=_children(state, roots),
    )


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
                None if other is None else number(entry.gain - other.gain),
            )
        )
    return Children(tuple(children))


def _how_many(state: Contraction, roots: Sequence[int]) -> str:
    if len(roots) == 1:
        return "One edge leaves the root, as it must."
    names = listed([state.name(r) for r in roots])
    return f"{len(roots)} edges leave the root, to {names}, and only one may."
