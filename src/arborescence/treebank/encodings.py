"""Bytes of a text file in UTF-8, whatever its encoding is, if that is said."""

from __future__ import annotations

import codecs
from itertools import chain
from typing import TYPE_CHECKING, Final

from arborescence.errors import OptionError, TreebankError

if TYPE_CHECKING:
    from collections.abc import Iterator

UTF8: Final = "utf-8"
#: What a file that is not UTF-8 begins with; UTF-32 before UTF-16, whose mark it begins with.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ENOUGH: Final = 4096  # bytes, in which UTF-16 without a mark shows
#: What the errors add that refuse bytes.
REMEDY: Final = "name the encoding of the file, such as encoding='latin-1'"


def check_encoding(encoding: str) -> None:
    """Raise OptionError if Python knows no such encoding of text."""
    try:
        b"a".decode(encoding, "replace")
    except (LookupError, ValueError):
        raise OptionError(
            f"encoding must be one that Python knows, such as 'latin-1', not {encoding!r}"
        ) from None


def in_utf8(pieces: Iterator[bytes], name: str, encoding: str = UTF8) -> Iterator[bytes]:
    """Pass the bytes of a file on in UTF-8; TreebankError if they look like another encoding."""
    # Without an `encoding` they are not checked, but for its first bytes: who reads them does that
    check_encoding(encoding)
    if codecs.lookup(encoding).name != UTF8:
        yield from _recoded(pieces, name, encoding)
        return
    first = next(pieces, b"")
    mark = next((mark for mark in _MARKS if first.startswith(mark)), None)
    if mark:
        raise TreebankError(
            f"{name}: begins with the byte order mark of {_MARKS[mark].upper()}, which is not "
            f"UTF-8: give encoding={_MARKS[mark]!r}"
        )
    if 4 * first[:_ENOUGH].count(0) > len(first[:_ENOUGH]):
        later = first[1:_ENOUGH:2].count(0) > first[:_ENOUGH:2].count(0)
        raise TreebankError(
            f"{name}: a quarter of its bytes are zeros, as in UTF-16, which is not UTF-8: give "
            f"encoding='utf-16-{'le' if later else 'be'}'"
        )
    yield first
    yield from pieces


def _recoded(pieces: Iterator[bytes], name: str, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for data in chain(filter(None, pieces), [b""]):
        before = decoder.getstate()
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            decoder.setstate(before)
            good = decoder.decode(data[: max(error.start - len(before[0]), 0)])
            line += good.count("\n")
            byte = error.object[error.start]
            raise TreebankError(
                f"{name}:{line}: byte {byte:#04x} is not {encoding}: {REMEDY}"
            ) from error
        line += text.count("\n")
        yield text.encode()
