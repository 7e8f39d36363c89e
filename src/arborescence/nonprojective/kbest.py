"""The k best trees, and all trees, best first."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.nonprojective.baselines import trees_by_decoding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from arborescence.graph import Root


def trees(scores: Any, *, root: Root = "single") -> Iterator[tuple[float, NDArray[np.int64]]]:
    """Yield (weight, heads) of all trees, best first."""
    yield from trees_by_decoding(np.asarray(scores), root)


def kbest(
    scores: Any, k: int, lengths: Any = None, *, root: Root = "single", threads: int = 1
) -> tuple[Any, ...]:
    """Return the k best trees."""
    array = np.asarray(scores)
    if array.ndim == 2:
        weights, heads = zip(*islice(trees(array, root=root), k), strict=True)
        return np.array(heads), np.array(weights)
    batch, size = array.shape[:2]
    heads = np.full((batch, k, size), -1, np.int64)
    weights = np.full((batch, k), -np.inf)
    counts = np.zeros(batch, np.int64)
    for b in range(batch):
        n = size - 1 if lengths is None else int(lengths[b])
        some, of_some = kbest(array[b, : n + 1, : n + 1], k, root=root)
        counts[b] = len(some)
        heads[b, : len(some), : n + 1] = some
        weights[b, : len(some)] = of_some
    return heads, weights, counts
