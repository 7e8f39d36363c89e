"""Where sentences come from: files or the standard input, in several formats."""

from __future__ import annotations

import sys
from enum import StrEnum
from itertools import chain
from typing import IO, TYPE_CHECKING

from arborescence.errors import TreebankError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arborescence.treebank import Sentence


class Format(StrEnum):
    """How the input of `parse` is written."""

    conllu = "conllu"
    tokens = "tokens"
    text = "text"


class Skipped:
    """Counts the broken sentences that were left out."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def __call__(self, error: Exception) -> None:
        """Note one broken sentence."""
        self.first = self.first or str(error)
        self.count += 1

    def report(self) -> None:
        """Say on stderr how many there were, and what was wrong with the first."""
        if self.count:
            what = "sentence" if self.count == 1 else "sentences"
            sys.stderr.write(f"skipped {self.count} broken {what}; the first: {self.first}\n")


def hinting(sentences: Iterator[Sentence]) -> Iterator[Sentence]:
    """Pass CoNLL-U on; if it is something else from the first line on, say how to parse that."""
    found = False
    try:
        for sentence in sentences:
            found = True
            yield sentence
    except TreebankError as error:
        if found or "where CoNLL-U has 10" not in str(error):
            raise
        raise TreebankError(
            f"{error}; for raw text give --format text, for words with spaces between them "
            "--format tokens"
        ) from error


def readers_of(
    format: Format,  # noqa: A002
    language: str,
    skipped: Skipped | None,
) -> Callable[[str | IO[bytes]], Iterator[Sentence]]:
    """Return the function that reads a file of this format."""
    if format is Format.conllu:
        from arborescence.treebank import read

        return lambda file: read(file, skip_invalid=skipped)
    from arborescence.text import read_text, read_tokens

    if format is Format.tokens:
        return read_tokens
    return lambda file: read_text(file, language=language)


def sentences_of(
    files: list[str] | None, reader: Callable[[str], Iterator[Sentence]]
) -> Iterator[Sentence]:
    """Read one file after the other; the standard input if there are none."""
    if not files and sys.stdin.isatty():
        sys.stderr.write("reading from the terminal; Ctrl-D ends the input\n")
    return chain.from_iterable(map(reader, files or ["-"]))
