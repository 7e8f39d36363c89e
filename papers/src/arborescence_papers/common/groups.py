"""Groups of treebanks by their number of training sentences, as in *root*; the papers' tables.

A table is a CSV file beside each experiment, with a row for each treebank.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    Item = TypeVar("Item")
    Key = TypeVar("Key", bound=Hashable)
    Table = Mapping[str, Mapping[str, float]]

#: The groups, and the number of training sentences at which the next group begins.
GROUPS: Final[Mapping[str, float]] = {"low": 1_000, "medium": 10_000, "high": float("inf")}
#: The name of the group of all treebanks.
ALL: Final = "all"


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group items by a key, in the given order.

    Examples
    --------
    >>> grouped([5, 2, 4], lambda number: number % 2 == 0)
    {False: [5], True: [2, 4]}
    """
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def group_of(training_sentences: int) -> str:
    """Return the group for a number of training sentences; empty for 0, which means unknown.

    Examples
    --------
    >>> [group_of(sentences) for sentences in (0, 999, 1000, 9999, 10000)]
    ['', 'low', 'medium', 'medium', 'high']
    """
    if not training_sentences:
        return ""
    return next(name for name, bound in GROUPS.items() if training_sentences < bound)


def bounds_of(group: str) -> tuple[float, float]:
    """Return the lower bound (included) and the upper bound (excluded) of a group, in sentences.

    Examples
    --------
    >>> bounds_of("low"), bounds_of("medium")
    ((0, 1000), (1000, 10000))
    """
    bounds = [0, *GROUPS.values()]
    place = list(GROUPS).index(group)
    return bounds[place], bounds[place + 1]


def by_size(treebanks: Iterable[Item], size: Callable[[Item], int]) -> dict[str, list[Item]]:
    """Group items, one per treebank, by the number of training sentences.

    Returns
    -------
    dict
        First all items, then the non-empty groups. A treebank of size 0 (unknown) is only in the
        first.

    Examples
    --------
    >>> by_size([20, 12544, 0], lambda sentences: sentences)
    {'all': [20, 12544, 0], 'low': [20], 'high': [12544]}
    """
    every = list(treebanks)
    groups = grouped(every, lambda one: group_of(size(one)))
    return {ALL: every} | {name: groups[name] for name in GROUPS if name in groups}


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
