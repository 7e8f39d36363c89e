"""The k best trees as Camerini, Fratta and Maffioli (1980) find them: a baseline.

A part of the trees is split in two by the edge e that its cheapest swap replaces: the trees
without e, whose best one is found by a contraction (their BEST), and those with e, whose best
one is at hand. In each, another contraction finds the cheapest swap (their NEXT). That makes
three contractions a tree, where `ranking` makes one and Zmigrod et al. (2021) two; the parts of
which they are made are those of `ranking`, so that a comparison shows the algorithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.exact import SCALE
from arborescence.core.faults import BAD_SCORE, FINE, no_answer
from arborescence.core.graph import as_graph, check_root
from arborescence.core.jit import spliced_kernel, uncounted_kernel
from arborescence.nonprojective.kbest import (
    EXHAUSTED,
    FULL,
    GIVEN,
    NONE_YET,
    PARTS,
    POOL,
    SPLIT,
    WAITING,
    Ranking,
    add_part,
    come,
    copy_tree,
    larger,
    let_wait,
    open_root,
    pop,
    price_swaps,
    solve,
    start,
)
from arborescence.nonprojective.kbest_state import KBestState
from arborescence.nonprojective.swaps import (
    Board,
    exclude,
    include_all,
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

    Weights are sums of about twice the precision of a float64, rounded. The original knows no root
    constraint: under it, the trees are split by their root edges first, as `ranking` splits them.

    Raises
    ------
    ScoresError, NoTreeError
        As `kbest` does.

    Examples
    --------
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> kbest_by_camerini(scores, 5)
    (array([[-1,  0,  1],
           [-1,  2,  0]]), array([8., 6.]))
    """
    single = check_root(root)
    graph = as_graph(scores)
    matrix = graph.scores[0] if graph.dependents_first else graph.scores[0].T
    matrix = np.ascontiguousarray(matrix)
    # That of `kbest`, so that a comparison is not about memory.
    board, forest, ranking = KBestState.kept(graph)
    heads = np.full((k, len(matrix)), -1, np.int64)
    weights = np.empty(k)
    count, found = -1, FULL
    while found == FULL:
        count, found = camerini_kernel(
            ranking, board, forest, matrix, single, count, heads, weights
        )
        if found == FULL:
            ranking = larger(ranking)
    if found not in (FINE, EXHAUSTED):
        raise no_answer(graph, 0, found, single)
    return heads[:count], weights[:count]


@uncounted_kernel
def camerini_kernel(
    ranking: Ranking,
    board: Board,
    forest: Forest,
    scores: np.ndarray,
    single: bool,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Find the k best trees of the matrix ``scores[d, h]``. O(k n²).

    Parameters
    ----------
    count : int
        How many have been found already; -1 to begin.
    heads, weights : (k, N) int64, (k,) float64, written

    Returns
    -------
    (count, found) : how many have been found; and FINE, EXHAUSTED, FULL, or why there is none
    """
    n = scores.shape[0] - 1
    if count < 0:
        if not start(ranking, board, scores, n):
            return count, BAD_SCORE
        count = 0
    while count < weights.shape[0]:
        room = ranking.word.shape[0] - ranking.tally[POOL]
        if ranking.tally[PARTS] + 3 > ranking.parent.shape[0] or room < 2 * (n + 1) ** 2:
            return count, FULL
        part = ranking.tally[GIVEN]
        ranking.tally[GIVEN] = SPLIT
        opens = part == NONE_YET
        if part >= 0:
            find_next(ranking, board, forest, n, part)
            opens = single and ranking.parent[part] < 0
            if opens:
                ranking.spent[ranking.without[part]] = True
        if opens:
            fault = open_root(ranking, board, forest, n, single)
            if part == NONE_YET and fault != FINE:
                return count, fault
        let_wait(ranking, board, n)
        if ranking.tally[WAITING] == 0:
            return count, EXHAUSTED
        part = pop(ranking, board, n)
        if ranking.choice[part] > 0:
            part = divide(ranking, board, forest, n, single, part)
        ranking.tally[GIVEN] = part
        for d in range(n + 1):
            heads[count, d] = ranking.heads[part, d]
        weights[count] = ranking.weight[part, 0] / SCALE
        count += 1
    return count, FINE


@uncounted_kernel
def divide(ranking: Ranking, board: Board, forest: Forest, n: int, single: bool, part: int) -> int:
    """Split a part by its cheapest swap; return the part that has the tree of that swap."""
    d = ranking.choice[part]
    rest = add_part(ranking, part, -d)
    copy_tree(ranking, n, part, rest)
    other = add_part(ranking, part, d)
    tree = copy_tree(ranking, n, part, other)
    for k in range(3):
        ranking.weight[rest, k] = ranking.weight[part, k]
        ranking.weight[other, k] = ranking.key[part, k]
    constrain(ranking, board, n, other)
    plant_blocks(board, forest, n, tree, False)
    # Under the root constraint the root edge is required by now, and no others are left.
    solve(board, forest, n, single and part < 0, tree)
    include_all(board)
    find_next(ranking, board, forest, n, rest)
    return other


@uncounted_kernel
def find_next(ranking: Ranking, board: Board, forest: Forest, n: int, part: int) -> None:
    """Find the cheapest swap of a part (NEXT), and let it wait. O(n²)."""
    constrain(ranking, board, n, part)
    price_swaps(ranking, board, forest, n, part)
    include_all(board)
    come(ranking, part, -1)


@spliced_kernel
def constrain(ranking: Ranking, board: Board, n: int, part: int) -> None:
    """Put a part's constraints on the board. O(n + the number of its ancestors).

    Of the parent's edge into a word d, `without` is d where it is ruled out, and -d where it is
    required.
    """
    for d in range(n + 1):
        board.fixed[d] = False
    while ranking.parent[part] >= 0:
        parent, d = ranking.parent[part], ranking.without[part]
        if d > 0:
            exclude(board, ranking.heads[parent, d], d)
        else:
            board.fixed[-d] = True
        part = parent
    if ranking.without[part] > 0:
        board.fixed[ranking.without[part]] = True
