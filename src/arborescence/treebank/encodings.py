"""Text files of any encoding as bytes in UTF-8."""

from __future__ import annotations

import codecs
from itertools import chain
from typing import TYPE_CHECKING, Final

from arborescence.errors import OptionError, TreebankError

if TYPE_CHECKING:
    from collections.abc import Iterator

UTF8: Final = "utf-8"
#: The byte order marks of files that are not UTF-8. UTF-32 stands before UTF-16, since a mark of
#: UTF-32 begins with a mark of UTF-16.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ENOUGH: Final = 4096  # the number of bytes that are searched for UTF-16 without a mark
#: The advice of errors about invalid bytes.
REMEDY: Final = "name the encoding of the file, such as encoding='cp1252'"


def check_encoding(encoding: str) -> None:
    """Raise OptionError if Python does not know an encoding of text."""
    try:
        b"a".decode(encoding, "replace")
    except (LookupError, ValueError):
        raise OptionError(
            f"encoding must be an encoding that Python knows, such as 'cp1252', not {encoding!r}"
        ) from None


def in_utf8(pieces: Iterator[bytes], name: str, encoding: str = UTF8) -> Iterator[bytes]:
    """Yield the bytes of a file in UTF-8; TreebankError if they are probably another encoding.

    Bytes in UTF-8 are not checked, except the first; the reader checks them.
    """
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
