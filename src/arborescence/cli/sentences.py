"""Read sentences from files or the standard input, in several formats."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from functools import partial
from io import BytesIO
from itertools import chain
from operator import add
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeVar

from arborescence.cli.outputs import KINDS, ending_of, ends
from arborescence.cli.progress import note
from arborescence.errors import ModelError, TreebankError, TreeError, printable
from arborescence.system.files import writing
from arborescence.treebank.dictionaries import rank_of
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from arborescence.integrations.spacy.docs import DocFiles
    from arborescence.parsers import Parser
    from arborescence.treebank import Sentence

    Analyses = list[Sentence]

Item = TypeVar("Item")

#: The input formats of `parse`.
Format = Literal["conllu", "tokens", "text", "lines", "prose"]
#: The input formats of raw text.
TextFormat = Literal["text", "lines", "prose"]
#: The option `lines` for each format of raw text: see `Parser.read_text`.
LINES: Final = {"text": None, "lines": True, "prose": False}


class Skipped:
    """Counts the invalid sentences that were left out, their words and their lines."""

    def __init__(self) -> None:
        self.lost = 0, 0, 0
        self.first = ""

    def __call__(self, error: Exception) -> None:
        """Count an invalid sentence."""
        self.add(getattr(error, "lost", (1, 0, 0)), str(error))

    def add(self, lost: tuple[int, int, int], first: str) -> None:
        """Count some sentences; `first` is the error of the first."""
        self.first = self.first or first
        sentences, words, lines = map(add, self.lost, lost)
        self.lost = sentences, words, lines

    def __str__(self) -> str:
        sentences, words, lines = self.lost
        noun = "sentence" if sentences == 1 else "sentences"
        size = f"{_number_of(words, 'word')}, {_number_of(lines, 'line')}"
        return f"skipped {sentences:,} broken {noun} ({size}); the first: {self.first}"

    def report(self) -> None:
        """Write the counts, and the error of the first sentence, on stderr."""
        if self.first:
            sys.stderr.write(f"{printable(str(self))}\n")

    def left(self, sentences: Iterable[Item]) -> Iterator[Item]:
        """Yield the remaining sentences; TreebankError if there are none."""
        number = 0
        for number, sentence in enumerate(sentences, 1):  # noqa: B007
            yield sentence
        if self.first and not number:
            raise TreebankError(f"no sentence is left: {self}")


def _number_of(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def hinting(sentences: Iterator[Sentence]) -> Iterator[Sentence]:
    """Yield sentences of CoNLL-U; if the input is another format, the error names the option."""
    begun = False
    try:
        for sentence in sentences:
            begun = True
            yield sentence
    except TreebankError as error:
        if begun or "where CoNLL-U has 10" not in str(error):
            raise
        raise TreebankError(
            f"{error}; for raw text give --format text, for words with spaces between them "
            "--format tokens"
        ) from error


def is_of_spacy(name: str | None) -> bool:
    """Return whether a file has documents of spaCy."""
    return ends(name, ".spacy")


def documents_of(files: list[str] | None, output: str | None, parser: Parser) -> DocFiles | None:
    """Return the reader and writer of spaCy's documents, if any file has such documents."""
    if not any(map(is_of_spacy, [*(files or ()), output])):
        return None
    from arborescence.integrations.spacy.docs import DocFiles

    return DocFiles(parser.text.tokenizer if parser.text else None)


def readers_of(
    format: Format,  # noqa: A002
    skipped: Skipped | None,
    parser: Parser | None = None,
    encoding: str = UTF8,
    *,
    quiet: bool = False,
) -> Callable[[str | IO[bytes]], Iterator[Sentence]]:
    """Return the function that reads a file of this format; the parser cuts raw text."""
    if format == "conllu":
        from arborescence.treebank import read

        return partial(read, skip_invalid=skipped, encoding=encoding)
    if format == "tokens" or parser is None:
        from arborescence.treebank import read_tokens

        return partial(read_tokens, encoding=encoding)

    written: set[str] = set()  # a message for several files is written once

    def tell(message: str) -> None:
        if message not in written:
            note(f"arborescence: {message}", quiet=quiet)
        written.add(message)

    def cut(file: str | IO[bytes]) -> Iterator[Sentence]:
        try:
            return parser.read_text(file, lines=LINES[format], warn=tell, encoding=encoding)
        except ModelError as error:
            raise ModelError(f"{error} (--format tokens)") from error

    return cut


def given_sentence(
    text: str,
    format: Format | None,  # noqa: A002
    parser: Parser | None,
) -> Iterator[Sentence]:
    """Read the text of --sentence: raw text, or words with spaces between them.

    The format is by default what the model can read.
    """
    if format in (None, "conllu"):
        format = "text" if parser and parser.text else "tokens"  # noqa: A001
    data = BytesIO(os.fsencode(text))  # in the encoding of the system
    return readers_of(format, None, parser, quiet=True)(data)


def split_words(
    read: Callable[[str], Iterator[Sentence]], parser: Parser, quiet: bool, file: str
) -> Iterator[Sentence]:
    """Read a file, split contractions into their words, and report the number of contractions."""
    count = 0

    def given() -> Iterator[Sentence]:
        nonlocal count
        for sentence in read(file):
            count -= len(sentence.multiwords)
            yield sentence

    for sentence in parser.split(given(), contractions=True):
        count += len(sentence.multiwords)
        yield sentence
    if count:
        nouns = "1 contraction was" if count == 1 else f"{count:,} contractions were"
        name = "<stdin>" if file == "-" else file
        note(f"{name}: {nouns} split into words; --keep-words keeps them whole", quiet=quiet)


def sentences_of(
    files: list[str] | None,
    reader: Callable[[str], Iterator[Sentence]],
    documents: DocFiles | None = None,
) -> Iterator[Sentence]:
    """Read one file after the other; without files, read the standard input."""
    if not files and sys.stdin.isatty():
        sys.stderr.write("reading from the terminal; Ctrl-D ends the input\n")
    return chain.from_iterable(
        documents.read(file) if documents and is_of_spacy(file) else reader(file)
        for file in files or ["-"]
    )


def hinted(
    files: list[str] | None,
    format: Format,  # noqa: A002
    parser: Parser,
    encoding: str,
    quiet: bool = False,
) -> Iterator[Sentence]:
    """Read sentences; if the input seems to be another format, the error names the option."""
    sentences = sentences_of(files, readers_of(format, None, parser, encoding, quiet=quiet))
    return hinting(sentences) if format == "conllu" else sentences


def deliver(
    sentences: Iterator[Analyses],
    *,
    output: str | None,
    as_json: bool = False,
    describe: Callable[[Analyses], dict[str, Any]] | None = None,
    write: Callable[[Iterable[Sentence], str], None] | None = None,
    columns: Mapping[str, Any] | None = None,
    text: bool = False,
) -> None:
    """Draw trees if `text`, and write them in the format of the ending or of `as_json`.

    `describe` makes JSON of a sentence, and `write` writes output in place of CoNLL-U. `columns`
    says which columns a table of words has: see `WordTable.of`.
    """
    if text:
        sentences = drawn(sentences)
    if not output:
        deque(sentences, maxlen=0)
    elif ends(output, ".svg"):
        from arborescence.drawing import draw_svg

        kept = list(chain.from_iterable(sentences))
        with writing(output) as file:
            file.write(draw_svg(*kept, titles=[rank_of(tree) for tree in kept]).encode())
    elif ends(output, *KINDS["table"].endings):
        from arborescence.treebank.frames import WordTable
        from arborescence.treebank.tables import write_table

        table = WordTable.of(chain.from_iterable(sentences), **columns or {})
        write_table(table.rows, output, ending_of(output), table.types)
    elif as_json or ends(output, ".json", ".jsonl"):
        with writing(output) as file:
            for analyses in sentences:
                described = describe(analyses) if describe else analyses[0].to_dict()
                file.write(json.dumps(described, ensure_ascii=False).encode() + b"\n")
    else:
        from arborescence.treebank import write as write_conllu

        (write or write_conllu)(chain.from_iterable(sentences), output)


def drawn(sentences: Iterable[Analyses]) -> Iterator[Analyses]:
    """Yield the sentences, and draw their trees on stdout."""
    from arborescence.drawing import draw_text

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for analyses in sentences:
        for sentence in analyses:
            titles = (c for c in sentence.comments if "text =" in c or "kbest_" in c)
            title = "".join(f"{comment}\n" for comment in titles)
            try:
                drawing = draw_text(sentence, color=color)
            except TreeError as error:
                raise TreeError(f"{sentence.source}:{sentence.line}: {error}") from error
            sys.stdout.write(f"{title}{drawing}\n")
        yield analyses
