"""Which words of two treebanks are the same words of the same text.

The rules are those of the CoNLL 2018 shared task: both treebanks must spell the same characters,
spaces aside. A word that is a token of its own matches the word over the same characters. Where
either treebank has multiword tokens, the words over the joint stretch of characters are matched by
the longest common subsequence of their forms.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from arborescence.treebank.sentence import Sentence

# The characters of Unicode's category Zs, which the shared task leaves out of account.
_SPACES = dict.fromkeys([0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000])


class Text:
    """The words of a treebank as stretches of its characters.

    Attributes
    ----------
    sentences
        The sentences themselves.
    offsets
        The number of words before each sentence, and of all words: one more than sentences.
    forms
        The form of each word.
    starts, ends
        Where the token of each word starts and ends in `characters`.
    in_multiword
        Whether that token is a multiword token.
    characters
        All tokens, joined without spaces.
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.offsets = list(accumulate(map(len, sentences), initial=0))
        self.forms: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.in_multiword: list[bool] = []
        tokens: list[str] = []
        end = 0
        for sentence in sentences:
            forms = sentence.forms
            self.forms += forms
            multiwords = {first: (last, form) for first, last, form in sentence.multiwords}
            word = 1
            while word <= len(forms):
                last, form = multiwords.get(word, (word, forms[word - 1]))
                token = form.translate(_SPACES)
                tokens.append(token)
                start, end = end, end + len(token)
                words = last - word + 1
                self.starts += [start] * words
                self.ends += [end] * words
                self.in_multiword += [word in multiwords] * words
                word = last + 1
        self.characters = "".join(tokens)

    def place(self, character: int) -> str:
        """Describe the word that holds a character, for an error message."""
        if character >= len(self.characters):
            return "the end"
        word = bisect_right(self.starts, character) - 1
        index = bisect_right(self.offsets, word) - 1
        sentence = self.sentences[index]
        where = f"{sentence.source}:{sentence.line}" if sentence.source else f"sentence {index + 1}"
        return f"'{self.forms[word]}' ({where}, word {word - self.offsets[index] + 1})"


def align(gold: Text, predicted: Text) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pair the words of two texts.

    Returns
    -------
    gold_words, predicted_words : ndarray, int64, shape (k,)
        Indices of the `k` words that match, ascending.

    Raises
    ------
    TreebankError
        If the texts differ by more than spaces, naming the first words that do.
    """
    if gold.characters != predicted.characters:
        raise TreebankError(_difference(gold, predicted))
    if gold.starts == predicted.starts and gold.forms == predicted.forms:
        words = np.arange(len(gold.forms))
        return words, words
    pairs = _same_tokens(gold, predicted)
    for start, end in _multiword_stretches(gold, predicted):
        ours = _words_within(gold, start, end)
        theirs = _words_within(predicted, start, end)
        common = _longest_common(
            [gold.forms[i].lower() for i in ours], [predicted.forms[i].lower() for i in theirs]
        )
        pairs += [(ours[i], theirs[j]) for i, j in common]
    table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _difference(gold: Text, predicted: Text) -> str:
    pairs = enumerate(zip(gold.characters, predicted.characters, strict=False))
    shorter = min(len(gold.characters), len(predicted.characters))
    at = next((i for i, (ours, theirs) in pairs if ours != theirs), shorter)
    return (
        f"the texts differ: gold has {gold.place(at)} where predicted has {predicted.place(at)}; "
        "only parses of the same text can be compared"
    )


def _same_tokens(gold: Text, predicted: Text) -> list[tuple[int, int]]:
    theirs = {
        (start, end): word
        for word, (start, end) in enumerate(zip(predicted.starts, predicted.ends, strict=True))
        if not predicted.in_multiword[word]
    }
    return [
        (word, theirs[start, end])
        for word, (start, end) in enumerate(zip(gold.starts, gold.ends, strict=True))
        if not gold.in_multiword[word] and (start, end) in theirs
    ]


def _multiword_stretches(gold: Text, predicted: Text) -> list[tuple[int, int]]:
    """Join the multiword tokens of both texts that overlap."""
    stretches: list[tuple[int, int]] = []
    for start, end in sorted(
        {
            (start, end)
            for text in (gold, predicted)
            for start, end, multi in zip(text.starts, text.ends, text.in_multiword, strict=True)
            if multi
        }
    ):
        if stretches and start < stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    return stretches


def _words_within(text: Text, start: int, end: int) -> list[int]:
    first, last = bisect_left(text.starts, start), bisect_left(text.starts, end)
    return [word for word in range(first, last) if text.ends[word] <= end]


def _longest_common(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the items of a longest common subsequence; O(len(ours) · len(theirs))."""
    longest = np.zeros((len(ours) + 1, len(theirs) + 1), dtype=np.int64)
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            longest[i, j] = (
                longest[i + 1, j + 1] + 1
                if ours[i] == theirs[j]
                else max(longest[i + 1, j], longest[i, j + 1])
            )
    pairs = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            pairs.append((i, j))
            i += 1
            j += 1
        elif longest[i, j] == longest[i + 1, j]:
            i += 1
        else:
            j += 1
    return pairs
