"""Room for the k best trees of a batch, as the kernels of either family fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Lists(NamedTuple):
    """The trees of each sentence, best first."""

    heads: NDArray[np.int64]
    """(B, k, N), -1 where there is nothing yet."""
    weights: NDArray[np.float64]
    """(B, k)"""
    exact: NDArray[np.bool_]
    """(B, k) whether the weight is the exact sum, rounded once."""
    counts: NDArray[np.int64]
    """(B,) trees found; -1 before the first search."""

    @classmethod
    def of(cls, batch: int, k: int, size: int) -> Self:
        """Make room for k trees of each of so many sentences of at most so many nodes."""
        try:
            heads = np.full((batch, k, size), -1, np.int64)
        except ValueError:  # more than an address can tell; less than that is a MemoryError
            raise OptionError(
                f"k is {k}: there is no room for so many trees of {batch} sentences of "
                f"{size - 1} words; ask for fewer"
            ) from None
        return cls(
            heads=heads,
            weights=np.full((batch, k), -np.inf),
            exact=np.ones((batch, k), np.bool_),
            counts=np.full(batch, -1, np.int64),
        )
