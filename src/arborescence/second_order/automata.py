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
def best_chain(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    prices: np.ndarray,
    g: int,
    h: int,
    modifiers: np.ndarray,
    count: int,
    weights: np.ndarray,
    back: np.ndarray,
) -> tuple[int, int]:
    """Find the best modifiers of h on one side, given its head g. O(count²), or O(count).

    Returns the weight, and the place of the outermost modifier, or -1 and 0 if none is best.
    ``back`` gets the place of the next nearer one for each, or -1.
    """
    best, last = 0, -1
    for k in range(count):
        d = modifiers[k]
        nearer, place = 0, -1
        if siblings.shape[0] > 0:
            nearer = siblings[h, d, h]
            for j in range(k):
                weight = weights[j] + siblings[h, d, modifiers[j]]
                if weight > nearer:
                    nearer, place = weight, j
        elif best > 0:
            nearer, place = best, last
        part = scores[h, d] - prices[0, h, d]
        if grandparents.shape[0] > 0 and h > 0:
            part += grandparents[g, h, d]
        weights[k] = max(nearer + part, ABSENT)
        back[k] = place
        if weights[k] > best:
            best, last = weights[k], k
    return best, last


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
    weights = np.empty(size, np.int64)
    back, kept = np.empty((2, size), np.int64), np.empty((2, size), np.int64)
    total = 0
    for h in range(size):
        chosen[h] = False
        tops[h] = -1
        if h == 0 and single:
            best, place = ABSENT, 0
            for k in range(counts[0, 0]):
                d = modifiers[0, 0, k]
                weight = scores[0, d] - prices[0, 0, d]
                if siblings.shape[0] > 0:
                    weight += siblings[0, d, 0]
                if weight > best:
                    best, place = weight, k
            total += best
            if best > LOWEST:
                chosen[0, modifiers[0, 0, place]] = True
            else:
                return ABSENT
            continue
        choices = many[h] if h > 0 and grandparents.shape[0] > 0 else 1
        best, right, left = 2 * ABSENT, -1, -1
        for k in range(choices):
            g = above[h, k]
            weight, last = best_chain(
                scores,
                siblings,
                grandparents,
                prices,
                g,
                h,
                modifiers[0, h],
                counts[0, h],
                weights,
                back[0],
            )
            more, other = best_chain(
                scores,
                siblings,
                grandparents,
                prices,
                g,
                h,
                modifiers[1, h],
                counts[1, h],
                weights,
                back[1],
            )
            weight += more
            if h > 0 and grandparents.shape[0] > 0:
                weight -= prices[1, g, h]
            if weight > best:
                best, right, left = weight, last, other
                kept[:] = back
                if h > 0 and grandparents.shape[0] > 0:
                    tops[h] = g
        if best < LOWEST:
            return ABSENT
        total += best
        while right >= 0:
            chosen[h, modifiers[0, h, right]] = True
            right = kept[0, right]
        while left >= 0:
            chosen[h, modifiers[1, h, left]] = True
            left = kept[1, left]
    return total
