"""Reading plain text files: UTF-8 text in pieces or lines, and tokenized sentences."""

from __future__ import annotations

import codecs
import io
import re
from itertools import chain
from typing import IO, TYPE_CHECKING, Final

from arborescence.errors import TreebankError
from arborescence.system.files import opened
from arborescence.treebank.conllu import inflated
from arborescence.treebank.encodings import REMEDY, UTF8, in_utf8
from arborescence.treebank.sentence import Sentence
from arborescence.treebank.surface import AFTER, escaped

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n)")
_BLANKS: Final = " \t\n\r\v\f"
_SPACE: Final = re.compile(f"[{_BLANKS}]+")
_UNUSUAL: Final = re.compile(f"[{_BLANKS[1:]}]|  ")  # a gap that is not one space
#: The largest number of characters in a line.
LONGEST_LINE: Final = 1 << 20


def read_tokens(
    source: str | os.PathLike[str] | IO[bytes], *, encoding: str = UTF8
) -> Iterator[Sentence]:
    r"""Read tokenized sentences: one sentence on each line, with spaces between words.

    Parameters
    ----------
    source
        A path, an open binary file, or ``"-"`` for the standard input; gzip is recognized by its
        first bytes. Empty lines are skipped. Spaces other than one, between words, are kept in
        MISC, and each sentence knows its place (`Sentence.ranges`).
    encoding
        As in `read`.

    Yields
    ------
    Sentence

    Raises
    ------
    TreebankError
        If a line is not UTF-8, or has more than 2^20 characters; the message names the line.

    Examples
    --------
    >>> import io
    >>> [sentence.forms for sentence in read_tokens(io.BytesIO(b"Trees grow .\n\nDo n't they ?"))]
    [['Trees', 'grow', '.'], ['Do', "n't", 'they', '?']]
    """
    offset = 0
    for line in whole_lines(source, encoding):
        text = line.strip(_BLANKS)
        if text:
            sentence = (
                _spaced(text) if _UNUSUAL.search(text) else Sentence.from_words(text.split(" "))
            )
            start = offset + len(line) - len(line.lstrip(_BLANKS))
            yield Sentence(sentence.raw, sentence.spans, offset=start)
        offset += len(line)


def _spaced(text: str) -> Sentence:
    """Read a line with gaps other than one space. No-break spaces may stand within a word."""
    misc = ["_" if gap == " " else AFTER + escaped(gap) for gap in _SPACE.findall(text)]
    return Sentence.from_words(_SPACE.split(text), misc=[*misc, "_"])


def read_lines(source: str | os.PathLike[str] | IO[bytes], encoding: str = UTF8) -> Iterator[str]:
    """Read lines without their ends; TreebankError for a line longer than `LONGEST_LINE`."""
    return (line.rstrip("\r\n") for line in whole_lines(source, encoding))


def whole_lines(source: str | os.PathLike[str] | IO[bytes], encoding: str = UTF8) -> Iterator[str]:
    """Read lines as `read_lines`, with their ends."""
    with opened(source) as (file, name):
        held, number = "", 1
        line_ends = io.IncrementalNewlineDecoder(None, translate=False)  # keeps CR LF together
        pieces = in_utf8(inflated(file, name), name, encoding)
        decoded = map(line_ends.decode, _decoded(pieces, name))
        last = (line_ends.decode("", final=True) for _ in range(1))
        for piece in chain(decoded, last):
            text = held + piece
            end = max(text.rfind("\n"), text.rfind("\r")) + 1
            lines, held = _LINE.findall(text, 0, end), text[end:]
            for at, line in enumerate([*lines, held], number):
                if len(line.rstrip("\r\n")) > LONGEST_LINE:
                    raise TreebankError(
                        f"{name}:{at}: a line of more than {LONGEST_LINE:,} characters: cut it"
                    )
            number += len(lines)
            yield from lines
        if held:
            yield held


def read_pieces(source: str | os.PathLike[str] | IO[bytes], encoding: str = UTF8) -> Iterator[str]:
    """Read a text (also gzip, "-" for stdin) in constant memory, without a byte order mark.

    Line ends stay unchanged. TreebankError names the file and the line if the text is not UTF-8 or
    damaged.
    """
    with opened(source) as (file, name):
        yield from _decoded(in_utf8(inflated(file, name), name, encoding), name)


def _decoded(pieces: Iterator[bytes], name: str) -> Iterator[str]:
    """Decode UTF-8 in pieces; an error names the file and the line."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = 1
    for data in chain(filter(None, pieces), [b""]):
        try:
            yield decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            lines += error.object.count(b"\n", 0, error.start)
            raise TreebankError(
                f"{name}:{lines}: byte {error.object[error.start]:#04x} is not UTF-8: {REMEDY}"
            ) from error
        lines += data.count(b"\n")
