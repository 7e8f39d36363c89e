"""Sentence segmentation: a binary log-linear decision after each token, from left to right.

Its features are the tokens around and their shapes, white space, the length so far, the first
token, open quotations and brackets, and the distance to the next full stop (headings have none).
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.classifier import (
    PLACES,
    UNIT,
    Values,
    compiled,
    fill,
    learn_only,
    total,
    values_of,
)
from arborescence.parsers.shared.features import mix
from arborescence.parsers.text.characters import (
    CHARACTERS,
    CLOSING,
    COMMA,
    LOWER,
    OPENING,
    PARAGRAPH,
    QUOTE,
    TERMINAL,
    UPPER,
    Characters,
)

#: The columns of the array that `spell` fills.
FORM, SHAPE, FIRST, LAST, SUFFIX, GAP, AHEAD, OUTLINE = range(8)
LETTERS: Final = 8

# The tokens of the sentence and after the sentence, by distance and column: the token is w; w1 and
# w2 are the tokens before, v and v1 the tokens after. s is a shape; o and r are shapes with each
# run of one kind counted once.
_AROUND: Final = {
    "w": (0, FORM), "w1": (-1, FORM), "w2": (-2, FORM), "v": (1, FORM), "v1": (2, FORM),
    "s": (0, SHAPE), "s1": (-1, SHAPE), "o": (0, OUTLINE), "o1": (-1, OUTLINE),
    "r": (1, OUTLINE), "r1": (2, OUTLINE), "r2": (3, OUTLINE),
    "gap": (0, GAP), "gap1": (-1, GAP), "next_gap": (1, GAP), "ahead": (1, AHEAD),
    "suffix": (0, SUFFIX), "suffix1": (-1, SUFFIX),
}  # fmt: skip
_WHERE: Final = np.array(list(_AROUND.values()))
_ATOMS: Final = " ".join([*_AROUND, "length remaining opened opening opening_shape capitals"])
_TEMPLATES: Final = compiled(
    _ATOMS,
    """
    w, v, w1, w * v, w1 * w, w * gap, w * r, w * gap * r, o * v, s1 * w, s1 * w * r, w1 * w * r,
    o * (gap * r), o * (gap * r) * o1, o * (gap * r) * r1, o * (gap * r) * r1 * r2, w * (r * r1),
    w * (gap * (v * r1)), w2 * w1 * w, v * v1, w * (v * v1), length * w, length * (o * (gap * r)),
    length * r, remaining * (o * (gap * r)), remaining * w, gap * opened * w,
    gap * opened * (o * (gap * r)), gap * opened * v, ahead * (o * (gap * r)),
    ahead * (length * gap), ahead * (remaining * r), opening * w, opening * (length * o),
    opening_shape * (length * (o * (gap * r))), opening_shape * w, capitals * (o * (gap * r)),
    capitals * (length * gap), s * (gap * r), s1 * (s * r), suffix * r, gap * v,
    gap1 * gap * (w * next_gap), gap1 * gap * (o * r), gap * next_gap * v, length * remaining,
    w1 * (o * r), suffix1 * (w * r), opening * (w * r), gap * (length * remaining),
    opening_shape * (o * v), ahead * (w * r), capitals * (w * v),
    ahead * (length * (o * (gap * r)))
    """,
)
_FEATURES: Final = _TEMPLATES.features.size
_START: Final = np.uint64(0x5851F42D4C957F2D)
_OUTSIDE: Final = np.uint64(7)
# The first numbers of the bins of `_rough`.
_BINS: Final = np.array([1, 2, 3, 4, 5, 8, 12, 20, 40])
# In a text of at least _LONG tokens without full stops and commas, few sentence ends are probable.
# There, F1 is best if a sentence ends wherever the probability is above one in four.
_LONG: Final = 30
_SOONER: Final = float(1 / UNIT)
# The L1 penalty for a step of size 1, chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.03)


@kernel
@takes(f"{CHARACTERS}, int64[::1], int64[::1], out uint64[:, ::1]")
def spell(text: Characters, starts: np.ndarray, ends: np.ndarray, letters: np.ndarray) -> None:
    """Hash the forms and shapes of tokens.

    `starts` and `ends`, int64 (t,), are the first and the last character of each token. `letters`,
    uint64 (t, LETTERS), is written: the form in lower case; the kinds of its characters; the first
    kind; the last kind; its last three characters; the gap after the token; the distance to the
    next token of `TERMINAL` characters only, in bins; its kinds, with each run of one kind counted
    once.
    """
    folded, kinds, gaps = text.folded, text.kinds, text.gaps
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
        gap = min(gaps[ends[t]], PARAGRAPH)  # a line that stands apart is a paragraph, too
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
    number_of_bin = 0
    for start in _BINS:
        number_of_bin += number >= start
    return np.uint64(number_of_bin)


@kernel
def _look(
    letters: np.ndarray,
    begin: int,
    last: int,
    t: int,
    opened: int,
    capitals: np.uint64,
    room: Values,
    places: np.ndarray,
) -> None:
    """Compute the features' places for an end after token `t` of the sentence from `begin`.

    The last token of the paragraph is `last` - 1.
    """
    atoms = room.values
    count = len(_WHERE)
    for k in range(count):
        at = t + _WHERE[k, 0]
        atoms[k] = letters[at, _WHERE[k, 1]] if begin <= at < last else _OUTSIDE
    atoms[count], atoms[count + 1] = _rough(t - begin), _rough(last - t - 1)
    atoms[count + 2], atoms[count + 3] = np.uint64(opened), letters[begin, FORM]
    atoms[count + 4], atoms[count + 5] = letters[begin, OUTLINE], capitals
    fill(_TEMPLATES, room, PLACES, places, 0)


@kernel
@takes("uint64[:, ::1], weight[::1], out float64[::1], bool[::1], out float32[:, ::1]")
def end(
    letters: np.ndarray,  # the output of `spell`. The end of a paragraph always ends a sentence.
    weights: np.ndarray,  # int8 or float32 (PLACES,)
    # float64 (t,): written: the score of a sentence end after each token; a sentence ends if its
    # score is above 0. Later scores depend on earlier ends.
    scores: np.ndarray,
    gold: np.ndarray,  # bool (t,): the gold ends. Empty: no training.
    # float32 (2, PLACES): for training: the table of `Learned`, of which `weights` are the first
    # row. Changed.
    learned: np.ndarray,
) -> None:
    """Find the ends of sentences; also train if `gold` is given. O(1) a token: 54 features."""
    n = scores.size
    places = np.empty(_FEATURES, dtype=np.uint64)
    room = values_of(_TEMPLATES, len(_WHERE) + 6)
    first = 0
    while first < n:
        last = first
        upper = lower = stops = 0
        while True:
            upper += letters[last, FIRST] == UPPER
            lower += letters[last, FIRST] == LOWER
            stops += letters[last, FIRST] == TERMINAL or letters[last, FIRST] == COMMA
            last += 1
            if letters[last - 1, GAP] == PARAGRAPH or last == n:
                break
        sooner = _SOONER if stops == 0 and last - first >= _LONG and not gold.size else 0.0
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
                scores[t] = np.inf
                break
            opened = 2 * min(brackets, 2) + open_quote
            _look(letters, begin, last, t, opened, capitals, room, places)
            scores[t] = total(weights, places) + sooner
            ended = scores[t] > 0
            if gold.size:
                learn_only(learned, places, scores[t], gold[t], _PENALTY)
                ended = gold[t]
            if ended:
                begin = t + 1
                open_quote = False
                brackets = 0
        first = last
