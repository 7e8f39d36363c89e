"""The best label of each edge: one pass over the scores of all labels, in O(L n²)."""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import kernel, never_negative, takes
from arborescence.compiling.lanes import LANES, as_row, numbers, places, turn, where


@kernel
@never_negative
@takes("score[:, ::1], out score[::1]")
def highest_labels(scores: np.ndarray, best: np.ndarray) -> None:
    """Find the highest score in each row of (m, L), L > 0; NaN if there is one. O(m L)."""
    edges, many = scores.shape
    row = as_row(scores)
    tile = np.empty(LANES * LANES, scores.dtype)
    # Lanes that are wider than a row also read the next rows, which the last edges lack.
    whole = (scores.size - max(many, LANES) + many) // many // LANES * LANES
    for edge in range(0, whole, LANES):
        for k in range(LANES):
            at = (edge + k) * many
            first = row[places(at)]
            # Once NaN, it stays NaN: nothing is greater.
            top = where(numbers(0) < many, first, -np.inf)
            for block in range(LANES, many, LANES):
                score = row[places(at + min(block, many - LANES))]
                top = where((score > top) | (score != score), score, top)
            tile[places(k * LANES)] = top
        turn(tile)
        top = tile[places(0)]
        for k in range(1, LANES):
            score = tile[places(k * LANES)]
            top = where((score > top) | (score != score), score, top)
        best[places(edge)] = top
    for edge in range(max(whole, 0), edges):
        best[edge] = scores[edge, 0]
        for label in range(1, many):
            score = scores[edge, label]
            if score > best[edge] or score != score:
                best[edge] = score


@kernel
@never_negative
@takes("score[:, ::1], score[::1], int64[:, ::1], out int64[:, ::1]")
def labels_of(scores: np.ndarray, best: np.ndarray, heads: np.ndarray, labels: np.ndarray) -> None:
    """Find the best label of each edge of trees, on a tie the lowest; or -1. O(L n) each.

    Scores are (B · N · N, L) contiguous rows as in ``[b, h, d]``, `best` from `highest_labels`.
    """
    batch, size = heads.shape
    for b in range(batch):
        for d in range(size):
            labels[b, d] = -1
            if heads[b, d] < 0:
                continue
            edge = (b * size + heads[b, d]) * size + d
            label = 0
            while label < scores.shape[1] - 1 and scores[edge, label] != best[edge]:
                label += 1
            labels[b, d] = label
