"""Pair the sentences of two treebanks, then their words: forms may differ in width, script or cut.

Two sentences are a pair if they have the same letters, or the same ``sent_id``. Then, if both files
have equally many sentences between two pairs, these sentences are paired in their order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.errors import TreebankError
from arborescence.treebank.copies import folded, letters_of
from arborescence.treebank.surface import surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

#: The largest difference of the lengths of two sentences that are paired by order alone, as a share
#: of the longer length.
_UNLIKE: Final = 0.2


class Pair(NamedTuple):
    """A sentence in both annotations, and the pairs of its words.

    Attributes
    ----------
    old, new : Sentence
        The sentence in the old scheme, and in the new one.
    words : ndarray, int64, shape (len(old),)
        The number of each old word in `new`, from 0; -1 if `new` lacks the word.
    """

    old: Sentence
    new: Sentence
    words: NDArray[np.int64]


class Pairing(NamedTuple):
    """The sentences that two treebanks share; see `pair`.

    Attributes
    ----------
    pairs : list of Pair
        In the order of the new treebank.
    words : int
        The number of words of the new treebank, or of the old one if it has fewer.
    """

    pairs: list[Pair]
    words: int

    @property
    def share(self) -> float:
        """The share of words that are paired, from 0 to 1."""
        return sum(int((each.words >= 0).sum()) for each in self.pairs) / max(self.words, 1)


def pair(old: Iterable[Sentence], new: Iterable[Sentence]) -> Pairing:
    """Find the sentences that stand in two treebanks, and pair their words.

    Parameters
    ----------
    old, new
        The sentences in the old annotation, and in the new one. Each file may have sentences that
        the other one lacks.

    Returns
    -------
    Pairing
        The sentences that are in both, with their words.

    Raises
    ------
    TreebankError
        If no word is in both.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> old = [Sentence.from_words(["Don't", "run", "."])]
    >>> new = [Sentence.from_words(["do", "n't", "run", "."])]
    >>> pairing = pair(old, new)
    >>> pairing.pairs[0].words, pairing.share
    (array([-1,  2,  3]), 0.6666666666666666)
    """
    ours, theirs = list(old), list(new)
    matched = _by_keys(ours, theirs)
    matched |= _by_order(ours, theirs, matched)
    pairs = [
        Pair(ours[matched[j]], theirs[j], pair_words(ours[matched[j]], theirs[j]))
        for j in sorted(matched)
    ]
    pairing = Pairing(pairs, min(sum(map(len, ours)), sum(map(len, theirs))))
    if not pairing.share:
        raise TreebankError(
            f"no word of {_named(ours)} is in {_named(theirs)}: "
            "give two files that have the same sentences"
        )
    return pairing


def _named(sentences: Sequence[Sentence]) -> str:
    return (sentences[0].source if sentences else "") or "these sentences"


def pair_words(old: Sentence, new: Sentence) -> NDArray[np.int64]:
    """Return the number in `new` of each word of `old`, from 0; -1 without a pair."""
    ours, theirs = ([folded(form) for form in each.forms] for each in (old, new))
    if ours == theirs:
        return np.arange(len(ours))
    place = _places("".join(ours), "".join(theirs))
    starts, their_starts = (np.cumsum([0, *map(len, each)]) for each in (ours, theirs))
    owner = np.repeat(np.arange(len(theirs)), np.diff(their_starts))
    words = np.full(len(ours), -1)
    for i, (start, stop) in enumerate(pairwise(starts.tolist())):
        known = place[start:stop][place[start:stop] >= 0]
        owners = owner[known]
        if known.size and (owners == owners[0]).all():
            j = int(owners[0])
            inside = place[(place >= their_starts[j]) & (place < their_starts[j + 1])].size
            if inside == known.size and 2 * known.size > len(theirs[j]):
                words[i] = j
    return words


def _places(ours: str, theirs: str) -> NDArray[np.int64]:
    """Return the place of each character of `ours` in `theirs`, -1 if it has no place there."""
    if len(ours) == len(theirs) and _alike(ours, theirs):  # perhaps in another script
        return np.arange(len(ours))
    place = np.full(len(ours), -1)
    for kind, i, i_end, j, j_end in SequenceMatcher(None, ours, theirs, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and i_end - i == j_end - j):
            place[i:i_end] = np.arange(j, j_end)
    return place


def _alike(ours: str, theirs: str) -> bool:
    """Return whether two texts have their letters and signs at the same places."""
    return all(a.isalnum() == b.isalnum() for a, b in zip(ours, theirs, strict=True))


def map_folded(sentence: Sentence) -> str:
    """Return the characters of a sentence's words, folded."""
    return "".join(map(folded, sentence.forms))


def surface_of(sentence: Sentence) -> str:
    """Return the letters of a sentence's tokens: multiword tokens in place of their words."""
    each = (folded(token.form) for token in surface(sentence))
    return "".join(filter(str.isalnum, "".join(each)))


def _by_keys(ours: Sequence[Sentence], theirs: Sequence[Sentence]) -> dict[int, int]:
    """Pair by letters of words, by letters of tokens, then by ``sent_id``: new number to old."""
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for key in (map_folded, letters_of, surface_of, _sent_id):
        waiting: defaultdict[str, deque[int]] = defaultdict(deque)
        for i, sentence in enumerate(ours):
            if i not in taken:
                waiting[key(sentence)].append(i)
        for j, sentence in enumerate(theirs):
            name = key(sentence)
            if j not in matched and name and waiting.get(name):
                matched[j] = waiting[name].popleft()
                taken.add(matched[j])
    return matched


def _sent_id(sentence: Sentence) -> str:
    return sentence.sent_id or ""


def _by_order(
    ours: Sequence[Sentence], theirs: Sequence[Sentence], matched: dict[int, int]
) -> dict[int, int]:
    """Pair the sentences between two pairs, if both treebanks have equally many."""
    paired: dict[int, int] = {}
    ends = [(-1, -1), *sorted(matched.items()), (len(theirs), len(ours))]
    for (j, i), (j_end, i_end) in pairwise(ends):
        if j_end - j == i_end - i:
            for step in range(1, j_end - j):
                a, b = (len(map_folded(each)) for each in (ours[i + step], theirs[j + step]))
                if abs(a - b) <= _UNLIKE * max(a, b):
                    paired[j + step] = i + step
    return paired
