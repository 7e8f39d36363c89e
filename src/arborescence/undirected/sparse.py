"""Edge-linear parsing of a list of edges through undirected trees: Levi et al. (2016).

The pairs of nodes are found, encoded and looked up in O(m + n): two counting sorts bring the pairs
into lexicographic order; a hash table finds a pair in expected O(1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.checks import check_root
from arborescence.core.edge_list import as_edge_list
from arborescence.core.faults import BAD_NODE, BAD_SCORE, FINE, NEGATIVE, NO_TREE
from arborescence.core.tree import as_rows, is_tree
from arborescence.errors import ScoresError, TreeError
from arborescence.nonprojective.sparse import decode_sparse as decode_exactly
from arborescence.undirected.decoding import Turnable, best_root, hang
from arborescence.undirected.edges import UndirectedEdges
from arborescence.undirected.encoding import (
    MEAN,
    PRODUCT,
    Encoding,
    combine,
    number_of,
    orient_kernel,
)
from arborescence.undirected.enhancement import as_limit, gain_of, is_alone, make_changes
from arborescence.undirected.spanning_trees import Algorithm, check_algorithm, span_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.choices import Changes, Root
    from arborescence.core.edge_list import EdgeList
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

    This is the tree that `decode` returns for the matrix of these edges.
    `arborescence.decode_sparse` finds the best tree.

    Parameters
    ----------
    n, heads, deps, weights
        As in `arborescence.decode_sparse`: n words and m edges, or a SciPy sparse matrix.
    root, rounds, changes, encoding
        As in `decode`.
    algorithm, rng
        As in `spanning_tree`. The paper takes "kkt", expected O(m). The tree does not depend on the
        algorithm.

    Returns
    -------
    heads : (n + 1,) int64
        As from `arborescence.decode_sparse`.

    Raises
    ------
    ScoresError, NoTreeError, OptionError
        As in `arborescence.decode_sparse`; and if a weight is negative and
        ``encoding="product"``.

    Notes
    -----
    Encoding takes O(m + n) by two counting sorts, the spanning tree expected O(m) with
    ``algorithm="kkt"``, directing O(n), and a round of enhancement expected O(n), with a hash table
    of the edges. With one root edge, the spanning tree spans only the words, and the best root edge
    for it is added, O(n): see `decode`. If the final tree has an absent edge, the graph is decoded
    exactly instead, O(m log n).

    Examples
    --------
    >>> from arborescence.undirected import decode_sparse
    >>> heads, deps = [0, 0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 3, 2, 3, 1, 3, 1, 2]
    >>> decode_sparse(3, heads, deps, [8, 8, 6, 6, 3, 5, 5, 8, 9])
    array([-1,  2,  3,  0])
    """
    single, encoding_number = check_root(root), number_of(encoding)
    limit, alone = as_limit(rounds), is_alone(changes)
    check_algorithm(algorithm)
    edges = as_edge_list(n, heads, deps, weights, "undirected.decode_sparse")
    pairs = Pairs.of(edges, encoding_number)
    first = np.searchsorted(pairs.low, 1) if single else 0  # pairs with the root come first
    out = np.empty(len(pairs.low) - first)
    encode_pairs(pairs.onward[first:], pairs.back[first:], encoding_number, out)
    ends = (pairs.low[first:] - np.int32(single), pairs.high[first:] - np.int32(single))
    room = UndirectedEdges(*ends, out, np.arange(len(out), dtype=np.int32))
    chosen = first + span_edges(edges.words + 1 - single, room, len(out), algorithm, rng)
    tree = np.empty(edges.words + 1, np.int64)
    spans_all = direct_kernel(*pairs[:4], chosen, single, tree)
    if not spans_all or enhance_listed(*pairs, tree, limit, alone) != FINE:
        tree = decode_exactly(*edges[:4], root=root)
    return edges.give_back(tree)


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
        For `spanning_tree`. If `weights` is a torch tensor, all three are tensors on its device.

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
    encoding_number = number_of(encoding)
    edges = as_edge_list(n, heads, deps, weights, "encode_sparse")
    pairs = Pairs.of(edges, encoding_number)
    out = np.empty(len(pairs.low))
    encode_pairs(pairs.onward, pairs.back, encoding_number, out)
    results = (pairs.low.astype(np.int64), pairs.high.astype(np.int64), out)
    u, v, weight = map(edges.give_back, results)
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
    """Reverse edges of a tree if the tree's weight increases, by the scores of a list of edges.

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
    return edges.give_back(better)


class Pairs(NamedTuple):
    """The pairs of nodes that have an edge, the first pair first."""

    #: (p,) int32: the lower node
    low: np.ndarray
    #: (p,) int32: the higher node
    high: np.ndarray
    #: (p,) float64: the score of the edge low -> high; -inf if it is absent
    onward: np.ndarray
    #: (p,) float64: the score of the edge high -> low
    back: np.ndarray
    #: (2^k,) int32: the hash table, numbers of pairs; -1 in an empty slot
    slots: np.ndarray

    @classmethod
    def of(cls, edges: EdgeList, how: int) -> Self:
        """Find the pairs of edges, encoded by `how`; ScoresError for a bad node or weight."""
        m = len(edges.weights)
        low, high = np.empty(m, np.int32), np.empty(m, np.int32)
        onward, back = np.empty(m), np.empty(m)
        count, fault = find_pairs(*edges[:4], how, low, high, onward, back)
        if fault == NEGATIVE:
            raise ScoresError(
                f"weights[{count}] is {edges.weights[count]}: encoding='product' is for scores "
                "that are not negative; encoding='mean' takes any score"
            )
        if fault != FINE:
            raise edges.fault(fault, count)
        slots = np.full(1 << (2 * count).bit_length(), -1, np.int32)
        pairs = cls(low[:count], high[:count], onward[:count], back[:count], slots)
        fill_slots(pairs.low, pairs.high, slots)
        return pairs


@kernel
@takes(
    "int64, int64[::1], int64[::1], float64[::1], int64, out int32[::1], out int32[::1], "
    "out float64[::1], out float64[::1]"
)
def find_pairs(
    n: int,
    heads: np.ndarray,
    deps: np.ndarray,
    weights: np.ndarray,
    how: int,
    low: np.ndarray,
    high: np.ndarray,
    onward: np.ndarray,
    back: np.ndarray,
) -> tuple[int, int]:
    """Find the pairs of nodes that have an edge. O(m + n).

    Return their number and FINE, or an invalid edge and its fault.

    `heads`, `deps` and `weights` (m,) are the edges of a graph of `n` words: of parallel edges, the
    best edge counts; loops and edges into the root are ignored. `how` is as in `encode_kernel`: a
    product takes no negative score of an edge between words. `low`, `high`, `onward` and `back`
    (m,) are filled, as in `Pairs`.
    """
    m = len(weights)
    # An index is read once, checked, and kept here: another thread may change the arrays.
    lows, highs = np.empty(m, np.int32), np.empty(m, np.int32)
    scores, forward = np.empty(m), np.empty(m, np.bool_)
    count = 0
    for e in range(m):
        h, d, score = heads[e], deps[e], weights[e]
        if not (0 <= h <= n and 0 <= d <= n):
            return e, BAD_NODE
        if h == d or d == 0 or score == -np.inf:
            continue
        if not score < np.inf:
            return e, BAD_SCORE
        if how == PRODUCT and h > 0 and score < 0.0:
            return e, NEGATIVE
        lows[count], highs[count] = min(h, d), max(h, d)
        scores[count], forward[count] = score, h < d
        count += 1
    by_high = _sorted(n, highs, np.arange(count))
    last = -1
    for e in _sorted(n, lows, by_high):
        if last < 0 or low[last] != lows[e] or high[last] != highs[e]:
            last += 1
            low[last], high[last] = lows[e], highs[e]
            onward[last] = back[last] = -np.inf
        if forward[e]:
            onward[last] = max(onward[last], scores[e])
        else:
            back[last] = max(back[last], scores[e])
    return last + 1, FINE


@kernel
def _sorted(n: int, keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Sort edges by their keys, 0 to n; edges with equal keys keep their order. O(m + n)."""
    starts = np.zeros(n + 2, np.int64)
    for e in order:
        starts[keys[e] + 1] += 1
    for key in range(n + 1):
        starts[key + 1] += starts[key]
    out = np.empty_like(order)
    for e in order:
        out[starts[keys[e]]] = e
        starts[keys[e]] += 1
    return out


@inlined_kernel
def _first_slot(low: int, high: int, slots: np.ndarray) -> int:
    """Return where the search for a pair begins: multiplicative hashing (Knuth 1973, 6.4)."""
    key = np.uint64(low) << np.uint64(32) | np.uint64(high)
    key *= np.uint64(0x9E3779B97F4A7C15)
    return int(key >> np.uint64(32)) & (len(slots) - 1)


@kernel
@takes("int32[::1], int32[::1], out int32[::1]")
def fill_slots(low: np.ndarray, high: np.ndarray, slots: np.ndarray) -> None:
    """Fill the hash table of `Pairs`, which is half full at most. Expected O(p)."""
    for pair in range(len(low)):
        slot = _first_slot(low[pair], high[pair], slots)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = pair


@inlined_kernel
def score_of(pairs: Pairs, h: int, d: int) -> float:
    """Return the score of the edge h -> d; -inf if it is absent. Expected O(1)."""
    low, high = min(h, d), max(h, d)
    slot = _first_slot(low, high, pairs.slots)
    while pairs.slots[slot] >= 0:
        pair = pairs.slots[slot]
        if pairs.low[pair] == low and pairs.high[pair] == high:
            return pairs.onward[pair] if h < d else pairs.back[pair]
        slot = (slot + 1) & (len(pairs.slots) - 1)
    return -np.inf


@kernel
@takes("float64[::1], float64[::1], int64, out float64[::1]")
def encode_pairs(onward: np.ndarray, back: np.ndarray, how: int, out: np.ndarray) -> None:
    """Combine the two scores of each pair, as `encode_kernel` does. O(p)."""
    for pair in range(len(out)):
        out[pair] = combine(onward[pair], back[pair], how)


@kernel
@takes("int32[::1], int32[::1], float64[::1], float64[::1], int64[::1], bool, out int64[::1]")
def direct_kernel(
    low: np.ndarray,
    high: np.ndarray,
    onward: np.ndarray,
    back: np.ndarray,
    chosen: np.ndarray,
    single: bool,
    heads: np.ndarray,
) -> bool:
    """Direct a spanning forest's edges away from the root; False if the forest is no tree.

    O(n + root edges).

    `low`, `high`, `onward` and `back` are as in `Pairs`. `chosen` (k,) has the numbers of the pairs
    in the forest. If `single`, this is a forest of the words without the root, and the best root
    edge for the tree of the words is added. `heads` (n + 1,) are filled.
    """
    first = 1 if single else 0
    n, nodes = len(heads) - 1, len(heads) - first
    heads[0] = -1
    if n == 0:
        return True
    if len(chosen) != nodes - 1:
        return False
    u, v = np.empty(nodes - 1, np.int64), np.empty(nodes - 1, np.int64)
    for k in range(nodes - 1):
        u[k], v[k] = low[chosen[k]] - first, high[chosen[k]] - first
    parents = np.empty(nodes, np.int64)
    orient_kernel(u, v, 0, parents)
    if not single:
        for word in range(1, nodes):
            heads[word] = parents[word]
        return True
    down, up, of_root = np.empty(n), np.empty(n), np.full(n, -np.inf)
    for k in range(nodes - 1):
        if parents[v[k]] == u[k]:
            down[v[k]], up[v[k]] = onward[chosen[k]], back[chosen[k]]
        else:
            down[u[k]], up[u[k]] = back[chosen[k]], onward[chosen[k]]
    pair = 0
    while pair < len(low) and low[pair] == 0:
        of_root[high[pair] - 1] = onward[pair]
        pair += 1
    tree = Turnable(parents, down, up, of_root)
    root = best_root(tree, np.empty(n), np.empty(n), np.empty(n, np.int64))
    if root > 0:
        hang(n, parents, root, heads)
    return root > 0


@kernel
@takes(
    "int32[::1], int32[::1], float64[::1], float64[::1], int32[::1], out int64[::1], int64, bool"
)
def enhance_listed(
    low: np.ndarray,
    high: np.ndarray,
    onward: np.ndarray,
    back: np.ndarray,
    slots: np.ndarray,
    heads: np.ndarray,
    rounds: int,
    alone: bool,
) -> int:
    """Enhance a tree as `enhance_kernel` does; NO_TREE if it has an absent edge.

    Expected O(n) for each round.
    """
    pairs = Pairs(low, high, onward, back, slots)
    n = len(heads) - 1
    gains, foremost = np.empty(n + 1), np.empty(n + 1, np.int64)
    while rounds != 0:
        rounds -= 1
        for v in range(1, n + 1):
            gains[v] = 0.0
            u = heads[v]
            if u > 0:
                t = heads[u]
                grand, above = score_of(pairs, t, v), score_of(pairs, t, u)
                gains[v] = gain_of(grand, score_of(pairs, v, u), above, score_of(pairs, u, v))
        if not make_changes(n, gains, alone, heads, foremost):
            break
    for d in range(1, n + 1):
        if score_of(pairs, heads[d], d) == -np.inf:
            return NO_TREE
    return FINE
