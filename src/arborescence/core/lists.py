"""Arrays for the k-best lists of a batch, which the kernels of each family fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Lists(NamedTuple):
    """The trees of each sentence, best first."""

    heads: NDArray[np.int64]
    """(B, k, N), -1 where there is no tree yet."""
    weights: NDArray[np.float64]
    """(B, k)"""
    counts: NDArray[np.int64]
    """(B,) trees found; -1 before the first search."""

    @classmethod
    def of(cls, batch: int, k: int, size: int) -> Self:
        """Allocate k trees for each of `batch` sentences of at most `size` nodes."""
        try:
            heads, weights = np.empty((batch, k, size), np.int64), np.empty((batch, k))
        except (MemoryError, ValueError):  # the second: larger than the address space
            raise OptionError(
                f"k is {k}: there is no room for so many trees of {batch} sentences of "
                f"{size - 1} words; ask for fewer"
            ) from None
        counts = np.empty(batch, np.int64)
        heads.fill(-1)  # in less than half the time of np.full
        weights.fill(-np.inf)
        counts.fill(-1)
        return cls(heads, weights, counts)


def longer(array: NDArray[Any], used: int) -> NDArray[Any]:
    """Return an array twice as long, with the same first `used` rows."""
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
