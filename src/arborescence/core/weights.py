"""Scores as weights of edges, scaled for sums over trees: the edges into a word sum to 1.

A tree has one edge into each word. So all edges into a word may be scaled alike: that scales all
trees alike, and is put right at the end. Here the edges into each word sum to 1, so that no sum
over trees exceeds 1, however large the scores are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.core.double_double import two_sum
from arborescence.core.jit import inlined_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A smaller sum over trees may have lost something to underflow.
SMALLEST = 1e-250

# Floats hold logarithms of this size to ten digits after the point. What trees cannot do without
# may not be further below the best edges: such scores go another way (`far`).
FURTHEST = 1e6

# Scores so far apart that one edge is next to nothing beside the other; and its weight, at most.
_FAR = 400.0
_NEXT_TO_NOTHING = 1e-150


class Weights(NamedTuple):
    """Scores as weights: that of a tree is the product of its edges', times two scales."""

    weights: NDArray[np.float64]
    """(B, N, N): ``[b, h, d]``, 0 for absent edges; nothing is written where there is padding."""
    logs: NDArray[np.float64]
    """(B, N, N): their logarithms."""
    shifts: NDArray[np.float64]
    """(B,): the logarithm of the first scale, of what the best edges weigh, by `lower`. NaN if a
    score is NaN or +inf; -inf if there is no tree, since no edge enters a word, or none leaves the
    root; +inf if root edges are too far from others for floats."""
    scales: NDArray[np.float64]
    """(B,): that of the second, by `normalize`, which is moderate."""


def as_weights(scores: NDArray[np.float64], lengths: NDArray[np.int64], single: bool) -> Weights:
    """Return scores as weights. O(n²).

    Parameters
    ----------
    scores : (B, N, N) float64, contiguous, ``[b, h, d]``
    lengths : (B,) int64, or (0,) if every sentence has N - 1 words
    single
        Whether all trees have one root edge. Then root edges have a scale of their own, and the
        edges into each word that sum to 1 are those from other words.
    """
    logs, weights = np.empty_like(scores), np.empty_like(scores)
    shifts, scales = np.empty(len(scores)), np.zeros(len(scores))
    lower(scores, lengths, single, logs, shifts)
    # NumPy takes a fifth of the time that a kernel takes. Root edges that overflow are scaled down
    # in the next step.
    with np.errstate(over="ignore"):
        if lengths.size:
            for b, n in enumerate(lengths.tolist()):
                np.exp(logs[b, : n + 1, : n + 1], out=weights[b, : n + 1, : n + 1])
        else:
            np.exp(logs, out=weights)
    normalize(weights, logs, shifts, scales, lengths, single)
    return Weights(weights, logs, shifts, scales)


@kernel
def lower(
    scores: np.ndarray, lengths: np.ndarray, single: bool, logs: np.ndarray, shifts: np.ndarray
) -> None:
    """Fill the `logs`: scores less the highest of each word. O(n²).

    If `single`, all root edges are lowered first, until the root is a better head than another word
    for one word at most. For that one the highest score is that of the root edge, if hardly
    anything can compete with it; else, and for all others, that of an edge from another word.
    """
    batch, size, _ = scores.shape
    highest, raised = np.empty(size), np.empty(size)
    first = 1 if single else 0
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        highest[:] = -np.inf
        logs[b, : n + 1, : n + 1] = -np.inf
        shifts[b] = 0.0
        for h in range(n + 1):
            for d in range(1, n + 1):
                score = scores[b, h, d]
                if h != d:
                    if not score < np.inf:
                        shifts[b] = np.nan
                    if h >= first and score > highest[d]:
                        highest[d] = score
        too_high = surplus(scores[b, 0], highest, n) if single else 0.0
        shifts[b] += too_high if too_high < FURTHEST else np.inf
        lost = 0.0
        for d in range(1, n + 1):
            raised[d] = 0.0
            if single and scores[b, 0, d] - highest[d] > too_high + _FAR:
                highest[d] = scores[b, 0, d]
                raised[d] = too_high
            shifts[b], rounded = two_sum(shifts[b], highest[d])
            lost += rounded - raised[d]
        if abs(lost) < np.inf:
            shifts[b] += lost
        if not abs(shifts[b]) < np.inf:
            continue
        # The difference first, so that it is exact where scores lie close to each other.
        for h in range(n + 1):
            for d in range(1, n + 1):
                if h != d:
                    logs[b, h, d] = scores[b, h, d] - highest[d] + raised[d]
                    if h == 0:
                        logs[b, h, d] -= too_high


@kernel
def surplus(root: np.ndarray, highest: np.ndarray, n: int) -> float:
    """Return by how much root edges may be lowered: by what the second best one is ahead. O(n)."""
    ahead, second = -np.inf, -np.inf
    for d in range(1, n + 1):
        lead = root[d] - highest[d] if root[d] > -np.inf else -np.inf
        if lead > ahead:
            ahead, second = lead, ahead
        elif lead > second:
            second = lead
    return second if 0.0 < second < np.inf else 0.0


@kernel
def normalize(
    weights: np.ndarray,
    logs: np.ndarray,
    shifts: np.ndarray,
    scales: np.ndarray,
    lengths: np.ndarray,
    single: bool,
) -> None:
    """Make the weights of the edges into each word sum to 1, and the highest root edge's 1. O(n²).

    The latter if `single`; then the former goes for edges from other words.
    """
    batch, size, _ = weights.shape
    totals, logs_of_totals = np.empty(size), np.empty(size)
    first = 1 if single else 0
    for b in range(batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        if n == 0 or not abs(shifts[b]) < np.inf:
            continue
        totals[:] = 0.0
        for h in range(first, n + 1):
            for d in range(1, n + 1):
                totals[d] += weights[b, h, d]
        for d in range(1, n + 1):
            if totals[d] < _NEXT_TO_NOTHING:
                totals[d] = 1.0  # the root is the only head, or all but the only one
            logs_of_totals[d] = np.log(totals[d])
            scales[b] += logs_of_totals[d]
            totals[d] = 1.0 / totals[d]
        for h in range(n + 1):
            for d in range(1, n + 1):
                weights[b, h, d] *= totals[d]
                logs[b, h, d] -= logs_of_totals[d]
        if single:
            best = logs[b, 0, 1 : n + 1].max()
            if best > -FURTHEST:
                scales[b] += best
            else:
                shifts[b] = best if best == -np.inf else np.inf
            if best > -np.inf:
                for d in range(1, n + 1):
                    logs[b, 0, d] -= best
                    weights[b, 0, d] = np.exp(logs[b, 0, d])


@inlined_kernel
def scale_column(marginals: np.ndarray, n: int, d: int) -> None:
    """Make the marginals of the edges into a word sum to 1, which large logarithms blur. O(n)."""
    total = 0.0 * marginals[0, d]
    for h in range(n + 1):
        total += marginals[h, d]
    if total.real > 0.0:
        for h in range(n + 1):
            marginals[h, d] /= total
