"""Head automata: for each head the best modifiers, by a chain over each side (Koo et al. 2010).

An automaton chooses the modifiers of one head, whatever the others choose; with grandparents also
the head's own head. Nothing makes the choices of all heads a tree: that is the work of `dual`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.kernels import inlined_kernel, kernel
from arborescence.second_order.units import ABSENT, LOWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Edges(NamedTuple):
    """The present edges of a sentence, listed; each kernel takes these arrays."""

    modifiers: NDArray[np.int64]
    """(2, N, N): ``[side, h]``, those of h on its right and on its left, the nearest first."""
    counts: NDArray[np.int64]
    """(2, N): ``[side, h]``."""
    above: NDArray[np.int64]
    """(N, N): ``[d]``, the heads of d."""
    many: NDArray[np.int64]
    """(N,): ``[d]``."""

    @classmethod
    def of(cls, scores: NDArray[np.int64]) -> Self:
        """List the edges of scores in units. O(n²)."""
        size = len(scores)
        edges = cls(
            np.zeros((2, size, size), np.int64),
            np.zeros((2, size), np.int64),
            np.zeros((size, size), np.int64),
            np.zeros(size, np.int64),
        )
        list_edges(scores, *edges)
        return edges


@kernel
def list_edges(
    scores: np.ndarray,
    modifiers: np.ndarray,
    counts: np.ndarray,
    above: np.ndarray,
    many: np.ndarray,
) -> None:
    """Fill the arrays of `Edges`, counts of 0. O(n²)."""
    size = scores.shape[0]
    for h in range(size):
        for d in range(h + 1, size):
            if scores[h, d] > LOWEST:
                modifiers[0, h, counts[0, h]] = d
                counts[0, h] += 1
        for d in range(h - 1, 0, -1):
            if scores[h, d] > LOWEST:
                modifiers[1, h, counts[1, h]] = d
                counts[1, h] += 1
        for d in range(1, size):
            if d != h and scores[h, d] > LOWEST:
                above[d, many[d]] = h
                many[d] += 1


@inlined_kernel
def fill_side(
    scores: np.ndarray,
    siblings: np.ndarray,
    prices: np.ndarray,
    h: int,
    modifiers: np.ndarray,
    count: int,
    pairs: np.ndarray,
    parts: np.ndarray,
) -> None:
    """Copy what the modifiers of h on one side weigh, so that chains read it in order. O(count²).

    ``pairs[k, j]`` is for the k-th modifier with the j-th as its sibling, or with none for j = k;
    ``parts[k]`` is for its edge, less the price.
    """
    for k in range(count):
        d = modifiers[k]
        parts[k] = scores[h, d] - prices[0, h, d]
        pairs[k, k] = siblings[h, d, h] if siblings.shape[0] > 0 else 0
        for j in range(k):
            pairs[k, j] = siblings[h, d, modifiers[j]] if siblings.shape[0] > 0 else 0


@inlined_kernel
def best_chain(
    pairs: np.ndarray,
    parts: np.ndarray,
    grandparents: np.ndarray,
    g: int,
    h: int,
    modifiers: np.ndarray,
    count: int,
    weights: np.ndarray,
) -> int:
    """Return the weight of the best modifiers of h on one side, given its head g. O(count²).

    ``weights`` (N,) gets the weight of the best chain that ends with each modifier.
    """
    best = 0
    for k in range(count):
        nearer, row = pairs[k, k], pairs[k]
        for j in range(k):
            nearer = max(nearer, weights[j] + row[j])
        weight = nearer + parts[k]
        if grandparents.shape[0] > 0 and h > 0:
            weight += grandparents[g, h, modifiers[k]]
        weights[k] = max(weight, ABSENT)
        best = max(best, weights[k])
    return best


@inlined_kernel
def choose_chain(
    pairs: np.ndarray,
    modifiers: np.ndarray,
    weights: np.ndarray,
    best: int,
    chosen: np.ndarray,
) -> None:
    """Mark the modifiers of the best chain, by the weights from `best_chain`. O(count²)."""
    if best <= 0:
        return
    k = 0
    while weights[k] != best:
        k += 1
    while k >= 0:
        chosen[modifiers[k]] = True
        nearer, place = pairs[k, k], -1
        for j in range(k):
            if weights[j] + pairs[k, j] > nearer:
                nearer, place = weights[j] + pairs[k, j], j
        k = place


@kernel
def run_automata(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    modifiers: np.ndarray,
    counts: np.ndarray,
    above: np.ndarray,
    many: np.ndarray,
    single: bool,
    prices: np.ndarray,
    chosen: np.ndarray,
    tops: np.ndarray,
) -> int:
    """Choose the modifiers of each head, and with grandparents its own head; return the weight.

    With m edges a head, O(n m²), and O(n m³) with grandparents; at most O(n³) and O(n⁴).

    Parameters
    ----------
    scores, siblings, grandparents
        Of `Units`.
    modifiers, counts, above, many
        Of `Edges`.
    single
        Whether exactly one edge leaves the root.
    prices : (2, N, N) int64
        ``[0, h, d]``: what the automaton of h pays for the edge h -> d; ``[1, h, d]``: what that of
        d pays for it.
    chosen : (N, N) bool, filled
        ``[h, d]``: whether the automaton of h chooses the edge.
    tops : (N,) int64, filled
        The head that the automaton of each word chooses, with grandparents; else -1.
    """
    size = scores.shape[0]
    weights = np.empty((2, size), np.int64)
    pairs, parts = np.empty((2, size, size), np.int64), np.empty((2, size), np.int64)
    total = 0
    for h in range(size):
        chosen[h] = False
        tops[h] = -1
        for side in range(2):
            listed, count = modifiers[side, h], counts[side, h]
            fill_side(scores, siblings, prices, h, listed, count, pairs[side], parts[side])
        if h == 0 and single:
            best, place = ABSENT, 0
            for k in range(counts[0, 0]):
                if parts[0, k] + pairs[0, k, k] > best:
                    best, place = parts[0, k] + pairs[0, k, k], k
            if best < LOWEST:
                return ABSENT
            total += best
            chosen[0, modifiers[0, 0, place]] = True
            continue
        with_top = h > 0 and grandparents.shape[0] > 0
        best, top = 2 * ABSENT, above[h, 0]
        for choice in range(many[h] if with_top else 1):
            g = above[h, choice]
            weight = -prices[1, g, h] if with_top else 0
            for side in range(2):
                listed, count = modifiers[side, h], counts[side, h]
                weight += best_chain(
                    pairs[side], parts[side], grandparents, g, h, listed, count, weights[side]
                )
            if weight > best:
                best, top = weight, g
        if best < LOWEST:
            return ABSENT
        total += best
        if with_top:
            tops[h] = top
        for side in range(2):
            listed, count = modifiers[side, h], counts[side, h]
            best = best_chain(
                pairs[side], parts[side], grandparents, top, h, listed, count, weights[side]
            )
            choose_chain(pairs[side], listed, weights[side], best, chosen[h])
    return total
