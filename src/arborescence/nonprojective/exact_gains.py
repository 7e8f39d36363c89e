"""Gains in real arithmetic, for pairs of gains that floats with error bounds cannot order.

These gains are computed from the scores in long accumulators (`accumulator`). If float64 holds
every gain, as for whole numbers, floats decide; `is_unrounded` checks this once per sentence.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.compiling.kernels import (
    indexing_kernel,
    never_negative,
    reordered_kernel,
    uncounted_kernel,
)
from arborescence.core.accumulator import SCALE, add_float, bias_of, normalize, rounded, sign_of
from arborescence.nonprojective.forest import (
    FLOOR,
    MEMBERS,
    NODES,
    SEEN,
    SHIFT,
    UNROUNDED,
    Forest,
)

if TYPE_CHECKING:
    # Two int64, also if the arrays have smaller types, so that kernels are compiled once.
    Edge = tuple[Any, Any]


@indexing_kernel
def score_of(scores: np.ndarray, dependents_first: bool, h: int, d: int) -> float:
    """Return the score of h -> d as a float64."""
    return np.float64(scores[d, h] if dependents_first else scores[h, d])


@uncounted_kernel
def add_gain(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    total: np.ndarray,
    sign: int,
    edge: Edge,
) -> None:
    """Add ``sign`` times the exact gain of an edge into a top to an accumulator. O(D)."""
    u, v = edge
    exact = forest.exact
    score, bias = score_of(scores, dependents_first, u, v), bias_of(scores)
    add_float(total, score, sign, bias)
    if u == 0:
        add_float(total, forest.limits[SHIFT], -sign, bias)
    own, shared = exact.own[v], exact.shared[exact.group[v]]
    for k in range(total.shape[0]):
        total[k] -= sign * (own[k] + shared[k])


@uncounted_kernel
def catch_up(forest: Forest, scores: np.ndarray, dependents_first: bool) -> None:
    """Update `own` and `shared`, if floats cannot decide, for contractions since the last call.

    Leaves of the smaller members join the group of the largest: O(D n log n) per decode.
    """
    exact, nest, chosen = forest.exact, forest.nest, forest.chosen
    if forest.counts[SEEN] < 0:
        forest.counts[SEEN] = 0
        for x in range(exact.own.shape[0]):
            exact.own[x, :] = 0
            exact.shared[x, :] = 0
            exact.group[x] = x
    change, kicked = exact.sums[1], exact.sums[2]
    start = forest.counts[SEEN]
    while start < forest.counts[MEMBERS]:
        cycle = nest.parent[nest.members[start]]
        stop = start
        largest = nest.members[start]
        while stop < forest.counts[MEMBERS] and nest.parent[nest.members[stop]] == cycle:
            x = nest.members[stop]
            if nest.size[x] > nest.size[largest]:
                largest = x
            stop += 1
        group = exact.group[nest.first[largest]]
        kicked[:] = 0
        edge = (chosen.tail[largest], chosen.into[largest])
        add_gain(forest, scores, dependents_first, kicked, 1, edge)
        normalize(kicked)
        for k in range(kicked.shape[0]):
            exact.shared[group, k] += kicked[k]
        for x in nest.members[start:stop]:
            if x == largest:
                continue
            change[:] = 0
            edge = (chosen.tail[x], chosen.into[x])
            add_gain(forest, scores, dependents_first, change, 1, edge)
            shared = exact.shared[exact.group[nest.first[x]]]
            for k in range(change.shape[0]):
                change[k] += shared[k] - exact.shared[group, k]
            normalize(change)
            leaf = nest.first[x]
            for _ in range(nest.size[x]):
                for k in range(change.shape[0]):
                    exact.own[leaf, k] += change[k]
                exact.group[leaf] = group
                leaf = nest.after[leaf]
        start = stop
    forest.counts[SEEN] = forest.counts[MEMBERS]


@uncounted_kernel
def exact_gain(forest: Forest, scores: np.ndarray, dependents_first: bool, edge: Edge) -> float:
    """Return the gain of an edge into a top, with a relative error of 2^-50. O(D)."""
    catch_up(forest, scores, dependents_first)
    total = forest.exact.sums[0]
    total[:] = 0
    add_gain(forest, scores, dependents_first, total, 1, edge)
    return rounded(total, bias_of(scores))


@uncounted_kernel
def compare(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    one: Edge,
    other: Edge,
) -> int:
    """Return the sign of gain(one) - gain(other), exactly, for two edges into one top. O(D)."""
    catch_up(forest, scores, dependents_first)
    total = forest.exact.sums[0]
    total[:] = 0
    for sign, edge in ((1, one), (-1, other)):
        add_gain(forest, scores, dependents_first, total, sign, edge)
    return sign_of(total)


@indexing_kernel
def is_unrounded(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Tell whether float64 holds every gain without rounding. O(n²) at the first call.

    This is true for whole numbers, for quantized scores, and if all scores are equal. Then floats
    decide all comparisons, and all error bounds are set to 0.
    """
    if forest.counts[UNROUNDED] < 0:
        forest.counts[UNROUNDED] = 1 if has_unit(forest, scores, dependents_first, n) else 0
        if forest.counts[UNROUNDED] == 1:
            for x in range(forest.counts[NODES]):
                forest.chosen.bound[x] = 0.0
                forest.chosen.relative[x] = 0.0
    return forest.counts[UNROUNDED] == 1


@uncounted_kernel
def has_unit(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Tell whether all sums of gains are multiples of a unit that fit 53 bits. O(n²).

    A gain is a sum of at most 2n + 2 scores and two shifts of the root; a comparison in
    `constrained` has four gains.
    """
    shift = abs(forest.limits[SHIFT])
    # Scores at or below this number do not count. Counting such a score would only cost time.
    least = 2.0 * forest.limits[FLOOR] / SCALE - shift
    start = 0 if dependents_first else 1
    largest = shift
    for x in range(1 - start, n + 1):
        largest += size_of(scores[x], start, n, x, least)
    _, exponent = math.frexp(largest)
    _, terms = math.frexp(16.0 * (n + 1))
    unit = math.ldexp(1.0, exponent + terms - 53)
    if largest > 2.0**900 or 0.0 < largest < 2.0**-900:  # sums might overflow or underflow
        return False
    # Adding this number rounds to a multiple of the unit.
    rounder = 1.5 * 2.0**52 * unit
    whole = (shift + rounder) - rounder == shift
    for x in range(1 - start, n + 1):
        whole = whole and is_whole(scores[x], start, n, x, least, rounder)
    return whole


@reordered_kernel
@never_negative
def size_of(row: np.ndarray, start: int, n: int, x: int, least: float) -> float:
    """Return the sum of the absolute values of a row of scores, without x. O(n)."""
    size = 0.0
    for u in range(start, n + 1):
        score = np.float64(row[u])
        size += abs(score) if (u != x) & (score > least) else 0.0
    return size


@indexing_kernel
def is_whole(row: np.ndarray, start: int, n: int, x: int, least: float, rounder: float) -> bool:
    """Tell whether adding a number to a row of scores, without x, rounds nothing. O(n)."""
    many = 0
    for u in range(start, n + 1):
        score = np.float64(row[u])
        off = (score + rounder) - rounder != score
        many += 1 if (u != x) & (score > least) & off else 0
    return many == 0
