"""Parts as whole numbers, so that a search over them is exact and so are its bounds.

Multiples of a power of two whose sums fit in int64. Often nothing is rounded; else each of a tree's
at most 3n parts is off by half a unit at most.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel
from arborescence.core.accumulator import SCALE, SCALE_EXPONENT
from arborescence.second_order.parts import nearest, size_of_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.second_order.parts import Parts

#: The weight of what is absent; a sum of eight such does not overflow.
ABSENT = -(1 << 59)
#: No other sum is as low.
LOWEST = ABSENT // 2

# A tree's weight has at most this many bits. With multipliers of two bits more, for n² edges, all
# sums are above LOWEST.
_MOST_BITS = 44
# Powers of two up to this one are floats, and so are their inverses.
_MOST_EXPONENT = 900


class Scale(NamedTuple):
    """What a unit is, for a sentence, and how large sums may become."""

    size: int
    """The number of nodes."""
    exponent: int
    """A weight w is about w · 2^exponent units."""
    limit: int
    """No tree's absolute weight is larger."""
    step: int
    """All weights are multiples of this many units."""
    rounded: bool
    """Whether any part was rounded."""

    @classmethod
    def of(cls, size: int, exponent: int, seen: int, rounded: bool) -> Self:
        """Make the scale of weights whose units have the bits `seen`."""
        step = 1 if rounded or seen == 0 else seen & -seen
        return cls(size, exponent, 1 << (bits_for(size) + 1), step, rounded)

    @property
    def error(self) -> int:
        """A bound on what rounding changed of a tree's weight, in units."""
        return 2 * self.size if self.rounded else 0

    @property
    def slack(self) -> int:
        """How far above a tree's weight a bound may stay: with rounding, there is no need for 0."""
        return self.limit >> 28 if self.rounded else 0

    @property
    def limits(self) -> list[int]:
        """What kernels need to know: `limit`, `step` and `slack`."""
        return [self.limit, self.step, self.slack]

    def above(self, bound: int) -> float:
        """Return a float that is not below any weight of at most `bound` units."""
        whole = bound + self.error
        try:
            value = math.ldexp(float(whole), -self.exponent)
        except OverflowError:
            return math.inf if whole > 0 else -np.finfo(np.float64).max.item()
        return math.nextafter(value, math.inf)


class Units(NamedTuple):
    """The parts of a sentence in whole units; the first three fields are for kernels."""

    scores: NDArray[np.int64]
    """(N, N)"""
    siblings: NDArray[np.int64]
    """(N, N, N) or (0, 0, 0)"""
    grandparents: NDArray[np.int64]
    """(N, N, N) or (0, 0, 0)"""
    scale: Scale

    @classmethod
    def of(cls, parts: Parts, single: bool) -> Self:
        """Convert the parts of a sentence. O(n³)."""
        size = len(parts.scores)
        bits = bits_for(size)
        largest, more = size_of_parts(*parts, single, 1.0), 0
        if not largest < math.inf:
            largest, more = size_of_parts(*parts, single, SCALE), -SCALE_EXPONENT
        exponent = bits - math.frexp(largest)[1] - more if largest else 0
        edges, siblings, grandparents = (np.full(part.shape, ABSENT, np.int64) for part in parts)
        seen, rounded = fill_units(*parts, single, exponent, edges, siblings, grandparents)
        return cls(edges, siblings, grandparents, Scale.of(size, exponent, seen, rounded))


def bits_for(size: int) -> int:
    """Return how many bits the weight of a tree of `size` nodes may have."""
    return min(_MOST_BITS, 54 - 2 * size.bit_length())


@inlined_kernel
def in_units(weight: float, exponent: int) -> tuple[int, bool]:
    """Return a weight in units, ABSENT for -inf, and whether it was rounded. O(1)."""
    if weight == -np.inf:
        return ABSENT, False
    # In two steps, as the power of two may be too large for a float.
    half = exponent // 2
    scaled = math.ldexp(math.ldexp(weight, half), exponent - half)
    units = round(scaled)
    return units, math.ldexp(math.ldexp(float(units), -half), half - exponent) != weight


@kernel
def fill_units(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
    exponent: int,
    of_scores: np.ndarray,
    of_siblings: np.ndarray,
    of_grandparents: np.ndarray,
) -> tuple[int, bool]:
    """Fill `Units`, which hold ABSENT; return all bits of weights, and whether one was rounded."""
    # O(n³)
    size = scores.shape[0]
    seen, rounded = 0, False
    for h in range(size):
        for d in range(1, size):
            if h == d or scores[h, d] == -np.inf:
                continue
            of_scores[h, d], off = in_units(scores[h, d], exponent)
            seen |= of_scores[h, d]
            rounded |= off
            if siblings.shape[0] > 0:
                of_siblings[h, d, h], off = in_units(siblings[h, d, h], exponent)
                seen |= of_siblings[h, d, h]
                rounded |= off
                low, stop = nearest(h, d, single)
                for s in range(low, stop):
                    of_siblings[h, d, s], off = in_units(siblings[h, d, s], exponent)
                    seen |= of_siblings[h, d, s]
                    rounded |= off
            if grandparents.shape[0] > 0 and h > 0:
                for g in range(size):
                    if g not in (h, d):
                        of_grandparents[g, h, d], off = in_units(grandparents[g, h, d], exponent)
                        seen |= of_grandparents[g, h, d]
                        rounded |= off
    return seen, rounded


@kernel
def list_units(
    # (B + 1, 4) int64: where the nodes, edges, pairs and grandparents of each sentence begin
    ends: np.ndarray,
    bits: np.ndarray,  # (B,) int64: `bits_for` their numbers of nodes
    # scores, pairs, grandparents: float64
    scores: np.ndarray,
    pairs: np.ndarray,
    grandparents: np.ndarray,
    # of_scores, of_pairs, of_grandparents: int64, filled
    of_scores: np.ndarray,
    of_pairs: np.ndarray,
    of_grandparents: np.ndarray,
    # (B, 3) int64, filled: the exponent, the bits set in any weight's units, and whether any weight
    # was rounded
    scales: np.ndarray,
) -> int:
    """Convert the parts of several sentences; return the first with NaN or +inf, else B."""
    # O(1) a part
    sentences: int = bits.shape[0]
    for b in range(sentences):
        largest, fine = 0.0, True
        for which, values in enumerate((scores, pairs, grandparents)):
            most = 0.0
            for i in range(ends[b, which + 1], ends[b + 1, which + 1]):
                fine &= values[i] < np.inf
                if values[i] > -np.inf:
                    most = max(most, abs(values[i]))
            largest += most
        largest *= ends[b + 1, 0] - ends[b, 0]
        if not (fine and largest < np.inf):
            return b
        exponent = min(bits[b] - math.frexp(largest)[1], _MOST_EXPONENT)
        unit = math.ldexp(1.0, int(-exponent))
        seen, rounded = 0, False
        for which, values, units in (
            (1, scores, of_scores),
            (2, pairs, of_pairs),
            (3, grandparents, of_grandparents),
        ):
            for i in range(ends[b, which], ends[b + 1, which]):
                units[i] = ABSENT
                if values[i] > -np.inf:
                    units[i] = round(values[i] / unit)
                    seen |= units[i]
                    rounded |= units[i] * unit != values[i]
        scales[b, 0], scales[b, 1], scales[b, 2] = exponent, seen, rounded
    return sentences
