"""Eisner's algorithm step by step: the chart of spans, and the way back by its pointers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arborescence.explaining.chart import Chart, Way
from arborescence.explaining.steps import Detail, Pair, number_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

#: A span by its kind, its head and its other end: a *complete* span has all below its head on one
#: side, as far as its end; an *incomplete* span is an edge and what is between head and dependent.
Item = tuple[str, int, int]
COMPLETE, INCOMPLETE = "complete", "incomplete"


@dataclass(frozen=True)
class Span:
    """A cell of the chart."""

    kind: str
    # head, end: the head, and the other end; of an incomplete span the dependent
    head: int
    end: int
    weight: float | None  # the best weight; None if there is no such span
    split: int | None = None  # where its two parts meet in the best case. None if it has no parts.
    # the back pointers: kind, head and end of both parts
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


class SpanChart(Chart[Item]):
    """The best weight of each span, and where it is split."""

    def show(self, items: Iterable[Item]) -> Spans:
        """Return spans as steps show them."""
        none: Way[Item] = Way(())
        return Spans(
            tuple(
                Span(*item, self.weight(item), way.split, way.parts)
                for item in items
                for way in (self.ways.get(item, none),)
            )
        )

    def tell(self, item: Item) -> str:
        """Say how a span was built."""
        name, edge = item_name(item, self.problem.words), self.ways[item].edge
        if edge is None:
            return f"{name} was built of two parts."
        return f"{name} is the edge {self.problem.edge(edge)}."


def ways_of(item: Item, *, single: bool) -> Iterator[Way[Item]]:
    """Yield the ways to build a span: one for each place where its two parts can meet."""
    kind, head, end = item
    low, high = min(head, end), max(head, end)
    if kind == COMPLETE:
        for split in range(head + 1, end + 1) if head < end else range(end, head):
            yield Way(((INCOMPLETE, head, split), (COMPLETE, split, end)), split)
        return
    # With a single root edge, all words before the only child are below it.
    for split in range(1) if single and head == 0 else range(low, high):
        yield Way(((COMPLETE, low, split), (COMPLETE, high, split + 1)), split, (head, end))


def steps(problem: Problem, *, single: bool) -> Iterator[Step]:
    """Yield the steps to the best projective tree."""
    chart = SpanChart(problem)
    n = problem.n
    alone = [(COMPLETE, i, i) for i in range(n + 1)]
    chart.weights.update(dict.fromkeys(alone, 0))
    yield problem.step(
        "start",
        "The smallest complete spans: each word alone, and the root alone. They weigh nothing.",
        detail=chart.show(alone),
    )
    for width in range(1, n + 1):
        for i in range(n + 1 - width):
            yield fill(chart, i, i + width, single=single)
    yield from chart.read_back((COMPLETE, 0, n), single=single)


def fill(chart: SpanChart, i: int, j: int, *, single: bool) -> Step:
    """Fill the spans from i to j: the two edges between the ends, then the complete spans."""
    problem = chart.problem
    cells: tuple[Pair, ...] = ((i, j), (j, i))
    items: list[Item] = [(kind, *ends) for kind in (INCOMPLETE, COMPLETE) for ends in cells]
    if i == 0:  # no edge enters the root
        items, cells = items[::2], cells[:1]
    for item in items:
        chart.fill(item, ways_of(item, single=single))
    one, other = problem.words[i], problem.words[j]
    return problem.step(
        "fill",
        f"The spans from {one} to {other}: first those with an edge between the two, then those "
        "of which one is the head. Each takes the place to split it that gives the most.",
        looks_at=cells,
        detail=chart.show(items),
    )
