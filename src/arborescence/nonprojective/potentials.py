"""Scores of any size made moderate, by the dual of the best tree: Edmonds (1967).

Edmonds' algorithm (1967) finds with the best tree numbers y for sets of words, each word by itself
and each cycle that was contracted, such that an edge's *reduced* score, its score less the y of all
sets that it enters, is 0 for the edges of that tree and at most 0 for all others. The y of a cycle
is at most 0 too. So the weight of a tree is that of the best one, plus the reduced scores of its
edges, plus for each cycle y times the number of its edges into it beyond the first: what it falls
short by is a sum of numbers of one sign, each of which may be cut off where it alone makes a tree
impossible. No more than that is done to the probability of any tree, and what is left are scores
that floats and sums of floats hold.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Scores are rounded to whole multiples of 2^-80.
_BITS = 80


def moderate(scores: NDArray[np.float64], single: bool) -> NDArray[np.float64] | None:
    """Return scores under which trees have the same probabilities; None if there is no tree.

    Parameters
    ----------
    scores : (n + 1, n + 1) float64
        Finite, or -inf; column 0 and the diagonal are ignored. n > 0.
    single : whether all trees have a single root edge

    Returns
    -------
    scores : (n + 1, n + 1) float64
        The weights of two trees differ as they did, up to the rounding of floats, unless one of
        them is less probable than the best by a factor of e^-800, and all those together too. None
        is lower than some -1000 times the depth to which cycles are nested. O(n³), over unbounded
        whole numbers.
    """
    size = len(scores)
    present = np.isfinite(scores)
    present[:, 0] = False
    np.fill_diagonal(present, val=False)
    reduced = np.zeros((size, size), object)
    reduced[present] = [_whole(score) for score in scores[present].tolist()]
    if single:
        # So much that no tree with more root edges than need be can be the best.
        reduced[0, 1:] -= 2 * size * (int(np.abs(reduced).max()) + 1)
    cycles = _reduce(reduced, present)
    if cycles is None:
        return None
    lowest = -int((800 + 2 * size * math.log(size)) * 2**_BITS)
    made = np.maximum(reduced, lowest)
    for inside, potential in cycles:
        made[np.ix_(~inside, inside)] += max(potential, lowest)
    # Whole numbers of this size fit a float; what is absent may be larger, and is left out.
    result = np.full((size, size), -np.inf)
    result[present] = [math.ldexp(whole, -_BITS) for whole in made[present].tolist()]
    return result


def _whole(score: float) -> int:
    numerator, denominator = score.as_integer_ratio()
    return (numerator << _BITS) // denominator


def _reduce(
    reduced: NDArray[np.object_], present: NDArray[np.bool_]
) -> list[tuple[NDArray[np.bool_], int]] | None:
    """Reduce the scores in place; return the contracted cycles, as words and y. None: no tree."""
    size = len(reduced)
    node_of = np.arange(size)  # the contracted node around each word
    head_of = {0: 0}  # of contracted nodes that have one: the node at the other end
    cycles = []
    waiting = list(range(1, size))
    while waiting:
        node = waiting.pop()
        inside = node_of == node
        entering = np.ix_(~inside, inside)
        edges = present[entering]
        if not edges.any():
            return None
        values = reduced[entering]
        potential = values[edges].max()
        values[edges] -= potential
        reduced[entering] = values
        if np.count_nonzero(inside) > 1:
            cycles.append((inside, potential))
        row = int(np.argwhere(edges & (values == 0))[0, 0])
        head_of[node] = int(node_of[np.flatnonzero(~inside)[row]])
        # The way up ends at the root, at a node that is waiting, or where it began.
        cycle, above = [node], head_of[node]
        while above not in (0, node) and above in head_of:
            cycle.append(above)
            above = head_of[above]
        if above == node:
            for member in cycle:
                del head_of[member]
                node_of[node_of == member] = node
            # Edges into the cycle now come into one node.
            for other, head in head_of.items():
                if head in cycle:
                    head_of[other] = node
            waiting.append(node)
    return cycles
