"""A parser of Arrow tables, for Ray Data, Hugging Face datasets and Spark."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from arborescence.errors import OptionError, TreebankError
from arborescence.integrations.arrow.tables import (
    IDS,
    columns_of_analyses,
    schema,
    sentence_of,
)
from arborescence.parsers.shared.keeping import keeper_of
from arborescence.parsers.shared.repeats import Repeats
from arborescence.treebank.tables import arrow as pyarrow

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from arborescence.core.choices import Root
    from arborescence.integrations.arrow.tables import Table
    from arborescence.parsers import Keeper, Parser
    from arborescence.rules.sets import AnyRules
    from arborescence.treebank.conllu import Analyses
    from arborescence.treebank.sentence import Sentence


class Parse:
    """A parser of Arrow tables, for Ray Data, Hugging Face datasets and Spark.

    An object is called with a table, and returns a table.
    A table has a column ``forms`` (the words of a sentence), or ``text``, which is split into
    sentences and words. The result has the columns of `schema`, then all other columns of the
    table. A text of several sentences becomes several rows, which repeat the other columns.
    Sentence n of a row with ``sent_id`` or ``doc_id`` x is named ``x-n``; in row 7 without ids, it
    is named ``7-n``. Every row has at least one row in the result; a row without words has empty
    lists.

    Parameters
    ----------
    model
        ``"english"``, the path of a model file, a parser, or a list of these, which are combined.
    weights
        The weights of several models.
    root, projective, confidence, rules
        As for `Parser.parse`. Probabilities are in the column ``confidences``.
    once
        As for `Parser.parse`, for all tables together.
    kbest
        Also find the k best trees, and write them into the column ``kbest``.
    lines
        Whether each text is a single sentence, which keeps its ``sent_id``; else a text is split as
        by `Parser.read_text`.
    device
        As for `Parser.to`.
    max_words
        The most words of a sentence; longer sentences are invalid. None: no limit.
    skip_invalid
        If given, called with the error of each row that cannot be parsed; the row remains, with
        null in the columns of the parser. Otherwise the first error is raised.

    Notes
    -----
    A pickle of the object has its arguments, not the model: the process that receives the pickle
    loads the model.

    Examples
    --------
    >>> import pyarrow as pa  # doctest: +SKIP
    >>> parse = Parse("english")  # doctest: +SKIP
    >>> parsed = parse(pa.table({"text": ["Old trees grow slowly."]}))  # doctest: +SKIP
    >>> parsed["heads"].to_pylist()  # doctest: +SKIP
    [[2, 3, 0, 3, 3]]
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | Parser | Sequence[str | os.PathLike[str] | Parser] = (
            "english"
        ),
        *,
        weights: Sequence[float] | None = None,
        root: Root = "single",
        projective: bool | None = None,
        confidence: bool = False,
        rules: AnyRules | Keeper | None = None,
        once: bool | Repeats = False,
        kbest: int | None = None,
        lines: bool | None = None,
        device: str | None = None,
        max_words: int | None = 5000,
        skip_invalid: Callable[[Exception], object] | None = None,
    ) -> None:
        self._arguments = {
            name: value for name, value in locals().items() if name not in ("self", "__class__")
        }
        self.parser = _loaded(model, weights)
        if device:
            self.parser.to(device)
        self._options: dict[str, Any] = {
            "root": root,
            "projective": projective,
            "confidence": confidence,
            "rules": keeper_of(rules),
            "once": Repeats() if once is True else once,
        }
        self._kbest, self._lines, self._most = kbest, lines, max_words
        self._skip_invalid = skip_invalid
        self._schema = schema(confidence=confidence, kbest=bool(kbest))
        self._lists = [name for name in self._schema.names if name not in IDS]

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_arguments, (self._arguments,)

    def schema(self, input_schema: Any = None) -> Any:
        """Return the schema of the result, for tables of the schema `input_schema`."""
        pa = pyarrow()
        names = set(self._schema.names)
        return pa.schema([*self._schema, *(f for f in input_schema or () if f.name not in names)])

    def __call__(self, table: Table, first: int = 0) -> Table:
        """Parse a table; `first` is the number of its first row in messages."""
        pa = pyarrow()
        if isinstance(table, pa.RecordBatch):
            whole = self(pa.Table.from_batches([table]), first).combine_chunks()
            return pa.RecordBatch.from_arrays(
                [column.combine_chunks() for column in whole.columns], schema=whole.schema
            )
        if not isinstance(table, pa.Table):
            raise OptionError(
                f"{type(table)!r} stands where a pyarrow.Table or RecordBatch is expected: in Ray "
                "Data give batch_format='pyarrow', in datasets use with_format('arrow')"
            )
        names = set(self._schema.names)
        if not {"forms", "text"} & set(table.column_names):
            raise OptionError(
                "the table has neither a column 'forms' (lists of words) nor 'text' (raw text), "
                f"but {', '.join(map(repr, table.column_names)) or 'no column'}"
            )
        own_columns = [name for name in table.column_names if name in names]
        sources: list[int] = []  # the row of the table for each row of the result
        rows: list[dict[str, Any]] = []
        sentences: list[Sentence | None] = []
        for place, row in enumerate(table.select(own_columns).to_pylist()):
            for ids, sentence in self._sentences(row, first + place):
                sources.append(place)
                rows.append(ids)
                sentences.append(sentence)
        trees = self._trees([sentence for sentence in sentences if sentence is not None])
        for row, sentence in zip(rows, sentences, strict=True):
            if sentence is not None:
                row |= columns_of_analyses(next(trees), self._schema.names)
        others = table.drop_columns(own_columns)
        if len(sources) != len(table):  # `sources` has each row at least once
            others = others.take(pa.array(sources, pa.int64()))
        parsed = pa.Table.from_pylist(rows, schema=self._schema)
        for field, column in zip(others.schema, others.columns, strict=True):
            parsed = parsed.append_column(field, column)
        return parsed

    def _trees(self, sentences: list[Sentence]) -> Iterator[Analyses]:
        if self._kbest:
            return self.parser.kbest(sentences, self._kbest, **self._options)
        return ([(tree, 0.0)] for tree in self.parser.parse(sentences, **self._options))

    def _sentences(
        self, row: dict[str, Any], number: int
    ) -> Sequence[tuple[dict[str, Any], Sentence | None]]:
        """Return the sentences of a row with their ids; None in place of an invalid sentence."""
        ids = {name: row.get(name) for name in IDS}
        pairs: list[tuple[dict[str, Any], Sentence | None]]
        try:
            if "forms" in row:
                pairs = [(ids, sentence_of(row))] if row["forms"] else []
            else:
                pairs = self._split(ids, number)
            for _, sentence in pairs:
                if sentence and self._most and len(sentence) > self._most:
                    raise TreebankError(f"{len(sentence):,} words; max_words is {self._most:,}")
        except TreebankError as error:
            name = ids["sent_id"] or ids["doc_id"]
            where = f"row {number} ({name})" if name else f"row {number}"
            error = TreebankError(f"{where}: {error}")
            error.lost = 1, len(row.get("forms") or (ids["text"] or "").split()), 1
            if not self._skip_invalid:
                raise error from None
            self._skip_invalid(error)
            return [(ids | {"forms": row.get("forms")}, None)]
        return pairs or [(ids | dict.fromkeys(self._lists, ()), None)]

    def _split(
        self, ids: dict[str, Any], number: int
    ) -> list[tuple[dict[str, Any], Sentence | None]]:
        text = ids["text"] or ""
        if self._lines:
            text = " ".join(text.split())
        sentences = list(self.parser.read_text(io.BytesIO(text.encode()), lines=self._lines))
        if self._lines and len(sentences) == 1:
            return [(ids, sentences[0])]
        name = ids["sent_id"] or ids["doc_id"] or number
        return [
            (ids | {"sent_id": f"{name}-{n}", "text": sentence.text}, sentence)
            for n, sentence in enumerate(sentences, 1)
        ]


def _from_arguments(arguments: dict[str, Any]) -> Parse:
    return Parse(**arguments)


def _loaded(model: Any, weights: Sequence[float] | None) -> Parser:
    from arborescence.parsers import CombinedParser, Parser, load

    models = model if isinstance(model, (list, tuple)) else [model]
    parsers = [each if isinstance(each, Parser) else load(each) for each in models]
    return parsers[0] if len(parsers) == 1 and weights is None else CombinedParser(parsers, weights)
