"""The best replacement (swap) of each edge of a best tree, in O(n²): Zmigrod et al. (2021), Fig. 5.

The paper's `next` finds the cheapest swap; this module finds all swaps at once.

Take a graph with some required edges, and its best tree T. Contract the graph, and prefer T's edges
on a tie. Then each edge e of T that is not required is the chosen edge of exactly one node x. Its
*replacement* f is the best other edge into x whose tail is not below e in T. The *swap* replaces e
by f, and includes the changes inside x that follow.

The cheapest swap gives the second best tree (Zmigrod, Vieira and Cotterell 2021, Fig. 5 and Theorem
2; Camerini, Fratta and Maffioli 1980). `kbest` needs a stronger statement, where c(e) is the cost
of the swap of e:

    Every tree T' of the graph weighs at most W(T) - c(e), for some edge e of T that T' lacks.

Proof. The gains of the nodes are a solution of the linear program that is dual to finding the best
tree. So W(T) - W(T') is a sum of non-negative terms: one for each edge of T', and one for each
contracted node that T' enters more than once. On a path of T' from the root, let f = p -> q be the
first edge that is not in T, and let x be the highest node that contains q and whose chosen edge T'
lacks. The path to p uses only edges of T. So p is not below the chosen edge of x, and f is one of
the candidates for its replacement. Each node above x that f enters is entered by T' once more,
through its own edge of T. So the terms of f sum to at least the cost of the swap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, uncounted_kernel
from arborescence.compiling.lanes import LANES, longs, numbers, places
from arborescence.core.accumulator import SCALE
from arborescence.core.rows import padded
from arborescence.nonprojective.contraction import best_entry, contract, enter, highest, take
from arborescence.nonprojective.decode import arrive, climb
from arborescence.nonprojective.exact_gains import compare
from arborescence.nonprojective.forest import DONE, MEMBERS, NODES, Forest, plant, top_of
from arborescence.nonprojective.greedy import Greedy, new_greedy

# The number of best heads stored for each word. In most cases the second or third is needed. If all
# of these are excluded, all heads are searched.
GOOD = 8


# N is n + 1, and W is N rounded up to whole lanes.


class Constrained(NamedTuple):
    """The graph of one sentence, and the current constraints."""

    #: (N, W), the type of the scores: base[d, h]; -inf for absent edges
    base: np.ndarray
    #: (N, W): a copy of `base`, with -inf for excluded edges, too
    work: np.ndarray
    #: (N², 2) int32: the edges (h, d) that are excluded now
    excluded: np.ndarray
    #: (N,) bool: whether the word's edge is required
    fixed: np.ndarray


class GoodHeads(NamedTuple):
    """The best heads of each word without constraints."""

    #: (N, GOOD) int32: best first
    heads: np.ndarray
    #: (N,) int64: the number of heads computed so far
    known: np.ndarray
    #: (W,), the type of the scores
    scratch: np.ndarray


class BlockLayout(NamedTuple):
    """The positions of the words in the tree."""

    #: (N,) int64: the top of a word's block of required edges
    block: np.ndarray
    #: (W,), the type of the scores: the number of each word in preorder
    place: np.ndarray
    #: (N,), the type of the scores: a word and all words below it have the numbers ``place`` to
    #: ``stop - 1``
    stop: np.ndarray
    #: (N,) int64: the words in preorder
    order: np.ndarray


class Doors(NamedTuple):
    """The *door* of each node x during contraction: the word of x that the tree's edge enters."""

    #: (2N,) int64: the word of x that the tree's edge into x enters
    door: np.ndarray
    #: (2N,) float64: the scaled gain of the best other edge from the same head
    spare: np.ndarray
    #: (2N,) int64: the word of x that this other edge enters
    side: np.ndarray
    #: (2N,) int64: the start of x's members in `Nest.members`
    begin: np.ndarray
    #: (2N,) int64: their end
    end: np.ndarray
    #: (W,) float64: scratch for an in-column
    column: np.ndarray
    #: (N, 2) int64: scratch: a member and one of its words
    rival: np.ndarray
    #: (N,) float64: scratch: the gain of the edge into that word
    gain: np.ndarray


class Opening(NamedTuple):
    """Scratch for a swap: the nodes inside a node, and their edges after the swap."""

    #: (2N,) int64: the nodes inside
    inside: np.ndarray
    #: (2N,) int64: the tail of each node's edge
    tail: np.ndarray
    #: (2N,) int64: the word that each node's edge enters
    into: np.ndarray


class SwapTrees(NamedTuple):
    """The swap of each tree edge, by its dependent d: the head changes `start[d]` to `stop[d]`."""

    #: (N,) int32: the start of the changes of d
    start: np.ndarray
    #: (N,) int32: their end
    stop: np.ndarray
    #: (N²,) int32: for each change, the word whose head changes
    word: np.ndarray
    #: (N²,) int32: its new head
    new_head: np.ndarray


# Indices of `SwapSearch.counts`: the numbers of entries of `excluded` and of changes.
EXCLUDED, CHANGES = range(2)


class SwapSearch(NamedTuple):
    """The graph of one sentence, the swaps for its best tree, and the arrays to compute them.

    The scores and the good heads are kept between calls of a kernel. The other arrays are allocated
    again in each call, which is faster than passing all arrays from Python.
    """

    #: the scores and the constraints
    graph: Constrained
    #: the best heads of each word
    good: GoodHeads
    #: the greedy graph, and scratch
    greedy: Greedy
    #: the positions of the words in the tree
    layout: BlockLayout
    #: where the tree enters each node
    doors: Doors
    #: scratch for a swap
    opening: Opening
    #: the swap of each tree edge
    swaps: SwapTrees
    #: (2,) int64: see the indices above
    counts: np.ndarray


def width_of(n: int) -> int:
    """Return a length of at least `padded`, for arrays that Python allocates."""
    return n + 1 + LANES


@kernel
def new_search(matrices: np.ndarray, good: np.ndarray, known: np.ndarray, n: int) -> SwapSearch:
    """Make the arrays for up to n words; `matrices` are base and work of `Constrained`."""
    size = n + 1
    width = padded(n)
    # A few blocks, cut into rows, as in `new_forest`.
    of_nodes = np.empty((9, 2 * size + LANES), np.int64)
    of_scores = np.empty((3, width), matrices.dtype)
    of_words = np.empty((2, width), np.int32)
    floats = np.empty((3, 2 * size + LANES), np.float64)
    changes = np.empty((2, size * size), np.int32)
    return SwapSearch(
        Constrained(
            base=matrices[0],
            work=matrices[1],
            excluded=np.empty((size * size, 2), np.int32),
            fixed=np.empty(size, np.bool_),
        ),
        GoodHeads(heads=good, known=known, scratch=of_scores[2]),
        new_greedy(matrices, n),
        BlockLayout(block=of_nodes[0], place=of_scores[0], stop=of_scores[1], order=of_nodes[1]),
        Doors(
            door=of_nodes[2],
            spare=floats[0],
            side=of_nodes[3],
            begin=of_nodes[4],
            end=of_nodes[5],
            column=floats[1],
            rival=np.empty((size, 2), np.int64),
            gain=floats[2],
        ),
        Opening(inside=of_nodes[6], tail=of_nodes[7], into=of_nodes[8]),
        SwapTrees(start=of_words[0], stop=of_words[1], word=changes[0], new_head=changes[1]),
        counts=np.zeros(2, np.int64),
    )


@inlined_kernel
def set_up(search: SwapSearch, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Copy the scores of a sentence of n words; False if one is NaN or +inf. O(n²)."""
    base, work = search.graph.base, search.graph.work
    width = padded(n)
    bad = 0
    for d in range(n + 1):
        for h in range(n + 1):
            base[d, h] = scores[d, h] if dependents_first else scores[h, d]
        base[d, n + 1 : width] = -np.inf
        base[d, d] = -np.inf
        search.good.known[d] = 0
        # Check the copy, because another thread may change the caller's scores.
        for h in range(width):
            work[d, h] = base[d, h]
            bad += 0 if (d == 0) | (work[d, h] < np.inf) else 1
    if bad > 0:
        return False
    search.counts[EXCLUDED] = 0
    return True


@inlined_kernel
def good_head(search: SwapSearch, n: int, d: int, rank: int) -> int:
    """Return the word's head of a rank in `base`, on a tie the lower, or -1. O(1), or once O(n)."""
    good = search.good
    head = -1
    if rank < good.known[d]:
        head = good.heads[d, rank]
    elif rank == 0 or good.heads[d, rank - 1] >= 0:
        head = next_head(search.graph.base[d], good.heads[d], rank, n, good.scratch)
        good.heads[d, rank] = head
        good.known[d] = rank + 1
    return head


@uncounted_kernel
def next_head(row: np.ndarray, good: np.ndarray, rank: int, n: int, scratch: np.ndarray) -> int:
    """Return the best head in a row of scores after the first `rank` heads in `good`. O(n)."""
    width = padded(n)
    for h in range(width):
        scratch[h] = row[h]
    for k in range(rank):
        scratch[good[k]] = -np.inf
    top = highest(scratch, n)
    if top == -np.inf:
        return -1
    many = 0
    where = 0
    for h in range(n + 1):
        is_top = 1 if row[h] == top else 0
        many += is_top
        where += is_top * h
    if many > 1:
        where = 0
        if rank > 0 and row[good[rank - 1]] == top:
            where = good[rank - 1] + 1
        while row[where] != top:
            where += 1
    return where


@inlined_kernel
def best_heads(search: SwapSearch, n: int) -> bool:
    """Find the best head of each word that is not fixed; False if a word has no head. O(n²)."""
    graph, greedy = search.graph, search.greedy
    complete = True
    for d in range(1, n + 1):
        if graph.fixed[d]:
            continue
        rank = 0
        head = good_head(search, n, d, rank)
        while head >= 0 and rank < GOOD and graph.work[d, head] == -np.inf:
            rank += 1
            head = good_head(search, n, d, rank) if rank < GOOD else 0
        if rank == GOOD:
            row = graph.work[d]
            top = highest(row, n)
            head = 0
            while head < n and row[head] != top:
                head += 1
        head = max(head, 0)
        greedy.head[d] = head
        greedy.best[d] = graph.work[d, head]
        complete &= greedy.best[d] > -np.inf
    return complete


@inlined_kernel
def exclude(search: SwapSearch, h: int, d: int) -> None:
    """Exclude an edge until `include_all`. O(1)."""
    graph = search.graph
    graph.work[d, h] = -np.inf
    graph.excluded[search.counts[EXCLUDED], 0] = h
    graph.excluded[search.counts[EXCLUDED], 1] = d
    search.counts[EXCLUDED] += 1


@inlined_kernel
def include_all(search: SwapSearch) -> None:
    """Restore the excluded edges. O(their number)."""
    graph = search.graph
    for k in range(search.counts[EXCLUDED]):
        h, d = graph.excluded[k, 0], graph.excluded[k, 1]
        graph.work[d, h] = graph.base[d, h]
    search.counts[EXCLUDED] = 0


@inlined_kernel
def number_words(search: SwapSearch, n: int, tree: np.ndarray) -> None:
    """Give the words of a tree their preorder numbers. O(n)."""
    greedy, layout = search.greedy, search.layout
    # Uses `above` for first children and `head` for next siblings; `best_heads` overwrites them.
    child, sibling = greedy.above, greedy.head
    for x in range(n + 1):
        child[x] = -1
    for d in range(n, 0, -1):
        sibling[d] = child[tree[d]]
        child[tree[d]] = d
    x = 0
    for k in range(n + 1):
        layout.order[k] = x
        layout.place[x] = k
        layout.stop[x] = k + 1
        if child[x] >= 0:
            x = child[x]
        else:
            while x > 0 and sibling[x] < 0:
                x = tree[x]
            x = sibling[x] if x > 0 else 0
    for k in range(n, 0, -1):
        x = layout.order[k]
        layout.stop[tree[x]] = max(layout.stop[tree[x]], layout.stop[x])
    for u in range(n + 1, padded(n)):
        layout.place[u] = -1


@inlined_kernel
def plant_blocks(
    search: SwapSearch, forest: Forest, n: int, tree: np.ndarray, favour: bool
) -> bool:
    """Start the contraction, with words connected by required edges in one block. O(n²).

    An edge from outside can enter a block only at its top. On a tie, a word takes its head in
    `tree` if `favour`, or else the lowest head. Return False if a word has no head.
    """
    nest, graph, layout = forest.nest, search.graph, search.layout
    number_words(search, n, tree)
    work, block = graph.work, layout.block
    block[0] = 0
    for k in range(1, n + 1):
        d = layout.order[k]
        if graph.fixed[d]:
            block[d] = block[tree[d]]
            if block[d] > 0:
                exclude(search, d, block[d])
        else:
            block[d] = d
    complete = best_heads(search, n)
    best, head = search.greedy.best, search.greedy.head
    for d in range(1, n + 1):
        if graph.fixed[d] or (favour and work[d, tree[d]] == best[d]):
            head[d] = tree[d]
    plant(forest, n, best, head, 0.0)
    for d in range(1, n + 1):
        if not graph.fixed[d]:
            continue
        x = block[d]
        nest.label[d] = x
        nest.after[nest.last[x]] = d
        nest.last[x] = d
        nest.size[x] += 1
    return complete


@inlined_kernel
def add_swap(search: SwapSearch, d: int, head: int) -> None:
    """Write the swap for the edge into d that changes only the head of d. O(1)."""
    swaps, count = search.swaps, search.counts[CHANGES]
    swaps.word[count] = d
    swaps.new_head[count] = head
    swaps.start[d], swaps.stop[d] = count, count + 1
    search.counts[CHANGES] = count + 1


@inlined_kernel
def replace_leaf(search: SwapSearch, n: int, tree: np.ndarray, d: int) -> None:
    """Find the swap for an edge that is the chosen edge of a leaf. O(n)."""
    layout = search.layout
    row, place = search.graph.work[d], layout.place
    start = place[d]
    stop = layout.stop[d]
    rank = 0
    head = good_head(search, n, d, rank)
    while head >= 0 and (
        head == tree[d] or row[head] == -np.inf or (place[head] >= start and place[head] < stop)
    ):
        rank += 1
        head = good_head(search, n, d, rank) if rank < GOOD else -1
    if head >= 0:
        add_swap(search, d, head)
    elif rank == GOOD:
        replace_by_any(search, n, tree, d)


@uncounted_kernel
def replace_by_any(search: SwapSearch, n: int, tree: np.ndarray, d: int) -> None:
    """Do the work of `replace_leaf` if none of the stored heads is allowed. O(n)."""
    layout = search.layout
    row, place, scratch = search.graph.work[d], layout.place, search.good.scratch
    start = place[d]
    stop = layout.stop[d]
    for h in range(padded(n)):
        outside = (place[h] < start) | (place[h] >= stop)
        scratch[h] = row[h] if outside else -np.inf
    scratch[tree[d]] = -np.inf
    top = highest(scratch, n)
    if top == -np.inf:
        return
    many = 0
    where = 0
    for h in range(n + 1):
        outside = (place[h] < start) | (place[h] >= stop)
        is_top = 1 if outside & (row[h] == top) else 0
        many += is_top
        where += is_top * h
    if row[tree[d]] == top:
        many -= 1
        where -= tree[d]
    if many != 1:
        where = 0
        while row[where] != top or where == tree[d] or start <= place[where] < stop:
            where += 1
    add_swap(search, d, where)


@uncounted_kernel
def replace_node(search: SwapSearch, forest: Forest, n: int, tree: np.ndarray, x: int) -> None:
    """Find the swap for the chosen edge of a contracted node, if the tree has that edge. O(n)."""
    chosen, columns, doors, layout = forest.chosen, forest.columns, search.doors, search.layout
    d = doors.door[x]
    u = int(tree[d])
    if chosen.into[x] != d or chosen.tail[x] != u:
        return
    slot = columns.slot[x]
    column, gains, entry = doors.column, columns.gains[slot], columns.entry[slot]
    start = layout.place[d]
    stop = layout.stop[d]
    for h in range(padded(n)):
        outside = (layout.place[h] < start) | (layout.place[h] >= stop)
        column[h] = gains[h] if outside else -np.inf
    column[u] = doors.spare[x]
    entry[u] = doors.side[x]
    tail = best_entry(forest, search.graph.work, True, n, x, column, -1)
    if tail >= 0:
        open_node(search, forest, n, tree, x, tail, entry[tail])
    entry[u] = d


@inlined_kernel
def open_node(
    search: SwapSearch, forest: Forest, n: int, tree: np.ndarray, x: int, tail: int, word: int
) -> None:
    """Write the swap that enters the node x by tail -> word. O(size of x)."""
    nest, chosen, doors, swaps = forest.nest, forest.chosen, search.doors, search.swaps
    inside, new_tail, new_into = search.opening.inside, search.opening.tail, search.opening.into
    inside[0] = x
    new_tail[x] = tail
    new_into[x] = word
    many = 1
    k = 0
    while k < many:
        z = inside[k]
        k += 1
        if z <= n:
            continue
        for y in nest.members[doors.begin[z] : doors.end[z]]:
            inside[many] = y
            many += 1
            new_tail[y] = chosen.tail[y]
            new_into[y] = chosen.into[y]
    for k in range(many):
        z = inside[k]
        if z > n and new_into[z] >= 0:
            enter(new_tail, new_into, nest.parent, n, z)
    d = doors.door[x]
    count = search.counts[CHANGES]
    swaps.start[d] = count
    for k in range(many):
        z = inside[k]
        if z <= n and new_tail[z] != tree[z]:
            swaps.word[count] = z
            swaps.new_head[count] = new_tail[z]
            count += 1
    swaps.stop[d] = search.counts[CHANGES] = count


@inlined_kernel
def find_door(
    search: SwapSearch, forest: Forest, n: int, tree: np.ndarray, members: np.ndarray
) -> tuple[int, int]:
    """Return the word at which the tree enters a cycle, and the number of rivals of its edge. O(k).

    A best tree has the chosen edges of all members except the entered member. The rivals are the
    other edges from the same head into members.
    """
    chosen, columns, doors, work = forest.chosen, forest.columns, search.doors, search.graph.work
    door = -1
    for x in members:
        d = doors.door[x]
        if chosen.into[x] != d or chosen.tail[x] != tree[d]:
            door = d
    u = int(np.int64(tree[door]))
    rivals = 0
    for x in members:
        word = x
        if doors.door[x] == door:
            gain = doors.spare[x]
            word = doors.side[x]
        elif x > n:
            gain = columns.gains[columns.slot[x], u]
            word = columns.entry[columns.slot[x], u]
        else:
            gain = work[x, u] * SCALE
        if gain > -np.inf:
            doors.rival[rivals, 0] = x
            doors.rival[rivals, 1] = word
            doors.gain[rivals] = gain
            rivals += 1
    return door, rivals


@inlined_kernel
def find_spare(
    search: SwapSearch, forest: Forest, cycle: int, door: int, rivals: int, u: int
) -> None:
    """Write the door of a contracted cycle, and the best of the rivals, which come from u. O(k).

    An in-column has one edge for each head, so the next best edge from the same head is stored
    separately.
    """
    chosen, doors, work = forest.chosen, search.doors, search.graph.work
    doors.door[cycle] = door
    spare, side = -np.inf, np.int64(-1)
    for k in range(rivals):
        gain = doors.gain[k] - chosen.gain[doors.rival[k, 0]]
        word = doors.rival[k, 1]
        near = 2.0 * chosen.bound[cycle] + 8.0 * chosen.relative[cycle] * abs(gain)
        if (
            side < 0
            or gain > spare + near
            or (gain >= spare - near and compare(forest, work, True, (u, word), (u, side)) > 0)
        ):
            spare, side = gain, word
    doors.spare[cycle] = spare
    doors.side[cycle] = side


@inlined_kernel
def contract_along(
    search: SwapSearch, forest: Forest, n: int, tree: np.ndarray, start: int, stop: int
) -> int:
    """Contract a cycle; choose the new node's edge, on a tie the edge of the tree. O(kn)."""
    columns, doors, work = forest.columns, search.doors, search.graph.work
    members = forest.walk.path[start:stop]
    for x in members:
        if x > n:
            replace_node(search, forest, n, tree, x)
    door, rivals = find_door(search, forest, n, tree, members)
    u = int(np.int64(tree[door]))
    doors.begin[forest.counts[NODES]] = forest.counts[MEMBERS]
    cycle = contract(forest, work, True, n, start, stop)
    doors.end[cycle] = forest.counts[MEMBERS]
    find_spare(search, forest, cycle, door, rivals, u)
    gains = columns.gains[columns.slot[cycle]]
    columns.entry[columns.slot[cycle], u] = door
    take(forest, cycle, best_entry(forest, work, True, n, cycle, gains, u))
    return cycle


@inlined_kernel
def clear_swaps(search: SwapSearch, n: int) -> None:
    """Start with no swaps; the door of each word is the word itself. O(n)."""
    doors, swaps = search.doors, search.swaps
    search.counts[CHANGES] = 0
    for start in range(0, n + 1, LANES):
        lanes, words = places(start), longs(numbers(start))
        swaps.start[lanes] = 0
        swaps.stop[lanes] = 0
        doors.door[lanes] = words
        doors.spare[lanes] = -np.inf
        doors.side[lanes] = words


@uncounted_kernel
def find_swaps(search: SwapSearch, forest: Forest, n: int, tree: np.ndarray) -> None:
    """Find the swap for each edge of the best tree that is not required. O(n²)."""
    plant_blocks(search, forest, n, tree, True)
    clear_swaps(search, n)
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if forest.walk.status[x] == DONE:
            continue
        depth = 0
        while True:
            start, depth = climb(forest, x, depth)
            if start < 0:
                break
            x = contract_along(search, forest, n, tree, start, depth)
            depth = start
        arrive(forest, depth)
    for x in range(n + 1, forest.counts[NODES]):
        if forest.nest.parent[x] < 0:
            replace_node(search, forest, n, tree, x)
    for d in range(1, n + 1):
        if not search.graph.fixed[d] and search.greedy.head[d] == tree[d]:
            replace_leaf(search, n, tree, d)
