"""The exact best tree of a sparse graph in O(m log n): Edmonds (1967), Tarjan (1977).

Edmonds' algorithm in the version of Tarjan (1977), with the corrections of Camerini, Fratta and
Maffioli (1979) and the growing path of Gabow, Galil, Spencer and Tarjan (1986): start at a cluster
of words, follow its best entering edge back to another cluster, and so on, until the path reaches a
cluster that is connected to the root, or a cluster of the path itself. In the second case the
clusters of the cycle are joined, and the path continues from the joined cluster.

* Edges are stored by dependent. Each word's *column* is a binary heap of the edges into it, in
  contiguous memory. A cluster's edges are a pairing heap of its columns, by the best edge of each.
  So the merged heaps hold n columns, not m edges. An edge that has become internal to its cluster
  is removed within its column.
* The *gain* of an edge is its weight minus the weights of the edges that it replaces. This
  subtracted part is the same for all edges into a word: the *base* of the word plus the *offset* of
  its cluster. The offset is the same for all edges into the cluster, so it changes no order. When
  clusters join, the bases of words in the smaller clusters change, O(log n) times for each word.
* Bases and offsets are integers of as many 32-bit digits as the weights need (usually three to
  five), so they are never rounded. The heaps compare float64 gains, each rounded once from the
  integers. If two gains are too close, the integers are compared. So every decision is the decision
  of real arithmetic.

Root edges are not in the columns: a cluster stores only its best root edge. If the tree has several
root edges and must have a single root edge, a growing penalty on all root edges removes them until
one is left (Gabow and Tarjan 1984). The next cluster is the cluster whose root edge has the
smallest advantage (the *slack*) over its best other edge. If this other edge comes from outside the
cluster's own subtree of the root, it replaces the root edge; if not, it closes a cycle, which is
contracted. At each step the tree is the best tree under the current penalty. So the first tree with
a single root edge is the best of all such trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.core.accumulator import SCALE_EXPONENT, add_float, normalize, sign_of, unit_of
from arborescence.core.faults import BAD_NODE, BAD_SCORE, FINE, NO_SINGLE_ROOT, NO_TREE, NOT_GREEDY
from arborescence.core.tree import find, spans

# Gains have a relative error of about 2^-51; errors by underflow are smaller than the second bound.
_CLOSE = 2.0**-48
_TINY = 2.0**-1000


class ColumnHeaps(NamedTuple):
    """The edges into each word, the best edge first; a binary heap once the word is on a cycle."""

    #: (n + 2,) int64: the start of each word's edges
    start: np.ndarray
    #: (n + 1,) int64: the number of edges left
    left: np.ndarray
    #: (m,) int32: the heads of the edges
    heads: np.ndarray
    #: (m + n + 1,) float64: the weights of the edges, and `root`
    weights: np.ndarray
    #: (n + 1,) float64: the root's edges, -inf if absent: the end of `weights`
    root: np.ndarray


class BestEdges(NamedTuple):
    """For each word, its best edge from another word, and its root edge; (n + 1,) each."""

    #: int64: the index of the edge; of edges of the same weight, the edge from the lowest head
    edge: np.ndarray
    #: int64: its head; -1 if there is no edge
    head: np.ndarray
    #: float64: its weight; -inf if there is no edge
    weight: np.ndarray
    #: float64: the weight of the root edge; -inf if there is no root edge
    root: np.ndarray


class Clusters(NamedTuple):
    """The clusters (contracted sets of words); the name of a cluster is one of its words.

    Every contraction makes an *item*, numbered from n + 1; the items up to n are the words.
    """

    #: (n + 1,) int32: the name of a word's cluster
    name: np.ndarray
    #: (n + 1,) int32: the next word of the cluster, in a circular list
    following: np.ndarray
    #: (n + 1,) int32: the number of words in the cluster
    size: np.ndarray
    #: (n + 1,) int32: the item of the cluster
    item: np.ndarray
    #: (2 n + 2,) int32: the item that contains an item, or -1
    inside: np.ndarray
    #: (2 n + 2,) int32: the head of the best edge into the item
    entered_from: np.ndarray
    #: (2 n + 2,) int32: the dependent of that edge
    entered_at: np.ndarray
    #: (n + 1,) int32: the word that the root's best edge enters, or -1
    rooted: np.ndarray
    #: (n + 1,) int32: the cluster's best column, or -1
    top: np.ndarray
    #: (n + 1,) int32: a column's first child in the pairing heap, or -1
    child: np.ndarray
    #: (n + 1,) int32: its next sibling, or -1
    sibling: np.ndarray
    #: (n + 1,) float64: the gain of a column's best edge, without the offset
    gain: np.ndarray
    #: (n + 1,) float64: a chosen root edge's gain minus the gain of the best other edge
    slack: np.ndarray
    #: (n + 1, D) int64: the base of each word
    base: np.ndarray
    #: (n + 1, D) int64: the offset of each cluster
    offset: np.ndarray
    #: (D,) int64: scratch: a sum
    scratch: np.ndarray
    #: (D,) float64: the value of each digit's unit, times SCALE
    power: np.ndarray
    #: digits are multiples of 2^-bias
    bias: int


@kernel
@takes("int64, int64[::1], int64[::1], float64[::1], bool, out float64[:, ::1], out int64[::1]")
def sparse_kernel(
    n: int,
    heads: np.ndarray,
    deps: np.ndarray,
    weights: np.ndarray,
    single: bool,
    matrix: np.ndarray,
    tree: np.ndarray,
) -> tuple[int, int]:
    """Find the best tree of n words and m edges. O(m log n); O(m) if the greedy graph is a tree.

    Parameters
    ----------
    heads, deps : (m,) int64
    weights : (m,) float64
        -inf is an absent edge. Loops and edges into the root are ignored. Another thread may change
        edges: so each pass over the edges checks them again, and all other code works on copies.
    matrix : (n + 1, n + 1) float64, written; or (0, 0)
        If the greedy graph is not a tree, the kernel only writes the edges here.
    tree : (n + 1,) int64, written
        The head of each word. If there is no tree: 0 in a set that no edge enters, else -1.

    Returns
    -------
    (fault, edge)
        FINE, NO_TREE, NO_SINGLE_ROOT, or NOT_GREEDY (the edges are in `matrix`); or BAD_SCORE or
        BAD_NODE and the index of the invalid edge.
    """
    absent = np.full((2, n + 1), -np.inf)
    best = BestEdges(np.empty(n + 1, np.int64), np.full(n + 1, -1, np.int64), absent[0], absent[1])
    fault, edge = greedy(n, heads, deps, weights, best)
    if fault != FINE:
        return fault, edge
    tree[0] = -1
    for d in range(1, n + 1):
        tree[d] = best.head[d] if best.weight[d] > best.root[d] else -1
        if tree[d] < 0 and best.root[d] > -np.inf:
            tree[d] = 0
    if n == 0 or (tree[1:].min() >= 0 and spans(tree, n, single, np.empty(n + 1, np.int64))):
        return FINE, -1
    if matrix.shape[0]:
        spread(heads, deps, weights, matrix)
        return NOT_GREEDY, -1
    columns = gather(n, heads, deps, weights, best)
    clusters = new_clusters(n, columns)
    return contract(clusters, columns, single, tree), -1


@inlined_kernel
def greedy(
    n: int,
    heads: np.ndarray,
    deps: np.ndarray,
    weights: np.ndarray,
    best: BestEdges,
) -> tuple[int, int]:
    """Check all edges; fill `best`, which is empty before. Return ``(fault, edge)``. O(m)."""
    for i in range(weights.shape[0]):
        h, d, weight = heads[i], deps[i], weights[i]
        if h < 0 or h > n or d < 0 or d > n:
            return BAD_NODE, i
        if h == d or d == 0 or weight == -np.inf:
            continue
        if not weight < np.inf:
            return BAD_SCORE, i
        if h == 0:
            best.root[d] = max(best.root[d], weight)
        elif precedes(weight, h, best.weight[d], best.head[d]):
            best.edge[d], best.head[d], best.weight[d] = i, h, weight
    return FINE, -1


@inlined_kernel
def spread(heads: np.ndarray, deps: np.ndarray, weights: np.ndarray, matrix: np.ndarray) -> None:
    """Write edges to a matrix: of parallel edges, the best edge. O(m + N²)."""
    size = matrix.shape[0]
    matrix[:] = -np.inf
    for i in range(weights.shape[0]):
        h, d, weight = heads[i], deps[i], weights[i]
        if 0 <= h < size and 0 <= d < size and matrix[h, d] < weight < np.inf:
            matrix[h, d] = weight


@inlined_kernel
def joins(n: int, h: int, d: int, weight: float) -> bool:
    """Tell whether an edge connects a word to another word, and is present."""
    return 0 < h <= n and 0 < d <= n and h != d and -np.inf < weight < np.inf


@kernel
def gather(
    n: int,
    heads: np.ndarray,
    deps: np.ndarray,
    weights: np.ndarray,
    best: BestEdges,
) -> ColumnHeaps:
    """Group edges by dependent, with the best edge into each word first. O(m)."""
    start = np.zeros(n + 2, np.int64)
    for i in range(weights.shape[0]):
        d = deps[i]
        if joins(n, heads[i], d, weights[i]):
            start[d + 1] += 1
    for d in range(n + 1):
        start[d + 1] += start[d]
    many = start[n + 1]
    every = np.empty(many + n + 1)
    columns = ColumnHeaps(
        start, np.zeros(n + 1, np.int64), np.empty(many, np.int32), every, every[many:]
    )
    for d in range(n + 1):
        columns.root[d] = best.root[d]
        if best.head[d] >= 0 and start[d] < start[d + 1]:
            columns.left[d] = 1
            columns.heads[start[d]] = best.head[d]
            columns.weights[start[d]] = best.weight[d]
    for i in range(weights.shape[0]):
        h, d, weight = heads[i], deps[i], weights[i]
        if joins(n, h, d, weight) and i != best.edge[d]:
            place = start[d] + columns.left[d]
            if place < start[d + 1]:
                columns.left[d] += 1
                columns.heads[place] = h
                columns.weights[place] = weight
    return columns


@inlined_kernel
def sink(columns: ColumnHeaps, d: int, i: int) -> None:
    """Move the edge at index i of a column down in its heap (sift down). O(log of its length)."""
    start, count = columns.start[d], columns.left[d]
    heads = columns.heads[start : start + count]
    weights = columns.weights[start : start + count]
    head, weight = heads[i], weights[i]
    while True:
        j = 2 * i + 1
        if j >= count:
            break
        if j + 1 < count and precedes(weights[j + 1], heads[j + 1], weights[j], heads[j]):
            j += 1
        if not precedes(weights[j], heads[j], weight, head):
            break
        heads[i] = heads[j]
        weights[i] = weights[j]
        i = j
    heads[i] = head
    weights[i] = weight


@inlined_kernel
def precedes(weight: float, head: int, other_weight: float, other_head: int) -> bool:
    """Tell whether an edge into a word is better than another; on a tie, the lower head wins."""
    return weight > other_weight or (weight == other_weight and head < other_head)


@kernel
def new_clusters(n: int, columns: ColumnHeaps) -> Clusters:
    """Make a cluster of each word. O(n + m)."""
    bias, digits = unit_of(columns.weights)
    clusters = Clusters(
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.full(2 * n + 2, -1, np.int32),
        np.empty(2 * n + 2, np.int32),
        np.empty(2 * n + 2, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1),
        np.empty(n + 1),
        np.zeros((n + 1, digits), np.int64),
        np.zeros((n + 1, digits), np.int64),
        np.empty(digits, np.int64),
        np.empty(digits),
        bias,
    )
    for k in range(digits):
        clusters.power[k] = np.ldexp(1.0, 32 * k - bias + SCALE_EXPONENT)
    for d in range(n + 1):
        clusters.name[d] = clusters.following[d] = clusters.item[d] = d
        clusters.size[d] = 1
        clusters.rooted[d] = d if columns.root[d] > -np.inf else -1
        clusters.top[d] = d if columns.left[d] > 0 else -1
        clusters.child[d] = clusters.sibling[d] = -1
    return clusters


@kernel
def contract(clusters: Clusters, columns: ColumnHeaps, single: bool, tree: np.ndarray) -> int:
    """Find the best tree of n words; changes the columns. O(m log n)."""
    n = clusters.name.shape[0] - 1
    items = n + 1
    path = np.empty(n + 1, np.int32)
    place = np.zeros(n + 1, np.int32)  # a cluster's index on the path, if `path` has it there
    # For clusters connected to the root: a cluster of the same subtree of the root; else -1.
    subtree = np.full(n + 1, -1, np.int32)
    roots = 0
    for first in range(1, n + 1):
        cluster = clusters.name[first]
        length = 0
        while subtree[cluster] < 0:
            if length > 0 and place[cluster] < length and path[place[cluster]] == cluster:
                start = place[cluster]
                cluster = join(clusters, columns, path[start:length], items)
                items += 1
                length = start
            path[length] = cluster
            place[cluster] = length
            length += 1
            d, r = best_column(clusters, columns, cluster), clusters.rooted[cluster]
            if r >= 0 and (d < 0 or root_wins(clusters, columns, r, d)):
                enter(clusters, cluster, 0, r)
                roots += 1
                subtree[cluster] = cluster
            elif d >= 0:
                head = columns.heads[columns.start[d]]
                enter(clusters, cluster, head, d)
                cluster = clusters.name[head]
            else:
                mark_words(clusters, cluster, tree)
                return NO_TREE
        for i in range(length):
            subtree[path[i]] = subtree[cluster]
    if single and roots > 1:
        items = leave_one_root(clusters, columns, subtree, roots, items, path)
        if items < 0:
            return NO_SINGLE_ROOT
    expand(clusters, items, tree)
    return FINE


@kernel
def leave_one_root(
    clusters: Clusters,
    columns: ColumnHeaps,
    subtree: np.ndarray,
    roots: int,
    items: int,
    path: np.ndarray,
) -> int:
    """Remove root edges until one is left; return the number of items, or -1. O(m log n)."""
    n = clusters.name.shape[0] - 1
    queue = np.empty(roots, np.int32)
    waiting = 0
    for d in range(1, n + 1):
        if subtree[d] == d and clusters.name[d] == d:
            waiting = queue_up(clusters, columns, queue, waiting, d)
    while roots > 1:
        if waiting == 0:
            return -1
        cluster, waiting = queue[0], waiting - 1
        let_sink(clusters, columns, queue, waiting, queue[waiting], 0)
        d = clusters.top[cluster]
        head = columns.heads[columns.start[d]]
        enter(clusters, cluster, head, d)
        outside = clusters.name[head]
        if find(subtree, outside) != find(subtree, cluster):
            subtree[find(subtree, cluster)] = find(subtree, outside)
            roots -= 1
        else:
            length = 0
            while outside != cluster:
                path[length] = outside
                length += 1
                outside = clusters.name[clusters.entered_from[clusters.item[outside]]]
            path[length] = cluster
            cluster = join(clusters, columns, path[: length + 1], items)
            items += 1
            enter(clusters, cluster, 0, clusters.rooted[cluster])
            waiting = queue_up(clusters, columns, queue, waiting, cluster)
    return items


@inlined_kernel
def queue_up(
    clusters: Clusters, columns: ColumnHeaps, queue: np.ndarray, waiting: int, cluster: int
) -> int:
    """Put a cluster into the queue if an edge from a word enters it; return the queue's length."""
    if best_column(clusters, columns, cluster) < 0:
        return waiting
    clusters.scratch[:] = 0
    add_slack(clusters, columns, cluster, 1)
    clusters.slack[cluster] = as_float(clusters)
    i = waiting
    while i > 0 and dearer(clusters, columns, queue[(i - 1) // 2], cluster):
        queue[i] = queue[(i - 1) // 2]
        i = (i - 1) // 2
    queue[i] = cluster
    return waiting + 1


@inlined_kernel
def let_sink(
    clusters: Clusters, columns: ColumnHeaps, queue: np.ndarray, waiting: int, cluster: int, i: int
) -> None:
    """Put a cluster at index i of the queue (a binary heap), or below index i (sift down)."""
    while True:
        j = 2 * i + 1
        if j + 1 < waiting and dearer(clusters, columns, queue[j], queue[j + 1]):
            j += 1
        if j >= waiting or not dearer(clusters, columns, cluster, queue[j]):
            break
        queue[i] = queue[j]
        i = j
    queue[i] = cluster


@inlined_kernel
def enter(clusters: Clusters, cluster: int, head: int, d: int) -> None:
    """Make head -> d the chosen edge into a cluster."""
    clusters.entered_from[clusters.item[cluster]] = head
    clusters.entered_at[clusters.item[cluster]] = d


@inlined_kernel
def best_column(clusters: Clusters, columns: ColumnHeaps, cluster: int) -> int:
    """Return the word that the best edge into a cluster enters, or -1.

    Removes edges that have become internal. O(log n) for each of them.
    """
    while clusters.top[cluster] >= 0:
        d = clusters.top[cluster]
        start = columns.start[d]
        if clusters.name[columns.heads[start]] != cluster:
            return d
        while columns.left[d] > 0 and clusters.name[columns.heads[start]] == cluster:
            last = start + columns.left[d] - 1
            columns.heads[start] = columns.heads[last]
            columns.weights[start] = columns.weights[last]
            columns.left[d] -= 1
            if columns.left[d] > 1:
                sink(columns, d, 0)
        remaining = pair_up(clusters, columns, clusters.child[d])
        clusters.child[d] = -1
        if columns.left[d] > 0:
            weigh(clusters, columns, d)
            remaining = meld(clusters, columns, remaining, d)
        clusters.top[cluster] = remaining
    return -1


@inlined_kernel
def root_wins(clusters: Clusters, columns: ColumnHeaps, r: int, d: int) -> bool:
    """Tell whether the root's edge into r is better than the best other edge, into d. O(D)."""
    root_weight, weight = columns.root[r], columns.weights[columns.start[d]]
    return root_weight > weight if r == d else exact_order(clusters, root_weight, r, weight, d) > 0


@uncounted_kernel
def dearer(clusters: Clusters, columns: ColumnHeaps, cluster: int, other: int) -> bool:
    """Tell whether a cluster's root edge has more slack; on a tie, the later word wins. O(D)."""
    one, other_slack = clusters.slack[cluster], clusters.slack[other]
    if abs(one - other_slack) > _CLOSE * max(abs(one), abs(other_slack)) + _TINY:
        return one > other_slack
    clusters.scratch[:] = 0
    add_slack(clusters, columns, cluster, 1)
    add_slack(clusters, columns, other, -1)
    sign = sign_of(clusters.scratch)
    return sign > 0 or (sign == 0 and cluster > other)


@inlined_kernel
def add_slack(clusters: Clusters, columns: ColumnHeaps, cluster: int, sign: int) -> None:
    """Add to `scratch`, or subtract, the advantage of a root edge over the best other edge."""
    r, d = clusters.rooted[cluster], clusters.top[cluster]
    scratch = clusters.scratch
    for k in range(scratch.shape[0]):
        scratch[k] += sign * (clusters.base[d, k] - clusters.base[r, k])
    add_float(scratch, columns.root[r], sign, clusters.bias)
    add_float(scratch, columns.weights[columns.start[d]], -sign, clusters.bias)


@inlined_kernel
def as_float(clusters: Clusters) -> float:
    """Return the number in `scratch`, times SCALE, with a relative error of 2^-50. O(D)."""
    total = 0.0
    for k in range(clusters.scratch.shape[0] - 1, -1, -1):
        # From the highest digit down: if leading digits cancel, they do so exactly.
        total += clusters.scratch[k] * clusters.power[k]
    return total


@uncounted_kernel
def join(clusters: Clusters, columns: ColumnHeaps, cycle: np.ndarray, item: int) -> int:
    """Join the clusters of a cycle; return the name of the new cluster.

    O(log n) amortized for each word, as only the words of the smaller clusters are visited.
    """
    bias = clusters.bias
    largest = cycle[0]
    for cluster in cycle:
        if clusters.size[cluster] == 1:
            open_column(clusters, columns, cluster)
        clusters.inside[clusters.item[cluster]] = item
        if clusters.size[cluster] > clusters.size[largest]:
            largest = cluster
        # From now on, each edge into the cluster replaces its best edge.
        d = clusters.top[cluster]
        offset = clusters.offset[cluster]
        for k in range(offset.shape[0]):
            offset[k] = -clusters.base[d, k]
        add_float(offset, columns.weights[columns.start[d]], 1, bias)
        normalize(offset)
    clusters.item[largest] = item
    for cluster in cycle:
        if cluster != largest:
            absorb(clusters, columns, largest, cluster)
    return largest


@inlined_kernel
def open_column(clusters: Clusters, columns: ColumnHeaps, d: int) -> None:
    """Make a heap of the edges into a word. O(their number)."""
    for i in range(columns.left[d] // 2 - 1, -1, -1):
        sink(columns, d, i)
    weigh(clusters, columns, d)


@inlined_kernel
def absorb(clusters: Clusters, columns: ColumnHeaps, cluster: int, other: int) -> None:
    """Add the words of another cluster to a cluster."""
    d = other
    while True:
        clusters.name[d] = cluster
        for k in range(clusters.base.shape[1]):
            clusters.base[d, k] += clusters.offset[other, k] - clusters.offset[cluster, k]
        if columns.left[d] > 0:
            weigh(clusters, columns, d)
        d = clusters.following[d]
        if d == other:
            break
    r, other_r = clusters.rooted[cluster], clusters.rooted[other]
    if r < 0 or (
        other_r >= 0
        and exact_order(clusters, columns.root[other_r], other_r, columns.root[r], r) > 0
    ):
        clusters.rooted[cluster] = other_r
    clusters.size[cluster] += clusters.size[other]
    following = clusters.following[cluster]
    clusters.following[cluster] = clusters.following[other]
    clusters.following[other] = following
    clusters.top[cluster] = meld(clusters, columns, clusters.top[cluster], clusters.top[other])


@inlined_kernel
def weigh(clusters: Clusters, columns: ColumnHeaps, d: int) -> None:
    """Compute the gain of a column's best edge as a float. O(D)."""
    scratch = clusters.scratch
    for k in range(scratch.shape[0]):
        scratch[k] = -clusters.base[d, k]
    add_float(scratch, columns.weights[columns.start[d]], 1, clusters.bias)
    clusters.gain[d] = as_float(clusters)


@uncounted_kernel
def exact_order(clusters: Clusters, weight: float, d: int, other_weight: float, other: int) -> int:
    """Compare the gains of two edges into words of a cluster: 1, 0 or -1. O(D)."""
    scratch = clusters.scratch
    for k in range(scratch.shape[0]):
        scratch[k] = clusters.base[other, k] - clusters.base[d, k]
    add_float(scratch, weight, 1, clusters.bias)
    add_float(scratch, other_weight, -1, clusters.bias)
    return sign_of(scratch)


@inlined_kernel
def meld(clusters: Clusters, columns: ColumnHeaps, one: int, other: int) -> int:
    """Merge two heaps of columns (-1 is the empty heap); return the top. O(1)."""
    if one < 0:
        return other
    if other < 0:
        return one
    gain, other_gain = clusters.gain[one], clusters.gain[other]
    order = 1 if gain > other_gain else -1
    if abs(gain - other_gain) <= _CLOSE * max(abs(gain), abs(other_gain)) + _TINY:
        order = exact_order(
            clusters,
            columns.weights[columns.start[one]],
            one,
            columns.weights[columns.start[other]],
            other,
        )
        if order == 0:
            order = 1 if one < other else -1
    if order < 0:
        one, other = other, one
    clusters.sibling[other] = clusters.child[one]
    clusters.child[one] = other
    return one


@inlined_kernel
def pair_up(clusters: Clusters, columns: ColumnHeaps, first: int) -> int:
    """Merge a list of siblings into one heap: first in pairs, then the pairs from last to first.

    O(log n) amortized (Fredman, Sedgewick, Sleator and Tarjan 1986).
    """
    pairs = -1
    while first >= 0:
        second = clusters.sibling[first]
        following = -1
        if second >= 0:
            following = clusters.sibling[second]
        pair = meld(clusters, columns, first, second)
        clusters.sibling[pair] = pairs
        pairs = pair
        first = following
    top = -1
    while pairs >= 0:
        following = clusters.sibling[pairs]
        top = meld(clusters, columns, top, pairs)
        pairs = following
    return top


@kernel
def expand(clusters: Clusters, items: int, tree: np.ndarray) -> None:
    """Write the tree, from the outermost clusters to the words. O(n).

    The edge that enters an item at a word replaces the best edges of all inner items that contain
    this word.
    """
    settled = np.zeros(items, np.bool_)
    for item in range(items - 1, 0, -1):
        if not settled[item]:
            d = clusters.entered_at[item]
            tree[d] = clusters.entered_from[item]
            inner = d
            while inner != item:
                settled[inner] = True
                inner = clusters.inside[inner]
    tree[0] = -1


@inlined_kernel
def mark_words(clusters: Clusters, cluster: int, tree: np.ndarray) -> None:
    """Write 0 for the words of a cluster, and -1 for all other words."""
    tree[:] = -1
    d = cluster
    while True:
        tree[d] = 0
        d = clusters.following[d]
        if d == cluster:
            break
