"""Treebanks by how much there is to learn from, as *root* groups them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The groups, and the number of sentences from which on a treebank is in the next one.
GROUPS: Final[Mapping[str, float]] = {"low": 1_000, "medium": 10_000, "high": float("inf")}


def group_of(lessons: int) -> str:
    """Return the group of a treebank with so many sentences to learn from.

    Examples
    --------
    >>> [group_of(lessons) for lessons in (999, 1000, 9999, 10000)]
    ['low', 'medium', 'medium', 'high']
    """
    return next(name for name, bound in GROUPS.items() if lessons < bound)
