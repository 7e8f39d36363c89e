"""Formatting of reports: numbers, tables in CSV and Markdown, and writing of files."""

from __future__ import annotations

import csv
import io
from math import isnan
from typing import TYPE_CHECKING, Final

from arborescence.core.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from arborescence.experiments.common.statistics import Average, Interval
    from arborescence.experiments.common.treebanks import LeftOut

#: The significance level of p-values.
LEVEL: Final = 0.05


def csv_text(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Write a table as CSV.

    Examples
    --------
    >>> csv_text(("treebank", "rate"), [("Birdish", "1.80")])
    'treebank,rate\nBirdish,1.80\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
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


def exact(x: float) -> str:
    """Write a number for a CSV file, with six significant digits; nan as an empty string.

    Examples
    --------
    >>> exact(12.5), exact(100 / 3), exact(float("nan"))
    ('12.5', '33.3333', '')
    """
    return "" if isnan(x) else f"{x:.6g}"


def cells(*numbers: float) -> list[str]:
    """Write numbers for a CSV file, as `exact` does."""
    return [exact(x) for x in numbers]


def with_ends(name: str) -> tuple[str, str, str]:
    """Return the column names of a number and of the ends of its interval.

    Examples
    --------
    >>> with_ends("rate")
    ('rate', 'rate_low', 'rate_high')
    """
    return name, f"{name}_low", f"{name}_high"


def with_interval(x: float, interval: Interval, digits: int = 2) -> str:
    """Write a number with its interval, if there is one.

    Examples
    --------
    >>> from arborescence.experiments.common.statistics import Interval
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
    >>> from arborescence.experiments.common.treebanks import LeftOut
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
