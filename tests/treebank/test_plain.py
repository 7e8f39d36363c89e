"""Plain text files: words that stand apart, and pieces of text."""

from __future__ import annotations

import gzip
import io

import pytest

from arborescence.errors import TreebankError
from arborescence.treebank.plain import LONGEST_LINE, read_lines, read_pieces, read_tokens


def test_words_and_lines() -> None:
    file = io.BytesIO(b"\xef\xbb\xbfOld  trees\tgrow .\r\n\r\n \nThey do n't .")
    found = [sentence.forms for sentence in read_tokens(file)]
    assert found == [["Old", "trees", "grow", "."], ["They", "do", "n't", "."]]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n"])
def test_nothing_gives_nothing(text: str) -> None:
    assert list(read_tokens(io.BytesIO(text.encode()))) == []


def test_a_no_break_space_stays_within_its_word() -> None:
    [sentence] = read_tokens(io.BytesIO("10\u00a0000 trees\r\n".encode()))
    assert sentence.forms == ["10\u00a0000", "trees"]


def test_gzip() -> None:
    packed = gzip.compress("Bäume wachsen .\n".encode() * 1000)
    assert len(list(read_tokens(io.BytesIO(packed)))) == 1000


def test_bytes_that_are_no_text() -> None:
    for data, line in ((b"fine\nno\xff\n", 2), (b"\n" * 70000 + b"\xc3", 70001)):
        with pytest.raises(TreebankError, match=rf"<stream>:{line}: byte 0x.. is not UTF-8"):
            list(read_tokens(io.BytesIO(data)))


def test_a_line_without_an_end() -> None:
    """It is refused before much of it is held."""

    class Endless(io.RawIOBase):
        """Gives words for ever, after two lines."""

        given = 0

        def read(self, size: int = -1) -> bytes:
            self.given += 1 << 18
            return b"a " * (1 << 17) if self.given > 1 << 18 else b"fine\n\n"

    file = Endless()
    with pytest.raises(TreebankError, match="<stream>:3: a line of more than 1,048,576 characters"):
        list(read_tokens(file))  # type: ignore[arg-type]
    assert file.given < 1 << 22
    text = "a" * LONGEST_LINE
    for end in ("", "\n", "\nb\n"):
        assert next(iter(read_lines(io.BytesIO((text + end).encode())))) == text
        with pytest.raises(TreebankError, match="<stream>:2: a line of more"):
            list(read_lines(io.BytesIO(f"b\na{text}{end}".encode())))


def test_characters_and_line_ends_may_be_cut_by_pieces() -> None:
    class Slow(io.RawIOBase):
        """Gives one byte at a time."""

        def __init__(self, data: bytes) -> None:
            self._data = io.BytesIO(data)

        def read(self, size: int = -1) -> bytes:
            return self._data.read(1)

    text = "Bäume\r\nwachsen\r🌳\n\r"
    assert "".join(read_pieces(Slow(text.encode()))) == text  # type: ignore[arg-type]
    found = list(read_lines(Slow(text.encode())))  # type: ignore[arg-type]
    assert found == ["Bäume", "wachsen", "🌳", ""]
