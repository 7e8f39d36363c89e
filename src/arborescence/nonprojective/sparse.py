"""The best tree of a graph given as an edge list: `decode_sparse` (Edmonds 1967, Tarjan 1977)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arborescence.core.errors import NoTreeError, OptionError, ScoresError
from arborescence.core.faults import BAD_NODE, BAD_SCORE, FINE, NO_SINGLE_ROOT, listed
from arborescence.core.graph import as_array, as_edges, check_root
from arborescence.nonprojective.sparse_kernels import sparse_kernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.graph import Root
    from arborescence.core.types import Tensor, TensorLike

# Kernels number words and contracted nodes with 32 bits.
_MOST_WORDS = 2**30 - 1


@overload
def decode_sparse(
    n: int, heads: Any, deps: Any, weights: TensorLike[Tensor], *, root: Root = "single"
) -> Tensor: ...
@overload
def decode_sparse(
    n: Any,
    heads: Any = None,
    deps: Any = None,
    weights: ArrayLike | None = None,
    *,
    root: Root = "single",
) -> NDArray[np.int64]: ...
def decode_sparse(
    n: Any, heads: Any = None, deps: Any = None, weights: Any = None, *, root: Root = "single"
) -> Any:
    """Return the tree of highest weight of a sparse graph, exactly.

    Edmonds' algorithm in the version of Tarjan (1977), corrected by Camerini, Fratta and Maffioli
    (1979): O(m log n) time and O(n + m) memory for n words and m edges. If the greedy graph is a
    tree, one pass over the edges is enough.

    Parameters
    ----------
    n : int, or (N, N) SciPy sparse matrix or array
        The number of words; the nodes are 0, the root, to n. Or a matrix of N = n + 1 nodes in any
        SciPy format, instead of all four arguments: ``matrix[h, d]`` is the weight of the edge h ->
        d. Each stored entry is an edge, also if it is zero; an entry stored twice is two edges.
    heads, deps : (m,) whole numbers
        The edges heads[i] -> deps[i], in any order. Of parallel edges the best one is used. Edges
        into the root and loops are ignored.
    weights : (m,) floats or whole numbers
        ``-inf`` means that the edge is absent; so does a masked entry of a masked array.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.

    Returns
    -------
    heads : (n + 1,) int64
        The head of each word; -1 for the root. A torch tensor, on the device of `weights`, if that
        is one.

    Raises
    ------
    ScoresError
        If a weight is NaN or +inf, a node is not in 0 to n, or shapes or types are invalid.
    NoTreeError
        If there is no such tree; the message names words that the root does not reach.

    Notes
    -----
    The tree is the best one in real arithmetic over the given floats, as in `decode`. Which of
    several equally good trees is returned does not depend on the order of the edges.

    Examples
    --------
    >>> import arborescence as arb
    >>> heads, deps = [0, 0, 1, 2, 2, 3, 4, 4], [1, 2, 3, 3, 4, 2, 3, 1]
    >>> weights = [90, 40, 10, 30, 60, 50, 70, 20]
    >>> arb.decode_sparse(4, heads, deps, weights, root="multi")
    array([-1,  0,  0,  4,  2])
    >>> arb.decode_sparse(4, heads, deps, weights)
    array([-1,  0,  3,  1,  2])
    """
    single = check_root(root)
    if hasattr(n, "tocoo"):
        if not heads is deps is weights is None:
            raise OptionError(
                "decode_sparse takes a matrix by itself, without heads, deps, weights"
            )
        words, of_heads, of_deps, of_edges = _from_matrix(n)
        give_back = None
    else:
        if heads is None or deps is None or weights is None:
            raise OptionError(
                "decode_sparse takes n, heads, deps and weights, or a SciPy sparse matrix"
            )
        weights, give_back = as_array(weights, "weights", absent=-np.inf)
        words, of_heads, of_deps, of_edges = _from_edges(n, heads, deps, weights)
    tree = np.empty(words + 1, np.int64)
    fault, edge = sparse_kernel(words, of_heads, of_deps, of_edges, single, tree)
    if fault == FINE:
        return give_back(tree) if give_back else tree
    if fault == BAD_NODE:  # the caller's numbers, as the conversion to int64 may wrap around
        head, dep = as_array(heads)[0][edge], as_array(deps)[0][edge]
        raise ScoresError(
            f"edge {edge} is {head} -> {dep}: nodes are 0, the root, to {words}, the last word"
        )
    if fault == BAD_SCORE:
        raise ScoresError(
            f"weights[{edge}], the edge {of_heads[edge]} -> {of_deps[edge]}, is {of_edges[edge]}; "
            "weights are finite, or -inf for an absent edge"
        )
    if fault == NO_SINGLE_ROOT:
        raise NoTreeError(
            "no tree with a single root exists: no one child of the root reaches all other words; "
            "root='multi' allows several"
        )
    lost = np.flatnonzero(tree == 0)
    raise NoTreeError(
        f"no tree exists: no edge enters {listed(lost)}"
        + (" from outside them" if lost.size > 1 else "")
    )


def _from_edges(
    n: Any, heads: Any, deps: Any, weights: Any
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Check the number of words and the edges, and convert them to the kernel's types."""
    try:
        words = operator.index(n)
    except TypeError:
        raise OptionError(
            f"n must be a whole number of words, or a SciPy sparse matrix, not {type(n).__name__}"
        ) from None
    if not 0 <= words <= _MOST_WORDS:
        raise OptionError(f"n must be between 0 and {_MOST_WORDS} words, not {words}")
    return words, *as_edges(("heads", "deps", "weights"), (heads, deps), weights)


def _from_matrix(
    matrix: Any,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the stored entries of a SciPy sparse matrix as edges."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ScoresError(
            f"the matrix must have shape (N, N) with N = words + 1, not {matrix.shape}"
        )
    edges = matrix.tocoo()
    return _from_edges(matrix.shape[0] - 1, edges.row, edges.col, edges.data)
