"""The k best trees, in O(n²) per tree: Zmigrod, Vieira and Cotterell (2021), Figures 7 and 9.

The set of trees is split into parts (`parts`), each with a known best tree. A part requires some
edges and rules out others. When its best tree T has been output, the rest of the part is split by
T's edges e_1, e_2, ... in increasing order of the cost c of their swaps (`swaps`): the i-th new
part requires e_1 .. e_{i-1} and rules out e_i (Murty 1968, Lawler 1972). No tree of the new part
weighs more than W(T) - c(e_i). The swap gives a tree of this weight. This tree lies in the part
unless the swap replaces a required edge: then the swap does not *fit*. So the parts are kept in a
heap, and a part that has been split is in the heap with its next swap only. If a swap that does not
fit reaches the top, the rest of its part, where e_1 .. e_{i-1} are required, is split again; the
next swap of this part that reaches the top then fits. So a tree usually costs one contraction, and
at most two. (Zmigrod, Vieira and Cotterell 2021, Fig. 7, split in two, with and without e_1, and
contract twice; Camerini, Fratta and Maffioli 1980 three times.)

Under the root constraint (their Fig. 9) the trees are first split by their root edge. The first
tree is the best of all trees, from the decoder with the constraint. Then the root edge of this tree
is deleted, and the decoder finds the best tree without this edge, and so on; each search waits
until the previous tree has been output. In the part of a root edge, all other root edges are
deleted, so the trees of the part satisfy the constraint.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.core.faults import BAD_SCORE, EXHAUSTED, FINE, FULL, NO_TREE
from arborescence.core.tree import spans
from arborescence.nonprojective.contraction import expand
from arborescence.nonprojective.decode import find_tree
from arborescence.nonprojective.forest import Forest, new_forest
from arborescence.nonprojective.greedy import hang
from arborescence.nonprojective.parts import (
    ANNOUNCED,
    BLOCKS,
    GIVEN,
    NONE_YET,
    NOTES,
    PARTS,
    POOL,
    SPLIT,
    WAITING,
    Blocks,
    Ranking,
    add_part,
    announce,
    constrain,
    copy_tree,
    enqueue,
    has_room,
    pop,
    price_swaps,
    ranking_of,
    swap_of,
    weigh,
    weight_of,
)
from arborescence.nonprojective.swaps import (
    GOOD,
    SwapSearch,
    best_heads,
    include_all,
    new_search,
    set_up,
    width_of,
)

if TYPE_CHECKING:
    from arborescence.core.best_first import TreeLists
    from arborescence.core.graph import Graph


@inlined_kernel
def split(ranking: Ranking, search: SwapSearch, forest: Forest, n: int, part: int) -> None:
    """Split the rest of a part, without its best tree, by the swaps of that tree. O(n²)."""
    constrain(ranking, search, n, part)
    price_swaps(ranking, search, forest, n, part)
    include_all(search)
    announce(ranking, part, -1)


@uncounted_kernel
def open_root(ranking: Ranking, search: SwapSearch, forest: Forest, n: int, single: bool) -> int:
    """Make a part of the best tree with an unspent root edge; FINE or a fault code. O(n²)."""
    graph, greedy, parts = search.graph, search.greedy, ranking.parts
    work = graph.work
    for d in range(1, n + 1):
        graph.fixed[d] = False
        work[d, 0] = -np.inf if single else graph.base[d, 0]
    best_heads(search, n)
    shift = 0.0
    if single:  # as in `decode`, also on a tie
        for d in range(1, n + 1):
            work[d, 0] = -np.inf if ranking.spent[d] != 0 else graph.base[d, 0]
            greedy.root[d] = work[d, 0]
        _, shift = hang(greedy, n)
    fault = FINE
    for d in range(1, n + 1):
        if greedy.best[d] == -np.inf:
            fault = NO_TREE
    if fault == FINE:
        part = add_part(ranking, -1, 0)
        heads = parts.heads[part]
        heads[0] = -1
        if spans(greedy.head, n, single, greedy.above):
            for d in range(1, n + 1):
                heads[d] = greedy.head[d]
        else:
            fault = find_tree(forest, work, True, n, single, greedy, shift)
            if fault == FINE:
                expand(forest, n, heads)
        if fault == FINE:
            if single:
                for d in range(1, n + 1):
                    if heads[d] == 0:
                        parts.without[part] = d
            weigh(ranking, search, n, part)
            announce(ranking, part, 0)
        else:
            ranking.counts[PARTS] -= 1
    if single:
        for d in range(1, n + 1):
            work[d, 0] = -np.inf
    return fault


@inlined_kernel
def swap_fits(ranking: Ranking, parent: int, d: int) -> bool:
    """Tell whether the swap for d changes no word whose swap has become a part."""
    parts = ranking.parts
    start, stop = swap_of(ranking, parent, d)
    for x in ranking.pool.word[start:stop]:
        y = parts.latest[parent]
        while y > 0:
            if y == x:
                return False
            y = parts.before[parent, y]
    return True


@inlined_kernel
def follow_swap(ranking: Ranking, parent: int, d: int, heads: np.ndarray) -> None:
    """Apply the swap for d to `heads`, a copy of the parent's tree."""
    pool = ranking.pool
    start, stop = swap_of(ranking, parent, d)
    for k in range(start, stop):
        heads[pool.word[k]] = pool.new_head[k]


@inlined_kernel
def start(
    ranking: Ranking, search: SwapSearch, scores: np.ndarray, dependents_first: bool, n: int
) -> bool:
    """Begin a sentence of n > 0 words; False if a score is NaN or +inf. O(n²)."""
    for which in (PARTS, WAITING, POOL, ANNOUNCED):
        ranking.counts[which] = 0
    ranking.counts[GIVEN] = NONE_YET
    for d in range(n + 1):
        ranking.spent[d] = 0
    return set_up(search, scores, dependents_first, n)


@inlined_kernel
def advance(ranking: Ranking, search: SwapSearch, forest: Forest, n: int, single: bool) -> int:
    """Find the next tree: `counts[GIVEN]` is its part. O(n²): at most two contractions.

    The second contraction is needed if a swap does not fit; the next swap of the same part then
    fits. Returns FINE; EXHAUSTED; FULL (allocate more room and call again); or the reason why there
    is no tree.
    """
    parts = ranking.parts
    part = ranking.counts[GIVEN]
    fault = FINE
    if not has_room(ranking, n, 2, 1):
        fault = FULL
    elif part != SPLIT:
        ranking.counts[GIVEN] = SPLIT
        opens = True
        if part >= 0:
            split(ranking, search, forest, n, part)
            opens = single and parts.parent[part] < 0
            if opens:
                ranking.spent[parts.without[part]] = 1
        if opens:
            root_fault = open_root(ranking, search, forest, n, single)
            if part == NONE_YET:
                fault = root_fault
    while fault == FINE:
        enqueue(ranking, search, n)
        if ranking.counts[GIVEN] != SPLIT:
            break
        if ranking.counts[WAITING] == 0:
            fault = EXHAUSTED
        elif not has_room(ranking, n, 1, 1):
            fault = FULL
        else:
            take_turn(ranking, search, forest, n)
    return fault


@inlined_kernel
def take_turn(ranking: Ranking, search: SwapSearch, forest: Forest, n: int) -> None:
    """Output the first tree of the heap; if its swap does not fit, split the rest of its part."""
    queue, parts = ranking.queue, ranking.parts
    parent = pop(ranking, search, n)
    d = queue.choice[parent]
    if d == 0:
        ranking.counts[GIVEN] = parent
    elif swap_fits(ranking, parent, d):
        part = add_part(ranking, parent, d)
        parts.before[parent, d] = parts.latest[parent]
        parts.latest[parent] = d
        ranking.priced.cost[parent, 0, d] = np.inf
        copy_tree(ranking, n, parent, part)
        follow_swap(ranking, parent, d, ranking.parts.heads[part])
        for k in range(3):
            parts.weight[part, k] = queue.key[parent, k]
        ranking.counts[GIVEN] = part
        announce(ranking, parent, -1)
    else:
        split(ranking, search, forest, n, parent)


@kernel
@takes(
    f"{BLOCKS}, "
    "score[:, :, ::1], bool, int64[::1], bool, int64, core.best_first.TreeLists("
    "out int64[:, :, ::1], out float64[:, ::1], out int64[::1])"
)
def kbest_kernel(
    blocks: Blocks,
    scores: np.ndarray,
    dependents_first: bool,
    lengths: np.ndarray,
    single: bool,
    first: int,
    lists: TreeLists,
) -> tuple[int, int]:
    """Find the k best trees of each sentence of a batch. O(k n²) a sentence.

    Arguments are as for `decode_kernel`; the blocks have room for N - 1 words. If the sentence
    `first` has a count, its search continues from the blocks. The lists get exact sums, rounded
    once, without padding. Returns the first sentence that is not finished, and the reason (if FULL,
    call again from this sentence with larger blocks); or B and FINE.
    """
    n = scores.shape[1] - 1
    search = new_search(blocks.matrices, blocks.good, blocks.notes[0], n)
    forest = new_forest(search.greedy.best, n)
    return find_trees(
        blocks, search, forest, scores, dependents_first, lengths, single, first, lists
    )


@uncounted_kernel
def find_trees(
    blocks: Blocks,
    search: SwapSearch,
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    lengths: np.ndarray,
    single: bool,
    first: int,
    lists: TreeLists,
) -> tuple[int, int]:
    """Do the work of `kbest_kernel`."""
    heads, weights, counts = lists
    ranking = ranking_of(blocks, forest.exact.sums[0])
    parts = ranking.parts
    for b in range(first, scores.shape[0]):
        n = lengths[b] if lengths.shape[0] else scores.shape[1] - 1
        if n == 0:
            heads[b, 0, 0] = -1
            weights[b, 0] = 0.0
            counts[b] = 1
            continue
        if counts[b] < 0:
            if not start(ranking, search, scores[b], dependents_first, n):
                return b, BAD_SCORE
            counts[b] = 0
        while counts[b] < weights.shape[1]:
            fault = advance(ranking, search, forest, n, single)
            if fault == EXHAUSTED:
                break
            if fault != FINE:
                return b, fault
            part = ranking.counts[GIVEN]
            for d in range(n + 1):
                heads[b, counts[b], d] = parts.heads[part, d]
            weights[b, counts[b]] = weight_of(ranking, search, n, part)
            counts[b] += 1
    return scores.shape[0], FINE


# The number of parts allocated at first. Unused parts take no physical memory.
_FEW = 512

# Allocating a state takes as long as ten trees of a short sentence, so threads keep states.
_kept = threading.local()
_KEPT_WORDS = 63


class KBestState(Blocks):
    """The blocks of the kernel, for a maximum sentence length and one type of scores."""

    __slots__ = ()

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Make a state for the sentences of a graph."""
        return cls.allocate(graph.scores.dtype, graph.scores.shape[1] - 1, _FEW)

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return a state, for use until this thread's next call; reused for short sentences."""
        scores = graph.scores
        if scores.shape[1] - 1 > _KEPT_WORDS:
            return cls.of(graph)
        states: dict[str, Self] = _kept.__dict__
        state = states.get(scores.dtype.char)
        if state is None:
            state = states[scores.dtype.char] = cls.allocate(scores.dtype, _KEPT_WORDS, _FEW)
        return state

    @classmethod
    def allocate(cls, kind: np.dtype[Any], n: int, parts: int) -> Self:
        """Make room for `parts` parts, sentences of up to n words and this type of scores."""
        size = n + 1
        return cls(
            trees=np.empty((4, parts, size), np.int32),
            numbers=np.empty((6, parts), np.int64),
            keys=np.empty((2, parts, 3), np.float64),
            costs=np.empty((parts, 3, width_of(n)), np.float64),
            changes=np.empty((2, (parts + size) * size), np.int32),
            matrices=np.empty((2, size, width_of(n)), kind),
            good=np.empty((size, GOOD), np.int32),
            notes=np.empty((3, max(size, NOTES)), np.int64),
        )

    def larger(self) -> Self:
        """Return the same state with room for twice as many parts."""
        parts, size = self.trees.shape[1:]
        more = self.allocate(self.matrices.dtype, size - 1, 2 * parts)
        used, pooled = self.notes[2, PARTS], self.notes[2, POOL]
        more.trees[:, :used] = self.trees[:, :used]
        more.numbers[:, :used] = self.numbers[:, :used]
        more.keys[:, :used] = self.keys[:, :used]
        more.costs[:used] = self.costs[:used]
        more.changes[:, :pooled] = self.changes[:, :pooled]
        return more._replace(matrices=self.matrices, good=self.good, notes=self.notes)

    def find(
        self, graph: Graph, single: bool, lists: TreeLists, start: int, stop: int
    ) -> tuple[KBestState, int, int]:
        """Fill the lists of some sentences, as in `TreeSearch.find`."""
        state: KBestState = self
        scores, lengths = graph.scores, graph.lengths
        if len(self.good) < scores.shape[1]:
            raise ValueError(f"the state is for sentences of {len(self.good) - 1} words")
        if stop - start < len(scores):
            share = slice(start, stop)
            scores = scores[share]
            lists = lists._replace(
                heads=lists.heads[share], weights=lists.weights[share], counts=lists.counts[share]
            )
            lengths = lengths[share] if lengths.size else lengths
        scores = np.ascontiguousarray(scores)
        sentence, fault = 0, FULL
        while fault == FULL:
            sentence, fault = kbest_kernel(
                state, scores, graph.dependents_first, lengths, single, sentence, lists
            )
            if fault == FULL:
                state = state.larger()
        return state, start + sentence, fault
