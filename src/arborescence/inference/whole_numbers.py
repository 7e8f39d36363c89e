"""The best tree of a graph whose weights are whole numbers of any size: slow, but exact."""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.errors import NoTreeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    #: A weight, and the edges whose scores it adds up: an edge, and the other edges in two spans.
    Span = tuple[int, tuple[tuple[int, int] | None, Any, Any] | None]


def decode_whole(
    weights: Sequence[Sequence[int | None]], *, root: str, projective: bool
) -> NDArray[np.int64]:
    """Return the head vector of the tree of highest weight.

    An absent edge gets a cost greater than the sum of all other edges; if one root edge is allowed,
    each root edge gets a cost greater than the sum of all present edges. The algorithm of Edmonds
    (1967) or Eisner (1996), as printed, does the rest.

    Parameters
    ----------
    weights : N rows of N whole numbers
        ``weights[h][d]`` is the weight of the edge h -> d; None if the edge is absent.
    root, projective
        As in `decode`.

    Raises
    ------
    NoTreeError
        If there is no tree.
    """
    table = np.array(weights, dtype=object)
    np.fill_diagonal(table, None)
    table[:, 0] = None
    there = table != None  # noqa: E711 - of each number
    least, most = (min(table[there], default=0), max(table[there], default=0))
    dear = 1 + len(table) * (most - least)
    table[there] -= least
    table[~there] = -len(table) * dear * (1 + len(table))
    if root == "single":
        table[0] -= dear
    heads = _eisner(table.tolist()) if projective else _edmonds(table)
    heads[0] = -1
    lacking = not there[heads[1:], np.arange(1, len(heads))].all()
    if lacking or (root == "single" and (heads == 0).sum() > 1):
        raise NoTreeError("no tree exists")
    return heads


def _edmonds(table: NDArray[Any]) -> NDArray[np.int64]:
    """Return the heads of all nodes in the best arborescence; the head of 0 has no meaning."""
    np.fill_diagonal(table, table.min() - 1)
    heads = table.argmax(axis=0)
    cycle = cycle_of(heads)
    if not cycle.size:
        return heads
    others = np.setdiff1d(np.arange(len(table)), cycle)
    # The last node stands for the cycle. An edge into the cycle replaces an edge of the cycle.
    gains = table[np.ix_(others, cycle)] - table[heads[cycle], cycle]
    leaving = table[np.ix_(cycle, others)]
    smaller = np.zeros((len(others) + 1, len(others) + 1), dtype=object)
    smaller[:-1, :-1] = table[np.ix_(others, others)]
    smaller[:-1, -1], smaller[-1, :-1] = gains.max(axis=1), leaving.max(axis=0)
    below = _edmonds(smaller)
    entered = cycle[gains[below[-1]].argmax()]
    heads[entered] = others[below[-1]]
    of_cycle = below[:-1] == len(others)
    heads[others[~of_cycle]] = others[below[:-1][~of_cycle]]
    heads[others[of_cycle]] = cycle[leaving[:, of_cycle].argmax(axis=0)]
    return heads


def cycle_of(heads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes of a cycle; an empty array if there is no cycle."""
    for start in range(1, len(heads)):
        path = [start]
        while (head := int(heads[path[-1]])) and head not in path:
            path.append(head)
        if head:
            return np.array(path[path.index(head) :])
    return np.empty(0, np.int64)


def _eisner(table: list[list[int]]) -> NDArray[np.int64]:
    """Return the heads of all nodes in the best projective tree; the head of 0 has no meaning."""

    # Spans from node i to node j, whose head is the left end (side 0) or the right end (side 1):
    # whole spans, and parts, where the other end is the last dependent of the head.
    @cache
    def whole(i: int, j: int, side: int) -> Span:
        if i == j:
            return 0, None
        if side:
            return joined((whole(i, m, 1), part(m, j, 1)) for m in range(i, j))
        return joined((part(i, m, 0), whole(m, j, 0)) for m in range(i + 1, j + 1))

    @cache
    def part(i: int, j: int, side: int) -> Span:
        h, d = (j, i) if side else (i, j)
        inner = ((whole(i, m, 0), whole(m + 1, j, 1)) for m in range(i, j))
        weight, (_, *below) = joined(inner)
        return weight + table[h][d], ((h, d), *below)

    def joined(pairs: Iterator[tuple[Span, Span]]) -> Any:
        return max(
            ((left[0] + right[0], (None, left[1], right[1])) for left, right in pairs),
            key=itemgetter(0),
        )

    heads = np.zeros(len(table), np.int64)
    waiting = [whole(0, len(table) - 1, 0)[1]]
    while waiting:
        edge, *below = waiting.pop() or (None,)
        waiting += below
        if edge:
            heads[edge[1]] = edge[0]
    return heads
