"""The present edges of a sentence and their parts, listed for head automata (Koo et al. 2010).

Edges are numbered by head; for each head, edges to the right come first, and the nearest edge comes
first. So the edges of an automaton lie side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import (
    inlined_kernel,
    kernel,
    never_negative,
    takes,
    uncounted_kernel,
)
from arborescence.second_order.units import ABSENT, LOWEST, UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.second_order.units import Units


class Listed(NamedTuple):
    """The edges of a sentence, or of several sentences in a row, and the weights of their parts.

    With a single root edge, root edges have no siblings: their scores include the part without
    sibling.
    """

    #: (2N + 1,): the edges of h to its right begin at ``firsts[2h]``, and the edges to its left at
    #: ``firsts[2h + 1]``
    firsts: NDArray[np.int64]
    #: (E,): the modifier of each edge
    modifiers: NDArray[np.int64]
    #: (E,): the score of each edge
    scores: NDArray[np.int64]
    #: (P,): for the k-th edge of a side, its weights with each of the k nearer modifiers as its
    #: sibling, and then without sibling; the sides of all heads in a row
    pairs: NDArray[np.int64]
    #: (G,): for each edge g -> h, the weight of each edge of h with g as the grandparent; all heads
    #: in a row; empty without grandparents
    grandparents: NDArray[np.int64]

    @classmethod
    def of(cls, units: Units, single: bool) -> Self:
        """List the edges of a sentence in units. O(n³)."""
        size = len(units.scores)
        firsts = np.zeros(2 * size + 1, np.int64)
        with_grandparents = units.grandparents.size > 0
        edges, pairs, grandparents = count_parts(units.scores, with_grandparents, single, firsts)
        lists = cls(firsts, *(np.empty(n, np.int64) for n in (edges, edges, pairs, grandparents)))
        list_parts(*units[:3], single, lists)
        return lists


#: `Listed` in signatures of kernels.
LISTED: Final = (
    "second_order.edges.Listed(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)


@kernel
@takes("int64[:, ::1], bool, bool, out int64[::1]")
def count_parts(
    scores: np.ndarray, with_grandparents: bool, single: bool, firsts: np.ndarray
) -> tuple[int, int, int]:
    """Fill `firsts`; return the numbers of edges, pairs and grandparents to list. O(n²)."""
    size = scores.shape[0]
    pairs, thirds = 0, 0
    for h in range(size):
        into = 0
        for g in range(size):
            into += g != h and scores[g, h] > LOWEST
        for side in range(2):
            count, step = 0, 1 - 2 * side
            d = h + step
            while 0 < d < size:
                count += scores[h, d] > LOWEST
                d += step
            firsts[2 * h + side + 1] = firsts[2 * h + side] + count
            pairs += pairs_of(h, count, single)
            if h > 0 and with_grandparents:
                thirds += count * into
    return firsts[2 * size], pairs, thirds


@inlined_kernel
def pairs_of(h: int, count: int, single: bool) -> int:
    """Return the number of pairs of a side of h with `count` edges. O(1)."""
    return 0 if single and h == 0 else count * (count + 1) // 2


@kernel
@takes(f"{UNITS}, bool, " + LISTED.replace(", int64", ", out int64"))
def list_parts(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
    listed: Listed,
) -> None:
    """Fill the other arrays of `Listed`. O(n²) and O(1) for each part."""
    firsts, modifiers, of_edges, pairs, thirds = listed
    size = scores.shape[0]
    e, p, t = 0, 0, 0
    for h in range(size):
        for side in range(2):
            first, step = e, 1 - 2 * side
            d = h
            while 0 < d + step < size:
                d += step
                if scores[h, d] <= LOWEST:
                    continue
                modifiers[e], of_edges[e] = d, scores[h, d]
                none = siblings[h, d, h] if siblings.shape[0] > 0 else 0
                if single and h == 0:
                    of_edges[e] = max(of_edges[e] + none, ABSENT)
                else:
                    for k in range(first, e):
                        pairs[p] = siblings[h, d, modifiers[k]] if siblings.shape[0] > 0 else 0
                        p += 1
                    pairs[p] = none
                    p += 1
                e += 1
        if h > 0 and grandparents.shape[0] > 0:
            for g in range(size):
                if g != h and scores[g, h] > LOWEST:
                    for k in range(firsts[2 * h], e):
                        thirds[t] = grandparents[g, h, modifiers[k]]
                        t += 1


class EdgeParts(NamedTuple):
    """`Listed` for one sentence, with indices to find a part; for kernels."""

    #: as in `Listed`
    firsts: np.ndarray
    #: as in `Listed`
    modifiers: np.ndarray
    #: as in `Listed`
    scores: np.ndarray
    #: as in `Listed`
    pairs: np.ndarray
    #: as in `Listed`
    grandparents: np.ndarray
    #: (E,) int64: the head of each edge
    heads: np.ndarray
    #: (N + 1,) int64: where the edges into each word begin in `above`
    into: np.ndarray
    #: (E,) int64: the numbers of edges by modifier, in order of their heads
    above: np.ndarray
    #: (2N + 1,) int64: where the pairs of each side begin
    pairs_at: np.ndarray
    #: (N + 1,) int64: where the grandparents of each head begin
    thirds_at: np.ndarray


@kernel
def indexed(
    firsts: np.ndarray,
    modifiers: np.ndarray,
    scores: np.ndarray,
    pairs: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
) -> EdgeParts:
    """Complete the arrays of `Listed`. O(n) and O(1) for each edge."""
    size = firsts.shape[0] // 2
    heads, above = np.empty((2, firsts[2 * size]), np.int64)
    into, free = np.zeros((2, size + 1), np.int64)
    pairs_at, thirds_at = np.zeros(2 * size + 1, np.int64), np.zeros(size + 1, np.int64)
    for side in range(2 * size):
        count = firsts[side + 1] - firsts[side]
        pairs_at[side + 1] = pairs_at[side] + pairs_of(side // 2, count, single)
        for e in range(firsts[side], firsts[side + 1]):
            heads[e] = side // 2
            into[modifiers[e] + 1] += 1
    for d in range(size):
        into[d + 1] += into[d]
        free[d] = into[d]
    for e in range(firsts[2 * size]):
        above[free[modifiers[e]]] = e
        free[modifiers[e]] += 1
    for h in range(1, size):
        count = firsts[2 * h + 2] - firsts[2 * h]
        thirds = count * (into[h + 1] - into[h]) if grandparents.shape[0] > 0 else 0
        thirds_at[h + 1] = thirds_at[h] + thirds
    return EdgeParts(
        firsts,
        modifiers,
        scores,
        pairs,
        grandparents,
        heads,
        into,
        above,
        pairs_at,
        thirds_at,
    )


class Ceilings(NamedTuple):
    """The largest weight that each edge can add to a tree; (E,) int64 each."""

    #: the weight of the best sibling
    siblings: np.ndarray
    #: the weight of the best grandparent; 0 without grandparents
    grandparents: np.ndarray
    #: the sum of both and the score
    totals: np.ndarray


@kernel
def ceilings_of(edges: EdgeParts, single: bool) -> Ceilings:
    """Return the ceilings of all edges. O(1) for each part."""
    siblings, thirds, totals = np.zeros((3, edges.heads.shape[0]), np.int64)
    for side in range(2 if single else 0, edges.firsts.shape[0] - 1):
        p = edges.pairs_at[side]
        for e in range(edges.firsts[side], edges.firsts[side + 1]):
            stop = p + e - edges.firsts[side] + 1
            siblings[e] = ABSENT
            while p < stop:
                siblings[e] = max(siblings[e], edges.pairs[p])
                p += 1
    if edges.grandparents.shape[0] > 0:
        for h in range(1, edges.into.shape[0] - 1):
            first, stop = edges.firsts[2 * h], edges.firsts[2 * h + 2]
            thirds[first:stop] = ABSENT
            t = edges.thirds_at[h]
            for _ in range(edges.into[h], edges.into[h + 1]):
                for e in range(first, stop):
                    thirds[e] = max(thirds[e], edges.grandparents[t])
                    t += 1
    for e in range(totals.shape[0]):
        totals[e] = edges.scores[e] + siblings[e] + thirds[e]
    return Ceilings(siblings, thirds, totals)


@kernel
def without_hopeless(
    edges: EdgeParts, ceilings: Ceilings, weight: int, single: bool, origin: np.ndarray
) -> EdgeParts:
    """Return a copy without the edges and parts that no tree of `weight` has; O(1) a part.

    Absent edges are left out, too. ``origin`` (E,) int64 gets the former numbers of the edges.
    """
    size, many = edges.into.shape[0] - 1, edges.heads.shape[0]
    # A tree weighs at most the ceiling of one of its edges plus the ceilings of the other words.
    least = np.full(size, ABSENT)
    room = -weight
    for d in range(1, size):
        for place in range(edges.into[d], edges.into[d + 1]):
            least[d] = max(least[d], ceilings.totals[edges.above[place]])
        room += least[d]
    for d in range(1, size):
        least[d] = max(least[d] - room, LOWEST) if weight > LOWEST else LOWEST
    firsts = np.zeros(2 * size + 1, np.int64)
    modifiers, scores = np.empty((2, many), np.int64)
    pairs, thirds = np.empty_like(edges.pairs), np.empty_like(edges.grandparents)
    to, p, t = 0, 0, 0
    for h in range(size):
        for side in range(2 * h, 2 * h + 2):
            first, row = edges.firsts[side], edges.pairs_at[side]
            for e in range(first, edges.firsts[side + 1]):
                k, d = e - first, edges.modifiers[e]
                if ceilings.totals[e] >= least[d] and ceilings.totals[e] > LOWEST:
                    most = edges.scores[e] + ceilings.grandparents[e]
                    modifiers[to], scores[to], origin[to] = d, edges.scores[e], e
                    to += 1
                    if not single or h > 0:
                        for place_kept in range(firsts[side], to):
                            pair = edges.pairs[row + origin[place_kept] - first]
                            pairs[p] = pair if most + pair >= least[d] else ABSENT
                            p += 1
                row += k + 1
            firsts[side + 1] = to
        if h == 0 or edges.grandparents.shape[0] == 0:
            continue
        first = edges.firsts[2 * h]
        row = edges.thirds_at[h]
        for place in range(edges.into[h], edges.into[h + 1]):
            above = edges.above[place]
            if ceilings.totals[above] >= least[h] and ceilings.totals[above] > LOWEST:
                for place_kept in range(firsts[2 * h], to):
                    e = origin[place_kept]
                    most = edges.scores[e] + ceilings.siblings[e]
                    third = edges.grandparents[row + e - first]
                    fits = most + third >= least[edges.modifiers[e]]
                    thirds[t] = third if fits else ABSENT
                    t += 1
            row += edges.firsts[2 * h + 2] - first
    return indexed(firsts, modifiers[:to], scores[:to], pairs[:p], thirds[:t], single)


@uncounted_kernel
@never_negative
def weigh(edges: EdgeParts, prices: np.ndarray, heads: np.ndarray, single: bool) -> tuple[int, int]:
    """Return a tree's income by ``prices`` (2, E), and its weight: ABSENT if a part is absent.

    O(1) for each edge.
    """
    size = heads.shape[0]
    price, weight, edges_found = 0, 0, 0
    for h in range(size):
        with_top = h > 0 and edges.grandparents.shape[0] > 0
        place, first = edges.into[h], edges.firsts[2 * h]
        if with_top:
            while place < edges.into[h + 1] and edges.heads[edges.above[place]] != heads[h]:
                place += 1
            if place == edges.into[h + 1]:
                return ABSENT, ABSENT
        thirds = edges.thirds_at[h] - first
        thirds += (place - edges.into[h]) * (edges.firsts[2 * h + 2] - first)
        for side in range(2 * h, 2 * h + 2):
            row, nearer = edges.pairs_at[side], -1
            for e in range(edges.firsts[side], edges.firsts[side + 1]):
                k = e - edges.firsts[side]
                if heads[edges.modifiers[e]] == h:
                    edges_found += 1
                    price += prices[0, e] + prices[1, e]
                    part = edges.scores[e]
                    if h > 0 or not single:
                        part += edges.pairs[row + (k if nearer < 0 else nearer)]
                    if with_top:
                        part += edges.grandparents[thirds + e]
                    weight = weight + part if min(weight, part) > LOWEST else ABSENT
                    nearer = k
                row += k + 1
    return price, weight if edges_found == size - 1 else ABSENT
