"""The pipeline component: it parses documents in batches, and is saved with its model."""

from __future__ import annotations

import io
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import srsly
from spacy import util
from spacy.pipeline import Pipe
from spacy.pipeline.dep_parser import parser_score
from spacy.scorer import Scorer

from arborescence.core.checks import check_count
from arborescence.core.choices import check_choice
from arborescence.errors import ModelError, TreebankError
from arborescence.integrations.spacy.docs import COLUMNS, annotate, columns_of, lay_out, rows
from arborescence.parsers import load
from arborescence.projective.pseudo import MARK
from arborescence.treebank import read

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from spacy.tokens import Doc, Token
    from spacy.training import Example

    from arborescence.parsers import Parser

_MODEL: Final = "model.npz"


class ParserPipe(Pipe):
    """A component of a spaCy pipeline that parses, tags and splits sentences.

    ``nlp.add_pipe("arborescence", config={...})`` makes one, with the parameters as settings.

    The component always writes heads and relations. It keeps known sentence starts, from an earlier
    component or set by hand; the model decides about all other tokens. If all words of a document
    have tags, features or lemmas, the parser reads these values, and the component keeps them.

    Parameters
    ----------
    name
        The name of the component in its pipeline.
    model
        ``"english"``, or the path of a model file. The model is loaded at its first use.
    annotate
        The columns to write besides the tree: some of pos, tag, morph and lemma.
    overwrite
        Whether to tag all words again, and replace the values of other components.
    projective
        As for `Parser.parse`.
    rules
        The rules that trees keep: None (the model's), ``"ud"``, ``"none"``, or the path of a file,
        as for `Parser.parse`.
    max_words
        A longer sentence is an error, so that a text without sentence ends does not exhaust time
        and memory.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> pipe = nlp.add_pipe("arborescence", config={"annotate": ["pos"]})
    >>> doc = nlp("She wrote long letters. Nobody read them.")
    >>> [[token.pos_ for token in sentence] for sentence in doc.sents]
    [['PRON', 'VERB', 'ADJ', 'NOUN', 'PUNCT'], ['PRON', 'VERB', 'PRON', 'PUNCT']]
    """

    def __init__(
        self,
        name: str = "arborescence",
        *,
        model: str = "english",
        annotate: Iterable[str] = ("pos", "tag", "morph", "lemma"),
        overwrite: bool = False,
        projective: bool | None = None,
        rules: str | None = None,
        max_words: int = 5000,
    ) -> None:
        self.name = name
        self.model = model
        self.cfg: dict[str, Any] = {
            "annotate": list(annotate),
            "overwrite": overwrite,
            "projective": projective,
            "rules": rules,
            "max_words": check_count(max_words, "max_words"),
        }
        for column in self.cfg["annotate"]:
            check_choice("annotate", column, tuple(COLUMNS))
        self._parser: Parser | None = None

    @property
    def parser(self) -> Parser:
        """The parser; `ModelError` at the first use if the model cannot be loaded."""
        # The model is not loaded with the component: a saved pipeline has the model inside, and the
        # path in the pipeline's settings may not exist on another machine.
        if self._parser is None:
            self._parser = load(self.model)
        return self._parser

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations of the parser, by spaCy's names; empty if there is no model yet."""
        try:
            parser = self.parser
        except ModelError:  # spaCy asks for labels before it reads the model of a saved pipeline
            return ()
        relations = {relation.partition(MARK)[0] for relation in parser.labels}
        return tuple(sorted((relations - {"root"}) | {"ROOT", "dep"}))

    def __call__(self, doc: Doc) -> Doc:
        """Parse a document in place, and return it."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse documents in batches; after an error, parse each document of the batch alone."""
        handle = self.get_error_handler()
        documents = iter(stream)
        while docs := list(islice(documents, batch_size)):
            try:
                self._parse(docs)
            except Exception:
                for doc in docs:
                    try:
                        self._parse([doc])
                    except Exception as error:
                        handle(self.name, self, [doc], error)
                    else:
                        yield doc
            else:
                yield from docs

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Compare documents with gold documents by spaCy's measures: trees, sentences, tags."""
        examples = list(examples)
        scores: dict[str, Any] = parser_score(examples, **settings)
        for column in self.cfg["annotate"]:
            getter = _morphology if column == "morph" else getattr
            scores |= Scorer.score_token_attr(examples, column, getter=getter, **settings)
        return scores

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Save the settings and the model in a folder."""
        writers = {
            "cfg": lambda file: srsly.write_json(file, self.cfg),
            _MODEL: lambda file: self.parser.save(file),
        }
        util.to_disk(Path(path), writers, exclude)

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> ParserPipe:
        """Restore the settings and the model from a folder."""
        readers = {
            "cfg": lambda file: self.cfg.update(srsly.read_json(file)),
            _MODEL: self._load,
        }
        util.from_disk(Path(path), readers, exclude)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the settings and the model as bytes."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder, exclude=exclude)
            files = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        return bytes(srsly.msgpack_dumps(files))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> ParserPipe:
        """Restore the settings and the model from bytes."""
        with tempfile.TemporaryDirectory() as folder:
            files = srsly.msgpack_loads(data)
            missing = []
            for name in ("cfg", _MODEL):
                if name in files:
                    (Path(folder) / name).write_bytes(files[name])
                else:
                    missing.append(Path(name).stem)
            return self.from_disk(folder, exclude=[*exclude, *missing])

    def _load(self, path: Path) -> None:
        self._parser = load(path)

    def _parse(self, docs: Sequence[Doc]) -> None:
        """Parse documents in place: all of them, or after an error none of them."""
        text = self.parser.text
        docs = [doc for doc in docs if len(doc)]
        layouts = [lay_out(doc, text.tokenizer if text else None) for doc in docs]
        written = []
        for doc, layout in zip(docs, layouts, strict=True):
            longest = int(layout.lengths.max(initial=0))
            if longest > self.cfg["max_words"]:
                raise TreebankError(
                    f"a sentence of the document {doc.text[:40]!r}... has {longest:,} words, and "
                    f"max_words is {self.cfg['max_words']:,}: split it, or raise the limit"
                )
            known = {} if self.cfg["overwrite"] else columns_of(doc, layout.words, complete=True)
            written.append(rows(layout, known))
        sentences = list(read(io.BytesIO(b"".join(written))))
        options = {name: self.cfg[name] for name in ("projective", "rules")}
        parsed = list(self.parser.parse(sentences, **options))
        first = 0
        for doc, layout in zip(docs, layouts, strict=True):
            last = first + len(layout.lengths)
            annotate(
                doc,
                layout,
                parsed[first:last],
                self.cfg["annotate"],
                overwrite=self.cfg["overwrite"],
            )
            first = last


def _morphology(token: Token, _: str) -> int:
    return int(token.morph.key)
