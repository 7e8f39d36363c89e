"""The letter case of words, as numbers: many encoders read lower-cased words.

The network scales and shifts a word's vector by its letter case (Perez et al. 2018, FiLM).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The number of kinds of letter case. 0: words without letters or without case, and the root.
CASES: Final = 8
_LOWER, _BEGINS, _INITIAL, _LETTER, _CAPITALS, _MIXED, _LOUD = range(1, CASES)


def letter_cases(words: Sequence[str]) -> list[int]:
    """Return the letter case of each word of a sentence, 0 to ``CASES - 1``.

    An initial capital says less in the first word than in the others, and capitals say little in a
    sentence where no word is lower-case: these have numbers of their own.

    >>> letter_cases(["When", "I", "saw", "the", "NASA", "iPad", "in", "Rome", "..."])
    [2, 4, 1, 1, 5, 6, 1, 3, 0]
    >>> letter_cases(["HELP", "!"])
    [7, 0]
    """
    cases = [_case(word, number == 0) for number, word in enumerate(words)]
    if _LOWER not in cases:
        loud = {_CAPITALS, _LETTER}
        cases = [_LOUD if case in loud else case for case in cases]
    return cases


def _case(word: str, is_first: bool) -> int:
    """Return the letter case of a word, as if others were lower-case."""
    if word.islower():
        return _LOWER
    if word.isupper():
        return _CAPITALS if len(word) > 1 else _LETTER
    if word == word.lower():
        return 0
    if word[0].isupper() and word[1:].islower():
        return _BEGINS if is_first else _INITIAL
    return _MIXED
