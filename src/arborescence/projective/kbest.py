"""The k best projective trees, lazily: Huang and Chiang (2005), Algorithm 3, over Eisner's spans.

A *derivation* of a span is a place to split it and a derivation of either part; a tree is one of
the whole sentence, and no two are the same tree. The best derivation of every span is in the
chart. The next best one is among those that wait: the best of each other split, and for each
derivation that has had its turn, the same with the next best derivation of one part. So a span is
asked for its next derivation only when a larger one needs it.

A pair of parts' derivations (i, j), counted from 0, is followed by (i, j + 1) and, if j is 0, by
(i + 1, j): so each pair comes up once. Weights are the whole numbers of `wholes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.core.faults import FINE, NO_TREE
from arborescence.core.jit import kernel
from arborescence.projective.exact_chart import (
    Wholes,
    rounded_once,
    sign_of_difference,
)
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, splits_of

# What `rank_projective` returns where there is no room, or there are no more trees.
EXHAUSTED, FULL = 5, 6

# What follows a derivation that is the last of its span, or of a span not asked any further. And
# what waits for a span that has not been asked at all.
NOTHING, UNKNOWN = -1, -2

# The columns of `Ranking.links`.
SPAN, LEFT, RIGHT, NEXT, CHILD, SIBLING = 0, 1, 2, 3, 4, 5


class Ranking(NamedTuple):
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
def new_ranking(wholes: Wholes, n: int, room: int) -> Ranking:
    """Make the first derivation of every span, and room for some more. O(n²)."""
    size = n + 1
    spans = 2 * size * size
    width = wholes.spans.shape[3]
    ranking = Ranking(
        np.full((spans + room, 6), UNKNOWN, np.int64),
        np.zeros((spans + room, width), np.int64),
        np.arange(spans),
        np.full(spans, UNKNOWN, np.int64),
        np.zeros(2 * size + 2, np.int64),
        np.full(1, spans, np.int64),
    )
    for number in range(spans):
        kind, h, e = span_of(number, size)
        links = ranking.links[number]
        links[SPAN] = number
        if h == e:
            links[NEXT] = NOTHING
        elif wholes.splits[kind, h, e] >= 0:
            one, other = parts_of(kind, h, e, wholes.splits[kind, h, e])
            links[LEFT] = number_of(one, size)
            links[RIGHT] = number_of(other, size)
            ranking.weights[number] = wholes.spans[kind, h, e]
    return ranking


@kernel
def larger(ranking: Ranking) -> Ranking:
    """Return the same with room for twice as many derivations."""
    rows, width = ranking.weights.shape
    links = np.full((2 * rows, 6), UNKNOWN, np.int64)
    weights = np.zeros((2 * rows, width), np.int64)
    links[:rows] = ranking.links
    weights[:rows] = ranking.weights
    return Ranking(links, weights, ranking.last, ranking.waiting, ranking.stack, ranking.used)


@kernel
def meld(ranking: Ranking, one: int, other: int) -> int:
    """Return the top of the heap of two heaps, either of which may be NOTHING. O(D)."""
    if one == NOTHING:
        return other
    if other == NOTHING:
        return one
    a, b = ranking.weights[one], ranking.weights[other]
    if sign_of_difference(a, a, b, b) < 0:
        one, other = other, one
    ranking.links[other, SIBLING] = ranking.links[one, CHILD]
    ranking.links[one, CHILD] = other
    return one


@kernel
def without_top(ranking: Ranking, top: int) -> int:
    """Return the heap without its top: its children melded in pairs. O(log) amortized."""
    pairs = NOTHING
    child = ranking.links[top, CHILD]
    while child != NOTHING:
        partner = ranking.links[child, SIBLING]
        rest = NOTHING
        ranking.links[child, SIBLING] = NOTHING
        if partner != NOTHING:
            rest = ranking.links[partner, SIBLING]
            ranking.links[partner, SIBLING] = NOTHING
        pair = meld(ranking, child, partner)
        ranking.links[pair, SIBLING] = pairs
        pairs = pair
        child = rest
    heap = NOTHING
    while pairs != NOTHING:
        rest = ranking.links[pairs, SIBLING]
        ranking.links[pairs, SIBLING] = NOTHING
        heap = meld(ranking, heap, pairs)
        pairs = rest
    return heap


@kernel
def let_wait(ranking: Ranking, wholes: Wholes, number: int, left: int, right: int) -> None:
    """Add a derivation of a span to those that wait. O(D)."""
    row = ranking.used[0]
    ranking.used[0] += 1
    kind, h, e = span_of(number, wholes.splits.shape[1])
    links = ranking.links[row]
    links[SPAN], links[LEFT], links[RIGHT] = number, left, right
    links[NEXT], links[CHILD], links[SIBLING] = UNKNOWN, NOTHING, NOTHING
    for k in range(ranking.weights.shape[1]):
        weight = ranking.weights[left, k] + ranking.weights[right, k]
        if kind == INCOMPLETE:
            weight += wholes.scores[h, e, k]
        ranking.weights[row, k] = weight
    ranking.waiting[number] = meld(ranking, ranking.waiting[number], row)


@kernel
def open_span(ranking: Ranking, wholes: Wholes, number: int, single: bool) -> None:
    """Let the best derivation of each split wait, but for the very best one. O(n D)."""
    size = wholes.splits.shape[1]
    kind, h, e = span_of(number, size)
    ranking.waiting[number] = NOTHING
    low, stop = splits_of(kind, h, e, single)
    for r in range(low, stop):
        one, other = parts_of(kind, h, e, r)
        exists = wholes.splits[one] >= 0 and wholes.splits[other] >= 0
        if exists and r != wholes.splits[kind, h, e]:
            let_wait(ranking, wholes, number, number_of(one, size), number_of(other, size))


@kernel
def advance(ranking: Ranking, wholes: Wholes, number: int, single: bool) -> bool:
    """Find what follows the last derivation of a span; tell if there was room. O(n log k).

    A span that needs the next derivation of a part is put off until that is known. Whatever has
    been found is kept when there is no room, so that the same call may be made again.
    """
    links, stack = ranking.links, ranking.stack
    size = wholes.splits.shape[1]
    stack[0] = number
    top = 1
    while top > 0:
        span = stack[top - 1]
        if ranking.used[0] + size + 2 > links.shape[0]:
            return False
        if ranking.waiting[span] == UNKNOWN:
            open_span(ranking, wholes, span, single)
        last = ranking.last[span]
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
            let_wait(ranking, wholes, span, links[left, NEXT], right)
        if links[right, NEXT] != NOTHING:
            let_wait(ranking, wholes, span, left, links[right, NEXT])
        following = ranking.waiting[span]
        links[last, NEXT] = following
        if following != NOTHING:
            ranking.waiting[span] = without_top(ranking, following)
            ranking.last[span] = following
        top -= 1
    return True


@kernel
def write_tree(ranking: Ranking, derivation: int, size: int, heads: np.ndarray) -> None:
    """Write the heads of a derivation. O(n)."""
    stack = ranking.stack
    stack[0] = derivation
    top = 1
    heads[0] = -1
    while top > 0:
        top -= 1
        row = stack[top]
        kind, h, e = span_of(ranking.links[row, SPAN], size)
        if h != e:
            if kind == INCOMPLETE:
                heads[e] = h
            stack[top] = ranking.links[row, LEFT]
            stack[top + 1] = ranking.links[row, RIGHT]
            top += 2


@kernel
def rank_projective(
    ranking: Ranking,
    wholes: Wholes,
    single: bool,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Write the next best trees of a sentence. O(n³ D) in all, and O(n log k) a tree.

    Parameters
    ----------
    ranking, wholes : of the sentence
    single : whether exactly one edge may leave the root
    count : how many trees have been written, or -1 if it is not the best one's turn yet
    heads : (k, N) int64, filled from the row `count` on
    weights : (k,) float64, likewise

    Returns
    -------
    (count, found) : how many trees are written, and FINE; EXHAUSTED; or FULL: go on with more room
    """
    size = wholes.splits.shape[1]
    number = number_of((COMPLETE, 0, size - 1), size)
    if wholes.splits[COMPLETE, 0, size - 1] < 0:
        return 0, NO_TREE
    first = count < 0
    count = max(count, 0)
    while count < heads.shape[0]:
        if not first:
            last = ranking.last[number]
            if ranking.links[last, NEXT] == UNKNOWN and not advance(
                ranking, wholes, number, single
            ):
                return count, FULL
            if ranking.links[last, NEXT] == NOTHING:
                return count, EXHAUSTED
        first = False
        derivation = ranking.last[number]
        write_tree(ranking, derivation, size, heads[count])
        weights[count] = rounded_once(ranking.weights[derivation].copy(), wholes.bias)
        count += 1
    return count, FINE
