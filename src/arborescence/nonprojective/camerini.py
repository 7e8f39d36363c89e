"""The k best trees by the algorithm of Camerini, Fratta and Maffioli (1980): a baseline.

A part of the trees is split in two by the edge e that its cheapest swap replaces: the trees without
e, whose best one is found by a contraction (their BEST), and the trees with e, whose best one is
known. In each of the two, another contraction finds the cheapest swap (their NEXT). So each tree
needs three contractions; `kbest` needs one and Zmigrod et al. (2021) two. The data structures and
kernels are those of `kbest`, so that a benchmark compares the algorithms only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.accumulator import SCALE
from arborescence.core.faults import BAD_SCORE, EXHAUSTED, FINE, FULL, no_answer
from arborescence.core.graph import as_graph, check_root
from arborescence.core.kernels import inlined_kernel, kernel, uncounted_kernel
from arborescence.nonprojective.contraction import new_forest
from arborescence.nonprojective.kbest import best_tree, open_root, start
from arborescence.nonprojective.kbest_state import KBestState
from arborescence.nonprojective.parts import (
    GIVEN,
    NONE_YET,
    SPLIT,
    WAITING,
    Blocks,
    Ranking,
    add_part,
    announce,
    copy_tree,
    enqueue,
    has_room,
    pop,
    price_swaps,
    ranking_of,
)
from arborescence.nonprojective.swaps import (
    SwapSearch,
    exclude,
    include_all,
    new_search,
    plant_blocks,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Root
    from arborescence.nonprojective.contraction import Forest


def kbest_by_camerini(
    scores: NDArray[Any], k: int, root: Root = "single"
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k best trees of one (N, N) matrix in the order of `kbest`. O(k n²).

    Weights are double-double sums, rounded. The original has no root constraint: with it, the trees
    are first split by their root edges, as in `kbest`.

    Raises
    ------
    ScoresError, NoTreeError
        As in `kbest`.

    Examples
    --------
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> kbest_by_camerini(scores, 5)
    (array([[-1,  0,  1],
           [-1,  2,  0]]), array([8., 6.]))
    """
    single = check_root(root)
    graph = as_graph(scores)
    matrix = np.ascontiguousarray(graph.scores[0])
    # The state of `kbest`, so that a benchmark does not measure memory allocation.
    state = KBestState.kept(graph)
    heads = np.full((k, len(matrix)), -1, np.int64)
    weights = np.empty(k)
    count, found = -1, FULL
    while found == FULL:
        count, found = camerini_kernel(
            *state, matrix, graph.dependents_first, single, count, heads, weights
        )
        if found == FULL:
            state = state.larger()
    if found not in (FINE, EXHAUSTED):
        raise no_answer(graph, 0, found, single)
    return heads[:count], weights[:count]


@kernel
def camerini_kernel(
    trees: np.ndarray,
    numbers: np.ndarray,
    keys: np.ndarray,
    costs: np.ndarray,
    changes: np.ndarray,
    matrices: np.ndarray,
    good: np.ndarray,
    notes: np.ndarray,
    scores: np.ndarray,
    dependents_first: bool,
    single: bool,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Find the k best trees of a sentence. O(k n²).

    Parameters
    ----------
    trees, numbers, keys, costs, changes, matrices, good, notes, single
        As in `kbest_kernel`.
    scores : (N, N) float32 or float64, contiguous
        ``scores[h, d]``, or ``scores[d, h]`` if `dependents_first`.
    dependents_first : bool
    count : int
        The number of trees found already; -1 to start.
    heads, weights : (k, N) int64, (k,) float64, written

    Returns
    -------
    (count, found) : the number of trees found; and FINE, EXHAUSTED, FULL, or another fault code
    """
    blocks = Blocks(trees, numbers, keys, costs, changes, matrices, good, notes)
    search = new_search(matrices, good, notes[0], len(scores) - 1)
    forest = new_forest(search.greedy.best, len(scores) - 1)
    return find_trees(
        blocks, search, forest, scores, dependents_first, single, count, heads, weights
    )


@uncounted_kernel
def find_trees(
    blocks: Blocks,
    search: SwapSearch,
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    single: bool,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Do the work of `camerini_kernel`."""
    ranking = ranking_of(blocks, forest.exact.sums[0])
    parts = ranking.parts
    n = scores.shape[0] - 1
    if count < 0:
        if not start(ranking, search, scores, dependents_first, n):
            return count, BAD_SCORE
        count = 0
    while count < weights.shape[0]:
        if not has_room(ranking, n, 3, 2):
            return count, FULL
        part = ranking.counts[GIVEN]
        ranking.counts[GIVEN] = SPLIT
        opens = part == NONE_YET
        if part >= 0:
            find_next(ranking, search, forest, n, part)
            opens = single and parts.parent[part] < 0
            if opens:
                ranking.spent[parts.without[part]] = 1
        if opens:
            fault = open_root(ranking, search, forest, n, single)
            if part == NONE_YET and fault != FINE:
                return count, fault
        enqueue(ranking, search, n)
        if ranking.counts[WAITING] == 0:
            return count, EXHAUSTED
        part = pop(ranking, search, n)
        if ranking.queue.choice[part] > 0:
            part = divide(ranking, search, forest, n, single, part)
        ranking.counts[GIVEN] = part
        for d in range(n + 1):
            heads[count, d] = parts.heads[part, d]
        weights[count] = parts.weight[part, 0] / SCALE
        count += 1
    return count, FINE


@uncounted_kernel
def divide(
    ranking: Ranking, search: SwapSearch, forest: Forest, n: int, single: bool, part: int
) -> int:
    """Split a part by its cheapest swap; return the new part whose best tree is that swap."""
    queue, parts = ranking.queue, ranking.parts
    d = queue.choice[part]
    rest = add_part(ranking, part, -d)
    copy_tree(ranking, n, part, rest)
    other = add_part(ranking, part, d)
    copy_tree(ranking, n, part, other)
    tree = ranking.parts.heads[other]
    for k in range(3):
        parts.weight[rest, k] = parts.weight[part, k]
        parts.weight[other, k] = queue.key[part, k]
    constrain(ranking, search, n, other)
    plant_blocks(search, forest, n, tree, False)
    # Under the root constraint the part has one required root edge and no others.
    best_tree(search, forest, n, single and part < 0, tree)
    include_all(search)
    find_next(ranking, search, forest, n, rest)
    return other


@uncounted_kernel
def find_next(ranking: Ranking, search: SwapSearch, forest: Forest, n: int, part: int) -> None:
    """Find the cheapest swap of a part (NEXT) and announce it for the heap. O(n²)."""
    constrain(ranking, search, n, part)
    price_swaps(ranking, search, forest, n, part)
    include_all(search)
    announce(ranking, part, -1)


@inlined_kernel
def constrain(ranking: Ranking, search: SwapSearch, n: int, part: int) -> None:
    """Apply a part's constraints to the search. O(n + number of its ancestors).

    `without` is d if the parent's edge into the word d is ruled out, and -d if it is required.
    """
    fixed, parts = search.graph.fixed, ranking.parts
    for d in range(n + 1):
        fixed[d] = False
    while parts.parent[part] >= 0:
        parent, d = parts.parent[part], parts.without[part]
        if d > 0:
            exclude(search, parts.heads[parent, d], d)
        else:
            fixed[-d] = True
        part = parent
    if parts.without[part] > 0:
        fixed[parts.without[part]] = True
