"""Transitions step by step: the derivation of the best tree by a static oracle."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

from arborescence.explaining import eisner
from arborescence.explaining.steps import Detail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.drawing.derivation import DerivationStep
    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step

#: The system of the lecture.
SYSTEM = "arc-standard"


#: The number of actions in a row of the table.
IN_A_ROW = 6


@dataclass(frozen=True)
class Configuration(Detail):
    """A state: stack and buffer, and the transitions that led to it."""

    #: the nodes on the stack, from the bottom to the top
    stack: tuple[int, ...]
    #: the nodes in the buffer, from the front to the end
    buffer: tuple[int, ...]
    #: the actions so far
    actions: tuple[str, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return stack, buffer and the actions so far."""
        stack, buffer = (
            " ".join(names[node] for node in nodes) for nodes in (self.stack, self.buffer)
        )
        parts = [self.actions[k : k + IN_A_ROW] for k in range(0, len(self.actions), IN_A_ROW)]
        first, *others = [" ".join(part) for part in parts] or [""]
        rows = [[stack, buffer, first], *(["", "", other] for other in others)]
        return [["stack", "buffer", "actions"], *rows]


def steps(problem: ScoredSentence, *, single: bool) -> Iterator[Step]:
    """Yield the derivation of the best projective tree: each state, and the action before it."""
    *_, best = eisner.steps(problem, single=single)
    if best.kind != "tree":
        yield best
        return
    heads: list[int | None] = [-1, *[None] * problem.n]
    actions: list[str] = []
    kind, edge = "start", None
    text = "The stack has the root, and the buffer all words."
    for state in derivation(problem, best.heads):
        detail = Configuration(tuple(state.stack), tuple(state.buffer), tuple(actions))
        looks_at = () if edge is None else (edge,)
        yield problem.step(kind, text, heads=tuple(heads), looks_at=looks_at, detail=detail)
        if state.action is None:
            break
        kind, edge = state.action.lower(), state.edge
        actions.append(state.action)
        text = f"{state.action}: "
        if edge is None:
            text += f"{problem.words[state.buffer[0]]} goes from the buffer to the stack."
        else:
            heads[edge[1]] = edge[0]
            text += (
                f"the edge {problem.edge(edge)} joins the two nodes on top of the stack, and "
                f"{problem.words[edge[1]]} leaves the stack."
            )
    text = "Only the root is left: these transitions make the best projective tree."
    yield problem.step("tree", text, heads=tuple(heads), weight=best.weight, detail=detail)


def derivation(problem: ScoredSentence, heads: Sequence[int | None]) -> list[DerivationStep]:
    """Return the states of the static oracle's derivation of a tree, each with the next action."""
    from arborescence.drawing.derivation import steps as trace

    sentence = SimpleNamespace(forms=problem.words[1:], heads=heads[1:], deprels=["_"] * problem.n)
    return trace(sentence, SYSTEM)
