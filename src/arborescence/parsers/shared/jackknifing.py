"""Jackknifing: folds of a treebank, so that each can be annotated by a model of the others.

The treebank is split into folds, and each fold is annotated by a model trained on the other folds.
So its annotation has errors like those on new text. Parsers are trained on jackknifed tags (for
example Zhang and Nivre 2011), and rerankers on jackknifed k-best lists (Charniak and Johnson 2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Item = TypeVar("Item")


def folds_of(
    items: Sequence[Item], folds: int, seed: int
) -> Iterator[tuple[list[Item], list[Item]]]:
    """Split items into random folds; yield each fold and all other items.

    >>> for part, rest in folds_of("abcde", folds=2, seed=1):
    ...     print(sorted(part), sorted(rest))
    ['a', 'b', 'e'] ['c', 'd']
    ['c', 'd'] ['a', 'b', 'e']
    """
    order = np.random.default_rng(seed).permutation(len(items))
    for chosen in np.array_split(order, folds):
        others = np.setdiff1d(order, chosen)
        yield [items[i] for i in chosen.tolist()], [items[i] for i in others.tolist()]
