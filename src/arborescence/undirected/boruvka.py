"""The maximum spanning forest by Borůvka's algorithm (1926): each component adds its best edge."""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.undirected.edges import OUT_EDGES, UndirectedEdges, first_of, move


@kernel
@takes(f"int64, {OUT_EDGES}, out bool[::1]")
def boruvka(n: int, edges: UndirectedEdges, chosen: np.ndarray) -> None:
    """Find the maximum spanning forest in at most log₂ n steps. O(m log n).

    - n: the nodes are 0, ..., n - 1
    - edges: overwritten
    - chosen: (M,) bool: written: True for each of the caller's edges that is chosen
    """
    best = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    left = len(edges.u)
    while left:
        nodes, left = boruvka_step(n, first_of(edges, left), best, label)
        choose(best[:n], chosen)
        n = nodes
        left = drop_repeated(n, first_of(edges, left), label)


@inlined_kernel
def choose(best: np.ndarray, chosen: np.ndarray) -> None:
    """Mark the edges that a step has chosen."""
    for node in range(len(best)):
        if best[node] >= 0:
            chosen[best[node]] = True


@kernel
def boruvka_step(
    n: int, edges: UndirectedEdges, best: np.ndarray, label: np.ndarray
) -> tuple[int, int]:
    """Choose the best edge of each node, contract these edges; return the new n and m. O(m + n).

    The edges that remain move to the front and keep their order. So among equal weights, the first
    edge has the lowest index.

    - n: as in `boruvka`
    - edges: overwritten
    - best: (>= n,) int32: written: the index (`UndirectedEdges.origin`) of each node's best edge,
      -1 for a node without an edge
    - label: (>= n,) int32: written: the new node of each node that has an edge
    """
    u, v = edges.u, edges.v
    top = np.full(n, -np.inf)
    best[:n] = -1
    for e in range(len(u)):
        w = edges.weight[e]
        a, b = u[e], v[e]
        if w > top[a]:
            top[a] = w
            best[a] = e
        if w > top[b]:
            top[b] = w
            best[b] = e
    nodes = _merge(n, edges, best, label)
    for node in range(n):
        if best[node] >= 0:
            best[node] = edges.origin[best[node]]
    left = 0
    for e in range(len(u)):
        a, b = label[u[e]], label[v[e]]
        move(edges, e, left)
        u[left] = a
        v[left] = b
        left += a != b
    return nodes, left


@inlined_kernel
def _merge(n: int, edges: UndirectedEdges, best: np.ndarray, label: np.ndarray) -> int:
    """Give numbers to components of the best edges; return the number of components. O(n)."""
    # A walk along best edges from any node ends at two nodes that have chosen the same edge
    for node in range(n):
        e = best[node]
        label[node] = node if e < 0 else edges.u[e] + edges.v[e] - node
    # From here on, a final number x is stored as ~x, which is negative.
    nodes = 0
    for node in range(n):
        partner = label[node]
        if node < partner and label[partner] == node:
            label[node] = ~nodes
            nodes += 1
        elif partner == node:
            label[node] = ~0  # the node has no edge, so its number is never read
    for node in range(n):
        end = node
        while label[end] >= 0:
            end = label[end]
        number = label[end]
        end = node
        while label[end] >= 0:
            after = label[end]
            label[end] = number
            end = after
    for node in range(n):
        label[node] = ~label[node]
    return nodes


@kernel
def drop_repeated(n: int, edges: UndirectedEdges, last: np.ndarray) -> int:
    """Remove all parallel edges but the best; return how many edges remain. O(m + n).

    Levi, Reichart and Rappoport (2016), Algorithm 1, line 13, remove parallel edges in each step.
    Here they are removed only if there are more edges than pairs of nodes, because removal takes up
    to twice as long as a step. Edges are grouped by their lower node; a table has the best edge to
    each higher node. The order stays; of equal edges the first stays.

    - n: as in `boruvka`
    - edges: overwritten
    - last: (>= n,) int32: scratch
    """
    m = len(edges.u)
    if 2 * m <= n * (n - 1):
        return m
    starts = np.zeros(n + 1, np.int32)
    for e in range(m):
        starts[min(edges.u[e], edges.v[e]) + 1] += 1
    for node in range(n):
        starts[node + 1] += starts[node]
    grouped = np.empty(m, np.int32)
    for e in range(m):
        low = min(edges.u[e], edges.v[e])
        grouped[starts[low]] = e
        starts[low] += 1
    # Now starts[low] is the end of a group. An edge that loses gets the weight -inf.
    last[:n] = -1
    begin = 0
    for low in range(n):
        for place in range(begin, starts[low]):
            e = grouped[place]
            high = max(edges.u[e], edges.v[e])
            rival = last[high]
            if rival < 0:
                last[high] = e
            elif edges.weight[e] > edges.weight[rival]:
                edges.weight[rival] = -np.inf
                last[high] = e
            else:
                edges.weight[e] = -np.inf
        for place in range(begin, starts[low]):
            e = grouped[place]
            last[max(edges.u[e], edges.v[e])] = -1
        begin = starts[low]
    left = 0
    for e in range(m):
        move(edges, e, left)
        left += edges.weight[e] > -np.inf
    return left
