"""The swaps of a best tree's edges: Zmigrod, Vieira and Cotterell (2021), Figure 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arborescence.explaining import chu_liu_edmonds
from arborescence.explaining.contraction import Contraction
from arborescence.explaining.problem import number
from arborescence.explaining.steps import Detail, Node, Pair, edge_name, node_name, number_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from arborescence.explaining.problem import Problem

    Heads = tuple[int | None, ...]


@dataclass(frozen=True)
class Swap:
    """An edge of the tree, and the best edge that can replace it."""

    node: Node  # the node of the contracted graph whose best edge it is
    # edge, replacement: (int, int): original edges. The replacement is None if there is none.
    edge: Pair
    replacement: Pair | None
    cost: float | None  # what the tree loses


@dataclass(frozen=True)
class Swaps(Detail):
    """The swaps of a tree, and the cheapest one."""

    swaps: tuple[Swap, ...]
    cheapest: Swap | None

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each edge of the tree that may be replaced."""
        rows = [["", "edge of the tree", "best edge into", "replacement", "cost"]]
        for swap in self.swaps:
            other = "none" if swap.replacement is None else edge_name(swap.replacement, names)
            cost = "" if swap.cost is None else number_name(swap.cost)
            mark = "*" if swap == self.cheapest else ""
            rows.append(
                [mark, edge_name(swap.edge, names), node_name(swap.node, names), other, cost]
            )
        return rows


def swaps_of(
    graph: Problem, tree: Heads, required: Sequence[Pair]
) -> list[tuple[Fraction | None, Swap]]:
    """Return the cost and the swap of each edge of the best tree of a graph."""
    # The graph is contracted, with the tree's edges preferred on a tie. Then each edge of the tree
    # is the best edge into one node. Its replacement is the next best edge into this node that does
    # not start below the edge itself, as that would close a cycle
    state = Contraction(graph, tree, recorded=False)
    for _ in chu_liu_edmonds.contract_cycles(state):
        pass
    swaps: list[tuple[Fraction | None, Swap]] = []
    for x, entry in sorted(state.chosen.items(), key=lambda item: item[1].into):
        if tree[entry.into] != entry.head or entry.edge in required:
            continue
        others = [
            other
            for other in state.entering[x]
            if other != entry and not _is_below(tree, other.head, entry.into)
        ]
        best = state.best(x, others)
        cost = None if best is None else entry.gain - best.gain
        swap = Swap(
            state.node(x),
            entry.edge,
            None if best is None else best.edge,
            None if cost is None else number(cost),
        )
        swaps.append((cost, swap))
    return swaps


def _is_below(tree: Heads, node: int | None, above: int) -> bool:
    """Return whether a node is another one, or below it in a tree."""
    while node is not None and node > 0 and node != above:
        node = tree[node]
    return node == above
