"""Files of spaCy's documents (``.spacy``): parsed sentences go back into them, all else stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from arborescence.errors import TreebankError
from arborescence.integrations.spacy.docs import COLUMNS, annotate, doc_of, sentences_within
from arborescence.integrations.spacy.layout import Layout, lay_out
from arborescence.system.files import opened, writing
from arborescence.treebank import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spacy.tokens import Doc

    from arborescence.parsers.text.tokenizer import Tokenizer

#: The suffix of these files.
SUFFIX: Final = ".spacy"


class _Read(NamedTuple):
    doc: Doc
    layout: Layout
    sentences: list[Sentence]


class DocFiles:
    """The documents of some files, from reading to writing."""

    # `tokenizer` starts sentences not set

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer
        self._vocab = Vocab()
        self._read: list[_Read] = []
        self._written = 0
        self._places: dict[tuple[str, int], tuple[int, int]] = {}
        self._counts: dict[str, int] = {}

    def read(self, path: str) -> Iterator[Sentence]:
        """Read the sentences of a file; `line` is a sentence's number in it."""
        # TreebankError if damaged
        for doc in _docs_of(path, self._vocab):
            layout = lay_out(doc, self._tokenizer)
            sentences = []
            for k, sentence in enumerate(sentences_within(doc, layout)):
                number = self._counts[path] = self._counts.get(path, 0) + 1
                self._places[path, number] = len(self._read), k
                sentences.append(Sentence(sentence.raw, sentence.spans, path, number))
            self._read.append(_Read(doc, layout, list(sentences)))
            yield from sentences

    def write(self, sentences: Iterable[Sentence], path: str) -> None:
        """Write documents to a file, atomically.

        Sentences that were read go back, in order; where one is missing, the document stays. Others
        make new documents: from each ``# newdoc`` on, and before that one a sentence.
        """
        found = DocBin(store_user_data=True)
        for doc in self._finished(sentences):
            found.add(doc)
        with writing(path) as file:
            file.write(found.to_bytes())

    def _finished(self, sentences: Iterable[Sentence]) -> Iterator[Doc]:
        new: list[Sentence] = []
        reached = 0
        for sentence in sentences:
            place = self._places.get((sentence.source, sentence.line))
            if new and (place or not _begins(new[0]) or _begins(sentence)):
                yield doc_of(new, self._vocab)
                new = []
            if place is None:
                yield from self._annotated(reached)
                new.append(sentence)
            else:
                number, k = place
                yield from self._annotated(number)
                self._read[number].sentences[k] = sentence
                reached = number + 1
        if new:
            yield doc_of(new, self._vocab)
        yield from self._annotated(len(self._read))

    def _annotated(self, stop: int) -> Iterator[Doc]:
        """Yield the documents before this one that have not been written."""
        for doc, layout, sentences in self._read[self._written : stop]:
            annotate(doc, layout, sentences, COLUMNS, overwrite=False)
            yield doc
        self._written = max(self._written, stop)


def _begins(sentence: Sentence) -> bool:
    """Return whether a document begins with this sentence."""
    return any(comment[1:].split()[:1] == ["newdoc"] for comment in sentence.comments)


def _docs_of(path: str, vocab: Vocab) -> Iterator[Doc]:
    with opened(path) as (file, name):
        data = file.read()
    try:
        docs = list(DocBin().from_bytes(data).get_docs(vocab))
    except Exception as error:  # of damaged data, spaCy raises errors of any kind
        raise TreebankError(
            f"{name}: cannot be read as documents of spaCy, which a DocBin writes ({error})"
        ) from error
    yield from docs
