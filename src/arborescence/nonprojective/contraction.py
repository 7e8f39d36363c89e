"""Exact contraction of cycles in O(n²) per sentence: Edmonds (1967), in Tarjan's version (1977).

The state is a forest of nodes. The leaves 0..n are the root and the words. Each contracted cycle is
a node n+1, n+2, ... whose children are its members. A node that is not a member of a cycle is a
*top*. Each top x has a best entering edge and an *in-column*: for every word u outside x the *gain*
of the best edge from u into x. The gain is the edge's score minus the scores of the edges that it
replaces. A column is copied from the scores only when its word is on a cycle. Merging k columns
costs O(kn), and all cycles of a decode together have O(n) members, hence O(n²).

Gains are signed sums of scores. They are float64 with a proven error bound. If the bound cannot
order two gains, they are compared in a long accumulator (`accumulator`), computed from the scores.
So every decision is that of real arithmetic.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.compiling.kernels import (
    indexing_kernel,
    kernel,
    never_negative,
    reordered_kernel,
    uncounted_kernel,
)
from arborescence.compiling.lanes import (
    LANES,
    as_row,
    count,
    doubles,
    fill,
    gather,
    is_row,
    load,
    longs,
    lowest,
    magnitude,
    numbers,
    store,
    where,
)
from arborescence.core.accumulator import (
    SCALE,
    add_float,
    bias_of,
    digits_of,
    normalize,
    rounded,
    sign_of,
)
from arborescence.core.rows import between, highest, padded

if TYPE_CHECKING:
    # Two int64, also if the arrays have smaller types, so that kernels are compiled once.
    Edge = tuple[Any, Any]

NEW, ON_PATH, DONE = 0, 1, 2

# Twice the unit of relative rounding error; and a bound on any absolute error by underflow.
UNIT = 2.0**-52
TINY = 2.0**-1000
# Errors may double with each contraction. A gain whose error is larger than this, relative to the
# largest gain on its cycle, is recomputed exactly before it is used.
REFRESH = 2.0**-16
# Edges are taken for masked if they are this many times lower than the sum of all best scores.
DEPTH = 2.0**30


# N is n + 1, and W is N rounded up to whole lanes; columns are -inf after N. Arrays over rows have
# length N, over nodes at least 2N, over leaves W; D is the number of digits of an accumulator.


class Columns(NamedTuple):
    """The in-columns of tops, in rows that are reused when a top has become a member."""

    gains: np.ndarray  # (N, W) float64: one column per row; times SCALE
    entry: np.ndarray  # (N, W) int32: the word of x at which the edge of that gain enters
    slot: np.ndarray  # nodes, int64: the row of x's column, -1 if it has none
    free: np.ndarray  # leaves, int64: a stack of the free rows; the row freed last is reused
    # first, as it is still in the processor's cache
    raw: np.ndarray  # leaves, the type of the scores: scratch for copying a column


class Chosen(NamedTuple):
    """The best entering edge of each node; for a member it is its edge on the cycle."""

    tail: np.ndarray  # nodes, int64: the head of the edge tail -> into
    into: np.ndarray  # nodes, int64
    gain: np.ndarray  # nodes, float64: its gain
    bound: np.ndarray  # nodes, float64: the error of a gain g is at most bound + relative·|g|
    relative: np.ndarray  # nodes, float64


class Nest(NamedTuple):
    """The nesting of the nodes."""

    parent: np.ndarray  # nodes, int64: the cycle that x is a member of, -1 for a top
    members: np.ndarray  # nodes, int64: the members of all cycles, in order of contraction
    label: np.ndarray  # leaves, int64: all leaves below a top have the same label
    at: np.ndarray  # leaves, int64: the top of each label
    size: np.ndarray  # nodes, int64: the number of leaves below x
    first: np.ndarray  # nodes, int64: the first leaf of the linked list of these leaves
    last: np.ndarray  # nodes, int64: the last leaf of that list
    after: np.ndarray  # leaves, int64: the next leaf of the list


class Walk(NamedTuple):
    """The path from a word to the root."""

    status: np.ndarray  # nodes, int64: NEW, ON_PATH or DONE
    path: np.ndarray  # nodes, int64: the stack of nodes on the current path


class ExactGains(NamedTuple):
    """The exact sum that an edge into v replaces: own[v] + shared[group[v]], after `catch_up`."""

    own: np.ndarray  # (N, D) int64
    shared: np.ndarray  # (N, D) int64
    group: np.ndarray  # leaves, int64
    sums: np.ndarray  # (3, D) int64: accumulators


class RootChildren(NamedTuple):
    """The data of `constrained` about the children of the root."""

    roots: np.ndarray  # nodes, int64: the children
    other: np.ndarray  # nodes, int64: the tail of the best edge into each that is not from the root
    known: np.ndarray  # nodes, bool: whether `other` is up to date
    loss: np.ndarray  # nodes, float64: the cost of taking that edge
    family: np.ndarray  # nodes, int64: the child of the root whose subtree has a top
    link: np.ndarray  # nodes, int64: union-find links between these subtrees


# Indices of `Forest.counts`: the numbers of nodes, of entries of `members`, of members that
# `catch_up` has processed (-1 before its first call), and of entries of `free`; and whether no sum
# of these scores is rounded in float64 (-1: not known yet).
NODES, MEMBERS, SEEN, FREE, UNROUNDED = range(5)
# Indices of `Forest.limits`: what is subtracted from the scores of all root edges; the gain, times
# SCALE, below which edges count as absent; and the sum of the gains of the leaves' best edges.
SHIFT, FLOOR, MOST = range(3)


class Forest(NamedTuple):
    """The contraction forest of one sentence, with all arrays for decoding.

    Allocated once, and used for sentences of up to n words.
    """

    columns: Columns
    chosen: Chosen
    nest: Nest
    walk: Walk
    exact: ExactGains
    rooted: RootChildren
    counts: np.ndarray  # (at least 5,) int64
    limits: np.ndarray  # (at least 3,) float64


@kernel
def new_forest(scores: np.ndarray, n: int) -> Forest:
    """Allocate the arrays for sentences of up to n words, without initializing them."""
    rows = n + 1
    nodes = 2 * rows + LANES
    leaves = padded(n)
    digits = digits_of(scores)
    # A few blocks, cut into rows: making an array takes longer than using it for a short sentence.
    of_nodes = np.empty((14, nodes), np.int64)
    floats = np.empty((4, nodes), np.float64)
    of_leaves = np.empty((6, leaves), np.int64)
    gains = np.empty((rows + 1, leaves), np.float64)
    exact = np.empty((2 * rows + 3, digits), np.int64)
    return Forest(
        Columns(
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

    `shift` is subtracted from the scores of all root edges; these edges of the greedy graph are the
    best ones after that. No edge counts as absent, unless `raise_floor` is called next.
    """
    chosen, columns, nest, walk = forest.chosen, forest.columns, forest.nest, forest.walk
    # What is written after the words are nodes that `contract` will make.
    for start in range(0, n + 1, LANES):
        x = numbers(start)
        node = longs(x)
        tail = load(head, start)
        gain = doubles(load(best, start))
        gain = gain * fill(gain, SCALE)
        shifted = gain - fill(gain, shift * SCALE)
        store(chosen.tail, start, longs(tail))
        store(chosen.into, start, node)
        store(chosen.gain, start, where(tail == fill(tail, 0), shifted, gain))
        store(chosen.bound, start, fill(gain, TINY))
        store(chosen.relative, start, fill(gain, UNIT if shift != 0.0 else 0.0))
        store(columns.slot, start, fill(node, -1))
        store(columns.free, start, fill(node, n) - node)
        store(nest.parent, start, fill(node, -1))
        store(nest.label, start, where(x <= fill(x, n), node, fill(node, -1)))
        store(nest.at, start, node)
        store(nest.first, start, node)
        store(nest.last, start, node)
        store(nest.size, start, fill(node, 1))
        store(walk.status, start, fill(node, NEW))
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
    """Return the sum of gains, and that of their absolute values. O(n)."""
    total = 0.0
    size = 0.0
    for x in range(start, stop):
        total += gains[x]
        size += abs(gains[x])
    return total, size


@indexing_kernel
def raise_floor(forest: Forest, n: int) -> None:
    """Let edges far below the best ones count as absent, as masked ones are. O(n).

    Masked edges compare as equal in floats, and exact comparisons of them would take most of the
    time. `is_above_floor` tells whether the tree is still the best one.
    """
    forest.limits[MOST], size = sums_of(forest.chosen.gain, 1, n + 1)
    forest.limits[FLOOR] = -size * DEPTH if size > 0.0 else -np.inf


@indexing_kernel
def is_above_floor(forest: Forest) -> bool:
    """Tell whether every tree with an edge below the floor weighs less than the tree found. O(n).

    No tree weighs more than `MOST`, the sum of the best gains of all words. A tree with an edge
    below the floor loses more than half of the floor against that, and the tree found less than a
    quarter. Errors of these sums are far smaller than the rest.
    """
    weight, _ = sums_of(forest.chosen.gain, 1, forest.counts[NODES])
    return forest.limits[MOST] - weight < -0.25 * forest.limits[FLOOR]


@indexing_kernel
def top_of(forest: Forest, leaf: int) -> int:
    """Return the top above a leaf. O(1)."""
    nest = forest.nest
    return nest.at[nest.label[leaf]]


@indexing_kernel
def score_of(scores: np.ndarray, dependents_first: bool, h: int, d: int) -> float:
    """Return the score of h -> d as a float64."""
    return np.float64(scores[d, h] if dependents_first else scores[h, d])


@indexing_kernel
def copy_column(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, x: int) -> None:
    """Copy the in-column of the leaf x from the scores. O(n)."""
    columns = forest.columns
    forest.counts[FREE] -= 1
    slot = columns.free[forest.counts[FREE]]
    columns.slot[x] = slot
    gains = columns.gains[slot]
    raw, entry = columns.raw, columns.entry[slot]
    floor = forest.limits[FLOOR]
    row, size = as_row(scores), scores.shape[1]
    wide = is_row(scores) and n + 1 >= LANES
    if not wide:
        for u in range(n + 1):
            raw[u] = scores[x, u] if dependents_first else scores[u, x]
    absent = fill(doubles(load(raw, 0)), -np.inf)
    store(gains, padded(n) - LANES, absent)
    for block in range(0, n + 1, LANES):
        start = block
        score = load(raw, block)
        if wide:
            # The last lanes begin earlier, so that they end with the column.
            start = min(block, n + 1 - LANES)
            if dependents_first:
                score = load(row, x * size + start)
            else:
                score = gather(row, start * size + x, size)
        tail = numbers(start)
        gain = doubles(score) * fill(absent, SCALE)
        usable = (gain >= fill(gain, floor)) & (tail != fill(tail, x)) & between(tail, 0, n)
        store(gains, start, where(usable, gain, absent))
        store(entry, start, fill(tail, x))
    root_score = np.float64(scores[x, 0] if dependents_first else scores[0, x])
    root_gain = root_score * SCALE - forest.limits[SHIFT] * SCALE
    gains[0] = root_gain if root_gain >= floor else -np.inf


@uncounted_kernel
def add_gain(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    total: np.ndarray,
    sign: int,
    edge: Edge,
) -> None:
    """Add ``sign`` times the exact gain of an edge into a top to an accumulator. O(D)."""
    u, v = edge
    exact = forest.exact
    add_float(total, score_of(scores, dependents_first, u, v), sign, bias_of(scores))
    if u == 0:
        add_float(total, forest.limits[SHIFT], -sign, bias_of(scores))
    own, shared = exact.own[v], exact.shared[exact.group[v]]
    for k in range(total.shape[0]):
        total[k] -= sign * (own[k] + shared[k])


@uncounted_kernel
def catch_up(forest: Forest, scores: np.ndarray, dependents_first: bool) -> None:
    """Update `own` and `shared` for the contractions since the last call.

    They are needed only if floats cannot decide. Leaves of the smaller members join the group of
    the largest member, so each leaf changes its group O(log n) times: O(D n log n) per decode.
    """
    exact, nest, chosen = forest.exact, forest.nest, forest.chosen
    if forest.counts[SEEN] < 0:
        forest.counts[SEEN] = 0
        for x in range(exact.own.shape[0]):
            exact.own[x, :] = 0
            exact.shared[x, :] = 0
            exact.group[x] = x
    change, kicked = exact.sums[1], exact.sums[2]
    start = forest.counts[SEEN]
    while start < forest.counts[MEMBERS]:
        cycle = nest.parent[nest.members[start]]
        stop = start
        largest = nest.members[start]
        while stop < forest.counts[MEMBERS] and nest.parent[nest.members[stop]] == cycle:
            x = nest.members[stop]
            if nest.size[x] > nest.size[largest]:
                largest = x
            stop += 1
        group = exact.group[nest.first[largest]]
        kicked[:] = 0
        edge = (chosen.tail[largest], chosen.into[largest])
        add_gain(forest, scores, dependents_first, kicked, 1, edge)
        normalize(kicked)
        for k in range(kicked.shape[0]):
            exact.shared[group, k] += kicked[k]
        for x in nest.members[start:stop]:
            if x == largest:
                continue
            change[:] = 0
            edge = (chosen.tail[x], chosen.into[x])
            add_gain(forest, scores, dependents_first, change, 1, edge)
            shared = exact.shared[exact.group[nest.first[x]]]
            for k in range(change.shape[0]):
                change[k] += shared[k] - exact.shared[group, k]
            normalize(change)
            leaf = nest.first[x]
            for _ in range(nest.size[x]):
                for k in range(change.shape[0]):
                    exact.own[leaf, k] += change[k]
                exact.group[leaf] = group
                leaf = nest.after[leaf]
        start = stop
    forest.counts[SEEN] = forest.counts[MEMBERS]


@indexing_kernel
def is_unrounded(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Tell whether float64 holds every gain without rounding. O(n²) at the first call.

    So it is for whole numbers, for quantized scores, and if all scores are equal. Then floats
    decide all comparisons, and all error bounds are set to 0.
    """
    if forest.counts[UNROUNDED] < 0:
        forest.counts[UNROUNDED] = 1 if has_unit(forest, scores, dependents_first, n) else 0
        if forest.counts[UNROUNDED] == 1:
            for x in range(forest.counts[NODES]):
                forest.chosen.bound[x] = 0.0
                forest.chosen.relative[x] = 0.0
    return forest.counts[UNROUNDED] == 1


@uncounted_kernel
def has_unit(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Tell whether all sums of gains are multiples of a unit that fit 53 bits. O(n²).

    A gain is a sum of at most 2n + 2 scores and two shifts of the root; a comparison in
    `constrained` has four gains.
    """
    shift = abs(forest.limits[SHIFT])
    # Scores that are not above this are dropped; some others that are dropped are only slower.
    least = 2.0 * forest.limits[FLOOR] / SCALE - shift
    start = 0 if dependents_first else 1
    largest = shift
    for x in range(1 - start, n + 1):
        largest += size_of(scores[x], start, n, x, least)
    _, exponent = math.frexp(largest)
    _, terms = math.frexp(16.0 * (n + 1))
    unit = math.ldexp(1.0, exponent + terms - 53)
    if largest > 2.0**900 or 0.0 < largest < 2.0**-900:  # they might overflow or underflow
        return False
    # Adding this rounds to a multiple of the unit.
    rounder = 1.5 * 2.0**52 * unit
    whole = (shift + rounder) - rounder == shift
    for x in range(1 - start, n + 1):
        whole = whole and is_whole(scores[x], start, n, x, least, rounder)
    return whole


@reordered_kernel
@never_negative
def size_of(row: np.ndarray, start: int, n: int, x: int, least: float) -> float:
    """Return the sum of the absolute values of a row of scores, without x. O(n)."""
    size = 0.0
    for u in range(start, n + 1):
        score = np.float64(row[u])
        size += abs(score) if (u != x) & (score > least) else 0.0
    return size


@indexing_kernel
def is_whole(row: np.ndarray, start: int, n: int, x: int, least: float, rounder: float) -> bool:
    """Tell whether adding a number to a row of scores, without x, rounds nothing. O(n)."""
    many = 0
    for u in range(start, n + 1):
        score = np.float64(row[u])
        off = (score + rounder) - rounder != score
        many += 1 if (u != x) & (score > least) & off else 0
    return many == 0


@uncounted_kernel
def exact_gain(forest: Forest, scores: np.ndarray, dependents_first: bool, edge: Edge) -> float:
    """Return the gain of an edge into a top, with a relative error of 2^-50. O(D)."""
    catch_up(forest, scores, dependents_first)
    total = forest.exact.sums[0]
    total[:] = 0
    add_gain(forest, scores, dependents_first, total, 1, edge)
    return rounded(total, bias_of(scores))


@uncounted_kernel
def compare(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    one: Edge,
    other: Edge,
) -> int:
    """Return the sign of gain(one) - gain(other), exactly, for two edges into one top. O(D)."""
    catch_up(forest, scores, dependents_first)
    total = forest.exact.sums[0]
    total[:] = 0
    for sign, edge in ((1, one), (-1, other)):
        add_gain(forest, scores, dependents_first, total, sign, edge)
    return sign_of(total)


@indexing_kernel
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

    `gains` is the in-column of x, or a copy of it without some edges. On a tie the favourite (-1:
    none) wins, or else the lowest u. Gains from inside x are -inf.
    """
    chosen = forest.chosen
    best = highest(gains, padded(n))
    if best == -np.inf:
        return -1
    least = best - (2.0 * chosen.bound[x] + 8.0 * chosen.relative[x] * abs(best))
    many = 0
    tail = 0
    for start in range(0, n + 1, LANES):
        gain = load(gains, start)
        near = gain >= fill(gain, least)
        found = count(near)
        tail = start + lowest(near) if found > 0 else tail
        many += found
    if many == 1:
        return tail
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
    """Return the exact tail of the best edge into x, among gains of at least `least`.

    If that is not finite, -1: another thread has written NaN or +inf into scores that were checked.
    """
    if not least > -np.inf:
        return -1
    columns = forest.columns
    entry = columns.entry[columns.slot[x]]
    unrounded = is_unrounded(forest, scores, dependents_first, n)
    winner = int(favourite if favourite >= 0 and gains[favourite] >= least else -1)
    for u in range(n + 1):
        if not gains[u] >= least or u == favourite:
            continue
        if winner >= 0:
            if unrounded:
                if gains[u] <= gains[winner]:
                    continue
            else:
                one, other = (u, np.int64(entry[u])), (winner, np.int64(entry[winner]))
                if compare(forest, scores, dependents_first, one, other) <= 0:
                    continue
        winner = u
    return winner


@indexing_kernel
def take(forest: Forest, x: int, u: int) -> None:
    """Make the best edge from u the chosen edge of x."""
    columns, chosen = forest.columns, forest.chosen
    slot = columns.slot[x]
    chosen.tail[x] = u
    chosen.into[x] = columns.entry[slot, u]
    chosen.gain[x] = columns.gains[slot, u]


@indexing_kernel
def merge(
    gains: np.ndarray,
    entry: np.ndarray,
    rival: np.ndarray,
    rival_entry: np.ndarray,
    kicked: float,
    n: int,
    bound: float,
    relative: float,
) -> int:
    """Take the rival's entries where rival - kicked is surely better; return the number unsure."""
    unsure = 0
    for start in range(0, n + 1, LANES):
        one, other = load(gains, start), load(rival, start)
        other = other - fill(other, kicked)
        # -inf against a finite gain is sure (inf < inf is false), and so are two -inf (NaN).
        off = fill(one, 2.0 * bound) + fill(one, 8.0 * relative) * magnitude(one)
        near = magnitude(one - other) < off
        better = (other > one) & ~near
        store(gains, start, where(better, other, one))
        store(entry, start, where(better, load(rival_entry, start), load(entry, start)))
        unsure += count(near)
    return unsure


@uncounted_kernel
def merge_unsure(
    forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, x: int, cycle: int
) -> None:
    """Decide exactly the entries of which `merge` was not sure."""
    chosen, columns = forest.chosen, forest.columns
    kicked = chosen.gain[x]
    gains, entry = columns.gains[columns.slot[cycle]], columns.entry[columns.slot[cycle]]
    rival, rival_entry = columns.gains[columns.slot[x]], columns.entry[columns.slot[x]]
    bound, relative = chosen.bound[cycle], chosen.relative[cycle]
    unrounded = is_unrounded(forest, scores, dependents_first, n)
    for u in range(n + 1):
        gain = rival[u] - kicked
        # Where the entries are the same, the rival's has been taken.
        near = 2.0 * bound + 8.0 * relative * abs(gains[u])
        if entry[u] != rival_entry[u] and abs(gains[u] - gain) < near:
            one, other = (u, np.int64(entry[u])), (u, np.int64(rival_entry[u]))
            if unrounded:
                better = gain > gains[u]
            else:
                better = compare(forest, scores, dependents_first, other, one) > 0
            if better:
                gains[u] = gain
                entry[u] = rival_entry[u]


@indexing_kernel
def contract(
    forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, start: int, stop: int
) -> int:
    """Contract the cycle ``forest.walk.path[start:stop]`` and return its new node. O(kn).

    Each member's chosen edge is its edge on the cycle. The new node gets an in-column, but no
    chosen edge yet.
    """
    walk, nest, chosen, columns = forest.walk, forest.nest, forest.chosen, forest.columns
    members = walk.path[start:stop]
    cycle = forest.counts[NODES]
    forest.counts[NODES] += 1
    nest.parent[cycle] = -1
    walk.status[cycle] = NEW

    # Error bounds first: the error of a - kicked is the sum of both errors and one rounding.
    bound = 0.0
    relative = 0.0
    largest = members[0]
    scale = 0.0
    for x in members:
        scale = max(scale, abs(chosen.gain[x]))
        if nest.size[x] > nest.size[largest]:
            largest = x
    for x in members:
        off = TINY
        if x > n:
            kicked = abs(chosen.gain[x])
            off = chosen.bound[x] + chosen.relative[x] * kicked
            if off > REFRESH * scale:
                edge = (chosen.tail[x], chosen.into[x])
                chosen.gain[x] = exact_gain(forest, scores, dependents_first, edge)
                off = TINY + 4.0 * UNIT * abs(chosen.gain[x])
        elif columns.slot[x] < 0:
            copy_column(forest, scores, dependents_first, n, x)
        bound = max(bound, chosen.bound[x] + chosen.relative[x] * abs(chosen.gain[x]) + off)
        relative = max(relative, chosen.relative[x])
    for x in members:
        nest.parent[x] = cycle
        nest.members[forest.counts[MEMBERS]] = x
        forest.counts[MEMBERS] += 1
    bound = bound * (1.0 + 8.0 * UNIT) + TINY
    relative += UNIT
    if forest.counts[UNROUNDED] == 1:
        bound = relative = 0.0
    chosen.bound[cycle] = bound
    chosen.relative[cycle] = relative

    # The new node takes the label of the largest member, so a leaf changes labels O(log n) times.
    slot = columns.slot[largest]
    columns.slot[cycle] = slot
    label = nest.label[nest.first[largest]]
    nest.at[label] = cycle
    nest.size[cycle] = nest.size[largest]
    nest.first[cycle] = nest.first[largest]
    nest.last[cycle] = nest.last[largest]
    gains = columns.gains[slot]
    entry = columns.entry[slot]
    kicked = chosen.gain[largest]
    for start in range(0, n + 1, LANES):
        gain = load(gains, start)
        store(gains, start, gain - fill(gain, kicked))
    for x in members:
        if x == largest:
            continue
        kicked = chosen.gain[x]
        rival = columns.gains[columns.slot[x]]
        rival_entry = columns.entry[columns.slot[x]]
        unsure = merge(gains, entry, rival, rival_entry, kicked, n, bound, relative)
        if unsure > 0:
            merge_unsure(forest, scores, dependents_first, n, x, cycle)
            if forest.counts[UNROUNDED] == 1:
                bound = relative = 0.0
        leaf = nest.first[x]
        for _ in range(nest.size[x]):
            nest.label[leaf] = label
            leaf = nest.after[leaf]
        nest.after[nest.last[cycle]] = nest.first[x]
        nest.last[cycle] = nest.last[x]
        nest.size[cycle] += nest.size[x]
        columns.free[forest.counts[FREE]] = columns.slot[x]
        forest.counts[FREE] += 1
    for start in range(0, n + 1, LANES):
        gain, labels = load(gains, start), load(nest.label, start)
        inside = labels == fill(labels, label)
        store(gains, start, where(inside, fill(gain, -np.inf), gain))
    return cycle


@indexing_kernel
def enter(tail: np.ndarray, into: np.ndarray, parent: np.ndarray, n: int, x: int) -> None:
    """Expand a node: the edge into it replaces the cycle edges of all nodes down to its word.

    The other members keep their edges. `tail` and `into` are as in `Chosen`.
    """
    below = into[x]
    u, v = tail[x], below
    while below != x:
        tail[below] = u
        # The nodes in between are done: only the leaf's edge is read later.
        into[below] = v if below <= n else -1
        below = parent[below]


@indexing_kernel
def expand(forest: Forest, n: int, heads: np.ndarray) -> None:
    """Expand all contracted nodes and write the tree. O(n)."""
    chosen = forest.chosen
    for x in range(forest.counts[NODES] - 1, n, -1):
        if chosen.into[x] >= 0:
            enter(chosen.tail, chosen.into, forest.nest.parent, n, x)
    for d in range(1, n + 1):
        heads[d] = chosen.tail[d]
