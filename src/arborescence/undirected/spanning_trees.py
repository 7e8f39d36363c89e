"""Maximum and minimum spanning trees of undirected graphs: Borůvka, Kruskal, Prim, Karger et al."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.conversion import as_array, as_float64, as_it_is
from arborescence.core.edge_list import as_edges
from arborescence.core.faults import BAD_NODE, FINE
from arborescence.core.random import as_generator
from arborescence.errors import OptionError, ScoresError
from arborescence.undirected.boruvka import boruvka
from arborescence.undirected.edges import UndirectedEdges, take_edges
from arborescence.undirected.kkt import kkt
from arborescence.undirected.kruskal import kruskal
from arborescence.undirected.prim import prim, prim_dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.core.random import Rng

Algorithm = Literal["auto", "boruvka", "kruskal", "prim", "kkt"]

# Kernels use int32 for nodes and edges.
_MOST = 2**31 - 1
# With at least this many edges per node, Kruskal's algorithm is faster than Borůvka's.
_MANY = 30
# With more nodes per edge, nodes get new numbers first.
_SPARSE = 4
_ALLOWED_WEIGHTS = {
    False: "weights are finite, or -inf for an absent edge",
    True: "with minimum=True, weights are finite, or +inf for an absent edge",
}


def spanning_tree(
    nodes: Any,
    u: Any = None,
    v: Any = None,
    weights: Any = None,
    *,
    algorithm: Algorithm = "auto",
    minimum: bool = False,
    rng: Rng = 0,
) -> Any:
    """Return the maximum spanning tree of an undirected graph, or the minimum spanning tree.

    Each component of the graph gets its own tree.

    Parameters
    ----------
    nodes : int, or (N, N) array or SciPy sparse matrix
        The number n of nodes 0, ..., n - 1. Or a matrix of weights instead of all four arguments: a
        symmetric array, whose diagonal is ignored; or a sparse matrix, in which each stored entry
        (also a zero) is an edge between its row and its column: one triangle is enough.
    u, v : (m,) whole numbers
        The edges ``u[i]`` - ``v[i]``. Parallel edges are allowed, loops are ignored.
    weights : (m,) floats or whole numbers
        Higher is better. An edge is absent if its weight is ``-inf``, or masked in a masked array.
    algorithm : {"auto", "boruvka", "kruskal", "prim", "kkt"}
        Borůvka's, O(m log n); Kruskal's with a filter (Osipov, Sanders and Singler 2009),
        O(m log m); Prim's, O(m log n), and O(N²) on an array; Karger, Klein and Tarjan's (1995),
        expected O(m). ``"auto"`` takes the fastest algorithm: Prim's on an array; else Kruskal's
        for 30 or more edges per node, and Borůvka's for fewer edges.
    minimum : bool
        Whether lower weights are better. Then ``+inf`` means that an edge is absent.
    rng : int or numpy.random.Generator
        The random numbers for "kkt". The tree does not depend on these numbers.

    Returns
    -------
    edges : (k,) int64, or (k, 2) int64
        The indices of the chosen edges, ascending; for a matrix, the pairs of nodes u < v, in
        order. If the weights are a torch tensor, a tensor on the same device.

    Raises
    ------
    ScoresError
        If a weight is NaN or +inf (-inf if `minimum`), a node is not one of 0 to n - 1, a matrix is
        not symmetric, or a shape or type is invalid.
    OptionError
        If `nodes` is negative, `rng` is no generator and no seed, or the algorithm is unknown.

    Notes
    -----
    Among edges of equal weight, the first edge is preferred (the lowest index, the first pair
    u < v, or the first entry of ``tocoo()``). So there is exactly one best tree, and every
    algorithm finds this tree.

    Examples
    --------
    >>> from arborescence.undirected import spanning_tree
    >>> u, v, weights = [0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [2.0, 7.0, 4.0, 1.0, 3.0]
    >>> spanning_tree(4, u, v, weights)
    array([1, 2, 4])
    >>> spanning_tree(4, u, v, weights, minimum=True, algorithm="kkt")
    array([0, 3, 4])
    >>> spanning_tree([[0, 5, 1], [5, 0, 3], [1, 3, 0]])
    array([[0, 1],
           [1, 2]])
    """
    check_algorithm(algorithm)
    if not hasattr(nodes, "tocoo") and not isinstance(nodes, (list, tuple)) and np.ndim(nodes) == 0:
        if u is None or v is None or weights is None:
            raise OptionError("spanning_tree takes nodes, u, v and weights, or a matrix")
        weights, give_back = as_array(weights, "weights", absent=np.inf if minimum else -np.inf)
        chosen = _span(nodes, u, v, weights, algorithm, minimum, rng)
        return give_back(chosen)
    if not u is v is weights is None:
        raise OptionError("spanning_tree takes a matrix by itself, without u, v and weights")
    return _pairs_of_matrix(nodes, algorithm, minimum, rng)


def _pairs_of_matrix(nodes: Any, algorithm: Algorithm, minimum: bool, rng: Rng) -> Any:
    """Return the pairs of nodes in the tree of a matrix: of an array, or a sparse matrix."""
    give_back: Callable[[NDArray[Any]], Any] = as_it_is
    if hasattr(nodes, "tocoo"):
        if len(nodes.shape) != 2 or nodes.shape[0] != nodes.shape[1]:
            raise ScoresError(f"a matrix of weights must have shape (N, N), not {nodes.shape}")
        entries, size = nodes.tocoo(), nodes.shape[0]
        u, v, weights = entries.row, entries.col, entries.data
    else:
        array, give_back = as_array(nodes, "weights", absent=np.inf if minimum else -np.inf)
        matrix, size = _as_matrix(array, minimum), len(array)
        if algorithm in ("auto", "prim"):
            pairs = _span_matrix(matrix, minimum)
            return give_back(pairs)
        u, v = np.triu_indices(size, 1)
        weights = matrix[u, v]
    chosen = _span(size, u, v, weights, algorithm, minimum, rng)
    pairs = _in_order(u[chosen], v[chosen])
    return give_back(pairs)


def _span(
    nodes: Any,
    u: Any,
    v: Any,
    weights: Any,
    algorithm: Algorithm,
    minimum: bool,
    rng: Rng,
) -> NDArray[np.int64]:
    """Return the indices of the edges that an algorithm chooses from a list of edges."""
    nodes = check_count(nodes, "nodes", 0, _MOST, ", or a matrix")
    of_u, of_v, of_edges = as_edges(("u", "v", "weights"), (u, v), weights)
    m = of_u.size
    if m > _MOST:
        raise OptionError(f"there must be at most {_MOST} edges, not {m}")

    room = UndirectedEdges(
        np.empty(m, np.int32), np.empty(m, np.int32), np.empty(m), np.empty(m, np.int32)
    )
    count, fault = take_edges(nodes, of_u, of_v, of_edges, -1 if minimum else 1, room)
    if fault == BAD_NODE:
        end = "v" if 0 <= of_u[count] < nodes else "u"
        value = as_array(u if end == "u" else v)[0][
            count
        ]  # the caller's own value: a large value wraps around in int64
        allowed = f"nodes are 0 to {nodes - 1}" if nodes else "there are no nodes"
        raise ScoresError(f"{end}[{count}] is {value}: {allowed}")
    if fault != FINE:
        raise ScoresError(
            f"weights[{count}], of the edge {of_u[count]} - {of_v[count]}, is {of_edges[count]}; "
            + _ALLOWED_WEIGHTS[minimum]
        )
    edges = UndirectedEdges(*(array[:count] for array in room))
    if nodes > _SPARSE * count:  # nodes without edges would take memory
        used, ends = np.unique(np.concatenate((edges.u, edges.v)), return_inverse=True)
        nodes, numbers = used.size, ends.astype(np.int32).reshape(2, count)
        edges = edges._replace(u=numbers[0], v=numbers[1])
    return span_edges(nodes, edges, m, algorithm, rng)


def check_algorithm(algorithm: str) -> None:
    """Raise OptionError if the algorithm is unknown."""
    if algorithm not in get_args(Algorithm):
        names = ", ".join(map(repr, get_args(Algorithm)))
        raise OptionError(f"algorithm must be one of {names}, not {algorithm!r}")


def span_edges(
    nodes: int, edges: UndirectedEdges, m: int, algorithm: Algorithm, rng: Rng
) -> NDArray[np.int64]:
    """Return the indices, among the caller's m edges, of the edges that an algorithm chooses.

    The algorithm overwrites `edges`.
    """
    chosen = np.zeros(m, np.bool_)
    if algorithm == "auto":
        algorithm = "kruskal" if len(edges.u) >= _MANY * nodes else "boruvka"
    if algorithm == "kruskal":
        kruskal(nodes, edges, chosen)
    elif algorithm == "prim":
        prim(nodes, edges, chosen)
    elif algorithm == "kkt":
        coins = as_generator(rng).integers(2**64, size=1, dtype=np.uint64)
        kkt(nodes, edges, chosen, coins)
    else:
        boruvka(nodes, edges, chosen)
    return np.flatnonzero(chosen)


def _as_matrix(array: NDArray[Any], minimum: bool) -> NDArray[np.float64]:
    """Check a matrix of weights, and return it as contiguous float64."""
    matrix = as_float64(array)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ScoresError(f"a matrix of weights must have shape (N, N), not {matrix.shape}")
    bad = -np.inf if minimum else np.inf
    unusable = (matrix != matrix.T) | (matrix == bad)
    np.fill_diagonal(unusable, val=False)
    if not unusable.any():
        return matrix
    row, column = map(int, np.argwhere(unusable)[0])
    for a, b in ((row, column), (column, row)):
        if np.isnan(matrix[a, b]) or matrix[a, b] == bad:
            raise ScoresError(f"weights[{a}, {b}] is {matrix[a, b]}; {_ALLOWED_WEIGHTS[minimum]}")
    raise ScoresError(
        f"weights[{row}, {column}] is {matrix[row, column]}, but weights[{column}, {row}] is "
        f"{matrix[column, row]}: the matrix must be symmetric"
    )


def _span_matrix(matrix: NDArray[np.float64], minimum: bool) -> NDArray[np.int64]:
    """Return the pairs of nodes that Prim's algorithm chooses from a dense graph."""
    parents = np.empty(len(matrix), np.int64)
    if len(matrix):
        prim_dense(-matrix if minimum else matrix, 0, parents)
    nodes = np.flatnonzero(parents >= 0)
    return _in_order(nodes, parents[nodes])


def _in_order(u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.int64]:
    """Return pairs of nodes in lexicographic order, with the lower node first in each pair."""
    low, high = np.minimum(u, v), np.maximum(u, v)
    order = np.lexsort((high, low))
    return np.stack((low[order], high[order]), axis=1).astype(np.int64)
