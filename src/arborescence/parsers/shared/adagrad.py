"""Weights learned by AdaGrad with an L1 penalty (Duchi, Hazan and Singer 2011), stored as int8.

AdaGrad (section 5.1 there) gives every weight its own learning rate, and the penalty moves it
towards 0 at each step. So most weights become 0, and a model file stores only the others.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.errors import ModelError
from arborescence.core.kernels import inlined_kernel, kernel
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: Smaller gradients are skipped: their effect is not worth the time.
NEGLIGIBLE: Final = np.float32(0.003)
_FIRST_SQUARE: Final = np.float32(0.1)
#: In place of a table of `Learned`, for a kernel that shall not learn.
NOTHING: Final = np.empty((2, 0), np.float32)
#: The unit of int8 weights: a weight of 1 is stored as 10.
UNIT: Final = np.float32(0.1)
_LONGEST_GAP: Final = 255
_ARRAYS: Final = {
    "gaps": scheme.Array((np.uint8,), ("weights",)),
    "weights": scheme.Array((np.int8,), ("weights",)),
}


@inlined_kernel
def descend(
    weights: np.ndarray,
    squares: np.ndarray,
    at: int,
    gradient: np.float32,
    rate: np.float32,
    penalty: np.float32,
) -> None:
    """Move one weight against its gradient: AdaGrad with an L1 penalty. O(1).

    Parameters
    ----------
    weights, squares : float32
        Changed at `at`. `squares` holds the sums of squared gradients so far, above 0; a weight
        whose square is infinite does not change.
    rate, penalty
        The size of the first step, and how much a weight shrinks in a step of size 1.
    """
    squares[at] += gradient * gradient
    step = rate / np.sqrt(squares[at])
    weight = weights[at] - step * gradient
    shrunk = max(abs(weight) - step * penalty, np.float32(0))
    weights[at] = shrunk if weight > 0 else -shrunk


class Learned:
    """A float32 table (2, size) during learning: weights, and the squares that `descend` needs."""

    def __init__(self, size: int) -> None:
        self.table = np.zeros((2, size), dtype=np.float32)
        self.weights, self.squares = self.table
        self.squares[:] = _FIRST_SQUARE

    def prune(self, smallest: float = 0.1) -> None:
        """Set small weights to 0 and keep them there; later training adapts the other weights."""
        small = np.abs(self.weights) < smallest
        self.weights[small] = 0
        self.squares[small] = np.inf

    def in_bytes(self) -> NDArray[np.int8]:
        """Round the weights to int8, as model files store them."""
        rounded: NDArray[np.int8] = np.rint(self.weights / UNIT).clip(-127, 127).astype(np.int8)
        return rounded


def pack(weights: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file: the nonzero weights, and the gaps between them."""
    places = np.flatnonzero(weights)
    gaps = np.diff(places, prepend=-1)
    # A gap that does not fit into a byte is split by stored weights of 0.
    bridges = (gaps - 1) // _LONGEST_GAP
    ends = np.cumsum(bridges + 1) - 1
    short_gaps = np.full(places.size + int(bridges.sum()), _LONGEST_GAP, dtype=np.uint8)
    short_gaps[ends] = gaps - bridges * _LONGEST_GAP
    values = np.zeros(short_gaps.size, dtype=np.int8)
    values[ends] = weights[places]
    return {"gaps": short_gaps, "weights": values}


def unpack(arrays: Mapping[str, NDArray[Any]], size: int) -> NDArray[np.int8]:
    """Make a table of `size` weights from what `pack` returned; raise ModelError if invalid."""
    kept = scheme.arrays_of(arrays, _ARRAYS, {})
    weights = np.zeros(size, dtype=np.int8)
    if not spread(kept["gaps"], kept["weights"], weights):
        raise ModelError("the gaps between weights lead out of their table")
    return weights


@kernel
def spread(gaps: np.ndarray, values: np.ndarray, weights: np.ndarray) -> bool:
    """Write values into a table, with gaps between them; return whether they fit. O(values)."""
    place = -1
    for i in range(gaps.size):
        place += int(gaps[i])
        if not 0 <= place < weights.size:
            return False
        weights[place] = values[i]
    return True
