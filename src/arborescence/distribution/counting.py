"""Exact counts of trees, by integer determinants or Eisner's recursion; comparison of tree sets.

The determinant of a Laplacian (Tutte 1984; single root Koo, Globerson, Carreras and Collins 2007),
with integers (Bareiss 1968); Eisner (1996) with sums and products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.core.faults import FINE
from arborescence.core.weights import as_weights
from arborescence.distribution.partition import Sums, no_gaps, partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

# If two log-counts differ by more than this, the counts differ.
_APART = 1e-6


# A tree with a lower log-probability has the probability 0 as a float64.
_IMPOSSIBLE = -745.0


class Kind(NamedTuple):
    """A kind of trees."""

    #: whether exactly one edge leaves the root
    single: bool
    #: whether the trees are projective
    projective: bool


def possible(scores: NDArray[np.float64], log_partition: float) -> NDArray[np.bool_]:
    """Return a mask (N, N) of the edges that a tree of probability above 0 (as a float64) may have.

    The bound is an edge's weight plus the weights of the best edges into all other words.
    """
    edges = scores.copy()
    best = edges.max(axis=0, initial=-np.inf)[1:]
    with np.errstate(over="ignore", invalid="ignore"):
        most = edges[:, 1:] - best + (best.sum() - log_partition)
        rounding = 1e-12 * (np.abs(edges[:, 1:]) + np.abs(best).sum() + abs(log_partition))
        edges[:, 1:][most < _IMPOSSIBLE - rounding] = -np.inf
    return edges > -np.inf


def leaves(
    own: NDArray[np.bool_], own_kind: Kind, other: NDArray[np.bool_], other_kind: Kind
) -> bool:
    """Return whether one set of trees has a tree that is not in another set.

    `own` and `other` (n + 1, n + 1) are masks of the present edges, ``[h, d]``; column 0 and the
    diagonal are ignored. `own` must have a tree of `own_kind`.

    A tree in both sets satisfies both kinds over the common edges, so it is enough to count. O(n²)
    if one set is obviously a subset. Else O(n³): in float64, or with integers if the counts are too
    close.
    """
    if len(own) == 1:
        return False
    shared = own & other
    both = Kind(own_kind.single or other_kind.single, own_kind.projective or other_kind.projective)
    if both == own_kind and not _edges(own & ~other).any():
        return False
    if _log_count(shared, both) < _log_count(own, own_kind) - _APART:
        return True
    return count_trees(shared, both) < count_trees(own, own_kind)


def count_trees(present: NDArray[np.bool_], kind: Kind) -> int:
    """Return the number of trees of a kind with the given edges, (n + 1, n + 1) bool. O(n³)."""
    edges = _edges(present).astype(int).astype(object)
    if len(edges) == 1:
        return 1
    if kind.projective:
        return _count_projective(edges.tolist(), kind.single)
    words, root = edges[1:, 1:], edges[0, 1:]
    laplacian = np.diag(words.sum(axis=0)) - words
    if kind.single:
        laplacian[0] = root
    else:
        laplacian += np.diag(root)
    return abs(_determinant(laplacian))


def _edges(present: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a copy without loops and without edges into the root."""
    edges = present.copy()
    edges[:, 0] = False
    np.fill_diagonal(edges, val=False)
    return edges


def _determinant(matrix: NDArray[np.object_]) -> int:
    """Return the absolute value of an integer determinant by Bareiss's exact elimination."""
    before = 1
    while len(matrix) > 1:
        pivots = np.flatnonzero(matrix[:, 0])
        if not pivots.size:
            return 0
        matrix[[0, pivots[0]]] = matrix[[pivots[0], 0]]
        pivot = matrix[0, 0]
        matrix = (pivot * matrix[1:, 1:] - np.outer(matrix[1:, 0], matrix[0, 1:])) // before
        before = pivot
    return int(matrix[0, 0])


def _count_projective(edges: list[list[int]], single: bool) -> int:
    """Count the derivations of each span of words, and finally the derivations of the root."""
    size = len(edges)
    first = 1 if single else 0
    # [i][j] and [j][i] are spans from i to j, with the head at i and at j.
    complete = [[int(i == j) for j in range(size)] for i in range(size)]
    closed = [[0] * size for _ in range(size)]
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            inside = sum(complete[i][r] * complete[j][r + 1] for r in range(i, j))
            closed[i][j] = inside * edges[i][j]
            closed[j][i] = inside * edges[j][i]
            complete[i][j] = sum(closed[i][r] * complete[r][j] for r in range(i + 1, j + 1))
            complete[j][i] = sum(closed[j][r] * complete[r][i] for r in range(i, j))
    if not single:
        return complete[0][-1]
    return sum(edges[0][r] * complete[r][1] * complete[r][-1] for r in range(1, size))


def _log_count(present: NDArray[np.bool_], kind: Kind) -> float:
    """Return the logarithm of `count_trees`, computed by the sums in float64."""
    scores = np.where(present, 0.0, -np.inf)[np.newaxis]
    every = np.empty(0, np.int64)
    sums = Sums.of(1, len(present), marginals=False)
    weights = as_weights(scores, every, kind.single)
    _, fault = partition(weights, every, *kind, sums, no_gaps(len(present)))
    return float(sums.log_partition[0]) if fault == FINE else -np.inf
