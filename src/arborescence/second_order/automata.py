"""Head automata: for each head the best modifiers, by a chain over each side (Koo et al. 2010).

An automaton chooses the modifiers of its head alone; with grandparents, also the head's own head.
`dual` makes a tree of the choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, kernel, never_negative, uncounted_kernel
from arborescence.second_order.units import ABSENT

if TYPE_CHECKING:
    from arborescence.second_order.edges import EdgeParts


class ChildChoices(NamedTuple):
    """The choices of the automata, and scratch arrays."""

    #: (N,) int64: the weight of each head's choice
    values: np.ndarray
    #: (E,) bool: whether the automaton of the edge's head chooses the edge
    chosen: np.ndarray
    #: (N,) int64: the edge into each word that the word's automaton chooses; or -1
    tops: np.ndarray
    #: (N,) bool: whether a price of the automaton has changed since its last choice
    moved: np.ndarray
    #: (N,) int64: the sum of all falls so far of the prices that each head pays
    falls: np.ndarray
    #: (E,) int64: the last weight of the modifier's automaton with this head, less `falls` at that
    #: time
    known: np.ndarray
    #: (2, N) int64: scratch: weights of chains
    weights: np.ndarray
    #: (E,) int64: zeros, in place of grandparents
    nothing: np.ndarray


@kernel
def new_choices(edges: EdgeParts) -> ChildChoices:
    """Allocate the arrays for automata that have not chosen."""
    size = edges.into.shape[0] - 1
    tops = np.full(size, -1)
    if edges.grandparents.shape[0] > 0:
        for d in range(1, size):
            if edges.into[d] < edges.into[d + 1]:
                tops[d] = edges.above[edges.into[d]]
    return ChildChoices(
        values=np.empty(size, np.int64),
        chosen=np.zeros(edges.heads.shape[0], np.bool_),
        tops=tops,
        moved=np.ones(size, np.bool_),
        falls=np.zeros(size, np.int64),
        known=np.full(edges.heads.shape[0], -ABSENT),
        weights=np.empty((2, size), np.int64),
        nothing=np.zeros(edges.heads.shape[0], np.int64),
    )


@indexing_kernel
def best_chains(
    edges: EdgeParts,
    h: int,
    prices: np.ndarray,
    gains: np.ndarray,
    at: int,
    weights: np.ndarray,
) -> int:
    """Return the weight of the best modifiers of h on both sides; with m edges, O(m²).

    The grandparent adds ``gains[at + e]`` to an edge e. ``weights`` (N,) is filled with the best
    chain that ends with each modifier.
    """
    first, total = edges.firsts[2 * h], 0
    for side in range(2 * h, 2 * h + 2):
        start, row, best = edges.firsts[side], edges.pairs_at[side], 0
        for e in range(start, edges.firsts[side + 1]):
            k = e - start
            nearer = edges.pairs[row + k]
            for j in range(k):
                nearer = max(nearer, weights[start - first + j] + edges.pairs[row + j])
            weight = nearer + edges.scores[e] - prices[0, e] + gains[at + e]
            weights[e - first] = max(weight, ABSENT)
            best = max(best, weight)
            row += k + 1
        total += best
    return total


@indexing_kernel
def choose_chains(edges: EdgeParts, h: int, weights: np.ndarray, chosen: np.ndarray) -> None:
    """Mark the modifiers of the best chains of h, by the weights from `best_chains`. O(m²)."""
    first = edges.firsts[2 * h]
    for side in range(2 * h, 2 * h + 2):
        start, stop = edges.firsts[side], edges.firsts[side + 1]
        best, place = 0, -1
        for e in range(start, stop):
            chosen[e] = False
            if weights[e - first] > best:
                best, place = weights[e - first], e - start
        while place >= 0:
            chosen[start + place] = True
            row = edges.pairs_at[side] + place * (place + 1) // 2
            nearer, last = edges.pairs[row + place], -1
            for j in range(place):
                if weights[start - first + j] + edges.pairs[row + j] > nearer:
                    nearer, last = weights[start - first + j] + edges.pairs[row + j], j
            place = last


@indexing_kernel
def choose_root(edges: EdgeParts, prices: np.ndarray, chosen: np.ndarray) -> int:
    """Mark the best root edge, if there must be only one; return its weight. O(n)."""
    best, place = ABSENT, -1
    for e in range(edges.firsts[1]):
        chosen[e] = False
        if edges.scores[e] - prices[0, e] > best:
            best, place = edges.scores[e] - prices[0, e], e
    if place >= 0:
        chosen[place] = True
    return best


@uncounted_kernel
@never_negative
def run_automata(edges: EdgeParts, single: bool, prices: np.ndarray, choices: ChildChoices) -> int:
    """Let automata with changed prices choose again; return the weight of all choices.

    With m edges into and from a head, O(m²), with grandparents at most O(m³), for each head. An
    automaton remembers the last computed weight for each head of its head. Since then, the weight
    has grown by at most the fall of the prices. So only grandparents that could be best are tried
    again.

    - edges: of the sentence
    - single: whether exactly one edge leaves the root
    - prices: (2, E) int64: ``[0, e]``: the price that the automaton of the edge's head pays;
      ``[1, e]``: the price that the automaton of its modifier pays
    - choices: of the last round; changed
    """
    total = 0
    weights = choices.weights
    for h in range(choices.values.shape[0]):
        if not choices.moved[h]:
            total += choices.values[h]
            continue
        choices.moved[h] = False
        if h == 0 and single:
            choices.values[0] = choose_root(edges, prices, choices.chosen)
            total += choices.values[0]
            continue
        value, best, free = 2 * ABSENT, 0, 1
        if choices.tops[h] < 0:
            value = best_chains(edges, h, prices, choices.nothing, 0, weights[0])
        else:
            first, start = edges.firsts[2 * h], edges.into[h]
            count = edges.firsts[2 * h + 2] - first
            top = choices.tops[h]
            # The last choice comes first: it is often the best choice again.
            for turn in range(start - 1, edges.into[h + 1]):
                place = turn
                if turn < start:
                    place = start
                    while edges.above[place] != top:
                        place += 1
                e = edges.above[place]
                bound = choices.known[e] + choices.falls[h] - prices[1, e]
                if turn >= start and bound <= value:
                    continue
                at = edges.thirds_at[h] + (place - start) * count - first
                weight = best_chains(edges, h, prices, edges.grandparents, at, weights[free])
                choices.known[e] = weight - choices.falls[h]
                weight -= prices[1, e]
                if weight > value:
                    value, best, free = weight, free, best
                    choices.tops[h] = e
        choose_chains(edges, h, weights[best], choices.chosen)
        choices.values[h] = value
        total += value
    return total
