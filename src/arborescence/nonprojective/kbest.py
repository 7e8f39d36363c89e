"""All trees of a graph, best first, in O(n²) a tree.

The trees are split into parts, each with its best tree at hand. A part requires some edges and
rules others out; when its best tree T has been given out, the rest of it is split by T's edges
e_1, e_2, ... in the order in which their swaps are cheap (`replacement`): the i-th part requires
e_1 .. e_{i-1} and rules out e_i (Murty 1968, Lawler 1972). None of its trees weighs more than
W(T) - c(e_i), and the swap is a tree of that weight, which lies in the part unless it kicks out
one of the required edges. So the parts wait in a heap, each one that has been split only with its
next swap. If the turn of a swap comes that does not fit, what is left of its part, where e_1 ..
e_{i-1} are required, is split anew: the next of its swaps that comes to the top fits. So a tree
costs one contraction, and never more than two. (Zmigrod, Vieira and Cotterell 2021, Fig. 7, split
in two, with e_1 and without it, and contract twice; Camerini, Fratta and Maffioli 1980 three
times.)

Under the root constraint (their Fig. 9) the trees are first split by their root edge r: the best
tree of all, by the decoder for that constraint; with its root edge deleted, the best tree of the
rest; and so on, each as soon as the one before it has been given out. Among the trees with the
root edge r, no others being left in the graph, the constraint holds by itself.

Weights are doubles (`exact`), and where those leave a comparison open, it is made in the long
accumulator. So the order is that of real arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arborescence.core.exact import (
    BIAS_32,
    BIAS_64,
    DIGITS_32,
    DIGITS_64,
    SCALE,
    UNSURE,
    add_float,
    double_add,
    double_add_score,
    double_difference,
    double_sign,
    sign_of,
)
from arborescence.core.faults import BAD_SCORE, FINE, NO_SINGLE_ROOT, NO_TREE
from arborescence.core.jit import spliced_kernel, uncounted_kernel
from arborescence.core.tree import spans
from arborescence.nonprojective.contraction import Forest, expand, plant
from arborescence.nonprojective.decode import constrained, unconstrained
from arborescence.nonprojective.swaps import (
    Board,
    best_heads,
    exclude,
    find_swaps,
    include_all,
    set_up,
)

# What is found besides what `best` knows: there is no tree left; or there is no room left.
EXHAUSTED, FULL = 5, 6

# Places of `Ranking.tally`, and what GIVEN holds when it is not a part.
PARTS, WAITING, POOL, GIVEN, COMING = 0, 1, 2, 3, 4
NONE_YET, SPLIT = -2, -1


class Ranking(NamedTuple):
    """The parts of one sentence's trees. P is their number, N is n + 1."""

    heads: np.ndarray  # (P, N) int32: the best tree of each part
    weight: np.ndarray  # (P, 3) float64: its weight, scaled, as a double
    parent: np.ndarray  # (P,) int64: the part that this one has been split from; -1: none
    without: np.ndarray  # (P,) int64: the word whose edge in the parent's tree is ruled out;
    # where there is no parent, the word whose edge from the root is required, or 0
    cost: np.ndarray  # (P, N, 3) float64: what each word's swap costs, a double; inf: no swap,
    # or already a part
    swap: np.ndarray  # (P, N) int64: where it starts in the pool
    before: np.ndarray  # (P, N) int32: the words whose swaps have become parts, as a list: the
    # word before each, 0 at the start, ...
    latest: np.ndarray  # (P,) int64: ... and the last one
    choice: np.ndarray  # (P,) int64: the word whose swap waits; 0: the best tree itself waits
    key: np.ndarray  # (P, 3) float64: the weight of what waits, a double
    heap: np.ndarray  # (P,) int64: the parts that wait, the best one first
    coming: np.ndarray  # (2,) int64: parts on their way to the heap
    word: np.ndarray  # pool, int32: swaps, as `Board` writes them
    new_head: np.ndarray  # pool, int32
    spent: np.ndarray  # (N,) bool: the root edges whose trees have been split
    total: np.ndarray  # (D,) int64: an accumulator
    tally: np.ndarray  # (4,) int64: parts; how many wait; length of the pool; the part whose tree
    # has been given out last and which is not split yet, or -1


def new_ranking(scores: np.ndarray, n: int, parts: int) -> Ranking:
    """Make room for so many parts, of a sentence of up to n words."""
    size = n + 1
    pool = (parts + size) * size
    return Ranking(
        heads=np.empty((parts, size), np.int32),
        weight=np.empty((parts, 3), np.float64),
        parent=np.empty(parts, np.int64),
        without=np.empty(parts, np.int64),
        cost=np.empty((parts, size, 3), np.float64),
        swap=np.empty((parts, size), np.int64),
        before=np.empty((parts, size), np.int32),
        latest=np.empty(parts, np.int64),
        choice=np.empty(parts, np.int64),
        key=np.empty((parts, 3), np.float64),
        heap=np.empty(parts, np.int64),
        coming=np.empty(2, np.int64),
        word=np.empty(pool, np.int32),
        new_head=np.empty(pool, np.int32),
        spent=np.empty(size, np.bool_),
        total=np.empty(DIGITS_32 if scores.itemsize == 4 else DIGITS_64, np.int64),
        tally=np.empty(5, np.int64),
    )


def larger(ranking: Ranking) -> Ranking:
    """Return the same ranking with twice the room."""
    used = dict.fromkeys(Ranking._fields, ranking.tally[PARTS])
    used |= {"heap": ranking.tally[WAITING]} | dict.fromkeys(
        ("word", "new_head"), ranking.tally[POOL]
    )

    def grown(name: str) -> np.ndarray:
        array = getattr(ranking, name)
        twice = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
        twice[: used[name]] = array[: used[name]]
        return twice

    limited = set(Ranking._fields) - {"coming", "spent", "total", "tally"}
    return ranking._replace(**{name: grown(name) for name in limited})


@spliced_kernel
def add_tree(
    ranking: Ranking, board: Board, n: int, part: int, choice: int, sign: int, bias: int
) -> None:
    """Add ``sign`` times the weight of a part's tree, or of a swap of it, to `total`. O(n)."""
    heads, total = ranking.heads[part], ranking.total
    for d in range(1, n + 1):
        add_float(total, np.float64(board.base[d, heads[d]]), sign, bias)
    if choice > 0:
        k = ranking.swap[part, choice]
        last = False
        while not last:
            d = ranking.word[k]
            last = d < 0
            d = ~d if last else d
            add_float(total, np.float64(board.base[d, heads[d]]), -sign, bias)
            add_float(total, np.float64(board.base[d, ranking.new_head[k]]), sign, bias)
            k += 1


@uncounted_kernel
def compare_trees(
    ranking: Ranking, board: Board, n: int, part: int, choice: int, other: int, its_choice: int
) -> int:
    """Return the sign of the exact difference of the weights of two trees. O(n + D)."""
    bias = BIAS_32 if board.base.itemsize == 4 else BIAS_64
    ranking.total[:] = 0
    add_tree(ranking, board, n, part, choice, 1, bias)
    add_tree(ranking, board, n, other, its_choice, -1, bias)
    return sign_of(ranking.total)


@spliced_kernel
def goes_before(ranking: Ranking, board: Board, n: int, one: int, other: int) -> bool:
    """Tell whether what waits of one part is better than of the other; of equals the older is."""
    a, b = ranking.key[one], ranking.key[other]
    sign = double_sign(a[0], a[1], a[2], b[0], b[1], b[2])
    if sign == UNSURE:
        sign = compare_trees(
            ranking, board, n, one, ranking.choice[one], other, ranking.choice[other]
        )
    return sign > 0 or (sign == 0 and one < other)


@spliced_kernel
def push(ranking: Ranking, board: Board, n: int, part: int) -> None:
    """Let a part wait. O(log P) comparisons."""
    heap = ranking.heap
    k = ranking.tally[WAITING]
    ranking.tally[WAITING] += 1
    while k > 0:
        above = (k - 1) >> 1
        if not goes_before(ranking, board, n, part, heap[above]):
            break
        heap[k] = heap[above]
        k = above
    heap[k] = part


@spliced_kernel
def pop(ranking: Ranking, board: Board, n: int) -> int:
    """Return the part whose turn it is. O(log P) comparisons."""
    heap = ranking.heap
    first = heap[0]
    ranking.tally[WAITING] -= 1
    many = ranking.tally[WAITING]
    if many > 0:
        part = heap[many]
        k = 0
        while 2 * k + 1 < many:
            below = 2 * k + 1
            if below + 1 < many and goes_before(ranking, board, n, heap[below + 1], heap[below]):
                below += 1
            if not goes_before(ranking, board, n, heap[below], part):
                break
            heap[k] = heap[below]
            k = below
        heap[k] = part
    return first


@spliced_kernel
def add_part(ranking: Ranking, parent: int, without: int) -> int:
    """Start a new part and return it."""
    part = ranking.tally[PARTS]
    ranking.tally[PARTS] += 1
    ranking.parent[part] = parent
    ranking.without[part] = without
    ranking.latest[part] = 0
    return part


@spliced_kernel
def copy_tree(ranking: Ranking, n: int, part: int, other: int) -> np.ndarray:
    """Give the tree of one part to another, and return it. O(n)."""
    heads = ranking.heads[other]
    for x in range(n + 1):
        heads[x] = ranking.heads[part, x]
    return heads


@spliced_kernel
def constrain(ranking: Ranking, board: Board, n: int, part: int) -> None:
    """Put on the board the constraints of what is left of a part. O(n + number of ancestors)."""
    for d in range(n + 1):
        board.fixed[d] = False
    d = ranking.latest[part]
    while d > 0:
        board.fixed[d] = True
        d = ranking.before[part, d]
    while ranking.parent[part] >= 0:
        parent, d = ranking.parent[part], ranking.without[part]
        exclude(board, ranking.heads[parent, d], d)
        d = ranking.before[parent, d]
        while d > 0:
            board.fixed[d] = True
            d = ranking.before[parent, d]
        part = parent
    if ranking.without[part] > 0:
        board.fixed[ranking.without[part]] = True


@spliced_kernel
def weigh(ranking: Ranking, board: Board, n: int, part: int) -> None:
    """Compute the weight of a part's tree. O(n)."""
    high, low, lost = 0.0, 0.0, 0.0
    for d in range(1, n + 1):
        score = np.float64(board.base[d, ranking.heads[part, d]])
        high, low, lost = double_add_score(high, low, lost, score, 1)
    weight = ranking.weight[part]
    weight[0], weight[1], weight[2] = high, low, lost


@spliced_kernel
def come(ranking: Ranking, part: int, choice: int) -> None:
    """Announce a part to `let_wait`: with its own tree (0), or with a swap of it (-1)."""
    ranking.choice[part] = choice
    ranking.coming[ranking.tally[COMING]] = part
    ranking.tally[COMING] += 1


@spliced_kernel
def let_wait(ranking: Ranking, board: Board, n: int) -> None:
    """Put the parts that come into the heap, if they have anything left. O(n)."""
    for k in range(ranking.tally[COMING]):
        part = ranking.coming[k]
        key, weight = ranking.key[part], ranking.weight[part]
        if ranking.choice[part] == 0:
            for i in range(3):
                key[i] = weight[i]
            push(ranking, board, n, part)
            continue
        best = cheapest_swap(ranking, board, n, part)
        if best > 0:
            ranking.choice[part] = best
            cost = ranking.cost[part, best]
            high, low, lost = double_add(weight[0], weight[1], weight[2] + cost[2], -cost[0])
            key[0], key[1], key[2] = double_add(high, low, lost, -cost[1])
            push(ranking, board, n, part)
    ranking.tally[COMING] = 0


@spliced_kernel
def cheapest_swap(ranking: Ranking, board: Board, n: int, part: int) -> int:
    """Return the word whose swap is cheapest, of equal ones the lowest; 0: there is none. O(n)."""
    best = 0
    for d in range(1, n + 1):
        if ranking.cost[part, d, 0] == np.inf:
            continue
        if best > 0:
            a, b = ranking.cost[part, d], ranking.cost[part, best]
            sign = double_sign(a[0], a[1], a[2], b[0], b[1], b[2])
            if sign == UNSURE:
                sign = -compare_trees(ranking, board, n, part, d, part, best)
            if sign >= 0:
                continue
        best = d
    return best


@spliced_kernel
def split(ranking: Ranking, board: Board, forest: Forest, n: int, part: int) -> None:
    """Split what a part holds besides its best tree by that tree's swaps. O(n²)."""
    constrain(ranking, board, n, part)
    price_swaps(ranking, board, forest, n, part)
    include_all(board)
    come(ranking, part, -1)


@spliced_kernel
def price_swaps(ranking: Ranking, board: Board, forest: Forest, n: int, part: int) -> None:
    """Find the swaps of a part whose constraints are on the board, and their costs. O(n²)."""
    heads = ranking.heads[part]
    find_swaps(board, forest, n, heads)
    pool = ranking.tally[POOL]
    for k in range(board.tally[1]):
        ranking.word[pool + k] = board.word[k]
        ranking.new_head[pool + k] = board.new_head[k]
    ranking.tally[POOL] += board.tally[1]
    for d in range(1, n + 1):
        cost = ranking.cost[part, d]
        cost[0] = np.inf
        k = board.first[d]
        if k < 0:
            continue
        ranking.swap[part, d] = pool + k
        last = False
        high, low, lost = 0.0, 0.0, 0.0
        while not last:
            x = board.word[k]
            last = x < 0
            x = ~x if last else x
            old = np.float64(board.base[x, heads[x]])
            new = np.float64(board.base[x, board.new_head[k]])
            if last and k == board.first[d]:
                high, low, lost = double_difference(old, new)
            else:
                high, low, lost = double_add_score(high, low, lost, old, 1)
                high, low, lost = double_add_score(high, low, lost, new, -1)
            k += 1
        cost[0], cost[1], cost[2] = high, low, lost


@uncounted_kernel
def solve(board: Board, forest: Forest, n: int, single: bool, heads: np.ndarray) -> int:
    """Find the best tree of the graph whose contraction has been planted. O(n²)."""
    if not unconstrained(forest, board.work, True, n):
        return NO_TREE
    if single and not constrained(forest, board.work, True, n):
        return NO_SINGLE_ROOT
    expand(forest, n, heads)
    return FINE


@uncounted_kernel
def open_root(ranking: Ranking, board: Board, forest: Forest, n: int, single: bool) -> int:
    """Let the best tree wait whose root edge is not spent; return FINE, or why there is none.

    Without the root constraint, the best tree of all. O(n²).
    """
    work = board.work
    for d in range(1, n + 1):
        board.fixed[d] = False
        work[d, 0] = -np.inf if ranking.spent[d] else board.base[d, 0]
    found = FINE if best_heads(board, n) else NO_TREE
    if found == FINE:
        part = add_part(ranking, -1, 0)
        heads = ranking.heads[part]
        heads[0] = -1
        if spans(board.head, n, single, board.seen):
            for d in range(1, n + 1):
                heads[d] = board.head[d]
        else:
            plant(forest, n, board.best, board.head)
            found = solve(board, forest, n, single, heads)
        if found == FINE:
            if single:
                for d in range(1, n + 1):
                    if heads[d] == 0:
                        ranking.without[part] = d
            weigh(ranking, board, n, part)
            come(ranking, part, 0)
        else:
            ranking.tally[PARTS] -= 1
    if single:
        for d in range(1, n + 1):
            work[d, 0] = -np.inf
    return found


@spliced_kernel
def swap_fits(ranking: Ranking, parent: int, d: int) -> bool:
    """Tell whether the swap for d leaves alone the words whose swaps have become parts."""
    k = ranking.swap[parent, d]
    last = False
    while not last:
        x = ranking.word[k]
        last = x < 0
        x = ~x if last else x
        k += 1
        y = ranking.latest[parent]
        while y > 0:
            if y == x:
                return False
            y = ranking.before[parent, y]
    return True


@spliced_kernel
def follow_swap(ranking: Ranking, parent: int, d: int, heads: np.ndarray) -> None:
    """Change the heads of the parent's tree by the swap for d."""
    k = ranking.swap[parent, d]
    last = False
    while not last:
        x = ranking.word[k]
        last = x < 0
        heads[~x if last else x] = ranking.new_head[k]
        k += 1


@spliced_kernel
def start(ranking: Ranking, board: Board, scores: np.ndarray, n: int) -> bool:
    """Begin with a sentence of n > 0 words; False if a score is NaN or +inf. O(n²)."""
    ranking.tally[PARTS] = 0
    ranking.tally[WAITING] = 0
    ranking.tally[POOL] = 0
    ranking.tally[COMING] = 0
    ranking.tally[GIVEN] = NONE_YET
    for d in range(n + 1):
        ranking.spent[d] = False
    return set_up(board, scores, n)


@spliced_kernel
def advance(ranking: Ranking, board: Board, forest: Forest, n: int, single: bool) -> int:
    """Find the next tree: `tally[GIVEN]` is its part. O(n²): two contractions at most.

    One splits the part of the tree before. The other one is needed if a swap does not fit, and
    the next swap of the same part does, whenever its turn comes. Returns FINE; EXHAUSTED; FULL:
    make room and call again; or why there is no tree at all.
    """
    part = ranking.tally[GIVEN]
    size = n + 1
    room = ranking.word.shape[0] - ranking.tally[POOL]
    found = FINE
    if ranking.tally[PARTS] + 2 > ranking.parent.shape[0] or room < size * size:
        found = FULL
    elif part != SPLIT:
        ranking.tally[GIVEN] = SPLIT
        opens = True
        if part >= 0:
            split(ranking, board, forest, n, part)
            opens = single and ranking.parent[part] < 0
            if opens:
                ranking.spent[ranking.without[part]] = True
        if opens:
            fault = open_root(ranking, board, forest, n, single)
            if part == NONE_YET:
                found = fault
    while found == FINE:
        let_wait(ranking, board, n)
        if ranking.tally[GIVEN] != SPLIT:
            break
        if ranking.tally[WAITING] == 0:
            found = EXHAUSTED
        elif (
            ranking.tally[PARTS] == ranking.parent.shape[0]
            or ranking.word.shape[0] - ranking.tally[POOL] < size * size
        ):
            found = FULL
        else:
            take_turn(ranking, board, forest, n)
    return found


@spliced_kernel
def take_turn(ranking: Ranking, board: Board, forest: Forest, n: int) -> None:
    """Give out the tree that is first in the heap, or find out that it has to wait longer."""
    parent = pop(ranking, board, n)
    d = ranking.choice[parent]
    if d == 0:
        ranking.tally[GIVEN] = parent
    elif swap_fits(ranking, parent, d):
        part = add_part(ranking, parent, d)
        ranking.before[parent, d] = ranking.latest[parent]
        ranking.latest[parent] = d
        ranking.cost[parent, d, 0] = np.inf
        follow_swap(ranking, parent, d, copy_tree(ranking, n, parent, part))
        for k in range(3):
            ranking.weight[part, k] = ranking.key[parent, k]
        ranking.tally[GIVEN] = part
        come(ranking, parent, -1)
    else:
        split(ranking, board, forest, n, parent)


@uncounted_kernel
def rank_kernel(
    ranking: Ranking,
    board: Board,
    forest: Forest,
    scores: np.ndarray,
    lengths: np.ndarray,
    single: bool,
    first: int,
    heads: np.ndarray,
    weights: np.ndarray,
    sure: np.ndarray,
    counts: np.ndarray,
) -> tuple[int, int]:
    """Find the k best trees of each sentence of a batch. O(k n²) a sentence.

    Parameters
    ----------
    ranking, board, forest
        For sentences of up to N - 1 words and scores of that type.
    scores : (B, N, N) float32 or float64, contiguous
        ``scores[b, d, h]``: the dependent first.
    lengths : (B,) int64, words of each sentence; or (0,) if all have N - 1
    single : bool, whether exactly one root edge is wanted
    first : int
        The sentence to begin with. If it has a count already, the ranking is in the midst of it.
    heads : (B, k, N) int64, written where there are trees and words
    weights : (B, k) float64, written: scaled back, and rounded once if `sure`
    sure : (B, k) bool, written
    counts : (B,) int64, written: how many trees were found; -1 before a sentence is begun

    Returns
    -------
    (sentence, found) : the first sentence that was not finished, and why; or B and FINE.
        If FULL, give `larger` of the ranking and call again from that sentence.
    """
    for b in range(first, scores.shape[0]):
        n = lengths[b] if lengths.shape[0] else scores.shape[1] - 1
        if n == 0:
            heads[b, 0, 0] = -1
            weights[b, 0] = 0.0
            sure[b, 0] = True
            counts[b] = 1
            continue
        if counts[b] < 0:
            if not start(ranking, board, scores[b], n):
                return b, BAD_SCORE
            counts[b] = 0
        while counts[b] < weights.shape[1]:
            found = advance(ranking, board, forest, n, single)
            if found == EXHAUSTED:
                break
            if found != FINE:
                return b, found
            part = ranking.tally[GIVEN]
            for d in range(n + 1):
                heads[b, counts[b], d] = ranking.heads[part, d]
            weights[b, counts[b]] = ranking.weight[part, 0] / SCALE
            sure[b, counts[b]] = ranking.weight[part, 2] == 0.0
            counts[b] += 1
    return scores.shape[0], FINE
