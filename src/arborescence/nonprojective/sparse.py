"""The best tree of a graph given as an edge list: `decode_sparse` (Edmonds 1967, Tarjan 1977)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arborescence.core.checks import check_root
from arborescence.core.edge_list import as_edge_list
from arborescence.core.faults import BAD_NODE, BAD_SCORE, FINE, NO_SINGLE_ROOT, NOT_GREEDY, listed
from arborescence.errors import NoTreeError
from arborescence.nonprojective.decode import decode_plainly
from arborescence.nonprojective.sparse_kernels import sparse_kernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Root, Tensor, TensorLike


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
    tree, one pass over the edges is enough. From half of all possible edges on, `decode`'s
    algorithm takes over.

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
        The head of each word; -1 for the root. If `weights` is a torch tensor, a tensor on the same
        device.

    Raises
    ------
    ScoresError
        If a weight is NaN or +inf, a node is not in 0 to n, or shapes or types are invalid.
    NoTreeError
        If there is no tree; the message names words that the root does not reach.

    Notes
    -----
    The tree is the best tree in real arithmetic over the given floats, as in `decode`. The choice
    among equally good trees does not depend on the order of the edges.

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
    edges = as_edge_list(n, heads, deps, weights, "decode_sparse")
    nodes = edges.words + 1
    tree = np.empty(nodes, np.int64)
    # With half of all edges, a matrix is faster, and takes less memory than the list.
    size = nodes if 2 * edges.weights.size >= nodes**2 else 0
    matrix = np.empty((size, size))
    fault, edge = sparse_kernel(*edges[:4], single, matrix, tree)
    if fault == NOT_GREEDY:
        best_heads = decode_plainly(matrix, single)
        if best_heads is not None:
            return edges.give_back(best_heads)
        # There is no tree: the algorithm on the list tells which words are not reached.
        fault, edge = sparse_kernel(*edges[:4], single, np.empty((0, 0)), tree)
    if fault == FINE:
        return edges.give_back(tree)
    if fault in (BAD_NODE, BAD_SCORE):
        raise edges.fault(fault, edge)
    if fault == NO_SINGLE_ROOT:
        raise NoTreeError(
            "no tree with a single root exists: no child of the root reaches all other words; "
            "root='multi' allows several children"
        )
    lost = np.flatnonzero(tree == 0)
    raise NoTreeError(
        f"no tree exists: no edge enters {listed(lost)}"
        + (" from outside them" if lost.size > 1 else "")
    )
