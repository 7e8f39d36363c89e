"""Tables and sentences from and to Parquet files, in constant memory."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import TreebankError
from arborescence.integrations.arrow.tables import (
    known_columns,
    pyarrow,
    rows_of,
    schema,
    sentences_of,
)
from arborescence.system.files import opened, replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from arborescence.integrations.arrow.tables import Table
    from arborescence.treebank.kbest import Analyses
    from arborescence.treebank.sentence import Sentence

_ROWS: Final = 2048  # the rows that are in memory at once


def read(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Read the sentences of a Parquet file as `to_sentences` does, in constant memory."""
    return sentences_of(
        row for batch in read_tables(path, known_columns()) for row in batch.to_pylist()
    )


def columns_of(path: str | os.PathLike[str]) -> Any:
    """Return the schema of a Parquet file; errors are those of `read_tables`."""
    with _parquet(path) as file:
        return file.schema_arrow


def read_tables(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None
) -> Iterator[Table]:
    """Read a Parquet file in tables of some thousand rows, of these columns; or TreebankError."""
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
    rows = rows_of(sentences, columns.names)
    pieces = iter(lambda: list(islice(rows, _ROWS)), [])
    write_tables((pa.Table.from_pylist(piece, schema=columns) for piece in pieces), path, columns)


def write_tables(tables: Iterable[Table], path: str | os.PathLike[str], columns: Any) -> None:
    """Write tables of one schema to a Parquet file, whole or not at all."""
    pa = pyarrow()
    with replacing(path) as file, pa.parquet.ParquetWriter(file, columns) as writer:
        for table in tables:
            writer.write_table(table)
