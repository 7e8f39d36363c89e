"""`kbest`, `trees`, `second_best`: Zmigrod et al. (2021); projective: Huang and Chiang (2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

import numpy as np

from arborescence.core.best_first import TreeLists, fill_lists, list_one, stream
from arborescence.core.checks import check_count, check_flag, check_root, mask_is_lengths
from arborescence.core.graph import as_graph, in_threads
from arborescence.errors import NoTreeError, ScoresError
from arborescence.inference.decode import Array
from arborescence.nonprojective.kbest import KBestState
from arborescence.projective.kbest import ProjectiveKBestState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import BatchOptions, Root, Tensor, TensorLike, Tensors, Which


class KBest(NamedTuple, Generic[Array]):
    """The k best trees, from `kbest`.

    Attributes
    ----------
    heads : (m, N) or (..., k, N) int64 array or tensor
        The head vectors, best first.
    weights : (m,) or (..., k) float64 array or tensor
        The weights of the trees.
    counts : () or (...) int64 array or tensor
        The number of trees of each sentence.
    """

    heads: Array
    weights: Array
    counts: Array


class Tree(NamedTuple, Generic[Array]):
    """A tree and its weight, from `trees`.

    Attributes
    ----------
    heads : (N,) int64 array or tensor
        The head vector.
    weight : float
        The weight of the tree.
    """

    heads: Array
    weight: float


class SecondBest(NamedTuple, Generic[Array]):
    """The second best tree, from `second_best`.

    Attributes
    ----------
    heads : (N,) int64 array or tensor
        The head vector.
    weight : float
        The weight of the tree.
    edge : (int, int)
        The edge of the best tree whose removal gives the second best tree.
    """

    heads: Array
    weight: float
    edge: tuple[int, int]


@overload
def kbest(
    scores: Tensors[Tensor], k: int, lengths: Any = None, **options: Unpack[BatchOptions]
) -> KBest[Tensor]: ...
@overload
def kbest(
    scores: ArrayLike, k: int, lengths: Any = None, **options: Unpack[BatchOptions]
) -> KBest[NDArray[Any]]: ...
@mask_is_lengths
def kbest(
    scores: Any,
    k: int,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    threads: int = 1,
) -> KBest[Any]:
    """Return the k trees of highest weight, exactly, best first.

    Zmigrod, Vieira and Cotterell (2021), Theorems 3 and 4: O(n²) a tree, with or without the root
    constraint. Most trees need only one contraction of the graph in this implementation. Projective
    trees: Algorithm 3 of Huang and Chiang (2005), O(n³) for the chart and O(n log k) a tree.
    Rounding does not matter; the order of trees of equal weight depends only on the scores of their
    sentence.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        As in `decode`.
    k : int
        The number of trees, at least 1. If fewer exist, all of them are returned.
    lengths, root, projective, threads
        As in `decode`.

    Returns
    -------
    heads : (m, N) int64, or (..., k, N) for a batch
        The m <= k trees; the first is the tree from `decode`. In a batch, a sentence with fewer
        than k trees is padded with rows of -1.
    weights : (m,) float64, or (..., k)
        Their weights, each the exact sum rounded once; -inf for padding.
    counts : () int64, or (...) for a batch
        The number m of trees found for each sentence.

    Raises
    ------
    ScoresError, NoTreeError
        As in `decode`.
    OptionError
        If an option is invalid, or k trees of each sentence do not fit into memory.

    Examples
    --------
    The graph of Zmigrod et al. (2021), Fig. 2: four of its seven arborescences have one root edge.

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.full((5, 5), -np.inf)
    >>> heads, deps = [0, 0, 1, 2, 2, 3, 4, 4], [1, 2, 3, 3, 4, 2, 3, 1]
    >>> scores[heads, deps] = [90, 40, 10, 30, 60, 50, 70, 20]
    >>> best = arb.kbest(scores, k=10)
    >>> best.weights
    array([210., 190., 150., 130.])
    >>> best.heads
    array([[-1,  0,  3,  1,  2],
           [-1,  4,  0,  4,  2],
           [-1,  4,  0,  2,  2],
           [-1,  4,  0,  1,  2]])
    >>> arb.kbest(scores, k=10, root="multi").weights
    array([260., 220., 210., 200., 190., 150., 130.])
    """
    k = check_count(k)
    single = check_root(root)
    states = ProjectiveKBestState if check_flag(projective) else KBestState
    graph = as_graph(scores, lengths)
    if not graph.shape:
        check_count(threads, "threads")
        heads, weights = list_one(states.kept(graph), graph, single, k)
        return KBest(*map(graph.give_back, (heads, weights, np.array(len(weights)))))
    batch, size, _ = graph.scores.shape
    lists = TreeLists.of(batch, k, size)
    in_threads(
        lambda *share: fill_lists(states.kept(graph), graph, single, lists, *share), batch, threads
    )
    return KBest(*map(graph.given_back, lists))


@overload
def trees(scores: TensorLike[Tensor], **which: Unpack[Which]) -> Iterator[Tree[Tensor]]: ...
@overload
def trees(scores: ArrayLike, **which: Unpack[Which]) -> Iterator[Tree[NDArray[np.int64]]]: ...
def trees(scores: Any, *, root: Root = "single", projective: bool = False) -> Iterator[Tree[Any]]:
    """Return a lazy iterator over all trees, best first.

    The trees and their order are as in `kbest`. O(n²) time and less than 100 n bytes a tree;
    less time and more memory if projective.

    Parameters
    ----------
    scores : (N, N) array or torch tensor
        As in `decode`. It is copied, so later changes have no effect.
    root, projective
        As in `decode`.

    Yields
    ------
    heads : (N,) int64
        The tree.
    weight : float
        The exact sum of its scores, rounded once.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape or type is invalid.
    NoTreeError
        If there is no tree.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> for heads, weight in arb.trees(scores):
    ...     print(heads, weight)
    [-1  0  1] 8.0
    [-1  2  0] 6.0
    """
    single = check_root(root)
    states = ProjectiveKBestState if check_flag(projective) else KBestState
    graph = as_graph(scores)
    if graph.shape:
        raise ScoresError(f"trees takes one sentence, (N, N), not a batch {graph.shape}")
    graph = graph._replace(scores=graph.scores.copy())
    best_first = stream(states.of(graph), graph, single)
    return (Tree(graph.give_back(heads), weight) for heads, weight in best_first)


@overload
def second_best(scores: TensorLike[Tensor], **which: Unpack[Which]) -> SecondBest[Tensor]: ...
@overload
def second_best(scores: ArrayLike, **which: Unpack[Which]) -> SecondBest[NDArray[np.int64]]: ...
def second_best(scores: Any, *, root: Root = "single", projective: bool = False) -> SecondBest[Any]:
    """Return the second best tree, and an edge of the best tree whose removal gives it.

    Zmigrod, Vieira and Cotterell (2021), Theorem 2: O(n²). Projective trees: O(n³).

    Parameters
    ----------
    scores : (N, N) array or torch tensor
        As in `decode`.
    root, projective
        As in `decode`.

    Returns
    -------
    heads : (N,) int64
        The second best tree.
    weight : float
        Its weight.
    edge : (int, int)
        An edge (h, d) of the best tree. Without this edge, `heads` would be the best tree.

    Raises
    ------
    ScoresError
        As in `trees`.
    NoTreeError
        If there is no second tree.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> arb.second_best(scores)
    SecondBest(heads=array([-1,  2,  0]), weight=6.0, edge=(0, 1))
    """
    graph = as_graph(scores)
    if graph.shape:
        raise ScoresError(f"second_best takes one sentence, (N, N), not a batch {graph.shape}")
    heads, weights, _ = kbest(scores, 2, root=root, projective=projective)
    if len(weights) < 2:
        raise NoTreeError("no second tree exists: the best tree is the only one")
    # The edge can be any edge of the best tree that the second best tree lacks: among the trees
    # without this edge, the second best tree is the best tree.
    d = int((heads[0] != heads[1]).nonzero()[0][0])
    return SecondBest(heads[1], float(weights[1]), (int(heads[0][d]), d))
