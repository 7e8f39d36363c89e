"""Vectorized operations on matrix rows: the inner loops of maxima, and of the sums over trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.kernels import indexing_kernel, reordered_kernel
from arborescence.core.lanes import LANES

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


@indexing_kernel
def highest(values: np.ndarray, width: int) -> float:
    """Return the largest of `width` values, a multiple of 8 that is not 0. O(n).

    Eight maxima, as one alone would wait for each comparison to end: twice as fast as that, or as
    halving the values again and again in SIMD.
    """
    a = b = c = d = e = f = g = h = values[0]
    for k in range(0, width, 8):
        a = values[k] if values[k] > a else a
        b = values[k + 1] if values[k + 1] > b else b
        c = values[k + 2] if values[k + 2] > c else c
        d = values[k + 3] if values[k + 3] > d else d
        e = values[k + 4] if values[k + 4] > e else e
        f = values[k + 5] if values[k + 5] > f else f
        g = values[k + 6] if values[k + 6] > g else g
        h = values[k + 7] if values[k + 7] > h else h
    top: float = max(max(a, b), max(c, d), max(e, f), max(g, h))
    return top
