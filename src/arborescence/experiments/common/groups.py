"""Treebanks by how much there is to learn from, as *root* groups them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Item = TypeVar("Item")

#: The groups, and the number of sentences from which on a treebank is in the next one.
GROUPS: Final[Mapping[str, float]] = {"low": 1_000, "medium": 10_000, "high": float("inf")}
#: The name of the group of all treebanks.
ALL: Final = "all"


def group_of(lessons: int) -> str:
    """Return the group of a treebank with so many sentences to learn from.

    Examples
    --------
    >>> [group_of(lessons) for lessons in (999, 1000, 9999, 10000)]
    ['low', 'medium', 'medium', 'high']
    """
    return next(name for name, bound in GROUPS.items() if lessons < bound)


def bounds_of(group: str) -> tuple[float, float]:
    """Return the number of sentences from which on a treebank is in a group, and the next group's.

    Examples
    --------
    >>> bounds_of("low"), bounds_of("medium")
    ((0, 1000), (1000, 10000))
    """
    bounds = [0, *GROUPS.values()]
    place = list(GROUPS).index(group)
    return bounds[place], bounds[place + 1]


def grouped(treebanks: Iterable[Item], lessons: Callable[[Item], int]) -> dict[str, list[Item]]:
    """Group what there is of each treebank.

    Parameters
    ----------
    treebanks
        Something for each treebank.
    lessons
        Tells the number of sentences that its parser has learned from; 0 if that is not known.

    Returns
    -------
    dict
        All first, then the groups that are not empty. Where the number is not known, a treebank is
        in none of them.

    Examples
    --------
    >>> grouped([20, 12544, 0], lambda lessons: lessons)
    {'all': [20, 12544, 0], 'low': [20], 'high': [12544]}
    """
    every = list(treebanks)
    known = [(group_of(size), one) for one in every if (size := lessons(one))]
    groups = {ALL: every} | {
        name: [one for group, one in known if group == name] for name in GROUPS
    }
    return {name: some for name, some in groups.items() if some}
