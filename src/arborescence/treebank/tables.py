"""Rows as CSV, TSV or Parquet, and the texts in a column of such a file."""

from __future__ import annotations

import csv
import io
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import MissingExtraError, OptionError, TreebankError
from arborescence.system.files import opened, writing
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.plain import whole_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    Row = Mapping[str, Any]

#: The separators of tables of text, by the endings of files.
SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
#: The beginnings of cells that a spreadsheet would take for formulas.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_BATCH: Final = 1 << 16
_LONGEST_CELL: Final = 1 << 24


def write_table(
    rows: Iterable[Row],
    path: str | os.PathLike[str],
    ending: str,
    types: Mapping[str, type] | None = None,
) -> None:
    """Write rows, which have the same keys, to a file; its first line has the names of columns.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, in CSV and TSV.

    Parameters
    ----------
    rows
        The rows; without any, and without `types`, the file is empty.
    path
        The file. It is written as a whole or not at all.
    ending
        ``".csv"``, ``".tsv"`` or ``".parquet"``; the last needs pyarrow.
    types
        The columns with the types of their values: str, int or float. None: those of the rows.

    Raises
    ------
    OptionError
        If there is no such ending.
    MissingExtraError
        If pyarrow is missing.
    """
    if ending == ".parquet":
        _write_parquet(iter(rows), path, types)
        return
    if ending not in SEPARATORS:
        raise OptionError(f"a table is .csv, .tsv or .parquet, not {ending!r}")
    with writing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, delimiter=SEPARATORS[ending], lineterminator="\n")
        if types:
            writer.writerow(types)
        for number, row in enumerate(rows):
            if not number and not types:
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


def read_column(
    source: str | os.PathLike[str], column: str, encoding: str = UTF8
) -> Iterator[str | None]:
    r"""Read the texts in a column of a table, in constant memory.

    Parameters
    ----------
    source
        A file: Parquet by the ending ``.parquet``, else text whose first line has the names of the
        columns, with the separator (comma, semicolon or tab) that this line has most often; or
        ``"-"`` for the standard input.
    column
        The name of the column.
    encoding
        As in `read`; not for Parquet.

    Yields
    ------
    str or None
        The text of each row; an empty cell is an empty string, or None.

    Raises
    ------
    OptionError
        If there is no such column; the message names the existing columns.
    TreebankError
        If the file is damaged, or has another encoding.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "reviews.csv"
    >>> _ = path.write_text("stars,review\n5,\"Great, really.\"\n1,\n")
    >>> list(read_column(path, "review"))
    ['Great, really.', '']
    """
    if Path(source).suffix.lower() == ".parquet":
        yield from _parquet_column(source, column)
        return
    csv.field_size_limit(_LONGEST_CELL)  # by default too little for a long text
    lines = whole_lines(source, encoding)
    first = next(lines, "")
    separator = max(",;\t", key=first.count)
    rows = csv.reader(chain([first], lines), delimiter=separator)
    try:
        names = next(rows, [])
        at = _place_of(column, names, source)
        for row in rows:
            if row or len(names) == 1:  # else the line is blank
                yield row[at] if at < len(row) else None
    except csv.Error as error:
        raise TreebankError(f"{source}:{rows.line_num}: {error}") from None


def _place_of(column: str, names: list[str], source: object) -> int:
    if column not in names:
        raise OptionError(f"{source}: no column {column!r}, but {', '.join(map(repr, names))}")
    return names.index(column)


def arrow() -> Any:
    """Import pyarrow; MissingExtraError names its extra."""
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


def arrow_types(types: Mapping[str, type]) -> Any:
    """Return the schema of a table."""
    pa = arrow()
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    return pa.schema({name: kinds[kind] for name, kind in types.items()})


def _parquet_column(source: str | os.PathLike[str], column: str) -> Iterator[str | None]:
    pa = arrow()
    with opened(source) as (file, name):
        try:
            table = pa.parquet.ParquetFile(file)
            _place_of(column, table.schema_arrow.names, name)
            for batch in table.iter_batches(columns=[column]):
                yield from batch[0].to_pylist()
        except pa.ArrowException as error:
            raise TreebankError(f"{name}: not a whole Parquet file ({error})") from error


def _write_parquet(
    rows: Iterator[Row], path: str | os.PathLike[str], types: Mapping[str, type] | None
) -> None:
    """Write rows as Parquet, some at a time."""
    pa = arrow()
    schema = arrow_types(types) if types else None
    with writing(path) as file:
        writer = pa.parquet.ParquetWriter(file, schema) if schema else None
        while batch := list(islice(rows, _BATCH)):
            table = pa.Table.from_pylist([dict(row) for row in batch], schema=schema)
            schema = table.schema
            writer = writer or pa.parquet.ParquetWriter(file, schema)
            writer.write_table(table)
        writer = writer or pa.parquet.ParquetWriter(file, pa.schema([]))
        writer.close()
