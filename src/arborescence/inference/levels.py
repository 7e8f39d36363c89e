"""Levels of prices: whole numbers that count before all scores, exactly.

The weight of a tree is a list: the tree's gain at the highest level, at the next level, and so on,
and the sum of its scores. Lists are compared in this order. Bounds are kept as one whole number, in
which each level has bits of its own. Decoders get one float for each edge, if all these floats are
exact: a level is then worth a power of two that is larger than all sums of the level below.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.accumulator import BIAS_64, rounded_whole, whole_number
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest
from arborescence.inference.whole_numbers import decode_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: A sum of scores has fewer bits than the first number, 1,074 of them after the point; a sum of
#: gains at a level has fewer bits than the second number.
_BITS_OF_SCORES: Final = 2400
_BITS_OF_LEVEL: Final = 256
#: A unit of a level is at least this many times the largest sum of the level below, so that a sum
#: of any sign never reaches the next unit.
_APART: Final = 8.0
#: A gain in units of this size is finite.
_LARGEST: Final = 2.0**900
#: The number of scores whose whole numbers are remembered.
_KEPT: Final = 2**13


class LevelScale:
    """The conversion of a decoder's floats into whole numbers, and of whole numbers into levels.

    Parameters
    ----------
    units
        The float that 1 is worth at each level, the highest first; powers of two.
    levels
        The number of levels, if decoders' floats hold no levels.
    """

    def __init__(self, units: Sequence[float] = (), levels: int = 0) -> None:
        self.units = tuple(units)
        self._shifts = [_shift(level) for level in range(levels or len(units), 0, -1)]
        self.whole = lru_cache(None)(self._whole) if units else _of_score

    def _whole(self, value: float) -> int:
        """Return a float as a whole number; an upper bound of sums becomes an upper bound."""
        total = 0
        for unit, shift in zip(self.units, self._shifts, strict=True):
            count = math.floor(value / unit + 0.5)
            value -= count * unit
            total += count << shift
        return total + _of_score(value)

    def rounded(self, weight: int) -> float:
        """Return the float for a whole number, rounded."""
        if not self.units:
            return rounded_whole(weight, BIAS_64)
        counts, scores = self.split(weight)
        pairs = zip(counts, self.units, strict=True)
        return sum((count * unit for count, unit in pairs), rounded_whole(scores, BIAS_64))

    def price(self, amount: float, level: int) -> int:
        """Return a price as a whole number."""
        return int(amount) << _shift(level) if level else _of_score(amount)

    def split(self, weight: int) -> tuple[tuple[int, ...], int]:
        """Return the parts of a weight: one for each level, the highest first, and the scores."""
        counts = []
        for shift in self._shifts:
            counts.append((weight + (1 << shift - 1)) >> shift)
            weight -= counts[-1] << shift
        return tuple(counts), weight


@lru_cache(_KEPT)
def _of_score(score: float) -> int:
    """Return a score as a whole number."""
    return whole_number(score, BIAS_64)


def _shift(level: int) -> int:
    """Return the number of bits by which a count at a level is shifted."""
    return _BITS_OF_SCORES + _BITS_OF_LEVEL * (level - 1)


def combined(
    tables: Sequence[NDArray[Any]],
) -> tuple[NDArray[np.float64], tuple[float, ...]] | None:
    """Return one float for the gains and the score of each edge, and the units of levels.

    None if a float would be rounded.

    Parameters
    ----------
    tables : each (N, N, ...)
        Gains, which are whole numbers, the highest level first; at the end the scores, where -inf
        stands for an absent edge.
    """
    *gains, scores = tables
    there = scores != -np.inf
    total, units = np.where(there, scores, 0.0).astype(np.float64, copy=False), list[float]()
    for table in reversed(gains):
        most = _APART * len(total) * float(np.abs(total).max())
        if not most < _LARGEST:  # also if a score is NaN
            return None
        units.insert(0, 2.0 ** math.ceil(math.log2(most)) if most else 1.0)
        gain = table * units[0]
        added = gain + total
        back = added - gain  # rounding loses nothing if both terms come back
        if not ((back == total) & (added - back == gain)).all():
            return None
        total = added
    total[~there] = -np.inf
    return total, tuple(units)


def _ordered(tables: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Return floats in the same order as the lists of edges, rounding aside."""
    total = tables[-1]
    for table in reversed(tables[:-1]):
        most = max(_largest(total), np.finfo(float).tiny)
        total = total / most / (_APART * len(total)) + table
    return np.ascontiguousarray(total)


def _largest(table: NDArray[Any]) -> float:
    """Return the largest size of a number; -inf, which stands for an absent edge, has none."""
    return float(np.abs(table, where=table > -np.inf, out=np.zeros(table.shape)).max())


def _clearly_best(tables: Sequence[NDArray[Any]], **options: Any) -> NDArray[np.int64] | None:
    """Return the best tree, or None if rounding could decide between the two best trees.

    NoTreeError if there is no tree.
    """
    total = _ordered(tables)
    best = kbest(total, 2, **options)
    if len(best.weights) == 1:
        return best.heads[0]
    # Each step of each level rounds a float by half a unit at most; a tree has N - 1 floats, and
    # its sum is rounded once.
    steps = 4 * len(tables) * len(total) + 1
    unsure = 2 * steps * np.finfo(float).eps * (_largest(total) + 1) * len(total)
    return best.heads[0] if best.weights[0] - best.weights[1] > unsure else None


class LeveledScores:
    """Gains at levels, and scores, for which a float has too few bits: each edge has a list.

    Attributes
    ----------
    tables : each (N, N, L)
        Gains at the highest level first, and at the end the scores.
    """

    def __init__(self, tables: Sequence[NDArray[Any]]) -> None:
        self.tables = tables

    def floats(self) -> NDArray[np.float64]:
        """Return floats in about the same order as the lists, to look for trees and to prune."""
        return _ordered(self.tables)

    def weight(self, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> int:
        """Return the weight of a tree."""
        edges = heads[1:], np.arange(1, len(heads)), labels[1:]
        return sum(
            map(self._of, zip(*(table[edges].tolist() for table in self.tables), strict=True))
        )

    def _of(self, values: Sequence[Any]) -> int:
        """Return the list of an edge as a whole number."""
        *gains, score = values
        above = zip(range(len(gains), 0, -1), gains, strict=True)
        return sum((int(gain) << _shift(level) for level, gain in above), _of_score(score))

    def best(
        self, left: NDArray[np.bool_], **options: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the heads and labels of the best tree of edges that are `left`, (N, N, L).

        Raises
        ------
        NoTreeError
            If there is no tree.
        """
        left = left & (self.tables[-1] > -np.inf)
        tops = []
        for table in self.tables:  # labels with the same gain are compared by the next table
            top = np.where(left, table, -np.inf).max(axis=-1)
            left = left & (table == top[..., None])
            tops.append(top)
        absent = np.isneginf(tops[-1])
        tops[:-1] = [np.where(absent, 0, top) for top in tops[:-1]]
        exact = combined(tops)
        heads = _clearly_best(tops, **options) if exact is None else decode(exact[0], **options)
        if heads is None:
            heads = decode_whole(self._matrix(tops, absent), **options)
        labels = np.full(len(heads), -1)
        labels[1:] = left[heads[1:], np.arange(1, len(heads))].argmax(axis=-1)
        return heads, labels

    def _matrix(
        self, tops: Sequence[NDArray[Any]], absent: NDArray[np.bool_]
    ) -> list[list[int | None]]:
        """Return the lists of edges as whole numbers, None where an edge is absent."""
        rows: list[list[int | None]] = []
        for h, of_row in enumerate(zip(*(top.tolist() for top in tops), strict=True)):
            values = enumerate(zip(*of_row, strict=True))
            rows.append([None if absent[h, d] else self._of(value) for d, value in values])
        return rows
