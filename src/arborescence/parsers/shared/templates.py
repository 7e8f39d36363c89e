"""Feature templates of text and tags, as products of hashes: ``word * (gap * next)``.

What several templates have in common is mixed once.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, kernel
from arborescence.parsers.shared.hashing import mix

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Templates(NamedTuple):
    """Templates, for kernels. The first values are the atoms; each step mixes two values to one."""

    # left, right: (steps,): the values that each step mixes
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    # where the steps begin that need no result of the steps before, except of earlier levels
    levels: NDArray[np.int64]
    features: NDArray[np.int64]  # (templates,): which value is the feature of each template


class Values(NamedTuple):
    """Room for the values of templates: atoms first, then the results of steps. All uint64."""

    values: np.ndarray
    left: np.ndarray
    right: np.ndarray


def compiled(atoms: str, templates: str) -> Templates:
    """Compile templates: products of `atoms`, separated by commas, mixed from left to right."""
    numbers: dict[object, int] = {name: number for number, name in enumerate(atoms.split())}
    level_of: dict[object, int] = dict.fromkeys(numbers, 0)

    def key(node: ast.AST) -> object:
        if not isinstance(node, ast.BinOp):
            return ast.unparse(node)
        pair = key(node.left), key(node.right)
        level_of[pair] = 1 + max(level_of[pair[0]], level_of[pair[1]])
        return pair

    products = ast.parse(f"[{templates}]", mode="eval").body
    features = [key(node) for node in ast.iter_child_nodes(products) if isinstance(node, ast.expr)]
    steps = sorted((pair for pair in level_of if isinstance(pair, tuple)), key=level_of.__getitem__)
    for step in steps:
        numbers[step] = len(numbers)
    levels = [level_of[step] for step in steps]
    return Templates(
        np.array([numbers[left] for left, _ in steps], dtype=np.int64),
        np.array([numbers[right] for _, right in steps], dtype=np.int64),
        np.searchsorted(levels, np.arange(1, max(levels, default=0) + 2)),
        np.array([numbers[feature] for feature in features], dtype=np.int64),
    )


@kernel
def values_of(templates: Templates, atoms: int) -> Values:
    """Make room for the values of templates with so many atoms."""
    steps = templates.left.size
    return Values(
        np.zeros(atoms + steps, dtype=np.uint64),
        np.empty(steps, dtype=np.uint64),
        np.empty(steps, dtype=np.uint64),
    )


@indexing_kernel
def fill(templates: Templates, room: Values, places: int, features: np.ndarray, first: int) -> None:
    """Compute the places of features in a table of weights. O(steps + features)."""
    # templates, room: the first values are the atoms
    # places: the number of places, a power of two
    # features: uint64: filled from `first` on, to its end, by the first templates
    values, left, right = room
    atoms = values.size - left.size
    for level in range(templates.levels.size - 1):
        start, stop = templates.levels[level], templates.levels[level + 1]
        for i in range(start, stop):  # copied, so that the next loop is vectorized
            left[i] = values[templates.left[i]]
            right[i] = values[templates.right[i]]
        for i in range(start, stop):
            values[atoms + i] = mix(left[i], right[i])
    for i in range(first, features.size):
        features[i] = values[templates.features[i - first]]
    for i in range(first, features.size):
        features[i] = mix(features[i], np.uint64(i)) & np.uint64(places - 1)
