"""Questions on contraction and on the root constraint: the next step is the answer."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from arborescence.explaining import chu_liu_edmonds, root_constraint
from arborescence.explaining.chu_liu_edmonds import Contracted
from arborescence.explaining.problem import listed
from arborescence.explaining.root_constraint import Children
from arborescence.explaining.steps import edge_name, node_name, number_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arborescence.explaining.page.tree_questions import Asked
    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step

    #: Question, answer, and the numbers to choose from.
    Question = tuple[str, str, list[float]]


def what_enters(problem: ScoredSentence, random: Iterator[int]) -> Asked | None:
    """Ask which edge enters the first cycle that allows this question."""
    return first_asked(chu_liu_edmonds.steps(problem), ask_what_enters, random)


def what_it_weighs(problem: ScoredSentence, random: Iterator[int]) -> Asked | None:
    """Ask what an edge into a contracted cycle weighs, with the weights of the *lecture*."""
    return first_asked(chu_liu_edmonds.steps(problem), ask_what_it_weighs, random)


def which_root_edge_goes(problem: ScoredSentence, random: Iterator[int]) -> Asked | None:
    """Ask which root edge goes first."""
    return first_asked(root_constraint.steps(problem), ask_which_root_edge_goes, random)


def first_asked(
    steps: Iterator[Step],
    ask: Callable[[Step, Step, Iterator[int]], Question | None],
    random: Iterator[int],
) -> Asked | None:
    """Ask a question about the first two steps that allow it."""
    for before, after in pairwise(steps):
        asked = ask(before, after, random)
        if asked is not None:
            return (before, *asked)
    return None


def ask_what_enters(before: Step, after: Step, random: Iterator[int]) -> Question | None:  # noqa: ARG001
    """Ask which edge enters a cycle."""
    detail = contraction(before, after)
    if detail is None or detail.entering[0].weight == detail.entering[1].weight:
        return None
    question = f"{becomes(before, detail)} Which edge is the best one into it?"
    best = edge_name(detail.entering[0].stands_for, before.words)
    why = difference(before, detail, 0)
    return question, f"{best}: {why}. Each other edge into the node weighs less.", []


def ask_what_it_weighs(before: Step, after: Step, random: Iterator[int]) -> Question | None:
    """Ask what an edge into a contracted cycle weighs."""
    detail = contraction(before, after)
    if detail is None:
        return None
    place = next(random) % len(detail.entering)
    weight, kicked = weights(before, detail, place)
    options = sorted({weight - kicked, weight, weight + kicked, kicked - weight})
    if len(options) < 4:
        return None
    name = edge_name(detail.entering[place].stands_for, before.words)
    question = f"{becomes(before, detail)} What does {name} weigh then?"
    answer = f"{number_name(weight - kicked)}: {difference(before, detail, place)}."
    return question, answer, options


def ask_which_root_edge_goes(before: Step, after: Step, random: Iterator[int]) -> Question | None:  # noqa: ARG001
    """Ask which root edge goes."""
    detail = before.detail
    if after.kind != "optimization" or not isinstance(detail, Children):
        return None
    ranked = sorted(
        (-child.without, place)
        for place, child in enumerate(detail.children)
        if child.without is not None
    )
    if len(ranked) < 2 or ranked[0][0] == ranked[1][0]:
        return None
    weight, place = ranked[0]
    child = detail.children[place]
    if child.other is None:
        raise AssertionError("a weight without another head")
    goes, comes = (edge_name(e.stands_for, before.words) for e in (child.root_edge, child.other))
    question = f"{len(detail.children)} edges leave the root. Which of them goes first?"
    answer = (
        f"{goes}: without it, {node_name(child.node, before.words)} takes {comes}, and the chosen "
        f"edges weigh {number_name(-weight)}. Without another root edge they weigh less, or there "
        "is no other head."
    )
    return question, answer, []


def contraction(before: Step, after: Step) -> Contracted | None:
    """Return how a cycle is contracted in the second step, if two edges or more enter it."""
    detail = after.detail
    if before.kind != "cycle" or not isinstance(detail, Contracted) or len(detail.entering) < 2:
        return None
    return detail


def becomes(before: Step, detail: Contracted) -> str:
    """Return the beginning of a question on a cycle."""
    nodes = {node.id: node_name(node, before.words) for node in before.nodes}
    names = listed([nodes[edge.dependent] for edge in detail.cycle])
    return f"The best edges of {names} form a cycle, which becomes one node."


def weights(before: Step, detail: Contracted, place: int) -> tuple[float, float]:
    """Return the weights of an edge into the cycle, and of the edge that it kicks out, before."""
    entering = detail.entering[place]
    now = {edge.stands_for: edge.weight for edge in before.edges}
    return now[entering.stands_for], now[entering.kicks_out[-1]]


def difference(before: Step, detail: Contracted, place: int) -> str:
    """Return how the new weight of an edge is computed."""
    weight, kicked = map(number_name, weights(before, detail, place))
    entering = detail.entering[place]
    out = edge_name(entering.kicks_out[-1], before.words)
    return (
        f"it weighs {weight}, and {out}, which it kicks out, {kicked}: {weight} − {kicked} = "
        f"{number_name(entering.weight)}"
    )
