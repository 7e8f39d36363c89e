"""Head vectors: tests for trees and projectivity, the number of root edges, and the weight.

All functions take one head vector of shape (N,), or a batch of shape (..., N) whose rows are padded
with -1, as NumPy arrays, torch tensors or lists. `find` is for disjoint sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, inlined_kernel, kernel, takes
from arborescence.core.accumulator import rounded_sum
from arborescence.core.checks import check_root
from arborescence.core.conversion import as_array
from arborescence.core.graph import Graph, as_graph
from arborescence.errors import ScoresError, TreeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root


@indexing_kernel
def spans(heads: np.ndarray, n: int, single: bool, above: np.ndarray) -> bool:
    """Tell whether heads within 0..n form a tree of n words, with one root edge if `single`.

    `above` becomes 0 exactly for the words that the root reaches. O(n log depth): `above` holds an
    ancestor of each word, each round replaces it by its own ancestor, and the last round brings no
    more words to the root.
    """
    roots = 0
    for d in range(1, n + 1):
        above[d] = heads[d]
        roots += 1 if heads[d] == 0 else 0
    above[0] = 0
    before, left = n + 1, n - roots
    while 0 < left < before:
        before, left = left, 0
        for d in range(1, n + 1):
            x = above[above[d]]
            above[d] = x
            left += 1 if x != 0 else 0
    return left == 0 and (roots == 1 or not single)


@kernel
@takes("int64[::1], bool, out int64[::1]")
def tree_kernel(heads: np.ndarray, single: bool, above: np.ndarray) -> bool:
    """Tell whether ``heads`` (n + 1,) int64 is a tree; ``above`` is (n + 1,) scratch."""
    n = heads.shape[0] - 1
    for d in range(1, n + 1):
        if heads[d] < 0 or heads[d] > n:
            return False
    return n == 0 or spans(heads, n, single, above)


@kernel
@takes("int64[::1]")
def projective_kernel(heads: np.ndarray) -> bool:
    """Tell whether no two edges of ``heads`` (n + 1,) int64 cross. O(n · longest edge)."""
    for d in range(1, heads.shape[0]):
        low, high = min(heads[d], d), max(heads[d], d)
        for between in range(low + 1, high):
            if heads[between] < low or heads[between] > high:
                return False
    return True


@inlined_kernel
def last_word(row: np.ndarray) -> int:
    """Return the last word of a head vector before the padding."""
    d = len(row) - 1
    while d > 0 and row[d] < 0:
        d -= 1
    return d


@kernel
@takes("int64[:, ::1], bool, out bool[::1]")
def are_trees(rows: np.ndarray, single: bool, answers: np.ndarray) -> None:
    """Tell of each row of (B, N), padded with -1, whether it is a tree. O(n) each."""
    above = np.empty(rows.shape[1], np.int64)
    for b in range(rows.shape[0]):
        row = rows[b]
        answers[b] = row[0] == -1 and tree_kernel(row[: last_word(row) + 1], single, above)


@kernel
@takes("int64[:, ::1], out bool[::1]")
def are_projective(rows: np.ndarray, answers: np.ndarray) -> None:
    """Tell of each row of ``rows`` (B, N) int64 whether it is projective; as in `are_trees`."""
    for b in range(rows.shape[0]):
        row = rows[b]
        answers[b] = projective_kernel(row[: last_word(row) + 1])


@overload
def is_tree(heads: Sequence[int], root: Root = "single") -> bool: ...
@overload
def is_tree(heads: Sequence[Sequence[int]], root: Root = "single") -> NDArray[np.bool_]: ...
@overload
def is_tree(heads: Any, root: Root = "single") -> Any: ...
def is_tree(heads: Any, root: Root = "single") -> Any:
    """Tell whether head vectors are dependency trees.

    Parameters
    ----------
    heads : (..., N) whole numbers
        As from `decode`; of a `Sentence`, its `tree`.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.

    Returns
    -------
    answer : bool, or (...) bool array for a batch
        Also False if a head is out of range, or a word before the padding has no head. An empty
        sentence is a tree. O(n).

    Examples
    --------
    >>> is_tree([-1, 2, 0]), is_tree([-1, 0, 0]), is_tree([-1, 0, 0], root="multi")
    (True, False, True)
    >>> is_tree([[-1, 2, 0], [-1, 2, 1]])
    array([ True, False])
    """
    single = check_root(root)
    rows, shape = as_rows(heads)
    answers = np.empty(len(rows), np.bool_)
    are_trees(rows, single, answers)
    return answers.reshape(shape) if shape else bool(answers[0])


@overload
def is_projective(heads: Sequence[int]) -> bool: ...
@overload
def is_projective(heads: Sequence[Sequence[int]]) -> NDArray[np.bool_]: ...
@overload
def is_projective(heads: Any) -> Any: ...
def is_projective(heads: Any) -> Any:
    """Tell whether the edges of trees can be drawn above the sentence without crossing.

    Parameters
    ----------
    heads : (..., N) whole numbers
        Trees, as in `is_tree`.

    Returns
    -------
    answer : bool, or (...) bool array for a batch

    Raises
    ------
    TreeError
        If a head is out of range, or the root has a head.

    Examples
    --------
    >>> is_projective([-1, 2, 0, 2]), is_projective([-1, 3, 0, 2, 2])
    (True, False)
    """
    rows, shape = as_rows(heads)
    if (rows[:, :1] > 0).any():
        raise TreeError("heads[0] is for the root, and must be -1: for a Sentence, pass tree")
    _check_range(rows)
    answers = np.empty(len(rows), np.bool_)
    are_projective(rows, answers)
    return answers.reshape(shape) if shape else bool(answers[0])


@overload
def root_count(heads: Sequence[int]) -> int: ...
@overload
def root_count(heads: Sequence[Sequence[int]]) -> NDArray[np.int64]: ...
@overload
def root_count(heads: Any) -> Any: ...
def root_count(heads: Any) -> Any:
    """Return how many edges leave the root.

    Parameters
    ----------
    heads : (..., N) whole numbers

    Returns
    -------
    count : int, or (...) int64 array for a batch

    Examples
    --------
    >>> root_count([-1, 2, 0]), root_count([-1, 0, 0])
    (1, 2)
    """
    rows, shape = as_rows(heads)
    counts = np.count_nonzero(rows == 0, axis=1)
    return counts.reshape(shape) if shape else int(counts[0])


@overload
def tree_weight(scores: Any, heads: Sequence[int]) -> float: ...
@overload
def tree_weight(scores: Any, heads: Sequence[Sequence[int]]) -> NDArray[np.float64]: ...
@overload
def tree_weight(scores: Any, heads: Any) -> Any: ...
def tree_weight(scores: Any, heads: Any) -> Any:
    """Return the weights of trees: the sums of the scores of their edges.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        As in `arborescence.decode`.
    heads : (..., N) whole numbers

    Returns
    -------
    weight : float, or (...) float64 array for a batch
        The exact sum, rounded once; -inf if an edge is absent.

    Raises
    ------
    TreeError
        If the shapes do not match, or a head is out of range.
    ScoresError
        If an edge of a tree has the score NaN or +inf, or the scores have an unsupported type.

    Examples
    --------
    >>> tree_weight([[0, 5, 4], [0, 0, 3], [0, 2, 0]], [-1, 2, 0])
    6.0
    """
    graph = as_graph(scores)
    rows = rows_for(graph, heads)
    _check_range(rows)
    sentences, words = np.arange(len(rows))[:, np.newaxis], np.arange(rows.shape[1])
    ends = (words, rows) if graph.dependents_first else (rows, words)
    edges = graph.scores[sentences, *ends]
    edges[rows < 0] = 0  # padding has no edges
    edges[:, 0] = 0
    unusable = ~(edges < np.inf)
    if unusable.any():
        b, d = map(int, np.argwhere(unusable)[0])
        sentence = f"sentence {b}: " if graph.shape else ""
        raise ScoresError(
            f"{sentence}the edge {rows[b, d]} -> {d} of the tree has the score {edges[b, d]}; "
            "scores are finite, or -inf for an absent edge"
        )
    weights = list(map(rounded_sum, edges.tolist()))
    return np.array(weights, np.float64).reshape(graph.shape) if graph.shape else weights[0]


def as_rows(heads: Any) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Return a copy of heads as (B, N) int64, and the caller's leading dimensions."""
    try:
        array, _ = as_array(heads, "heads")
    except ScoresError as error:
        raise TreeError(str(error)) from None
    if array.ndim == 0 or array.shape[-1] == 0:
        raise TreeError("a head vector has at least an entry for the root: shape (..., N), N > 0")
    if array.dtype.kind not in "iu":
        raise TreeError(f"heads must be whole numbers, not {array.dtype}")
    return array.reshape(-1, array.shape[-1]).astype(np.int64, "C"), array.shape[:-1]


def rows_for(graph: Graph, heads: Any) -> NDArray[np.int64]:
    """Return heads as (B, N), as `as_rows` does; TreeError if they do not fit the scores."""
    rows, shape = as_rows(heads)
    size = graph.scores.shape[-1]
    if shape != graph.shape or rows.shape[1] != size:
        raise TreeError(
            f"heads of shape {(*shape, rows.shape[1])} do not fit scores of shape "
            f"{(*graph.shape, size, size)}: scores must be (..., N, N) for heads of (..., N)"
        )
    return rows


def word_count(row: NDArray[np.int64]) -> int:
    """Return the number of words before the padding."""
    headed = np.flatnonzero(row >= 0)
    return int(headed[-1]) if headed.size else 0


def _check_range(rows: NDArray[np.int64]) -> None:
    outside = (rows < -1) | (rows >= rows.shape[1])
    if outside.any():
        b, d = map(int, np.argwhere(outside)[0])
        raise TreeError(
            f"sentence {b}: the head of word {d} is {rows[b, d]}, outside -1 .. {rows.shape[1] - 1}"
        )


@inlined_kernel
def find(link: np.ndarray, x: int) -> int:
    """Return the representative of x's set, halving the path to it. O(log n) amortized."""
    while link[x] != x:
        link[x] = link[link[x]]
        x = link[x]
    return x
