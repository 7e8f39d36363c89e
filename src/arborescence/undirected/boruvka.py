"""The maximum spanning forest by Borůvka's algorithm (1926): each component adds its best edge."""

from __future__ import annotations

import numpy as np

from arborescence.core.kernels import inlined_kernel, kernel
from arborescence.undirected.edges import Edges, first_of, move


@kernel
def boruvka(
    n: int,
    u: np.ndarray,
    v: np.ndarray,
    weight: np.ndarray,
    origin: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Find the maximum spanning forest in at most log₂ n steps. O(m log n).

    Parameters
    ----------
    n
        Nodes 0, ..., n - 1.
    u, v, weight, origin
        As in `Edges`. Overwritten.
    chosen : (M,) bool
        Written: True for each of the caller's edges that is chosen.
    """
    edges = Edges(u, v, weight, origin)
    best = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    left = len(u)
    while left:
        nodes, left = boruvka_step(n, first_of(edges, left), best, label)
        choose(best[:n], chosen)
        n = nodes


@inlined_kernel
def choose(best: np.ndarray, chosen: np.ndarray) -> None:
    """Mark the edges that a step has chosen."""
    for node in range(len(best)):
        if best[node] >= 0:
            chosen[best[node]] = True


@kernel
def boruvka_step(n: int, edges: Edges, best: np.ndarray, label: np.ndarray) -> tuple[int, int]:
    """Choose the best edge of each node, and contract the chosen edges. O(m + n).

    The remaining edges move to the front of their arrays and keep their order. So among edges of
    equal weight, the first one has the lowest index.

    Parameters
    ----------
    n
        As in `boruvka`.
    edges : Edges
        Overwritten.
    best : (>= n,) int32
        Written: the index (`Edges.origin`) of each node's best edge; -1 if it has no edge.
    label : (>= n,) int32
        Written: the new node of each node that has an edge.

    Returns
    -------
    nodes, left
        The number of new nodes, and the number of remaining edges.
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
def _merge(n: int, edges: Edges, best: np.ndarray, label: np.ndarray) -> int:
    """Assign numbers to the components of the best edges; return how many there are. O(n).

    Following the best edges from any node ends at two nodes that have chosen the same edge.
    """
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
            label[node] = ~0  # it has no edge, so its number is never read
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
