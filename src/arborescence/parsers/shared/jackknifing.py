"""Jackknifing: folds of a treebank, so that each can be annotated by a model of the others.

So the annotation has errors like those on new text: of tags (Zhang and Nivre 2011), and of k-best
lists (Charniak and Johnson 2005).
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
    """Split items into random folds; yield each fold and all other items."""
    order = np.random.default_rng(seed).permutation(len(items))
    for chosen in np.array_split(order, folds):
        others = np.setdiff1d(order, chosen)
        yield [items[i] for i in chosen.tolist()], [items[i] for i in others.tolist()]
