"""Chu-Liu-Edmonds step by step: greedy graph, critical cycles, contraction, expansion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arborescence.explaining.contraction import MANY, Contraction, Record
from arborescence.explaining.problem import counted, listed, number
from arborescence.explaining.steps import (
    Detail,
    Edge,
    Pair,
    edge_cells,
    edges_name,
    number_name,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step


@dataclass(frozen=True)
class Contracted(Detail):
    """A cycle that has become one node."""

    #: the id of the new node
    node: int
    #: the edges of the cycle, in the graph before the contraction
    cycle: tuple[Edge, ...]
    #: the edges into the new node, the best edge first
    entering: tuple[Edge, ...]
    #: the tables of the lecture; None in the view of *root*
    record: Record | None

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return the lecture's tables."""
        return [] if self.record is None else self.record.table(names)


@dataclass(frozen=True)
class Cast(Contracted):
    """A contracted cycle, and the kinds of the edges before contraction (*root*, Section 2.1).

    The edges in `entering` are the enter edges.
    """

    #: the original edges out of the cycle
    exit: tuple[Pair, ...]
    #: the original edges outside the cycle
    external: tuple[Pair, ...]
    #: the original edges inside the cycle, which are deleted
    dead: tuple[Pair, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return the enter edges, each with the word where it breaks the cycle; and the rest."""
        rows = [["cast as", "edge", "weight", "breaks the cycle at"]]
        for edge in self.entering:
            name, weight, _ = edge_cells(edge, names)
            rows.append(["enter", name, weight, names[edge.stands_for[1]]])
        for kind in ("exit", "external", "dead"):
            edges = getattr(self, kind)
            few = edges_name(edges, names) if len(edges) <= MANY else counted(len(edges), "edge")
            rows.append([kind, few or "none", "", ""])
        return rows


def steps(problem: ScoredSentence, *, recorded: bool = True) -> Iterator[Step]:
    """Yield the steps to the best arborescence, with any number of root edges.

    If the steps are not `recorded`, they lack the graph, which saves time.
    """
    state = Contraction(problem, recorded=recorded)
    if (yield from contract_cycles(state)):
        yield from expand(state)


def contract_cycles(state: Contraction) -> Generator[Step, None, bool]:
    """Take the greedy graph and contract its cycles; return whether there is a tree."""
    # Cycles are found as in `decode`: from each word, follow the chosen edges to the root, to a
    # node that was visited before, or to the path itself
    problem = state.problem
    if not (yield from take_best_heads(state)):
        return False
    visited = {0}
    for word in range(1, problem.n + 1):
        x = state.top(word)
        path: list[int] = []
        while x not in visited:
            if x not in path:
                path.append(x)
                x = state.above(x)
                continue
            cycle = path[path.index(x) :]
            del path[path.index(x) :]
            names = " ← ".join(map(state.name, [*cycle, cycle[0]]))
            yield state.step(
                "cycle",
                f"The best edges of {listed([state.name(member) for member in cycle])} form a "
                f"cycle: {names}. It is critical: some best tree has all of its edges except one.",
                looks_at=tuple(state.chosen[member].edge for member in cycle),
            )
            x = yield from contract(state, cycle)
            best = state.best(x)
            if best is None:
                yield no_tree(state, f"No edge enters {state.name(x)}, so there is no tree.")
                return False
            state.chosen[x] = best
            yield state.step(
                "best-edge",
                f"The best edge into {state.name(x)} is {problem.edge(best.edge)}, with the new "
                f"weight {number_name(number(best.gain))}. It would replace "
                f"{problem.edge(best.kicks_out[-1])}.",
                looks_at=(best.edge,),
            )
        visited.update(path)
    if state.members:
        text = "No cycle is left: the chosen edges form a tree."
        if state.whole:
            text += (
                f" It weighs {number_name(number(state.weight))}, as much as the best tree of the "
                "graph before, with any number of root edges (Theorem 1)."
            )
        yield state.step("acyclic", text)
    return True


def take_best_heads(state: Contraction) -> Generator[Step, None, bool]:
    """Make the greedy graph; return whether each word has a head."""
    problem = state.problem
    headless = []
    for d in range(1, problem.n + 1):
        best = state.best(d)
        if best is None:
            headless.append(d)
        else:
            state.chosen[d] = best
    greedy = "Each word takes its best head: this is the greedy graph."
    if problem.n:
        yield state.step("greedy", greedy, looks_at=tuple(problem.scores))
    if headless:
        yield no_tree(state, f"No edge enters {problem.listed(headless)}, so there is no tree.")
    return not headless


def contract(state: Contraction, cycle: list[int]) -> Generator[Step, None, int]:
    """Contract a cycle of chosen edges; return the new node."""
    edges = tuple(state.shown(member, state.chosen[member]) for member in cycle)
    others = [
        (entry.edge, state.top(entry.head) in cycle, y in cycle)
        for y in state.tops[1:]
        for entry in state.entering[y]
    ]
    x = state.contract(cycle)
    ranked = sorted(state.entering[x], key=lambda entry: (-entry.gain, entry.edge))
    entering = tuple(state.shown(x, entry) for entry in ranked)
    rule = "minus that of the edge that it kicks out of the cycle"
    if state.whole:
        kinds = ((True, False), (False, False), (True, True))
        casts = [tuple(edge for edge, *kind in others if tuple(kind) == cast) for cast in kinds]
        detail: Contracted = Cast(x, edges, entering, None, *casts)
        rule = "plus that of the cycle without its edge into the same word"
    else:
        detail = Contracted(x, edges, entering, state.record(ranked))
    yield state.step(
        "contract",
        f"The cycle becomes the node {state.name(x)}. {counted(len(entering), 'edge')} "
        f"{'enters' if len(entering) == 1 else 'enter'} it: the new weight of each is its weight "
        f"{rule}.",
        looks_at=tuple(entry.edge for entry in ranked),
        detail=detail,
    )
    return x


def expand(state: Contraction) -> Iterator[Step]:
    """Open the contracted nodes, the last node first, and yield the tree."""
    problem = state.problem
    for x in sorted(state.members, reverse=True):
        name, entry = state.name(x), state.chosen[x]
        entered, kicked = state.open(x)
        yield state.step(
            "expand",
            f"The node {name} is opened. {problem.edge(entry.edge)} enters it at "
            f"{state.name(entered)} and replaces {problem.edge(kicked)}; the other edges of the "
            "cycle stay.",
            looks_at=(entry.edge, kicked),
        )
    heads = (-1, *(state.chosen[d].head for d in range(1, problem.n + 1)))
    weight = number(problem.weight(heads))
    yield state.step(
        "tree",
        f"This is the best tree, of weight {number_name(weight)}.",
        heads=heads,
        weight=weight,
    )


def no_tree(state: Contraction, why: str) -> Step:
    """Return the last step of a graph without a tree."""
    return state.step("no-tree", why)
