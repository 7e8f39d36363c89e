"""Sentence segmentation: a binary log-linear decision after each token, from left to right.

The features of a sentence end are the surrounding tokens and their shapes, the white space between
them, the length of the sentence so far, its first token, whether a quotation or a bracket is open,
and the distance to the next full stop (headings have none).
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared.classifier import PLACES, learn_only, to_places, total
from arborescence.parsers.shared.hashing import mix
from arborescence.parsers.text.characters import (
    CLOSING,
    LOWER,
    OPENING,
    PARAGRAPH,
    QUOTE,
    TERMINAL,
    UPPER,
)

_FEATURES: Final = 54
_START: Final = np.uint64(0x5851F42D4C957F2D)
_OUTSIDE: Final = np.uint64(7)

#: The columns of the array that `spell` fills.
FORM, SHAPE, FIRST, LAST, SUFFIX, GAP, AHEAD, OUTLINE = range(8)
LETTERS: Final = 8
# The L1 penalty per step of size 1. Chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.03)


@kernel
def spell(
    folded: np.ndarray,
    kinds: np.ndarray,
    gaps: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    letters: np.ndarray,
) -> None:
    """Hash the forms and shapes of tokens.

    Parameters
    ----------
    folded, kinds, gaps
        The `Characters` of the text.
    starts, ends : int64, shape (t,)
        The first and the last character of each token.
    letters : uint64, shape (t, LETTERS)
        Filled: the form in lower case; the kinds of its characters; the first kind; the last kind;
        its last three characters; the gap after it; the distance to the next token of `TERMINAL`
        characters only, in bins; its kinds, with each run of one kind counted once.
    """
    ahead = 0
    for back in range(starts.size):
        t = starts.size - 1 - back
        form = shape = outline = suffix = _START
        previous = 255
        only_terminal = True
        for i in range(starts[t], ends[t] + 1):
            form = mix(form, np.uint64(folded[i]))
            shape = mix(shape, np.uint64(kinds[i]))
            if kinds[i] != previous:
                previous = kinds[i]
                outline = mix(outline, np.uint64(previous))
            if i > ends[t] - 3:
                suffix = mix(suffix, np.uint64(folded[i]))
            only_terminal &= kinds[i] == TERMINAL
        gap = gaps[ends[t]]
        if gap == PARAGRAPH:
            ahead = 20
        letters[t, FORM] = form
        letters[t, SHAPE] = shape
        letters[t, FIRST] = kinds[starts[t]]
        letters[t, LAST] = kinds[ends[t]]
        letters[t, SUFFIX] = suffix
        letters[t, GAP] = gap
        letters[t, AHEAD] = _rough(ahead)
        letters[t, OUTLINE] = outline
        ahead = 0 if only_terminal else ahead + 1


@kernel
def _rough(number: int) -> np.uint64:
    """Return the bin of a number: 0, 1, 2, 3, 4, 5-7, 8-11, 12-19, 20-39, more."""
    if number < 5:
        return np.uint64(number)
    if number < 8:
        return np.uint64(5)
    if number < 12:
        return np.uint64(6)
    if number < 20:
        return np.uint64(7)
    if number < 40:
        return np.uint64(8)
    return np.uint64(9)


@kernel
def _token(letters: np.ndarray, t: int, first: int, last: int, column: int) -> np.uint64:
    """Return a hash of a token, or `_OUTSIDE` if it is outside the range from `first` to `last`."""
    if t < first or t >= last:
        return _OUTSIDE
    return letters[t, column]


@kernel
def _look(
    letters: np.ndarray,
    first: int,
    last: int,
    t: int,
    begin: int,
    open_quote: bool,
    brackets: int,
    capitals: np.uint64,
    places: np.ndarray,
) -> None:
    """Compute the weight indices of the features of a sentence end after token `t`.

    The paragraph has the tokens from `first` to `last` - 1; the sentence starts at `begin`.
    """
    w = letters[t, FORM]
    w1 = _token(letters, t - 1, begin, last, FORM)
    w2 = _token(letters, t - 2, begin, last, FORM)
    v = _token(letters, t + 1, first, last, FORM)
    v1 = _token(letters, t + 2, first, last, FORM)
    s = letters[t, SHAPE]
    s1 = _token(letters, t - 1, begin, last, SHAPE)
    o = letters[t, OUTLINE]
    o1 = _token(letters, t - 1, begin, last, OUTLINE)
    r = _token(letters, t + 1, first, last, OUTLINE)
    r1 = _token(letters, t + 2, first, last, OUTLINE)
    r2 = _token(letters, t + 3, first, last, OUTLINE)
    gap = letters[t, GAP]
    gap1 = _token(letters, t - 1, begin, last, GAP)
    next_gap = _token(letters, t + 1, first, last, GAP)
    ahead = _token(letters, t + 1, first, last, AHEAD)
    length = _rough(t - begin)
    remaining = _rough(last - t - 1)
    opened = np.uint64(2 * min(brackets, 2) + open_quote)
    state = mix(gap, opened)
    edge = mix(o, mix(gap, r))
    opening = letters[begin, FORM]
    opening_shape = letters[begin, OUTLINE]

    places[0] = w
    places[1] = v
    places[2] = w1
    places[3] = mix(w, v)
    places[4] = mix(w1, w)
    places[5] = mix(w, gap)
    places[6] = mix(w, r)
    places[7] = mix(mix(w, gap), r)
    places[8] = mix(o, v)
    places[9] = mix(s1, w)
    places[10] = mix(mix(s1, w), r)
    places[11] = mix(mix(w1, w), r)
    places[12] = edge
    places[13] = mix(edge, o1)
    places[14] = mix(edge, r1)
    places[15] = mix(mix(edge, r1), r2)
    places[16] = mix(w, mix(r, r1))
    places[17] = mix(w, mix(gap, mix(v, r1)))
    places[18] = mix(mix(w2, w1), w)
    places[19] = mix(v, v1)
    places[20] = mix(w, mix(v, v1))
    places[21] = mix(length, w)
    places[22] = mix(length, edge)
    places[23] = mix(length, r)
    places[24] = mix(remaining, edge)
    places[25] = mix(remaining, w)
    places[26] = mix(state, w)
    places[27] = mix(state, edge)
    places[28] = mix(state, v)
    places[29] = mix(ahead, edge)
    places[30] = mix(ahead, mix(length, gap))
    places[31] = mix(ahead, mix(remaining, r))
    places[32] = mix(opening, w)
    places[33] = mix(opening, mix(length, o))
    places[34] = mix(opening_shape, mix(length, edge))
    places[35] = mix(opening_shape, w)
    places[36] = mix(capitals, edge)
    places[37] = mix(capitals, mix(length, gap))
    places[38] = mix(s, mix(gap, r))
    places[39] = mix(s1, mix(s, r))
    places[40] = mix(letters[t, SUFFIX], r)
    places[41] = mix(gap, v)
    places[42] = mix(mix(gap1, gap), mix(w, next_gap))
    places[43] = mix(mix(gap1, gap), mix(o, r))
    places[44] = mix(mix(gap, next_gap), v)
    places[45] = mix(length, remaining)
    places[46] = mix(w1, mix(o, r))
    places[47] = mix(_token(letters, t - 1, begin, last, SUFFIX), mix(w, r))
    places[48] = mix(opening, mix(w, r))
    places[49] = mix(gap, mix(length, remaining))
    places[50] = mix(opening_shape, mix(o, v))
    places[51] = mix(ahead, mix(w, r))
    places[52] = mix(capitals, mix(w, v))
    places[53] = mix(ahead, mix(length, edge))
    to_places(places, 0, PLACES)


@kernel
def end(
    letters: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
    ends: np.ndarray,
    gold: np.ndarray,
    learned: np.ndarray,
) -> None:
    """Find the ends of sentences; train the weights too if `gold` is given.

    O(1) per token: 54 features.

    Parameters
    ----------
    letters
        The output of `spell`. The end of a paragraph always ends a sentence.
    weights : int8 or float32, shape (PLACES,)
    scores : float64, shape (t,)
        Filled: the score of a sentence end after each token.
    ends : bool, shape (t,)
        Filled: whether a sentence ends with this token. Later decisions depend on earlier ones.
    gold : bool, shape (t,)
        The gold ends. Empty: no training.
    learned : float32, shape (2, PLACES)
        For training: the table of `Learned`, of which `weights` are the first row. Changed.
    """
    n = ends.size
    places = np.empty(_FEATURES, dtype=np.uint64)
    learning = gold.size > 0
    first = 0
    while first < n:
        last = first
        upper = lower = 0
        while True:
            upper += letters[last, FIRST] == UPPER
            lower += letters[last, FIRST] == LOWER
            last += 1
            if letters[last - 1, GAP] == PARAGRAPH or last == n:
                break
        capitals = np.uint64(4 * upper // (upper + lower) if upper + lower else 5)
        begin = first
        open_quote = False
        brackets = 0
        for t in range(first, last):
            if letters[t, FIRST] == QUOTE:
                open_quote = not open_quote
            elif letters[t, FIRST] == OPENING:
                brackets += 1
            elif letters[t, FIRST] == CLOSING and brackets > 0:
                brackets -= 1
            if t == last - 1:
                ends[t] = True
                scores[t] = np.inf
                break
            _look(letters, first, last, t, begin, open_quote, brackets, capitals, places)
            score = total(weights, places)
            ended = score > 0
            scores[t] = score
            ends[t] = ended
            if learning:
                learn_only(learned, places, score, gold[t], _PENALTY)
                ended = gold[t]
            if ended:
                begin = t + 1
                open_quote = False
                brackets = 0
        first = last
