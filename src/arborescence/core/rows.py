"""Sums over rows of a matrix, in vector instructions: the inner loops of all sums over trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.jit import reordered_kernel

if TYPE_CHECKING:
    from typing import Any

    import numpy as np


@reordered_kernel
def add_row(out: np.ndarray, factor: Any, row: np.ndarray) -> None:
    """Add ``factor * row``. O(n)."""
    for j in range(out.shape[0]):
        out[j] += factor * row[j]


@reordered_kernel
def row_product(one: np.ndarray, other: np.ndarray) -> Any:
    """Return the sum of ``one * other``. O(n)."""
    total = 0.0 * one[0]
    for j in range(one.shape[0]):
        total += one[j] * other[j]
    return total
