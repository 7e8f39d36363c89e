"""Quotation marks and brackets at the ends of sentences, and the spaces within quotation marks.

A model that has learned from quotations without inner spaces takes a mark between two spaces for a
sentence. So it reads « Oui » without the inner spaces. Ideographic full stops end sentences.
Afterwards, no sentence begins with a closing mark, ends with an opening mark, or has nothing but
marks.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.parsers.shared.reading import Read, edited
from arborescence.parsers.text.characters import (
    CLOSING,
    COMMA,
    LOWER,
    NO_GAP,
    OPENING,
    PARAGRAPH,
    QUOTE,
    TERMINAL,
)
from arborescence.parsers.text.sentences import FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

_SPACE: Final = r"([^\S\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+)"
# Nothing but a space or an opening mark stands before an opening mark, so German »Ja!« is kept.
_OPENS: Final = r"(?<![^\s(\[{'’—–-])"
_CLOSES: Final = r"(?=[\s.,;:!?…)\]}]|\Z)"
#: A mark and the space on its inner side. The marks of typewriters show this side only in pairs.
_OPENING: Final = re.compile(rf"{_OPENS}[«“‹]{_SPACE}(?=\S)")
_CLOSING: Final = re.compile(rf"(?<=\S){_SPACE}[»”›]{_CLOSES}")
_PAIR: Final = re.compile(rf'{_OPENS}"{_SPACE}(?=\S)[^"\r\n]+?{_SPACE}"{_CLOSES}')
#: The ideographic full stop of Chinese and Japanese.
FULL_STOP: Final = "\u3002"
_BEFORE_LETTER: Final = re.compile(rf"{FULL_STOP}(?=\w)")
_KINDS: Final = np.array([TERMINAL, COMMA, QUOTE, OPENING, CLOSING], dtype=np.uint64)


def without_spaces(read: Read, text: str, known: Container[str]) -> Read:
    """Return how a text is read, without the spaces within quotation marks. O(n).

    Parameters
    ----------
    read
        The text as a model reads it.
    text
        The text as it was given.
    known
        The characters of the model's treebank: spaces within these marks are kept, except within
        the marks of typewriters.
    """
    # Most texts have few of the marks, and the search for a mark is faster than that for a pattern.
    patterns = [
        pattern
        for pattern, marks in ((_OPENING, "«“‹"), (_CLOSING, "»”›"))
        if any(mark in text for mark in marks)
    ]
    found = chain.from_iterable(pattern.finditer(text) for pattern in patterns)
    spans = [match.span(1) for match in found if match[0].strip() not in known]
    pairs = _PAIR.finditer(text) if '"' in text else ()
    spans += chain.from_iterable((match.span(1), match.span(2)) for match in pairs)
    if not spans:
        return read
    dropped = np.zeros(len(text), dtype=np.bool_)
    for start, stop in spans:
        dropped[start:stop] = True
    starts = np.arange(len(text) + 1) if read.starts is None else read.starts
    places = np.flatnonzero(dropped[starts[:-1]]).tolist()
    shorter, again = edited(read.text, ((place, place + 1, "") for place in places))
    return Read(shorter, starts[again])


def before_spaces(read: Read, text: str) -> NDArray[np.int64]:
    """Return the places after which a space was dropped, in the text as the model reads it."""
    if read.starts is None:
        return np.zeros(0, dtype=np.int64)
    skipping = np.flatnonzero(np.diff(read.starts) > 1).tolist()
    after = read.starts[1:].tolist()
    places = [i for i in skipping if text[after[i] - 1].isspace() and not read.text[i].isspace()]
    return np.array(places, dtype=np.int64)


def at_full_stops(text: str) -> NDArray[np.int64]:
    """Return the places of ideographic full stops before letters: words end there. O(n).

    >>> at_full_stops("\u732b\u3002\u72ac\u3002").tolist()
    [1]
    """
    places = (each.start() for each in _BEFORE_LETTER.finditer(text))
    return np.fromiter(places, dtype=np.int64)


def end_at_full_stops(
    scores: NDArray[np.float64],
    letters: NDArray[np.uint64],
    gaps: NDArray[np.uint8],
    text: str,
    starts: NDArray[np.int64],
) -> None:
    """End a sentence at each ideographic full stop outside of brackets. O(t).

    No space follows it. But treebanks have one sentence for each text, so where a model has learned
    from them, their sentences are joined by spaces, and it may wait for a space.

    Parameters
    ----------
    scores, letters, gaps
        As for `mend`.
    text, starts
        The text, and where the tokens begin in it.
    """
    if FULL_STOP not in text:
        return
    depth = 0
    kinds = [*letters[:, FIRST].tolist(), 0]
    for t, (start, gap) in enumerate(zip(starts.tolist(), gaps.tolist(), strict=True)):
        depth = max(depth + (kinds[t] == OPENING) - (kinds[t] == CLOSING), 0)
        goes_on = depth or kinds[t + 1] in (CLOSING, QUOTE, TERMINAL)
        if text[start] == FULL_STOP and not goes_on:
            scores[t] = max(scores[t], 1.0)
        if gap >= PARAGRAPH:
            depth = 0


def mend(scores: NDArray[np.float64], letters: NDArray[np.uint64], gaps: NDArray[np.uint8]) -> None:
    """Move the ends of sentences to the correct side of quotation marks and brackets. O(t).

    Parameters
    ----------
    scores
        (t,): the score of a sentence end after each token; changed.
    letters
        (t, LETTERS): the tokens, see `sentences.spell`.
    gaps
        (t,): the gap after each token.
    """
    marks = np.isin(letters[:, FIRST], _KINDS) & np.isin(letters[:, LAST], _KINDS)
    if not marks.any():
        return
    tokens = _Marks(letters[:, FIRST], gaps)
    last = -1  # of the sentence before
    for t in np.flatnonzero(scores > 0).tolist():
        if scores[t] <= 0 or gaps[t] >= PARAGRAPH:
            last = t if scores[t] > 0 else last
            continue
        stop = t
        while stop > last and tokens.opens(stop):
            stop -= 1
        if stop == t:
            while gaps[stop] < PARAGRAPH and tokens.closes(stop + 1):
                stop += 1
        if stop != t:
            score, scores[t] = scores[t], -1.0
            if stop > last and not (stop > t and tokens.goes_on(stop)):
                scores[stop] = max(scores[stop], score)
            t = stop
        if t > last and scores[t] > 0 and marks[last + 1 : t + 1].all():
            _join(scores, gaps, last, t)
        if scores[t] > 0:
            last = t


def _join(scores: NDArray[np.float64], gaps: NDArray[np.uint8], before: int, last: int) -> None:
    """Join a sentence of marks, after token `before`, to its neighbour."""
    if before >= 0 and gaps[before] < PARAGRAPH:
        scores[before] = -1.0
    elif gaps[last] < PARAGRAPH:
        scores[last] = -1.0


class _Marks:
    """The tokens that are opening and closing marks."""

    def __init__(self, kinds: NDArray[np.uint64], gaps: NDArray[np.uint8]) -> None:
        self._kinds = kinds
        self._gaps = gaps
        quotes = kinds == QUOTE
        counts = np.cumsum(quotes)
        begins = np.concatenate(([True], gaps[:-1] >= PARAGRAPH))
        first = np.maximum.accumulate(np.where(begins, counts - quotes, 0))
        self._is_second = (counts - first) % 2 == 0

    def opens(self, t: int) -> bool:
        """Return whether a token is an opening mark."""
        return self._kinds[t] == OPENING or (self._kinds[t] == QUOTE and self._side(t) < 0)

    def closes(self, t: int) -> bool:
        """Return whether a token is a closing mark."""
        return self._kinds[t] == CLOSING or (self._kinds[t] == QUOTE and self._side(t) > 0)

    def goes_on(self, t: int) -> bool:
        """Return whether a sentence goes on after a token."""
        return t + 1 < self._kinds.size and self._kinds[t + 1] in (LOWER, COMMA, TERMINAL)

    def _side(self, t: int) -> int:
        """Return -1 for an opening quotation mark, and 1 for a closing mark."""
        before = t == 0 or self._gaps[t - 1] != NO_GAP
        after = self._gaps[t] != NO_GAP
        if before != after:
            if after:
                return 1
            # "...and there, but not " , said
            is_mark = self._kinds[t + 1] in (COMMA, TERMINAL) and self._gaps[t + 1] != NO_GAP
            return 1 if is_mark else -1
        return 1 if self._is_second[t] else -1
