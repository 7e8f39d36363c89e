"""The subsets (parts) of the trees of a graph in a k-best search (Murty 1968, Lawler 1972).

When the best tree T of a part has been output, the rest of the part is split into new parts. Each
new part rules out an edge e of T and requires the edges of T for which parts were made earlier. Its
best tree is T after the swap for e (`swaps`). A heap holds the parts: a new part with its best
tree, a part that has been split with its next swap.

Weights are double-doubles. If double-doubles cannot decide a comparison, the long accumulator
decides. So the order is the order in real arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, uncounted_kernel
from arborescence.compiling.lanes import (
    LANES,
    count,
    fill,
    lowest,
    magnitude,
    numbers,
    places,
    top,
    where,
)
from arborescence.core.accumulator import (
    SCALE,
    UNSURE,
    add_float,
    bias_of,
    dd_add_score,
    dd_sign,
    dd_subtract,
    rounded_once,
    sign_of,
    subtract_scores,
)
from arborescence.nonprojective.swaps import (
    CHANGES,
    SwapSearch,
    exclude,
    find_swaps,
)

if TYPE_CHECKING:
    from arborescence.nonprojective.forest import Forest

# P is the number of parts, and N is n + 1.


class TreeParts(NamedTuple):
    """The definition and the best tree of each part."""

    #: (P, N) int32: the best tree
    heads: np.ndarray
    #: (P, 3) float64: its weight times SCALE, a double-double
    weight: np.ndarray
    #: (P,) int64: the parent, the part that was split into this part; -1: none
    parent: np.ndarray
    #: (P,) int64: the word whose edge in the parent's tree is ruled out; without a parent: the word
    #: whose root edge is required, or 0
    without: np.ndarray
    #: (P, N) int32: the words whose swaps became parts, as a linked list: the word before each
    #: word, 0 at the start
    before: np.ndarray
    #: (P,) int64: the last word of that list
    latest: np.ndarray


class PricedSwaps(NamedTuple):
    """The swaps for the best tree of each part."""

    #: (P, 3, W) float64: the cost of each word's swap, a double-double; inf: no swap, or already a
    #: part
    cost: np.ndarray
    #: (P,) int64: the start of the part's changes in the pool
    begin: np.ndarray
    #: (P, N) int32: the start of each word's changes, relative to `begin`
    start: np.ndarray
    #: (P, N) int32: their end
    stop: np.ndarray


class Pool(NamedTuple):
    """The head changes of all swaps, as in `SwapTrees`."""

    #: int32: the word whose head changes
    word: np.ndarray
    #: int32: its new head
    new_head: np.ndarray


class Queue(NamedTuple):
    """The heap of parts, and the tree by which each part is ordered."""

    #: (P,) int64: the word whose swap is next; 0: the best tree itself is next
    choice: np.ndarray
    #: (P, 3) float64: the weight of the next tree, a double-double
    key: np.ndarray
    #: (P,) int64: a binary heap of parts, the best part first
    heap: np.ndarray


# Indices of `Ranking.counts`: the numbers of parts, of parts in the heap, of entries of the pool,
# and of announced parts; and the part whose tree was output last, or SPLIT if that part is split
# already, or NONE_YET.
PARTS, WAITING, POOL, ANNOUNCED, GIVEN = range(5)
NONE_YET, SPLIT = -2, -1
# The length of `counts` and `announced`.
NOTES = 7


class Ranking(NamedTuple):
    """The state of the k-best search of one sentence."""

    #: the parts and their best trees
    parts: TreeParts
    #: the swaps of each part
    priced: PricedSwaps
    #: the head changes of the swaps
    pool: Pool
    #: the heap of parts
    queue: Queue
    #: (2,) int64: parts to put into the heap
    announced: np.ndarray
    #: (N,) int64: 1 for the root edges whose parts are split already
    spent: np.ndarray
    #: (D,) int64: an accumulator
    total: np.ndarray
    #: (5,) int64: see the indices above
    counts: np.ndarray


class Blocks(NamedTuple):
    """The state of a search between calls of its kernel, in few arrays: kernels take only arrays.

    There is room for P parts. The sentences have up to N - 1 words; W is ``width_of(N - 1)``, Q the
    length of the pool, and M the maximum of N and `NOTES`.
    """

    #: (4, P, N) int32: heads and before of `TreeParts`, start and stop of the swaps
    trees: np.ndarray
    #: (6, P) int64: parent, without, latest, begin, choice, heap
    numbers: np.ndarray
    #: (2, P, 3) float64: weight and key
    keys: np.ndarray
    #: (P, 3, W) float64: cost of `PricedSwaps`
    costs: np.ndarray
    #: (2, Q) int32: the pool
    changes: np.ndarray
    #: (2, N, W), the type of the scores: base and work of `Constrained`
    matrices: np.ndarray
    #: (N, GOOD) int32: the heads of `GoodHeads`
    good: np.ndarray
    #: (3, M) int64: known of `GoodHeads`, spent, and counts with `announced`
    notes: np.ndarray


#: `Blocks` in signatures of kernels.
BLOCKS: Final = (
    "nonprojective.parts.Blocks("
    "out int32[:, :, ::1], out int64[:, ::1], out float64[:, :, ::1], out float64[:, :, ::1], "
    "out int32[:, ::1], out score[:, :, ::1], out int32[:, ::1], out int64[:, ::1])"
)


@inlined_kernel
def ranking_of(blocks: Blocks, total: np.ndarray) -> Ranking:
    """Cut a search's blocks into its ranking; `total` is an accumulator. O(1)."""
    trees, numbers, keys, notes = blocks.trees, blocks.numbers, blocks.keys, blocks.notes
    return Ranking(
        TreeParts(
            heads=trees[0],
            weight=keys[0],
            parent=numbers[0],
            without=numbers[1],
            before=trees[1],
            latest=numbers[2],
        ),
        PricedSwaps(cost=blocks.costs, begin=numbers[3], start=trees[2], stop=trees[3]),
        Pool(word=blocks.changes[0], new_head=blocks.changes[1]),
        Queue(choice=numbers[4], key=keys[1], heap=numbers[5]),
        announced=notes[2, 5:NOTES],
        spent=notes[1],
        total=total,
        counts=notes[2, :5],
    )


@inlined_kernel
def has_room(ranking: Ranking, n: int, parts: int, searches: int) -> bool:
    """Tell whether there is room for `parts` new parts and the swaps of `searches` parts. O(1)."""
    room = ranking.pool.word.shape[0] - ranking.counts[POOL]
    return (
        ranking.counts[PARTS] + parts <= ranking.parts.parent.shape[0]
        and room >= searches * (n + 1) ** 2
    )


@inlined_kernel
def swap_of(ranking: Ranking, part: int, d: int) -> tuple[int, int]:
    """Return start and stop, in the pool, of the changes of a part's swap for d. O(1)."""
    priced = ranking.priced
    begin = priced.begin[part]
    return begin + priced.start[part, d], begin + priced.stop[part, d]


@inlined_kernel
def add_tree(
    ranking: Ranking, search: SwapSearch, n: int, part: int, choice: int, sign: int, bias: int
) -> None:
    """Add ``sign`` times the weight of a part's tree, or of a swap of it, to `total`. O(n)."""
    base, pool = search.graph.base, ranking.pool
    heads, total = ranking.parts.heads[part], ranking.total
    for d in range(1, n + 1):
        add_float(total, np.float64(base[d, heads[d]]), sign, bias)
    if choice > 0:
        start, stop = swap_of(ranking, part, choice)
        for k in range(start, stop):
            d = pool.word[k]
            add_float(total, np.float64(base[d, heads[d]]), -sign, bias)
            add_float(total, np.float64(base[d, pool.new_head[k]]), sign, bias)


@uncounted_kernel
def compare_trees(
    ranking: Ranking,
    search: SwapSearch,
    n: int,
    part: int,
    choice: int,
    other: int,
    its_choice: int,
) -> int:
    """Return the sign of the exact difference of the weights of two trees. O(n + D)."""
    bias = bias_of(search.graph.base)
    ranking.total[:] = 0
    add_tree(ranking, search, n, part, choice, 1, bias)
    add_tree(ranking, search, n, other, its_choice, -1, bias)
    return sign_of(ranking.total)


@inlined_kernel
def goes_before(ranking: Ranking, search: SwapSearch, n: int, one: int, other: int) -> bool:
    """Tell whether a part's next tree is better than another's; on a tie, the older part wins."""
    queue = ranking.queue
    sign = dd_sign(queue.key[one], queue.key[other])
    if sign == UNSURE:
        sign = compare_trees(ranking, search, n, one, queue.choice[one], other, queue.choice[other])
    return sign > 0 or (sign == 0 and one < other)


@inlined_kernel
def push(ranking: Ranking, search: SwapSearch, n: int, part: int) -> None:
    """Put a part into the heap. O(log P) comparisons."""
    heap = ranking.queue.heap
    k = ranking.counts[WAITING]
    ranking.counts[WAITING] += 1
    while k > 0:
        above = (k - 1) >> 1
        if not goes_before(ranking, search, n, part, heap[above]):
            break
        heap[k] = heap[above]
        k = above
    heap[k] = part


@inlined_kernel
def pop(ranking: Ranking, search: SwapSearch, n: int) -> int:
    """Remove the best part from the heap and return it. O(log P) comparisons."""
    heap = ranking.queue.heap
    first = heap[0]
    ranking.counts[WAITING] -= 1
    many = ranking.counts[WAITING]
    if many > 0:
        part = heap[many]
        k = 0
        while 2 * k + 1 < many:
            below = 2 * k + 1
            if below + 1 < many and goes_before(ranking, search, n, heap[below + 1], heap[below]):
                below += 1
            if not goes_before(ranking, search, n, heap[below], part):
                break
            heap[k] = heap[below]
            k = below
        heap[k] = part
    return first


@inlined_kernel
def add_part(ranking: Ranking, parent: int, without: int) -> int:
    """Add a new part and return its number."""
    parts = ranking.parts
    part = ranking.counts[PARTS]
    ranking.counts[PARTS] += 1
    parts.parent[part] = parent
    parts.without[part] = without
    parts.latest[part] = 0
    return part


@inlined_kernel
def copy_tree(ranking: Ranking, n: int, part: int, other: int) -> None:
    """Copy the tree of a part to another part. O(n)."""
    heads = ranking.parts.heads
    for x in range(n + 1):
        heads[other, x] = heads[part, x]


@inlined_kernel
def constrain(ranking: Ranking, search: SwapSearch, n: int, part: int) -> None:
    """Apply the constraints of the rest of a part to the search. O(n + number of its ancestors)."""
    fixed, parts = search.graph.fixed, ranking.parts
    for d in range(n + 1):
        fixed[d] = False
    d = parts.latest[part]
    while d > 0:
        fixed[d] = True
        d = parts.before[part, d]
    while parts.parent[part] >= 0:
        parent, d = parts.parent[part], parts.without[part]
        exclude(search, parts.heads[parent, d], d)
        d = parts.before[parent, d]
        while d > 0:
            fixed[d] = True
            d = parts.before[parent, d]
        part = parent
    if parts.without[part] > 0:
        fixed[parts.without[part]] = True


@inlined_kernel
def weigh(ranking: Ranking, search: SwapSearch, n: int, part: int) -> None:
    """Compute the weight of a part's tree. O(n)."""
    heads, weight = ranking.parts.heads[part], ranking.parts.weight[part]
    total = (0.0, 0.0, 0.0)
    for d in range(1, n + 1):
        total = dd_add_score(total, np.float64(search.graph.base[d, heads[d]]), 1)
    weight[0], weight[1], weight[2] = total


@uncounted_kernel
def weight_of(ranking: Ranking, search: SwapSearch, n: int, part: int) -> float:
    """Return the exact weight of a part's tree, rounded once. O(1), or O(n + D)."""
    weight = ranking.parts.weight[part]
    if weight[2] == 0.0:
        return weight[0] / SCALE
    bias = bias_of(search.graph.base)
    ranking.total[:] = 0
    add_tree(ranking, search, n, part, 0, 1, bias)
    return rounded_once(ranking.total, bias)


@inlined_kernel
def price_swaps(ranking: Ranking, search: SwapSearch, forest: Forest, n: int, part: int) -> None:
    """Find the swaps of a part and their costs; its constraints are already applied. O(n²)."""
    find_swaps(search, forest, n, ranking.parts.heads[part])
    keep_swaps(ranking, search, n, part)


@inlined_kernel
def keep_swaps(ranking: Ranking, search: SwapSearch, n: int, part: int) -> None:
    """Keep the swaps that were found for a part's tree, and their costs. O(number of changes)."""
    swaps, base, priced = search.swaps, search.graph.base, ranking.priced
    heads = ranking.parts.heads[part]
    begin, many = ranking.counts[POOL], search.counts[CHANGES]
    priced.begin[part] = begin
    for k in range(many):
        ranking.pool.word[begin + k] = swaps.word[k]
        ranking.pool.new_head[begin + k] = swaps.new_head[k]
    ranking.counts[POOL] = begin + many
    cost = priced.cost[part]
    high, low, lost = cost[0], cost[1], cost[2]
    several = False
    for d in range(1, n + 1):
        start, stop = swaps.start[d], swaps.stop[d]
        priced.start[part, d], priced.stop[part, d] = start, stop
        several |= stop - start > 1
        high[d], low[d] = np.inf, 0.0
        if stop - start == 1:  # most swaps change only the word itself
            high[d], low[d] = base[d, heads[d]], base[d, swaps.new_head[start]]
    for at in range(0, n + 1, LANES):
        subtract_scores(high, low, lost, at)
    if several:
        for d in range(1, n + 1):
            start, stop = swaps.start[d], swaps.stop[d]
            if stop - start > 1:
                total = (0.0, 0.0, 0.0)
                for k in range(start, stop):
                    x = swaps.word[k]
                    total = dd_add_score(total, np.float64(base[x, heads[x]]), 1)
                    total = dd_add_score(total, np.float64(base[x, swaps.new_head[k]]), -1)
                high[d], low[d], lost[d] = total


@inlined_kernel
def announce(ranking: Ranking, part: int, choice: int) -> None:
    """Mark a part for the next `enqueue`: with its own tree (0) or with a swap (-1)."""
    ranking.queue.choice[part] = choice
    ranking.announced[ranking.counts[ANNOUNCED]] = part
    ranking.counts[ANNOUNCED] += 1


@inlined_kernel
def enqueue(ranking: Ranking, search: SwapSearch, n: int) -> None:
    """Put the announced parts that have a tree left into the heap. O(n)."""
    queue = ranking.queue
    for k in range(ranking.counts[ANNOUNCED]):
        part = ranking.announced[k]
        key, weight = queue.key[part], ranking.parts.weight[part]
        if queue.choice[part] == 0:
            for i in range(3):
                key[i] = weight[i]
            push(ranking, search, n, part)
            continue
        best = cheapest_swap(ranking, search, n, part)
        if best > 0:
            queue.choice[part] = best
            cost = ranking.priced.cost[part]
            of_swap = (cost[0, best], cost[1, best], cost[2, best])
            key[0], key[1], key[2] = dd_subtract(weight, of_swap)
            push(ranking, search, n, part)
    ranking.counts[ANNOUNCED] = 0


@inlined_kernel
def cheapest_swap(ranking: Ranking, search: SwapSearch, n: int, part: int) -> int:
    """Return the word with the cheapest swap, on a tie the lowest; 0 if there is none. O(n)."""
    cost = ranking.priced.cost[part]
    high, low, lost = cost[0], cost[1], cost[2]
    least = fill(high[places(0)], np.inf)
    widest = fill(least, 0.0)
    for start in range(0, n + 1, LANES):
        lanes, d = places(start), numbers(start)
        value = where((d >= 1) & (d <= n), high[lanes], np.inf)
        least = where(value < least, value, least)
        low_part = magnitude(low[lanes]) + lost[lanes]
        widest = where((value < np.inf) & (low_part > widest), low_part, widest)
    best = -top(0.0 - least)
    if best == np.inf:
        return 0
    # This bound is larger than the bound in `dd_sign`.
    near = best + 9.0 * top(widest)
    many = 0
    word = 0
    for start in range(0, n + 1, LANES):
        d = numbers(start)
        cheap = (d >= 1) & (d <= n) & (high[places(start)] <= near)
        word = start + lowest(cheap) if many == 0 else word
        many += count(cheap)
    if many > 1:
        word = settle_swap(ranking, search, n, part, word)
    return word


@uncounted_kernel
def settle_swap(ranking: Ranking, search: SwapSearch, n: int, part: int, first: int) -> int:
    """Return the word with the cheapest swap, from the word `first` on, by exact comparisons."""
    cost = ranking.priced.cost[part]
    best = first
    for d in range(first + 1, n + 1):
        if cost[0, d] == np.inf:
            continue
        cost_of_d, cost_of_best = (
            (cost[0, d], cost[1, d], cost[2, d]),
            (cost[0, best], cost[1, best], cost[2, best]),
        )
        sign = dd_sign(cost_of_d, cost_of_best)
        if sign == UNSURE:
            sign = -compare_trees(ranking, search, n, part, d, part, best)
        if sign < 0:
            best = d
    return best
