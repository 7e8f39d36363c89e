"""Scores as weights of edges: what sums over trees are made of.

A tree has one edge into each word. So all edges into a word may be scaled alike: that scales all
trees alike, and is put right at the end. Here the edges into each word sum to 1, so that no sum
over trees exceeds 1, however large the scores are.
"""

from __future__ import annotations

import numpy as np

from arborescence._jit import kernel

# A smaller sum over trees may have lost something to underflow.
SMALLEST = 1e-250


@kernel
def scale(scores: np.ndarray, n: int, single: bool, weights: np.ndarray, logs: np.ndarray) -> float:
    """Fill weights and their logarithms; return the logarithm of what all trees are scaled by.

    O(n²). The weight of a tree is the product of its edges' `weights`, times that scale.

    Parameters
    ----------
    scores : (N, N) float64, ``[h, d]``
    n : words
    single : whether all trees have one root edge. Then root edges have a scale of their own.
    weights, logs : (N, N) float64, filled; absent edges have 0 and -inf

    Returns
    -------
    shift : float
        NaN if a score is NaN or +inf; -inf if there is no tree, since no edge enters a word, or
        none leaves the root where it has to.
    """
    shift = 0.0
    first = 1 if single else 0
    weights[:] = 0.0
    logs[:] = -np.inf
    for d in range(1, n + 1):
        highest = -np.inf
        for h in range(n + 1):
            score = scores[h, d]
            if h != d:
                if not score < np.inf:
                    return np.nan
                if score > highest and h >= first:
                    highest = score
        if highest == -np.inf:
            if scores[0, d] == -np.inf:
                return -np.inf
            highest = scores[0, d]
        total = 0.0
        for h in range(first, n + 1):
            if h != d:
                weights[h, d] = np.exp(scores[h, d] - highest)
                total += weights[h, d]
        of_word = np.log(total) if total > 0.0 else 0.0
        for h in range(n + 1):
            if h != d:
                logs[h, d] = (scores[h, d] - highest) - of_word
                if total > 0.0:
                    weights[h, d] /= total
        shift += highest + of_word
    if single and n > 0:
        highest = logs[0, 1 : n + 1].max()
        if highest == -np.inf:
            return highest
        for d in range(1, n + 1):
            logs[0, d] -= highest
            weights[0, d] = np.exp(logs[0, d])
        shift += highest
    return shift
