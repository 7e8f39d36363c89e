"""Undirected parsing by the algorithm of Karger, Klein and Tarjan (1995), step by step.

This is Algorithm 2 of Levi et al. (2016), for maximum trees; a loop replaces its second recursive
call.
Heavy edges are found by walks along the forest, not in linear time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arborescence.explaining.problem import counted, counted_with_verb
from arborescence.explaining.steps import Pair, number_name
from arborescence.explaining.undirected import (
    Multigraph,
    better,
    boruvka_step,
    links_of,
    new_parts,
    nodes_of,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from arborescence.explaining.problem import ScoredSentence
    from arborescence.explaining.steps import Step
    from arborescence.explaining.undirected import Pairs, Parts

HEAVY, LIGHT = "F-heavy: removed", "F-light: kept"


@dataclass(frozen=True)
class Heavy(Multigraph):
    """Edges outside a forest F: an F-heavy edge is worse than each edge of the path in F."""

    #: the worst edge of the path in F between the ends; None if there is no path
    worst: tuple[Pair | None, ...] = ()

    def table(self, names: Sequence[str]) -> list[list[str]]:
        """Return a row for each edge, with the worst edge of the path in F."""
        head, *rows = super().table(names)
        weights = {(link.one, link.other): link.weight for link in self.links}
        paths = [
            "no path"
            if pair is None
            else f"{names[pair[0]]} – {names[pair[1]]} {number_name(weights[pair])}"
            for pair in self.worst
        ]
        return [
            [*head, "worst on the path in F"],
            *([*row, path] for row, path in zip(rows, paths, strict=True)),
        ]


def steps(problem: ScoredSentence, *, single: bool) -> Iterator[Step]:
    """Yield the steps of `undirected.decode`, with this algorithm for the spanning tree."""
    yield from parse(problem, spanning_tree, single=single)


def spanning_tree(
    problem: ScoredSentence, pairs: Pairs, first: int
) -> Generator[Step, None, list[Pair] | None]:
    """Find the spanning tree; None if the pairs do not connect all nodes."""
    parts = new_parts(problem, first)
    coins = np.random.default_rng(0)  # the tree does not depend on the coins
    chosen = yield from forest(problem, pairs, parts, coins)
    return sorted(chosen) if len(chosen) == len(parts) - 1 else None


def forest(
    problem: ScoredSentence, pairs: Pairs, parts: Parts, coins: np.random.Generator, where: str = ""
) -> Generator[Step, None, set[Pair]]:
    """Find the spanning forest of a graph; `where` names the recursive call."""
    chosen: set[Pair] = set()
    edges = dict(pairs)
    while edges:
        for _ in range(2):
            if edges:
                edges = yield from boruvka_step(problem, edges, parts, chosen, where)
        if not edges:
            break
        sample = {pair: weight for pair, weight in edges.items() if coins.random() < 0.5}
        nodes = nodes_of(problem, parts)
        yield problem.step(
            "sample",
            f"{where}A coin is thrown for each edge: {len(sample)} of {counted(len(edges), 'edge')}"
            " are in the sample. The algorithm calls itself for the sample.",
            nodes=nodes,
            looks_at=tuple(sample),
            detail=Multigraph(
                links_of(edges),
                tuple(sorted(chosen)),
                tuple("in the sample" if pair in sample else "" for pair in edges),
            ),
        )
        inside = f"{where}In the sample. "
        sample_forest = yield from forest(problem, sample, dict(parts), coins, inside)
        yield problem.step(
            "forest",
            f"{where}F, the forest of the sample, has {counted(len(sample_forest), 'edge')}.",
            nodes=nodes,
            looks_at=tuple(sorted(sample_forest)),
            detail=Multigraph(
                links_of(edges),
                tuple(sorted(chosen | sample_forest)),
                tuple("in F" if pair in sample_forest else "" for pair in edges),
            ),
        )
        worst = {pair: worst_between(pair, sample_forest, edges, parts) for pair in edges}
        key = better(edges)
        heavy = {p for p in edges if (other := worst[p]) is not None and key(p) > key(other)}
        yield problem.step(
            "heavy",
            f"{where}{counted_with_verb(len(heavy), 'edge')} F-heavy: "
            "worse than each edge of the path in F between the same nodes, so in no best tree. "
            f"{counted_with_verb(len(edges) - len(heavy), 'edge')} F-light.",
            nodes=nodes,
            looks_at=tuple(pair for pair in edges if pair not in heavy),
            forbidden=tuple(sorted(heavy)),
            detail=Heavy(
                links_of(edges),
                tuple(sorted(chosen)),
                tuple(HEAVY if pair in heavy else LIGHT for pair in edges),
                tuple(worst.values()),
            ),
        )
        edges = {pair: weight for pair, weight in edges.items() if pair not in heavy}
    return chosen


def worst_between(pair: Pair, forest: set[Pair], edges: Pairs, parts: Parts) -> Pair | None:
    """Return the worst edge of the path in a forest between two nodes; None without a path."""
    start, end = (parts[node] for node in pair)
    worst: dict[tuple[int, ...], Pair | None] = {start: None}
    queue = [start]
    for here in queue:
        for other in sorted(forest):
            ends = [parts[node] for node in other]
            for near, far in (ends, ends[::-1]):
                if near == here and far not in worst:
                    before = worst[here]
                    both = [other] if before is None else [before, other]
                    worst[far] = max(both, key=better(edges))
                    queue.append(far)
    return worst.get(end)
