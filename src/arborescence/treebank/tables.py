"""Rows written as CSV, TSV or Parquet, and texts read from columns of these files."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import MissingExtraError, OptionError, TreebankError
from arborescence.system.files import opened, writing
from arborescence.treebank.encodings import UTF8
from arborescence.treebank.plain import whole_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

#: The separators of tables of text, by the endings of files.
SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
#: A text that a spreadsheet would take for a formula.
_FORMULA: Final = re.compile(r"[=+@\t\r-].*[^\W_]", re.DOTALL)
#: Names such as ``-LRB-``. These names are no formulas: a formula never ends with an operator.
_BRACKET: Final = re.compile(r"-[A-Za-z]+-")
_BATCH: Final = 1 << 16
_LONGEST_CELL: Final = 1 << 24


def write_table(
    rows: Iterable[Row],
    path: str | os.PathLike[str],
    ending: str,
    types: Mapping[str, type] | None = None,
) -> None:
    """Write rows, which have the same keys, to a file; its first line has the names of columns.

    In CSV and TSV, a text that a spreadsheet could run as a formula gets an apostrophe before it: a
    text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and has a letter
    or digit, except names like ``-LRB-``. A program that reads the table has to remove the
    apostrophe before these characters. Parquet keeps all texts unchanged.

    Parameters
    ----------
    rows
        The rows. If there are neither rows nor `types`, the file is empty.
    path
        The file. It is written as a whole or not at all.
    ending
        ``".csv"``, ``".tsv"`` or ``".parquet"``; the last needs pyarrow.
    types
        The columns with the types of their values: str, int or float. None: the columns and types
        of the rows.

    Raises
    ------
    OptionError
        If the ending is none of these three.
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
    """Return the value of a cell, with an apostrophe if a spreadsheet could run this value.

    Examples
    --------
    >>> [harmless(value) for value in ("=1+1", "-cmd", "-", "-LRB-", -1)]
    ["'=1+1", "'-cmd", '-', '-LRB-', -1]
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _BRACKET.fullmatch(value):
        return value
    return f"'{value}"


def read_columns(
    source: str | os.PathLike[str], columns: Sequence[str], encoding: str = UTF8
) -> Iterator[list[str | None]]:
    r"""Read the texts in columns of a table, in constant memory.

    Parameters
    ----------
    source
        A file: Parquet by the ending ``.parquet``, else text whose first line has the names of the
        columns, with the separator (comma, semicolon or tab) that is most frequent in this line; or
        ``"-"`` for the standard input.
    columns
        The names of the columns.
    encoding
        As in `read`; not for Parquet.

    Yields
    ------
    list of (str or None)
        The texts of each row; an empty cell is an empty string, or None.

    Raises
    ------
    OptionError
        If a column is missing, or two columns have its name; the message names all columns.
    TreebankError
        If the file is empty or damaged, or has another encoding. If a quotation mark is wrong, the
        message names the line in which the row begins.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "reviews.csv"
    >>> _ = path.write_text("stars,review\n5,\"Great, really.\"\n1,\n")
    >>> list(read_columns(path, ["review"]))
    [['Great, really.'], ['']]
    """
    if Path(source).suffix.lower() == ".parquet":
        yield from _parquet_columns(source, columns)
        return
    csv.field_size_limit(_LONGEST_CELL)  # the default is too small for a long text
    lines = whole_lines(source, encoding)
    first = next(lines, "")
    separator = max(",;\t", key=first.count)
    if not first.strip():
        raise TreebankError(
            f"{source}: the file or its first line is empty: the first line must name the columns"
        )
    # Without `strict`, a quotation mark that is never closed puts all later rows into one cell.
    rows = csv.reader(chain([first], lines), delimiter=separator, strict=True)
    line = 1  # where the row begins
    try:
        names = next(rows)
        places = _places_of(columns, names, source)
        line = rows.line_num + 1
        for row in rows:
            if row or len(names) == 1:  # else the line is blank
                yield [row[at] if at < len(row) else None for at in places]
            line = rows.line_num + 1
    except csv.Error as error:
        raise TreebankError(
            f"{source}:{line}: the row that begins here is broken ({error}): a cell that begins "
            'with a quotation mark ends with one, and has "" for each mark in it'
        ) from None


def _places_of(columns: Iterable[str], names: list[str], source: object) -> list[int]:
    for column in columns:
        if names.count(column) != 1:
            wrong = f"{names.count(column)} columns" if column in names else "no column"
            known = ", ".join(map(repr, names)) or "none"
            raise OptionError(f"{source}: {wrong} {column!r}; the columns are {known}")
    return [names.index(column) for column in columns]


def arrow() -> Any:
    """Import pyarrow; raise MissingExtraError if pyarrow is missing."""
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


def _parquet_columns(
    source: str | os.PathLike[str], columns: Sequence[str]
) -> Iterator[list[str | None]]:
    pa = arrow()
    with opened(source) as (file, name):
        try:
            table = pa.parquet.ParquetFile(file)
            _places_of(columns, table.schema_arrow.names, name)
            for batch in table.iter_batches(columns=[*dict.fromkeys(columns)]):
                cells = [batch.column(column).to_pylist() for column in columns]
                yield from map(list, zip(*cells, strict=True))
        except pa.ArrowException as error:
            raise TreebankError(f"{name}: not a whole Parquet file ({error})") from error


def _write_parquet(
    rows: Iterator[Row], path: str | os.PathLike[str], types: Mapping[str, type] | None
) -> None:
    """Write rows as Parquet, in batches."""
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
