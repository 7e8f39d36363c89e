"""Exact contraction of cycles in O(n²) per sentence: Edmonds (1967), in Tarjan's version (1977).

The state is a forest of nodes. The leaves 0..n are the root and the words. Each contracted cycle is
a node n+1, n+2, ... whose children are its members. A node that is not a member of a cycle is a
*top*. Each top x has a best entering edge and an *in-column*: for every word u outside x the *gain*
of the best edge from u into x. The gain is the edge's score minus the scores of the edges that it
replaces. A column is copied from the scores only when its word is on a cycle. Merging k columns
costs O(kn), and all cycles of a decode together have O(n) members, hence O(n²).

Gains are signed sums of scores. They are float64 with a proven error bound. If the bound cannot
order two gains, both are computed from the scores and compared in a long accumulator
(`accumulator`). So every decision is the decision of real arithmetic.
"""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, uncounted_kernel
from arborescence.compiling.lanes import (
    LANES,
    as_row,
    count,
    doubles,
    gather,
    is_row,
    lowest,
    magnitude,
    numbers,
    places,
    top,
    where,
)
from arborescence.core.accumulator import SCALE
from arborescence.nonprojective.exact_gains import compare, exact_gain, is_unrounded
from arborescence.nonprojective.forest import (
    FLOOR,
    FREE,
    MEMBERS,
    NEW,
    NODES,
    SHIFT,
    TINY,
    UNIT,
    UNROUNDED,
    Forest,
)

# Errors may double with each contraction. A gain whose error is larger than this, relative to the
# largest gain on its cycle, is recomputed exactly before it is used.
REFRESH = 2.0**-16


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
    gains[places(n // LANES * LANES)] = -np.inf
    for block in range(0, n + 1, LANES):
        start = block
        score = raw[places(block)]
        if wide:
            # The last lanes begin earlier, so that they end with the column.
            start = min(block, n + 1 - LANES)
            if dependents_first:
                score = row[places(x * size + start)]
            else:
                score = gather(row, start * size + x, size)
        tail = numbers(start)
        gain = doubles(score) * SCALE
        usable = (gain >= floor) & (tail != x) & (tail <= n)
        gains[places(start)] = where(usable, gain, -np.inf)
        entry[places(start)] = x
    root_score = np.float64(scores[x, 0] if dependents_first else scores[0, x])
    root_gain = root_score * SCALE - forest.limits[SHIFT] * SCALE
    gains[0] = root_gain if root_gain >= floor else -np.inf


@indexing_kernel
def highest(values: np.ndarray, n: int) -> float:
    """Return the largest of n + 1 values, where -inf follows up to whole lanes. O(n)."""
    best = values[places(0)]
    for start in range(LANES, n + 1, LANES):
        value = values[places(start)]
        best = where(value > best, value, best)
    maximum: float = top(best)
    return maximum


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

    `gains` is the in-column of x, or a copy of the column without some edges. On a tie the
    favourite tail wins (-1: no favourite), or else the lowest u. Gains from inside x are -inf.
    """
    chosen = forest.chosen
    best = highest(gains, n)
    if best == -np.inf:
        return -1
    least = best - (2.0 * chosen.bound[x] + 8.0 * chosen.relative[x] * abs(best))
    many = 0
    tail = 0
    for start in range(0, n + 1, LANES):
        near = gains[places(start)] >= least
        near_count = count(near)
        tail = start + lowest(near) if near_count > 0 else tail
        many += near_count
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

    Return -1 if `least` is not finite: then another thread has written NaN or +inf into scores that
    were checked.
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
                edge, best_edge = (u, np.int64(entry[u])), (winner, np.int64(entry[winner]))
                if compare(forest, scores, dependents_first, edge, best_edge) <= 0:
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
    """Take the entries where rival - kicked is certainly better; count the unsure entries."""
    unsure = 0
    for start in range(0, n + 1, LANES):
        lanes = places(start)
        own_gains, rival_gains = gains[lanes], rival[lanes] - kicked
        # With -inf, nothing is near: inf < inf is false, and the difference of two -inf is NaN.
        off = 2.0 * bound + 8.0 * relative * magnitude(own_gains)
        near = magnitude(own_gains - rival_gains) < off
        better = (rival_gains > own_gains) & ~near
        gains[lanes] = where(better, rival_gains, own_gains)
        entry[lanes] = where(better, rival_entry[lanes], entry[lanes])
        unsure += count(near)
    return unsure


@uncounted_kernel
def merge_unsure(
    forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, x: int, cycle: int
) -> None:
    """Compare the unsure entries of `merge` exactly."""
    chosen, columns = forest.chosen, forest.columns
    kicked = chosen.gain[x]
    gains, entry = columns.gains[columns.slot[cycle]], columns.entry[columns.slot[cycle]]
    rival, rival_entry = columns.gains[columns.slot[x]], columns.entry[columns.slot[x]]
    bound, relative = chosen.bound[cycle], chosen.relative[cycle]
    unrounded = is_unrounded(forest, scores, dependents_first, n)
    for u in range(n + 1):
        gain = rival[u] - kicked
        # Where the entries are the same, `merge` took the rival's entry.
        near = 2.0 * bound + 8.0 * relative * abs(gains[u])
        if entry[u] != rival_entry[u] and abs(gains[u] - gain) < near:
            own_edge, rival_edge = (u, np.int64(entry[u])), (u, np.int64(rival_entry[u]))
            if unrounded:
                better = gain > gains[u]
            else:
                better = compare(forest, scores, dependents_first, rival_edge, own_edge) > 0
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
        gains[places(start)] = gains[places(start)] - kicked
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
        lanes = places(start)
        gains[lanes] = where(nest.label[lanes] == label, -np.inf, gains[lanes])
    return cycle


@indexing_kernel
def enter(tail: np.ndarray, into: np.ndarray, parent: np.ndarray, n: int, x: int) -> None:
    """Expand a node: the edge into it replaces the cycle edges of all nodes around its word."""
    below = into[x]
    u, v = tail[x], below
    while below != x:
        tail[below] = u
        # The nodes in between are expanded: only the leaf's edge is read later.
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
