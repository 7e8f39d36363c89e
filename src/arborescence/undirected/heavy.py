"""Edges that a spanning forest shows to be needless, in linear time.

An edge is *heavy* for a forest F if it is worse than every edge of the path in F between its ends
(the word is that of Karger, Klein and Tarjan, who seek low weights). It closes a cycle in which it
is the worst, so it is in no best tree. All m edges are looked at in O(m + n):

- *The tree of components* (King 1997). Borůvka's algorithm, run on F, makes a tree: its leaves are
  the nodes, and above them are the components into which they go. Let the best edge of each
  component stand between it and the one above. Then the worst edge between two nodes in F is the
  worst edge between two leaves in this tree, whose height is at most log₂ n.
- *Half paths*. The path between two leaves goes up to where they meet, and down. Where they meet is
  found in O(1) (`minima`). So there are 2 m questions: from a leaf up to an ancestor, which edge is
  the worst?
- *Sets of depths* (Komlós 1985; Hagerup 2009). The tree is walked from its roots down. At each
  node, a word of bits says at which depths the worst edges stand of the half paths that go through
  the node from below. One addition finds the answer of each path in it; a table gives its middle,
  so that the node's own edge finds its place by binary search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.core.jit import inlined_kernel, kernel, spliced_kernel
from arborescence.undirected.boruvka import boruvka_step
from arborescence.undirected.minima import least, new_minima


class Components(NamedTuple):
    """The tree of components; its first n nodes are the leaves, and children precede parents."""

    parent: np.ndarray  # (size,) int32: -1 at a root
    edge: np.ndarray  # (size,) int32: the place of the edge that leads to the parent; -1 at a root
    depth: np.ndarray  # (size,) int8: 0 at a root
    order: np.ndarray  # (size,) int32: preorder: each node, and then all that is below it
    rank: np.ndarray  # (n,) int32: how many leaves come before each leaf in this order
    step: np.ndarray  # (n,) int8: by rank: the depth of the node after this leaf, 0 for none


@kernel
def drop_heavy(
    n: int,
    u: np.ndarray,
    v: np.ndarray,
    weight: np.ndarray,
    origin: np.ndarray,
    in_forest: np.ndarray,
) -> int:
    """Throw out the edges that are heavy for a forest; return how many are left. O(m + n).

    Parameters
    ----------
    n
        Nodes 0, ..., n - 1.
    u, v, weight, origin
        The fields of `Edges`; those that are left move to the front, and keep their order.
    in_forest : (m,) bool
        Which of the edges form the forest.
    """
    tree = _components(n, u, v, weight, in_forest)
    meet, wanted = _ask(tree, u, v)
    levels = tree.depth.max() + 1
    middle, ones = _tables(levels)
    first, answers = _answer(tree, weight, wanted, levels, middle, ones)
    worst = weight[answers]
    left = 0
    for e in range(len(u)):
        light = meet[e] < 0
        if not light:
            above = (1 << meet[e]) - 1
            for x in (u[e], v[e]):
                at = first[x] + ones[wanted[x] & above]
                light |= weight[e] > worst[at] or (weight[e] == worst[at] and e <= answers[at])
        u[left] = u[e]
        v[left] = v[e]
        weight[left] = weight[e]
        origin[left] = origin[e]
        left += light
    return left


@kernel
def _components(
    n: int, u: np.ndarray, v: np.ndarray, weight: np.ndarray, in_forest: np.ndarray
) -> Components:
    """Run Borůvka's algorithm on a forest and keep what it does. O(n), as each step halves it."""
    places = np.flatnonzero(in_forest).astype(np.int32)
    u, v, weight, origin = u[places], v[places], weight[places], places.copy()
    best = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    parent = np.full(2 * n, -1, np.int32)
    edge = np.full(2 * n, -1, np.int32)
    start, nodes, left = 0, n, len(places)
    while left:
        above, left = boruvka_step(
            nodes, u[:left], v[:left], weight[:left], origin[:left], best, label
        )
        for node in range(nodes):
            if best[node] >= 0:
                parent[start + node] = start + nodes + label[node]
                edge[start + node] = best[node]
        start += nodes
        nodes = above
    size = start + nodes

    # How many nodes are below each, itself included; then where each stands in the order.
    below = np.ones(size, np.int32)
    for node in range(size):
        if parent[node] >= 0:
            below[parent[node]] += below[node]
    depth = np.zeros(size, np.int8)
    order = np.empty(size, np.int32)
    following = np.empty(size, np.int32)  # where the next child of each will stand
    end = 0
    for node in range(size - 1, -1, -1):
        above = parent[node]
        if above < 0:
            at = end
            end += below[node]
        else:
            at = following[above]
            following[above] += below[node]
            depth[node] = depth[above] + 1
        order[at] = node
        following[node] = at + 1
    rank = np.empty(n, np.int32)
    step = np.zeros(n, np.int8)
    count = 0
    for at in range(size):
        node = order[at]
        if node < n:
            rank[node] = count
            step[count] = depth[order[at + 1]] if at + 1 < size else 0
            count += 1
    return Components(parent[:size], edge[:size], depth, order, rank, step)


@spliced_kernel
def _ask(tree: Components, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find how deep the ends of each edge meet: -1 for never. O(m + n).

    The second array holds for each node a bit for each depth at which a half path ends that goes
    through it from below.
    """
    minima = new_minima(tree.step)
    meet = np.empty(len(u), np.int8)
    wanted = np.zeros(len(tree.parent), np.int32)
    for e in range(len(u)):
        a, b = tree.rank[u[e]], tree.rank[v[e]]
        deep = least(minima, min(a, b), max(a, b) - 1) - 1
        meet[e] = deep
        if deep >= 0:
            wanted[u[e]] |= 1 << deep
            wanted[v[e]] |= 1 << deep
    for node in range(len(tree.parent)):
        above = tree.parent[node]
        if above >= 0:
            wanted[above] |= wanted[node] & ((1 << tree.depth[above]) - 1)
    return meet, wanted


@spliced_kernel
def _tables(bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle element of each set of so many bits, and how many it has. O(2^bits)."""
    middle = np.zeros(1 << bits, np.int8)
    ones = np.zeros(1 << bits, np.int8)
    for high in range(bits):
        for rest in range(1 << high):
            inner = rest & (rest - 1)  # without the lowest, and without the highest
            middle[rest | 1 << high] = middle[inner] if inner else high
            ones[rest | 1 << high] = ones[rest] + 1
    return middle, ones


@inlined_kernel
def _next_of(each: int, among: int) -> int:
    """Return, as a set, the next higher element of the second set for each element of the first.

    The addition carries a bit up from each element of the first, past what is not in the second.
    """
    return among & (each + (each | ~among))


@spliced_kernel
def _answer(
    tree: Components,
    weight: np.ndarray,
    wanted: np.ndarray,
    levels: int,
    middle: np.ndarray,
    ones: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the worst edge of each half path. O(m + n).

    The answers of leaf x, one for each bit of ``wanted[x]``, the lowest first, stand from
    ``first[x]`` on.
    """
    n = len(tree.rank)
    first = np.empty(n, np.int64)
    count = 0
    for leaf in range(n):
        first[leaf] = count
        count += ones[wanted[leaf]]
    answers = np.empty(count, np.int32)
    # Of each depth of the path from a root to the node at hand: the edge, and the set of depths.
    path = np.zeros(levels, np.int32)
    sets = np.zeros(levels, np.int64)
    for node in tree.order:
        depth, edge = tree.depth[node], tree.edge[node]
        if depth == 0:
            continue
        path[depth] = edge
        # Deeper edges of the set are better. Those that are better than this one leave it.
        worse = 0
        left = _next_of(wanted[node], sets[depth - 1])
        while left:
            half = middle[left]
            other = path[half]
            upto = (2 << half) - 1
            if weight[other] < weight[edge] or (weight[other] == weight[edge] and other > edge):
                worse |= left & upto
                left &= ~upto
            else:
                left &= upto >> 1
        sets[depth] = _next_of(wanted[node], worse | 1 << depth)
        if node < n:
            at = first[node]
            left = wanted[node]
            while left:
                one = left & -left
                answers[at] = path[middle[_next_of(one, sets[depth])]]
                at += 1
                left ^= one
    return first, answers
