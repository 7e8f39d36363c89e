"""What given head vectors weigh, where they are trees."""

from __future__ import annotations

import numpy as np

from arborescence.core.jit import kernel
from arborescence.core.tree import projective_kernel, tree_kernel


@kernel
def weigh(
    rows: np.ndarray,
    scores: np.ndarray,
    logs: np.ndarray,
    lengths: np.ndarray,
    single: bool,
    projective: bool,
    weights: np.ndarray,
) -> None:
    """Add up the edges of head vectors. O(n) each; O(n²) if projective.

    Parameters
    ----------
    rows : (B, K, N) int64
        K head vectors of each sentence; the root's place and the padding are not looked at.
    scores, logs : (B, N, N) float64, ``[b, h, d]``
        Which edges are present, and what is added up.
    lengths : (B,) int64, or (0,) if every sentence has N - 1 words
    single, projective
        Which trees.
    weights : (B, K) float64, filled; NaN where a head vector is none of the sentence's trees
    """
    batch, count, size = rows.shape
    mark = np.empty(size, np.int64)
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        for k in range(count):
            heads = rows[b, k, : n + 1]
            weights[b, k] = np.nan
            if tree_kernel(heads, single, mark) and (not projective or projective_kernel(heads)):
                total = 0.0
                present = True
                for d in range(1, n + 1):
                    present = present and scores[b, heads[d], d] > -np.inf
                    total += logs[b, heads[d], d]
                if present:
                    weights[b, k] = total
