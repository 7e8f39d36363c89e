"""The state of a search under constraints: parts of all trees, their conditions and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arborescence.explaining.problem import listed
from arborescence.explaining.steps import Detail, edge_name, number_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    #: Head, dependent, label.
    Triple = tuple[int, int, int]

#: A text names at most this many words or labels; of longer lists it gives only the number.
_NAMED = 4


@dataclass(frozen=True)
class Condition:
    """Edges that no tree of a part has; or (`required`) one of them enters each dependent."""

    #: whether one of the edges enters each dependent; else no tree has any of them
    required: bool
    #: the heads of the edges
    heads: tuple[int, ...]
    #: their dependents
    dependents: tuple[int, ...]
    #: the numbers of their labels
    labels: tuple[int, ...]

    def allows(self, edge: Triple) -> bool:
        """Tell whether a tree that keeps the condition may have an edge."""
        head, dependent, label = edge
        inside = head in self.heads and label in self.labels
        return dependent not in self.dependents or inside == self.required

    def name(self, names: Sequence[str], labels: Sequence[str]) -> str:
        """Return the condition as text."""
        edges = set_of(self.heads, self.dependents, self.labels, names, labels)
        return f"{'with' if self.required else 'without'} {edges}"


@dataclass(frozen=True)
class Branch:
    """A part of all trees: the conditions of its trees, and its best tree."""

    #: the edges that were forbidden or required
    conditions: tuple[Condition, ...]
    #: a bound of the weights of the part's trees that keep the rules; None if there is no tree
    bound: float | None = None
    #: the heads of the best tree, which may break a rule; empty if there is no tree
    heads: tuple[int, ...] = ()
    #: the labels of the best tree
    labels: tuple[int, ...] = ()
    #: rules and words: the part's trees may break these rules, and the bound includes the cost
    paid: tuple[tuple[str, int], ...] = ()
    #: the prices at levels above the scores that go with the bound, the highest level first
    levels: tuple[int, ...] = ()

    @property
    def edges(self) -> list[Triple]:
        """The edges of the tree, each with its label."""
        return [(self.heads[d], d, self.labels[d]) for d in range(1, len(self.heads))]

    @property
    def worth(self) -> str:
        """The bound as text, with the prices at levels."""
        if self.bound is None:
            return "no tree"
        levels = zip(range(len(self.levels), 0, -1), self.levels, strict=True)
        prices = [f"{price} at level {level}" for level, price in levels if price]
        return number_name(self.bound) + (f" (and pays {listed(prices)})" if prices else "")


@dataclass(frozen=True)
class SearchState(Detail):
    """The part of a step, the parts that the step makes of it, and the parts that wait."""

    #: the part of the step
    part: Branch
    #: the parts that the step makes, the highest bound first
    made: tuple[Branch, ...]
    #: the parts that wait, the highest bound first
    waiting: tuple[Branch, ...]
    #: the names of the labels
    label_names: tuple[str, ...]
    #: the number of trees decoded so far
    nodes: int
    #: the name of the rule that the tree breaks, if the rule has a name
    rule: str = ""
    #: the prices of the tree's edges, as texts
    dues: tuple[str, ...] = ()

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each part, with the new edges of its tree; without parts, the tree."""
        if not self.made:
            rows = [
                [names[d], names[h], self.label_names[label]] for h, d, label in self.part.edges
            ]
            return [["word", "head", "label"], *rows]
        rows = [["", "bound", "trees", "new edges"]]
        for mark, parts in (("new", self.made), ("waits", self.waiting)):
            for part in parts:
                new = [edge for edge in part.edges if edge not in self.part.edges]
                edges = ", ".join(self.edge(edge, names) for edge in new)
                rows.append([mark, part.worth, self.conditions(part, names), edges])
        return rows

    def conditions(self, part: Branch, names: Sequence[str]) -> str:
        """Return the common edges and conditions of the trees of a part as text."""
        texts = [condition.name(names, self.label_names) for condition in part.conditions]
        texts += [f"paying for {rule or 'a rule'} ({names[word]})" for rule, word in part.paid]
        return ", ".join(texts) or "all"

    def edge(self, edge: Triple, names: Sequence[str]) -> str:
        """Return an edge and its label as text."""
        *pair, label = edge
        name = self.label_names[label]
        return edge_name((pair[0], pair[1]), names) + (f" ({name})" if name else "")

    @property
    def refused(self) -> list[Triple]:
        """The edges of the tree that the conditions of a new part forbid."""
        conditions = [each for part in self.made for each in part.conditions]
        return [
            edge for edge in self.part.edges if not all(each.allows(edge) for each in conditions)
        ]


def set_of(
    heads: tuple[int, ...],
    dependents: tuple[int, ...],
    numbers: tuple[int, ...],
    names: Sequence[str],
    labels: Sequence[str],
) -> str:
    """Return a set of edges as text."""
    label = "" if len(numbers) == len(labels) else f" ({_named(numbers, labels, 0)})"
    return f"{_named(heads, names, 0)} → {_named(dependents, names, 1)}{label}"


def _named(which: Sequence[int], names: Sequence[str], first: int) -> str:
    """Return some of the names as text; the names before number `first` cannot be among them."""
    others = [name for number, name in enumerate(names) if number >= first and number not in which]
    if not others:
        return "any"
    if len(others) == 1 < len(which):
        return f"any but {others[0]}"
    if len(which) > _NAMED:
        return f"{len(which)} of {len(names)}"
    return "/".join(names[number] for number in which)
