"""Scores too far apart for sums in float64: equivalent moderate scores, by exact differences.

Only differences to the best tree matter: exact by the dual potentials of the best tree
(`potentials`), for projective trees by exact weights of the best spans (`exact_chart`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.distribution.partition import no_gaps
from arborescence.inference.decode import decode
from arborescence.nonprojective.potentials import moderate
from arborescence.projective.exact_chart import exact_chart, fill_gaps
from arborescence.projective.spans import COMPLETE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Sums and differences of scores of this size may overflow.
HUGE = 1e300


class Far(NamedTuple):
    """A sentence with moderate scores: each tree's true weight is its moderate one plus `base`."""

    scores: NDArray[np.float64]
    """(n + 1, n + 1): the moderate scores, -inf for the same edges as before."""
    gaps: NDArray[np.float64]
    """Additional terms for projective trees, as in `inside_in_logs`."""
    base: Fraction
    log_partition: float = np.nan
    """Under the moderate scores; NaN until it is known."""

    def log_prob(self, scores: NDArray[np.float64], heads: NDArray[np.int64]) -> float:
        """Return the log-probability of a tree (n + 1,) without absent edges."""
        return rounded(_weight(scores, heads) - self.base - Fraction(self.log_partition))

    @property
    def whole_log_partition(self) -> float:
        """The log-partition, rounded once."""
        return rounded(self.base + Fraction(self.log_partition))


def as_far(scores: NDArray[np.float64], single: bool, projective: bool) -> Far | None:
    """Return the moderate scores of a sentence of n > 0 words; None if it has no tree. O(n³)."""
    # ``scores`` (n + 1, n + 1) are finite or -inf, except in column 0 and on the diagonal
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
        return Far(alike, gaps, base)
    made = moderate(scores, single)
    if made is None:
        return None
    heads = decode(scores, root="single" if single else "multi")
    return Far(made, no_gaps(n + 1), _weight(scores, heads) - _weight(made, heads))


def _weight(scores: NDArray[np.float64], heads: NDArray[np.int64]) -> Fraction:
    edges = scores[heads[1:], np.arange(1, len(heads))]
    return sum(map(Fraction, edges.tolist()), Fraction(0))


def rounded(number: Fraction) -> float:
    """Return the nearest float64, which may be infinite."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf
