"""Text as arrays of characters: code point, kind, white space after it, and offset.

A run of white space is one space; a blank line ends a paragraph. A line end is a space, too:
`SHORT_LINE` if the next word would have fitted into the line, since such a line end is probably
intended. After a `LINE` that is an item or a sentence, text begins anew as after a paragraph.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.text.lines import APART, JOINED, WITHIN, Lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    #: Returns for each character of a text, (n,), whether no word ends after the character, and
    #: whether the character is a letter of an unknown script.
    Whole = Callable[[NDArray[np.uint32]], tuple[NDArray[np.bool_], NDArray[np.bool_]]]

#: The number of padding cells on each side of a paragraph, so that kernels need no bounds checks.
PADDING: Final = 5
#: The code in padding, above all characters.
NOTHING: Final = 0x110000

#: The gap after a character: another character follows; a space; a line end since the next word
#: would not have fitted; a line end although the next word would have fitted; the end of the
#: paragraph; the end of a line after which text begins anew.
NO_GAP, SPACE, WRAPPED, SHORT_LINE, PARAGRAPH, LINE = range(6)
#: Another character follows, and no word ends between both.
INSIDE: Final = 9

#: Kinds of characters, for word shapes. White space is 0.
UPPER, LOWER, TERMINAL, COMMA, QUOTE, OPENING, CLOSING = 1, 2, 11, 12, 15, 16, 17
_UNCASED: Final = 3
_UNSEEN: Final = 255
_KIND_OF_CATEGORY: Final = {
    "Lu": UPPER, "Lt": UPPER, "Ll": LOWER, "Lo": _UNCASED, "Lm": 7, "Mn": 8, "Mc": 8, "Me": 8,
    "Nd": 9, "Nl": 10, "No": 10, "Pd": 14, "Pi": QUOTE, "Pf": QUOTE, "Ps": OPENING,
    "Pe": CLOSING, "Sc": 24, "Sm": 25, "So": 26, "Sk": 26, "Cf": 27, "Cc": 27,
}  # fmt: skip
_OTHER_PUNCTUATION: Final = 23
_KIND_OF_CHARACTER: Final = (
    dict.fromkeys(".!?…‥。！？؟।．｡۔﹒﹖﹗", TERMINAL)
    | dict.fromkeys(",、，،﹐﹑", COMMA)
    | dict.fromkeys("'’", 13)
    | dict.fromkeys('"„“”«»', QUOTE)
    | dict.fromkeys(":;：；؛", 19)
    | {"/": 20, "@": 21, "#": 22, "_": 28, "%": 29, "*": 30, "=": 31, "~": 31}
)
# East Asian scripts: Han, Hiragana, Katakana.
_KIND_OF_NAME: Final = {"CJK": 4, "HIRAGANA": 5, "KATAKANA": 6, "KATAKANA-HIRAGANA": 6}

_kinds = np.full(NOTHING + 1, _UNSEEN, dtype=np.uint8)
_folded = np.zeros(NOTHING + 1, dtype=np.uint32)
_folded[NOTHING] = NOTHING
_kinds[NOTHING] = 0


class Characters(NamedTuple):
    """The characters of a text, with padding around each paragraph."""

    #: uint32 (n,): code points, in lower case if the lower case is one character; `NOTHING` in
    #: padding; 32 for a space.
    folded: np.ndarray
    #: uint8 (n,): the kind of each character; 0 for a space and in padding.
    kinds: np.ndarray
    #: uint8 (n,): the gap after the character: `NO_GAP`, `SPACE`, `WRAPPED`, `SHORT_LINE`,
    #: `PARAGRAPH`, `LINE` or `INSIDE`.
    gaps: np.ndarray
    #: int64 (n,): the offset in the text; -1 in padding.
    offsets: np.ndarray
    #: int64 (p + 1,): the start of each paragraph (or `LINE`), padding included; the last entry is
    #: n. Without its padding, a paragraph neither begins nor ends with a space.
    paragraphs: np.ndarray

    @classmethod
    def of(
        cls, text: str, marks: NDArray[np.uint8] | None = None, whole: Whole | None = None
    ) -> Characters:
        """Convert a text, which must not contain lone surrogates.

        `marks` is the output of `Lines.marks`; `whole` says after which characters no word ends.
        """
        if marks is None:
            marks = Lines(lines=False).marks(text)
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        kinds = _kinds[codes]
        unseen = kinds == _UNSEEN
        if unseen.any():
            for code in set(codes[unseen].tolist()):
                _look_up(code)
            kinds = _kinds[codes]
        inside = None
        if whole is not None:
            inside, strange = whole(codes)
            # The models have seen no uncased letters of unknown scripts.
            kinds[strange & (kinds == _UNCASED)] = LOWER
        size = codes.size + 2 * PADDING * (1 + np.count_nonzero(marks))
        folded = np.full(size, NOTHING, dtype=np.uint32)
        kept_kinds = np.zeros(size, dtype=np.uint8)
        gaps = np.zeros(size, dtype=np.uint8)
        offsets = np.full(size, -1)
        paragraphs = np.empty(2 + np.count_nonzero(marks), dtype=np.int64)
        room = cls(folded, kept_kinds, gaps, offsets, paragraphs)
        n, p = _lay_out(marks, kinds, _folded[codes], room)
        if inside is not None and inside.any():
            gaps[(gaps == NO_GAP) & inside[offsets]] = INSIDE
        return cls(folded[:n], kept_kinds[:n], gaps[:n], offsets[:n], paragraphs[: p + 1])


#: `Characters` in signatures of kernels.
CHARACTERS: Final = (
    "parsers.text.characters.Characters("
    "uint32[::1], uint8[::1], uint8[::1], int64[::1], int64[::1])"
)


def _look_up(code: int) -> None:
    """Fill in the kind and lower case of a character, once per process."""
    character = chr(code)
    lower = character.lower()
    _folded[code] = ord(lower) if len(lower) == 1 else code
    if character.isspace():
        kind = 0
    elif character in _KIND_OF_CHARACTER:
        kind = _KIND_OF_CHARACTER[character]
    else:
        category = unicodedata.category(character)
        kind = _KIND_OF_CATEGORY.get(category, _OTHER_PUNCTUATION)
        if category == "Lo":
            kind = _KIND_OF_NAME.get(unicodedata.name(character, "").partition(" ")[0], kind)
    _kinds[code] = kind  # last, because other threads test this entry


@kernel
@takes(
    "uint8[::1], uint8[::1], uint32[::1], parsers.text.characters.Characters("
    "out uint32[::1], out uint8[::1], out uint8[::1], out int64[::1], out int64[::1])"
)
def _lay_out(
    marks: np.ndarray,
    kinds: np.ndarray,
    lower: np.ndarray,
    room: Characters,
) -> tuple[int, int]:
    """Fill the arrays in `room`; return their length and the number of paragraphs. O(n)."""
    folded, kept_kinds, gaps, offsets, paragraphs = room
    n = marks.size
    written = 0
    paragraph = 0
    i = 0
    while True:
        while i < n and kinds[i] == 0:
            i += 1
        if i == n:
            break
        # One paragraph: find its end, and its longest line.
        stop = i  # after its last character that is not a space
        line = i
        width = 0
        line_ends = 0
        at = i
        while at < n and line_ends < 2:
            if kinds[at] != 0:
                stop = at + 1
                line_ends = 0
                if marks[at] == JOINED:
                    line = at
                width = max(width, stop - line)
            elif marks[at] != WITHIN:
                line_ends += 2 if marks[at] == APART else 1
                line = at + 1
            at += 1
        paragraphs[paragraph] = written
        paragraph += 1
        written += PADDING
        line = i
        while i < stop:
            if kinds[i] != 0:
                if marks[i] == JOINED:
                    line = i
                folded[written] = lower[i]
                kept_kinds[written] = kinds[i]
                offsets[written] = i
                written += 1
                i += 1
                continue
            # A run of white space, followed by a word of this paragraph.
            first = i
            broken = False
            next_line = line
            while kinds[i] == 0:
                if marks[i] != WITHIN:
                    broken = True
                    next_line = i + 1
                i += 1
            gap = SPACE
            if broken:
                word = i
                while word < stop and kinds[word] != 0 and word - i <= width:
                    word += 1
                gap = SHORT_LINE if first - line + 1 + word - i <= width else WRAPPED
                line = next_line
            gaps[written - 1] = gap
            folded[written] = 32
            offsets[written] = first
            written += 1
        line_ends = 0
        while i < n and kinds[i] == 0:
            line_ends += marks[i] != WITHIN
            i += 1
        gaps[written - 1] = LINE if i < n and line_ends == 1 else PARAGRAPH
        written += PADDING
    paragraphs[paragraph] = written
    return written, paragraph
