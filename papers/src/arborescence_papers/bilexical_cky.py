"""The best projective tree by bilexical CKY, in O(n⁵) time and O(n³) memory: for teaching.

The algorithm of lexicalized context-free grammars, with words in place of phrases (Smith 2017;
Eisner and Satta 1999, Section 3). B[i, j, h] is the best weight of a tree over the words i to j
whose top word is h. Such a tree is made of two neighbours, of which one becomes a dependent of the
other::

    B[i, i, i] = 0
    B[i, j, h] = max over i <= k < j of
        h <= k:  B[i, k, h] + max over k < d <= j  of B[k + 1, j, d] + scores[h, d]
        h > k:   B[k + 1, j, h] + max over i <= d <= k of B[i, k, d] + scores[h, d]

The root, node 0, is the top of all words from 0 on. With a single root edge it takes one dependent,
all words at once. Eisner's algorithm finds the same trees in O(n³): see `decode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.compiling.kernels import takes
from arborescence.core.checks import check_root
from arborescence.core.faults import BAD_SCORE, FINE, NO_TREE, no_answer
from arborescence.core.graph import as_graph, in_float64
from arborescence.projective.decode import sum_sizes
from arborescence_papers.kernels import inlined_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.choices import Root


@inlined_kernel
def best_parts(
    scores: np.ndarray, best: np.ndarray, i: int, j: int, h: int, single: bool
) -> tuple[float, int, int]:
    """Return the best weight of a tree over i to j with the top h, and the k and d it is made of.

    O(n²). On a tie, the smallest k, then the smallest d.
    """
    weight, split, dependent = -np.inf, 0, 0
    stop = j
    if single and h == 0:  # the root has one dependent, and all words are below that
        stop = 1 if j == scores.shape[0] - 1 else 0
    for k in range(i, stop):
        if h <= k:
            mine, others, low, high = best[i, k, h], best[k + 1, j], k + 1, j
        else:
            mine, others, low, high = best[k + 1, j, h], best[i, k], i, k
        for d in range(low, high + 1):
            total = mine + others[d] + scores[h, d]
            if total > weight:
                weight, split, dependent = total, k, d
    return weight, split, dependent


@kernel
@takes("float64[:, :, ::1], bool, out float64[:, :, ::1], out int64[:, ::1], out int64[:, ::1]")
def bilexical_kernel(
    scores: np.ndarray, single: bool, best: np.ndarray, stack: np.ndarray, heads: np.ndarray
) -> tuple[int, int]:
    """Find the best projective tree of every sentence. O(n⁵) each.

    Parameters
    ----------
    scores : (B, N, N) float64, contiguous, ``[b, h, d]``
    single : whether exactly one edge may leave the root
    best : (N, N, N) float64, scratch
        B[i, j, h].
    stack : (N, 3) int64, scratch
    heads : (B, N) int64, filled

    Returns
    -------
    (sentence, fault) : the first sentence without a tree and its fault code; or the number of
        sentences and FINE
    """
    batch, size, _ = scores.shape
    for b in range(batch):
        heads[b] = -1
        if np.isnan(sum_sizes(scores[b], size - 1)[0]):
            return b, BAD_SCORE
        for j in range(size):
            best[j, j, j] = 0.0
            for i in range(j - 1, -1, -1):
                # The root is no dependent, so it is the top wherever it is.
                for h in range(i, 1 if i == 0 else j + 1):
                    best[i, j, h] = best_parts(scores[b], best, i, j, h, single)[0]
        if best[0, size - 1, 0] == -np.inf:
            return b, NO_TREE
        # Back from the whole sentence to its words: each edge splits a tree in two.
        stack[0] = 0, size - 1, 0
        top = 1
        while top > 0:
            top -= 1
            i, j, h = stack[top, 0], stack[top, 1], stack[top, 2]
            if i == j:
                continue
            _, k, d = best_parts(scores[b], best, i, j, h, single)
            heads[b, d] = h
            stack[top] = i, k, (h if h <= k else d)
            stack[top + 1] = k + 1, j, (d if h <= k else h)
            top += 2
    return batch, FINE


def bilexical_cky(scores: Any, root: Root = "single") -> NDArray[np.int64]:
    """Return the best projective trees by the naive algorithm. O(n⁵), and O(n³) memory.

    For tests, measurements and teaching: `arborescence.decode` with ``projective=True`` finds the
    same trees in O(n³). Weights are added up in float64. So of trees whose weights differ by less
    than their rounding errors, this may not be the best one.

    Parameters
    ----------
    scores : (..., N, N) array
        As in `arborescence.decode`; sentences of the same length.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.

    Returns
    -------
    heads : (..., N) int64

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape or type is wrong.
    NoTreeError
        If a sentence has no projective tree.

    Examples
    --------
    >>> bilexical_cky(np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]]))
    array([-1,  0,  1])
    """
    single = check_root(root)
    graph = as_graph(scores)
    count, size = graph.scores.shape[:2]
    heads = np.empty((count, size), np.int64)
    best, stack = np.empty((size, size, size)), np.empty((size, 3), np.int64)
    for part, batch, _ in in_float64(graph, 0, count):
        sentence, fault = bilexical_kernel(batch, single, best, stack, heads[part])
        if fault != FINE:
            raise no_answer(graph, part.start + sentence, fault, single)
    return heads.reshape(*graph.shape, size)
