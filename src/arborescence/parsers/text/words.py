"""Word segmentation: a binary log-linear decision after each character, from left to right.

The features of a word end are the surrounding characters and their kinds, the text between the two
nearest spaces, and the previous words. There are no language-specific rules.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared.classifier import PLACES, learn_only, to_places, total
from arborescence.parsers.shared.hashing import mix
from arborescence.parsers.text.characters import NO_GAP, PADDING, PARAGRAPH, Characters

_FEATURES: Final = 50
_SPACE: Final = 32
_START: Final = np.uint64(0x5851F42D4C957F2D)
_LONGEST: Final = 8  # longer words share one length feature
# The L1 penalty per step of size 1. Chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.02)


class Stretches(NamedTuple):
    """Hashes of the text between spaces, uint64 (n,) each.

    Attributes
    ----------
    lead, rest
        The characters from the previous space up to this one, and from this one to the next space.
    lead_shape, rest_shape
        The same for kinds of characters, with each run of one kind counted once.
    """

    lead: np.ndarray
    rest: np.ndarray
    lead_shape: np.ndarray
    rest_shape: np.ndarray


@kernel
def stretches(text: Characters) -> Stretches:
    """Hash the text between spaces. O(n)."""
    folded, kinds = text.folded, text.kinds
    n = folded.size
    lead, rest = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    lead_shape, rest_shape = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    for i in range(n):
        if kinds[i] == 0:
            lead[i] = lead_shape[i] = _START
        else:
            lead[i] = mix(lead[i - 1], np.uint64(folded[i]))
            lead_shape[i] = lead_shape[i - 1]
            if kinds[i] != kinds[i - 1]:
                lead_shape[i] = mix(lead_shape[i - 1], np.uint64(kinds[i]))
    for k in range(n):
        i = n - 1 - k
        if kinds[i] == 0:
            rest[i] = rest_shape[i] = _START
        else:
            rest[i] = mix(rest[i + 1], np.uint64(folded[i]))
            rest_shape[i] = rest_shape[i + 1]
            if kinds[i] != kinds[i + 1]:
                rest_shape[i] = mix(rest_shape[i + 1], np.uint64(kinds[i]))
    return Stretches(lead, rest, lead_shape, rest_shape)


@kernel
def _look(
    text: Characters,
    around: Stretches,
    i: int,
    piece: np.uint64,
    before: np.uint64,
    length: int,
    places: np.ndarray,
) -> None:
    """Compute the weight indices of the features of a word end after character `i`.

    `piece` is the hash of the word so far, `length` its length, and `before` the hash of the
    previous word.
    """
    folded, kinds = text.folded, text.kinds
    lead, lead_shape, rest_shape = around.lead, around.lead_shape, around.rest_shape
    c3 = np.uint64(folded[i - 3])
    c2 = np.uint64(folded[i - 2])
    c1 = np.uint64(folded[i - 1])
    c = np.uint64(folded[i])
    d = np.uint64(folded[i + 1])
    d1 = np.uint64(folded[i + 2])
    d2 = np.uint64(folded[i + 3])
    d3 = np.uint64(folded[i + 4])
    k = np.uint64(kinds[i])
    j = np.uint64(kinds[i + 1])
    # Kinds are below 32: five bits each.
    k21 = (np.uint64(kinds[i - 2]) << np.uint64(5)) | np.uint64(kinds[i - 1])
    j12 = (np.uint64(kinds[i + 2]) << np.uint64(5)) | np.uint64(kinds[i + 3])
    kj = (k << np.uint64(5)) | j
    here = mix(c, d)
    left = mix(c1, c)
    left2 = mix(c2, left)
    right = mix(d, d1)
    right2 = mix(right, d2)
    long = np.uint64(min(length, _LONGEST))
    after = around.rest[i + 1]

    places[0] = c
    places[1] = d
    places[2] = c1
    places[3] = d1
    places[4] = c2
    places[5] = d2
    places[6] = here
    places[7] = left
    places[8] = right
    places[9] = mix(c1, d)
    places[10] = mix(c, d1)
    places[11] = left2
    places[12] = mix(left, d)
    places[13] = mix(c, right)
    places[14] = right2
    places[15] = mix(c3, left2)
    places[16] = mix(left2, d)
    places[17] = mix(left, right)
    places[18] = mix(c, right2)
    places[19] = mix(right2, d3)
    places[20] = mix(left2, right)
    places[21] = mix(left, right2)
    places[22] = kj
    places[23] = (k21 << np.uint64(10)) | kj
    places[24] = (kj << np.uint64(10)) | j12
    places[25] = ((k21 & np.uint64(31)) << np.uint64(10)) | kj
    places[26] = (kj << np.uint64(5)) | (j12 >> np.uint64(5))
    places[27] = (places[25] << np.uint64(5)) | (j12 >> np.uint64(5))
    places[28] = (places[23] << np.uint64(10)) | j12
    places[29] = mix(c, j)
    places[30] = mix(k, d)
    places[31] = mix(c, (j << np.uint64(10)) | j12)
    places[32] = mix(d, (k21 << np.uint64(5)) | k)
    places[33] = mix(here, j12)
    places[34] = mix(here, k21)
    places[35] = lead[i]
    places[36] = after
    places[37] = mix(lead[i], after)
    places[38] = lead_shape[i]
    places[39] = rest_shape[i + 1]
    places[40] = mix(lead_shape[i], rest_shape[i + 1])
    places[41] = mix(lead_shape[i], after)
    places[42] = mix(lead[i], rest_shape[i + 1])
    places[43] = piece
    places[44] = mix(piece, d)
    places[45] = mix(piece, after)
    places[46] = mix(before, piece)
    places[47] = mix(long, kj)
    places[48] = mix(piece, j)
    places[49] = mix(long, here)
    to_places(places, 0, PLACES)


@kernel
def cut(
    folded: np.ndarray,
    kinds: np.ndarray,
    gaps: np.ndarray,
    offsets: np.ndarray,
    paragraphs: np.ndarray,
    with_spaces: bool,
    weights: np.ndarray,
    ends: np.ndarray,
    gold: np.ndarray,
    learned: np.ndarray,
) -> None:
    """Find the ends of words; train the weights too if `gold` is given.

    O(1) per character: 50 features.

    Parameters
    ----------
    folded, kinds, gaps, offsets, paragraphs
        `Characters`, n of them.
    with_spaces
        Whether a word may contain spaces. If not, each space ends a word.
    weights : int8 or float32, shape (PLACES,)
    ends : bool, shape (n,)
        Filled: whether a word ends with this character. Later decisions depend on earlier ones.
    gold : bool, shape (n,)
        The gold ends. Empty: no training.
    learned : float32, shape (2, PLACES)
        For training: the table of `Learned`, of which `weights` are the first row. Changed.
    """
    text = Characters(folded, kinds, gaps, offsets, paragraphs)
    around = stretches(text)
    places = np.empty(_FEATURES, dtype=np.uint64)
    learning = gold.size > 0
    for paragraph in range(paragraphs.size - 1):
        piece = before = _START
        length = 0
        for i in range(paragraphs[paragraph] + PADDING, paragraphs[paragraph + 1] - PADDING):
            ends[i] = False
            if kinds[i] == 0:
                if length:
                    piece = mix(piece, np.uint64(_SPACE))
                    length += 1
                continue
            piece = mix(piece, np.uint64(folded[i]))
            length += 1
            if gaps[i] == PARAGRAPH or (gaps[i] != NO_GAP and not with_spaces):
                end = True
            else:
                _look(text, around, i, piece, before, length, places)
                score = total(weights, places)
                end = score > 0
                if learning:
                    learn_only(learned, places, score, gold[i], _PENALTY)
            ends[i] = end
            if learning:
                end = gold[i]
            if end:
                before = piece
                piece = _START
                length = 0
