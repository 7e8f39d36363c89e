"""What a parser learns by, and how many of its trees are malformed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

from arborescence.core.graph import Root
from arborescence.experiments.common.statistics import holm, paired_p
from arborescence.experiments.root.findings import Average, average

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.experiments.common.recipes import Recipe
    from arborescence.experiments.root.effects import Effect
    from arborescence.parsers.shared.types import Loss

#: The method that the others are compared with: it is how the paper's parsers were trained.
BASE: Final[Loss] = "head"
_WITH_TREES: Final[tuple[Loss, ...]] = ("perceptron", "mira", "tree")
_ROOTS: Final[tuple[Root, ...]] = get_args(Root)[::-1]


def methods(recipe: Recipe) -> dict[str, Recipe]:
    """Return all ways in which a linear parser can be trained, otherwise as the recipe says.

    Examples
    --------
    >>> from arborescence.experiments.common.recipes import Recipe
    >>> list(methods(Recipe()))[:3]
    ['head', 'perceptron-multi', 'perceptron-single']
    """
    ways = [
        replace(recipe, objective=BASE, root="multi"),
        *(
            replace(recipe, objective=objective, root=root)
            for objective, root in product(_WITH_TREES, _ROOTS)
        ),
    ]
    return {way.method: way for way in ways}


class Difference(NamedTuple):
    """How the rates of malformed trees of two methods differ over treebanks.

    Attributes
    ----------
    method, other : str
        Their names.
    points : Average
        The first rate less the second one, in points of percent.
    adjusted : float
        The p-value, adjusted for all differences that are looked at together.
    """

    method: str
    other: str
    points: Average
    adjusted: float


def differences(
    studied: dict[str, list[Effect]], pairs: Sequence[tuple[str, str]]
) -> list[Difference]:
    """Compare methods on the same treebanks.

    Parameters
    ----------
    studied
        For each method what it does on each treebank; the treebanks in the same order.
    pairs
        The names of two methods each.
    """
    points = [
        [one.rate - two.rate for one, two in zip(studied[method], studied[other], strict=True)]
        for method, other in pairs
    ]
    return [
        Difference(method, other, average(values), adjusted)
        for (method, other), values, adjusted in zip(
            pairs, points, holm(map(paired_p, points)), strict=True
        )
    ]


def against_base(studied: dict[str, list[Effect]]) -> list[Difference]:
    """Compare each other method with `BASE`."""
    return differences(studied, [(method, BASE) for method in studied if method != BASE])


def against_multi(studied: dict[str, list[Effect]]) -> list[Difference]:
    """Compare what is learned with trees of one root edge with what is learned with any trees."""
    return differences(
        studied, [(f"{objective}-single", f"{objective}-multi") for objective in _WITH_TREES]
    )
