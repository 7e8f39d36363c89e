"""The learning curve: one treebank, of which parsers see more and more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.experiments.common.recipes import Recipe

_FIRST: Final = 20


def sizes(sentences: int) -> list[int]:
    """Return the sizes of the samples that are smaller than all sentences: 20, 50, 100, 200, ...

    Examples
    --------
    >>> sizes(1200)
    [20, 50, 100, 200, 500, 1000]
    """
    found = []
    size = _FIRST
    while size < sentences:
        found.append(size)
        size = size * 5 // 2 if str(size).startswith("2") else size * 2
    return found


def learning_curve(recipes: Sequence[Recipe], sentences: int) -> dict[str, list[Recipe]]:
    """Return how to train for each point: on samples of each size, then on all sentences.

    Parameters
    ----------
    recipes
        How to train on all of them; they differ by their seeds. Each seed draws its own sample.
    sentences
        How many there are.
    """
    samples = {
        str(size): [replace(recipe, sentences=size) for recipe in recipes]
        for size in sizes(sentences)
    }
    return samples | {str(sentences): list(recipes)}
