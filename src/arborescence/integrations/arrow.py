"""Sentences in Apache Arrow tables and Parquet files, and a parser from table to table.

A row is a sentence. Its columns are some of those of CoNLL-U, with the same strings (``_`` for
none), and 0 for the head of a word that hangs from the root. Multiword tokens, empty nodes,
enhanced dependencies and MISC have no column: CoNLL-U keeps them.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from arborescence.core.errors import MissingExtraError, OptionError, TreebankError
from arborescence.core.files import opened, replacing
from arborescence.parsers.shared.confidence import edge_probs, with_edge_probs
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arborescence.core.choices import Root
    from arborescence.parsers import Parser
    from arborescence.treebank.kbest import Analyses

    #: A pyarrow.Table or a pyarrow.RecordBatch; pyarrow is optional, and has no types.
    Table = Any

_IDS: Final = ("doc_id", "sent_id", "text")
_TAGS: Final = ("lemmas", "upos", "xpos", "feats")
_ROWS: Final = 2048  # the rows that are in memory at once, when a file is read or written


def pyarrow() -> Any:
    """Import pyarrow, or name the extra that brings it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise MissingExtraError(
            "Arrow tables and Parquet files need the extra 'arrow': "
            "pip install 'arborescence[arrow]'"
        ) from error
    return pa


def schema(*, confidence: bool = False, kbest: bool = False) -> Any:
    """Return the columns of a table of sentences.

    Parameters
    ----------
    confidence
        With the column ``confidences``: the probability of each word's edge.
    kbest
        With the column ``kbest``: the k best trees, best first.

    Returns
    -------
    pyarrow.Schema
        ``doc_id``, ``sent_id``, ``text``: strings or null. ``forms``, ``lemmas``, ``upos``,
        ``xpos``, ``feats``, ``deprels``: a list of strings. ``heads``: a list of int32, from 1; 0
        for the root, null where a head is unknown.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.

    Examples
    --------
    >>> schema().names[:6]  # doctest: +SKIP
    ['doc_id', 'sent_id', 'text', 'forms', 'lemmas', 'upos']
    """
    pa = pyarrow()
    strings, numbers = pa.list_(pa.string()), pa.list_(pa.int32())
    tree = {"heads": numbers, "deprels": strings}
    if confidence:
        tree["confidences"] = pa.list_(pa.float32())
    columns = dict.fromkeys(_IDS, pa.string()) | dict.fromkeys(("forms", *_TAGS), strings) | tree
    if kbest:
        columns["kbest"] = pa.list_(pa.struct({"weight": pa.float64(), **tree}))
    return pa.schema(columns)


class Parse:
    """A parser from table to table, as Ray Data, Hugging Face datasets and Spark call one.

    A table has a column ``forms`` (the words of a sentence), or ``text``, which is split into
    sentences and words. The result has the columns of `schema`, then all others of the table. A
    text of several sentences becomes several rows: the other columns are repeated, and sentence n
    of a row with ``sent_id`` or ``doc_id`` x is named ``x-n``. Every row has at least one in the
    result; a row without words has empty lists.

    Parameters
    ----------
    model
        ``"english"``, the path of a model file, a parser, or a list of these that parse together.
    weights
        How much each of several models counts.
    root, projective, confidence
        As for `Parser.parse`. Probabilities are in the column ``confidences``.
    kbest
        Also find the k best trees, into the column ``kbest``.
    lines
        Whether each text is one sentence. It keeps its ``sent_id``.
    device
        As for `Parser.to`.
    max_words
        Longer sentences are invalid; None: no limit.
    skip_invalid
        If given, called with the error of each row that cannot be parsed; the row remains, with
        null in the columns of the parser. Otherwise the first error is raised.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    ModelError
        If a model cannot be read.

    Notes
    -----
    When an object of this class is pickled, its arguments are, not the model: the process that
    receives it loads the model itself.

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
        kbest: int | None = None,
        lines: bool = False,
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
        }
        self._kbest, self._lines, self._most = kbest, lines, max_words
        self._skip_invalid = skip_invalid
        self._schema = schema(confidence=confidence, kbest=bool(kbest))
        self._lists = [name for name in self._schema.names if name not in _IDS]

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._arguments,)

    def schema(self, of_input: Any = None) -> Any:
        """Return the schema of the result for tables of a schema."""
        pa = pyarrow()
        names = set(self._schema.names)
        return pa.schema([*self._schema, *(f for f in of_input or () if f.name not in names)])

    def __call__(self, table: Table, first: int = 0) -> Table:
        """Parse the sentences of a table.

        Parameters
        ----------
        table : pyarrow.Table or pyarrow.RecordBatch
            With a column ``forms`` or ``text``.
        first
            The number of the first row, for messages.

        Returns
        -------
        pyarrow.Table or pyarrow.RecordBatch
            As the one given.

        Raises
        ------
        OptionError
            If it is not a table, or has neither column.
        TreebankError
            If a row is invalid, naming it.
        """
        pa = pyarrow()
        if isinstance(table, pa.RecordBatch):
            whole = self(pa.Table.from_batches([table]), first).combine_chunks()
            return pa.RecordBatch.from_arrays(
                [column.combine_chunks() for column in whole.columns], schema=whole.schema
            )
        if not isinstance(table, pa.Table):
            raise OptionError(
                f"{type(table)!r} stands where a pyarrow.Table or RecordBatch is due: in Ray Data "
                "give batch_format='pyarrow', in datasets use with_format('arrow')"
            )
        names = set(self._schema.names)
        if not {"forms", "text"} & set(table.column_names):
            raise OptionError(
                "the table has neither a column 'forms' (lists of words) nor 'text' (raw text), "
                f"but {', '.join(map(repr, table.column_names)) or 'no column'}"
            )
        ours = [name for name in table.column_names if name in names]
        places: list[int] = []
        rows: list[dict[str, Any]] = []
        sentences: list[Sentence | None] = []
        for place, row in enumerate(table.select(ours).to_pylist()):
            for ids, sentence in self._sentences(row, first + place):
                places.append(place)
                rows.append(ids)
                sentences.append(sentence)
        trees = self._trees([sentence for sentence in sentences if sentence is not None])
        for row, sentence in zip(rows, sentences, strict=True):
            if sentence is not None:
                row |= _columns(next(trees), self._schema.names)
        others = table.drop_columns(ours)
        if len(places) != len(table):  # places has each row at least once
            others = others.take(pa.array(places, pa.int64()))
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
        """Return the sentences of a row, each with its ids; with None if nothing can be parsed."""
        ids = {name: row.get(name) for name in _IDS}
        found: list[tuple[dict[str, Any], Sentence | None]]
        try:
            if "forms" in row:
                found = [(ids, _sentence(row))] if row["forms"] else []
            else:
                found = self._split(ids)
            for _, sentence in found:
                if sentence and self._most and len(sentence) > self._most:
                    raise TreebankError(f"{len(sentence):,} words; max_words is {self._most:,}")
        except TreebankError as error:
            name = ids["sent_id"] or ids["doc_id"]
            where = f"row {number} ({name})" if name else f"row {number}"
            error = TreebankError(f"{where}: {error}")
            if not self._skip_invalid:
                raise error from None
            self._skip_invalid(error)
            return [(ids | {"forms": row.get("forms")}, None)]
        return found or [(ids | dict.fromkeys(self._lists, ()), None)]

    def _split(self, ids: dict[str, Any]) -> list[tuple[dict[str, Any], Sentence | None]]:
        text = ids["text"] or ""
        if self._lines:
            text = " ".join(text.split())
        found = list(self.parser.read_text(io.BytesIO(text.encode()), lines=self._lines))
        if self._lines and len(found) == 1:
            return [(ids, found[0])]
        name = ids["sent_id"] or ids["doc_id"]
        return [
            (ids | {"sent_id": f"{name}-{n}" if name else str(n), "text": sentence.text}, sentence)
            for n, sentence in enumerate(found, 1)
        ]


def _made(arguments: dict[str, Any]) -> Parse:
    return Parse(**arguments)


def _loaded(model: Any, weights: Sequence[float] | None) -> Parser:
    from arborescence.parsers import CombinedParser, Parser, load

    models = model if isinstance(model, (list, tuple)) else [model]
    parsers = [each if isinstance(each, Parser) else load(each) for each in models]
    return parsers[0] if len(parsers) == 1 and weights is None else CombinedParser(parsers, weights)


def to_table(
    sentences: Iterable[Sentence | Analyses], *, confidence: bool = False, kbest: bool = False
) -> Table:
    """Make a table of sentences.

    Parameters
    ----------
    sentences
        Sentences, or the lists that `Parser.kbest` yields. ``# newdoc id``, ``# sent_id`` and
        ``# text`` go into the columns of these names.
    confidence, kbest
        As for `schema`.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    TreebankError
        If `confidence` is asked for and a word has no probability in MISC.

    Examples
    --------
    >>> import arborescence as arb  # doctest: +SKIP
    >>> parsed = arb.load("english").parse([["Old", "trees", "grow"]])  # doctest: +SKIP
    >>> to_table(parsed)["heads"].to_pylist()  # doctest: +SKIP
    [[2, 3, 0]]
    """
    columns = schema(confidence=confidence, kbest=kbest)
    return pyarrow().Table.from_pylist(list(_rows(sentences, columns.names)), schema=columns)


def to_sentences(table: Table) -> Iterator[Sentence]:
    """Make sentences of the rows of a table; rows without words are left out.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        With the column ``forms``, and any others of `schema`.

    Yields
    ------
    Sentence
        With its trees. The columns ``sent_id`` and ``text`` are comments, ``doc_id`` is
        ``# newdoc id`` where it changes, and ``confidences`` are written into MISC.

    Raises
    ------
    TreebankError, TreeError
        If a row is not a valid sentence.
    """
    yield from _named(table.select([n for n in _known() if n in table.schema.names]).to_pylist())


def read(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Read the sentences of a Parquet file as `to_sentences` does, in constant memory."""
    return _named(row for batch in read_tables(path, _known()) for row in batch.to_pylist())


def columns_of(path: str | os.PathLike[str]) -> Any:
    """Return the schema of a Parquet file; errors are those of `read_tables`."""
    with _parquet(path) as file:
        return file.schema_arrow


def read_tables(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None
) -> Iterator[Table]:
    """Read a Parquet file in tables of some thousand rows.

    Parameters
    ----------
    path
        The file.
    columns
        The columns to read, of those that the file has; None: all.

    Yields
    ------
    pyarrow.Table

    Raises
    ------
    TreebankError
        If it is not a Parquet file, or is damaged.
    """
    pa = pyarrow()
    with _parquet(path) as file:
        there = file.schema_arrow.names
        kept = None if columns is None else [each for each in columns if each in there]
        batches = file.iter_batches(_ROWS, columns=kept)
        while True:
            with _damage_named(path):
                batch = next(batches, None)
            if batch is None:
                return
            yield pa.Table.from_batches([batch])


@contextmanager
def _parquet(path: str | os.PathLike[str]) -> Iterator[Any]:
    with opened(path) as (source, _):
        with _damage_named(path):
            file = pyarrow().parquet.ParquetFile(source)
        yield file


@contextmanager
def _damage_named(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (pyarrow().ArrowException, OSError) as error:
        raise TreebankError(f"{path}: not a whole Parquet file ({error})") from error


def write(
    sentences: Iterable[Sentence | Analyses],
    path: str | os.PathLike[str],
    *,
    confidence: bool = False,
    kbest: bool = False,
) -> None:
    """Write what `to_table` makes to a Parquet file, whole or not at all, in constant memory."""
    pa = pyarrow()
    columns = schema(confidence=confidence, kbest=kbest)
    rows = _rows(sentences, columns.names)
    pieces = iter(lambda: list(islice(rows, _ROWS)), [])
    write_tables((pa.Table.from_pylist(piece, schema=columns) for piece in pieces), path, columns)


def write_tables(tables: Iterable[Table], path: str | os.PathLike[str], columns: Any) -> None:
    """Write tables of one schema to a Parquet file, whole or not at all."""
    pa = pyarrow()
    with replacing(path) as file, pa.parquet.ParquetWriter(file, columns) as writer:
        for table in tables:
            writer.write_table(table)


def _rows(
    sentences: Iterable[Sentence | Analyses], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    document = None
    for item in sentences:
        analyses = item if isinstance(item, list) else [(item, 0.0)]
        best = analyses[0][0]
        document = best.comment("newdoc id") or document
        ids = {"doc_id": document, "sent_id": best.sent_id, "text": best.text}
        yield ids | _columns(analyses, names)


def _columns(analyses: Analyses, names: Sequence[str]) -> dict[str, Any]:
    """Return all columns of a sentence but its ids."""
    best = analyses[0][0]
    confidence = "confidences" in names
    columns = {"forms": best.forms, **{name: getattr(best, name) for name in _TAGS}}
    columns |= _tree(best, confidence)
    if "kbest" in names:
        columns["kbest"] = [
            {"weight": float(weight), **_tree(tree, confidence)} for tree, weight in analyses
        ]
    return columns


def _tree(sentence: Sentence, confidence: bool) -> dict[str, Any]:
    heads = sentence.heads[1:].tolist()
    tree = {
        "heads": [None if head < 0 else head for head in heads] if -1 in heads else heads,
        "deprels": sentence.deprels,
    }
    if confidence:
        tree["confidences"] = edge_probs(sentence)
    return tree


def _known() -> list[str]:
    names: list[str] = schema(confidence=True).names
    return names


def _named(rows: Iterable[dict[str, Any]]) -> Iterator[Sentence]:
    """Make sentences of rows, with their ids as comments."""
    document = None
    for row in rows:
        comments = []
        if (new := row.get("doc_id")) and new != document:
            document = new
            comments.append(f"# newdoc id = {document}")
        comments += [f"# {name} = {row[name]}" for name in ("sent_id", "text") if row.get(name)]
        if row.get("forms"):
            comments = [" ".join(comment.splitlines()) for comment in comments]
            yield _sentence(row, comments)


def _sentence(row: Mapping[str, Any], comments: Sequence[str] = ()) -> Sentence:
    """Make a sentence of a row: null is none."""
    columns: dict[str, Any] = {
        name: [value or "_" for value in row[name]]
        for name in (*_TAGS, "deprels")
        if row.get(name) is not None
    }
    if row.get("heads") is not None:
        columns["heads"] = [-1, *(-1 if head is None else head for head in row["heads"])]
    forms = [form or "" for form in row["forms"]]
    sentence = Sentence.from_words(forms, comments=comments, **columns)
    if row.get("confidences") is not None:
        sentence = sentence.replace(misc=with_edge_probs(sentence.misc, row["confidences"]))
    return sentence
