"""Transitions step by step: the derivation of the best tree by a static oracle."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

from arborescence.explaining import eisner
from arborescence.explaining.steps import Detail, Pair, edge_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

#: The system of the lecture.
SYSTEM = "arc-standard"


@dataclass(frozen=True)
class Configuration(Detail):
    """A state: stack and buffer, with the transition that is made next."""

    stack: tuple[int, ...]  # from the bottom to the top
    buffer: tuple[int, ...]  # from the front to the end
    action: str | None  # the transition, None in the last state
    edge: Pair | None  # the edge that it adds

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return stack, buffer, action and edge."""
        edge = "" if self.edge is None else edge_name(self.edge, names)
        row = [
            " ".join(names[node] for node in self.stack),
            " ".join(names[node] for node in self.buffer),
            self.action or "",
            edge,
        ]
        return [["stack", "buffer", "action", "edge"], row]


def steps(problem: Problem, *, single: bool) -> Iterator[Step]:
    """Yield the derivation of the best projective tree."""
    from arborescence.drawing.derivation import steps as trace

    *_, best = eisner.steps(problem, single=single)
    if best.kind != "tree":
        yield best
        return
    sentence = SimpleNamespace(
        forms=problem.words[1:], heads=best.heads[1:], deprels=["_"] * problem.n
    )
    heads: list[int | None] = [-1, *[None] * problem.n]
    for state in trace(sentence, SYSTEM):
        found = Configuration(tuple(state.stack), tuple(state.buffer), state.action, state.edge)
        looks_at: tuple[Pair, ...] = ()
        if state.action is None:
            break
        kind, text = state.action.lower(), f"{state.action}: "
        if state.edge is None:
            text += f"{problem.words[state.buffer[0]]} goes from the buffer to the stack."
        else:
            h, d = state.edge
            heads[d], looks_at = h, (state.edge,)
            text += (
                f"the edge {problem.edge(state.edge)} joins the two nodes on top of the stack, and "
                f"{problem.words[d]} leaves it."
            )
        yield problem.step(kind, text, heads=tuple(heads), looks_at=looks_at, detail=found)
    text = "Only the root is left: this is the best projective tree, made by transitions."
    yield problem.step("tree", text, heads=tuple(heads), weight=best.weight, detail=found)
