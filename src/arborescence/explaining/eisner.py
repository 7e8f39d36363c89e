"""Eisner's algorithm step by step: the chart of spans, and the way back by its pointers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from arborescence.explaining.problem import number
from arborescence.explaining.steps import Detail, Pair, number_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

#: A span by its kind, its head and its other end: a *complete* span has all below its head on one
#: side, as far as its end; an *incomplete* span is an edge and what is between head and dependent.
Item = tuple[str, int, int]
COMPLETE, INCOMPLETE = "complete", "incomplete"


@dataclass(frozen=True)
class Span:
    """A cell of the chart.

    Attributes
    ----------
    kind : {"complete", "incomplete"}
    head, end : int
        The head, and the other end; of an incomplete span the dependent.
    weight : float or None
        The best weight; None if there is no such span.
    split : int or None
        Where its two parts meet in the best case. None if it has no parts.
    parts : tuple of (str, int, int)
        The back pointers: kind, head and end of both parts.
    """

    kind: str
    head: int
    end: int
    weight: float | None
    split: int | None = None
    parts: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Spans(Detail):
    """Spans that a step fills or opens. The chart is those of all steps up to here."""

    spans: tuple[Span, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each span."""
        rows = [["span", "weight", "of"]]
        for span in self.spans:
            weight = "none" if span.weight is None else number_name(span.weight)
            parts = " + ".join(item_name(part, names) for part in span.parts)
            rows.append([item_name((span.kind, span.head, span.end), names), weight, parts])
        return rows


def item_name(item: Item, names: Sequence[str]) -> str:
    """Return a span as text, as on the page on projective trees: C[head, end] or I[head, end]."""
    kind, head, end = item
    return f"{'C' if kind == COMPLETE else 'I'}[{names[head]}, {names[end]}]"


class Chart:
    """The best weight of each span, exactly, and its back pointers."""

    def __init__(self, problem: Problem, *, single: bool) -> None:
        self.problem = problem
        self.single = single
        self.weights: dict[Item, Fraction | int | None] = {}
        self.splits: dict[Item, int] = {}

    def parts(self, item: Item, split: int) -> tuple[Item, Item]:
        """Return the two parts of a span."""
        kind, head, end = item
        if kind == COMPLETE:
            return (INCOMPLETE, head, split), (COMPLETE, split, end)
        return (COMPLETE, min(head, end), split), (COMPLETE, max(head, end), split + 1)

    def places(self, item: Item) -> range:
        """Return the places where a span's parts can meet."""
        kind, head, end = item
        if kind == COMPLETE:
            return range(head + 1, end + 1) if head < end else range(end, head)
        if self.single and head == 0:  # all words before the only child are below it
            return range(1)
        return range(min(head, end), max(head, end))

    def fill(self, item: Item) -> Span:
        """Find the best way to build a span; on a tie, the leftmost split."""
        kind, head, end = item
        added: Fraction | int | None = 0
        if kind == INCOMPLETE:
            added = self.problem.scores.get((head, end))
        best: Fraction | int | None = None
        for split in self.places(item):
            one, other = (self.weights[part] for part in self.parts(item, split))
            if one is None or other is None or added is None:
                continue
            weight = one + other + added
            if best is None or weight > best:
                best = weight
                self.splits[item] = split
        self.weights[item] = best
        return self.span(item)

    def span(self, item: Item) -> Span:
        """Return a span as steps show it."""
        kind, head, end = item
        weight = self.weights[item]
        split = self.splits.get(item)
        parts = () if split is None else self.parts(item, split)
        return Span(
            kind, head, end, None if weight is None else number(Fraction(weight)), split, parts
        )


def steps(problem: Problem, *, single: bool) -> Iterator[Step]:
    """Yield the steps to the best projective tree."""
    chart = Chart(problem, single=single)
    n = problem.n
    for i in range(n + 1):
        chart.weights[COMPLETE, i, i] = 0
    yield problem.step(
        "start",
        "The smallest complete spans: each word alone, and the root alone. They weigh nothing.",
        detail=Spans(tuple(chart.span((COMPLETE, i, i)) for i in range(n + 1))),
    )
    for width in range(1, n + 1):
        for i in range(n + 1 - width):
            yield fill(chart, i, i + width)
    top = (COMPLETE, 0, n)
    if chart.weights[top] is None:
        yield problem.step(
            "no-tree",
            "No span covers the whole sentence, so there is no projective tree"
            f"{' with a single root edge' if single else ''}.",
            detail=Spans((chart.span(top),)),
        )
        return
    yield from read_back(chart, top)


def fill(chart: Chart, i: int, j: int) -> Step:
    """Fill the spans from i to j: the two edges between the ends, then the complete spans."""
    problem = chart.problem
    cells: tuple[Pair, ...] = ((i, j), (j, i))
    items: list[Item] = [(kind, *ends) for kind in (INCOMPLETE, COMPLETE) for ends in cells]
    if i == 0:  # no edge enters the root
        items, cells = items[::2], cells[:1]
    spans = tuple(chart.fill(item) for item in items)
    one, other = problem.words[i], problem.words[j]
    return problem.step(
        "fill",
        f"The spans from {one} to {other}: first those with an edge between the two, then those "
        "of which one is the head. Each takes the place to split it that gives the most.",
        looks_at=cells,
        detail=Spans(spans),
    )


def read_back(chart: Chart, top: Item) -> Iterator[Step]:
    """Follow the back pointers from the whole sentence, and yield the tree."""
    problem = chart.problem
    heads: list[int | None] = [-1, *[None] * problem.n]
    waiting = [top]
    while waiting:
        item = waiting.pop()
        kind, head, end = item
        if item not in chart.splits:  # a node alone
            continue
        span = chart.span(item)
        text = f"{item_name(item, problem.words)} was built of two parts."
        cell: tuple[Pair, ...] = ()
        if kind == INCOMPLETE:
            heads[end] = head
            cell = ((head, end),)
            text = f"{item_name(item, problem.words)} is the edge {problem.edge((head, end))}."
        waiting.extend(reversed(span.parts))
        yield problem.step("back", text, heads=tuple(heads), looks_at=cell, detail=Spans((span,)))
    weight = number(problem.weight(heads))
    text = f"This is the best projective tree, of weight {number_name(weight)}."
    yield problem.step("tree", text, heads=tuple(heads), weight=weight)
