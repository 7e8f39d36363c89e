"""Dependency trees by way of undirected spanning trees: `decode`, an approximation.

Levi, Reichart and Rappoport (2016): encode pairs of nodes, span them, direct the tree away from its
root, enhance it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arborescence.core.double_double import two_sum
from arborescence.core.errors import NoTreeError
from arborescence.core.faults import FINE, NO_TREE, no_answer
from arborescence.core.graph import Root, as_graph, check_root, in_float64, matrix_of
from arborescence.core.jit import inlined_kernel, kernel, spliced_kernel
from arborescence.core.threads import in_threads
from arborescence.undirected.encode import Encoding, encode_kernel, no_encoding, number_of
from arborescence.undirected.enhance import as_limit, enhance_kernel
from arborescence.undirected.prim import prim_dense

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.graph import Graph
    from arborescence.core.types import Tensor, Tensors

    class _Options(TypedDict, total=False):
        root: Root
        rounds: int | None
        encoding: Encoding
        threads: int


@inlined_kernel
def part_of(score: float, part: float) -> float:
    """Return a part of a score, of which -inf counts as -2^1024.

    That is a power of two: whole multiples of it leave no rest in which other scores would drown.
    """
    return part * score if score > -np.inf else -2.0 * part * 2.0**1023


@spliced_kernel
def best_root(
    scores: np.ndarray,
    n: int,
    parents: np.ndarray,
    high: np.ndarray,
    low: np.ndarray,
    path: np.ndarray,
) -> int:
    """Find the root word with which a tree of the words weighs most, if directed away from it.

    Moving the root over an edge turns that edge round and no other. So what the tree weighs with
    one root instead of another is found from that of the neighbour: O(n). The differences are kept
    as sums of two floats, lest masks drown what else is in them.

    Parameters
    ----------
    scores : (N, N) float64
        ``[h, d]``; -inf counts as -2^1024, but for root edges.
    n
        The number of words.
    parents : (N,) int64
        Of word i + 1 the parent in the tree, less 1, in place i; -1 for the first word.
    high, low : (N,) float64
        Scratch: what the tree weighs with a word as its root, less what it weighs with the first.
    path : (N,) int64
        Scratch.

    Returns
    -------
    word : int
        Of equal ones the lowest; 0 if there is no root edge.
    """
    # So small a part of each score that no sum goes beyond the largest float: a power of two.
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
            i = parents[i]
        while depth > 0:
            depth -= 1
            j = path[depth]
            upwards = part_of(scores[j + 1, i + 1], part)
            downwards = part_of(scores[i + 1, j + 1], part)
            change, rest = two_sum(upwards, -downwards)
            total, lost = two_sum(high[i], change)
            high[j], low[j] = two_sum(total, low[i] + (lost + rest))
            i = j
        if scores[0, word] > -np.inf:
            total, lost = two_sum(high[word - 1], part * scores[0, word])
            total, lost = two_sum(total, lost + low[word - 1])
            if total > best_high or (total == best_high and lost > best_low):
                best, best_high, best_low = word, total, lost
    return best


@spliced_kernel
def hang(n: int, parents: np.ndarray, root: int, heads: np.ndarray) -> None:
    """Write the heads of a tree of the words that hangs from the root by the word `root`. O(n)."""
    for i in range(n):
        heads[i + 1] = parents[i] + 1
    below, word = 0, root
    while word > 0:
        above = heads[word]
        heads[word] = below
        below, word = word, above


@kernel
def undirected_kernel(
    scores: np.ndarray,
    lengths: np.ndarray,
    single: bool,
    how: int,
    rounds: int,
    heads: np.ndarray,
    start: int,
) -> tuple[int, int]:
    """Decode a batch through undirected trees, from the sentence `start` on. O(n²) a sentence.

    With several root edges, the tree is a maximum spanning tree of all nodes, directed away from
    the root. With a single one, it is that of the words, and the root edge the one with which the
    tree, directed away from it, weighs most. Either is then enhanced.

    Parameters
    ----------
    scores : (B, N, N) float64
        ``[b, h, d]``.
    lengths : (B,) int64, words of each sentence; or (0,) if all have N - 1
    single
        Whether exactly one root edge is wanted.
    how, rounds
        As for `encode_kernel` and `enhance_kernel`.
    heads : (B, N) int64, written; padding and the root become -1

    Returns
    -------
    (sentence, fault)
        The first sentence without an answer, and why: what `encode_kernel` said, or NO_TREE if
        this tree has an absent edge (another tree may have none).
    """
    batch, size, _ = scores.shape
    weights = np.empty(size * size)
    parents = np.empty(size, np.int64)
    path = np.empty(size, np.int64)
    high, low = np.empty(size), np.empty(size)
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
            root = best_root(scores[b], n, parents, high, low, path)
            if root == 0:
                return b, NO_TREE
            hang(n, parents, root, heads[b])
        else:
            heads[b, 1 : n + 1] = parents[1:nodes]
        enhance_kernel(scores[b], heads[b], n, rounds, high, path)
        for d in range(1, n + 1):
            if scores[b, heads[b, d], d] == -np.inf:
                return b, NO_TREE
    return batch, FINE


@overload
def decode(scores: Tensors[Tensor], lengths: Any = None, **options: Unpack[_Options]) -> Tensor: ...
@overload
def decode(
    scores: ArrayLike, lengths: Any = None, **options: Unpack[_Options]
) -> NDArray[np.int64]: ...
def decode(
    scores: Any,
    lengths: Any = None,
    *,
    root: Root = "single",
    rounds: int | None = 5,
    encoding: Encoding = "mean",
    threads: int = 1,
) -> Any:
    """Return a tree of high weight: the best undirected tree, directed and enhanced.

    An approximation, for the study of undirected features and for comparison (Levi, Reichart and
    Rappoport 2016). The best tree is what `arborescence.decode` finds.

    Parameters
    ----------
    scores, lengths
        As in `arborescence.decode`.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    rounds : int or None
        How many rounds of `enhance`; None: until there is nothing to gain.
    encoding : {"mean", "product", "max", "min"}
        How one score is made of those of two directions: see `encode`.
    threads : int
        Over how many threads a batch is spread.

    Returns
    -------
    heads : (..., N) int64
        As `arborescence.decode` returns them.

    Raises
    ------
    ScoresError, NoTreeError
        As `arborescence.decode` does; the former also if a score is negative and
        ``encoding="product"``.
    OptionError
        If an option is none of those above.

    Notes
    -----
    With ``root="multi"``, the maximum spanning tree of all nodes is directed away from the root.
    With ``root="single"``, of which the paper is silent, it is the maximum spanning tree of the
    words, and the root edge is the one with which this tree, directed away from it, weighs most:
    O(n), for moving the root over an edge turns no other edge round. If the scores are the same in
    both directions, that is the best undirected tree with one root edge: such a tree is a root edge
    and a spanning tree of the words, and each is the best of its kind. A sentence whose tree has an
    absent edge in the end is decoded exactly instead. O(n²) for the scores, each of which is read,
    and O(n) a round.

    Examples
    --------
    The best tree weighs 23, and this one 20:

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[0, 8, 8, 6], [0, 0, 6, 3], [0, 5, 0, 5], [0, 8, 9, 0]])
    >>> arb.decode(scores)
    array([-1,  3,  3,  0])
    >>> decode(scores)  # arb.undirected.decode
    array([-1,  2,  3,  0])
    """
    single = check_root(root)
    how, limit = number_of(encoding), as_limit(rounds)
    graph = as_graph(scores, lengths)
    batch, size, _ = graph.scores.shape
    heads = np.empty((batch, size), np.int64)

    def run(start: int, stop: int) -> None:
        for part, matrices, words in in_float64(graph, start, stop):
            done = 0
            while done < len(matrices):
                share = heads[part]
                done, fault = undirected_kernel(matrices, words, single, how, limit, share, done)
                if fault == NO_TREE:
                    _decode_exactly(graph, part.start + done, root, share[done])
                    done += 1
                elif fault != FINE:
                    raise no_encoding(graph, part.start + done, fault)

    in_threads(run, batch, threads)
    heads = heads.reshape(*graph.shape, size)
    return graph.give_back(heads) if graph.give_back else heads


def _decode_exactly(graph: Graph, sentence: int, root: Root, heads: NDArray[np.int64]) -> None:
    """Fill the heads (N,) of the best tree of a sentence."""
    # The one import that goes up: exact decoding is another family's, and `inference` picks it.
    from arborescence.inference.decode import decode as decode_exactly

    heads[:] = -1
    matrix = np.ascontiguousarray(matrix_of(graph, sentence))
    try:
        heads[: len(matrix)] = decode_exactly(matrix, root=root)
    except NoTreeError:
        raise no_answer(graph, sentence, NO_TREE, root == "single") from None
