"""Eisner's algorithm step by step: the chart of spans, and the way back by its pointers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from arborescence.explaining.problem import number
from arborescence.explaining.steps import Detail, Pair, number_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step

#: The items of a chart, such as spans of words: each has a weight.
Part = TypeVar("Part")


class Way(NamedTuple, Generic[Part]):
    """A way to build an item. Its weight is the sum of the weights of its parts and its edge."""

    #: the parts
    parts: tuple[Part, ...]
    #: the position where the parts meet, if any
    split: int | None = None
    #: the new edge, if any
    edge: Pair | None = None


class Chart(Generic[Part]):
    """The best weight of each item, in whole units, exactly, and the best way to build it.

    Each algorithm derives a class with its own `show` and `tell`, for its steps.
    """

    def __init__(self, problem: ScoredSentence) -> None:
        self.problem = problem
        self.unit = lcm(*(score.denominator for score in problem.scores.values()))
        self.scores = {edge: int(score * self.unit) for edge, score in problem.scores.items()}
        self.weights: dict[Part, int | None] = {}
        self.ways: dict[Part, Way[Part]] = {}

    def show(self, items: Iterable[Part]) -> Detail:
        """Return items with their weights, for a step."""
        raise NotImplementedError

    def tell(self, item: Part) -> str:
        """Return a sentence about how an item was built."""
        raise NotImplementedError

    def weight(self, item: Part) -> float | None:
        """Return the best weight of an item, rounded once."""
        weight = self.weights[item]
        return None if weight is None else number(Fraction(weight, self.unit))

    def fill(self, item: Part, ways: Iterable[Way[Part]]) -> None:
        """Find the best of the ways to build an item; on a tie, the first."""
        best: int | None = None
        for way in ways:
            weight = 0 if way.edge is None else self.scores.get(way.edge)
            for part in way.parts:
                other = self.weights[part]
                weight = None if weight is None or other is None else weight + other
            if weight is not None and (best is None or weight > best):
                best = weight
                self.ways[item] = way
        self.weights[item] = best

    def read_back(self, top: Part, *, single: bool) -> Iterator[Step]:
        """Yield a step for each part of the sentence, then the tree; or why there is no tree."""
        if self.weights[top] is None:
            yield self.problem.step(
                "no-tree",
                "No span covers the whole sentence, so there is no projective tree"
                f"{' with a single root edge' if single else ''}.",
                detail=self.show((top,)),
            )
            return
        heads: list[int | None] = [-1, *[None] * self.problem.n]
        waiting = [top]
        while waiting:
            item = waiting.pop()
            if item not in self.ways:  # a node alone
                continue
            way = self.ways[item]
            if way.edge is not None:
                heads[way.edge[1]] = way.edge[0]
            waiting.extend(reversed(way.parts))
            yield self.problem.step(
                "back",
                self.tell(item),
                heads=tuple(heads),
                looks_at=() if way.edge is None else (way.edge,),
                detail=self.show((item,)),
            )
        weight = number(self.problem.weight(heads))
        text = f"This is the best projective tree, of weight {number_name(weight)}."
        yield self.problem.step("tree", text, heads=tuple(heads), weight=weight)


#: A span by its kind, its head and its other end. In a *complete* span, all words from the head to
#: the end are below the head; an *incomplete* span is an edge with the words between its two ends.
Item = tuple[str, int, int]
COMPLETE, INCOMPLETE = "complete", "incomplete"


@dataclass(frozen=True)
class Span:
    """A cell of the chart."""

    #: `COMPLETE` or `INCOMPLETE`
    kind: str
    #: the head
    head: int
    #: the other end; of an incomplete span, the dependent
    end: int
    #: the best weight; None if the span does not exist
    weight: float | None
    #: the position where the two parts of the best way meet; None if the span has no parts
    split: int | None = None
    #: the back pointers: kind, head and end of both parts
    parts: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Spans(Detail):
    """Spans that a step fills or opens. The chart has the spans of all steps so far."""

    #: the spans
    spans: tuple[Span, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each span."""
        rows = [["made by", "span", "weight", "of"]]
        for span in self.spans:
            item = (span.kind, span.head, span.end)
            parts = " + ".join(item_name(part, names) for part in span.parts)
            made_by = "attach" if span.kind == INCOMPLETE else "complete"
            side = "" if span.head == span.end else f"{made_by} {side_of(item)}"
            rows.append([side, item_name(item, names), weight_name(span.weight), parts])
        return rows


def item_name(item: Item, names: Sequence[str]) -> str:
    """Return a span as text, as on the page on projective trees: C[head, end] or I[head, end]."""
    kind, head, end = item
    return f"{'C' if kind == COMPLETE else 'I'}[{names[head]}, {names[end]}]"


def side_of(item: Item) -> str:
    """Return the side of its head on which a span lies."""
    return "left" if item[2] < item[1] else "right"


def rule_name(item: Item) -> str:
    """Return the *lecture*'s name of the rule that makes a span."""
    side = side_of(item)
    if item[0] == COMPLETE:
        return f"complete a {side} child"
    return f"attach a {side} dependent"


def weight_name(weight: float | None) -> str:
    """Return the weight of an item as text."""
    return "none" if weight is None else number_name(weight)


class SpanChart(Chart[Item]):
    """The best weight of each span, and where it is split."""

    def show(self, items: Iterable[Item]) -> Spans:
        """Return spans for steps."""
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
        names, way = self.problem.words, self.ways[item]
        edge = "" if way.edge is None else f" by {self.problem.edge(way.edge)}"
        first, second = (item_name(part, names) for part in way.parts)
        return f"{item_name(item, names)}: {rule_name(item)}{edge}, of {first} and {second}."


def ways_of(item: Item, *, single: bool) -> Iterator[Way[Item]]:
    """Yield the ways to build a span: one way for each position where its parts can meet."""
    kind, head, end = item
    low, high = min(head, end), max(head, end)
    if kind == COMPLETE:
        for split in range(head + 1, end + 1) if head < end else range(end, head):
            yield Way(((INCOMPLETE, head, split), (COMPLETE, split, end)), split)
        return
    # With a single root edge, all words before the only child are below this child.
    for split in range(1) if single and head == 0 else range(low, high):
        yield Way(((COMPLETE, low, split), (COMPLETE, high, split + 1)), split, (head, end))


def steps(problem: ScoredSentence, *, single: bool) -> Iterator[Step]:
    """Yield the steps to the best projective tree."""
    chart = SpanChart(problem)
    n = problem.n
    alone = [(COMPLETE, i, i) for i in range(n + 1)]
    chart.weights.update(dict.fromkeys(alone, 0))
    yield problem.step(
        "start",
        "Initialization: the root alone and each word alone are triangles (complete spans) of "
        "weight 0. Then longer spans are made of shorter ones. Attach: two triangles and an edge "
        "make a trapezoid (an incomplete span). Complete: a trapezoid and a triangle make a "
        "triangle. Each takes the split that gives the most.",
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
    weights = [weight_name(chart.weight(item)) for item in items]
    edges = [f"{problem.edge(cell)} {weight}" for cell, weight in zip(cells, weights, strict=False)]
    heads = [
        f"head {problem.words[h]} {weight}"
        for (h, _), weight in zip(cells, weights[len(cells) :], strict=True)
    ]
    goal = ", the goal" if (i, j) == (0, problem.n) else ""
    return problem.step(
        "fill",
        f"From {problem.words[i]} to {problem.words[j]}{goal}. Attach: {', '.join(edges)}. "
        f"Complete: {', '.join(heads)}.",
        looks_at=cells,
        detail=chart.show(items),
    )
