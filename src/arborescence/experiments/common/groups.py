"""Items in groups, and treebanks by how much there is to learn from, as *root* groups them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    Item = TypeVar("Item")
    Key = TypeVar("Key", bound=Hashable)

#: The groups, and the number of training sentences from which on a treebank is in the next one.
GROUPS: Final[Mapping[str, float]] = {"low": 1_000, "medium": 10_000, "high": float("inf")}
#: The name of the group of all treebanks.
ALL: Final = "all"


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group items by a key, in the order in which they come.

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
    """Return the group of a treebank with so many training sentences; empty for 0: not known.

    Examples
    --------
    >>> [group_of(sentences) for sentences in (0, 999, 1000, 9999, 10000)]
    ['', 'low', 'medium', 'medium', 'high']
    """
    if not training_sentences:
        return ""
    return next(name for name, bound in GROUPS.items() if training_sentences < bound)


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


def by_size(treebanks: Iterable[Item], size: Callable[[Item], int]) -> dict[str, list[Item]]:
    """Group what there is of each treebank by its number of training sentences.

    Returns
    -------
    dict
        All first, then the groups that are not empty. A treebank whose size is 0, which means
        that it is not known, is in none of them.

    Examples
    --------
    >>> by_size([20, 12544, 0], lambda sentences: sentences)
    {'all': [20, 12544, 0], 'low': [20], 'high': [12544]}
    """
    every = list(treebanks)
    groups = grouped(every, lambda one: group_of(size(one)))
    return {ALL: every} | {name: groups[name] for name in GROUPS if name in groups}
