"""The maximum spanning tree by Prim's algorithm (1957): for dense graphs, and with a heap."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.undirected.edges import EDGES

if TYPE_CHECKING:
    from arborescence.undirected.edges import UndirectedEdges

# The places of a node before it enters the heap, and after it has left the heap.
_UNSEEN, _DONE = -1, -2


@kernel
@takes("float64[:, ::1], int64, out int64[::1]")
def prim_dense(weights: np.ndarray, start: int, parents: np.ndarray) -> None:
    """Find the maximum spanning tree of a dense graph, grown from `start`. O(N²).

    Among equal weights, the first pair u < v wins: so the tree does not depend on `start`.

    - weights: (N, N) float64: symmetric and C-contiguous; ``-inf`` is an absent edge. The diagonal
      is ignored.
    - start: the node whose component is spanned first
    - parents: (N,) int64: written: the parent of each node, and -1 for `start`. If a graph is not
      connected, each component gets a tree, whose start has -1, too.
    """
    size = len(weights)
    # The nodes outside the tree, and the best edge from the tree to each of these nodes.
    outside = np.empty(size, np.int64)
    best = np.full(size, -np.inf)
    left = 0
    parents[:] = -1
    for node in range(size):
        if node != start:
            outside[left] = node
            left += 1
    newest = start
    while left:
        row = weights[newest]
        nearest = 0
        top = -np.inf
        for k in range(left):
            node = outside[k]
            # Of two equal edges into a node, the edge from the lower node comes first.
            if row[node] >= best[node] and (
                row[node] > best[node] or (row[node] > -np.inf and newest < parents[node])
            ):
                best[node] = row[node]
                parents[node] = newest
            if best[node] >= top:
                other = outside[nearest]
                if best[node] > top or _precedes(parents[node], node, parents[other], other):
                    top = best[node]
                    nearest = k
        newest = outside[nearest]
        left -= 1
        outside[nearest] = outside[left]


@kernel
def _precedes(a: int, b: int, c: int, d: int) -> bool:
    """Return whether the pair {a, b} comes before {c, d} in lexicographic order."""
    low, other_low = min(a, b), min(c, d)
    return low < other_low or (low == other_low and max(a, b) < max(c, d))


class Heap(NamedTuple):
    """A binary heap of the nodes next to the tree, the best node first."""

    #: (n,) int32: the node at each place; the children of place k are at 2 k + 1 and 2 k + 2
    nodes: np.ndarray
    #: (n,) float64: for each place: the weight of the best edge into the node
    weight: np.ndarray
    #: (n,) int32: for each node: the best edge into the node
    edge: np.ndarray
    #: (n,) int32: for each node: its place, _UNSEEN or _DONE
    place: np.ndarray


@kernel
@takes(f"int64, {EDGES}, out bool[::1]")
def prim(n: int, edges: UndirectedEdges, chosen: np.ndarray) -> None:
    """Find the maximum spanning forest with a binary heap of nodes. O(m log n)."""
    # A pairing heap takes 0.7 times the time of this heap on small graphs, and 1.25 times on large.
    u, v, weight, origin = edges
    first, ends, weights, links = _neighbours(n, u, v, weight)
    heap = Heap(
        np.empty(n, np.int32),
        np.empty(n),
        np.empty(n, np.int32),
        np.full(n, _UNSEEN, np.int32),
    )
    for start in range(n):
        if heap.place[start] == _DONE:
            continue
        node = start
        size = 0
        while True:
            heap.place[node] = _DONE
            for k in range(first[node], first[node + 1]):
                other = ends[k]
                at = heap.place[other]
                if at == _UNSEEN:
                    at = size
                    size += 1
                elif at == _DONE or not _is_better(heap, weights[k], links[k], at):
                    continue
                heap.edge[other] = links[k]
                _rise(heap, at, other, weights[k])
            if size == 0:
                break
            node = heap.nodes[0]
            chosen[origin[heap.edge[node]]] = True
            size -= 1
            if size:
                _sink(heap, size, heap.nodes[size], heap.weight[size])


@kernel
def _neighbours(
    n: int, u: np.ndarray, v: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort the edges by their ends: the edges at node x are ``first[x]`` to ``first[x + 1]``.

    The other arrays hold each edge's other end, weight and index.
    """
    first = np.zeros(n + 2, np.int64)
    for e in range(len(u)):
        first[u[e] + 2] += 1
        first[v[e] + 2] += 1
    for node in range(n):
        first[node + 2] += first[node + 1]
    ends = np.empty(2 * len(u), np.int32)
    weights = np.empty(2 * len(u))
    links = np.empty(2 * len(u), np.int32)
    for e in range(len(u)):
        for node, other in ((u[e], v[e]), (v[e], u[e])):
            k = first[node + 1]
            ends[k], weights[k], links[k] = other, weight[e], e
            first[node + 1] += 1
    return first, ends, weights, links


@inlined_kernel
def _is_better(heap: Heap, weight: float, edge: int, place: int) -> bool:
    """Return whether an edge comes before the edge of the node at a place of the heap."""
    return weight > heap.weight[place] or (
        weight == heap.weight[place] and edge < heap.edge[heap.nodes[place]]
    )


@inlined_kernel
def _put(heap: Heap, place: int, node: int, weight: float) -> None:
    """Put a node at a place of the heap."""
    heap.nodes[place] = node
    heap.weight[place] = weight
    heap.place[node] = place


@inlined_kernel
def _rise(heap: Heap, place: int, node: int, weight: float) -> None:
    """Put a node at a place of the heap, and move it up while its edge is better."""
    while place > 0:
        above = (place - 1) // 2
        if not _is_better(heap, weight, heap.edge[node], above):
            break
        _put(heap, place, heap.nodes[above], heap.weight[above])
        place = above
    _put(heap, place, node, weight)


@inlined_kernel
def _sink(heap: Heap, size: int, node: int, weight: float) -> None:
    """Put a node at the top of the heap, and move it down while other edges are better."""
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _is_better(
            heap, heap.weight[below + 1], heap.edge[heap.nodes[below + 1]], below
        ):
            below += 1
        if _is_better(heap, weight, heap.edge[node], below):
            break
        _put(heap, place, heap.nodes[below], heap.weight[below])
        place = below
    _put(heap, place, node, weight)
