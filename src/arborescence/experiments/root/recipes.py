"""How the parsers of *root* are trained: with each loss, and on more and more sentences."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, get_args

from arborescence.core.graph import Root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.experiments.common.recipes import Recipe
    from arborescence.parsers.shared.types import Loss

#: The method that the others are compared with: it is how the paper's parsers were trained.
BASE: Final[Loss] = "head"
#: The losses that look at trees.
OF_TREES: Final[tuple[Loss, ...]] = ("perceptron", "mira", "tree")
_ROOTS: Final[tuple[Root, ...]] = get_args(Root)[::-1]
_FIRST: Final = 20


def methods(recipe: Recipe) -> dict[str, Recipe]:
    """Return all ways in which a linear parser can be trained, otherwise as the recipe says.

    Examples
    --------
    >>> from arborescence.experiments.common.recipes import Recipe
    >>> list(methods(Recipe()))[:3]
    ['head', 'perceptron-multi', 'perceptron-single']
    """
    ways = [
        replace(recipe, loss=BASE, root="multi"),
        *(replace(recipe, loss=loss, root=root) for loss, root in product(OF_TREES, _ROOTS)),
    ]
    return {way.method: way for way in ways}


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
