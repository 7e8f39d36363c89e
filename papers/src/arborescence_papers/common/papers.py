"""The papers' tables as data: a CSV file beside each experiment, and its rows by treebank."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Table = Mapping[str, Mapping[str, float]]


def read_table(module: str, name: str) -> Table:
    """Read a table that lies beside a module: for each row, by its first cell, its numbers.

    Examples
    --------
    >>> from arborescence_papers.root import measure
    >>> read_table(measure.__file__, "paper_table_2.csv")["English"]["malformed"]
    0.48
    """
    with Path(module).with_name(name).open(encoding="utf-8", newline="") as file:
        _, *columns = next(rows := csv.reader(file))
        return {first: dict(zip(columns, map(float, cells), strict=True)) for first, *cells in rows}


def language_of(treebank: str) -> str:
    """Return the language of a treebank, by which the papers name treebanks.

    Examples
    --------
    >>> language_of("Old_French-PROFITEROLE")
    'Old French'
    """
    return treebank.partition("-")[0].replace("_", " ")


def same_languages(paper: Table, treebanks: Iterable[str]) -> list[Mapping[str, float]]:
    """Return the paper's rows of the languages of treebanks, of those that it has."""
    languages = map(language_of, treebanks)
    return [paper[language] for language in languages if language in paper]
