"""Tables of weights: float32 as learned, or rounded to int8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Weights(NamedTuple):
    """A table of weights, float32 or int8, and the factor that they are multiplied by."""

    table: NDArray[Any]
    unit: float = 1.0

    @classmethod
    def rounded(cls, table: NDArray[np.float32]) -> Self:
        """Round weights to multiples of a unit, -127 to 127."""
        # LAS of English-EWT dev changes by 0.02
        unit = float(np.abs(table).max() or 1) / 127
        return cls(np.rint(table / np.float32(unit)).astype(np.int8), unit)

    def sums(self, shape: int | tuple[int, ...]) -> NDArray[Any]:
        """Allocate an array for sums of weights: float32, or int32 for int8 weights."""
        return np.empty(shape, np.float32 if self.table.dtype == np.float32 else np.int32)
