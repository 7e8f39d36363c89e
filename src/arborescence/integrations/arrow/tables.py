"""Sentences in Apache Arrow tables: the schema, sentences to rows, and rows to sentences.

A row is a sentence, with columns as in CoNLL-U (``_`` for no value), and 0 as the root's head.
Multiword tokens, empty nodes, enhanced dependencies and MISC have no column.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import TreebankError
from arborescence.parsers.shared.confidence import edge_probs, with_probs
from arborescence.system.files import opened, replacing
from arborescence.treebank.conllu import not_read_from
from arborescence.treebank.sentence import Sentence
from arborescence.treebank.tables import arrow as pyarrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arborescence.treebank.conllu import Analyses

    #: A pyarrow.Table or a pyarrow.RecordBatch; pyarrow is optional, and has no types.
    Table = Any
    import os


IDS: Final = ("doc_id", "sent_id", "text")
_TAGS: Final = ("lemmas", "upos", "xpos", "feats")


def schema(*, confidence: bool = False, kbest: bool = False) -> Any:
    """Return the columns of a table of sentences.

    Parameters
    ----------
    confidence
        Whether to add the column ``confidences``: the probability of each word's edge.
    kbest
        Whether to add the column ``kbest``: the k best trees, best first.

    Returns
    -------
    pyarrow.Schema
        ``doc_id``, ``sent_id``, ``text``: strings or null. ``forms``, ``lemmas``, ``upos``,
        ``xpos``, ``feats``, ``deprels``: a list of strings. ``heads``: a list of int32, where words
        count from 1, 0 is the root, and null is an unknown head.

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
    columns = dict.fromkeys(IDS, pa.string()) | dict.fromkeys(("forms", *_TAGS), strings) | tree
    if kbest:
        columns["kbest"] = pa.list_(pa.struct({"weight": pa.float64(), **tree}))
    return pa.schema(columns)


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

    Raises
    ------
    TreebankError
        If `confidence` is true and a word has no probability in MISC.

    Examples
    --------
    >>> import arborescence as arb  # doctest: +SKIP
    >>> parsed = arb.load("english").parse([["Old", "trees", "grow"]])  # doctest: +SKIP
    >>> to_table(parsed)["heads"].to_pylist()  # doctest: +SKIP
    [[2, 3, 0]]
    """
    columns = schema(confidence=confidence, kbest=kbest)
    return pyarrow().Table.from_pylist(list(rows_of(sentences, columns.names)), schema=columns)


def to_sentences(table: Table) -> Iterator[Sentence]:
    """Make sentences of the rows of a table; rows without words are left out.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        A table with the column ``forms``, and any other columns of `schema`.

    Yields
    ------
    Sentence
        A sentence with its tree. The columns ``sent_id`` and ``text`` become comments; ``doc_id``
        becomes ``# newdoc id`` where a document begins; ``confidences`` are written into MISC.
    """
    yield from sentences_of(
        table.select([n for n in known_columns() if n in table.schema.names]).to_pylist()
    )


def rows_of(
    sentences: Iterable[Sentence | Analyses], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Make a row of each sentence, with the ids and the columns of these names."""
    document = None
    for item in sentences:
        analyses = [(item, 0.0)] if isinstance(item, Sentence) else item
        best = analyses[0][0]
        document = best.comment("newdoc id") or document
        ids = {"doc_id": document, "sent_id": best.sent_id, "text": best.text}
        yield ids | columns_of_analyses(analyses, names)


def columns_of_analyses(analyses: Analyses, names: Sequence[str]) -> dict[str, Any]:
    """Return all columns of a sentence except its ids."""
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
    heads = sentence.heads.tolist()
    tree = {
        "heads": [None if head < 0 else head for head in heads] if -1 in heads else heads,
        "deprels": sentence.deprels,
    }
    if confidence:
        tree["confidences"] = edge_probs(sentence)
    return tree


def known_columns() -> list[str]:
    """Return the names of the columns that a sentence is made from."""
    names: list[str] = schema(confidence=True).names
    return names


def sentences_of(rows: Iterable[dict[str, Any]]) -> Iterator[Sentence]:
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
            yield sentence_of(row, comments)


def sentence_of(row: Mapping[str, Any], comments: Sequence[str] = ()) -> Sentence:
    """Make a sentence of a row; null is a missing value."""
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
        sentence = sentence.replace(misc=with_probs(sentence.misc, row["confidences"]))
    return sentence


_ROWS: Final = 2048  # the rows that are in memory at once


def read(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Read the sentences of a Parquet file as `to_sentences` does, in constant memory."""
    return sentences_of(
        row for batch in read_tables(path, known_columns()) for row in batch.to_pylist()
    )


def schema_of(path: str | os.PathLike[str]) -> Any:
    """Return the schema of a Parquet file; errors are as in `read_tables`."""
    with _parquet(path) as file:
        return file.schema_arrow


def read_tables(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None
) -> Iterator[Table]:
    """Read columns of a Parquet file, in tables of at most 2,048 rows; TreebankError if broken."""
    pa = pyarrow()
    with _parquet(path) as file:
        names = file.schema_arrow.names
        kept = None if columns is None else [name for name in columns if name in names]
        batches = file.iter_batches(_ROWS, columns=kept)
        while True:
            with _errors_name(path):
                batch = next(batches, None)
            if batch is None:
                return
            yield pa.Table.from_batches([batch])


@contextmanager
def _parquet(path: str | os.PathLike[str]) -> Iterator[Any]:
    with opened(path) as (source, _):
        with _errors_name(path):
            file = pyarrow().parquet.ParquetFile(source)
        yield file


@contextmanager
def _errors_name(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of pyarrow into a TreebankError that names the file."""
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
    """Write the tables of `to_table` to a Parquet file, whole or not at all, in constant memory."""
    pa = pyarrow()
    columns = schema(confidence=confidence, kbest=kbest)
    rows = rows_of(not_read_from(sentences, path), columns.names)
    pieces = iter(lambda: list(islice(rows, _ROWS)), [])
    write_tables((pa.Table.from_pylist(piece, schema=columns) for piece in pieces), path, columns)


def write_tables(tables: Iterable[Table], path: str | os.PathLike[str], columns: Any) -> None:
    """Write tables of one schema to a Parquet file, whole or not at all."""
    pa = pyarrow()
    with replacing(path) as file, pa.parquet.ParquetWriter(file, columns) as writer:
        for table in tables:
            writer.write_table(table)
