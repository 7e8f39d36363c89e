"""CKY step by step: the best derivation of a sentence by its bilexical grammar (Smith 2017)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arborescence.explaining.eisner import Chart, Way
from arborescence.explaining.grammar import Grammar, Rule, rule_of
from arborescence.explaining.problem import counted
from arborescence.explaining.steps import Detail, number_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.explaining.problem import Problem
    from arborescence.explaining.steps import Step

#: A constituent by its first and last word and its head; the head of S, over all words, is 0.
Item = tuple[int, int, int]


@dataclass(frozen=True)
class Constituent:
    """A cell of the chart."""

    # first, last, head: its words, and which of them is its head: it is built from N_head. S has
    # the head 0.
    first: int
    last: int
    head: int
    weight: float | None  # the best weight; None if there is no such constituent
    rule: str  # the rule that builds it in the best case; empty if there is none
    # the back pointers: first and last word and head of each part
    parts: tuple[Item, ...]


@dataclass(frozen=True)
class Constituents(Detail):
    """Constituents that a step fills or opens. The chart is those of all steps up to here."""

    constituents: tuple[Constituent, ...]

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each constituent."""
        rows = [["constituent", "weight", "rule", "of"]]
        for one in self.constituents:
            weight = "none" if one.weight is None else number_name(one.weight)
            parts = " + ".join(item_name(part, names) for part in one.parts)
            name = item_name((one.first, one.last, one.head), names)
            rows.append([name, weight, one.rule, parts])
        return rows


def item_name(item: Item, names: Sequence[str]) -> str:
    """Return a constituent as text, as on the page on projective trees: B[first, last, head]."""
    first, last, head = (names[word] for word in item)
    return f"B[{first}, {last}, {head}]" if item[2] else f"S[{first}, {last}]"


class ConstituentChart(Chart[Item]):
    """The best weight of each constituent, and the rule that builds it."""

    def rule(self, item: Item) -> str:
        """Return the rule that builds a constituent, as text."""
        first, last, head = item
        way, grammar = self.ways.get(item), Grammar(self.problem)
        if first == last == head:
            return grammar.name(Rule(head, (head,)))
        return "" if way is None or way.edge is None else grammar.name(rule_of(way.edge))

    def show(self, items: Iterable[Item]) -> Constituents:
        """Return constituents as steps show them."""
        none: Way[Item] = Way(())
        return Constituents(
            tuple(
                Constituent(*item, self.weight(item), self.rule(item), way.parts)
                for item in items
                for way in (self.ways.get(item, none),)
            )
        )

    def tell(self, item: Item) -> str:
        """Say by which rule a constituent was built."""
        return f"{item_name(item, self.problem.words)} was built by the rule {self.rule(item)}."


def ways_of(item: Item) -> Iterator[Way[Item]]:
    """Yield the ways to build a constituent: each place where it is split, and each dependent."""
    first, last, head = item
    if head == 0:
        for top in range(first, last + 1):
            yield Way(((first, last, top),), None, (0, top))
        return
    for split in range(first, last):
        if head <= split:
            for d in range(split + 1, last + 1):
                yield Way(((first, split, head), (split + 1, last, d)), split, (head, d))
        else:
            for d in range(first, split + 1):
                yield Way(((first, split, d), (split + 1, last, head)), split, (head, d))


def steps(problem: Problem) -> Iterator[Step]:
    """Yield the steps to the best derivation, O(n⁵), and to its tree."""
    chart = ConstituentChart(problem)
    words = range(1, problem.n + 1)
    alone = [(v, v, v) for v in words]
    top = (1, problem.n, 0)
    chart.weights.update(dict.fromkeys([*alone, top], 0))  # nothing to build if there are no words
    yield problem.step(
        "start",
        "The smallest constituents: each word v alone, by its rule N_v → v, which weighs nothing.",
        detail=chart.show(alone),
    )
    for width in words[:-1]:
        for first in words[:-width]:
            yield fill(chart, first, first + width)
    if problem.n:
        chart.fill(top, ways_of(top))
    *others, last = chart.read_back(top, single=True)
    yield from others
    if last.kind == "tree" and problem.n:
        count = Grammar(problem).count([h or 0 for h in last.heads])
        orders = counted(count, "derivation")
        text = f"{last.text} The grammar has {orders} of it: one for each order in which heads can "
        last = replace(last, text=f"{text}take dependents from their two sides.")
    yield last


def fill(chart: ConstituentChart, first: int, last: int) -> Step:
    """Fill the constituents over the words from first to last, one for each head."""
    problem, inside = chart.problem, range(first, last + 1)
    items = [(first, last, head) for head in inside]
    for item in items:
        chart.fill(item, ways_of(item))
    return problem.step(
        "fill",
        f"The constituents from {problem.words[first]} to {problem.words[last]}, one with each of "
        "these words as its head. Each takes the split and the rule that give the most.",
        looks_at=tuple((h, d) for h in inside for d in inside if h != d),
        detail=chart.show(items),
    )
