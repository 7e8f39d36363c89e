"""What each edge of a best tree would be replaced by, in O(n²): the paper's `next`, whole.

Take a graph, some of whose edges are required, and its best tree T. Contract the graph with T's
edges preferred where they tie. Each edge e of T that is not required is then the chosen edge
of exactly one node x. Its *replacement* f is the best other edge into x whose tail is not below
e in T, and the *swap* puts f in the place of e, together with what then changes inside x.

The cheapest of all swaps gives the second best tree (Zmigrod, Vieira and Cotterell 2021, Fig. 5
and Theorem 2; Camerini, Fratta and Maffioli 1980). More is true, and `ranking` lives on it:

    Every tree T' of the graph weighs at most W(T) - c(e), for some edge e of T that T' lacks.

Proof. The gains of the nodes are a solution of the linear programme that is dual to the search
for the best tree: what T' falls short of T is a sum of terms that are never negative, one for
each edge of T' and one for each contracted node that T' enters more than once. On the path of
T' from the root, let f be the first edge that is not in T, p -> q, and x the highest node around
q whose chosen edge T' lacks. The path to p uses edges of T alone, so p is not below that edge,
and f is among those of which the best was chosen to replace it. A node above x that f enters is
entered by T' once more, through its own edge of T, and so the terms that f is part of come to
the cost of the swap at least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.core.exact import SCALE
from arborescence.core.jit import spliced_kernel, uncounted_kernel
from arborescence.nonprojective.contraction import (
    BLOCK,
    DONE,
    Forest,
    best_entry,
    compare,
    contract,
    fold,
    padded,
    plant,
    take,
    top_of,
)
from arborescence.nonprojective.decode import arrive, climb, has_bad_score

# How many of a word's best heads are remembered. Mostly the second or third is the one that is
# looked for; beyond these, all heads are looked at.
GOOD = 8


class Board(NamedTuple):
    """The graph of one sentence under changing constraints, and scratch to work on it.

    N is n + 1, and W is N rounded up to whole blocks. Made once, used for sentences of any
    length up to n.
    """

    base: np.ndarray  # (N, W), the type of the scores: base[d, h]; -inf where no edge is
    work: np.ndarray  # (N, W): the same, and -inf also for edges that are ruled out
    good: np.ndarray  # (N, GOOD) int32: the best heads of each word in `base`, best first, ...
    known: np.ndarray  # (N,) int64: ... as many of them as have been asked for
    best: np.ndarray  # (N,), the type of the scores: each word's best score ...
    head: np.ndarray  # (N,) int32: ... and head, under the constraints
    scratch: np.ndarray  # (W,), the type of the scores
    seen: np.ndarray  # (N,) int32: scratch
    excluded: np.ndarray  # (N², 2) int32: the edges (h, d) that are ruled out at present
    fixed: np.ndarray  # (N,) bool: whether the word's edge is required
    block: np.ndarray  # (N,) int64: where required edges lead up to: a word without one, or 0
    place: np.ndarray  # (W,), the type of the scores: words numbered from the root downwards
    stop: np.ndarray  # (N,), the type of the scores: below each word are those whose number is
    # at least its own and less than this
    order: np.ndarray  # (N,) int64: the words by place
    # While the graph is contracted, for each node x:
    door: np.ndarray  # (2N,) int64: the word of x that the tree enters
    spare: np.ndarray  # (2N,) float64: the gain of the best edge from the same head, scaled, ...
    side: np.ndarray  # (2N,) int64: ... into another word of x, this one
    begin: np.ndarray  # (2N,) int64: x's members lie in Forest.members from here ...
    end: np.ndarray  # (2N,) int64: ... to here
    column: np.ndarray  # (W,) float64: scratch for an in-column
    rival: np.ndarray  # (N, 2) int64: scratch: a member and a word of it ...
    gain: np.ndarray  # (N,) float64: ... and its gain in there
    inside: np.ndarray  # (2N,) int64: scratch: the nodes inside one
    tail: np.ndarray  # (2N,) int64: scratch: their edges after a swap, tail ...
    into: np.ndarray  # (2N,) int64: ... and word
    # The swaps, one for each edge of the tree, which its word d stands for: new heads of words.
    first: np.ndarray  # (N,) int64: where d's swap starts in `word`; -1: there is none
    word: np.ndarray  # (N²,) int32: words, the last one of each swap as ~word
    new_head: np.ndarray  # (N²,) int32
    tally: np.ndarray  # (2,) int64: lengths of `excluded` and of `word`


def new_board(scores: np.ndarray, n: int) -> Board:
    """Make room for sentences of up to n words, with scores of the type of these."""
    size = n + 1
    width = size + BLOCK
    return Board(
        base=np.empty((size, width), scores.dtype),
        work=np.empty((size, width), scores.dtype),
        good=np.empty((size, GOOD), np.int32),
        known=np.empty(size, np.int64),
        best=np.empty(size, scores.dtype),
        head=np.empty(size, np.int32),
        scratch=np.empty(width, scores.dtype),
        seen=np.empty(size, np.int32),
        excluded=np.empty((size * size, 2), np.int32),
        fixed=np.empty(size, np.bool_),
        block=np.empty(size, np.int64),
        place=np.empty(width, scores.dtype),
        stop=np.empty(size, scores.dtype),
        order=np.empty(size, np.int64),
        door=np.empty(2 * size, np.int64),
        spare=np.empty(2 * size, np.float64),
        side=np.empty(2 * size, np.int64),
        begin=np.empty(2 * size, np.int64),
        end=np.empty(2 * size, np.int64),
        column=np.empty(width, np.float64),
        rival=np.empty((size, 2), np.int64),
        gain=np.empty(size, np.float64),
        inside=np.empty(2 * size, np.int64),
        tail=np.empty(2 * size, np.int64),
        into=np.empty(2 * size, np.int64),
        first=np.empty(size, np.int64),
        word=np.empty(size * size, np.int32),
        new_head=np.empty(size * size, np.int32),
        tally=np.empty(2, np.int64),
    )


@spliced_kernel
def set_up(board: Board, scores: np.ndarray, n: int) -> bool:
    """Copy the scores [d, h] of a sentence of n words; False if one is NaN or +inf. O(n²)."""
    if has_bad_score(scores, True, n):
        return False
    base, work = board.base, board.work
    width = padded(n)
    for d in range(n + 1):
        for h in range(n + 1):
            base[d, h] = scores[d, h]
        base[d, n + 1 : width] = -np.inf
        base[d, d] = -np.inf
        board.known[d] = 0
    for d in range(n + 1):
        for h in range(width):
            work[d, h] = base[d, h]
    board.tally[0] = 0
    return True


@spliced_kernel
def good_head(board: Board, n: int, d: int, rank: int) -> int:
    """Return the word's head of that rank in `base`, -1 if it has none. O(1), or O(n) once.

    Of equal scores the lowest head comes first.
    """
    head = -1
    if rank < board.known[d]:
        head = board.good[d, rank]
    elif rank == 0 or board.good[d, rank - 1] >= 0:
        head = next_head(board.base[d], board.good[d], rank, n, board.scratch)
        board.good[d, rank] = head
        board.known[d] = rank + 1
    return head


@uncounted_kernel
def next_head(row: np.ndarray, good: np.ndarray, rank: int, n: int, scratch: np.ndarray) -> int:
    """Return the best head of a row of scores after the one of the rank before. O(n)."""
    for h in range(n + 1):
        scratch[h] = row[h]
    for k in range(rank):
        scratch[good[k]] = -np.inf
    top = fold(scratch, n + 1)
    if top == -np.inf:
        return -1
    many = 0
    where = 0
    for h in range(n + 1):
        found = 1 if row[h] == top else 0
        many += found
        where += found * h
    if many > 1:
        where = 0
        if rank > 0 and row[good[rank - 1]] == top:
            where = good[rank - 1] + 1
        while row[where] != top:
            where += 1
    return where


@spliced_kernel
def best_heads(board: Board, n: int) -> bool:
    """Find the best head of each word that is not fixed; False if one has none. O(n²)."""
    found = True
    for d in range(1, n + 1):
        if board.fixed[d]:
            continue
        rank = 0
        head = good_head(board, n, d, rank)
        while head >= 0 and rank < GOOD and board.work[d, head] == -np.inf:
            rank += 1
            head = good_head(board, n, d, rank) if rank < GOOD else 0
        if rank == GOOD:
            row, scratch = board.work[d], board.scratch
            for h in range(n + 1):
                scratch[h] = row[h]
            top = fold(scratch, n + 1)
            head = 0
            while head < n and row[head] != top:
                head += 1
        head = max(head, 0)
        board.head[d] = head
        board.best[d] = board.work[d, head]
        found &= board.best[d] > -np.inf
    return found


@spliced_kernel
def exclude(board: Board, h: int, d: int) -> None:
    """Rule out an edge until `include_all`. O(1)."""
    board.work[d, h] = -np.inf
    board.excluded[board.tally[0], 0] = h
    board.excluded[board.tally[0], 1] = d
    board.tally[0] += 1


@spliced_kernel
def include_all(board: Board) -> None:
    """Allow the excluded edges again. O(how many)."""
    for k in range(board.tally[0]):
        h, d = board.excluded[k, 0], board.excluded[k, 1]
        board.work[d, h] = board.base[d, h]
    board.tally[0] = 0


@spliced_kernel
def number_words(board: Board, n: int, tree: np.ndarray) -> None:
    """Give numbers to the words of a tree, so that those below a word follow it. O(n)."""
    # `seen` is each word's first child, `head` its next sibling, until `best_heads` needs them.
    child, sibling = board.seen, board.head
    for x in range(n + 1):
        child[x] = -1
    for d in range(n, 0, -1):
        sibling[d] = child[tree[d]]
        child[tree[d]] = d
    x = 0
    for k in range(n + 1):
        board.order[k] = x
        board.place[x] = k
        board.stop[x] = k + 1
        if child[x] >= 0:
            x = child[x]
        else:
            while x > 0 and sibling[x] < 0:
                x = tree[x]
            x = sibling[x] if x > 0 else 0
    for k in range(n, 0, -1):
        x = board.order[k]
        board.stop[tree[x]] = max(board.stop[tree[x]], board.stop[x])
    for u in range(n + 1, padded(n)):
        board.place[u] = -1


@spliced_kernel
def plant_blocks(board: Board, forest: Forest, n: int, tree: np.ndarray, favour: bool) -> bool:
    """Start the contraction with each required edge's ends as one block. O(n²).

    A block is entered at its uppermost word alone, the one whose edge is not required: edges
    into that word from its own block are ruled out. Where scores tie, words take their head in
    `tree` if `favour`, or else the lowest. False if a word has no head at all.
    """
    number_words(board, n, tree)
    work, block = board.work, board.block
    block[0] = 0
    for k in range(1, n + 1):
        d = board.order[k]
        if board.fixed[d]:
            block[d] = block[tree[d]]
            if block[d] > 0:
                exclude(board, d, block[d])
        else:
            block[d] = d
    found = best_heads(board, n)
    best, head = board.best, board.head
    for d in range(1, n + 1):
        if board.fixed[d] or (favour and work[d, tree[d]] == best[d]):
            head[d] = tree[d]
    plant(forest, n, best, head)
    for d in range(1, n + 1):
        if not board.fixed[d]:
            continue
        x = block[d]
        forest.label[d] = x
        forest.after[forest.last[x]] = d
        forest.last[x] = d
        forest.size[x] += 1
    return found


@spliced_kernel
def note(board: Board, d: int, word: int, head: int) -> None:
    """Start the swap for the edge into d: this word gets this head."""
    k = board.tally[1]
    board.first[d] = k
    board.word[k] = ~word
    board.new_head[k] = head
    board.tally[1] += 1


@spliced_kernel
def replace_leaf(board: Board, n: int, tree: np.ndarray, d: int) -> None:
    """Find the swap for an edge into a word that is a node by itself. O(n)."""
    row, place = board.work[d], board.place
    start = place[d]
    stop = board.stop[d]
    rank = 0
    head = good_head(board, n, d, rank)
    while head >= 0 and (
        head == tree[d] or row[head] == -np.inf or (place[head] >= start and place[head] < stop)
    ):
        rank += 1
        head = good_head(board, n, d, rank) if rank < GOOD else -1
    if head >= 0:
        note(board, d, d, head)
    elif rank == GOOD:
        replace_by_any(board, n, tree, d)


@uncounted_kernel
def replace_by_any(board: Board, n: int, tree: np.ndarray, d: int) -> None:
    """Do as `replace_leaf` where none of the remembered heads will do. O(n)."""
    row, place, scratch = board.work[d], board.place, board.scratch
    start = place[d]
    stop = board.stop[d]
    for h in range(n + 1):
        outside = (place[h] < start) | (place[h] >= stop)
        scratch[h] = row[h] if outside else -np.inf
    scratch[tree[d]] = -np.inf
    top = fold(scratch, n + 1)
    if top == -np.inf:
        return
    many = 0
    where = 0
    for h in range(n + 1):
        outside = (place[h] < start) | (place[h] >= stop)
        found = 1 if outside & (row[h] == top) else 0
        many += found
        where += found * h
    if row[tree[d]] == top:
        many -= 1
        where -= tree[d]
    if many != 1:
        where = 0
        while row[where] != top or where == tree[d] or start <= place[where] < stop:
            where += 1
    note(board, d, d, where)


@uncounted_kernel
def replace_node(board: Board, forest: Forest, n: int, tree: np.ndarray, x: int) -> None:
    """Find the swap for the chosen edge of a contracted node, if the tree has that edge. O(n)."""
    d = board.door[x]
    u = int(tree[d])
    if forest.into[x] != d or forest.tail[x] != u:
        return
    column, gains, entry = board.column, forest.gains[forest.slot[x]], forest.entry[forest.slot[x]]
    start = board.place[d]
    stop = board.stop[d]
    for h in range(padded(n)):
        outside = (board.place[h] < start) | (board.place[h] >= stop)
        column[h] = gains[h] if outside else -np.inf
    column[u] = board.spare[x]
    entry[u] = board.side[x]
    tail = best_entry(forest, board.work, True, n, x, column, -1)
    if tail >= 0:
        open_node(board, forest, n, tree, x, tail, entry[tail])
    entry[u] = d


@spliced_kernel
def open_node(
    board: Board, forest: Forest, n: int, tree: np.ndarray, x: int, tail: int, word: int
) -> None:
    """Write the swap that enters the node x by tail -> word. O(size of x)."""
    inside = board.inside
    inside[0] = x
    board.tail[x] = tail
    board.into[x] = word
    many = 1
    k = 0
    while k < many:
        z = inside[k]
        k += 1
        if z <= n:
            continue
        for y in forest.members[board.begin[z] : board.end[z]]:
            inside[many] = y
            many += 1
            board.tail[y] = forest.tail[y]
            board.into[y] = forest.into[y]
    # As `expand` does it.
    for k in range(many):
        z = inside[k]
        if z <= n or board.into[z] < 0:
            continue
        below = board.into[z]
        u, v = board.tail[z], below
        while below != z:
            board.tail[below] = u
            board.into[below] = v if below <= n else -1
            below = forest.parent[below]
    d = board.door[x]
    board.first[d] = board.tally[1]
    for k in range(many):
        z = inside[k]
        if z <= n and board.tail[z] != tree[z]:
            board.word[board.tally[1]] = z
            board.new_head[board.tally[1]] = board.tail[z]
            board.tally[1] += 1
    board.word[board.tally[1] - 1] = ~board.word[board.tally[1] - 1]


@spliced_kernel
def contract_along(
    board: Board, forest: Forest, n: int, tree: np.ndarray, start: int, stop: int
) -> int:
    """Contract a cycle like `contract`, and choose the new node's edge, the tree's if it ties.

    A tree that is best enters each contracted node once: all members but one have their chosen
    edge from it, and that one is the member that it enters the cycle by. O(kn).
    """
    door = -1
    for x in forest.path[start:stop]:
        if x > n:
            replace_node(board, forest, n, tree, x)
        d = board.door[x]
        if forest.into[x] != d or forest.tail[x] != tree[d]:
            door = d
    # An edge from the tree's head into another word of the node replaces the tree's own at
    # times, but the in-column has room for one edge a head.
    u = int(tree[door])
    rivals = 0
    for x in forest.path[start:stop]:
        word = x
        if board.door[x] == door:
            gain = board.spare[x]
            word = board.side[x]
        elif x > n:
            gain = forest.gains[forest.slot[x], u]
            word = forest.entry[forest.slot[x], u]
        else:
            gain = board.work[x, u] * SCALE
        if gain > -np.inf:
            board.rival[rivals, 0] = x
            board.rival[rivals, 1] = word
            board.gain[rivals] = gain
            rivals += 1

    board.begin[forest.tally[0]] = forest.tally[1]
    cycle = contract(forest, board.work, True, n, start, stop)
    board.end[cycle] = forest.tally[1]
    board.door[cycle] = door
    spare, side = -np.inf, -1
    for k in range(rivals):
        gain = board.gain[k] - forest.gain[board.rival[k, 0]]
        word = board.rival[k, 1]
        near = 2.0 * forest.bound[cycle] + 8.0 * forest.relative[cycle] * abs(gain)
        if (
            side < 0
            or gain > spare + near
            or (
                gain >= spare - near
                and (compare(forest, board.work, True, (u, word), (u, side)) > 0)
            )
        ):
            spare, side = gain, word
    board.spare[cycle] = spare
    board.side[cycle] = side
    gains = forest.gains[forest.slot[cycle]]
    forest.entry[forest.slot[cycle], u] = door
    take(forest, cycle, best_entry(forest, board.work, True, n, cycle, gains, u))
    return cycle


@uncounted_kernel
def find_swaps(board: Board, forest: Forest, n: int, tree: np.ndarray) -> None:
    """Find the swap for each edge of the best tree that is not required. O(n²).

    Parameters
    ----------
    board : Board
        The graph, under its constraints; `first`, `word` and `new_head` are written.
    forest : Forest
    n : int
    tree : (N,) int32
        The best tree of that graph: any of them, if several are.
    """
    plant_blocks(board, forest, n, tree, True)
    board.tally[1] = 0
    for d in range(n + 1):
        board.first[d] = -1
        board.door[d] = d
        board.spare[d] = -np.inf
        board.side[d] = d
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if forest.status[x] == DONE:
            continue
        depth = 0
        while True:
            start, depth = climb(forest, x, depth)
            if start < 0:
                break
            x = contract_along(board, forest, n, tree, start, depth)
            depth = start
        arrive(forest, depth)
    for x in range(n + 1, forest.tally[0]):
        if forest.parent[x] < 0:
            replace_node(board, forest, n, tree, x)
    for d in range(1, n + 1):
        if not board.fixed[d] and board.head[d] == tree[d]:
            replace_leaf(board, n, tree, d)
