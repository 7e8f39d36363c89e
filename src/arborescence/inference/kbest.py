"""The k best trees, exactly, and all trees lazily: `kbest`, `trees`, `second_best`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.errors import NoTreeError, ScoresError
from arborescence.core.faults import FINE, no_answer
from arborescence.core.graph import (
    Graph,
    Root,
    as_graph,
    check_count,
    check_flag,
    check_root,
    matrix_of,
    words_of,
)
from arborescence.core.lists import Lists
from arborescence.core.threads import in_threads
from arborescence.core.tree import tree_weight
from arborescence.nonprojective.kbest_state import KBestState
from arborescence.projective.kbest_state import ProjectiveKBestState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    _State = KBestState | ProjectiveKBestState

# How many trees `trees` finds ahead: 1, 2, 4, ... and in the end this many.
_MOST_AHEAD = 256
# For how many trees of one sentence `kbest` makes room at first. There may be far fewer than k.
_ROOM_AT_FIRST = 1024


def kbest(
    scores: Any,
    k: int,
    lengths: Any = None,
    *,
    root: Root = "single",
    projective: bool = False,
    threads: int = 1,
) -> tuple[Any, ...]:
    """Return the k trees of highest weight, exactly, best first.

    Zmigrod, Vieira and Cotterell (2021), Theorems 3 and 4: O(n²) a tree, with or without the
    root constraint, here with one contraction of the graph for each tree. Projective trees are
    found as Huang and Chiang (2005), Algorithm 3, do it: O(n³), and O(n log k) a tree.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        As in `decode`.
    k : int
        How many trees, at least 1. Where fewer exist, all of them are returned.
    lengths : (...) whole numbers, optional
        Words in each sentence of a padded batch, the root not counted.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    projective : bool
        Whether edges may not cross.
    threads : int
        Over how many threads a batch is spread.

    Returns
    -------
    heads : (m, N) int64, or (..., k, N) for a batch
        The trees, m <= k of them; the first is what `decode` returns. In a batch, a sentence
        that has fewer than k trees is padded with rows of -1.
    weights : (m,) float64, or (..., k)
        Their weights, each the exact sum rounded once; -inf for padding.
    counts : (...) int64, for a batch only
        How many trees each sentence has got.

    Raises
    ------
    ScoresError
        If the scores hold NaN or +inf, or shape, type or lengths cannot be used.
    NoTreeError
        If a sentence has no tree at all.
    OptionError
        If an option is none of those above, or there is no room for k trees of each sentence.

    Notes
    -----
    The order is that of real arithmetic over the given floats. Of trees with equal weight,
    which one comes first depends on nothing but the scores of that sentence.

    Examples
    --------
    The graph of Zmigrod et al. (2021), Fig. 8: four of its seven arborescences have one root
    edge.

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.full((5, 5), -np.inf)
    >>> for h, d, weight in [(0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60),
    ...                      (3, 2, 50), (4, 3, 70), (4, 1, 20)]:
    ...     scores[h, d] = weight
    >>> heads, weights = arb.kbest(scores, k=10)
    >>> weights
    array([210., 190., 150., 130.])
    >>> heads
    array([[-1,  0,  3,  1,  2],
           [-1,  4,  0,  4,  2],
           [-1,  4,  0,  2,  2],
           [-1,  4,  0,  1,  2]])
    >>> arb.kbest(scores, k=10, root="multi")[1]
    array([260., 220., 210., 200., 190., 150., 130.])
    """
    k = check_count(k)
    single = check_root(root)
    states = ProjectiveKBestState if check_flag(projective) else KBestState
    graph = as_graph(scores, lengths)
    batch, size, _ = graph.scores.shape
    give_back = graph.give_back or _as_it_is
    if not graph.shape:
        check_count(threads, "threads")
        heads, weights = _of_one(graph, single, states.kept(graph), k)
        return give_back(heads), give_back(weights)
    lists = Lists.of(batch, k, size)

    def rank(start: int, stop: int) -> None:
        _rank(graph, single, states.kept(graph), lists, start, stop)

    in_threads(rank, batch, threads)
    heads, weights, counts = lists.heads, lists.weights, lists.counts
    return (
        give_back(heads.reshape(*graph.shape, k, size)),
        give_back(weights.reshape(*graph.shape, k)),
        give_back(counts.reshape(graph.shape)),
    )


def _of_one(
    graph: Graph, single: bool, state: _State, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the trees of a sentence, and their weights; room grows with the trees that exist."""
    size = graph.scores.shape[1]
    heads: list[NDArray[np.int64]] = []
    weights: list[NDArray[np.float64]] = []
    found = 0
    while True:
        asked = min(k - found, max(found, _ROOM_AT_FIRST))
        lists = Lists.of(1, asked, size)
        lists.counts[0] = 0 if found else -1
        state = _rank(graph, single, state, lists)
        more = int(lists.counts[0])
        heads.append(lists.heads[0, :more])
        weights.append(lists.weights[0, :more])
        found += more
        if more < asked or found == k:
            break
    if len(heads) == 1:
        return heads[0], weights[0]
    return np.concatenate(heads), np.concatenate(weights)


def trees(
    scores: Any, *, root: Root = "single", projective: bool = False
) -> Iterator[tuple[float, Any]]:
    """Return a lazy iterator over all trees, best first.

    The stream that `kbest` takes the first k of. O(n²) and less than 100 n bytes a tree, or less
    time and more room if projective.

    Parameters
    ----------
    scores : (N, N) array or torch tensor
        As in `decode`. It is copied: later changes make no difference.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    projective : bool
        Whether edges may not cross.

    Yields
    ------
    weight : float
        The exact sum of the tree's scores, rounded once.
    heads : (N,) int64
        The tree.

    Raises
    ------
    ScoresError
        If the scores hold NaN or +inf, or shape or type cannot be used.
    NoTreeError
        If there is no tree at all.

    Examples
    --------
    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> for weight, heads in arb.trees(scores):
    ...     print(weight, heads)
    8.0 [-1  0  1]
    6.0 [-1  2  0]
    """
    single = check_root(root)
    states = ProjectiveKBestState if check_flag(projective) else KBestState
    graph = as_graph(scores)
    if graph.shape:
        raise ScoresError(f"trees takes one sentence, (N, N), not a batch {graph.shape}")
    graph = graph._replace(scores=graph.scores.copy())
    size = graph.scores.shape[1]
    lists = Lists.of(1, 1, size)
    state = _rank(graph, single, states.of(graph), lists)
    return _stream(graph, single, state, lists)


def _stream(graph: Graph, single: bool, state: _State, lists: Lists) -> Iterator[tuple[float, Any]]:
    """Yield the trees of the lists, then further ones, found a few at a time."""
    size = graph.scores.shape[1]
    asked = 1
    while True:
        found = lists.counts[0]
        for weight, heads in zip(lists.weights[0, :found].tolist(), lists.heads[0], strict=False):
            yield weight, graph.give_back(heads) if graph.give_back else heads
        if found < asked or size == 1:
            return
        asked = min(2 * asked, _MOST_AHEAD)
        lists = Lists.of(1, asked, size)
        lists.counts[0] = 0
        state = _rank(graph, single, state, lists)


def second_best(
    scores: Any, *, root: Root = "single", projective: bool = False
) -> tuple[Any, float, tuple[int, int]]:
    """Return the second best tree, and an edge of the best tree whose removal gives it.

    Zmigrod, Vieira and Cotterell (2021), Theorem 2: O(n²). Projective trees: O(n³).

    Parameters
    ----------
    scores : (N, N) array or torch tensor
        As in `decode`.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    projective : bool
        Whether edges may not cross.

    Returns
    -------
    heads : (N,) int64
        The second best tree.
    weight : float
        Its weight.
    edge : (int, int)
        An edge (h, d) of the best tree: without it, no tree is better than this one.

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
    (array([-1,  2,  0]), 6.0, (0, 1))
    """
    graph = as_graph(scores)
    if graph.shape:
        raise ScoresError(f"second_best takes one sentence, (N, N), not a batch {graph.shape}")
    heads, weights = kbest(scores, 2, root=root, projective=projective)
    if len(weights) < 2:
        raise NoTreeError("no second tree exists: the best tree is the only one")
    # Any edge that it lacks: what is best without that edge is not best of all, and this is the
    # best that is not.
    d = int((heads[0] != heads[1]).nonzero()[0][0])
    return heads[1], float(weights[1]), (int(heads[0][d]), d)


def _rank(
    graph: Graph, single: bool, state: _State, lists: Lists, start: int = 0, stop: int = 1
) -> _State:
    """Fill the lists of the sentences from `start` to `stop`; go on where one has a count.

    Returns the state with which to go on.
    """
    state, sentence, found = state.find(graph, single, lists, start, stop)
    if found != FINE:
        raise no_answer(graph, sentence, found, single)
    share = slice(start, stop)
    if not lists.exact[share].all():
        for b, j in np.argwhere(~lists.exact[share]):
            heads = lists.heads[start + b, j, : words_of(graph, start + b) + 1]
            lists.weights[start + b, j] = tree_weight(matrix_of(graph, start + b), heads)
    return state


def most_trees(n: int, single: bool, projective: bool) -> int:
    """Return how many trees a complete graph of n words has, or 2^62 if more.

    Cayley's formula; projective trees are as many as ternary trees, or pairs of them.
    """
    if n < 2:
        return 1
    if projective:
        count = math.comb(3 * n - 2, n - 1) // n if single else math.comb(3 * n, n) // (2 * n + 1)
        return min(count, 2**62)
    base, power = (n, n - 1) if single else (n + 1, n - 1)
    return base**power if power * math.log2(base) < 62 else 2**62


def _as_it_is(array: NDArray[Any]) -> NDArray[Any]:
    return array
