"""Approximate decoding with undirected spanning trees: Levi, Reichart and Rappoport (2016).

The two scores of each pair of nodes become one score. The maximum spanning tree is directed away
from the root, and then enhanced locally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.accumulator import two_sum
from arborescence.core.checks import check_root, mask_is_lengths
from arborescence.core.faults import FINE, NO_TREE, no_answer
from arborescence.core.graph import as_graph, in_float64, in_threads, matrix_of
from arborescence.errors import NoTreeError
from arborescence.inference.decode import decode as decode_exactly
from arborescence.undirected.encoding import Encoding, encode_kernel, no_encoding, number_of
from arborescence.undirected.enhancement import as_limit, enhance_kernel, is_alone
from arborescence.undirected.prim import prim_dense

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Changes, Root, Tensor, Tensors
    from arborescence.core.graph import Graph

    class UndirectedOptions(TypedDict, total=False):
        """The options of `decode`, for its overloads."""

        #: one root edge, or one or more
        root: Root
        #: the number of rounds of enhancement
        rounds: int | None
        #: the changes of a round
        changes: Changes
        #: how the scores of two directions are combined
        encoding: Encoding
        #: the number of threads
        threads: int


@inlined_kernel
def part_of(score: float, part: float) -> float:
    """Return ``part * score``, where -inf counts as -2^1024."""
    # Multiples of a power of two cancel exactly, and do not round away the other scores
    return part * score if score > -np.inf else -2.0 * part * 2.0**1023


class Turnable(NamedTuple):
    """An undirected tree of the words, and its edges' weights in both directions.

    Index i is for word i + 1.
    """

    #: (n,) int64: the number of the word's parent, minus 1; -1 for the first word
    parents: np.ndarray
    #: (n,) float64: the score of the edge from the parent
    down: np.ndarray
    #: (n,) float64: the score of the edge to the parent
    up: np.ndarray
    #: (n,) float64: the score of the edge from the root
    of_root: np.ndarray


@inlined_kernel
def best_root(tree: Turnable, high: np.ndarray, low: np.ndarray, path: np.ndarray) -> int:
    """Find the best root word of an undirected tree of the words, directed away from it. O(n).

    Return the lowest of several best words, or 0 if there is no root edge. If the root moves along
    an edge, only the direction of this edge changes. Differences are double-doubles: masks such as
    -1e9 do not round away other scores.

    - tree: a score of -inf counts as -2^1024, except for root edges
    - high, low: (N,) float64: scratch: the tree's weight with each word as its root, minus the
      weight with the first word as its root
    - path: (N,) int64: scratch
    """
    n = len(tree.parents)
    # Scores are scaled by a small power of two, so that no sum overflows.
    part = 0.125
    for i in range(n):
        high[i] = np.nan
        part *= 0.5 if i & (i + 1) == 0 else 1.0
    high[0] = low[0] = 0.0
    best, best_high, best_low = 0, -np.inf, 0.0
    for word in range(1, n + 1):
        depth = 0
        i = word - 1
        while high[i] != high[i]:
            path[depth] = i
            depth += 1
            i = tree.parents[i]
        while depth > 0:
            depth -= 1
            j = path[depth]
            change, error = two_sum(part_of(tree.up[j], part), -part_of(tree.down[j], part))
            total, lost = two_sum(high[i], change)
            high[j], low[j] = two_sum(total, low[i] + (lost + error))
            i = j
        if tree.of_root[word - 1] > -np.inf:
            total, lost = two_sum(high[word - 1], part * tree.of_root[word - 1])
            total, lost = two_sum(total, lost + low[word - 1])
            if total > best_high or (total == best_high and lost > best_low):
                best, best_high, best_low = word, total, lost
    return best


@inlined_kernel
def hang(n: int, parents: np.ndarray, root: int, heads: np.ndarray) -> None:
    """Write the heads of a tree of the words whose only root edge goes to the word `root`. O(n)."""
    for i in range(n):
        heads[i + 1] = parents[i] + 1
    below, word = 0, root
    while word > 0:
        above = heads[word]
        heads[word] = below
        below, word = word, above


@kernel
@takes("float64[:, :, ::1], int64[::1], bool, int64, int64, bool, out int64[:, ::1], int64")
def undirected_kernel(
    scores: np.ndarray,
    lengths: np.ndarray,
    single: bool,
    how: int,
    rounds: int,
    alone: bool,
    heads: np.ndarray,
    start: int,
) -> tuple[int, int]:
    """Decode from sentence `start` on, as the notes of `decode` say. O(n²) for each sentence.

    Return the first sentence without a result, and the fault. The fault is NO_TREE if the tree of
    the algorithm has an absent edge (another tree may have no absent edge).

    `scores` are (B, N, N), ``[b, h, d]``; `lengths` (B,) are the numbers of words, or (0,) if each
    sentence has N - 1 words; `single` tells whether there must be exactly one root edge. `how`,
    `rounds` and `alone` are as in `encode_kernel` and `enhance_kernel`. `heads` (B, N) are filled:
    padding and the root become -1.
    """
    batch, size, _ = scores.shape
    weights = np.empty(size * size)
    parents = np.empty(size, np.int64)
    path = np.empty(size, np.int64)
    high, low = np.empty(size), np.empty(size)
    down, up = np.zeros(size), np.zeros(size)
    first = 1 if single else 0
    for b in range(start, batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        heads[b] = -1
        if n == 0:
            continue
        nodes = n + 1 - first
        pairs = weights[: nodes * nodes].reshape(nodes, nodes)
        fault = encode_kernel(scores[b], first, n, how, pairs)
        if fault != FINE:
            return b, fault
        prim_dense(pairs, 0, parents[:nodes])
        for node in range(1, nodes):
            if parents[node] < 0:
                return b, NO_TREE
        if single:
            for i in range(1, n):
                down[i] = scores[b, parents[i] + 1, i + 1]
                up[i] = scores[b, i + 1, parents[i] + 1]
            tree = Turnable(parents[:n], down[:n], up[:n], scores[b, 0, 1 : n + 1])
            root = best_root(tree, high, low, path)
            if root == 0:
                return b, NO_TREE
            hang(n, parents, root, heads[b])
        else:
            heads[b, 1 : n + 1] = parents[1:nodes]
        enhance_kernel(scores[b], heads[b], n, rounds, alone, high, path)
        for d in range(1, n + 1):
            if scores[b, heads[b, d], d] == -np.inf:
                return b, NO_TREE
    return batch, FINE


@overload
def decode(
    scores: Tensors[Tensor], lengths: Any = None, **options: Unpack[UndirectedOptions]
) -> Tensor: ...
@overload
def decode(
    scores: ArrayLike, lengths: Any = None, **options: Unpack[UndirectedOptions]
) -> NDArray[np.int64]: ...
@mask_is_lengths
def decode(
    scores: Any,
    lengths: Any = None,
    *,
    root: Root = "single",
    rounds: int | None = 5,
    changes: Changes = "disjoint",
    encoding: Encoding = "mean",
    threads: int = 1,
) -> Any:
    """Return a tree of high weight: the maximum undirected spanning tree, directed and enhanced.

    An approximation, for research on undirected features and for comparison (Levi, Reichart and
    Rappoport 2016). `arborescence.decode` finds the best tree.

    Parameters
    ----------
    scores, lengths
        As in `arborescence.decode`.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    rounds, changes
        As in `enhance`. The paper makes five rounds of the best change.
    encoding : {"mean", "product", "max", "min"}
        How the scores of the two directions are combined: see `encode`.
    threads : int
        The number of threads for a batch.

    Returns
    -------
    heads : (..., N) int64
        As in `arborescence.decode`.

    Raises
    ------
    ScoresError, NoTreeError, OptionError
        As in `arborescence.decode`; for a negative score with ``encoding="product"``, too.

    Notes
    -----
    With ``root="multi"``, the maximum spanning tree of all nodes is directed away from the root.
    With ``root="single"``, which the paper does not describe, it is the maximum spanning tree of
    the words, with the root edge that gives the directed tree the highest weight. For scores
    without direction, this is the best undirected tree with one root edge.
    If the final tree of a sentence has an absent edge, the sentence is decoded exactly instead.
    O(n²) to read the scores, and O(n) a round.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[0, 8, 8, 6], [0, 0, 6, 3], [0, 5, 0, 5], [0, 8, 9, 0]])
    >>> arb.decode(scores)
    array([-1,  3,  3,  0])
    >>> decode(scores)  # arb.undirected.decode, 20 instead of 23
    array([-1,  2,  3,  0])
    """
    single = check_root(root)
    encoding_number, limit, alone = number_of(encoding), as_limit(rounds), is_alone(changes)
    graph = as_graph(scores, lengths)
    batch, size, _ = graph.scores.shape
    heads = np.empty((batch, size), np.int64)

    def run(start: int, stop: int) -> None:
        for part, matrices, words in in_float64(graph, start, stop):
            sentence = 0
            while sentence < len(matrices):
                share = heads[part]
                sentence, fault = undirected_kernel(
                    matrices, words, single, encoding_number, limit, alone, share, sentence
                )
                if fault == NO_TREE:
                    _decode_exactly(graph, part.start + sentence, root, share[sentence])
                    sentence += 1
                elif fault != FINE:
                    raise no_encoding(graph, part.start + sentence, fault)

    in_threads(run, batch, threads)
    return graph.given_back(heads)


def _decode_exactly(graph: Graph, sentence: int, root: Root, heads: NDArray[np.int64]) -> None:
    """Fill the heads (N,) of the best tree of a sentence."""
    heads[:] = -1
    matrix = np.ascontiguousarray(matrix_of(graph, sentence))
    try:
        heads[: len(matrix)] = decode_exactly(matrix, root=root)
    except NoTreeError:
        raise no_answer(graph, sentence, NO_TREE, root == "single") from None
