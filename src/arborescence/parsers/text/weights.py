"""A log-linear choice between some alternatives and none of them, over hashed features.

A feature is a 64-bit hash; its lower bits are its place in one table of weights. An alternative
scores the sum of the weights of its features, and *none* scores 0. Learning is AdaGrad with an L1
penalty (Duchi, Hazan and Singer 2011, section 5.1), as in the tagger. What a model file holds are
single bytes, and of these only the ones that are not 0.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.errors import ModelError
from arborescence.core.jit import kernel
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: How many weights a table has: a power of two.
PLACES: Final = 1 << 20
_MASK: Final = np.uint64(PLACES - 1)
_LONGEST_GAP: Final = 255
_ARRAYS: Final = {
    "gaps": scheme.Array((np.uint8,), ("weights",)),
    "weights": scheme.Array((np.int8,), ("weights",)),
}

# Chosen on the development part of English-EWT.
_RATE: Final = np.float32(0.2)
_FIRST_SQUARE: Final = np.float32(0.1)
# A weight of 1 in a byte: int8 holds up to 127 of these.
_UNIT: Final = np.float32(0.1)
_SMALL: Final = np.float32(0.1)
# A gradient below this changes nothing worth the time.
_NEGLIGIBLE: Final = np.float32(0.003)


@kernel
def place(feature: np.uint64) -> np.uint64:
    """Where the weight of a feature stands."""
    return feature & _MASK


@kernel
def total(weights: np.ndarray, places: np.ndarray) -> float:
    """Add up the weights at some places; bytes as well as floats."""
    score = 0.0
    for at in places:
        score += weights[at]
    return score


@kernel
def move(
    weights: np.ndarray,
    squares: np.ndarray,
    places: np.ndarray,
    gradient: np.float32,
    penalty: np.float32,
) -> None:
    """Take one step against a gradient: weights and squares, float32 (PLACES,), are changed.

    A weight shrinks by `penalty` in a step of size 1.
    A weight whose square is infinite does not move.
    """
    if abs(gradient) < _NEGLIGIBLE:
        return
    for at in places:
        squares[at] += gradient * gradient
        step = _RATE / np.sqrt(squares[at])
        weight = weights[at] - step * gradient
        shrunk = max(abs(weight) - step * penalty, np.float32(0))
        weights[at] = shrunk if weight > 0 else -shrunk


class Learned:
    """Weights while they are being learned."""

    def __init__(self) -> None:
        self.weights = np.zeros(PLACES, dtype=np.float32)
        self.squares = np.full(PLACES, _FIRST_SQUARE)

    def prune(self) -> None:
        """Leave small weights out for good; the others learn to do without them."""
        small = np.abs(self.weights) < _SMALL
        self.weights[small] = 0
        self.squares[small] = np.inf

    def in_bytes(self) -> NDArray[np.int8]:
        """Round to what a model file holds."""
        rounded: NDArray[np.int8] = np.clip(np.rint(self.weights / _UNIT), -127, 127).astype(
            np.int8
        )
        return rounded


def pack(weights: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
    """Give the arrays of a model file: the weights that are not 0, and the gaps between them."""
    places = np.flatnonzero(weights)
    gaps = np.diff(places, prepend=-1)
    # A gap that does not fit into a byte is bridged by weights of 0.
    bridges = (gaps - 1) // _LONGEST_GAP
    ends = np.cumsum(bridges + 1) - 1
    short_gaps = np.full(places.size + int(bridges.sum()), _LONGEST_GAP, dtype=np.uint8)
    short_gaps[ends] = gaps - bridges * _LONGEST_GAP
    values = np.zeros(short_gaps.size, dtype=np.int8)
    values[ends] = weights[places]
    return {"gaps": short_gaps, "weights": values}


def unpack(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int8]:
    """Make a table of weights of what `pack` gave, or raise `ModelError`."""
    kept = scheme.arrays_of(arrays, _ARRAYS, {})
    places = np.cumsum(kept["gaps"], dtype=np.int64) - 1
    if not 0 <= places.min(initial=0) <= places.max(initial=0) < PLACES:
        raise ModelError("the gaps between weights lead out of their table")
    weights = np.zeros(PLACES, dtype=np.int8)
    weights[places] = kept["weights"]
    return weights
