"""Words that were cut at the end of a line: *exam-* and *ple* on the next line are *example*.

The parts are joined if the model knows the whole word, so compounds such as *well-* / *known* stay.
After a soft hyphen, the model need not know it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.parsers.shared.reading import Read
from arborescence.parsers.text.candidates import number_of
from arborescence.parsers.text.lines import END, JOINED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_SOFT: Final = "\u00ad"
# A hyphen, one line end, and the blanks around it.
_CUT: Final = re.compile(rf"[-\u2010{_SOFT}][ \t]*(\r\n?|\n)[ \t]*")
#: The most characters of a part. Words are not longer, and the search in longer runs ends here.
_LONGEST: Final = 40


def numbers_of(words: Iterable[str]) -> NDArray[np.int64]:
    """Return the hashes by which words are known, in order."""
    return np.array(sorted(set(map(number_of, words))), dtype=np.int64)


def is_known(word: str, numbers: NDArray[np.int64]) -> bool:
    """Return whether the hash of a word is among sorted hashes."""
    place = int(np.searchsorted(numbers, number_of(word)))
    return place < numbers.size and bool(numbers[place] == number_of(word))


def joined(
    text: str, marks: NDArray[np.uint8], known: Callable[[str], bool]
) -> tuple[Read, list[tuple[int, int]]]:
    """Return a text without the hyphens and line ends inside of words.

    Parameters
    ----------
    text
        A text.
    marks : (len(text),) uint8
        The result of `Lines.marks`, changed: the first character of the rest of a word becomes
        `JOINED`.
    known
        Says whether a word is known.

    Returns
    -------
    text : Read
        The text with whole words, and the places of its characters in the given text.
    removed : list of (int, int)
        The starts and stops of the left-out characters in the given text. O(n).
    """
    removed: list[tuple[int, int]] = []
    if not marks.any():
        return Read(text, None), removed
    for match in _CUT.finditer(text):
        start, stop = match.span()
        if marks[match.end(1) - 1] != END:
            continue
        first, second = _letters_before(text, start), _letters_after(text, stop)
        if _may_go_on(first, second) and (text[start] == _SOFT or known(first + second)):
            removed.append((start, stop))
            marks[stop] = JOINED
    if not removed:
        return Read(text, None), removed
    kept = np.ones(len(text) + 1, dtype=np.bool_)
    for start, stop in removed:
        kept[start:stop] = False
    starts, stops = [0, *(stop for _, stop in removed)], [*(start for start, _ in removed), None]
    pieces = (text[start:stop] for start, stop in zip(starts, stops, strict=True))
    return Read("".join(pieces), np.flatnonzero(kept)), removed


def _may_go_on(first: str, second: str) -> bool:
    """Return whether two parts may be one word: not *Jean-* / *Paul*, nor *A-* / *level*."""
    whole = first + second
    return min(len(first), len(second)) > 1 and (second == second.lower() or whole.isupper())


def _letters_before(text: str, stop: int) -> str:
    start = stop
    while start > max(stop - _LONGEST, 0) and _is_letter(text[start - 1]):
        start -= 1
    return text[start:stop]


def _letters_after(text: str, start: int) -> str:
    stop = start
    while stop < min(start + _LONGEST, len(text)) and _is_letter(text[stop]):
        stop += 1
    return text[start:stop]


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter, or a mark over one (NFD)."""
    return character.isalpha() or unicodedata.category(character).startswith("M")
