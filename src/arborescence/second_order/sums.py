"""Sums over all projective trees with siblings: inside-outside over the spans of `projective`.

In logarithms: O(n³), with as many exponentials. Each tree has one derivation. The outside pass
divides a span's probability among the ways to build it (Baker 1979; Eisner 1996).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.checks import check_root
from arborescence.core.graph import in_threads
from arborescence.second_order.decoding import no_tree
from arborescence.second_order.parts import PartsBatch

if TYPE_CHECKING:
    from arborescence.core.choices import Root


class TreeSums(NamedTuple):
    """The result of `sum_trees`; arrays for a batch.

    Attributes
    ----------
    log_partition : float, or (...) float64
        The logarithm of the sum of ``exp(weight)`` over all trees.
    marginals : (..., N, N) float64
        ``[h, d]`` is the probability of the edge h -> d; 0 in the padding.
    """

    log_partition: Any
    marginals: Any


def sum_trees(
    scores: Any,
    siblings: Any = None,
    lengths: Any = None,
    *,
    root: Root = "single",
    threads: int = 1,
) -> TreeSums:
    """Sum over all projective trees; the probability of a tree is proportional to exp(weight).

    O(n³) time and O(n²) memory a sentence, in float64: the relative error is about the relative
    error of float64 times the largest weight of a tree.

    Parameters
    ----------
    scores, siblings, lengths, root, threads
        As in `decode`.

    Returns
    -------
    sums : TreeSums
        ``log_partition`` and ``marginals``. If `scores` is a torch tensor, the marginals are a
        tensor. The marginals are also the gradient of the log-partition in the scores.

    Raises
    ------
    ScoresError, NoTreeError, OptionError
        As in `decode`.

    Examples
    --------
    >>> import numpy as np
    >>> sums = sum_trees(np.zeros((3, 3)))
    >>> round(np.exp(sums.log_partition)), sums.marginals[:, 1:].tolist()
    (2, [[0.5, 0.5], [0.0, 0.5], [0.5, 0.0]])
    """
    single = check_root(root)
    batch = PartsBatch.of(scores, siblings, None, lengths)
    many, size, _ = batch.graph.scores.shape
    log_partitions, marginals = np.zeros(many), np.zeros((many, size, size))

    def run(start: int, stop: int) -> None:
        for b in range(start, stop):
            parts = batch.parts(b, single)
            batch.check(b, parts)
            nodes = len(parts.scores)
            charts = np.full((4, nodes, nodes), -np.inf)
            if nodes == 1:
                continue
            log_partitions[b] = sum_inside(parts.scores, parts.siblings, single, charts)
            if log_partitions[b] == -np.inf:
                raise no_tree(batch, b, single, projective=True)
            of_sentence = np.zeros((nodes, nodes))
            share_outside(parts.scores, parts.siblings, single, charts, of_sentence)
            marginals[b, :nodes, :nodes] = of_sentence

    in_threads(run, many, threads)
    shape = batch.graph.shape
    total = log_partitions.reshape(shape) if shape else float(log_partitions[0])
    return TreeSums(total, batch.graph.given_back(marginals))


@inlined_kernel
def log_sum(one: np.ndarray, other: np.ndarray, third: np.ndarray) -> float:
    """Return the logarithm of the sum of ``exp(one + other + third)``. O(n)."""
    highest = -np.inf
    for r in range(one.shape[0]):
        highest = max(highest, one[r] + other[r] + third[r])
    if highest == -np.inf:
        return highest
    total = 0.0
    for r in range(one.shape[0]):
        total += np.exp(one[r] + other[r] + third[r] - highest)
    result: float = highest + np.log(total)
    return result


@inlined_kernel
def log_add(one: float, other: float) -> float:
    """Return ``log(exp(one) + exp(other))``. O(1)."""
    high, low = max(one, other), min(one, other)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@inlined_kernel
def divide(
    share: float,
    total: float,
    one: np.ndarray,
    other: np.ndarray,
    third: np.ndarray,
    to_one: np.ndarray,
    to_other: np.ndarray,
) -> None:
    """Divide a span's probability among its splits, and add the shares to both parts. O(n)."""
    if share > 0.0:
        for r in range(one.shape[0]):
            part = share * np.exp(one[r] + other[r] + third[r] - total)
            to_one[r] += part
            to_other[r] += part


@kernel
@takes("float64[:, ::1], float64[:, :, ::1], bool, out float64[:, :, ::1]")
def sum_inside(scores: np.ndarray, siblings: np.ndarray, single: bool, charts: np.ndarray) -> float:
    """Fill the logarithms of the sums over each span's derivations; return the log-partition.

    O(n³).

    - scores, siblings: of `Parts`
    - single: whether exactly one edge leaves the root
    - charts: (4, N, N) float64, -inf: as in `fill_spans`, of one context
    """
    size = scores.shape[0]
    complete, across, incomplete, between = charts[0], charts[1], charts[2], charts[3]
    nothing = np.zeros(size)
    for j in range(size):
        complete[j, j] = across[j, j] = 0.0
        for i in range(j - 1, -1, -1):
            if i > 0:
                between[i, j] = between[j, i] = log_sum(
                    complete[i, i:j], complete[j, i + 1 : j + 1], nothing
                )
            for h, d in ((i, j), (j, i)):
                if d == 0 or scores[h, d] == -np.inf:
                    continue
                of_siblings = siblings[h, d] if siblings.shape[0] > 0 else nothing
                total = complete[d, h + 1 if h < d else h - 1] + of_siblings[h]
                if not (single and h == 0):
                    more = log_sum(
                        incomplete[h, i + 1 : j], between[d, i + 1 : j], of_siblings[i + 1 : j]
                    )
                    total = log_add(total, more)
                incomplete[h, d] = scores[h, d] + total
            complete[i, j] = across[j, i] = log_sum(
                incomplete[i, i + 1 : j + 1], across[j, i + 1 : j + 1], nothing
            )
            complete[j, i] = across[i, j] = log_sum(incomplete[j, i:j], across[i, i:j], nothing)
    log_partition: float = complete[0, size - 1]
    return log_partition


@kernel
@takes("float64[:, ::1], float64[:, :, ::1], bool, float64[:, :, ::1], out float64[:, ::1]")
def share_outside(
    scores: np.ndarray,
    siblings: np.ndarray,
    single: bool,
    charts: np.ndarray,
    marginals: np.ndarray,
) -> None:
    """Fill the marginals (N, N), which hold 0, from the charts of `sum_inside`. O(n³)."""
    size = scores.shape[0]
    complete, across, incomplete, between = charts[0], charts[1], charts[2], charts[3]
    shares = np.zeros_like(charts)
    nothing = np.zeros(size)
    shares[0, 0, size - 1] = 1.0
    for j in range(size - 1, 0, -1):
        for i in range(j):
            divide(
                shares[0, i, j] + shares[1, j, i],
                complete[i, j],
                incomplete[i, i + 1 : j + 1],
                across[j, i + 1 : j + 1],
                nothing,
                shares[2, i, i + 1 : j + 1],
                shares[1, j, i + 1 : j + 1],
            )
            divide(
                shares[0, j, i] + shares[1, i, j],
                complete[j, i],
                incomplete[j, i:j],
                across[i, i:j],
                nothing,
                shares[2, j, i:j],
                shares[1, i, i:j],
            )
            for h, d in ((i, j), (j, i)):
                share = shares[2, h, d]
                if d == 0 or not share > 0.0:
                    continue
                marginals[h, d] = share
                total = incomplete[h, d] - scores[h, d]
                of_siblings = siblings[h, d] if siblings.shape[0] > 0 else nothing
                nearest = h + 1 if h < d else h - 1
                first = complete[d, nearest] + of_siblings[h]
                shares[0, d, nearest] += share * np.exp(first - total)
                if not (single and h == 0):
                    divide(
                        share,
                        total,
                        incomplete[h, i + 1 : j],
                        between[d, i + 1 : j],
                        of_siblings[i + 1 : j],
                        shares[2, h, i + 1 : j],
                        shares[3, d, i + 1 : j],
                    )
            if i > 0:
                divide(
                    shares[3, i, j] + shares[3, j, i],
                    between[i, j],
                    complete[i, i:j],
                    complete[j, i + 1 : j + 1],
                    nothing,
                    shares[0, i, i:j],
                    shares[0, j, i + 1 : j + 1],
                )
