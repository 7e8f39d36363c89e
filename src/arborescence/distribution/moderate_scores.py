"""Moderate scores, in place of scores that are too far apart for sums in float64.

Only the difference between a tree and the best tree matters. It is computed exactly, by the dual
potentials of the best tree, or for projective trees by exact weights of the best spans
(`exact_chart`).

Besides the best tree, Edmonds' algorithm (1967) finds *potentials* y: one for each word and one for
each contracted cycle. The *reduced* score of an edge is its score minus the y of all sets (words
and cycles) that it enters. The reduced score is 0 for the edges of the best tree and at most 0 for
all other edges. The y of a cycle is also at most 0. So the weight of a tree is the weight of the
best tree, plus the reduced scores of the tree's edges, plus for each cycle y times the number of
edges into the cycle beyond the first. All these terms are at most 0. If a term alone makes the
probability of a tree negligible, the term can be raised to a fixed bound. This changes only
negligible probabilities, and gives scores that fit float64 and its sums.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.distribution.partition import no_gaps
from arborescence.inference.decode import decode
from arborescence.projective.exact_chart import exact_chart, fill_gaps
from arborescence.projective.spans import COMPLETE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Sums and differences of scores of this size may overflow.
HUGE = 1e300


class ModerateScores(NamedTuple):
    """A sentence with moderate scores."""

    #: (n + 1, n + 1): the moderate scores, -inf for the same edges as before
    scores: NDArray[np.float64]
    #: additional terms for projective trees, as in `inside_in_logs`
    gaps: NDArray[np.float64]
    #: the true weight of any tree, minus the tree's weight by the moderate scores
    base: Fraction
    #: the log-partition of the moderate scores; NaN until it is known
    log_partition: float = np.nan

    def log_prob(self, scores: NDArray[np.float64], heads: NDArray[np.int64]) -> float:
        """Return the log-probability of a tree (n + 1,) without absent edges."""
        return rounded(_weight(scores, heads) - self.base - Fraction(self.log_partition))

    @property
    def whole_log_partition(self) -> float:
        """The log-partition, rounded once."""
        return rounded(self.base + Fraction(self.log_partition))


def moderate_scores_of(
    scores: NDArray[np.float64], single: bool, projective: bool
) -> ModerateScores | None:
    """Return the moderate scores of a sentence of n > 0 words; None if it has no tree. O(n³).

    ``scores`` (n + 1, n + 1) are finite or -inf, except in column 0 and on the diagonal.
    """
    n = len(scores) - 1
    if projective:
        wholes = exact_chart(scores, n, single)
        if wholes.splits[COMPLETE, 0, n] < 0:
            return None
        digits = wholes.spans[COMPLETE, 0, n].tolist()
        best = sum(digit << 32 * place for place, digit in enumerate(digits))
        base = Fraction(best) / Fraction(2) ** wholes.bias
        alike = np.where(scores > -np.inf, 0.0, -np.inf)
        gaps = np.full((2, n + 1, n + 1, n + 1), -np.inf)
        fill_gaps(wholes.bias, wholes.splits, wholes.spans, n, single, gaps)
        return ModerateScores(alike, gaps, base)
    moderated = moderate(scores, single)
    if moderated is None:
        return None
    heads = decode(scores, root="single" if single else "multi")
    return ModerateScores(
        moderated, no_gaps(n + 1), _weight(scores, heads) - _weight(moderated, heads)
    )


def _weight(scores: NDArray[np.float64], heads: NDArray[np.int64]) -> Fraction:
    edges = scores[heads[1:], np.arange(1, len(heads))]
    return sum(map(Fraction, edges.tolist()), Fraction(0))


def rounded(number: Fraction) -> float:
    """Return the nearest float64, which may be infinite."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


# Scores are rounded to whole multiples of 2^-80.
_BITS = 80


def moderate(scores: NDArray[np.float64], single: bool) -> NDArray[np.float64] | None:
    """Return moderate scores that give the same tree probabilities; None if there is no tree.

    The difference of the weights of two trees is unchanged, up to rounding, except for trees that
    together have less than e^-800 times the probability of the best tree. No score is lower
    than about -1000 times the nesting depth of cycles. O(n³), over unbounded integers.
    """
    size = len(scores)
    present = np.isfinite(scores)
    present[:, 0] = False
    np.fill_diagonal(present, val=False)
    reduced = np.zeros((size, size), object)
    reduced[present] = [_whole(score) for score in scores[present].tolist()]
    if single:
        # Root edges are lowered so much that the best tree has as few of them as possible.
        reduced[0, 1:] -= 2 * size * (int(np.abs(reduced).max()) + 1)
    cycles = _reduce(reduced, present)
    if cycles is None:
        return None
    lowest = -int((800 + 2 * size * math.log(size)) * 2**_BITS)
    moderated = np.maximum(reduced, lowest)
    for inside, potential in cycles:
        moderated[np.ix_(~inside, inside)] += max(potential, lowest)
    # Integers of this size fit a float. The integers of absent edges may be larger.
    result = np.full((size, size), -np.inf)
    result[present] = [math.ldexp(whole, -_BITS) for whole in moderated[present].tolist()]
    return result


def _whole(score: float) -> int:
    numerator, denominator = score.as_integer_ratio()
    return (numerator << _BITS) // denominator


def _reduce(
    reduced: NDArray[np.object_], present: NDArray[np.bool_]
) -> list[tuple[NDArray[np.bool_], int]] | None:
    """Reduce the scores in place; return (words, y) of each contracted cycle, or None: no tree."""
    size = len(reduced)
    node_of = np.arange(size)  # the contracted node around each word
    head_of = {0: 0}  # the head of each contracted node with a chosen edge
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
        # The path of heads ends at the root, at a waiting node, or at its start.
        cycle, above = [node], head_of[node]
        while above not in (0, node) and above in head_of:
            cycle.append(above)
            above = head_of[above]
        if above == node:
            for member in cycle:
                del head_of[member]
                node_of[node_of == member] = node
            # Edges from the cycle's members now leave the contracted node.
            for other, head in head_of.items():
                if head in cycle:
                    head_of[other] = node
            waiting.append(node)
    return cycles
