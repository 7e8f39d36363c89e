"""The best spanning tree in O(n²): Algorithm 1 of Zmigrod, Vieira and Cotterell (2020).

`decode_kernel` decodes each sentence in up to three steps, and stops after the first step that
gives the tree: the *greedy graph* (the best head of each word); `unconstrained` (contract cycles of
the greedy graph until it is a tree: the paper's `opt`); and `constrained` (leave exactly one root
edge: the paper's `constrain`, after Gabow and Tarjan 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, kernel, takes, uncounted_kernel
from arborescence.compiling.lanes import LANES, places, where
from arborescence.core.accumulator import sign_of
from arborescence.core.conversion import FLOATS, INT64
from arborescence.core.faults import FINE, NO_SINGLE_ROOT, NO_TREE, NOT_GREEDY, no_answer
from arborescence.core.graph import ALL_WORDS
from arborescence.core.tree import find
from arborescence.nonprojective.contraction import (
    best_entry,
    contract,
    copy_column,
    expand,
    take,
)
from arborescence.nonprojective.exact_gains import add_gain, catch_up, is_unrounded
from arborescence.nonprojective.forest import (
    DONE,
    NEW,
    NODES,
    ON_PATH,
    UNIT,
    Forest,
    is_above_floor,
    new_forest,
    plant,
    raise_floor,
    top_of,
)
from arborescence.nonprojective.greedy import Greedy, decode_greedily, new_greedy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph


@indexing_kernel
def climb(forest: Forest, x: int, depth: int) -> tuple[int, int]:
    """Extend the path from x along chosen edges; return the start of a cycle, and the depth.

    The path ends at the root or at a DONE node (then the start is -1), or when it reaches itself.
    """
    walk = forest.walk
    while True:
        walk.status[x] = ON_PATH
        walk.path[depth] = x
        depth += 1
        above = top_of(forest, forest.chosen.tail[x])
        if walk.status[above] == DONE:
            return -1, depth
        if walk.status[above] == NEW:
            x = above
            continue
        start = depth - 1
        while walk.path[start] != above:
            start -= 1
        return start, depth


@indexing_kernel
def arrive(forest: Forest, depth: int) -> None:
    """Mark the nodes on the path as DONE."""
    walk = forest.walk
    for k in range(depth):
        walk.status[walk.path[k]] = DONE


@indexing_kernel
def unconstrained(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Contract critical cycles until the tops' edges form a tree; False if none exists. O(n²).

    From each word, follow best heads to the root, a DONE node, or the path itself. In the last
    case, the cycle is contracted, and the path continues from the new node.
    """
    columns = forest.columns
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if forest.walk.status[x] == DONE:
            continue
        depth = 0
        while True:
            start, depth = climb(forest, x, depth)
            if start < 0:
                break
            x = contract(forest, scores, dependents_first, n, start, depth)
            depth = start
            gains = columns.gains[columns.slot[x]]
            tail = best_entry(forest, scores, dependents_first, n, x, gains, -1)
            if tail < 0:
                return False
            take(forest, x, tail)
        arrive(forest, depth)
    return True


@uncounted_kernel
def loses_less(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    x: int,
    other_tail: int,
    y: int,
    y_tail: int,
) -> bool:
    """Tell exactly whether the other head of x costs less than the other head of y."""
    chosen, columns = forest.chosen, forest.columns
    catch_up(forest, scores, dependents_first)
    total = forest.exact.sums[0]
    total[:] = 0
    for sign, node, tail in ((1, x, other_tail), (-1, y, y_tail)):
        root_edge = (chosen.tail[node], chosen.into[node])
        add_gain(forest, scores, dependents_first, total, sign, root_edge)
        edge = (tail, np.int64(columns.entry[columns.slot[node], tail]))
        add_gain(forest, scores, dependents_first, total, -sign, edge)
    return sign_of(total) < 0


@indexing_kernel
def find_other(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int, r: int) -> float:
    """Find the best head, except the root, of a child of the root; return its loss. O(n)."""
    columns = forest.columns
    if columns.slot[r] < 0:
        copy_column(forest, scores, dependents_first, n, r)
    gains = columns.gains[columns.slot[r]]
    root_gain = gains[0]
    gains[0] = -np.inf
    tail = best_entry(forest, scores, dependents_first, n, r, gains, -1)
    gains[0] = root_gain
    forest.rooted.other[r] = tail
    return root_gain - gains[tail] if tail >= 0 else np.inf


@indexing_kernel
def constrained(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Reduce the tops' tree to a single root edge; False if no such tree exists. O(n²).

    For each child r of the root, the *other head* is its best head that is not the root. As long as
    there are several children, take the child whose other head loses least weight (line 12):

    - *Reduction* (line 14). If the other head lies in r's own subtree, its edge would close a
      cycle, and this cycle is contracted. The new node keeps the root edge of r, and its loss is at
      least as high.
    - *Optimization* (line 16). If the other head lies in another child's subtree, r takes it, and
      the root edges into r are deleted.
    """
    rooted, chosen, walk, columns = forest.rooted, forest.chosen, forest.walk, forest.columns
    roots, other, known = rooted.roots, rooted.other, rooted.known
    family, link, loss = rooted.family, rooted.link, rooted.loss
    many = 0
    for x in range(1, forest.counts[NODES]):
        many += 1 if (forest.nest.parent[x] < 0) & (chosen.tail[x] == 0) else 0
    if many == 1:
        return True
    for x in range(2 * (n + 1)):
        known[x] = False
        family[x] = -1
        link[x] = x
    many = 0
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if chosen.tail[x] == 0 and family[x] < 0:
            family[x] = x
            roots[many] = x
            many += 1
    for word in range(1, n + 1):
        x = top_of(forest, word)
        depth = 0
        while family[x] < 0:
            walk.path[depth] = x
            depth += 1
            x = top_of(forest, chosen.tail[x])
        for k in range(depth):
            family[walk.path[k]] = family[x]

    while many > 1:
        least = -1
        for k in range(many):
            r = roots[k]
            if not known[r]:
                known[r] = True
                loss[r] = find_other(forest, scores, dependents_first, n, r)
            if other[r] < 0:
                continue
            if least < 0:
                least = k
                continue
            q = roots[least]
            # A loss is a difference of gains: its error is the sum of both errors and one rounding.
            off = 0.0
            for x in (r, q):
                size = 2.0 * abs(chosen.gain[x]) + abs(loss[x])
                off += 2.0 * chosen.bound[x] + 2.0 * chosen.relative[x] * size + UNIT * abs(loss[x])
            if abs(loss[r] - loss[q]) <= 2.0 * off and not is_unrounded(
                forest, scores, dependents_first, n
            ):
                if loses_less(forest, scores, dependents_first, r, other[r], q, other[q]):
                    least = k
            elif loss[r] < loss[q]:
                least = k
        if least < 0:
            return False
        r = roots[least]
        tail = other[r]
        mine, into = find(link, family[r]), find(link, family[top_of(forest, tail)])
        if mine == into:
            depth = 0
            x = top_of(forest, tail)
            while x != r:
                walk.path[depth] = x
                depth += 1
                x = top_of(forest, chosen.tail[x])
            walk.path[depth] = r
            take(forest, r, tail)
            r = contract(forest, scores, dependents_first, n, 0, depth + 1)
            take(forest, r, 0)
            family[r] = mine
            roots[least] = r
            continue
        link[mine] = into
        take(forest, r, tail)
        columns.gains[columns.slot[r], 0] = -np.inf
        many -= 1
        for k in range(least, many):
            roots[k] = roots[k + 1]
    return True


@indexing_kernel
def find_tree(
    forest: Forest,
    scores: np.ndarray,
    dependents_first: bool,
    n: int,
    single: bool,
    greedy: Greedy,
    shift: float,
) -> int:
    """Find the best tree from a greedy graph with this shift; return FINE or a fault code."""
    fault = FINE
    # First without edges that seem masked; if a masked edge may be needed, then with all edges.
    for everything in range(2):
        plant(forest, n, greedy.best, greedy.head, shift)
        if everything == 0:
            raise_floor(forest, n)
        # No cycle lies above a word that the root reaches.
        for start in range(0, n + 1, LANES):
            lanes = places(start)
            status = forest.walk.status[lanes]
            forest.walk.status[lanes] = where(greedy.above[lanes] == 0, DONE, status)
        fault = FINE
        if not unconstrained(forest, scores, dependents_first, n):
            fault = NO_TREE
        elif single and not constrained(forest, scores, dependents_first, n):
            fault = NO_SINGLE_ROOT
        if fault == FINE and is_above_floor(forest):
            break
    return fault


@uncounted_kernel
def solve(
    scores: np.ndarray,
    dependents_first: bool,
    lengths: np.ndarray,
    single: bool,
    heads: np.ndarray,
    start: int,
    shift: float,
    greedy: Greedy,
    forest: Forest,
) -> tuple[int, int]:
    """Decode the sentence `start`, whose greedy graph is in `greedy`, and all later sentences."""
    b, fault = start, NOT_GREEDY
    while fault == NOT_GREEDY:
        n = lengths[b] if lengths.shape[0] else scores.shape[1] - 1
        fault = find_tree(forest, scores[b], dependents_first, n, single, greedy, shift)
        if fault != FINE:
            return b, fault
        expand(forest, n, heads[b])
        b, fault, shift = decode_greedily(
            scores, dependents_first, lengths, single, heads, b + 1, greedy
        )
    return b, fault


@kernel
@takes(
    "score[:, :, ::1], bool, int64[::1], bool, out int64[::1]",
    "score[:, :, :], bool, int64[::1], bool, out int64[::1]",
)
def decode_kernel(
    scores: np.ndarray, dependents_first: bool, lengths: np.ndarray, single: bool, heads: np.ndarray
) -> tuple[int, int]:
    """Decode a batch. O(n²) per sentence.

    `scores` is (B, N, N), ``[b, h, d]``, or ``[b, d, h]`` if `dependents_first`; `lengths` is (0,)
    if all sentences have N - 1 words; `heads` (B · N,), -1 for padding and the root. Returns the
    first sentence without a tree and its fault code; or B and FINE.
    """
    batch, size = scores.shape[0], scores.shape[1]
    rows = heads.reshape(batch, size)
    greedy = new_greedy(scores, size - 1)
    b, fault, shift = decode_greedily(scores, dependents_first, lengths, single, rows, 0, greedy)
    if fault == NOT_GREEDY:
        forest = new_forest(greedy.best, size - 1)
        b, fault = solve(scores, dependents_first, lengths, single, rows, b, shift, greedy, forest)
    return b, fault


def decode_plainly(scores: Any, single: bool) -> NDArray[np.int64] | None:
    """Return the best tree of a matrix (N, N) that the kernel takes without conversion; else None.

    None also if there is no tree: `decode_nonprojective` raises the error, but takes three times as
    long.
    """
    if type(scores) is not np.ndarray or scores.ndim != 2 or scores.dtype not in FLOATS:
        return None
    size, columns = scores.shape
    if size != columns or size == 0:
        return None
    flags = scores.flags
    if not (flags.c_contiguous or flags.f_contiguous) or not flags.aligned:
        return None
    dependents_first = not flags.c_contiguous
    matrix = scores.T if dependents_first else scores
    heads = np.empty(size, INT64)
    _, fault = decode_kernel(matrix[None], dependents_first, ALL_WORDS, single, heads)
    return heads if fault == FINE else None


def decode_nonprojective(
    graph: Graph, single: bool, heads: NDArray[np.int64], start: int, stop: int
) -> None:
    """Fill `heads` (B, N) for the sentences `start` to `stop` of a flattened batch."""
    scores, dependents_first, lengths, *_ = graph
    if stop - start < len(scores):
        scores, lengths, heads = scores[start:stop], lengths[start:stop], heads[start:stop]
    sentence, fault = decode_kernel(scores, dependents_first, lengths, single, heads.reshape(-1))
    if fault != FINE:
        raise no_answer(graph, start + sentence, fault, single)
