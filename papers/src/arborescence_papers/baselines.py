"""Baseline algorithms for the best tree and the k best trees: slower, or not always correct.

Each takes one (N, N) matrix ``scores[h, d]`` and returns a head vector, as `decode` does, or yields
head vectors and weights, as `trees` does; or raises NoTreeError, as these do. They are for tests
and benchmarks.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.core.checks import check_root
from arborescence.core.graph import as_graph
from arborescence.core.tree import tree_weight
from arborescence.errors import NoTreeError
from arborescence.inference.search import forbid, require
from arborescence.nonprojective.decode import decode_nonprojective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from arborescence.core.choices import Root


class LectureEdge(NamedTuple):
    """An edge of the lecture's recursion, from `src` to `dest`, with its score `s`."""

    src: int
    dest: int
    s: Any
    original: LectureEdge | None = None
    """The edge of the graph before the last contraction; None in the first graph."""
    kicks_out: LectureEdge | None = None
    """The edge of the cycle that this one replaces; None where it enters no cycle."""


def chu_liu_edmonds(
    scores: NDArray[Any],
    number: Callable[[Any], Any] = float,
    *,
    as_printed: bool = False,
) -> NDArray[np.int64]:
    """Return the best arborescence by the recursive Chu-Liu-Edmonds algorithm, as in Smith (2017).

    Every node takes its best incoming edge. A cycle of these is contracted into one node. The new
    score of an edge into the cycle is its score minus that of the edge it *kicks out*. Then the
    smaller problem is solved in the same way. O(n³), any number of root edges.

    The slide *Edge Adjustment Subroutine* keeps edges that begin and end inside the cycle: it tests
    only ``e.dest``. The slide *Contraction* adjusts edges "from outside" of the cycle. By default,
    edges inside the cycle are left out, as the algorithm needs it.

    Parameters
    ----------
    scores : (N, N) array
    number : callable
        The arithmetic: `float` as usual, `fractions.Fraction` for exact results.
    as_printed : bool
        Whether edges inside the cycle are kept, as `adjust` is printed. Then the heads may be no
        tree, or not the best one.

    Raises
    ------
    NoTreeError
        If a word cannot be reached from the root.

    Examples
    --------
    >>> chu_liu_edmonds(np.array([[0, 5, 1], [0, 0, 3], [0, 9, 0]]))
    array([-1,  2,  0])

    The lecture's own graph. As printed, no edge leaves the root:

    >>> lecture = np.array([[0, 5, 1, 1], [0, 0, 11, 5], [0, 10, 0, 4], [0, 9, 8, 0]])
    >>> chu_liu_edmonds(lecture), chu_liu_edmonds(lecture, as_printed=True)
    (array([-1,  0,  1,  1]), array([-1,  3,  1,  2]))
    """
    edges = [
        LectureEdge(h, d, number(score))  # tolist() gives Python numbers, which `number` takes
        for h, row in enumerate(scores.tolist())
        for d, score in enumerate(row)
        if d not in (0, h) and score > -np.inf
    ]
    heads = np.full(len(scores), -1, np.int64)
    for edge in _max_arborescence(set(range(len(scores))), edges, as_printed).values():
        heads[edge.dest] = edge.src
    return heads


def _max_arborescence(
    nodes: set[int], edges: list[LectureEdge], as_printed: bool
) -> dict[int, LectureEdge]:
    """Return the best edge into each node but the root, 0: `maxArborescence` of the lecture.

    A level of the recursion looks at each edge a fixed number of times, and has a node less than
    the one before: O(n³).
    """
    best_in_edge: dict[int, LectureEdge] = {}
    for edge in edges:
        best = best_in_edge.setdefault(edge.dest, edge)
        if edge.s > best.s:
            best_in_edge[edge.dest] = edge
    if len(best_in_edge) < len(nodes) - 1:
        raise NoTreeError("no tree exists: a word, or a cycle of words, has no edge into it")
    cycle = _find_cycle(best_in_edge)
    if not cycle:
        return best_in_edge

    merged = max(nodes) + 1

    def adjust(edge: LectureEdge) -> LectureEdge:
        if edge.dest in cycle:
            kicks_out = best_in_edge[edge.dest]
            return LectureEdge(edge.src, merged, edge.s - kicks_out.s, edge, kicks_out)
        src = merged if edge.src in cycle else edge.src
        return LectureEdge(src, edge.dest, edge.s, edge)

    of_cycle = {node: best_in_edge[node] for node in cycle}
    smaller = [
        adjust(edge)
        for edge in edges
        if edge is not of_cycle.get(edge.dest)
        and (as_printed or edge.src not in cycle or edge.dest not in cycle)
    ]
    tree = _max_arborescence((nodes - cycle) | {merged}, smaller, as_printed)
    originals = [edge.original for edge in tree.values() if edge.original is not None]
    kept = {d: edge for d, edge in of_cycle.items() if edge is not tree[merged].kicks_out}
    return {edge.dest: edge for edge in originals} | kept


def _find_cycle(best_in_edge: dict[int, LectureEdge]) -> set[int]:
    """Return the nodes of a cycle, or none. O(n): each node is passed once."""
    passed: dict[int, int] = {}  # the first node of the path that passed a node
    for start in best_in_edge:
        node = start
        while node in best_in_edge and node not in passed:
            passed[node] = start
            node = best_in_edge[node].src
        if passed.get(node) == start:
            cycle = {node}
            while (node := best_in_edge[node].src) not in cycle:
                cycle.add(node)
            return cycle
    return set()


def best_of_n_runs(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the best tree with one root edge, by one run for each child of the root. O(n³).

    The method of Dozat et al. (2017).

    Examples
    --------
    >>> best_of_n_runs(np.array([[0, 5, 1], [0, 0, 3], [0, 9, 0]]))
    array([-1,  2,  0])
    """
    best: NDArray[np.int64] | None = None
    best_weight = -np.inf
    for word in np.flatnonzero(scores[0, 1:] > -np.inf) + 1:
        run = scores.astype(np.float64)
        run[0, np.arange(len(run)) != word] = -np.inf
        try:
            heads = _decoded(run, "multi")
        except NoTreeError:
            continue
        weight = tree_weight(scores, heads)
        if best is None or weight > best_weight:
            best, best_weight = heads, weight
    if best is None:
        raise NoTreeError("no tree with a single root exists")
    return best


def reweighted(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the best tree with one root edge, by a penalty on root edges.

    Stanojević and Cohen (2021): lowers every root edge by more than the weights of two trees can
    differ, then finds the best arborescence. O(n²). But adding the large constant rounds away low
    bits of the root's scores: with masked scores the result is often wrong.

    Examples
    --------
    >>> reweighted(np.array([[0.0, 5.0, 1.0], [0.0, 0.0, 3.0], [0.0, 9.0, 0.0]]))
    array([-1,  2,  0])
    """
    present = scores[scores > -np.inf]
    lowered = scores.astype(np.float64)
    spread = float(present.max()) - float(present.min())
    lowered[0] -= 1 + (len(scores) - 1) * spread
    return _decoded(lowered, "multi")


def trees_by_decoding(
    scores: NDArray[Any], root: Root = "single"
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Yield all trees, best first, by one constrained decode for each edge of each tree.

    Lawler (1972) and Murty (1968): all trees except the best one are split by the first of its
    edges that they lack, and `decode` finds the best tree of each part. O(n³) per tree.

    Examples
    --------
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> [(heads.tolist(), weight) for heads, weight in trees_by_decoding(scores)]
    [([-1, 0, 1], 8.0), ([-1, 2, 0], 6.0)]
    """
    # Scores times one power of two, as Python's unbounded integers: as exact as fractions, faster.
    ratios = [float(x).as_integer_ratio() if np.isfinite(x) else (0, 1) for x in scores.flat]
    unit = max((denominator for _, denominator in ratios), default=1)
    whole = np.array([n * (unit // denominator) for n, denominator in ratios], dtype=object)
    numbers = whole.reshape(scores.shape).tolist()
    heap: list[tuple[int, int, list[int], NDArray[Any], set[int]]] = []
    pushed = 0

    def push(part: NDArray[Any], kept: set[int]) -> None:
        nonlocal pushed
        heads = _decoded(part, root).tolist()
        weight = sum(numbers[h][d] for d, h in enumerate(heads) if d)
        heapq.heappush(heap, (-weight, pushed, heads, part, kept))
        pushed += 1

    push(scores, set())
    while heap:
        _, _, heads, part, kept = heapq.heappop(heap)
        tree = np.array(heads)
        yield tree, tree_weight(scores, tree)
        kept = set(kept)
        for d in range(1, len(heads)):
            if d in kept:
                continue
            with suppress(NoTreeError):
                push(forbid(part, [(heads[d], d)]), set(kept))
            part = require(part, [(heads[d], d)])
            kept.add(d)


def _decoded(scores: NDArray[Any], root: Root) -> NDArray[np.int64]:
    """Return the best tree. As in `decode`."""
    graph = as_graph(scores)
    heads = np.empty((1, len(scores)), np.int64)
    decode_nonprojective(graph, check_root(root), heads, 0, 1)
    return heads[0]
