"""The k best labeled trees, and all of them, best first: `kbest_labeled` and `trees_labeled`.

The labels of a tree's edges are independent of each other. So the best labeled tree of a head
vector has the best label of each edge, and its weight is the weight of the head vector by the
highest scores over labels. The other labelings of a head vector are enumerated from a sorted list
of labels for each word. The result merges lazily a stream of head vectors, and a stream of
labelings for each head vector.

Weights are compared as integer multiples of the smallest float, so nothing is rounded.
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

import numpy as np

from arborescence.core.accumulator import BIAS_32, BIAS_64, rounded_whole, whole_number
from arborescence.core.best_first import TreeLists, most_trees
from arborescence.core.checks import check_count, check_flag, check_root, mask_is_lengths
from arborescence.errors import ScoresError
from arborescence.inference.decode import Array, as_labeled
from arborescence.inference.kbest import kbest, trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import BatchOptions, Root, Tensor, TensorLike, Tensors, Which


class LabeledTree(NamedTuple, Generic[Array]):
    """A labeled tree and its weight, from `trees_labeled`.

    Attributes
    ----------
    heads : (N,) int64 array or tensor
        The head vector.
    labels : (N,) int64 array or tensor
        The label of the edge into each word; -1 for the root.
    weight : float
        The weight of the labeled tree.
    """

    heads: Array
    labels: Array
    weight: float


class KBestLabeled(NamedTuple, Generic[Array]):
    """The k best labeled trees, from `kbest_labeled`.

    Attributes
    ----------
    heads : (m, N) or (..., k, N) int64 array or tensor
        The head vectors, best first.
    labels : (m, N) or (..., k, N) int64 array or tensor
        The label of the edge into each word; -1 for the root and for padding.
    weights : (m,) or (..., k) float64 array or tensor
        The weights of the labeled trees.
    counts : () or (...) int64 array or tensor
        The number of labeled trees of each sentence.
    """

    heads: Array
    labels: Array
    weights: Array
    counts: Array


@overload
def kbest_labeled(
    scores: Tensors[Tensor], k: int, lengths: Any = None, **options: Unpack[BatchOptions]
) -> KBestLabeled[Tensor]: ...
@overload
def kbest_labeled(
    scores: ArrayLike, k: int, lengths: Any = None, **options: Unpack[BatchOptions]
) -> KBestLabeled[NDArray[Any]]: ...
@mask_is_lengths
def kbest_labeled(
    scores: Any,
    k: int,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    threads: int = 1,
) -> KBestLabeled[Any]:
    """Return the k best labeled trees, exactly and in order.

    Trees that differ only in a label are different trees: the graph is a multigraph, with one edge
    per label between the same two nodes.

    Parameters
    ----------
    scores : (..., N, N, L) array or torch tensor
        As in `decode_labeled`.
    k : int
        The number of trees.
    lengths, root, projective
        As in `decode`.
    threads : int
        The number of threads that search for the head vectors of a batch. The calling thread
        chooses the labels.

    Returns
    -------
    heads : (m, N) int64, or (..., k, N) for a batch
        Head vectors, best first; m is k, or the number of labeled trees if that is less. In a
        batch, missing trees are rows of -1, and there are fewer than k rows only if even a complete
        graph has fewer trees.
    labels : (m, N) int64, or (..., k, N) for a batch
        ``labels[..., i, d]`` is the label of the edge into d; -1 for the root and for padding.
    weights : (m,) float64, or (..., k) for a batch
        The exact sums, rounded once. In a batch, -inf for missing trees.
    counts : () int64, or (...) for a batch
        The number m of labeled trees of each sentence.

    Raises
    ------
    ScoresError, NoTreeError
        As in `decode`.

    Notes
    -----
    O(k n²) for the head vectors, or as in `kbest` if projective; O(L n²) for the best label
    of each edge, O(L log L) for each edge that occurs in one of the trees, and O(n + log k) for
    each tree. The first tree is as from `decode_labeled`. Trees of equal weight are in the order
    in which `trees` yields their head vectors, and the order depends only on the scores.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.zeros((3, 3, 2))
    >>> scores[0, 2] = [1.0, 5.0]
    >>> scores[2, 1] = [6.0, 4.0]
    >>> best = arb.kbest_labeled(scores, 3)
    >>> best.heads
    array([[-1,  2,  0],
           [-1,  2,  0],
           [-1,  2,  0]])
    >>> best.labels
    array([[-1,  0,  1],
           [-1,  1,  1],
           [-1,  0,  0]])
    >>> best.weights
    array([11.,  9.,  7.])
    """
    k = check_count(k)
    array, lengths, give_back = as_labeled(scores, lengths)
    # All head vectors of the k best labeled trees are among the k best head vectors. There may be
    # fewer head vectors than labeled trees.
    most = most_trees(array.shape[-2] - 1, check_root(root), check_flag(projective))
    heads, _, counts = kbest(
        array.max(axis=-1), min(k, most), lengths, root=root, projective=projective, threads=threads
    )
    batch = array.ndim > 3
    results = _of_batch(array, k, heads, counts) if batch else _of_one(array, k, heads)
    return KBestLabeled(*map(give_back, results))


@overload
def trees_labeled(
    scores: TensorLike[Tensor], **which: Unpack[Which]
) -> Iterator[LabeledTree[Tensor]]: ...
@overload
def trees_labeled(
    scores: ArrayLike, **which: Unpack[Which]
) -> Iterator[LabeledTree[NDArray[np.int64]]]: ...
def trees_labeled(
    scores: Any, *, root: Root = "single", projective: bool = False
) -> Iterator[LabeledTree[Any]]:
    """Yield all labeled trees, best first, each once.

    Parameters
    ----------
    scores : (N, N, L) array or torch tensor
        As in `decode_labeled`. It is copied, so later changes have no effect.
    root, projective
        As in `decode`.

    Yields
    ------
    heads, labels : (N,) int64
        As in `decode_labeled`; new arrays each time.
    weight : float
        The exact sum, rounded once.

    Raises
    ------
    ScoresError, NoTreeError
        As in `decode`.

    Notes
    -----
    Order and cost are as in `kbest_labeled`, but the next head vector is computed only when all
    better labeled trees have been yielded.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[[0, 0], [5, 3]], [[0, 0], [0, 0]]])
    >>> for heads, labels, weight in arb.trees_labeled(scores):
    ...     print(heads, labels, weight)
    [-1  0] [-1  0] 5.0
    [-1  0] [-1  1] 3.0
    """
    array, _, give_back = as_labeled(scores)
    if array.ndim > 3:
        raise ScoresError(
            f"trees_labeled takes one sentence, (N, N, L), not a batch {array.shape[:-3]}"
        )
    vectors = trees(array.max(axis=-1), root=root, projective=projective)
    stream = _merge(array.copy(), (heads for heads, _ in vectors))
    return (
        LabeledTree(give_back(heads), give_back(labels), weight) for heads, labels, weight in stream
    )


def _of_one(array: NDArray[Any], k: int, heads: NDArray[np.int64]) -> KBestLabeled[NDArray[Any]]:
    """Label the head vectors (m, N) of a sentence."""
    vectors, labels, weights = zip(*islice(_merge(array, heads), min(k, sys.maxsize)), strict=True)
    lists = np.array(vectors), np.array(labels), np.array(weights), np.array(len(weights))
    return KBestLabeled(*lists)


def _of_batch(
    array: NDArray[Any], k: int, heads: NDArray[np.int64], trees_found: NDArray[np.int64]
) -> KBestLabeled[NDArray[Any]]:
    """Label the first `trees_found` (...) of the head vectors (..., K, N) of each sentence."""
    most, size = heads.shape[-2:]
    # Memory is allocated for k trees, or for all labelings of K head vectors if these are fewer.
    k = min(k, most * array.shape[-1] ** (size - 1))
    batch = trees_found.shape
    lists = TreeLists.of(trees_found.size, k, size)
    labels = np.full_like(lists.heads, -1)
    for b, index in enumerate(np.ndindex(batch)):
        stream = _merge(array[index], heads[index][: trees_found[index]])
        for i, tree in enumerate(islice(stream, k)):
            lists.heads[b, i], labels[b, i], lists.weights[b, i] = tree
            lists.counts[b] = i + 1
    return KBestLabeled(
        lists.heads.reshape(*batch, k, size),
        labels.reshape(*batch, k, size),
        lists.weights.reshape(*batch, k),
        lists.counts.reshape(batch),
    )


class _Edge(NamedTuple):
    """The labels that an edge can have."""

    #: the labels, best first; labels with equal scores in ascending order
    labels: list[int]
    #: the scores of these labels
    scores: list[float]
    #: the highest score, as an integer
    best: int
    #: the highest score minus the second; 0 if there is only one label
    gap: int


def _merge(
    scores: NDArray[Any], head_vectors: Iterable[NDArray[np.int64]]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], float]]:
    """Yield heads, labels and weights, best first, given the head vectors best first."""
    # The best labeling of a head vector is no better than the best labeling of the previous head
    # vector. So the next head vector is requested only after the latter has been yielded.
    bias = BIAS_32 if scores.dtype == np.float32 else BIAS_64
    edges: dict[tuple[int, int], _Edge] = {}
    waiting = iter(head_vectors)
    heap: list[tuple[int, int, list[int], list[int], Iterator[tuple[int, list[int]]]]] = []

    def push_next(
        number: int, heads: list[int], labelings: Iterator[tuple[int, list[int]]]
    ) -> None:
        for cost, labels in islice(labelings, 1):
            heappush(heap, (cost, number, heads, labels, labelings))

    def open_next(number: int) -> None:
        for vector in islice(waiting, 1):
            heads = vector.tolist()
            of_tree: list[_Edge | None] = []
            for d, h in enumerate(heads):
                if h >= 0 and (h, d) not in edges:
                    edges[h, d] = _sort_labels(scores[h, d], bias)
                of_tree.append(edges[h, d] if h >= 0 else None)
            push_next(number, heads, _labelings(of_tree, bias))

    newest = 0
    open_next(newest)
    while heap:
        cost, number, heads, labels, labelings = heappop(heap)
        yield np.array(heads), np.array(labels), rounded_whole(-cost, bias)
        if number == newest:
            newest += 1
            open_next(newest)
        push_next(number, heads, labelings)


def _labelings(edges: list[_Edge | None], bias: int) -> Iterator[tuple[int, list[int]]]:
    """Yield costs (negative weights, as integers) and labels of one head vector, best first."""
    # The edges are sorted by gap. Each labeling has exactly one predecessor, which is no worse. Its
    # successors are made at e, the last edge without its best label: e gets its next label; or the
    # edge after e gets its second label; or, if e has its second label, the edge after e gets its
    # second label and e gets its best label again. Each labeling costs O(log of the number of
    # labelings so far).
    cost = -sum(edge.best for edge in filter(None, edges))
    best = [edge.labels[0] if edge else -1 for edge in edges]
    yield cost, best
    free = [(d, edge) for d, edge in enumerate(edges) if edge and len(edge.labels) > 1]
    free.sort(key=lambda word: word[1].gap)
    if not free:
        return
    # A choice is (the previous choice or None, index in `free`, rank of the label).
    pushed = count()
    heap: list[tuple[int, int, Any, int, int]] = [(cost + free[0][1].gap, next(pushed), None, 0, 1)]
    while heap:
        cost, _, before, place, rank = heappop(heap)
        choice = before, place, rank
        yield cost, _with_choices(best, free, choice)
        edge = free[place][1]
        if rank + 1 < len(edge.labels):
            loss = whole_number(edge.scores[rank], bias) - whole_number(edge.scores[rank + 1], bias)
            heappush(heap, (cost + loss, next(pushed), before, place, rank + 1))
        if place + 1 < len(free):
            further = cost + free[place + 1][1].gap
            heappush(heap, (further, next(pushed), choice, place + 1, 1))
            if rank == 1:
                heappush(heap, (further - edge.gap, next(pushed), before, place + 1, 1))


def _with_choices(best: list[int], free: list[tuple[int, _Edge]], choice: Any) -> list[int]:
    """Return the labels of a choice: the best labels, changed by it and its predecessors."""
    labels = best.copy()
    while choice:
        choice, place, rank = choice
        word, edge = free[place]
        labels[word] = edge.labels[rank]
    return labels


def _sort_labels(scores: NDArray[Any], bias: int) -> _Edge:
    order = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores > -np.inf)]
    best_first = scores[order].tolist()
    best = whole_number(best_first[0], bias)
    gap = best - whole_number(best_first[1], bias) if len(best_first) > 1 else 0
    return _Edge(order.tolist(), best_first, best, gap)
