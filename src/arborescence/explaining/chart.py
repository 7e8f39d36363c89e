"""A chart step by step: the best way to build each item, exactly, and the way back to the tree."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from arborescence.explaining.problem import number
from arborescence.explaining.steps import Pair, number_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Detail, Step

#: What a chart has a weight for, such as a span of words.
Item = TypeVar("Item")


class Way(NamedTuple, Generic[Item]):
    """A way to build an item: its parts, where they meet, and any edge it adds."""

    # The weight is the sum of all of these.

    parts: tuple[Item, ...]
    split: int | None = None
    edge: Pair | None = None


class Chart(Generic[Item]):
    """The best weight of each item, in whole units, exactly, and the best way to build it."""

    # An algorithm makes its own of it, with two methods that say what its steps show

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.unit = lcm(*(score.denominator for score in problem.scores.values()))
        self.scores = {edge: int(score * self.unit) for edge, score in problem.scores.items()}
        self.weights: dict[Item, int | None] = {}
        self.ways: dict[Item, Way[Item]] = {}

    def show(self, items: Iterable[Item]) -> Detail:
        """Return items with their weights, as a step shows them."""
        raise NotImplementedError

    def tell(self, item: Item) -> str:
        """Return a sentence that says how an item was built."""
        raise NotImplementedError

    def weight(self, item: Item) -> float | None:
        """Return the best weight of an item, rounded once."""
        weight = self.weights[item]
        return None if weight is None else number(Fraction(weight, self.unit))

    def fill(self, item: Item, ways: Iterable[Way[Item]]) -> None:
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

    def read_back(self, top: Item, *, single: bool) -> Iterator[Step]:
        """Yield a step for each part of the sentence, then the tree; or why there is none."""
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
