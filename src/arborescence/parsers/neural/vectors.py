"""Pretrained word vectors, read from the text formats of word2vec, fastText and GloVe.

A line has a word and D numbers; word2vec and fastText begin with the number of words and D. The
most frequent words come first.
"""

from __future__ import annotations

import itertools
import re
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.core.checks import check_count
from arborescence.errors import ModelError, TreebankError
from arborescence.system.files import opened
from arborescence.treebank.conllu import inflated

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence

#: The number of most frequent words that are kept, besides the wanted words.
MOST_FREQUENT: Final = 100_000

_LONGEST_LINE: Final = 2**20
_LARGEST: Final = float(np.finfo(np.float32).max)
_FORM: Final = re.compile(r"[^\t\r]+")
_BOM: Final = b"\xef\xbb\xbf"


class Vectors(NamedTuple):
    """Words and their vectors."""

    #: The row of each word in `table`, from 1.
    words: dict[str, int]
    #: (V + 1, D): the vectors. Row 0, for unknown words, is zero.
    table: NDArray[np.float32]

    @classmethod
    def read(
        cls,
        source: str | os.PathLike[str] | IO[bytes],
        wanted: Collection[str] = (),
        most: int = MOST_FREQUENT,
    ) -> Self:
        """Read the vectors of the wanted words, and of the first `most` lines.

        `source` may be a gzip file, or "-". ModelError, with file and line: no vectors, another
        number of columns, a value that is not finite, or more than 1 % of words that are not UTF-8
        (with fewer, these words are skipped: word2vec cuts some words within a character).
        """
        check_count(most, "most", 0)
        try:
            with opened(source) as (file, name):
                words, rows = _kept(_lines(inflated(file, name), name), name, wanted, most)
        except TreebankError as error:  # the gzip data are damaged
            raise ModelError(str(error)) from error
        table = np.stack([np.zeros_like(rows[0]), *rows])
        return cls(words, table)

    def scaled(self) -> Self:
        """Return the vectors with mean square 1, so that one learning rate fits any file."""
        size = np.sqrt(np.mean(self.table[1:].astype(np.float64) ** 2)) or 1.0
        return self._replace(table=(self.table / size).astype(np.float32))


def words_of(treebank: Iterable[Sentence]) -> set[str]:
    """Return the forms of a treebank, as they are and in lower case."""
    forms = {form for sentence in treebank for form in sentence.forms}
    return forms | {form.lower() for form in forms}


def row_of(form: str, words: dict[str, int]) -> int:
    """Return the row of a form, else the row of the form in lower case, else 0."""
    return words.get(form) or words.get(form.lower(), 0)


def _kept(
    lines: Iterator[tuple[str, bytes]], name: str, wanted: Collection[str], most: int
) -> tuple[dict[str, int], list[NDArray[np.float32]]]:
    """Return the rows of the words to keep, and their vectors."""
    words: dict[str, int] = {}
    rows: list[NDArray[np.float32]] = []
    size = seen = 0
    strange: list[str] = []  # the places of words that are not UTF-8
    for at, line in lines:
        if not size:
            first = line.split()
            has_header = len(first) == 2 and all(field.isdigit() for field in first)
            size = int(first[1]) if has_header else len(first) - 1
            if size < 1:
                raise ModelError(
                    f"{at}: neither a word with numbers, nor the numbers of words and columns"
                )
            if has_header:
                continue
        seen += 1
        word = _word(line, size, at)
        if word is None:
            strange.append(at)
        elif word in words or not _FORM.fullmatch(word):
            continue  # only a word's first line counts; no sentence can have a form with tabs
        elif seen <= most or word in wanted:
            rows.append(_numbers(line, size, at))
            words[word] = len(rows)
    if not seen:
        raise ModelError(f"{name}: no vectors: the file is empty")
    if 100 * len(strange) > seen:
        raise ModelError(f"{strange[0]}: the word is not UTF-8: convert the file first")
    if not rows:
        raise ModelError(f"{name}: has none of the wanted words")
    return words, rows


def _word(line: bytes, size: int, at: str) -> str | None:
    """Return the word before `size` numbers; None if the word is not UTF-8.

    The word may have spaces, but no number at its end: that would be one number too many.
    """
    if line.count(b" ") == size:  # the usual case, in a third of the time
        word = line[: line.find(b" ")]
    else:
        word, *numbers = line.rsplit(None, size)
        *_, last = word.split()
        if len(numbers) < size or (last != word and _is_number(last)):
            raise ModelError(
                f"{at}: {len(line.split()) - 1} numbers, but the first line says {size}"
            )
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None


def _numbers(line: bytes, size: int, at: str) -> NDArray[np.float32]:
    fields = line.rsplit(None, size)[1:]
    try:
        with np.errstate(over="ignore"):
            vector = np.array(fields, dtype=np.float32)
    except ValueError:
        vector = np.full(size, np.nan, dtype=np.float32)
    if not np.isfinite(vector).all():
        [wrong, *_] = (field for field in fields if not _is_number(field))
        raise ModelError(f"{at}: {wrong.decode(errors='replace')!r} is not a finite number")
    return vector


def _is_number(field: bytes) -> bool:
    try:
        return bool(abs(float(field)) <= _LARGEST)
    except ValueError:
        return False


def _lines(pieces: Iterable[bytes], name: str) -> Iterator[tuple[str, bytes]]:
    """Yield ``FILE:LINE`` and the text of each line that is not blank, without its end."""
    held, number = b"", 0
    for piece in itertools.chain(pieces, [b"\n"]):
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            number += 1
            line = (line.removeprefix(_BOM) if number == 1 else line).rstrip()
            if line:
                yield f"{name}:{number}", line
        if len(held) > _LONGEST_LINE:
            raise ModelError(
                f"{name}:{number + 1}: no end of the line within {len(held)} bytes: these are no "
                "vectors in text form (word2vec's binary form cannot be read)"
            )
