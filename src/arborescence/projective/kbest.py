"""The k best projective trees, lazily: Huang and Chiang (2005), Algorithm 3, over Eisner's spans.

A *derivation* of a span is a place to split it and a derivation of either part; a tree is one of
the whole sentence, and no two are the same tree. The best derivation of every span is in the
chart. The next best one is among those that wait: the best of each other split, and for each
derivation that has had its turn, the same with the next best derivation of one part. So a span is
asked for its next derivation only when a larger one needs it.

A pair of parts' derivations (i, j), counted from 0, is followed by (i, j + 1) and, if j is 0, by
(i + 1, j): so each pair comes up once. Weights are the whole numbers of the exact chart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.core.accumulator import rounded_once
from arborescence.core.faults import EXHAUSTED, FINE, FULL, NO_TREE
from arborescence.core.jit import kernel
from arborescence.core.lists import longer
from arborescence.projective.exact_chart import ExactChart, sign_of_difference
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, splits_of

# What follows a derivation that is the last of its span, or of a span not asked any further. And
# what waits for a span that has not been asked at all.
NOTHING, UNKNOWN = -1, -2

# The columns of `Derivations.links`.
SPAN, LEFT, RIGHT, NEXT, CHILD, SIBLING = range(6)


class Derivations(NamedTuple):
    """Derivations of the spans of a sentence of n words, by number.

    A span has the number ``(kind * N + head) * N + end``, and so has its first derivation. Single
    words have one derivation, which has no parts.
    """

    links: np.ndarray
    """(P, 6) int64: the span, the derivations of its parts, the next best derivation of the span;
    and where it waits, in a pairing heap, its first child and next sibling."""
    weights: np.ndarray
    """(P, D) int64"""
    last: np.ndarray
    """(2 N²,) int64: the last derivation of each span that has had its turn."""
    waiting: np.ndarray
    """(2 N²,) int64: the best derivation of each span that waits, the top of a heap."""
    stack: np.ndarray
    """(2 N + 2,) int64: scratch."""
    used: np.ndarray
    """(1,) int64: how many derivations there are."""


@kernel
def number_of(span: tuple[int, int, int], size: int) -> int:
    """Return the number of a span, in a sentence of so many nodes. O(1)."""
    kind, h, e = span
    return (kind * size + h) * size + e


@kernel
def span_of(number: int, size: int) -> tuple[int, int, int]:
    """Return the span of a number. O(1)."""
    return number // (size * size), number // size % size, number % size


@kernel
def new_derivations(chart: ExactChart, n: int, room: int) -> Derivations:
    """Make the first derivation of every span, and room for some more. O(n²)."""
    size = n + 1
    spans = 2 * size * size
    width = chart.spans.shape[3]
    known = Derivations(
        np.full((spans + room, 6), UNKNOWN, np.int64),
        np.zeros((spans + room, width), np.int64),
        np.arange(spans),
        np.full(spans, UNKNOWN, np.int64),
        np.zeros(2 * size + 2, np.int64),
        np.full(1, spans, np.int64),
    )
    for number in range(spans):
        kind, h, e = span_of(number, size)
        links = known.links[number]
        links[SPAN] = number
        if h == e:
            links[NEXT] = NOTHING
        elif chart.splits[kind, h, e] >= 0:
            one, other = parts_of(kind, h, e, chart.splits[kind, h, e])
            links[LEFT] = number_of(one, size)
            links[RIGHT] = number_of(other, size)
            known.weights[number] = chart.spans[kind, h, e]
    return known


def larger(known: Derivations) -> Derivations:
    """Return the same with room for twice as many derivations."""
    used = int(known.used[0])
    return known._replace(links=longer(known.links, used), weights=longer(known.weights, used))


@kernel
def meld(known: Derivations, one: int, other: int) -> int:
    """Return the top of the heap of two heaps, either of which may be NOTHING. O(D)."""
    if one == NOTHING:
        return other
    if other == NOTHING:
        return one
    a, b = known.weights[one], known.weights[other]
    if sign_of_difference(a, a, b, b) < 0:
        one, other = other, one
    known.links[other, SIBLING] = known.links[one, CHILD]
    known.links[one, CHILD] = other
    return one


@kernel
def without_top(known: Derivations, top: int) -> int:
    """Return the heap without its top: its children melded in pairs. O(log) amortized."""
    pairs = NOTHING
    child = known.links[top, CHILD]
    while child != NOTHING:
        partner = known.links[child, SIBLING]
        rest = NOTHING
        known.links[child, SIBLING] = NOTHING
        if partner != NOTHING:
            rest = known.links[partner, SIBLING]
            known.links[partner, SIBLING] = NOTHING
        pair = meld(known, child, partner)
        known.links[pair, SIBLING] = pairs
        pairs = pair
        child = rest
    heap = NOTHING
    while pairs != NOTHING:
        rest = known.links[pairs, SIBLING]
        known.links[pairs, SIBLING] = NOTHING
        heap = meld(known, heap, pairs)
        pairs = rest
    return heap


@kernel
def add_candidate(
    known: Derivations, chart: ExactChart, number: int, left: int, right: int
) -> None:
    """Add a derivation of a span to those that wait. O(D)."""
    row = known.used[0]
    known.used[0] += 1
    kind, h, e = span_of(number, chart.splits.shape[1])
    links = known.links[row]
    links[SPAN], links[LEFT], links[RIGHT] = number, left, right
    links[NEXT], links[CHILD], links[SIBLING] = UNKNOWN, NOTHING, NOTHING
    for k in range(known.weights.shape[1]):
        weight = known.weights[left, k] + known.weights[right, k]
        if kind == INCOMPLETE:
            weight += chart.scores[h, e, k]
        known.weights[row, k] = weight
    known.waiting[number] = meld(known, known.waiting[number], row)


@kernel
def open_span(known: Derivations, chart: ExactChart, number: int, single: bool) -> None:
    """Let the best derivation of each split wait, but for the very best one. O(n D)."""
    size = chart.splits.shape[1]
    kind, h, e = span_of(number, size)
    known.waiting[number] = NOTHING
    low, stop = splits_of(kind, h, e, single)
    for r in range(low, stop):
        one, other = parts_of(kind, h, e, r)
        exists = chart.splits[one] >= 0 and chart.splits[other] >= 0
        if exists and r != chart.splits[kind, h, e]:
            add_candidate(known, chart, number, number_of(one, size), number_of(other, size))


@kernel
def advance(known: Derivations, chart: ExactChart, number: int, single: bool) -> bool:
    """Find what follows the last derivation of a span; tell if there was room. O(n log k).

    A span that needs the next derivation of a part is put off until that is known. Whatever has
    been found is kept when there is no room, so that the same call may be made again.
    """
    links, stack = known.links, known.stack
    size = chart.splits.shape[1]
    stack[0] = number
    top = 1
    while top > 0:
        span = stack[top - 1]
        if known.used[0] + size + 2 > links.shape[0]:
            return False
        if known.waiting[span] == UNKNOWN:
            open_span(known, chart, span, single)
        last = known.last[span]
        left, right = links[last, LEFT], links[last, RIGHT]
        left_moves = right == links[right, SPAN]
        if left_moves and links[left, NEXT] == UNKNOWN:
            stack[top] = links[left, SPAN]
            top += 1
            continue
        if links[right, NEXT] == UNKNOWN:
            stack[top] = links[right, SPAN]
            top += 1
            continue
        if left_moves and links[left, NEXT] != NOTHING:
            add_candidate(known, chart, span, links[left, NEXT], right)
        if links[right, NEXT] != NOTHING:
            add_candidate(known, chart, span, left, links[right, NEXT])
        following = known.waiting[span]
        links[last, NEXT] = following
        if following != NOTHING:
            known.waiting[span] = without_top(known, following)
            known.last[span] = following
        top -= 1
    return True


@kernel
def write_tree(known: Derivations, derivation: int, size: int, heads: np.ndarray) -> None:
    """Write the heads of a derivation. O(n)."""
    stack = known.stack
    stack[0] = derivation
    top = 1
    heads[0] = -1
    while top > 0:
        top -= 1
        row = stack[top]
        kind, h, e = span_of(known.links[row, SPAN], size)
        if h != e:
            if kind == INCOMPLETE:
                heads[e] = h
            stack[top] = known.links[row, LEFT]
            stack[top + 1] = known.links[row, RIGHT]
            top += 2


@kernel
def find_projective(
    known: Derivations,
    chart: ExactChart,
    single: bool,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Write the next best trees of a sentence. O(n³ D) in all, and O(n log k) a tree.

    Parameters
    ----------
    known, chart : of the sentence
    single : whether exactly one edge may leave the root
    count : how many trees have been written, or -1 if it is not the best one's turn yet
    heads : (k, N) int64, filled from the row `count` on
    weights : (k,) float64, likewise

    Returns
    -------
    (count, found) : how many trees are written, and FINE; EXHAUSTED; or FULL: go on with more room
    """
    size = chart.splits.shape[1]
    number = number_of((COMPLETE, 0, size - 1), size)
    if chart.splits[COMPLETE, 0, size - 1] < 0:
        return 0, NO_TREE
    first = count < 0
    count = max(count, 0)
    while count < heads.shape[0]:
        if not first:
            last = known.last[number]
            if known.links[last, NEXT] == UNKNOWN and not advance(known, chart, number, single):
                return count, FULL
            if known.links[last, NEXT] == NOTHING:
                return count, EXHAUSTED
        first = False
        derivation = known.last[number]
        write_tree(known, derivation, size, heads[count])
        weights[count] = rounded_once(known.weights[derivation].copy(), chart.bias)
        count += 1
    return count, FINE
