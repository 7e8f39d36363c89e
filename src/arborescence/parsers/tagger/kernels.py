"""Tagger kernels: features of words and tags, greedy tagging by `shared.classifier`."""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.classifier import (
    Values,
    best_class,
    compiled,
    fill,
    learn,
    to_probabilities,
    values_of,
)
from arborescence.parsers.shared.features import hash_bytes, mix, prefix_stop, shape, suffix_start

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The number of feature indices. The table has one more weight for each tag, for the last index.
PLACES: Final = 1 << 22

#: The columns of `spell`'s array.
FORM, FOLDED, SUFFIX_1, PREFIX_1, SHAPE, LENGTH = 0, 1, 2, 7, 11, 12
LETTERS: Final = 13
SUFFIX_2, SUFFIX_3 = SUFFIX_1 + 1, SUFFIX_1 + 2

# The columns of `spell` for a word; then, for its neighbours, distances and columns.
_SPELLING: Final = "form w s1 s2 s3 s4 s5 p1 p2 p3 p4 shape length"
_NEIGHBOURS: Final = {
    "left": (-1, FOLDED), "left2": (-2, FOLDED), "right": (1, FOLDED), "right2": (2, FOLDED),
    "left_s2": (-1, SUFFIX_2), "right_s2": (1, SUFFIX_2),
    "left_s3": (-1, SUFFIX_3), "right_s3": (1, SUFFIX_3),
    "left_shape": (-1, SHAPE), "right_shape": (1, SHAPE), "right2_shape": (2, SHAPE),
}  # fmt: skip
_WHERE: Final = np.array(list(_NEIGHBOURS.values()))
_WORDS: Final = compiled(
    " ".join([_SPELLING, *_NEIGHBOURS, "first capitals"]),
    """
    form, w, left, left2, right, right2, left * w, w * right, left * right, s1, s2, s3, s4, s5,
    p1, p2, p3, p4, shape * first, shape * s2, left_shape * shape, shape * right_shape, left_s3,
    right_s3, left_s2, right_s2, left2 * left, right * right2, length * shape, right_s3 * s3,
    left_s3 * s3, left * w * right, s3 * p3, capitals * (shape * first),
    left_shape * (shape * right_shape), shape * right_shape * right2_shape, s3 * (shape * first),
    left * shape, right * shape, w * capitals, right * s3, left * s3, left2 * w
    """,
)
#: The number of features that depend only on the words.
WORD_FEATURES: Final = _WORDS.features.size
#: The number of features of a stage. `HISTORY`: the stage also sees its own tags of the previous
#: words. `NEIGHBOURS`: also an earlier stage's tags of the neighbours. `OWN`: also an earlier
#: stage's tag of the word itself.
HISTORY: Final = WORD_FEATURES + 7
NEIGHBOURS: Final = HISTORY + 6
OWN: Final = NEIGHBOURS + 9
# One text for each of these three. `before`, `tag2`: this stage's tags of the word before, and of
# the two words before. `left`, `right`, `right2`, `here`: an earlier stage's tags.
_TAGS: Final = compiled(
    "before tag2 w s2 s3 shape next next_s3 left right right2 here",
    """
    before, before * tag2, before * w, before * next, before * s3, before * tag2 * w,
        before * tag2 * next_s3,
    right, right * right2, right * w, left * right, left * right * w, right * s3,
    here, here * w, here * s2, here * s3, here * shape, here * before, here * left, here * right,
        here * (left * right)
    """,
)

# The L1 penalty for a step of size 1, chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.003)


class Spelled(NamedTuple):
    """The words of some sentences."""

    #: uint64 (n, LETTERS): see `spell`.
    letters: np.ndarray
    #: uint32 (n, WORD_FEATURES): see `look_at_words`.
    places: np.ndarray
    #: int64 (sentences + 1,): the first word of each sentence, and n.
    starts: np.ndarray


class AllowedTags(NamedTuple):
    """The tags that are allowed for a word in each context, and the number of features."""

    #: `HISTORY`, `NEIGHBOURS` or `OWN`.
    features: int
    #: uint64: the allowed tags of all contexts in a row.
    tags: np.ndarray
    #: int64: the tags of context c are ``tags[starts[c + 1] : starts[c + 2]]``.
    starts: np.ndarray


class Guesses(NamedTuple):
    """The k most probable tags of n words, each given the tags of the words before."""

    #: (n, k): the codes of the tags, the most probable first; -1 where there are fewer than k.
    tags: NDArray[np.int64]
    #: (n, k): the probabilities of the tags.
    chances: NDArray[np.float32]

    @classmethod
    def empty(cls, words: int, k: int) -> Self:
        """Make room for the guesses of some words."""
        return cls(np.full((words, k), -1), np.zeros((words, k), dtype=np.float32))


@kernel
@takes("uint8[::1], int64[:, ::1], out uint64[:, ::1]")
def spell(raw: np.ndarray, spans: np.ndarray, letters: np.ndarray) -> None:
    """Hash the form, affixes and shape of each word.

    `raw`, uint8 (b,), and `spans`, int64 (n, 11), are as in `Sentence`, for any number of
    sentences. `letters`, uint64 (n, 13), is written: the form; the form in lower case; its last 1
    to 5 characters and its first 1 to 4, in lower case; its shape; its length.
    """
    for i in range(spans.shape[0]):
        start = spans[i, 1]
        stop = spans[i, 2] - 1
        letters[i, FORM] = hash_bytes(raw, start, stop, False)
        letters[i, FOLDED] = hash_bytes(raw, start, stop, True)
        for k in range(5):
            letters[i, SUFFIX_1 + k] = hash_bytes(
                raw, suffix_start(raw, start, stop, k + 1), stop, True
            )
        for k in range(4):
            letters[i, PREFIX_1 + k] = hash_bytes(
                raw, start, prefix_stop(raw, start, stop, k + 1), True
            )
        letters[i, SHAPE] = shape(raw, start, stop)
        letters[i, LENGTH] = np.uint64(min(stop - start, 10))


@kernel
def _look(letters: np.ndarray, first: int, last: int, i: int, column: int) -> np.uint64:
    """Return a hash of word `i`; outside the sentence, a code of the distance from it."""
    if i < first:
        return np.uint64(1000 + first - i)
    if i >= last:
        return np.uint64(2000 + i - last)
    return letters[i, column]


@kernel
def _capitals(letters: np.ndarray, first: int, last: int) -> np.uint64:
    """Return the share of capitalized words in a sentence, in quarters rounded down (0 to 4)."""
    words = 0
    capitals = 0
    for i in range(first, last):
        words += (letters[i, SHAPE] & np.uint64(7)) != 0
        capitals += letters[i, SHAPE] & np.uint64(1) != 0
    return np.uint64(0) if words == 0 else np.uint64(4 * capitals // words)


@kernel
@takes("uint64[:, ::1], int64[::1], out uint32[:, ::1]")
def look_at_words(letters: np.ndarray, starts: np.ndarray, places: np.ndarray) -> None:
    """Compute the weight indices of the features that depend only on the words.

    `letters` is uint64 (n, 13). `starts`, int64 (sentences + 1,), has the first word of each
    sentence, and n. `places`, uint32 (n, WORD_FEATURES), is written.
    """
    indices = np.empty(WORD_FEATURES, dtype=np.uint64)
    room = values_of(_WORDS, LETTERS + len(_WHERE) + 2)
    atoms = room.values
    for sentence in range(starts.size - 1):
        first = starts[sentence]
        last = starts[sentence + 1]
        atoms[LETTERS + len(_WHERE) + 1] = _capitals(letters, first, last)
        for i in range(first, last):
            for column in range(LETTERS):
                atoms[column] = letters[i, column]
            for k in range(len(_WHERE)):
                atoms[LETTERS + k] = _look(letters, first, last, i + _WHERE[k, 0], _WHERE[k, 1])
            atoms[LETTERS + len(_WHERE)] = i == first
            fill(_WORDS, room, PLACES, indices, 0)
            for template in range(WORD_FEATURES):
                places[i, template] = indices[template]


@kernel
def _look_at_tags(
    letters: np.ndarray,
    first: int,
    last: int,
    i: int,
    context: np.ndarray,
    tag: np.uint64,
    tag_2: np.uint64,
    room: Values,
    places: np.ndarray,
) -> None:
    """Compute the weight indices of the tag features of word `i`, as many as `places` holds.

    `context` is an earlier stage's result. `tag` is this stage's tag of the word before, and
    `tag_2` of the word before it.
    """
    atoms = room.values
    atoms[0] = mix(tag, np.uint64(1))
    atoms[1] = tag_2
    atoms[2] = letters[i, FOLDED]
    atoms[3] = letters[i, SUFFIX_2]
    atoms[4] = letters[i, SUFFIX_3]
    atoms[5] = letters[i, SHAPE]
    atoms[6] = _look(letters, first, last, i + 1, FOLDED)
    atoms[7] = _look(letters, first, last, i + 1, SUFFIX_3)
    atoms[8] = np.uint64(context[i - 1] + 1 if i > first else 1000001)
    atoms[9] = np.uint64(context[i + 1] + 1 if i + 1 < last else 1000002)
    atoms[10] = np.uint64(context[i + 2] + 1 if i + 2 < last else 1000003)
    atoms[11] = np.uint64(context[i] + 1)
    fill(_TAGS, room, PLACES, places, WORD_FEATURES)


@kernel
def _rank(tags: np.ndarray, scores: np.ndarray, unit: float, out: Guesses, i: int) -> None:
    """Write the most probable of `tags`, best first, and their probabilities into row i."""
    guesses, chances = out
    count = min(guesses.shape[1], tags.size)
    for k in range(count):
        at = -1
        for candidate in range(tags.size):
            taken = False
            for earlier in range(k):
                taken |= guesses[i, earlier] == candidate
            if not taken and (at < 0 or scores[candidate] > scores[at]):
                at = candidate
        guesses[i, k] = at
    highest = float(scores[guesses[i, 0]])
    total = 0.0
    for candidate in range(tags.size):
        total += np.exp((float(scores[candidate]) - highest) * unit)
    for k in range(count):
        at = guesses[i, k]
        chances[i, k] = np.exp((float(scores[at]) - highest) * unit) / total
        guesses[i, k] = np.int64(tags[at])


@kernel
@takes(
    "parsers.tagger.kernels.Spelled(uint64[:, ::1], uint32[:, ::1], int64[::1]), int64[::1], "
    "int64[::1], parsers.tagger.kernels.AllowedTags(int64, uint64[::1], int64[::1]), weight[::1], "
    "out sum[::1], out int64[::1], float64, parsers.tagger.kernels.Guesses("
    "out int64[:, ::1], out float32[:, ::1]), int64[::1], out float32[:, ::1]"
)
def tag_words(
    words: Spelled,
    order: np.ndarray,  # int64: the sentences to tag, in this order
    context: np.ndarray,  # int64 (n,): an earlier stage's result for each word; -1 is unknown
    allowed: AllowedTags,
    weights: np.ndarray,  # int8 or float32 (PLACES + tags,)
    scores: np.ndarray,  # int32 or float32 (tags,): scratch
    tags: np.ndarray,  # int64 (n,): filled for these sentences
    unit: float,  # the unit of the weights, for probabilities
    # written, up to the number of allowed tags of a word; with k = 0, there are no guesses
    guesses: Guesses,
    # int64 (n,): the gold tags. Empty: no training. A word whose gold tag is not allowed is
    # skipped.
    gold: np.ndarray,
    # float32 (2, PLACES + tags): for training: the table of `Learned`, of which `weights` are the
    # first row. Changed.
    learned: np.ndarray,
) -> None:
    """Tag sentences greedily from left to right; also train, by AdaGrad, if `gold` is given.

    O(features · tags) a word. Also in training, the previous tag is the predicted tag.
    """
    # Indices are unsigned, so that Numba does not check for negative indices: this halves the time.
    places = np.empty(allowed.features, dtype=np.uint64)
    room = values_of(_TAGS, 12)
    letters, word_places, starts = words
    none = scores.size
    for sentence in order:
        first = starts[sentence]
        last = starts[sentence + 1]
        tag = tag_2 = np.uint64(none)
        for i in range(first, last):
            here = context[i] + 1 if allowed.features == OWN else 0
            choices = allowed.tags[allowed.starts[here] : allowed.starts[here + 1]]
            best = 0
            if choices.size > 1:
                for template in range(WORD_FEATURES):  # a slice would take long to compile
                    places[template] = word_places[i, template]
                _look_at_tags(letters, first, last, i, context, tag, tag_2, room, places)
                best = best_class(weights, places, choices, scores)
                if guesses.tags.shape[1]:
                    _rank(choices, scores, unit, guesses, i)
            elif guesses.tags.shape[1]:
                guesses.tags[i, 0] = choices[0]
                guesses.chances[i, 0] = 1
            tag_2 = tag
            tag = choices[best]
            tags[i] = tag
            if gold.size and choices.size > 1:
                _learn(places, choices, scores, best, gold[i], learned)


@kernel
def _learn(
    places: np.ndarray,
    tags: np.ndarray,
    scores: np.ndarray,
    best: int,
    gold: int,
    learned: np.ndarray,
) -> None:
    """Take a gradient step for one word; `best` is the index in `tags` of the highest score."""
    right = np.searchsorted(tags, np.uint64(gold)) if gold >= 0 else tags.size
    if right < tags.size and tags[right] == np.uint64(gold):
        to_probabilities(scores[: tags.size], scores[best])
        for k in range(tags.size):
            learn(learned, places, tags[k], scores[k], k == right, _PENALTY)
