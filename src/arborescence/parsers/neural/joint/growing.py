"""The parameters of a network for many treebanks, for an inventory with other values.

A tag, feature or relation that is new begins as the same one without its subtype, or with zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.joint.inventory import Inventory

    Weights = dict[str, NDArray[np.float32]]


def grown(weights: Mapping[str, NDArray[np.float32]], before: Inventory, now: Inventory) -> Weights:
    """Return parameters for the values of another inventory; the vectors of treebanks stay."""
    changed = dict(weights)
    relations = _sources(before.relations, now.relations)
    changed["relation_weights"] = _taken(weights["relation_weights"], relations, axis=1)
    rows = {
        "upos": _sources(before.upos, now.upos),
        "xpos": _sources(before.xpos, now.xpos),
        "features": _sources(_values(before), _values(now)),
    }
    size = weights["treebanks.weight"].shape[1]
    for layer, numbers in rows.items():
        for name, shape in ((f"{layer}.weight", (0, size)), (f"{layer}.bias", (0,))):
            if numbers or name in weights:
                old = weights.get(name, np.zeros(shape, dtype=np.float32))
                changed[name] = _taken(old, numbers, axis=0)
    return changed


def _values(inventory: Inventory) -> list[str]:
    """Return the values of features, in the order of the network's outputs."""
    named = inventory.features.items()
    return [f"{attribute}={value}" for attribute, values in named for value in values] or ["="]


def _sources(before: Iterable[str], now: Iterable[str]) -> list[int]:
    """Return the former place of each value, or of its relation without the subtype; -1 if new.

    >>> _sources(["nsubj", "obl"], ["dep", "nsubj", "obl:mod"])
    [-1, 0, 1]
    """
    numbers = {name: number for number, name in enumerate(before)}
    return [numbers.get(name, numbers.get(name.partition(":")[0], -1)) for name in now]


def _taken(array: NDArray[Any], numbers: list[int], axis: int) -> NDArray[Any]:
    """Take rows or columns; new ones, with the number -1, are 0: none is more likely than others.

    >>> _taken(np.ones((2, 2)), [1, -1], 1).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    ends = [(0, int(number == axis)) for number in range(array.ndim)]
    return np.take(np.pad(array, ends), numbers, axis=axis)
