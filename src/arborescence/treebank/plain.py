"""Reading plain text files: UTF-8 text in pieces or lines, and tokenized sentences."""

from __future__ import annotations

import codecs
import io
from itertools import chain
from typing import IO, TYPE_CHECKING, Final

from arborescence.errors import TreebankError
from arborescence.system.files import opened
from arborescence.treebank.conllu import inflated
from arborescence.treebank.encodings import REMEDY, UTF8, in_utf8
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

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
        first bytes. Empty lines are skipped.
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
    for line in read_lines(source, encoding):
        # bytes.split() does not split at no-break spaces, which may stand within a word.
        words = [word.decode() for word in line.encode().split()]
        if words:
            yield Sentence.from_words(words)


def read_lines(source: str | os.PathLike[str] | IO[bytes], encoding: str = UTF8) -> Iterator[str]:
    """Read lines without their ends; TreebankError for a line longer than `LONGEST_LINE`."""
    with opened(source) as (file, name):
        held, number = "", 1
        line_ends = io.IncrementalNewlineDecoder(None, translate=True)
        pieces = in_utf8(inflated(file, name), name, encoding)
        decoded = map(line_ends.decode, _decoded(pieces, name))
        for piece in chain(decoded, [line_ends.decode("", final=True) + "\n"]):
            *lines, held = (held + piece).split("\n")
            for at, line in enumerate([*lines, held], number):
                if len(line) > LONGEST_LINE:
                    raise TreebankError(
                        f"{name}:{at}: a line of more than {LONGEST_LINE:,} characters: cut it"
                    )
            number += len(lines)
            yield from lines


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
