r"""The tokens of a sentence, and the white space around them in the column MISC, as in UDPipe.

``SpaceAfter=No``: no space follows a token; ``SpacesAfter=\n``: white space other than one space
follows; ``SpacesBefore=\s``: white space stands before the first word;
``SpacesInToken=10\u00A0000``: the token in the text, if its form has other white space.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.sentence_like import SentenceLike

    Range = tuple[int, int]

NOT_SPACED: Final = "SpaceAfter=No"
AFTER, BEFORE, WITHIN = "SpacesAfter=", "SpacesBefore=", "SpacesInToken="
#: The entries of MISC about white space that is not one space after a token.
WHITE_SPACE: Final = (AFTER, BEFORE, WITHIN)
RANGE: Final = "TokenRange="
#: The white space between two paragraphs without an entry in MISC.
BETWEEN_PARAGRAPHS: Final = "\n\n"

_NAMES: Final = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
_CHARACTERS: Final = {name[1]: character for character, name in _NAMES.items()}
_RANGE: Final = re.compile(r"(\d+):(\d+)")
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))")
# Groups: the number of a word, or of the first word of a multiword token; of its last word; FORM;
# MISC.
TOKEN: Final = re.compile(r"^(\d+)(?:-(\d+))?\t([^\t]*)\t.*\t([^\t\n]*)$", re.MULTILINE)


_Sentence = TypeVar("_Sentence", bound="SentenceLike")


class Surface(NamedTuple):
    """A token of a sentence: a word, or a multiword token."""

    #: The number of the first word.
    first: int
    #: The number of the last word of a multiword token; 0 for a word.
    last: int
    #: The form.
    form: str
    #: The entries of MISC.
    misc: list[str]

    def value(self, name: str) -> str | None:
        """Return the value in MISC under a name, which ends in ``=``, or None."""
        for entry in self.misc:
            if entry.startswith(name):
                return unescaped(entry[len(name) :])
        return None


def surface(sentence: SentenceLike) -> Iterator[Surface]:
    """Yield the tokens of a sentence, without words of multiword tokens and empty nodes."""
    done = 0
    for begin, end, form, misc in TOKEN.findall(str(sentence)):
        first, last = int(begin), int(end or 0)
        if first > done:
            yield Surface(first, last, form, misc.split("|"))
            done = last or first


def escaped(text: str) -> str:
    r"""Write white space and other characters that do not print in the escapes of MISC.

    >>> print(escaped("a \n\u00a0"))
    a\s\n\u00A0
    """
    return "".join(
        _NAMES.get(c) or (c if c.isprintable() or c > "\uffff" else f"\\u{ord(c):04X}")
        for c in text
    )


def unescaped(value: str) -> str:
    r"""Read the escapes of `escaped`; other escapes stay unchanged.

    >>> unescaped(r"a\s\n\u00A0\x")
    'a \n\xa0\\x'
    """
    return _ESCAPED.sub(_character, value) if "\\" in value else value


def _character(match: re.Match[str]) -> str:
    code, name = match.groups()
    if not code:
        return _CHARACTERS.get(name, match[0])
    character = chr(int(code, 16))
    return match[0] if "\ud800" <= character <= "\udfff" else character


#: The gap before a token, the token, and its characters in the text.
Placed = tuple[str, Surface, str]


def placed_tokens(
    sentences: Iterable[_Sentence],
) -> Iterator[tuple[_Sentence, list[Placed], str]]:
    """Yield each sentence with its tokens, and the white space after its last token."""
    begun = False
    after: str | None = ""  # None: MISC has no entry
    for sentence in sentences:
        if begun and after in (None, "") and begins_paragraph(sentence):
            after = BETWEEN_PARAGRAPHS
        begun = True
        tokens: list[Placed] = []
        for token in surface(sentence):
            gap = (" " if after is None else after) + (token.value(BEFORE) or "")
            tokens.append((gap, token, token.value(WITHIN) or token.form))
            after = "" if NOT_SPACED in token.misc else token.value(AFTER)
        yield sentence, _as_in_comment(sentence.text, tokens), after or ""


def _as_in_comment(text: str | None, tokens: list[Placed]) -> list[Placed]:
    """Return tokens with the gaps of ``# text``; unchanged if the text lacks a token."""
    by_misc = " ".join("".join(gap + written for gap, _, written in tokens).split())
    if text is None or text == by_misc:
        return tokens
    at = 0
    placed: list[Placed] = []
    for gap, token, written in tokens:
        start = at if text.startswith(written, at) else text.find(written, at)
        between = text[at:start] if start >= 0 else written
        if between.strip():
            return tokens
        placed.append((between if placed else gap, token, written))
        at = start + len(written)
    return placed


def ranges_of(sentence: SentenceLike) -> list[Range]:
    """Return the place of each word in the text: see `Sentence.ranges`."""
    [(_, tokens, _)] = placed_tokens([sentence])
    return ranges_in(sentence, tokens)


def ranges_in(sentence: SentenceLike, tokens: list[Placed]) -> list[Range]:
    """Return the places by TokenRange of all tokens, or else by the offset and the gaps."""
    ranges: list[Range] = []
    known = [_RANGE.fullmatch(token.value(RANGE) or "") for _, token, _ in tokens]
    at = (sentence.offset or 0) - len(tokens[0][0])
    for (gap, token, written), given in zip(tokens, known, strict=True):
        start = at + len(gap)
        at = start + len(written)
        here = (int(given[1]), int(given[2])) if given and all(known) else (start, at)
        ranges += [here] * (max(token.last, token.first) - token.first + 1)
    return ranges


def begins_paragraph(sentence: SentenceLike) -> bool:
    """Return whether a comment says that a paragraph or a document begins."""
    return any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments)
