"""Tagger kernels: the features of words and tags, greedy left-to-right tagging.

The classifier is that of `shared.classifier`; its classes are the tags.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared.classifier import (
    best_class,
    learn,
    to_places,
    to_probabilities,
)
from arborescence.parsers.shared.hashing import hash_bytes, mix, prefix_stop, shape, suffix_start

#: The number of feature indices. The table has one more weight for each tag, for the last index.
PLACES: Final = 1 << 22

#: The columns of `spell`'s array.
FORM, FOLDED, SUFFIX_1, PREFIX_1, SHAPE, LENGTH = 0, 1, 2, 7, 11, 12
LETTERS: Final = 13
SUFFIX_2, SUFFIX_3 = SUFFIX_1 + 1, SUFFIX_1 + 2

#: The number of features that depend only on the words.
WORD_FEATURES: Final = 43
#: The number of features of a stage. `HISTORY`: it also looks at its own tags of the previous
#: words. `NEIGHBOURS`: also at an earlier stage's tags of the neighbours. `OWN`: also at an earlier
#: stage's tag of the word itself.
HISTORY: Final = WORD_FEATURES + 7
NEIGHBOURS: Final = HISTORY + 6
OWN: Final = NEIGHBOURS + 9

# The L1 penalty per step of size 1. Chosen on the dev set of English-EWT.
_PENALTY: Final = np.float32(0.003)


@kernel
def spell(raw: np.ndarray, spans: np.ndarray, letters: np.ndarray) -> None:
    """Hash the form, affixes and shape of each word.

    Parameters
    ----------
    raw : uint8, shape (b,)
    spans : int64, shape (n, 11)
        As in `Sentence`, for any number of sentences.
    letters : uint64, shape (n, 13)
        Filled: the form; the same in lower case; its last 1 to 5 characters and its first 1 to 4,
        in lower case; its shape; its length.
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
def _look(letters: np.ndarray, first: int, last: int, i: int, what: int) -> np.uint64:
    """Return hash `what` of word `i`, or a code of its distance from the sentence if outside."""
    if i < first:
        return np.uint64(1000 + first - i)
    if i >= last:
        return np.uint64(2000 + i - last)
    return letters[i, what]


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
def look_at_words(letters: np.ndarray, starts: np.ndarray, places: np.ndarray) -> None:
    """Compute the weight indices of the features that depend only on the words.

    Parameters
    ----------
    letters : uint64, shape (n, 13)
    starts : int64, shape (sentences + 1,)
        The first word of each sentence, and n.
    places : uint32, shape (n, WORD_FEATURES)
        Filled.
    """
    found = np.empty(WORD_FEATURES, dtype=np.uint64)
    for sentence in range(starts.size - 1):
        first = starts[sentence]
        last = starts[sentence + 1]
        capitals = _capitals(letters, first, last)
        for i in range(first, last):
            word = letters[i, FOLDED]
            suffix_2 = letters[i, SUFFIX_2]
            suffix_3 = letters[i, SUFFIX_3]
            looks = mix(letters[i, SHAPE], np.uint64(i == first))
            left = _look(letters, first, last, i - 1, FOLDED)
            left_2 = _look(letters, first, last, i - 2, FOLDED)
            right = _look(letters, first, last, i + 1, FOLDED)
            right_2 = _look(letters, first, last, i + 2, FOLDED)
            left_suffix = _look(letters, first, last, i - 1, SUFFIX_3)
            right_suffix = _look(letters, first, last, i + 1, SUFFIX_3)
            left_shape = _look(letters, first, last, i - 1, SHAPE)
            right_shape = _look(letters, first, last, i + 1, SHAPE)
            both_shapes = mix(letters[i, SHAPE], right_shape)

            found[0] = letters[i, FORM]
            found[1] = word
            found[2] = left
            found[3] = left_2
            found[4] = right
            found[5] = right_2
            found[6] = mix(left, word)
            found[7] = mix(word, right)
            found[8] = mix(left, right)
            for k in range(5):
                found[9 + k] = letters[i, SUFFIX_1 + k]
            for k in range(4):
                found[14 + k] = letters[i, PREFIX_1 + k]
            found[18] = looks
            found[19] = mix(letters[i, SHAPE], suffix_2)
            found[20] = mix(left_shape, letters[i, SHAPE])
            found[21] = both_shapes
            found[22] = left_suffix
            found[23] = right_suffix
            found[24] = _look(letters, first, last, i - 1, SUFFIX_2)
            found[25] = _look(letters, first, last, i + 1, SUFFIX_2)
            found[26] = mix(left_2, left)
            found[27] = mix(right, right_2)
            found[28] = mix(letters[i, LENGTH], letters[i, SHAPE])
            found[29] = mix(right_suffix, suffix_3)
            found[30] = mix(left_suffix, suffix_3)
            found[31] = mix(mix(left, word), right)
            found[32] = mix(suffix_3, letters[i, PREFIX_1 + 2])
            found[33] = mix(capitals, looks)
            found[34] = mix(left_shape, both_shapes)
            found[35] = mix(both_shapes, _look(letters, first, last, i + 2, SHAPE))
            found[36] = mix(suffix_3, looks)
            found[37] = mix(left, letters[i, SHAPE])
            found[38] = mix(right, letters[i, SHAPE])
            found[39] = mix(word, capitals)
            found[40] = mix(right, suffix_3)
            found[41] = mix(left, suffix_3)
            found[42] = mix(left_2, word)
            to_places(found, 0, PLACES)
            for template in range(WORD_FEATURES):
                places[i, template] = found[template]


@kernel
def _look_at_tags(
    letters: np.ndarray,
    first: int,
    last: int,
    i: int,
    context: np.ndarray,
    tag: np.uint64,
    tag_2: np.uint64,
    places: np.ndarray,
) -> None:
    """Compute the weight indices of the tag features of word `i`, as many as `places` has room for.

    `context` holds an earlier stage's result for every word. `tag` and `tag_2` are this stage's
    tags of the previous word and of the word before that.
    """
    before = mix(tag, np.uint64(1))
    before_2 = mix(before, tag_2)
    word = letters[i, FOLDED]
    suffix_3 = letters[i, SUFFIX_3]
    at = WORD_FEATURES
    places[at] = before
    places[at + 1] = before_2
    places[at + 2] = mix(before, word)
    places[at + 3] = mix(before, _look(letters, first, last, i + 1, FOLDED))
    places[at + 4] = mix(before, suffix_3)
    places[at + 5] = mix(before_2, word)
    places[at + 6] = mix(before_2, _look(letters, first, last, i + 1, SUFFIX_3))
    if places.size > HISTORY:
        left = np.uint64(context[i - 1] + 1 if i > first else 1000001)
        right = np.uint64(context[i + 1] + 1 if i + 1 < last else 1000002)
        right_2 = np.uint64(context[i + 2] + 1 if i + 2 < last else 1000003)
        at = HISTORY
        places[at] = right
        places[at + 1] = mix(right, right_2)
        places[at + 2] = mix(right, word)
        places[at + 3] = mix(left, right)
        places[at + 4] = mix(mix(left, right), word)
        places[at + 5] = mix(right, suffix_3)
        if places.size > NEIGHBOURS:
            here = np.uint64(context[i] + 1)
            at = NEIGHBOURS
            places[at] = here
            places[at + 1] = mix(here, word)
            places[at + 2] = mix(here, letters[i, SUFFIX_2])
            places[at + 3] = mix(here, suffix_3)
            places[at + 4] = mix(here, letters[i, SHAPE])
            places[at + 5] = mix(here, before)
            places[at + 6] = mix(here, left)
            places[at + 7] = mix(here, right)
            places[at + 8] = mix(here, mix(left, right))
    to_places(places, WORD_FEATURES, PLACES)


@kernel
def _rank(
    tags: np.ndarray,
    scores: np.ndarray,
    unit: float,
    guesses: np.ndarray,
    chances: np.ndarray,
    i: int,
) -> None:
    """Write the most probable of `tags`, best first, and their probabilities into row i."""
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
def tag_words(
    letters: np.ndarray,
    word_places: np.ndarray,
    starts: np.ndarray,
    order: np.ndarray,
    features: int,
    context: np.ndarray,
    allowed: np.ndarray,
    allowed_starts: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
    tags: np.ndarray,
    unit: float,
    guesses: np.ndarray,
    chances: np.ndarray,
    gold: np.ndarray,
    learned: np.ndarray,
) -> None:
    """Tag sentences greedily from left to right; train the weights too if `gold` is given.

    A log-linear model, trained by AdaGrad (`descend`). Also in training, the previous tag is the
    predicted one. O(features · tags) per word.

    Parameters
    ----------
    letters, word_places, starts
        As in `look_at_words`.
    order : int64
        The sentences to tag, in this order.
    features
        `HISTORY`, `NEIGHBOURS` or `OWN`.
    context : int64, shape (n,)
        An earlier stage's result for each word; -1 is unknown.
    allowed, allowed_starts : uint64 and int64
        The tags allowed for a word with context c are ``allowed[allowed_starts[c + 1] :
        allowed_starts[c + 2]]``.
    weights : int8 or float32, shape (PLACES + tags,)
    scores : int32 or float32, shape (tags,)
        Scratch.
    tags : int64, shape (n,)
        Filled for these sentences.
    unit
        The unit of the weights, for probabilities.
    guesses, chances : int64 and float32, shape (n, k)
        Filled with the k most probable tags of each word, given the tags before it, and their
        probabilities; -1 and 0 where a word has fewer choices. With k = 0, they are not looked for.
    gold : int64, shape (n,)
        The gold tags. Empty: no training. A word whose gold tag is not allowed is skipped.
    learned : float32, shape (2, PLACES + tags)
        For training: the table of `Learned`, of which `weights` are the first row. Changed.

    Notes
    -----
    Indices are unsigned, so that Numba does not check for negative ones. This halves the time.
    """
    places = np.empty(features, dtype=np.uint64)
    none = scores.size
    for sentence in order:
        first = starts[sentence]
        last = starts[sentence + 1]
        tag = tag_2 = np.uint64(none)
        for i in range(first, last):
            here = context[i] + 1 if features == OWN else 0
            choices = allowed[allowed_starts[here] : allowed_starts[here + 1]]
            best = 0
            if choices.size > 1:
                for template in range(WORD_FEATURES):  # a slice would take long to compile
                    places[template] = word_places[i, template]
                _look_at_tags(letters, first, last, i, context, tag, tag_2, places)
                best = best_class(weights, places, choices, scores)
                if guesses.shape[1]:
                    _rank(choices, scores, unit, guesses, chances, i)
            elif guesses.shape[1]:
                guesses[i, 0] = choices[0]
                chances[i, 0] = 1
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
