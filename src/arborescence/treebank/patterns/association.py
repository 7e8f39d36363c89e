"""How strongly two values of matches belong together: collocations (Dunning 1993)."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, NamedTuple

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Association(NamedTuple):
    """Two values that occur together.

    Attributes
    ----------
    values : tuple of str
        The two values.
    observed : int
        How many matches have both.
    expected : float
        How many would have both if the values were independent of each other.
    g2 : float
        The log-likelihood ratio, negative where `observed` is below `expected`. By chance, one pair
        in 1,000 has a ratio above 10.8.
    """

    values: tuple[str, ...]
    observed: int
    expected: float
    g2: float


def associations(counts: Mapping[tuple[str, ...], int]) -> list[Association]:
    """Return how strongly the values of each pair belong together, the strongest pair first.

    Parameters
    ----------
    counts
        The counts of pairs of values, as `count` returns them for two keys.

    Returns
    -------
    list of Association
        An entry for each pair.

    Raises
    ------
    OptionError
        If a key is not a pair.

    Notes
    -----
    The log-likelihood ratio G² of a table of 2 x 2 counts: with and without each of the two values
    (Ted Dunning 1993, *Accurate Methods for the Statistics of Surprise and Coincidence*). Unlike
    mutual information, G² does not prefer rare pairs.

    Examples
    --------
    >>> drinks = {("drink", "tea"): 8, ("drink", "time"): 1}
    >>> counts = drinks | {("take", "time"): 9, ("take", "tea"): 2}
    >>> first = associations(counts)[0]
    >>> first.values, first.expected, round(first.g2, 1)
    (('drink', 'tea'), 4.5, 11.0)
    """
    if wrong := [pair for pair in counts if len(pair) != 2]:
        raise OptionError(f"an association is of two values, not of {len(wrong[0])}")
    firsts, seconds = Counter[str](), Counter[str]()
    for (first, second), number in counts.items():
        firsts[first] += number
        seconds[second] += number
    total = firsts.total()
    listed = [
        Association(pair, number, *_g2(number, firsts[pair[0]], seconds[pair[1]], total))
        for pair, number in counts.items()
    ]
    return sorted(listed, key=lambda each: (-each.g2, each.values))


def _g2(both: int, first: int, second: int, total: int) -> tuple[float, float]:
    """Return the expected count of a pair, and its G² with a sign."""
    expected = first * second / total
    cells = (
        (both, expected),
        (first - both, first * (total - second) / total),
        (second - both, (total - first) * second / total),
        (total - first - second + both, (total - first) * (total - second) / total),
    )
    g2 = 2 * sum(seen * log(seen / each) for seen, each in cells if seen)
    return expected, max(g2, 0.0) * (1 if both >= expected else -1)
