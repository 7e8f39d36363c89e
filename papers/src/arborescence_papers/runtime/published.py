"""The k best trees as published: Camerini et al. (1980), and Zmigrod, Vieira and Cotterell (2021).

All of them split the trees of a graph G' in two by the edge e that its best tree loses in its
second best one (a *swap*): the trees without e (G' - e), whose best one is output next, and the
trees with e (G' + e), whose best one is known. They differ in how they find trees and swaps:

- Camerini, Fratta and Maffioli find the best tree of G' - e by one contraction and its swap by
  another one, and the swap of G' + e by a third.
- `KBEST` (Zmigrod, Vieira and Cotterell, Fig. 7) finds tree and swap of G' - e by one contraction:
  their `NEXT` (Fig. 5), here `next_tree`. With G' + e it needs two for a tree.
- `KBEST_DEP` (Fig. 9) does the same under the root constraint. It opens the trees with another
  root edge when the best of them is needed.
- The naive way (Section 5) is `KBEST`, whose queue starts with the best tree of each root edge.
- Leaving trees out is `KBEST` without the constraint, and a test of each tree.

What is printed after ``yield`` is done here when another tree is asked for. Queue, weights and
kernels are those of `kbest`, so that a benchmark compares the algorithms only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import takes
from arborescence.compiling.lanes import LANES, places
from arborescence.core.accumulator import SCALE
from arborescence.core.faults import BAD_SCORE, EXHAUSTED, FINE, FULL, NO_TREE, no_answer
from arborescence.core.graph import as_graph
from arborescence.nonprojective.contraction import best_entry, contract, enter, expand, take
from arborescence.nonprojective.decode import arrive, climb, unconstrained
from arborescence.nonprojective.forest import DONE, MEMBERS, NODES, Forest, new_forest, top_of
from arborescence.nonprojective.kbest import KBestState, open_root, start
from arborescence.nonprojective.parts import (
    ANNOUNCED,
    BLOCKS,
    GIVEN,
    NONE_YET,
    PARTS,
    SPLIT,
    WAITING,
    Blocks,
    Ranking,
    add_part,
    announce,
    copy_tree,
    enqueue,
    has_room,
    keep_swaps,
    pop,
    price_swaps,
    ranking_of,
    weigh,
)
from arborescence.nonprojective.swaps import (
    SwapSearch,
    clear_swaps,
    exclude,
    find_door,
    find_spare,
    include_all,
    new_search,
    number_words,
    plant_blocks,
    replace_leaf,
    replace_node,
)
from arborescence_papers.kernels import inlined_kernel, kernel, uncounted_kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

# Which trees: any; those with one root edge, in a part for each from the start, or in a part that
# is opened when it is needed, or what is left of all trees.
ANY, EACH, ONE, LEFT = range(4)


class Method(NamedTuple):
    """How the k best trees are found."""

    together: bool
    """Whether a contraction finds the best tree without an edge and its swap together."""
    roots: int
    """`ANY`, `EACH`, `ONE` or `LEFT`."""


CAMERINI, CAMERINI_ONE = "Camerini et al.", "Camerini et al., one root edge"
KBEST, KBEST_DEP = "KBEST", "KBEST_DEP"
N_STARTS, LEAVING_OUT = "n starts", "leaving trees out"
#: The algorithms by name: first for any number of root edges, then for one.
PUBLISHED: Final[Mapping[str, Method]] = {
    CAMERINI: Method(together=False, roots=ANY),
    KBEST: Method(together=True, roots=ANY),
    N_STARTS: Method(together=True, roots=EACH),
    KBEST_DEP: Method(together=True, roots=ONE),
    LEAVING_OUT: Method(together=True, roots=LEFT),
    CAMERINI_ONE: Method(together=False, roots=ONE),  # not published
}

# Leaving trees out gives up when it has tried this many times k trees: their number has no bound.
_TRIES: Final = 20


def kbest_published(
    scores: NDArray[Any], k: int, name: str = KBEST
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k best trees of one (N, N) matrix in the order of `kbest`, by a published way.

    O(k n²); `N_STARTS` O(n³ + k n²). `LEAVING_OUT` tries up to 20 k trees, and may return fewer.

    Parameters
    ----------
    scores : (N, N) array
        Of a sentence of one word or more.
    k : int
    name : one of `PUBLISHED`

    Returns
    -------
    heads, weights : (m, N) int64, (m,) float64
        The weights are double-double sums, rounded.

    Raises
    ------
    ScoresError, NoTreeError
        As in `kbest`.

    Examples
    --------
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> kbest_published(scores, 2)
    (array([[-1,  0,  0],
           [-1,  0,  1]]), array([9., 8.]))
    >>> kbest_published(scores, 5, KBEST_DEP)
    (array([[-1,  0,  1],
           [-1,  2,  0]]), array([8., 6.]))
    """
    method = PUBLISHED[name]
    graph = as_graph(scores)
    matrix = np.ascontiguousarray(graph.scores[0])
    # The state of `kbest`, so that a benchmark does not measure memory allocation.
    state = KBestState.kept(graph)
    heads = np.full((k, len(matrix)), -1, np.int64)
    weights = np.empty(k)
    count, found = -1, FULL
    while found == FULL:
        count, found = published_kernel(
            state, matrix, graph.dependents_first, *method, count, heads, weights
        )
        if found == FULL:
            state = state.larger()
    if found not in (FINE, EXHAUSTED) or (found == EXHAUSTED and not count):
        raise no_answer(graph, 0, found, method.roots != ANY)
    return heads[:count], weights[:count]


@kernel
@takes(f"{BLOCKS}, score[:, ::1], bool, bool, int64, int64, out int64[:, ::1], out float64[::1]")
def published_kernel(
    blocks: Blocks,
    scores: np.ndarray,
    dependents_first: bool,
    together: bool,
    roots: int,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Find the k best trees of a sentence. O(k n²).

    Parameters
    ----------
    blocks
        As in `kbest_kernel`.
    scores : (N, N) float32 or float64, contiguous
        ``scores[h, d]``, or ``scores[d, h]`` if `dependents_first`.
    dependents_first : bool
    together, roots
        As in `Method`.
    count : int
        The number of trees found already; -1 to start.
    heads, weights : (k, N) int64, (k,) float64, written

    Returns
    -------
    (count, found) : the number of trees found; and FINE, EXHAUSTED, FULL, or another fault code
    """
    n = len(scores) - 1
    search = new_search(blocks.matrices, blocks.good, blocks.notes[0], n)
    # `next_tree` keeps the in-column of each contracted node x as the row x.
    forest = new_forest(search.greedy.best, 2 * n + 1 if together else n)
    return find_trees(
        blocks, search, forest, scores, dependents_first, together, roots, count, heads, weights
    )


@uncounted_kernel
def find_trees(
    blocks: Blocks,
    search: SwapSearch,
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    together: bool,
    roots: int,
    count: int,
    heads: np.ndarray,
    weights: np.ndarray,
) -> tuple[int, int]:
    """Do the work of `published_kernel`."""
    ranking = ranking_of(blocks, forest.exact.sums[0])
    queue, parts = ranking.queue, ranking.parts
    n = scores.shape[0] - 1
    if count < 0:
        if not start(ranking, search, scores, dependents_first, n):
            return count, BAD_SCORE
        count = 0
    while count < weights.shape[0]:
        if not has_room(ranking, n, n + 4, 3):
            return count, FULL
        part = ranking.counts[GIVEN]
        ranking.counts[GIVEN] = SPLIT
        if part == NONE_YET:
            fault = open_first(ranking, search, forest, n, together, roots)
            if fault != FINE:
                return count, fault
        else:
            look_further(ranking, search, forest, n, together, roots, part)
        enqueue(ranking, search, n)
        if ranking.counts[WAITING] == 0:
            return count, EXHAUSTED
        part = pop(ranking, search, n)
        if queue.choice[part] > 0:
            part = divide(ranking, search, forest, n, together, part)
        elif roots == ONE and count > 0:
            # Figure 9, line 18. The print has opt(G'), which has a tree that is output already: it
            # is opt(G' - e), whose weight line 20 has found, there from G' instead of G' - e.
            open_root(ranking, search, forest, n, True)
            ranking.counts[ANNOUNCED] = 0
            part = ranking.counts[PARTS] - 1
        ranking.counts[GIVEN] = part
        children = 0
        for d in range(1, n + 1):
            children += 1 if parts.heads[part, d] == 0 else 0
        if roots == LEFT and children > 1:
            # Two parts for each tree.
            if ranking.counts[PARTS] > 2 * _TRIES * weights.shape[0]:
                return count, FINE
            continue
        # Figure 9, line 24 prints G^(k), which may have several root edges: it is G^[k].
        for d in range(n + 1):
            heads[count, d] = parts.heads[part, d]
        weights[count] = parts.weight[part, 0] / SCALE
        count += 1
    return count, FINE


@uncounted_kernel
def open_first(
    ranking: Ranking, search: SwapSearch, forest: Forest, n: int, together: bool, roots: int
) -> int:
    """Find the first tree, or that of each root edge; return FINE or a fault code."""
    if roots == ONE:
        return open_root(ranking, search, forest, n, True)
    work, base = search.graph.work, search.graph.base
    first = 1 if roots == EACH else 0
    last = n if roots == EACH else 0
    for d in range(first, last + 1):
        work[d, 0] = -np.inf  # a required root edge is no edge of the graph: see `plant_blocks`
    for r in range(first, last + 1):
        if r > 0 and base[r, 0] == -np.inf:
            continue
        part = add_part(ranking, -1, r)
        tree = ranking.parts.heads[part]
        tree[0] = -1
        for d in range(1, n + 1):  # any tree with the edge that is required
            tree[d] = 0 if d == r else r
        if solve(ranking, search, forest, n, together and roots != EACH, part):
            weigh(ranking, search, n, part)
            announce(ranking, part, 0)
            enqueue(ranking, search, n)
        else:
            ranking.counts[PARTS] -= 1
    return FINE if ranking.counts[WAITING] > 0 else NO_TREE


@inlined_kernel
def look_further(
    ranking: Ranking,
    search: SwapSearch,
    forest: Forest,
    n: int,
    together: bool,
    roots: int,
    part: int,
) -> None:
    """Announce what a tree that was output leaves: the swaps of its part, and of the other half."""
    parts = ranking.parts
    opened = parts.parent[part] < 0
    if not opened:
        # G' + e. Figure 7 has NEXT find its best tree again. Where trees tie, it must be the one
        # that was output, or trees would come twice. Here it is given, whatever the tie rule.
        find_next(ranking, search, forest, n, part - 1)
    if together and (not opened or roots in (ANY, LEFT)):
        announce(ranking, part, -1)
    else:
        find_next(ranking, search, forest, n, part)
    if opened and roots == ONE:
        # Figure 9, lines 20 to 23. Line 23 prints G + e_rho, but it is G' + e_rho, as in line 22:
        # the trees are the same, whose only root edge is e_rho. `find_next` has done both lines.
        ranking.spent[parts.without[part]] = 1
        open_root(ranking, search, forest, n, True)


@inlined_kernel
def divide(
    ranking: Ranking, search: SwapSearch, forest: Forest, n: int, together: bool, part: int
) -> int:
    """Split a part by its cheapest swap; return the new part whose best tree is that swap."""
    queue, parts = ranking.queue, ranking.parts
    d = queue.choice[part]
    rest = add_part(ranking, part, -d)
    other = add_part(ranking, part, d)
    copy_tree(ranking, n, part, rest)
    copy_tree(ranking, n, part, other)
    for k in range(3):
        parts.weight[rest, k] = parts.weight[part, k]
        parts.weight[other, k] = queue.key[part, k]
    solve(ranking, search, forest, n, together, other)
    return other


@uncounted_kernel
def solve(
    ranking: Ranking, search: SwapSearch, forest: Forest, n: int, together: bool, part: int
) -> bool:
    """Find the best tree of a part (`OPT`), with its swaps if `together` (`NEXT`). O(n²).

    The part holds a tree that has the required edges, and gets its best one. False if it has none.
    """
    tree = ranking.parts.heads[part]
    constrain(ranking, search, n, part)
    found = plant_blocks(search, forest, n, tree, False)
    if together:
        found = found and next_tree(search, forest, n, tree)
        if found:
            keep_swaps(ranking, search, n, part)
    else:
        found = found and unconstrained(forest, search.graph.work, True, n)
        if found:
            expand(forest, n, tree)
    include_all(search)
    return found


@uncounted_kernel
def find_next(ranking: Ranking, search: SwapSearch, forest: Forest, n: int, part: int) -> None:
    """Find the swaps of a part whose best tree is known, and announce it for the heap. O(n²)."""
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


@inlined_kernel
def next_tree(search: SwapSearch, forest: Forest, n: int, tree: np.ndarray) -> bool:
    """Find the best tree of a planted graph, and its swaps: `NEXT`, Figure 5. O(n²).

    Figure 5 finds the swaps on the way back from its recursion, for the edges e'' of each critical
    cycle C that the tree kept. Here the in-columns of contracted nodes are kept, and the swaps are
    found when the tree is known, from inner cycles to outer ones. All of them are kept, as for
    Camerini et al., and the cheapest is taken in `enqueue`.

    What the print has otherwise:

    - Figure 5, line 6 has w' = w(D') - w_{G,D'}(e), where e is the edge that the recursion
      returned. It is e', the edge of line 5.
    - Definition 2 lets B(G, e, D) hold e itself, of swap cost 0. It is the edges other than e.
    - Footnote 12 calls the tails of blue edges ancestors of j. Figures 4 and 6 take any node that
      is not a descendant of j, nor j: so do `replace_node` and `replace_leaf`.

    Returns False if there is no tree, else writes `tree` and the swaps.
    """
    nest, chosen, columns = forest.nest, forest.chosen, forest.columns
    doors, opening, work = search.doors, search.opening, search.graph.work
    # Contract critical cycles, as `unconstrained` does, but keep the columns.
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if forest.walk.status[x] == DONE:
            continue
        depth = 0
        while True:
            first, depth = climb(forest, x, depth)
            if first < 0:
                break
            doors.begin[forest.counts[NODES]] = forest.counts[MEMBERS]
            x = contract(forest, work, True, n, first, depth)
            doors.end[x] = forest.counts[MEMBERS]
            depth = first
            gains, entry = columns.gains[columns.slot[x]], columns.entry[columns.slot[x]]
            tail = best_entry(forest, work, True, n, x, gains, -1)
            if tail < 0:
                return False
            take(forest, x, tail)
            for at in range(0, n + 1, LANES):
                columns.gains[x][places(at)] = gains[places(at)]
                columns.entry[x][places(at)] = entry[places(at)]
        arrive(forest, depth)
    # Stitch the tree together; `chosen` is still needed.
    for d in range(1, n + 1):
        tree[d] = chosen.tail[d]
    if forest.counts[NODES] > n + 1:
        for x in range(1, forest.counts[NODES]):
            opening.tail[x] = chosen.tail[x]
            opening.into[x] = chosen.into[x]
        for x in range(forest.counts[NODES] - 1, n, -1):
            columns.slot[x] = x
            if opening.into[x] >= 0:
                enter(opening.tail, opening.into, nest.parent, n, x)
        for d in range(1, n + 1):
            tree[d] = opening.tail[d]
    number_words(search, n, tree)
    clear_swaps(search, n)
    for x in range(n + 1, forest.counts[NODES]):
        members = nest.members[doors.begin[x] : doors.end[x]]
        door, rivals = find_door(search, forest, n, tree, members)
        find_spare(search, forest, x, door, rivals, int(np.int64(tree[door])))
        replace_node(search, forest, n, tree, x)
    for d in range(1, n + 1):
        if not search.graph.fixed[d] and chosen.tail[d] == tree[d]:
            replace_leaf(search, n, tree, d)
    return True
