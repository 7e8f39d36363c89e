"""The maximum spanning forest by the randomized algorithm of Karger, Klein and Tarjan (1995).

Expected O(m). Levi, Reichart and Rappoport (2016) parse with it (their Algorithm 2). Each round
makes two steps of Borůvka's algorithm and a recursive call on a random half of the edges. With the
forest from this call, most of the other edges are removed in linear time (`drop_heavy`).

An edge is *heavy* for a forest F if it is worse than every edge of the path in F between its ends
(Karger, Klein and Tarjan minimize, hence the name). A heavy edge is the worst edge of the cycle
that it closes, so no best tree has it. All m edges are tested in O(m + n):

- *The tree of components* (King 1997). Borůvka's algorithm on F builds a tree: its leaves are the
  nodes, and its inner nodes are the components that the steps form. The edge from a component to
  its parent carries the best edge of that component. Then the worst edge between two nodes in F is
  the worst edge between the two leaves in this tree, whose height is at most log₂ n.
- *Half paths*. The path between two leaves goes up to their lowest common ancestor and down. The
  ancestor is found in O(1) (`least`). This leaves 2 m queries: the worst edge on the path from a
  leaf up to an ancestor.
- *Sets of depths* (Komlós 1985; Hagerup 2009). The tree is traversed from its roots down. At each
  node, a bit set holds the depths of the worst edges of all half paths that come from below the
  node and go through it. One addition finds the answers of all these paths. A table gives the
  middle element of the set, so that binary search finds the position of the node's own edge.

The minimum of any range of an array is found in O(1), after linear preprocessing (`new_minima`).
The array is divided into blocks of 32. For each block, the minima of the next 1, 2, 4, ... whole
blocks are stored: n / 32 · log₂ n numbers, at most n. Within a block, each position has 32 bits
that mark the earlier numbers that are lower than all numbers after them up to that position
(Alstrup, Gavoille, Kaplan and Rauhe 2002).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.undirected.boruvka import boruvka_step, choose, drop_repeated
from arborescence.undirected.edges import OUT_EDGES, UndirectedEdges, first_of, move

_BLOCK = 32


@kernel
@takes(f"int64, {OUT_EDGES}, out bool[::1], out uint64[::1]")
def kkt(n: int, edges: UndirectedEdges, chosen: np.ndarray, coins: np.ndarray) -> int:
    """Find the maximum spanning forest; return the number of edges read.

    Expected O(m), at worst O(min(n², m log n)).

    - n, edges, chosen: as in `boruvka`
    - coins: (1,) uint64: the state of the random number generator; overwritten
    """
    u, v, weight, _ = edges
    visited = 0
    left = len(u)
    if left == 0:
        return visited
    best = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    while left:
        for _ in range(2):
            visited += left
            nodes, left = boruvka_step(n, first_of(edges, left), best, label)
            choose(best[:n], chosen)
            n = nodes
            left = drop_repeated(n, first_of(edges, left), label)
        if left == 0:
            break
        places = _sample(left, coins)
        in_forest = np.zeros(left, np.bool_)
        sample = UndirectedEdges(u[places], v[places], weight[places], places)
        visited += left + kkt(n, sample, in_forest, coins)
        visited += left
        left = drop_heavy(n, first_of(edges, left), in_forest)
    return visited


@kernel
def _sample(m: int, coins: np.ndarray) -> np.ndarray:
    """Choose each of 0, ..., m - 1 with probability 1/2: int32, ascending. O(m).

    The random bits come from SplitMix64 (Steele, Lea and Flood 2014).
    """
    places = np.empty(m, np.int32)
    count = 0
    bits = np.uint64(0)
    for place in range(m):
        if place % 64 == 0:
            coins[0] += np.uint64(0x9E3779B97F4A7C15)
            bits = coins[0]
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bits ^= bits >> np.uint64(31)
        places[count] = place
        count += bool(bits & np.uint64(1))
        bits >>= np.uint64(1)
    return places[:count].copy()


class Components(NamedTuple):
    """The tree of components: the first n nodes are the leaves, and children precede parents."""

    #: (size,) int32: the parent of each node; -1 at a root
    parent: np.ndarray
    #: (size,) int32: the index of the edge to the parent; -1 at a root
    edge: np.ndarray
    #: (size,) int8: the depth of each node; 0 at a root
    depth: np.ndarray
    #: (size,) int32: the nodes in preorder
    order: np.ndarray
    #: (n,) int32: how many leaves come before each leaf in preorder
    rank: np.ndarray
    #: (n,) int8: by rank: the depth of the next node after the leaf in preorder, or 0
    step: np.ndarray


@kernel
def drop_heavy(n: int, edges: UndirectedEdges, in_forest: np.ndarray) -> int:
    """Remove the edges that are heavy for a forest; return how many remain. O(m + n).

    - n: the nodes are 0, ..., n - 1
    - edges: the remaining edges move to the front, and keep their order
    - in_forest: (m,) bool: which of the edges form the forest
    """
    u, v, weight = edges.u, edges.v, edges.weight
    tree = _components(n, edges, in_forest)
    meet, wanted = _ask(tree, u, v)
    levels = int(tree.depth.max()) + 1
    middle, ones = _tables(levels)
    first, answers = _answer(tree, weight, wanted, levels, middle, ones)
    worst = weight[answers]
    left = 0
    for e in range(len(u)):
        light = meet[e] < 0
        if not light:
            above = (1 << int(meet[e])) - 1
            for x in (u[e], v[e]):
                at = first[x] + ones[wanted[x] & above]
                light |= weight[e] > worst[at] or (weight[e] == worst[at] and e <= answers[at])
        move(edges, e, left)
        left += light
    return left


@kernel
def _components(n: int, edges: UndirectedEdges, in_forest: np.ndarray) -> Components:
    """Run Borůvka's algorithm on a forest, and record its steps. O(n): steps halve it."""
    places = np.flatnonzero(in_forest).astype(np.int32)
    forest = UndirectedEdges(edges.u[places], edges.v[places], edges.weight[places], places.copy())
    best = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    parent = np.full(2 * n, -1, np.int32)
    edge = np.full(2 * n, -1, np.int32)
    start, nodes, left = 0, n, len(places)
    while left:
        above, left = boruvka_step(nodes, first_of(forest, left), best, label)
        for node in range(nodes):
            if best[node] >= 0:
                parent[start + node] = start + nodes + label[node]
                edge[start + node] = best[node]
        start += nodes
        nodes = above
    size = start + nodes

    # The size of each node's subtree; then its position in preorder.
    below = np.ones(size, np.int32)
    for node in range(size):
        if parent[node] >= 0:
            below[parent[node]] += below[node]
    depth = np.zeros(size, np.int8)
    order = np.empty(size, np.int32)
    following = np.empty(size, np.int32)  # the position of each node's next child
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


@kernel
def _ask(tree: Components, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the depth of the lowest common ancestor of each edge's ends: -1 for none. O(m + n).

    The second array has a set of depths for each node. Take the half paths that come from below the
    node and go through it: these are the depths of their upper ends.
    """
    minima = new_minima(tree.step)
    meet = np.empty(len(u), np.int8)
    wanted = np.zeros(len(tree.parent), np.int32)
    for e in range(len(u)):
        a, b = tree.rank[u[e]], tree.rank[v[e]]
        deep = int(least(minima, min(a, b), max(a, b) - 1)) - 1
        meet[e] = deep
        if deep >= 0:
            wanted[u[e]] |= 1 << deep
            wanted[v[e]] |= 1 << deep
    for node in range(len(tree.parent)):
        above = tree.parent[node]
        if above >= 0:
            wanted[above] |= wanted[node] & ((1 << int(tree.depth[above])) - 1)
    return meet, wanted


@kernel
def _tables(bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle element and the size of each set of `bits` bits. O(2^bits)."""
    middle = np.zeros(1 << bits, np.int8)
    ones = np.zeros(1 << bits, np.int8)
    for high in range(bits):
        for lower in range(1 << high):
            inner = lower & (lower - 1)  # without the highest and the lowest element
            middle[lower | 1 << high] = middle[inner] if inner else high
            ones[lower | 1 << high] = ones[lower] + 1
    return middle, ones


@inlined_kernel
def _next_of(each: int, among: int) -> int:
    """Return the set that has, for each element of `each`, the next higher one in `among`."""
    # The addition carries a bit up from each element of `each`, past the elements not in `among`
    return among & (each + (each | ~among))


@kernel
def _answer(
    tree: Components,
    weight: np.ndarray,
    wanted: np.ndarray,
    levels: int,
    middle: np.ndarray,
    ones: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the worst edge of each half path. O(m + n).

    The answers of leaf x start at ``first[x]``: one for each bit of ``wanted[x]``, lowest first.
    """
    n = len(tree.rank)
    first = np.empty(n, np.int64)
    count = 0
    for leaf in range(n):
        first[leaf] = count
        count += int(ones[wanted[leaf]])
    answers = np.empty(count, np.int32)
    # For each depth of the path from a root to the current node: the edge, and the set of depths.
    path = np.zeros(levels, np.int32)
    sets = np.zeros(levels, np.int64)
    for node in tree.order:
        depth, edge = int(tree.depth[node]), tree.edge[node]
        if depth == 0:
            continue
        path[depth] = edge
        # Deeper edges of the set are better. The edges better than this edge leave the set.
        worse = 0
        left = _next_of(wanted[node], sets[depth - 1])
        while left:
            half = int(middle[left])
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
                lowest = left & -left
                answers[at] = path[middle[_next_of(lowest, sets[depth])]]
                at += 1
                left ^= lowest
    return first, answers


class Minima(NamedTuple):
    """An array of small numbers, and the tables for its range minima (see the module)."""

    #: (n,) int8: the numbers
    values: np.ndarray
    #: (n,) int8: the minimum from the start of the block to here
    before: np.ndarray
    #: (n,) int8: the minimum from here to the end of the block
    after: np.ndarray
    #: (n,) int64: a bit for each earlier position of the block
    lower: np.ndarray
    #: (levels, n / 32) int8: the minimum of the next 2^level blocks
    blocks: np.ndarray
    #: (n / 32 + 1,) int8: log₂ of each number of blocks, rounded down
    level: np.ndarray


@kernel
def new_minima(values: np.ndarray) -> Minima:
    """Build the tables for range minima of (n,) int8 numbers. O(n)."""
    n = len(values)
    before, after = values.copy(), values.copy()
    lower = np.zeros(n, np.int64)
    stack = np.empty(_BLOCK, np.int64)
    depth = 0
    for place in range(n):
        if place % _BLOCK == 0:
            depth = 0
            bits = 0
        else:
            before[place] = min(before[place - 1], values[place])
        while depth and values[stack[depth - 1]] >= values[place]:
            depth -= 1
            bits ^= 1 << (stack[depth] % _BLOCK)
        stack[depth] = place
        depth += 1
        bits |= 1 << (place % _BLOCK)
        lower[place] = bits
    for place in range(n - 2, -1, -1):
        if place % _BLOCK != _BLOCK - 1:
            after[place] = min(after[place + 1], values[place])

    count = (n + _BLOCK - 1) // _BLOCK
    level = np.zeros(count + 1, np.int8)
    for k in range(2, count + 1):
        level[k] = level[k // 2] + 1
    blocks = np.empty((level[count] + 1, count), np.int8)
    for k in range(count):
        blocks[0, k] = after[k * _BLOCK]
    for up in range(1, level[count] + 1):
        for k in range(count - (1 << up) + 1):
            blocks[up, k] = min(blocks[up - 1, k], blocks[up - 1, k + (1 << (up - 1))])
    return Minima(values, before, after, lower, blocks, level)


@inlined_kernel
def least(minima: Minima, start: int, last: int) -> int:
    """Return the minimum of the numbers from index `start` to `last`, both included. O(1)."""
    block, last_block = start // _BLOCK, last // _BLOCK
    if block == last_block:
        bits = minima.lower[last] & (-1 << (start % _BLOCK))
        return minima.values[block * _BLOCK + math.frexp(bits & -bits)[1] - 1]
    minimum = min(minima.after[start], minima.before[last])
    between = last_block - block - 1
    if between:
        level = int(minima.level[between])
        row = minima.blocks[level]
        minimum = min(minimum, row[block + 1], row[last_block - (1 << level)])
    return minimum
