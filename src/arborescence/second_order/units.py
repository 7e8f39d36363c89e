"""Parts as whole numbers, so that a search over parts and its bounds are exact.

Weights become multiples of a power of two, and their sums fit in int64. Often nothing is rounded;
else the error of each part is at most half a unit, and a tree has at most 3n parts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.core.accumulator import SCALE, SCALE_EXPONENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.second_order.parts import Parts

#: The weight of an absent part; a sum of eight of these weights does not overflow.
ABSENT = -(1 << 59)
#: Sums without absent parts are above this number.
LOWEST = ABSENT // 2

# A tree's weight has at most this many bits. Then all sums are above LOWEST, also with prices of
# two bits more on n² edges.
_MOST_BITS = 44
# Powers of two up to this exponent are floats, and so are their inverses.
_MOST_EXPONENT = 900


class Scale(NamedTuple):
    """The unit of a sentence, and bounds on its sums."""

    #: the number of nodes
    size: int
    #: a weight w is about w · 2^exponent units
    exponent: int
    #: no tree's absolute weight is larger
    limit: int
    #: all weights are multiples of this number of units
    step: int
    #: whether any part was rounded
    rounded: bool

    @classmethod
    def of(cls, size: int, exponent: int, bits_set: int, rounded: bool) -> Self:
        """Make the scale of weights whose units have the bits `bits_set`."""
        step = 1 if rounded or bits_set == 0 else bits_set & -bits_set
        return cls(size, exponent, 1 << (bits_for(size) + 1), step, rounded)

    @property
    def error(self) -> int:
        """A bound on the rounding error of a tree's weight, in units."""
        return 2 * self.size if self.rounded else 0

    @property
    def slack(self) -> int:
        """The largest proven difference of a bound and a tree's weight: 0 only without rounding."""
        return self.limit >> 28 if self.rounded else 0

    @property
    def limits(self) -> list[int]:
        """The numbers for kernels: `limit`, `step` and `slack`."""
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

    #: (N, N): as in `Parts`, in units
    scores: NDArray[np.int64]
    #: (N, N, N) or (0, 0, 0): as in `Parts`, in units
    siblings: NDArray[np.int64]
    #: (N, N, N) or (0, 0, 0): as in `Parts`, in units
    grandparents: NDArray[np.int64]
    #: the unit
    scale: Scale

    @classmethod
    def of(cls, parts: Parts) -> Self:
        """Convert the parts of a sentence. O(n³)."""
        size = len(parts.scores)
        largest, more = parts.largest(1.0), 0
        if not largest < math.inf:
            largest, more = parts.largest(SCALE), -SCALE_EXPONENT
        exponent = bits_for(size) - math.frexp(largest)[1] - more if largest else 0
        converted = [in_units(part, exponent) for part in parts]
        bits_set, rounded = 0, False
        for _, bits, inexact in converted:
            bits_set, rounded = bits_set | bits, rounded or inexact
        edges, siblings, grandparents = (units for units, *_ in converted)
        return cls(edges, siblings, grandparents, Scale.of(size, exponent, bits_set, rounded))


#: `Units` in signatures of kernels: its three arrays.
UNITS: Final = "int64[:, ::1], int64[:, :, ::1], int64[:, :, ::1]"


def bits_for(size: int) -> int:
    """Return the largest number of bits in the weight of a tree of `size` nodes."""
    return min(_MOST_BITS, 54 - 2 * size.bit_length())


def in_units(weights: NDArray[np.float64], exponent: int) -> tuple[NDArray[np.int64], int, bool]:
    """Return weights in units, ABSENT for -inf; all bits set in them; whether any was rounded."""
    units = np.full(weights.shape, ABSENT, np.int64)
    present = weights > -np.inf
    finite = weights[present]
    # In two steps, as the power of two may be too large for a float.
    half = exponent // 2
    whole = np.rint(np.ldexp(np.ldexp(finite, half), exponent - half))
    units[present] = whole
    with np.errstate(over="ignore"):
        off = bool((np.ldexp(np.ldexp(whole, -half), half - exponent) != finite).any())
    return units, int(np.bitwise_or.reduce(units[present])), off


@kernel
@takes(
    "int64[:, ::1], int64[::1], float64[::1], float64[::1], float64[::1], out int64[::1], "
    "out int64[::1], out int64[::1], out int64[:, ::1]"
)
def list_units(
    ends: np.ndarray,
    bits: np.ndarray,
    scores: np.ndarray,
    pairs: np.ndarray,
    grandparents: np.ndarray,
    of_scores: np.ndarray,
    of_pairs: np.ndarray,
    of_grandparents: np.ndarray,
    scales: np.ndarray,
) -> int:
    """Convert the parts of several sentences; return the first with NaN or +inf, else B.

    O(1) for each part.

    `ends` (B + 1, 4) are the indices where the nodes, edges, pairs and grandparents of each
    sentence begin; `bits` (B,) are `bits_for` the sentences' numbers of nodes. `scores`, `pairs`
    and `grandparents` are float64; `of_scores`, `of_pairs` and `of_grandparents` are filled.
    `scales` (B, 3) are filled: the exponent, the bits set in any weight's units, and whether any
    weight was rounded.
    """
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
        bits_set, rounded = 0, False
        for which, values, units in (
            (1, scores, of_scores),
            (2, pairs, of_pairs),
            (3, grandparents, of_grandparents),
        ):
            for i in range(ends[b, which], ends[b + 1, which]):
                units[i] = ABSENT
                if values[i] > -np.inf:
                    units[i] = round(values[i] / unit)
                    bits_set |= units[i]
                    rounded |= units[i] * unit != values[i]
        scales[b, 0], scales[b, 1], scales[b, 2] = exponent, bits_set, rounded
    return sentences
