"""A parser of several languages that finds the language of each document by itself."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias, TypeVar, cast

from arborescence.errors import ModelError
from arborescence.parsers import registry
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.given import batches
from arborescence.parsers.text.identifier import ENOUGH
from arborescence.parsers.text.model import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    from numpy.typing import NDArray

    from arborescence.core.budget import Budget
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.given import Given, Texts
    from arborescence.treebank import Sentence

    _Result = TypeVar("_Result")
    # The module of this class imports this module, so the class has no type here.
    MultilingualParser: TypeAlias = Any

#: The comment that says in which language a sentence is read.
_COMMENT: Final = "# language = "


class AutoParser(Parser):
    """A parser of several languages that finds the language of each document by itself.

    Loaded by `arborescence.load` with ``language="auto"``. A document is a text, a file, or
    sentences from ``# newdoc`` to ``# newdoc``. Its first 200 words decide. Each sentence gets the
    comment ``# language = de``; a sentence that has such a comment already is read in that
    language.

    Attributes
    ----------
    parser : MultilingualParser
        The parser of one of the languages; all have the same network.
    labels : tuple of str
        The relations of all languages.
    text : Text
        Cuts raw text as the language of a document does.

    Examples
    --------
    >>> parser = arborescence.load("multi", language="auto")  # doctest: +SKIP
    >>> birds, owls = parser(texts=["Vögel singen.", "Owls hoot."])  # doctest: +SKIP
    >>> birds.comments[-1]  # doctest: +SKIP
    '# language = de'
    """

    kind: ClassVar[str] = "multilingual"

    def __init__(self, parser: MultilingualParser) -> None:
        """Find languages by the identifier of a parser; ModelError if it has none."""
        if parser.identifier is None:
            raise ModelError("it cannot find the language of a text: name the language")
        self.parser = parser
        self.identifier = parser.identifier
        self._parsers = {parser.language: parser}
        known = parser.inventory.treebanks
        names = [header["treebank"] for header, _ in parser.languages.values()]
        relations = (
            known[name].root_relations + known[name].relations for name in names if name in known
        )
        self.labels = tuple(sorted(set().union(*relations)))
        self.rules = (
            "ud" if all(h["rules"] == "ud" for h, _ in parser.languages.values()) else "none"
        )
        self.text = Text(cast("Any", _AutoTokenizer(self)), None)
        self.tagger = _AutoTagger(self)
        self.info: dict[str, Any] = {}

    def in_language(self, language: str) -> MultilingualParser:
        """Return the parser of a language, as `MultilingualParser.in_language` does."""
        if language not in self._parsers:
            self._parsers[language] = self.parser.in_language(language)
        return self._parsers[language]

    def beginning(self, language: str | None = None) -> MultilingualParser:
        """Return a parser of a language, as `MultilingualParser.beginning` does."""
        if language is None:
            raise ModelError("training goes on with one language: name it, such as multi:de")
        return self.parser.beginning(language)

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        header, arrays = self.parser._stored()
        return header | {"language": registry.AUTO}, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        made: Self = registry.from_file(header | {"language": registry.AUTO}, arrays)
        return made

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges, as the parser of the sentence's language does."""
        [marked] = self.split([sentence])
        return self.in_language(language_of(marked)).scores(marked)

    def _sentences_of(
        self, given: Given | None, texts: Texts | None, budget: Budget | None
    ) -> Iterator[Sentence]:
        """Return the sentences of any input, with the language of each document."""
        return self._marked(super()._sentences_of(given, texts, budget))

    def _marked(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield sentences with the languages of their documents."""
        language, words = "", 0
        waiting: list[Sentence] = []
        for sentence in sentences:
            if any(each.startswith("# newdoc") for each in sentence.comments):
                yield from self._decided(waiting)
                language, waiting, words = "", [], 0
            if language_of(sentence):
                yield from self._decided(waiting)
                language, waiting, words = "", [], 0
                yield sentence
            elif language:
                yield marked(sentence, language)
            else:
                waiting.append(sentence)
                words += len(sentence)
                if words >= ENOUGH:
                    *decided, last = self._decided(waiting)
                    yield from (*decided, last)
                    language, waiting = language_of(last), []
        yield from self._decided(waiting)

    def _decided(self, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
        """Yield sentences of one language with it."""
        if sentences:
            text = " ".join(each.text or " ".join(each.forms) for each in sentences)
            language = self.identifier.identify(text)
            yield from (marked(each, language) for each in sentences)

    def by_language(
        self,
        sentences: Sequence[Sentence],
        work: Callable[[MultilingualParser, list[Sentence]], Iterable[_Result]],
    ) -> list[_Result]:
        """Give the sentences of each language to its parser; return the results in order.

        The encoder reads each window of a sentence by itself: so it reads as much as if all were of
        one language.
        """
        of_language: dict[str, list[int]] = {}
        for number, sentence in enumerate(sentences):
            of_language.setdefault(language_of(sentence), []).append(number)
        results: dict[int, _Result] = {}
        for language, numbers in of_language.items():
            own = [sentences[number] for number in numbers]
            results |= zip(numbers, work(self.in_language(language), own), strict=True)
        return [results[number] for number in range(len(sentences))]

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        return self.by_language(sentences, lambda own, some: own._parse_batch(some, options))

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        return self.by_language(sentences, lambda own, some: own._kbest_batch(some, k, options))

    def _evidence_batch(
        self, sentences: list[Sentence], options: Options
    ) -> list[tuple[Sentence, NDArray[Any]]]:
        return self.by_language(sentences, lambda own, some: own._evidence_batch(some, options))


class _AutoTokenizer:
    """Cuts texts by the tokenizers of their languages, with the interface of `Tokenizer`."""

    def __init__(self, parser: AutoParser) -> None:
        self._parser = parser

    def split(self, text: str, *, lines: bool | None = None) -> Iterator[Sentence]:
        return self.stream([text], lines=lines)

    def stream(self, pieces: Iterable[str], **how: Any) -> Iterator[Sentence]:
        rest, first = iter(pieces), ""
        for piece in rest:
            first += piece
            if len(first.split(maxsplit=ENOUGH)) > ENOUGH:
                break
        language = self._parser.identifier.identify(_beginning(first))
        tokenizer = self._parser.in_language(language)._text().tokenizer
        for sentence in tokenizer.stream(chain([first], rest), **how):
            yield marked(sentence, language)

    def sentence_stops(self, text: str, starts: npt.ArrayLike, stops: npt.ArrayLike) -> list[int]:
        own = self._parser.in_language(self._parser.identifier.identify(_beginning(text)))
        stops_of_sentences: list[int] = own._text().tokenizer.sentence_stops(text, starts, stops)
        return stops_of_sentences

    def split_contractions(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        def split(own: MultilingualParser, some: list[Sentence]) -> Iterable[Sentence]:
            return own.text.tokenizer.split_contractions(some) if own.text else some

        return self._parser.by_language(sentences, split)


class _AutoTagger:
    """Tags words in the languages of sentences, with the interface of `Tagger`."""

    columns = ("upos", "feats")

    def __init__(self, parser: AutoParser) -> None:
        self._parser = parser

    def tag(self, sentences: Iterable[Sentence], *, overwrite: bool = False) -> Iterator[Sentence]:
        for batch in batches(sentences):
            yield from self._parser.by_language(
                batch, lambda own, some: own.tag(some, overwrite=overwrite)
            )


def marked(sentence: Sentence, language: str) -> Sentence:
    """Return a sentence with the comment of its language.

    >>> from arborescence.treebank import Sentence
    >>> language_of(marked(Sentence.from_words(["Eulen"]), "de"))
    'de'
    """
    return sentence.replace(comments=[*sentence.comments, f"{_COMMENT}{language}"])


def language_of(sentence: Sentence) -> str:
    """Return the language that a comment of a sentence names, or ""."""
    named = (each for each in sentence.comments if each.startswith(_COMMENT))
    return next(named, "").removeprefix(_COMMENT).strip()


def _beginning(text: str) -> str:
    """Return the first words of a text, by which its language is decided."""
    words = text[: 40 * ENOUGH].split(maxsplit=ENOUGH)
    return " ".join(words[:ENOUGH])
