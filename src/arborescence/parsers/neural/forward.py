"""The network of a neural parser in NumPy and kernels of ours, without PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import Numbers


class Found(NamedTuple):
    """What the network found for B sentences with N words and roots in all.

    Attributes
    ----------
    tags : dict of str to (N,) int64
        For each column, the numbers of the most probable values.
    edges : (B, T, T) float32
        The scores of edges, ``[head, dependent]``.
    relations
        Scores all relations of edges: a function of the rows of their heads, and of those of their
        dependents, (E,) int64 each, to (E, L) float32.
    """

    tags: dict[str, NDArray[np.int64]]
    edges: NDArray[np.float32]
    relations: Callable[[Numbers, Numbers], NDArray[np.float32]]
