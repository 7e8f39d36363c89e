"""The raw-text models of a parser: a tokenizer and a lemmatizer, saved in its model file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

from arborescence.errors import TreebankError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.text.lemmas import Lemmatizer
from arborescence.parsers.text.tokenizer import Tokenizer
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.plain import read_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

_VERSION: Final = 1
_FIELDS: Final = {"tokenizer": scheme.MAPPING, "lemmatizer": scheme.MAPPING_OR_NULL}


class Text:
    """The models that turn raw text into words with lemmas.

    Attributes
    ----------
    tokenizer : Tokenizer
        Splits text into sentences and words.
    lemmatizer : Lemmatizer or None
        Finds the lemmas of tagged words; None if the treebank has no lemmas.
    """

    def __init__(self, tokenizer: Tokenizer, lemmatizer: Lemmatizer | None) -> None:
        self.tokenizer = tokenizer
        self.lemmatizer = lemmatizer

    @classmethod
    def train(
        cls, treebank: Iterable[Sentence], *, rng: Rng = 0, progress: Progress | None = None
    ) -> Self:
        """Train on a treebank; see `Tokenizer.train` and `Lemmatizer.train`."""
        treebank = list(treebank)
        tokenizer = Tokenizer.train(treebank, rng=rng, progress=progress)
        try:
            read = Reading.of(treebank).sentences(treebank)
            lemmatizer = Lemmatizer.train(read, rng=rng, progress=progress)
        except TreebankError:
            lemmatizer = None
        return cls(tokenizer, lemmatizer)

    def read(
        self,
        source: str | os.PathLike[str] | IO[bytes],
        *,
        lines: bool | None = None,
        warn: Callable[[str], None] | None = None,
        encoding: str = UTF8,
    ) -> Iterator[Sentence]:
        """Read raw text: see `Parser.read_text`."""
        name = ""
        if isinstance(source, (str, os.PathLike)) and source != "-":
            name = Path(source).name.removesuffix(".gz").removesuffix(".txt")
        name = "-".join(name.split())
        pieces = read_pieces(source, encoding)
        return self.tokenizer.stream(pieces, lines=lines, name=name, warn=warn)

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file; see `from_file`."""
        tokenizer, arrays = self.tokenizer.to_file()
        parts = {"tokenizer/": arrays}
        lemmatizer = None
        if self.lemmatizer:
            lemmatizer, parts["lemmatizer/"] = self.lemmatizer.to_file()
        header = {"version": _VERSION, "tokenizer": tokenizer, "lemmatizer": lemmatizer}
        return header, scheme.joined(parts)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore the models from the output of `to_file`.

        Raises
        ------
        ModelError
            If header and arrays do not match each other, or come from another version.
        """
        fields = scheme.fields_of_part("text", header, _FIELDS, _VERSION)
        lemmatizer = fields["lemmatizer"]
        return cls(
            Tokenizer.from_file(fields["tokenizer"], scheme.part(arrays, "tokenizer/")),
            None
            if lemmatizer is None
            else Lemmatizer.from_file(lemmatizer, scheme.part(arrays, "lemmatizer/")),
        )
