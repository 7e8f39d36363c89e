"""Formatting of reports: numbers, tables in CSV and Markdown, and writing of files."""

from __future__ import annotations

import csv
import io
import re
from math import isnan
from typing import TYPE_CHECKING, Final

from arborescence.system.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from arborescence.treebank.statistics import Interval
    from arborescence_papers.common.statistics import Average
    from arborescence_papers.common.treebanks import LeftOut

#: The significance level of p-values.
LEVEL: Final = 0.05
#: A heading, or a table.
_PART: Final = re.compile(r"^#+ (.*)\n|^\|.*\|\n\| ---.*\n(?:\|.*\n)*", re.MULTILINE)


def csv_text(*rows: Sequence[object]) -> str:
    r"""Write a table as CSV; the first row is its header.

    Examples
    --------
    >>> csv_text(("treebank", "rate"), ("Birdish", "1.80"))
    'treebank,rate\nBirdish,1.80\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Write a table in Markdown; cells are not escaped or formatted.

    Examples
    --------
    >>> print(table(("treebank", "rate"), [("Birdish", "1.80")]), end="")
    | treebank | rate |
    | --- | --- |
    | Birdish | 1.80 |
    """
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def tables_of(text: str) -> dict[str, list[list[str]]]:
    r"""Return the tables of a report or of a page in Markdown: each a header, and rows of cells.

    A table is named after its heading, with a number from the second one under it on.

    Examples
    --------
    >>> tables_of("## Rates, by k\n\n| k | rate |\n| --- | --- |\n| 1 | 1.80 |\n")
    {'rates-by-k': [['k', 'rate'], ['1', '1.80']]}
    """
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for part in _PART.finditer(text):
        if part[1] is not None:
            heading = re.sub(r"[^a-z0-9]+", "-", part[1].lower()).strip("-")
            continue
        columns, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in part[0].splitlines()
        )
        number = 1 + sum(re.fullmatch(rf"{heading}(-\d+)?", name) is not None for name in found)
        found[heading if number == 1 else f"{heading}-{number}"] = [columns, *rows]
    return found


def files_of(parts: Iterable[str], others: Sequence[LeftOut]) -> dict[str, str]:
    """Return the files of a report: its parts, and at its end the treebanks that were left out."""
    return with_tables("\n".join(part for part in (*parts, left_out(others)) if part))


def with_tables(report: str) -> dict[str, str]:
    r"""Return the files of a report: ``report.md``, and a CSV file for each of its tables.

    Examples
    --------
    >>> with_tables("# Rates\n\n| k | rate |\n| --- | --- |\n| 1 | 1.80 |\n")["rates.csv"]
    'k,rate\n1,1.80\n'
    """
    tables = {f"{name}.csv": csv_text(*rows) for name, rows in tables_of(report).items()}
    return {"report.md": report} | tables


def listing(rows: Iterable[Mapping[str, object]]) -> str:
    """Write a table in Markdown from rows that are mappings by column; at least one row.

    Examples
    --------
    >>> print(listing([{"treebank": "Birdish", "rate": "1.80"}]), end="")
    | treebank | rate |
    | --- | --- |
    | Birdish | 1.80 |
    """
    listed = list(rows)
    return table(list(listed[0]), (list(row.values()) for row in listed))


def number(x: float, digits: int = 2) -> str:
    """Write a number with the given number of decimals; nan as a dash.

    Examples
    --------
    >>> number(1.795), number(12544.0, 0), number(-0.001), number(float("nan"))
    ('1.79', '12,544', '0.00', '–')
    """
    return "–" if isnan(x) else f"{x:z,.{digits}f}"


def with_interval(x: float, interval: Interval, digits: int = 2) -> str:
    """Write a number with its interval, if there is one.

    Examples
    --------
    >>> from arborescence.treebank.statistics import Interval
    >>> with_interval(1.8, Interval(1.214, 2.52))
    '1.80 [1.21, 2.52]'
    >>> with_interval(1.8, Interval(float("nan"), float("nan")), digits=1)
    '1.8'
    """
    ends = [number(end, digits) for end in interval]
    return number(x, digits) + (f" [{', '.join(ends)}]" if not any(map(isnan, interval)) else "")


def averaged(found: Average, digits: int = 2) -> str:
    """Write an average with its interval."""
    return with_interval(found.value, found.interval, digits)


def p_value(p: float) -> str:
    """Write a p-value; nan as a dash.

    Examples
    --------
    >>> p_value(0.032), p_value(0.0042), p_value(0.0002)
    ('0.03', '0.004', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else number(p, 3 if p < 0.01 else 2)


def star(p: float) -> str:
    r"""Return a star if a p-value is significant at `LEVEL`.

    Examples
    --------
    >>> star(0.04), star(0.05)
    ('\\*', '')
    """
    return "\\*" if p < LEVEL else ""


def left_out(treebanks: Sequence[LeftOut]) -> str:
    """Write a section on the treebanks that were left out; an empty string if there are none.

    Examples
    --------
    >>> from arborescence_papers.common.treebanks import LeftOut
    >>> print(left_out([LeftOut("Birdish", "no test part", failed=False),
    ...                 LeftOut("Arboric", "test.conllu:1: 2 columns", failed=True)]), end="")
    ## Treebanks that are left out
    <BLANKLINE>
    Something went wrong with these:
    <BLANKLINE>
    - Arboric: test.conllu:1: 2 columns
    <BLANKLINE>
    These lack a part:
    <BLANKLINE>
    - Birdish: no test part
    """
    parts = []
    for failed, title in (
        (True, "Something went wrong with these:"),
        (False, "These lack a part:"),
    ):
        if some := [one for one in treebanks if one.failed == failed]:
            lines = "".join(f"- {one.treebank}: {one.reason}\n" for one in some)
            parts.append(f"{title}\n\n{lines}")
    return "\n".join(["## Treebanks that are left out\n", *parts]) if parts else ""


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files into a folder, each of them atomically.

    Parameters
    ----------
    folder
        The folder; it is created if missing.
    texts
        The content of each file, keyed by its name.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with replacing(folder / name) as file:
            file.write(text.encode())
