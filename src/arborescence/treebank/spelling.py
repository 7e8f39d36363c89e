"""Sentences in another spelling: as in print, in one case, with combining marks."""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self, get_args

from arborescence.core.choices import Spelling, check_choice
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.treebank.sentence import Sentence

_LINE: Final = re.compile(r"(\d+(?:-\d+)?)\t([^\t]+)(\t.*\t)([^\t]*)")
_QUOTES: Final = {"typographic": "“”", "guillemets": "«»"}
_DOUBLE: Final = ('"', "``", "''")
_DASHES: Final = {"--": "—", "---": "—", "-": "–"}
_STRAIGHT: Final = str.maketrans(
    {**dict.fromkeys("“”„«»", '"'), **dict.fromkeys("’‘", "'"), "—": "--", "–": "-", "…": "..."}
)
#: The marks before which French has a no-break space.
_AFTER_SPACE: Final = ("!", "?", ";", ":", "%")
#: The entries of MISC for white space after a token other than one space.
_AFTER: Final = {
    "SpaceAfter=No": "", r"SpacesAfter=\u202F": "\u202f", r"SpacesAfter=\u00A0": "\u00a0"
}  # fmt: skip


def respelled(sentences: Iterable[Sentence], spelling: Spelling) -> Iterator[Sentence]:
    """Return sentences in another spelling, for training or evaluation; trees and tags stay.

    Parameters
    ----------
    sentences
        Sentences with ``SpaceAfter=No`` for tokens without a space after them.
    spelling
        ``"typographic"``: ’ ‘ “ ” – — … in place of the marks of typewriters; ``"guillemets"``:
        the same with « », and no-break spaces (U+00A0, U+202F); ``"straight"``: the way back;
        ``"lower"``, ``"upper"``: in one case; ``"nfd"``: with combining marks.

    Yields
    ------
    Sentence
        A sentence with other forms, and another comment ``# text``.

    Raises
    ------
    OptionError
        If the spelling is unknown.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> said = Sentence.from_words(['"', "Don't", '"'], misc=["SpaceAfter=No"] * 3)
    >>> [printed] = respelled([said], "typographic")
    >>> printed.forms
    ['“', 'Don’t', '”']
    """
    check_choice("spelling", spelling, get_args(Spelling))
    for sentence in sentences:
        yield from read(io.BytesIO("".join(_lines(sentence, spelling)).encode()))


@dataclass
class _Token:
    """A line of a token, or of a word of a multiword token."""

    #: The column ID.
    number: str
    #: The column FORM.
    form: str
    #: The columns between, with tabs at both ends.
    columns: str
    #: The column MISC without entries on white space.
    misc: str
    #: The white space after the token.
    after: str
    #: Whether the line is of a word of a multiword token.
    is_part: bool

    @classmethod
    def of(cls, line: str, last: int) -> Self | None:
        """Read a line; the words up to `last` belong to earlier tokens."""
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        number, form, columns, misc = match.groups()
        known = [part for part in misc.split("|") if part in _AFTER]
        is_part = int(number.partition("-")[0]) <= last
        rest = "|".join(part for part in misc.split("|") if part not in _AFTER)
        return cls(number, form, columns, rest, _AFTER[known[0]] if known else " ", is_part)

    def __str__(self) -> str:
        after = [name for name, space in _AFTER.items() if space == self.after and not self.is_part]
        misc = "|".join([*(part for part in [self.misc] if part not in ("", "_")), *after]) or "_"
        return f"{self.number}\t{self.form}{self.columns}{misc}"


def _lines(sentence: Sentence, spelling: Spelling) -> Iterator[str]:
    last = 0
    lines: list[str | _Token] = []
    for line in str(sentence).strip("\n").split("\n"):
        token = _Token.of(line, last)
        lines.append(token or line)
        if token and not token.is_part:
            last = int(token.number.rpartition("-")[2])
    tokens = [line for line in lines if isinstance(line, _Token)]
    whole = [token for token in tokens if not token.is_part]
    if spelling in _QUOTES:
        _quote(whole, _QUOTES[spelling])
    written = ""
    for token in tokens:
        form = _other(token.form, spelling)
        if not token.is_part:
            written = form
        # A word of a multiword token changes only if the token has its new form, or only in case.
        if form in written or spelling in ("lower", "upper"):
            token.form = form
    if spelling == "guillemets":
        _space(whole)
    text = "".join(token.form + token.after for token in whole).strip()
    for each in lines:
        yield f"# text = {text}\n" if str(each).startswith("# text =") else f"{each}\n"
    yield "\n"


def _quote(tokens: Sequence[_Token], marks: str) -> None:
    """Replace opening and closing quotation marks; spaces tell them apart, else earlier marks."""
    opened = False
    before = " "
    for token in tokens:
        if token.form in (*_DOUBLE, "'"):
            opens = bool(before) if bool(before) != bool(token.after) else not opened
            if token.form == "'":
                token.form = "‘" if opens and before else "’"
            else:
                opened = opens
                token.form = marks[0 if opens else 1]
        elif token.form in _DASHES:
            token.form = _DASHES[token.form]
        before = token.after


def _space(tokens: Sequence[_Token]) -> None:
    """Put the spaces of French typography between tokens."""
    for token, after in pairwise(tokens):
        if token.form == "«" or after.form == "»":
            token.after = "\u00a0"
        elif token.after == " " and after.form in _AFTER_SPACE:
            token.after = "\u202f"


def _other(form: str, spelling: Spelling) -> str:
    """Return a form in a spelling."""
    if spelling == "lower":
        return form.lower()
    if spelling == "upper":
        return form.upper()
    if spelling == "nfd":
        return unicodedata.normalize("NFD", form)
    if spelling == "straight":
        return form.translate(_STRAIGHT)
    return form.replace("'", "’").replace("...", "…")
