"""Contraction of cycles, exactly, in O(n²) for a whole decode.

The state is a forest of nodes: the leaves 0..n are root and words, and each contracted cycle
makes a node n+1, n+2, ... above its members. A node that is nobody's member is a *top*. Each
top x has a best entering edge, and an *in-column*: for every word u outside x the best edge
from u into x, as its *gain*: the edge's score less the scores of the edges that it would kick
out. A column is copied out of the scores only when its word enters a cycle, so that easy
sentences copy nothing. Merging k columns costs O(kn), and all cycles of a decode have O(n)
members in all, hence O(n²).

Gains are sums of scores with signs. They are kept as float64 with a proven bound on their
error; where the bound cannot tell two gains apart, they are compared in a long accumulator
(`exact`), from the scores themselves. So every decision is the one of real arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.core.exact import (
    BIAS_32,
    BIAS_64,
    DIGITS_32,
    DIGITS_64,
    SCALE,
    add_float,
    normalize,
    rounded,
    sign_of,
)
from arborescence.core.jit import inlined_kernel, kernel, spliced_kernel, uncounted_kernel

NEW, ON_PATH, DONE = 0, 1, 2

# One unit of relative rounding error, doubled; and more than any absolute error by underflow.
UNIT = 2.0**-52
TINY = 2.0**-1000
# Errors may double with each contraction around a node. A gain that is off by more than this,
# relative to the largest on its cycle, is computed afresh before others build on it.
REFRESH = 2.0**-16
# Columns are padded to whole blocks with -inf, so that SIMD loops leave no rest.
BLOCK = 32


class Forest(NamedTuple):
    """The contraction forest of one sentence and all that a decode of it needs.

    N is n + 1, and W is N rounded up to whole blocks. Arrays over nodes have 2N places, over
    leaves W. Made once, used for sentences of any length up to n.
    """

    gains: np.ndarray  # (N, W) float64: in-columns, one a row; scaled by SCALE
    entry: np.ndarray  # (N, W) int32: the word of x at which the edge of that gain enters
    raw: np.ndarray  # (W,), the type of the scores: a column on its way
    folded: np.ndarray  # (W,) float64: a maximum on its way
    slot: np.ndarray  # nodes, int64: the row of x's column, -1 while it has none
    free: np.ndarray  # rows, int64: a stack of the rows that are free: the last one freed is
    # the first to be used again, as it is still in the processor's cache
    tail: np.ndarray  # nodes, int64: the best entering edge tail -> into of x (its cycle edge,
    into: np.ndarray  # nodes, int64: once x is a member) ...
    gain: np.ndarray  # nodes, float64: ... and its gain
    bound: np.ndarray  # nodes, float64: gains g of x are off by at most bound + relative·|g|
    relative: np.ndarray  # nodes, float64
    parent: np.ndarray  # nodes, int64: the cycle of which x is a member, -1 for a top
    label: np.ndarray  # leaves, int64: all leaves below a top have the same label, ...
    at: np.ndarray  # leaves, int64: ... and this is the top that has a label
    size: np.ndarray  # nodes, int64: the number of leaves below x ...
    first: np.ndarray  # nodes, int64: ... which are a list from first ...
    last: np.ndarray  # nodes, int64: ... to last ...
    after: np.ndarray  # leaves, int64: ... linked by after
    status: np.ndarray  # nodes, int64: NEW, ON_PATH or DONE
    path: np.ndarray  # nodes, int64: the stack of nodes on the current path
    members: np.ndarray  # nodes, int64: all members, cycle after cycle, as they became ones
    tally: np.ndarray  # (4,) int64: nodes; length of members; how many of it `catch_up` has
    # seen; length of free
    # For exact comparisons (D digits), as of the members that `catch_up` has seen. What an edge
    # into the word v kicks out is own[v] + shared[group[v]].
    own: np.ndarray  # (leaves, D) int64
    shared: np.ndarray  # (leaves, D) int64
    group: np.ndarray  # leaves, int64
    sums: np.ndarray  # (3, D) int64: accumulators
    # For the root constraint:
    roots: np.ndarray  # nodes, int64: the children of the root
    other: np.ndarray  # nodes, int64: the tail of the best edge into each but from the root
    known: np.ndarray  # nodes, bool: whether that is up to date
    loss: np.ndarray  # nodes, float64: what taking it would cost
    family: np.ndarray  # nodes, int64: the child of the root in whose subtree a top is, ...
    link: np.ndarray  # nodes, int64: ... or was: where that subtree has gone since


@inlined_kernel
def padded(n: int) -> int:
    """Return the length of the columns of a sentence of n words."""
    return (n + BLOCK) // BLOCK * BLOCK


@kernel
def new_forest(scores: np.ndarray, n: int) -> Forest:
    """Make room for sentences of up to n words. The memory is touched as it is needed."""
    nodes = 2 * (n + 1)
    leaves = padded(n)
    digits = DIGITS_32 if scores.itemsize == 4 else DIGITS_64
    return Forest(
        gains=np.empty((n + 1, leaves), np.float64),
        entry=np.empty((n + 1, leaves), np.int32),
        raw=np.empty(leaves, scores.dtype),
        folded=np.empty(leaves, np.float64),
        slot=np.empty(nodes, np.int64),
        free=np.empty(leaves, np.int64),
        tail=np.empty(nodes, np.int64),
        into=np.empty(nodes, np.int64),
        gain=np.empty(nodes, np.float64),
        bound=np.empty(nodes, np.float64),
        relative=np.empty(nodes, np.float64),
        parent=np.empty(nodes, np.int64),
        label=np.empty(leaves, np.int64),
        at=np.empty(leaves, np.int64),
        size=np.empty(nodes, np.int64),
        first=np.empty(nodes, np.int64),
        last=np.empty(nodes, np.int64),
        after=np.empty(leaves, np.int64),
        status=np.empty(nodes, np.int64),
        path=np.empty(nodes, np.int64),
        members=np.empty(nodes, np.int64),
        tally=np.empty(4, np.int64),
        own=np.empty((n + 1, digits), np.int64),
        shared=np.empty((n + 1, digits), np.int64),
        group=np.empty(leaves, np.int64),
        sums=np.empty((3, digits), np.int64),
        roots=np.empty(nodes, np.int64),
        other=np.empty(nodes, np.int64),
        known=np.empty(nodes, np.bool_),
        loss=np.empty(nodes, np.float64),
        family=np.empty(nodes, np.int64),
        link=np.empty(nodes, np.int64),
    )


@spliced_kernel
def plant(forest: Forest, n: int, best: np.ndarray, head: np.ndarray) -> None:
    """Start with the greedy graph: every leaf a top, with its best edge. O(n)."""
    # One short loop an array, or two: only those compile to SIMD instructions.
    for x in range(n + 1):
        forest.tail[x] = head[x]
        forest.into[x] = x
    for x in range(n + 1):
        forest.gain[x] = best[x] * SCALE
        forest.bound[x] = TINY
        forest.relative[x] = 0.0
    for x in range(n + 1):
        forest.slot[x] = -1
        forest.parent[x] = -1
        forest.status[x] = NEW
    for x in range(n + 1):
        forest.label[x] = x
        forest.at[x] = x
        forest.free[x] = n - x
    for x in range(n + 1):
        forest.first[x] = x
        forest.last[x] = x
        forest.size[x] = 1
    for u in range(n + 1, padded(n)):
        forest.label[u] = -1
    forest.status[0] = DONE
    forest.tally[0] = n + 1
    forest.tally[1] = 0
    forest.tally[2] = -1
    forest.tally[3] = n + 1


@spliced_kernel
def top_of(forest: Forest, leaf: int) -> int:
    """Return the top above a leaf. O(1)."""
    return forest.at[forest.label[leaf]]


@inlined_kernel
def score_of(scores: np.ndarray, dependents_first: bool, h: int, d: int) -> float:
    """Return the score of h -> d as a float64."""
    return np.float64(scores[d, h] if dependents_first else scores[h, d])


@spliced_kernel
def copy_column(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, x: int) -> None:
    """Give the leaf x its in-column. O(n)."""
    forest.tally[3] -= 1
    slot = forest.free[forest.tally[3]]
    forest.slot[x] = slot
    gains = forest.gains[slot]
    # Fetching is all that is left to a loop over far-apart scores; the sums come in SIMD.
    raw = forest.raw
    for u in range(n + 1):
        raw[u] = scores[x, u] if dependents_first else scores[u, x]
    raw[x] = -np.inf
    width = padded(n)
    for u in range(n + 1, width):
        raw[u] = -np.inf
    for u in range(width):
        gains[u] = raw[u] * SCALE
    entry = forest.entry[slot]
    for u in range(width):
        entry[u] = x


@uncounted_kernel
def add_gain(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    total: np.ndarray,
    sign: int,
    edge: tuple[int, int],
) -> None:
    """Add ``sign`` times the exact gain of an edge into a top to an accumulator. O(D)."""
    bias = BIAS_32 if scores.itemsize == 4 else BIAS_64
    u, v = edge
    add_float(total, score_of(scores, dependents_first, u, v), sign, bias)
    own, shared = forest.own[v], forest.shared[forest.group[v]]
    for k in range(total.shape[0]):
        total[k] -= sign * (own[k] + shared[k])


@uncounted_kernel
def catch_up(forest: Forest, scores: np.ndarray, dependents_first: bool) -> None:
    """Do for `own` and `shared` what the contractions since the last comparison call for.

    Nothing is kept up to date while floats decide. Leaves of small members join the group of
    the largest, so that each changes groups O(log n) times: O(D n log n) for a whole decode.
    """
    if forest.tally[2] < 0:
        forest.tally[2] = 0
        for x in range(forest.own.shape[0]):
            forest.own[x, :] = 0
            forest.shared[x, :] = 0
            forest.group[x] = x
    change, kicked = forest.sums[1], forest.sums[2]
    start = forest.tally[2]
    while start < forest.tally[1]:
        cycle = forest.parent[forest.members[start]]
        stop = start
        largest = forest.members[start]
        while stop < forest.tally[1] and forest.parent[forest.members[stop]] == cycle:
            x = forest.members[stop]
            if forest.size[x] > forest.size[largest]:
                largest = x
            stop += 1
        group = forest.group[forest.first[largest]]
        kicked[:] = 0
        edge = (forest.tail[largest], forest.into[largest])
        add_gain(forest, scores, dependents_first, kicked, 1, edge)
        normalize(kicked)
        for k in range(kicked.shape[0]):
            forest.shared[group, k] += kicked[k]
        for x in forest.members[start:stop]:
            if x == largest:
                continue
            change[:] = 0
            edge = (forest.tail[x], forest.into[x])
            add_gain(forest, scores, dependents_first, change, 1, edge)
            shared = forest.shared[forest.group[forest.first[x]]]
            for k in range(change.shape[0]):
                change[k] += shared[k] - forest.shared[group, k]
            normalize(change)
            leaf = forest.first[x]
            for _ in range(forest.size[x]):
                for k in range(change.shape[0]):
                    forest.own[leaf, k] += change[k]
                forest.group[leaf] = group
                leaf = forest.after[leaf]
        start = stop
    forest.tally[2] = forest.tally[1]


@uncounted_kernel
def exact_gain(
    forest: Forest, scores: np.ndarray, dependents_first: bool, edge: tuple[int, int]
) -> float:
    """Return the gain of an edge into a top, within 2^-50 of itself. O(D)."""
    catch_up(forest, scores, dependents_first)
    total = forest.sums[0]
    total[:] = 0
    add_gain(forest, scores, dependents_first, total, 1, edge)
    return rounded(total, BIAS_32 if scores.itemsize == 4 else BIAS_64)


@uncounted_kernel
def compare(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    one: tuple[int, int],
    other: tuple[int, int],
) -> int:
    """Return the sign of gain(one) - gain(other), exactly, for two edges into one top. O(D)."""
    catch_up(forest, scores, dependents_first)
    total = forest.sums[0]
    total[:] = 0
    add_gain(forest, scores, dependents_first, total, 1, one)
    add_gain(forest, scores, dependents_first, total, -1, other)
    return sign_of(total)


@inlined_kernel
def fold(values: np.ndarray, many: int) -> float:
    """Return the largest of `many` values, and overwrite them. O(n).

    They are folded in half until one is left, since a maximum over one variable does not compile
    to SIMD instructions.
    """
    while many > 1:
        half = many // 2
        many -= half
        for k in range(half):
            one, other = values[k], values[k + many]
            values[k] = other if other > one else one
    return values[0]


@inlined_kernel
def highest(gains: np.ndarray, width: int, folded: np.ndarray) -> float:
    """Return the largest of `width` gains, an even number. `folded` is scratch."""
    half = width // 2
    for k in range(half):  # the first fold leaves the gains as they are
        one, other = gains[k], gains[k + half]
        folded[k] = other if other > one else one
    return fold(folded, half)


@inlined_kernel
def candidates(gains: np.ndarray, width: int, least: float) -> tuple[int, int]:
    """Return how many gains are at least `least`, and where: the sum of their positions.

    That sum is the position itself where there is but one.
    """
    many = 0
    where = 0
    for u in range(width):
        near = 1 if gains[u] >= least else 0
        many += near
        where += near * u
    return many, where


@spliced_kernel
def best_entry(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    n: int,
    x: int,
    gains: np.ndarray,
    favourite: int,
) -> int:
    """Return the tail u of the best edge into x, -1 if there is none. O(n).

    `gains` is the in-column of x, or a copy of it with some left out. Of equal gains the
    favourite (-1: none) wins, or else the lowest u. Gains from inside x are -inf.
    """
    width = padded(n)
    best = highest(gains, width, forest.folded)
    if best == -np.inf:
        return -1
    least = best - (2.0 * forest.bound[x] + 8.0 * forest.relative[x] * abs(best))
    many, where = candidates(gains, width, least)
    if many == 1:
        return where
    return settle(forest, scores, dependents_first, n, x, gains, favourite, least)


@uncounted_kernel
def settle(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    n: int,
    x: int,
    gains: np.ndarray,
    favourite: int,
    least: float,
) -> int:
    """Return the tail of the best edge into x, exactly, among gains of at least `least`."""
    entry = forest.entry[forest.slot[x]]
    winner = int(favourite if favourite >= 0 and gains[favourite] >= least else -1)
    for u in range(n + 1):
        if gains[u] < least or u == favourite:
            continue
        if winner >= 0:
            one, other = (u, int(entry[u])), (winner, int(entry[winner]))
            if compare(forest, scores, dependents_first, one, other) <= 0:
                continue
        winner = u
    return winner


@spliced_kernel
def take(forest: Forest, x: int, u: int) -> None:
    """Make the entry from u the chosen edge of x."""
    slot = forest.slot[x]
    forest.tail[x] = u
    forest.into[x] = forest.entry[slot, u]
    forest.gain[x] = forest.gains[slot, u]


@inlined_kernel
def merge_entries(
    gains: np.ndarray,
    entry: np.ndarray,
    rival: np.ndarray,
    rival_entry: np.ndarray,
    kicked: float,
    width: int,
    bound: float,
    relative: float,
) -> int:
    """Where rival - kicked is surely better than gains, take its entry; count the unsure."""
    unsure = 0
    for u in range(width):
        one, other = gains[u], rival[u] - kicked
        # -inf beside a finite gain is sure (inf < inf is false), and so are two -inf (NaN).
        near = abs(one - other) < 2.0 * bound + 8.0 * relative * abs(one)
        unsure += 1 if near else 0
        mine, his = entry[u], rival_entry[u]
        entry[u] = his if (other > one) & (not near) else mine
    return unsure


@inlined_kernel
def merge_gains(gains: np.ndarray, rival: np.ndarray, kicked: float, width: int) -> None:
    """Keep the better of gains and rival - kicked."""
    for u in range(width):
        one, other = gains[u], rival[u] - kicked
        gains[u] = other if other > one else one


@uncounted_kernel
def merge_unsure(
    forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, x: int, cycle: int
) -> None:
    """Settle what `merge_entries` was not sure of, and take it out of the member x's column."""
    kicked = forest.gain[x]
    gains, entry = forest.gains[forest.slot[cycle]], forest.entry[forest.slot[cycle]]
    rival, rival_entry = forest.gains[forest.slot[x]], forest.entry[forest.slot[x]]
    bound, relative = forest.bound[cycle], forest.relative[cycle]
    for u in range(n + 1):
        gain = rival[u] - kicked
        if abs(gains[u] - gain) < 2.0 * bound + 8.0 * relative * abs(gains[u]):
            one, other = (u, int(entry[u])), (u, int(rival_entry[u]))
            if compare(forest, scores, dependents_first, other, one) > 0:
                gains[u] = gain
                entry[u] = rival_entry[u]
            rival[u] = -np.inf


@spliced_kernel
def contract(
    forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, start: int, stop: int
) -> int:
    """Contract the cycle ``forest.path[start:stop]`` and return its new node. O(kn).

    Each member's chosen edge is its edge on the cycle. The new node has its in-column, but no
    chosen edge yet.
    """
    members = forest.path[start:stop]
    cycle = forest.tally[0]
    forest.tally[0] += 1
    forest.parent[cycle] = -1
    forest.status[cycle] = NEW

    # Error bounds first: a - kicked is off by what a and kicked are off, and one rounding.
    bound = 0.0
    relative = 0.0
    largest = members[0]
    scale = 0.0
    for x in members:
        scale = max(scale, abs(forest.gain[x]))
        if forest.size[x] > forest.size[largest]:
            largest = x
    for x in members:
        off = TINY
        if x > n:
            kicked = abs(forest.gain[x])
            off = forest.bound[x] + forest.relative[x] * kicked
            if off > REFRESH * scale:
                edge = (forest.tail[x], forest.into[x])
                forest.gain[x] = exact_gain(forest, scores, dependents_first, edge)
                off = TINY + 4.0 * UNIT * abs(forest.gain[x])
        elif forest.slot[x] < 0:
            copy_column(forest, scores, dependents_first, n, x)
        bound = max(bound, forest.bound[x] + forest.relative[x] * abs(forest.gain[x]) + off)
        relative = max(relative, forest.relative[x])
    for x in members:
        forest.parent[x] = cycle
        forest.members[forest.tally[1]] = x
        forest.tally[1] += 1
    forest.bound[cycle] = bound = bound * (1.0 + 8.0 * UNIT) + TINY
    forest.relative[cycle] = relative = relative + UNIT

    # The largest member hands on its label, so that a leaf changes labels O(log n) times.
    slot = forest.slot[largest]
    forest.slot[cycle] = slot
    label = forest.label[forest.first[largest]]
    forest.at[label] = cycle
    forest.size[cycle] = forest.size[largest]
    forest.first[cycle] = forest.first[largest]
    forest.last[cycle] = forest.last[largest]
    gains = forest.gains[slot]
    entry = forest.entry[slot]
    kicked = forest.gain[largest]
    width = padded(n)
    for u in range(width):
        gains[u] -= kicked
    for x in members:
        if x == largest:
            continue
        kicked = forest.gain[x]
        rival = forest.gains[forest.slot[x]]
        rival_entry = forest.entry[forest.slot[x]]
        unsure = merge_entries(gains, entry, rival, rival_entry, kicked, width, bound, relative)
        if unsure > 0:
            merge_unsure(forest, scores, dependents_first, n, x, cycle)
        merge_gains(gains, rival, kicked, width)
        leaf = forest.first[x]
        for _ in range(forest.size[x]):
            forest.label[leaf] = label
            leaf = forest.after[leaf]
        forest.after[forest.last[cycle]] = forest.first[x]
        forest.last[cycle] = forest.last[x]
        forest.size[cycle] += forest.size[x]
        forest.free[forest.tally[3]] = forest.slot[x]
        forest.tally[3] += 1
    for u in range(width):
        gain = gains[u]
        gains[u] = -np.inf if forest.label[u] == label else gain
    return cycle


@spliced_kernel
def expand(forest: Forest, n: int, heads: np.ndarray) -> None:
    """Open all contracted nodes and write the tree. O(n).

    A node's chosen edge enters at one leaf, and replaces the cycle edges of all nodes between
    the two; the other members keep theirs.
    """
    for x in range(forest.tally[0] - 1, n, -1):
        if forest.into[x] < 0:
            continue
        below = forest.into[x]
        u, v = forest.tail[x], below
        while below != x:
            forest.tail[below] = u
            # The nodes in between are settled: only the leaf's own edge is still read.
            forest.into[below] = v if below <= n else -1
            below = forest.parent[below]
    for d in range(1, n + 1):
        heads[d] = forest.tail[d]
