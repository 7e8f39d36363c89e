"""Vectorized operations on matrix rows: the inner loops of the sums over trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.compiling.kernels import indexing_kernel, reordered_kernel
from arborescence.compiling.lanes import LANES

if TYPE_CHECKING:
    from typing import Any

    import numpy as np


@indexing_kernel
def padded(n: int) -> int:
    """Return the length of rows for a sentence of n words and the root, in whole lanes."""
    return (n + LANES) // LANES * LANES


@reordered_kernel
def add_row(out: np.ndarray, factor: Any, row: np.ndarray) -> None:
    """Add ``factor * row`` to `out`. O(n)."""
    for j in range(out.shape[0]):
        out[j] += factor * row[j]


@reordered_kernel
def row_product(one: np.ndarray, other: np.ndarray) -> Any:
    """Return the dot product of two rows. O(n)."""
    total = 0.0 * one[0]
    for j in range(one.shape[0]):
        total += one[j] * other[j]
    return total
