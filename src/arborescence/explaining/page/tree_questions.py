"""Questions on Eisner's chart, on transitions, and on the second best tree."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from arborescence.explaining import chu_liu_edmonds, eisner, transitions
from arborescence.explaining.eisner import INCOMPLETE, Spans, item_name, rule_name, ways_of
from arborescence.explaining.problem import ScoredSentence, edges_of, number
from arborescence.explaining.steps import Edge, number_name
from arborescence.explaining.transitions import Configuration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.explaining.eisner import Item, Span
    from arborescence.explaining.steps import Pair, Step

    #: The shown state, the question, the answer, and the options, if there are any.
    Asked = tuple[Step, str, str, Sequence[float] | Sequence[str]]

#: The kinds of steps that show the state before a question.
ASKED, CHART = "asked", "chart"
ACTIONS = ("SHIFT", "LEFT-ARC", "RIGHT-ARC")


def graph_step(step: Step, problem: ScoredSentence, tree: Sequence[Pair]) -> Step:
    """Return a step with all edges of a graph; the edges of the tree are chosen."""
    edges = {edge: Edge(*edge, number(score), edge) for edge, score in problem.scores.items()}
    return replace(step, edges=tuple(edges.values()), chosen=tuple(edges[edge] for edge in tree))


def what_a_span_weighs(problem: ScoredSentence, random: Iterator[int]) -> Asked | None:
    """Ask what an incomplete span of Eisner's algorithm weighs."""
    chart: list[Span] = []
    questions: list[Asked] = []
    for step in eisner.steps(problem, single=True):
        if step.kind not in ("start", "fill") or not isinstance(step.detail, Spans):
            break
        shown = problem.step(CHART, "The chart so far.", detail=Spans(tuple(chart)))
        for span in step.detail.spans:
            if span.kind == INCOMPLETE and (asked := span_asked(problem, span, chart)):
                cell = ((span.head, span.end),)
                questions.append((graph_step(replace(shown, looks_at=cell), problem, ()), *asked))
        chart += step.detail.spans
    return questions[next(random) % len(questions)] if questions else None


def span_asked(
    problem: ScoredSentence, span: Span, chart: Sequence[Span]
) -> tuple[str, str, list[float]] | None:
    """Return question, answer and numbers for a span, if its splits differ in weight."""
    item: Item = (span.kind, span.head, span.end)
    edge = item[1:]
    weight_of = {(each.kind, each.head, each.end): each.weight for each in chart}
    ways = []
    for way in ways_of(item, single=True):
        first, second = (weight_of[part] for part in way.parts)
        if first is not None and second is not None:
            ways.append((first + second, first, second, way.parts))
    if span.weight is None or len(ways) < 2:
        return None
    best, first, second, parts = max(ways, key=lambda way: way[0])
    score = number(problem.scores[edge])
    options = sorted({best + score, best, min(way[0] for way in ways) + score, score})
    if len(options) < 4:
        return None
    names = problem.words
    question = f"{rule_name(item).capitalize()}: what does {item_name(item, names)} weigh?"
    left, right = (item_name(part, names) for part in parts)
    numbers = " + ".join(map(number_name, (first, second, score)))
    answer = (
        f"{number_name(span.weight)}: of all splits, {left} + {right} weigh most, and the edge "
        f"{problem.edge(edge)} comes in: {numbers} = {number_name(span.weight)}."
    )
    return question, answer, options


def which_action_comes(problem: ScoredSentence, random: Iterator[int]) -> Asked | None:
    """Ask which transition comes next, of a graph that has only the edges of the tree."""
    *_, best = eisner.steps(problem, single=True)
    if best.kind != "tree":
        return None
    tree = edges_of(best.heads)
    only = ScoredSentence(problem.n, dict.fromkeys(tree, Fraction(1)), problem.words)
    *steps, _ = transitions.steps(only, single=True)
    states = [
        (step, after.kind.upper())
        for step, after in pairwise(steps)
        if isinstance(step.detail, Configuration) and len(step.detail.stack) > 1
    ]
    step, action = states[next(random) % len(states)]
    question = (
        "The graph has only the edges of the tree. An edge is added as soon as its dependent has "
        "all of its own dependents. Which action comes next?"
    )
    answer = f"{action}: {why(only, step, action)}"
    return graph_step(step, only, edges_of(step.heads)), question, answer, ACTIONS


def why(tree: ScoredSentence, step: Step, action: str) -> str:
    """Return why an action comes next."""
    below, top = step.detail.stack[-2:] if isinstance(step.detail, Configuration) else (0, 0)
    edge = (top, below) if action == "LEFT-ARC" else (below, top)
    if action != "SHIFT":
        return (
            f"{tree.edge(edge)} is in the tree, and {tree.words[edge[1]]} has all of its own "
            "dependents."
        )
    if edge in tree.scores:
        return f"{tree.edge(edge)} is in the tree, but {tree.words[top]} still lacks a dependent."
    return "no edge of the tree joins the two nodes on top of the stack."


def which_edge_goes(problem: ScoredSentence, random: Iterator[int]) -> Asked | None:  # noqa: ARG001
    """Ask which edge of the best tree the second best tree lacks, with any number of root edges."""
    best = best_tree(problem)
    if best is None:
        return None
    weight = problem.weight(best)
    others = []
    for edge in edges_of(best):
        other = best_tree(problem.without({edge}))
        if other is not None:
            others.append((problem.weight(other), edge, other))
    others.sort(key=lambda way: -way[0])
    if len(others) < 2 or not weight > others[0][0] > others[1][0]:
        return None
    second, lacking, other = others[0]
    new = [edge for edge in edges_of(other) if edge not in edges_of(best)]
    if len(new) != 1:
        return None
    step = graph_step(problem.step(ASKED, "The best tree."), problem, edges_of(best))
    question = (
        f"The best tree, with any number of root edges, weighs {number_name(number(weight))}. "
        "Which of its edges does the second best tree lack?"
    )
    answer = (
        f"{problem.edge(lacking)}: {problem.edge(new[0])} takes its place, and the tree weighs "
        f"{number_name(number(second))}. Without another edge, it weighs less."
    )
    return step, question, answer, ()


def best_tree(problem: ScoredSentence) -> tuple[int | None, ...] | None:
    """Return the best tree of a graph, with any number of root edges; None if there is none."""
    *_, last = chu_liu_edmonds.steps(problem, recorded=False)
    return last.heads if last.kind == "tree" else None
