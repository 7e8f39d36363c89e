"""Disjoint sets (union-find) with path halving (Tarjan and van Leeuwen 1984)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.compiling.kernels import inlined_kernel

if TYPE_CHECKING:
    import numpy as np


@inlined_kernel
def find(link: np.ndarray, x: int) -> int:
    """Return the representative of x's set, halving the path to it. O(log n) amortized."""
    while link[x] != x:
        link[x] = link[link[x]]
        x = link[x]
    return x
