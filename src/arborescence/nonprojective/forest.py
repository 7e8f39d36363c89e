"""The state of a decode: a forest of nodes, with all its arrays.

The leaves 0..n are the root and the words; each contracted cycle is a node n+1, n+2, ... whose
children are its members. A node that is not a member of a cycle is a *top*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, kernel, never_negative, reordered_kernel
from arborescence.compiling.lanes import LANES, doubles, longs, numbers, places, where
from arborescence.core.accumulator import DIGITS_32, DIGITS_64, SCALE
from arborescence.core.rows import padded

NEW, ON_PATH, DONE = 0, 1, 2

# Twice the unit of relative rounding error; and a bound on any absolute error by underflow.
UNIT = 2.0**-52
TINY = 2.0**-1000
# An edge counts as masked if its score is this many times lower than the sum of all best scores.
DEPTH = 2.0**30


# N is n + 1, and W is N rounded up to whole lanes; columns are -inf after N. Arrays over rows have
# length N, over nodes at least 2N, over leaves W; D is the number of digits of an accumulator.


class InColumns(NamedTuple):
    """The in-columns of tops, in rows that are reused when a top has become a member."""

    #: (N, W) float64: one column per row; times SCALE
    gains: np.ndarray
    #: (N, W) int32: the word of x that the edge of this gain enters
    entry: np.ndarray
    #: nodes, int64: the row of x's column, -1 if it has none
    slot: np.ndarray
    #: leaves, int64: a stack of the free rows; the row freed last is reused first, as it is still
    #: in the processor's cache
    free: np.ndarray
    #: leaves, the type of the scores: scratch for copying a column
    raw: np.ndarray


class Chosen(NamedTuple):
    """The best entering edge of each node; for a member, its edge on the cycle."""

    #: nodes, int64: the head of the edge tail -> into
    tail: np.ndarray
    #: nodes, int64: the word that the edge enters
    into: np.ndarray
    #: nodes, float64: the gain of the edge
    gain: np.ndarray
    #: nodes, float64: the error of a gain g is at most bound + relative·|g|
    bound: np.ndarray
    #: nodes, float64: see `bound`
    relative: np.ndarray


class Nest(NamedTuple):
    """The nesting of the nodes."""

    #: nodes, int64: the cycle that x is a member of, -1 for a top
    parent: np.ndarray
    #: nodes, int64: the members of all cycles, in order of contraction
    members: np.ndarray
    #: leaves, int64: all leaves below a top have the same label
    label: np.ndarray
    #: leaves, int64: the top of each label
    at: np.ndarray
    #: nodes, int64: the number of leaves below x
    size: np.ndarray
    #: nodes, int64: the first leaf of the linked list of these leaves
    first: np.ndarray
    #: nodes, int64: the last leaf of that list
    last: np.ndarray
    #: leaves, int64: the next leaf of the list
    after: np.ndarray


class Walk(NamedTuple):
    """The path from a word to the root."""

    #: nodes, int64: NEW, ON_PATH or DONE
    status: np.ndarray
    #: nodes, int64: the stack of nodes on the current path
    path: np.ndarray


class ExactGains(NamedTuple):
    """The exact sum that an edge into v replaces: own[v] + shared[group[v]], after `catch_up`."""

    #: (N, D) int64: the part of the sum that belongs to a leaf
    own: np.ndarray
    #: (N, D) int64: the part that all leaves of a group share
    shared: np.ndarray
    #: leaves, int64: the group of a leaf
    group: np.ndarray
    #: (3, D) int64: accumulators
    sums: np.ndarray


class RootChildren(NamedTuple):
    """The data of `constrained` about the children of the root."""

    #: nodes, int64: the children
    roots: np.ndarray
    #: nodes, int64: for each child, the tail of its best edge that is not from the root
    other: np.ndarray
    #: nodes, bool: whether `other` is up to date
    known: np.ndarray
    #: nodes, float64: the weight that the tree loses if the child takes that edge
    loss: np.ndarray
    #: nodes, int64: for each top, the child of the root whose subtree contains the top
    family: np.ndarray
    #: nodes, int64: union-find links between these subtrees
    link: np.ndarray


# Indices of `Forest.counts`: the numbers of nodes, of entries of `members`, of members that
# `catch_up` has processed (-1 before its first call), and of entries of `free`; and whether no sum
# of these scores is rounded in float64 (-1: not known yet).
NODES, MEMBERS, SEEN, FREE, UNROUNDED = range(5)
# Indices of `Forest.limits`: the number that is subtracted from the scores of all root edges; the
# gain, times SCALE, below which edges count as absent; and the sum of the gains of the leaves' best
# edges.
SHIFT, FLOOR, MOST = range(3)


class Forest(NamedTuple):
    """The contraction forest of one sentence of up to n words, with all arrays for decoding."""

    #: the in-columns of the tops
    columns: InColumns
    #: the best entering edge of each node
    chosen: Chosen
    #: the nesting of the nodes
    nest: Nest
    #: the current path to the root
    walk: Walk
    #: the exact sums that edges replace
    exact: ExactGains
    #: the children of the root
    rooted: RootChildren
    #: (at least 5,) int64: see the indices above
    counts: np.ndarray
    #: (at least 3,) float64: see the indices above
    limits: np.ndarray


@kernel
def new_forest(scores: np.ndarray, n: int) -> Forest:
    """Allocate the arrays for sentences of up to n words, without initializing them."""
    rows = n + 1
    nodes = 2 * rows + LANES
    leaves = padded(n)
    digits = DIGITS_32 if scores.itemsize == 4 else DIGITS_64
    # A few blocks, cut into rows: making an array takes longer than using it for a short sentence.
    of_nodes = np.empty((14, nodes), np.int64)
    floats = np.empty((4, nodes), np.float64)
    of_leaves = np.empty((6, leaves), np.int64)
    gains = np.empty((rows + 1, leaves), np.float64)
    exact = np.empty((2 * rows + 3, digits), np.int64)
    return Forest(
        InColumns(
            gains=gains[:rows],
            entry=np.empty((rows, leaves), np.int32),
            slot=of_nodes[0],
            free=of_leaves[0],
            raw=np.empty(leaves, scores.dtype),
        ),
        Chosen(
            tail=of_nodes[1],
            into=of_nodes[2],
            gain=floats[0],
            bound=floats[1],
            relative=floats[2],
        ),
        Nest(
            parent=of_nodes[3],
            members=of_nodes[4],
            label=of_leaves[1],
            at=of_leaves[2],
            size=of_nodes[5],
            first=of_nodes[6],
            last=of_nodes[7],
            after=of_leaves[3],
        ),
        Walk(status=of_nodes[8], path=of_nodes[9]),
        ExactGains(
            own=exact[:rows],
            shared=exact[rows : 2 * rows],
            group=of_leaves[4],
            sums=exact[2 * rows :],
        ),
        RootChildren(
            roots=of_nodes[10],
            other=of_nodes[11],
            known=np.empty(nodes, np.bool_),
            loss=floats[3],
            family=of_nodes[12],
            link=of_nodes[13],
        ),
        counts=of_leaves[5],
        limits=gains[rows],
    )


@indexing_kernel
def plant(forest: Forest, n: int, best: np.ndarray, head: np.ndarray, shift: float) -> None:
    """Start with a greedy graph: every leaf is a top with its best edge. O(n).

    `shift` is subtracted from the scores of all root edges; the edges of the greedy graph are the
    best edges after this subtraction. No edge counts as absent, unless `raise_floor` is called
    next.
    """
    chosen, columns, nest, walk = forest.chosen, forest.columns, forest.nest, forest.walk
    # Entries after the words belong to nodes that `contract` will make, and are written again.
    for start in range(0, n + 1, LANES):
        lanes = places(start)
        node = longs(numbers(start))
        tail = head[lanes]
        gain = doubles(best[lanes]) * SCALE
        chosen.tail[lanes] = longs(tail)
        chosen.into[lanes] = node
        chosen.gain[lanes] = where(tail == 0, gain - shift * SCALE, gain)
        chosen.bound[lanes] = TINY
        chosen.relative[lanes] = UNIT if shift != 0.0 else 0.0
        columns.slot[lanes] = -1
        columns.free[lanes] = n - node
        nest.parent[lanes] = -1
        nest.label[lanes] = where(node <= n, node, -1)
        nest.at[lanes] = node
        nest.first[lanes] = node
        nest.last[lanes] = node
        nest.size[lanes] = 1
        walk.status[lanes] = NEW
    walk.status[0] = DONE
    forest.counts[NODES] = n + 1
    forest.counts[MEMBERS] = 0
    forest.counts[SEEN] = -1
    forest.counts[FREE] = n + 1
    forest.counts[UNROUNDED] = -1
    forest.limits[SHIFT] = shift
    forest.limits[FLOOR] = -np.inf


@reordered_kernel
@never_negative
def sums_of(gains: np.ndarray, start: int, stop: int) -> tuple[float, float]:
    """Return the sum of gains, and the sum of their absolute values. O(n)."""
    total = 0.0
    size = 0.0
    for x in range(start, stop):
        total += gains[x]
        size += abs(gains[x])
    return total, size


@indexing_kernel
def raise_floor(forest: Forest, n: int) -> None:
    """Let edges far below the best edges count as absent, as masked edges are. O(n).

    Masked edges compare as equal in floats, and their exact comparisons would take most of the
    time. `is_above_floor` tells whether the tree is still the best tree.
    """
    forest.limits[MOST], size = sums_of(forest.chosen.gain, 1, n + 1)
    forest.limits[FLOOR] = -size * DEPTH if size > 0.0 else -np.inf


@indexing_kernel
def is_above_floor(forest: Forest) -> bool:
    """Tell whether every tree with an edge below the floor weighs less than this tree. O(n).

    No tree weighs more than `MOST`. Any tree with an edge below the floor weighs less than `MOST`
    by more than half of the floor. This tree weighs less than `MOST` by less than a quarter of the
    floor. Errors of these sums are far smaller.
    """
    weight, _ = sums_of(forest.chosen.gain, 1, forest.counts[NODES])
    return forest.limits[MOST] - weight < -0.25 * forest.limits[FLOOR]


@indexing_kernel
def top_of(forest: Forest, leaf: int) -> int:
    """Return the top above a leaf. O(1)."""
    nest = forest.nest
    return nest.at[nest.label[leaf]]
