"""Edge-linear parsing of a list of edges through undirected trees: Levi et al. (2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.checks import check_root
from arborescence.core.edge_list import as_edge_list
from arborescence.core.faults import FINE
from arborescence.core.tree import as_rows, is_tree
from arborescence.errors import TreeError
from arborescence.nonprojective.sparse import decode_sparse as decode_exactly
from arborescence.undirected.edges import Edges
from arborescence.undirected.encoding import MEAN, Encoding, number_of
from arborescence.undirected.enhancement import Changes, as_limit, is_alone
from arborescence.undirected.pairs import Pairs, direct_kernel, encode_pairs, enhance_listed
from arborescence.undirected.spanning_trees import Algorithm, check_algorithm, span_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.core.random import Rng


def decode_sparse(
    n: Any,
    heads: Any = None,
    deps: Any = None,
    weights: Any = None,
    *,
    root: Root = "single",
    rounds: int | None = 5,
    changes: Changes = "disjoint",
    encoding: Encoding = "mean",
    algorithm: Algorithm = "auto",
    rng: Rng = 0,
) -> Any:
    """Return a tree of high weight of a sparse graph, in time linear in the number of edges.

    The same tree as `decode` finds for the matrix of these edges. `arborescence.decode_sparse`
    finds the best tree.

    Parameters
    ----------
    n, heads, deps, weights
        As in `arborescence.decode_sparse`: n words and m edges, or a SciPy sparse matrix.
    root, rounds, changes, encoding
        As in `decode`.
    algorithm, rng
        How the spanning tree is found: see `spanning_tree`. The paper takes "kkt", expected O(m).
        The tree does not depend on it.

    Returns
    -------
    heads : (n + 1,) int64
        As from `arborescence.decode_sparse`.

    Raises
    ------
    ScoresError, NoTreeError, OptionError
        As there; and if a weight is negative and ``encoding="product"``.

    Notes
    -----
    Encoding takes O(m + n) by two counting sorts, the spanning tree expected O(m) with
    ``algorithm="kkt"``, directing O(n), and a round of enhancement expected O(n), with a hash table
    of the edges. With one root edge, the spanning tree is one of the words, and the best root edge
    for it is added, O(n): see `decode`. If the final tree has an absent edge, the graph is decoded
    exactly instead, O(m log n).

    Examples
    --------
    >>> from arborescence.undirected import decode_sparse
    >>> heads, deps = [0, 0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 3, 2, 3, 1, 3, 1, 2]
    >>> decode_sparse(3, heads, deps, [8, 8, 6, 6, 3, 5, 5, 8, 9])
    array([-1,  2,  3,  0])
    """
    single, how = check_root(root), number_of(encoding)
    limit, alone = as_limit(rounds), is_alone(changes)
    check_algorithm(algorithm)
    edges = as_edge_list(n, heads, deps, weights, "undirected.decode_sparse")
    pairs = Pairs.of(edges, how)
    first = np.searchsorted(pairs.low, 1) if single else 0  # pairs with the root come first
    out = np.empty(len(pairs.low) - first)
    encode_pairs(pairs.onward[first:], pairs.back[first:], how, out)
    ends = (pairs.low[first:] - np.int32(single), pairs.high[first:] - np.int32(single))
    room = Edges(*ends, out, np.arange(len(out), dtype=np.int32))
    chosen = first + span_edges(edges.words + 1 - single, room, len(out), algorithm, rng)
    tree = np.empty(edges.words + 1, np.int64)
    found = direct_kernel(*pairs[:4], chosen, single, tree)
    if not found or enhance_listed(*pairs, tree, limit, alone) != FINE:
        tree = decode_exactly(*edges[:4], root=root)
    return edges.give_back(tree) if edges.give_back else tree


def encode_sparse(
    n: Any,
    heads: Any = None,
    deps: Any = None,
    weights: Any = None,
    encoding: Encoding = "mean",
) -> tuple[Any, Any, Any]:
    """Combine the scores of the two directions of each pair in a list of edges. O(m + n).

    Parameters
    ----------
    n, heads, deps, weights
        As in `decode_sparse`.
    encoding
        As in `encode`, also for pairs with only one direction.

    Returns
    -------
    u, v : (p,) int64
        The pairs of nodes, u < v, in lexicographic order.
    weight : (p,) float64
        For `spanning_tree`. All are torch tensors, on the device of `weights`, if that is one.

    Raises
    ------
    ScoresError, OptionError
        As in `decode_sparse`.

    Examples
    --------
    >>> from arborescence.undirected import encode_sparse
    >>> encode_sparse(2, [0, 1, 2], [1, 2, 1], [5.0, 3.0, 2.0])
    (array([0, 1]), array([1, 2]), array([5. , 2.5]))
    """
    how = number_of(encoding)
    edges = as_edge_list(n, heads, deps, weights, "encode_sparse")
    pairs = Pairs.of(edges, how)
    out = np.empty(len(pairs.low))
    encode_pairs(pairs.onward, pairs.back, how, out)
    results = (pairs.low.astype(np.int64), pairs.high.astype(np.int64), out)
    u, v, weight = map(edges.give_back, results) if edges.give_back else results
    return u, v, weight


def enhance_sparse(
    n: Any,
    heads: Any = None,
    deps: Any = None,
    weights: Any = None,
    *,
    tree: Any,
    rounds: int | None = 5,
    changes: Changes = "disjoint",
) -> Any:
    """Reverse edges of a tree where that increases its weight, by the scores of a list of edges.

    Parameters
    ----------
    n, heads, deps, weights
        As in `decode_sparse`.
    tree : (n + 1,) whole numbers
        A head vector, as in `enhance`: absent edges are removed if possible.
    rounds, changes
        As in `enhance`.

    Returns
    -------
    heads : (n + 1,) int64
        As `enhance` returns; expected O(n) a round, after O(m + n).

    Raises
    ------
    ScoresError, OptionError
        As in `decode_sparse`.
    TreeError
        If `tree` is no tree of n words.

    Examples
    --------
    >>> from arborescence.undirected import enhance_sparse
    >>> enhance_sparse(3, [0, 2, 0, 1], [2, 1, 1, 3], [3, 3, 0, 0], tree=[-1, 0, 1, 1])
    array([-1,  2,  0,  1])
    """
    limit, alone = as_limit(rounds), is_alone(changes)
    edges = as_edge_list(n, heads, deps, weights, "enhance_sparse")
    rows, shape = as_rows(tree)
    if shape or rows.shape[1] != edges.words + 1 or not is_tree(rows, "multi").all():
        raise TreeError(f"tree is no head vector of a tree of {edges.words} words")
    better: NDArray[np.int64] = rows[0]
    enhance_listed(*Pairs.of(edges, MEAN), better, limit, alone)
    return edges.give_back(better) if edges.give_back else better
