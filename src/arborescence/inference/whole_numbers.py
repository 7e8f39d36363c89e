"""The best tree of a graph whose weights are whole numbers of any size: slow, but exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.errors import NoTreeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    #: Of each node, the edges into it: by head, the weight and the edge of the graph, (h, d).
    Entering = dict[int, dict[int, tuple[int, tuple[int, int]]]]


def decode_whole(
    weights: Sequence[Sequence[int | None]], *, root: str, projective: bool
) -> NDArray[np.int64]:
    """Return the head vector of the tree of highest weight.

    Absent edges cost more than all others together, and root edges, of which there is to be one,
    more than all but these. Then it is Edmonds' (1967) or Eisner's (1996) algorithm, as printed.

    Parameters
    ----------
    weights : N rows of N whole numbers
        ``weights[h][d]`` is that of the edge h -> d; None if it is absent.
    root, projective
        As in `decode`.

    Raises
    ------
    NoTreeError
        If there is no tree.
    """
    nodes = range(len(weights))
    there = [w for h in nodes for d in nodes[1:] if h != d and (w := weights[h][d]) is not None]
    least = min(there, default=0)
    dear = 1 + len(weights) * (max(there, default=0) - least)

    def price(h: int, d: int) -> int:
        weight, root_edge = weights[h][d], h == 0 and root == "single"
        gained = -len(weights) * dear * (1 + len(weights)) if weight is None else weight - least
        return gained - dear * root_edge

    table = [[price(h, d) for d in nodes] for h in nodes]
    heads = np.array([-1, *(_eisner(table) if projective else _edmonds(table))])
    lacking = any(weights[h][d] is None for d, h in enumerate(heads.tolist()) if d)
    if lacking or (root == "single" and (heads == 0).sum() > 1):
        raise NoTreeError("no tree exists")
    return heads


def _edmonds(table: list[list[int]]) -> list[int]:
    """Return the heads of words 1 to n in the best arborescence. O(n³)."""
    nodes = range(len(table))
    into: Entering = {d: {h: (table[h][d], (h, d)) for h in nodes if h != d} for d in nodes[1:]}
    members = {node: {node} for node in nodes}
    contracted: list[dict[int, tuple[int, int]]] = []
    while True:
        # Of equal weights, the first head.
        best = {d: max((e[h][0], -h) for h in e)[1] * -1 for d, e in into.items()}
        chosen = {d: into[d][h][1] for d, h in best.items()}
        cycle = _cycle(best)
        if not cycle:
            break
        contracted.append({d: chosen[d] for d in cycle})
        node = len(members)
        members[node] = set.union(*(members[d] for d in cycle))
        into[node] = _contract(into, best, cycle, node)
    heads = {d: h for h, d in chosen.values()}
    for edges in reversed(contracted):
        [entered] = [d for d in set().union(*(members[m] for m in edges)) if d in heads]
        heads.update((d, h) for m, (h, d) in edges.items() if entered not in members[m])
    return [heads[d] for d in nodes[1:]]


def _contract(
    into: Entering, best: dict[int, int], cycle: list[int], node: int
) -> dict[int, tuple[int, tuple[int, int]]]:
    """Take the nodes of a cycle out of a graph; return the edges into the node in their place."""
    entering: dict[int, tuple[int, tuple[int, int]]] = {}
    for d in cycle:
        edges = into.pop(d)
        for h, (weight, edge) in edges.items():
            gain = weight - edges[best[d]][0], edge
            if h not in cycle and (h not in entering or gain > entering[h]):
                entering[h] = gain
    for edges in into.values():
        leaving = [edges.pop(h) for h in cycle if h in edges]
        if leaving:
            edges[node] = max(leaving)
    return entering


def _cycle(heads: dict[int, int]) -> list[int]:
    """Return the nodes of a cycle, or none."""
    done: set[int] = set()
    for start in heads:
        path: dict[int, None] = {}
        node = start
        while node in heads and node not in done and node not in path:
            path[node] = None
            node = heads[node]
        if node in path:
            walked = list(path)
            return walked[walked.index(node) :]
        done.update(path)
    return []


def _eisner(table: list[list[int]]) -> list[int]:
    """Return the heads of words 1 to n in the best projective tree. O(n³)."""
    size = len(table)
    # By the ends of a span: the weight and the split of the best half tree with its head at the
    # left end (0) or the right one (1), whole or with the other end as the last dependent.
    whole: dict[tuple[int, int, int], tuple[int, int]] = {
        (i, i, side): (0, i) for i in range(size) for side in (0, 1)
    }
    part: dict[tuple[int, int, int], tuple[int, int]] = {}
    for width in range(1, size):
        for i in range(size - width):
            j = i + width
            inner, m = max((whole[i, m, 0][0] + whole[m + 1, j, 1][0], -m) for m in range(i, j))
            part[i, j, 0], part[i, j, 1] = (inner + table[i][j], -m), (inner + table[j][i], -m)
            right = max((part[i, m, 0][0] + whole[m, j, 0][0], -m) for m in range(i + 1, j + 1))
            left = max((whole[i, m, 1][0] + part[m, j, 1][0], -m) for m in range(i, j))
            whole[i, j, 0], whole[i, j, 1] = (right[0], -right[1]), (left[0], -left[1])
    heads = [-1] * size
    spans: list[tuple[Any, int, int, int]] = [(whole, 0, size - 1, 0)]
    while spans:
        of, i, j, side = spans.pop()
        if i == j:
            continue
        m = of[i, j, side][1]
        if of is part:
            heads[i if side else j] = j if side else i
            spans += [(whole, i, m, 0), (whole, m + 1, j, 1)]
        elif side:
            spans += [(whole, i, m, 1), (part, m, j, 1)]
        else:
            spans += [(part, i, m, 0), (whole, m, j, 0)]
    return heads[1:]
