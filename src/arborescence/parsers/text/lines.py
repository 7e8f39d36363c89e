"""Lines of raw text that are items: headlines, tweets, entries of a list, one on a line.

Prose is wrapped where the next word no longer fits into the line, and most lines of it begin in the
middle of a sentence. So lines are items if the next word would have fitted after most of them, and
few begin with a small letter or follow a comma.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

#: The kinds of characters: no line end; a line end within a paragraph; a line end that begins a new
#: text; the first character of a line that is the rest of a word: see `cut_words`.
WITHIN, END, APART, JOINED = range(4)

_LINE: Final = re.compile(r"([^\r\n]*)(\r\n?|\n|\Z)")
# The mark of an entry in a list. Not ">", which cites wrapped text.
_MARK: Final = re.compile(r"\s*(?:([-*+•‣◦▪■●○–—☐☑☒✓✔])|\[[ xX]?\]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+\S")
_GOES_ON: Final = tuple(",;&([{-–—")
# No prose is wrapped at a smaller width: if all lines are shorter, any word would have fitted.
_LEAST_WIDTH: Final = 40
# Lines in lower case are items if all are shorter than `_SHORT`, and there are `_LEAST_LINES`.
_SHORT: Final = 60
_LEAST_LINES: Final = 3
# From this number on, the line ends of a document decide about its short paragraphs.
_ENOUGH: Final = 5
_ITEMS: Final = (
    "short lines are read as items, each by itself: if each line is one sentence, give --format "
    "lines (in Python read_text(..., lines=True)); if sentences go on from line to line, --format "
    "prose (lines=False)"
)


class Count(NamedTuple):
    """Line ends within paragraphs."""

    #: the number of line ends
    ends: int = 0
    #: the number of line ends where the next word would have fitted on the line
    fitting: int = 0
    #: the number of line ends after which a sentence seems to continue
    going_on: int = 0

    @classmethod
    def sum(cls, counts: Iterable[Count]) -> Self:
        """Add counts, at least one."""
        return cls(*map(sum, zip(*counts, strict=True)))

    def is_of_items(self, share: float) -> bool:
        """Return whether most lines are items; `share` is the least share of fitting line ends."""
        return self.fitting >= share * self.ends and 4 * self.going_on <= self.ends


class _Line(NamedTuple):
    """A line with text in it."""

    #: the place of the last character of its line end
    end: int
    #: the number of characters of its text
    width: int
    #: the length of its first word
    first: int
    #: whether it begins with a small letter
    small: bool
    #: whether it ends with a mark
    ended: bool
    #: whether it ends like a line in the middle of a sentence
    goes_on: bool
    #: the mark of an entry in a list: the mark itself, or "1" for numbers and letters
    mark: str

    @classmethod
    def of(cls, text: str, end: int) -> Self:
        """Describe a line."""
        words = text.split(maxsplit=1)
        mark = _MARK.match(text)
        return cls(
            end,
            len(text.rstrip()),
            len(words[0]),
            words[0][0].islower(),
            not text.rstrip()[-1].isalnum(),
            text.rstrip().endswith(_GOES_ON),
            (mark[1] or "1") if mark else "",
        )


class LineBlock(NamedTuple):
    """Lines without a blank line between them."""

    #: the lines
    lines: list[_Line]
    #: for each line but the last, whether the next word would have fitted on it
    fitting: list[bool]
    #: the counts of the block's line ends
    tally: Count

    @classmethod
    def of(cls, lines: list[_Line]) -> Self:
        """Compare each line with the next one."""
        width = max(_LEAST_WIDTH, *(line.width for line in lines))
        pairs = list(pairwise(lines))
        fitting = [line.width + 1 + after.first <= width for line, after in pairs]
        going_on = sum(line.goes_on or after.small for line, after in pairs)
        return cls(lines, fitting, Count(len(pairs), sum(fitting), going_on))

    def is_bare(self) -> bool:
        """Return whether these are short lines without marks at their ends, and of no common width.

        No line of wrapped text has room for the next word within the width of the longest line.
        """
        width = max(line.width for line in self.lines)
        room = sum(line.width + 1 + after.first <= width for line, after in pairwise(self.lines))
        if width >= _SHORT or len(self.lines) < _LEAST_LINES:
            return False
        return 3 * room >= len(self.lines) - 1 and not any(line.ended for line in self.lines)

    def entries(self) -> list[bool]:
        """Return for each line but the last whether the next one is an entry of a list."""
        marks = [line.mark for line in self.lines]
        many = {mark: 2 * marks.count(mark) >= len(marks) for mark in {*marks} - {""}}
        several = {mark for mark in many if marks.count(mark) > 1}
        return [
            mark in several and (fits or many[mark])
            for mark, fits in zip(marks[1:], self.fitting, strict=True)
        ]


class Lines:
    """The kinds of the line ends of a text, by its lines and by earlier lines of the text.

    Attributes
    ----------
    lines : bool or None
        True: each line is a sentence. False: line ends are spaces. None: the text decides.
    """

    def __init__(self, lines: bool | None, tell: Callable[[str], None] | None = None) -> None:
        # tell: called with a message where lines are first taken for items
        self.lines = lines
        self._tell = tell
        self._seen = Count()
        self._blocks: list[LineBlock] = []

    def marks(self, text: str) -> NDArray[np.uint8]:
        """Return `WITHIN`, `END` or `APART` for each character of a text. O(characters)."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        ends = codes == ord("\n")
        returns = codes == ord("\r")
        returns[:-1] &= ~ends[1:]
        marks: NDArray[np.uint8] = (ends | returns).astype(np.uint8)
        if self.lines:
            marks *= np.uint8(APART)
            return marks
        if self.lines is None and marks.any():
            self._blocks = list(_blocks(text))
            known = Count.sum([self._seen, *(block.tally for block in self._blocks)])
            for block in self._blocks:
                self._mark(block, known, marks)
        return marks

    def remember(self, used: int) -> None:
        """Keep the counts of the text up to a character, for the text that follows it."""
        past = [block.tally for block in self._blocks if block.lines[-1].end < used]
        self._seen = Count.sum([self._seen, *past])

    def _mark(self, block: LineBlock, known: Count, marks: NDArray[np.uint8]) -> None:
        own, entries = block.tally, block.entries()
        are_items = (
            known.ends >= _ENOUGH and known.is_of_items(0.4) and 4 * own.going_on <= own.ends
        )
        is_list = any(entries) and 3 * sum(entries) >= own.ends  # its lines may be wrapped
        if not is_list and (are_items or own.is_of_items(0.5) or block.is_bare()):
            entries = [True] * own.ends
            if self._tell:
                self._tell(_ITEMS)
                self._tell = None
        for line, apart in zip(block.lines, entries, strict=False):
            if apart:
                marks[line.end] = APART


def _blocks(text: str) -> Iterator[LineBlock]:
    """Yield the blocks of two lines or more."""
    lines: list[_Line] = []
    for match in _LINE.finditer(text):
        if match[1].strip():
            lines.append(_Line.of(match[1], match.end() - 1))
            if match[2]:
                continue
        if len(lines) > 1:
            yield LineBlock.of(lines)
        lines = []


def last_end(text: str, marks: NDArray[np.uint8], stop: int) -> int:
    """Return the place after the last paragraph or item that ends before `stop`; 0 without any."""
    ends = np.flatnonzero(marks[:stop])
    for before, end in zip(ends[-2::-1].tolist(), ends[:0:-1].tolist(), strict=True):
        if marks[end] == APART or not text[before:end].strip():
            return int(end) + 1
    return int(ends[0]) + 1 if ends.size and marks[ends[0]] == APART else 0
