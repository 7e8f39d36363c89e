r"""The white space of a text in the column MISC, as in UDPipe and Universal Dependencies.

``SpaceAfter=No``: no space follows a token; ``SpacesAfter=\n``: white space other than one space
follows; ``SpacesBefore=\s``: white space stands before the first word;
``SpacesInToken=10\u00A0000``: the token in the text, if its form has other white space.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.sentence import Sentence

NOT_SPACED: Final = "SpaceAfter=No"
AFTER, BEFORE, WITHIN = "SpacesAfter=", "SpacesBefore=", "SpacesInToken="
#: The white space between two paragraphs without an entry in MISC.
BETWEEN_PARAGRAPHS: Final = "\n\n"

_NAMES: Final = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
_CHARACTERS: Final = {name[1]: character for character, name in _NAMES.items()}
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))")
# Groups: the number of a word, or of the first word of a multiword token; of its last word; FORM;
# MISC.
_TOKEN: Final = re.compile(r"^(\d+)(?:-(\d+))?\t([^\t]*)\t.*\t([^\t\n]*)$", re.MULTILINE)


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


def surface(sentence: Sentence) -> Iterator[Surface]:
    """Yield the tokens of a sentence, without words of multiword tokens and empty nodes."""
    done = 0
    for begin, end, form, misc in _TOKEN.findall(str(sentence)):
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


def raw_text(sentences: Iterable[Sentence]) -> str:
    r"""Put the text of sentences together again.

    For the sentences that `Parser.parse` and `Parser.split` make of a text, the result is the same
    text, character by character.

    Parameters
    ----------
    sentences
        Sentences in the order of the text. Without an entry in MISC, one space follows a token, and
        a blank line a paragraph.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import arborescence as arb
    >>> text = "  Birds\u00a0sing.\n\n\nTrees don't.\n"
    >>> parsed = arb.load("english")(text)
    >>> print(parsed[0].misc[0])
    SpacesAfter=\u00A0|SpacesBefore=\s\s
    >>> raw_text(parsed) == text
    True
    """
    pieces: list[str] = []
    after: str | None = ""  # None: MISC has no entry
    for sentence in sentences:
        if pieces and after in (None, "") and begins_paragraph(sentence):
            after = BETWEEN_PARAGRAPHS
        for token in surface(sentence):
            pieces.append(" " if after is None else after)
            pieces.append(token.value(BEFORE) or "")
            pieces.append(token.value(WITHIN) or token.form)
            after = "" if NOT_SPACED in token.misc else token.value(AFTER)
    return "".join([*pieces, after or ""])


def begins_paragraph(sentence: Sentence) -> bool:
    """Return whether a comment says that a paragraph or a document begins."""
    return any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments)
