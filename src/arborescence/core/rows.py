"""Vectorized operations on matrix rows: the inner loops of the sums over trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.kernels import reordered_kernel

if TYPE_CHECKING:
    from typing import Any

    import numpy as np


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
