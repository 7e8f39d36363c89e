"""Rows as CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import io
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import MissingExtraError, OptionError
from arborescence.system.files import writing

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    Row = Mapping[str, Any]

#: The separators of tables of text, by the endings of files.
SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
#: What a spreadsheet would take for a formula, at the beginning of a cell.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_BATCH: Final = 1 << 16


def write_table(rows: Iterable[Row], path: str | os.PathLike[str], ending: str) -> None:
    """Write rows, which have the same keys, to a file; its first line has the names of columns.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, in CSV and TSV.

    Parameters
    ----------
    rows
        The rows; without any, the file is empty.
    path
        The file. It is written as a whole or not at all.
    ending
        ``".csv"``, ``".tsv"`` or ``".parquet"``; the last needs pyarrow.

    Raises
    ------
    OptionError
        If there is no such ending.
    MissingExtraError
        If pyarrow is missing.
    """
    if ending == ".parquet":
        _write_parquet(iter(rows), path)
        return
    if ending not in SEPARATORS:
        raise OptionError(f"a table is .csv, .tsv or .parquet, not {ending!r}")
    with writing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, delimiter=SEPARATORS[ending], lineterminator="\n")
        for number, row in enumerate(rows):
            if not number:
                writer.writerow(row)
            writer.writerow([harmless(value) for value in row.values()])
        text.detach()


def harmless(value: Any) -> Any:
    """Return a value of a cell so that a spreadsheet does not run it.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-"), harmless(-1)
    ("'=1+1", "'-", -1)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _write_parquet(rows: Iterator[Row], path: str | os.PathLike[str]) -> None:
    """Write rows as Parquet, some at a time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow: pip install 'arborescence[arrow]'"
        ) from error
    with writing(path) as file:
        writer = None
        while batch := list(islice(rows, _BATCH)):
            table = pa.Table.from_pylist(
                [dict(row) for row in batch], schema=writer.schema if writer else None
            )
            writer = writer or pq.ParquetWriter(file, table.schema)
            writer.write_table(table)
        if writer is None:
            writer = pq.ParquetWriter(file, pa.schema([]))
        writer.close()
