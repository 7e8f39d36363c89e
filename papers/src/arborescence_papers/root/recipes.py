"""The training recipes of *root*: one for each loss, and for the points of the learning curve."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, get_args

from arborescence.core.choices import Root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence_papers.common.recipes import AnyLoss, Recipe

#: The baseline method: the paper's parsers were trained in this way.
BASE: Final[AnyLoss] = "head"
#: The losses that use trees, of each kind of graph-based parser.
OF_TREES: Final[dict[str, tuple[AnyLoss, ...]]] = {
    "linear": ("perceptron", "mira", "tree"),
    "biaffine": ("margin", "tree"),
}
_ROOTS: Final[tuple[Root, ...]] = get_args(Root)[::-1]
_FIRST: Final = 20


def methods(recipe: Recipe) -> dict[str, Recipe]:
    """Return one recipe for each training method of the parser, otherwise like `recipe`.

    There is none for a transition-based parser.

    Examples
    --------
    >>> from arborescence_papers.common.recipes import Recipe
    >>> list(methods(Recipe()))[:3]
    ['head', 'perceptron-multi', 'perceptron-single']
    """
    if recipe.parser not in OF_TREES:
        return {}
    of_trees = product(OF_TREES[recipe.parser], _ROOTS)
    ways = [
        replace(recipe, loss=BASE, root="multi"),
        *(replace(recipe, loss=loss, root=root) for loss, root in of_trees),
    ]
    return {way.method: way for way in ways}


def sizes(sentences: int) -> list[int]:
    """Return the sample sizes below the number of all sentences: 20, 50, 100, 200, ...

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
    """Return the recipes of each point: samples of each size, then all sentences.

    Parameters
    ----------
    recipes
        The recipes for all sentences, with different seeds. Each seed draws its own sample.
    sentences
        The number of training sentences.
    """
    samples = {
        str(size): [replace(recipe, sentences=size) for recipe in recipes]
        for size in sizes(sentences)
    }
    return samples | {str(sentences): list(recipes)}
