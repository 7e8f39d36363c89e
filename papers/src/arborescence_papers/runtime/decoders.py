"""The decoders that are compared, all with our compiled kernels, on batches (B, N, N)."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.compiling.kernels import takes
from arborescence.inference.decode import decode
from arborescence.nonprojective.greedy import find_heads, new_greedy
from arborescence_papers.bilexical_cky import bilexical_cky
from arborescence_papers.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Decoder = Callable[[NDArray[Any]], NDArray[np.int64]]

GREEDY, UNCONSTRAINED, CONSTRAINED = "greedy pass", "without the constraint", "with the constraint"
N_RUNS, FALLBACK, REWEIGHTED = "n runs", "fallback", "reweighting"
EISNER, NAIVE = "Eisner", "bilexical CKY"


@kernel
@takes("float32[:, :, ::1], out int64[:, ::1]")
def greedy_pass(batch: np.ndarray, heads: np.ndarray) -> None:
    """Find the best head of each word: a lower limit of the time of any exact decoder."""
    n = batch.shape[1] - 1
    found = new_greedy(batch, n)
    for b in range(batch.shape[0]):
        find_heads(batch, False, b, n, 0, found)
        for d in range(1, n + 1):
            heads[b, d] = found.head[d]


@kernel
@takes("float32[:, :, ::1], out float64[:, :, ::1]")
def reweight(batch: np.ndarray, lowered: np.ndarray) -> None:
    """Copy graphs, with root edges lowered by more than any two trees differ. O(n²) per graph."""
    size = batch.shape[1]
    least = np.empty(size, batch.dtype)
    most = np.empty(size, batch.dtype)
    for b in range(batch.shape[0]):
        least[:] = np.inf
        most[:] = -np.inf
        for h in range(size):
            for d in range(size):
                score = batch[b, h, d]
                lowered[b, h, d] = score
                most[d] = score if score > most[d] else most[d]
                present = (score < least[d]) & (score > -np.inf)
                least[d] = score if present else least[d]
        by = 1 + (size - 1) * (np.float64(most.max()) - np.float64(least.min()))
        for d in range(size):
            lowered[b, 0, d] -= by


def greedy(batch: NDArray[Any]) -> NDArray[np.int64]:
    """Return the best head of each word; see `greedy_pass`."""
    heads = np.full(batch.shape[:2], -1, np.int64)
    greedy_pass(batch, heads)
    return heads


def by_n_runs(batch: NDArray[Any]) -> NDArray[np.int64]:
    """Return the best single-root trees, by one unconstrained run for each child of the root.

    As `baselines.best_of_n_runs`, but each batch contains the runs of all sentences for one child,
    so the overhead is negligible.
    """
    words = np.arange(1, batch.shape[1])
    return _best_of_runs(batch, np.broadcast_to(words, (len(batch), len(words))))


def by_fallback(batch: NDArray[Any]) -> NDArray[np.int64]:
    """Return the best single-root trees: one run, and more where its tree has several root edges.

    Footnote 4 of *root*: runs for each root edge are a fallback. One run for each root edge *of
    that tree* is enough.
    """
    # Let T be the best tree, U one with a single root edge, and S the words below the root edge of
    # T whose subtree holds the root word of U. T with the edges of U into S is a tree, so these do
    # not weigh more than those of T. U with the edges of T into S is a tree, too. Its single root
    # edge is of T, and it does not weigh less than U.
    heads: NDArray[np.int64] = decode(batch, root="multi")
    several = np.flatnonzero((heads == 0).sum(axis=1) > 1)
    if len(several):
        # The root edges of each tree; a tree with fewer of them than others repeats its last one.
        children = [np.flatnonzero(tree == 0) for tree in heads[several]]
        most = max(map(len, children))
        padded = np.array([np.pad(each, (0, most - len(each)), "edge") for each in children])
        heads[several] = _best_of_runs(batch[several], padded)
    return heads


def _best_of_runs(batch: NDArray[Any], children: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the best trees of runs, in each of which the root has one of `children`, (B, R)."""
    graphs = batch.copy()
    graphs[:, 0] = -np.inf
    heads = np.full(batch.shape[:2], -1, np.int64)
    best = np.full(len(batch), -np.inf)
    every = np.arange(len(batch))
    for run in children.T:
        graphs[every, 0, run] = batch[every, 0, run]
        trees = decode(graphs, root="multi")
        graphs[every, 0, run] = -np.inf
        edges = np.take_along_axis(batch[:, :, 1:], trees[:, None, 1:], axis=1)
        weights = edges.sum(axis=(1, 2), dtype=np.float64)
        better = weights > best
        best[better] = weights[better]
        heads[better] = trees[better]
    return heads


def by_reweighting(batch: NDArray[Any]) -> NDArray[np.int64]:
    """Return single-root trees by reweighting: a penalty on root edges, then one unconstrained run.

    As `baselines.reweighted`, compiled.
    """
    lowered = np.empty(batch.shape, np.float64)
    reweight(batch, lowered)
    heads: NDArray[np.int64] = decode(lowered, root="multi")
    return heads


#: All decoders. The last four should find the same trees.
DECODERS: Final[Mapping[str, Decoder]] = {
    GREEDY: greedy,
    UNCONSTRAINED: partial(decode, root="multi"),
    CONSTRAINED: decode,
    N_RUNS: by_n_runs,
    FALLBACK: by_fallback,
    REWEIGHTED: by_reweighting,
}

#: Decoders of projective trees. Both should find trees of the same weight.
PROJECTIVE: Final[Mapping[str, Decoder]] = {
    EISNER: partial(decode, projective=True),
    NAIVE: bilexical_cky,
}


def count_worse(batch: NDArray[Any], best: NDArray[np.int64], others: NDArray[np.int64]) -> int:
    """Return how many of `others` weigh less than the best trees, or have several root edges.

    Parameters
    ----------
    batch : (B, N, N)
    best : (B, N) int64
        The best trees with one root edge.
    others : (B, N) int64
        Trees that should have the same weight. The comparison is exact.

    Examples
    --------
    >>> scores = np.array([[[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]]])
    >>> count_worse(scores, np.array([[-1, 0, 1]]), np.array([[-1, 2, 0]]))
    1
    """
    words = np.arange(1, batch.shape[1])
    worse = 0
    for place in np.flatnonzero((best != others).any(axis=1)):
        scores, right, other = batch[place], best[place, 1:], others[place, 1:]
        lost = (*scores[right, words].tolist(), *(-scores[other, words]).tolist())
        worse += (other == 0).sum() != 1 or math.fsum(lost) > 0
    return int(worse)
