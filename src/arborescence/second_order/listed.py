"""Decode several sentences at once, whose parts are listed, by dual decomposition.

One kernel call does all rounds of all; those with a gap go on one by one, with branch and bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arborescence.errors import NoTreeError, ScoresError
from arborescence.second_order.decoding import Found
from arborescence.second_order.dual import Problem, Search, first_prices, solve
from arborescence.second_order.edges import Listed
from arborescence.second_order.units import ABSENT, LOWEST, Scale, bits_for, list_units

if TYPE_CHECKING:
    from numpy.typing import NDArray


def decode_listed(
    listed: Listed, ends: NDArray[np.int64], *, single: bool, rounds: int, branches: int
) -> list[Found]:
    """Return what `second_order.decode` finds for each of several sentences; errors as there."""
    # listed: the parts of all sentences in a row: `Listed`, but with float64 weights. They are
    # multiples of some power of two for which sums have at most 40 bits; else nothing is claimed
    # exact.
    # ends: (B + 1, 4): where the nodes, edges, pairs and grandparents of each sentence begin
    # single, rounds, branches: as for `second_order.decode`
    sizes = np.diff(ends[:, 0])
    _, _, scores, pairs, thirds = listed
    listed = Listed(*listed[:2], *(np.empty(len(part), np.int64) for part in listed[2:]))
    of_sentences = np.empty((len(sizes), 3), np.int64)
    bits = np.array([bits_for(size) for size in sizes.tolist()], np.int64)
    units = (listed.scores, listed.pairs, listed.grandparents)
    bad = list_units(ends, bits, scores, pairs, thirds, *units, of_sentences)
    if bad < len(sizes):
        raise ScoresError(f"sentence {bad}: the weight of a part is NaN or infinite")
    scales = [
        Scale.of(size, exponent, seen, bool(rounded))
        for size, (exponent, seen, rounded) in zip(
            sizes.tolist(), of_sentences.tolist(), strict=True
        )
    ]
    heads = np.full(ends[-1, 0], -1, np.int64)
    prices = first_prices(listed.scores)
    results = np.zeros((len(sizes), 4), np.int64)
    results[:, 0] = ABSENT
    limits = np.array([scale.limits for scale in scales]).reshape(-1, 3)
    solve(ends, listed, single, rounds, limits, -ABSENT, heads, prices, results)
    found = []
    for b, (scale, row) in enumerate(zip(scales, results.tolist(), strict=True)):
        weight, bound, branch, done = row
        tree = heads[ends[b, 0] : ends[b + 1, 0]]
        if bound > weight + scale.slack and branches:
            one = _sentence(listed, ends, b)
            problem = Problem(bound, one.scores, prices[:, ends[b, 1] : ends[b + 1, 1]], branch)
            search = Search(one, scale, single, rounds, tree, weight)
            tree, weight, bound, more, _ = search.run(branches, problem)
            done += more
        if max(weight, bound) <= LOWEST:
            raise NoTreeError(f"sentence {b}: no tree exists without parts that are not allowed")
        exact = weight >= bound - scale.slack and weight > LOWEST and not scale.rounded
        value = math.ldexp(float(weight), -scale.exponent) if weight > LOWEST else -math.inf
        limit = value if exact else scale.above(max(bound, weight))
        found.append(Found(tree, value, limit, exact, done))
    return found


def _sentence(listed: Listed, ends: NDArray[np.int64], b: int) -> Listed:
    """Return the parts of a sentence."""
    (node, *starts), (last, *stops) = ends[b : b + 2].tolist()
    places = [slice(2 * node + b, 2 * last + b + 1), slice(starts[0], stops[0])]
    places += [slice(start, stop) for start, stop in zip(starts, stops, strict=True)]
    return Listed(*(array[place] for array, place in zip(listed, places, strict=True)))
