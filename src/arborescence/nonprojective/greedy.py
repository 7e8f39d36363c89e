"""The greedy graph: the best head of each word, and the single child of the root. O(n²).

Every exact decoder must read each score once; this pass does. Lanes (`compiling.lanes`) compute
sixteen words, or sixteen heads, at once, and keep their best scores in registers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, kernel
from arborescence.compiling.lanes import (
    LANES,
    as_row,
    count,
    doubles,
    fill,
    is_row,
    lowest,
    numbers,
    places,
    top,
    turn,
    where,
)
from arborescence.core.faults import BAD_SCORE, FINE, NO_TREE, NOT_GREEDY
from arborescence.core.rows import padded
from arborescence.core.tree import spans


class Greedy(NamedTuple):
    """The greedy graph of a sentence, and scratch arrays. W is N, rounded up to whole lanes."""

    #: (W,), the type of the scores: the score of each word's best edge
    best: np.ndarray
    #: (W,) int32: the head of that edge
    head: np.ndarray
    #: (W,), the type of the scores: the scores of the root edges
    root: np.ndarray
    #: (W,) float64: the score of each word's root edge minus the score of its best other edge
    margin: np.ndarray
    #: (LANES²,), the type of the scores: the best scores of sixteen words in `greedy_columns`
    bests: np.ndarray
    #: (LANES²,) int32: the heads of `bests`
    heads: np.ndarray
    #: (W,) int32: 0 for the words that the root reaches, as from `spans`
    above: np.ndarray
    #: (N² + LANES,), the type of the scores: a copy of a sentence that is not contiguous
    copy: np.ndarray


@kernel
def new_greedy(scores: np.ndarray, n: int) -> Greedy:
    """Allocate the arrays for sentences of up to n words."""
    width = padded(n)
    floats = np.empty((2, width), scores.dtype)
    integers = np.empty((2, width), np.int32)
    # If lanes cannot be read in place: see `find_heads`.
    copied = 0 if is_row(scores) and n + 1 >= LANES else (n + 1) ** 2
    return Greedy(
        best=floats[0],
        head=integers[0],
        root=floats[1],
        margin=np.empty(width, np.float64),
        bests=np.empty(LANES * LANES, scores.dtype),
        heads=np.empty(LANES * LANES, np.int32),
        above=integers[1],
        copy=np.empty(copied + LANES, scores.dtype),
    )


@indexing_kernel
def find_heads(
    scores: np.ndarray, dependents_first: bool, b: int, n: int, first: int, greedy: Greedy
) -> tuple[bool, bool]:
    """Find the best head, on a tie the lowest, of each word of the sentence b. O(n²).

    Heads before `first` do not count. Returns whether NaN or +inf may have been read; and whether a
    word has no head.
    """
    size = scores.shape[1]
    # Lanes are read from rows. If a row is too short, lanes also read the next rows. So the last
    # sentence is copied, and every sentence that is not contiguous.
    begin = b * size * size
    reach = n * size + max(size, LANES)
    if is_row(scores) and begin + reach <= scores.size:
        row, stride = as_row(scores), size
    else:
        row, stride = greedy.copy, n + 1
        begin = 0
        for x in range(n + 1):
            for y in range(n + 1):
                row[x * stride + y] = scores[b, x, y]
    if dependents_first:
        return greedy_columns(row, begin, stride, n, first, greedy)
    return greedy_rows(row, begin, stride, n, first, greedy)


@indexing_kernel
def greedy_rows(
    scores: np.ndarray, begin: int, stride: int, n: int, first: int, greedy: Greedy
) -> tuple[bool, bool]:
    """Do the work of `find_heads` for ``scores[begin + h * stride + d]``."""
    bad = 0
    absent = 0
    for block in range(0, n + 1, LANES):
        # The last lanes begin earlier, so that they end with the row, and repeat some words.
        start = min(block, max(n + 1 - LANES, 0))
        lanes, d = places(start), numbers(start)
        greedy.root[lanes] = scores[places(begin + start)]
        score = scores[places(begin + first * stride + start)]
        head = fill(d, first)
        nan = score != score
        best = where(d == first, -np.inf, score)
        for h in range(first + 1, n + 1):
            score = scores[places(begin + h * stride + start)]
            better = (score > best) & (d != h)
            best = where(better, score, best)
            head = where(better, h, head)
            nan = nan | (score != score)
        greedy.best[lanes] = best
        greedy.head[lanes] = head
        word = (d >= 1) & (d <= n)
        bad += count(word & (nan | (best == np.inf)))
        absent += count(word & (best == -np.inf))
    return bad > 0, absent > 0


@indexing_kernel
def greedy_columns(
    scores: np.ndarray, begin: int, stride: int, n: int, first: int, greedy: Greedy
) -> tuple[bool, bool]:
    """Do the work of `find_heads` for ``scores[begin + d * stride + h]``."""
    bad = 0
    absent = 0
    for first_word in range(0, n + 1, LANES):
        none = fill(scores[places(begin)], -np.inf)
        nan = none != none
        for k in range(min(LANES, n + 1 - first_word)):
            d = first_word + k
            at = begin + d * stride
            greedy.root[d] = scores[at]
            best = none
            head = numbers(0)
            for block in range(0, n + 1, LANES):
                # The last lanes begin earlier, as in `greedy_rows`, but each head counts once.
                start = min(block, max(n + 1 - LANES, 0))
                h = numbers(start)
                usable = (h >= max(first, block)) & (h <= n) & (h != d)
                score = where(usable, scores[places(at + start)], none)
                better = score > best
                best = where(better, score, best)
                head = where(better, h, head)
                nan = nan | (score != score)
            greedy.bests[places(k * LANES)] = best
            greedy.heads[places(k * LANES)] = head
        # Row k of the tile has the best of every sixteenth head of the word k; transpose the tile.
        turn(greedy.bests)
        best = greedy.bests[places(0)]
        lane = fill(numbers(0), 0)
        tie = none != none
        for k in range(1, LANES):
            score = greedy.bests[places(k * LANES)]
            better = score > best
            tie = (tie & ~better) | ((score == best) & (score > none))
            best = where(better, score, best)
            lane = where(better, k, lane)
        greedy.best[places(first_word)] = best
        greedy.head[places(first_word)] = lane
        if n >= LANES:  # or else the lane is the head
            for k in range(min(LANES, n + 1 - first_word)):
                greedy.head[first_word + k] = greedy.heads[k * LANES + greedy.head[first_word + k]]
            if count(tie) > 0:
                turn(greedy.heads)
                lowest_heads(greedy, n, first_word)
        words = numbers(first_word)
        word = (words >= 1) & (words <= n)
        bad += count(nan) + count(word & (best == np.inf))
        absent += count(word & (best == none))
    return bad > 0, absent > 0


@indexing_kernel
def lowest_heads(greedy: Greedy, n: int, first_word: int) -> None:
    """Take the lowest of the best heads in several lanes, after heads and scores are transposed."""
    best = greedy.best[places(first_word)]
    head = fill(numbers(0), n)
    for k in range(LANES):
        h = greedy.heads[places(k * LANES)]
        as_good = greedy.bests[places(k * LANES)] == best
        head = where(as_good & (h < head), h, head)
    greedy.head[places(first_word)] = head


@indexing_kernel
def hang(greedy: Greedy, n: int) -> tuple[bool, float]:
    """Give one word the root as its head; `greedy` has each word's best other head. O(n).

    Every tree with one root edge keeps its rank if the same number, the *shift*, is subtracted from
    all root edges (Stanojević and Cohen 2021). This function takes the smallest shift by which only
    one word prefers the root. If the greedy graph is then a tree, it is the best tree. Rounded
    differences have the order of the exact differences, or are equal; the exact error of a
    difference is a float, too (Knuth 1998, Theorem B of Section 4.2.2). Returns whether NaN or +inf
    was read; and the shift, or 0 if no float is known to be such a shift (then each word compares
    its scores without a shift).
    """
    best, head, root, margins = greedy.best, greedy.head, greedy.root, greedy.margin
    bad = 0
    highest = fill(doubles(root[places(0)]), -np.inf)
    for start in range(0, n + 1, LANES):
        lanes, words = places(start), numbers(start)
        word = (words >= 1) & (words <= n)
        score = root[lanes]
        margin = where(word, doubles(score) - doubles(best[lanes]), -np.inf)
        margins[lanes] = margin
        highest = where(margin > highest, margin, highest)
        bad += count(word & ~(score < np.inf))
    most = top(highest)
    hung = -np.inf < most < np.inf
    shift = 0.0
    child = 0
    if hung:
        ties = 0
        for start in range(0, n + 1, LANES):
            same = margins[places(start)] == most
            child = start + lowest(same) if ties == 0 else child
            ties += count(same)
        error = off_by(np.float64(root[child]), np.float64(best[child]), most)
        shift = most if error >= 0.0 else most - abs(most) * 2.0**-50
        if ties > 1 or error < 0.0:
            for d in range(1, n + 1):
                if d != child and margins[d] >= shift:
                    error = off_by(np.float64(root[d]), np.float64(best[d]), margins[d])
                    hung &= margins[d] == shift and error <= 0.0
    if hung:
        head[child] = 0
        best[child] = root[child]
        return bad > 0, shift
    for d in range(1, n + 1):
        if root[d] >= best[d]:
            best[d] = root[d]
            head[d] = 0
    return bad > 0, 0.0


@indexing_kernel
def off_by(a: float, b: float, difference: float) -> float:
    """Return the exact error of a rounded difference: a - b - difference."""
    minus_b = difference - a
    return (a - (difference - minus_b)) - (b + minus_b)


@indexing_kernel
def has_bad_score(scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Tell whether any edge's score is NaN or +inf. O(n²)."""
    for h in range(n + 1):
        for d in range(1, n + 1):
            score = scores[d, h] if dependents_first else scores[h, d]
            if h != d and not score < np.inf:
                return True
    return False


@indexing_kernel
def decode_greedily(
    scores: np.ndarray,
    dependents_first: bool,
    lengths: np.ndarray,
    single: bool,
    heads: np.ndarray,
    start: int,
    greedy: Greedy,
) -> tuple[int, int, float]:
    """Decode the sentences from `start` while greedy graphs are trees; O(n²) per sentence.

    Returns the first sentence that is not decoded (or B), the reason (or FINE), and the shift of
    its root edges.
    """
    best, head = greedy.best, greedy.head
    batch, size = scores.shape[0], scores.shape[1]
    for b in range(start, batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        heads[b, 0] = -1
        for d in range(n + 1, size):
            heads[b, d] = -1
        if n == 0:
            continue
        bad, absent = find_heads(scores, dependents_first, b, n, 1 if single else 0, greedy)
        shift = 0.0
        if single:
            bad_root, shift = hang(greedy, n)
            bad |= bad_root
        if bad and has_bad_score(scores[b], dependents_first, n):
            return b, BAD_SCORE, 0.0
        if absent:  # unless the root is the head
            for d in range(1, n + 1):
                if best[d] == -np.inf:
                    return b, NO_TREE, 0.0
        if not spans(head, n, single, greedy.above):
            return b, NOT_GREEDY, shift
        for d in range(1, n + 1):
            heads[b, d] = head[d]
    return batch, FINE, 0.0
