"""Jackknifing: the sentences of a treebank, treated by what has learned from the others.

The treebank is dealt into folds, and each fold is left to what has learned from the rest, so that
it gets the mistakes that new text will get. Parsers have long learned from jackknifed tags (for
instance Zhang and Nivre 2011), and rerankers from jackknifed lists of trees (Charniak and Johnson
2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Item = TypeVar("Item")


def jackknife(
    items: Sequence[Item], folds: int, seed: int
) -> Iterator[tuple[list[Item], list[Item]]]:
    """Deal items into folds; yield each fold, and all other items.

    >>> for part, rest in jackknife("abcde", folds=2, seed=1):
    ...     print(sorted(part), sorted(rest))
    ['a', 'b', 'e'] ['c', 'd']
    ['c', 'd'] ['a', 'b', 'e']
    """
    order = np.random.default_rng(seed).permutation(len(items))
    for chosen in np.array_split(order, folds):
        others = np.setdiff1d(order, chosen)
        yield [items[i] for i in chosen.tolist()], [items[i] for i in others.tolist()]
