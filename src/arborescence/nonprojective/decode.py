"""The best spanning tree: Algorithm 1 of Zmigrod, Vieira and Cotterell (2020), in O(n²).

`decode_kernel` looks at each sentence in three steps, and stops at the first that suffices:
the *greedy graph* (the best head of each word), `unconstrained` (contract its cycles until it
is a tree: the paper's `opt`), and `constrained` (leave exactly one root edge: its `constrain`,
after Gabow and Tarjan 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.core.exact import sign_of
from arborescence.core.faults import BAD_SCORE, FINE, NO_SINGLE_ROOT, NO_TREE, no_answer
from arborescence.core.jit import inlined_kernel, kernel, spliced_kernel, uncounted_kernel
from arborescence.core.tree import spans
from arborescence.core.union_find import find
from arborescence.nonprojective.contraction import (
    DONE,
    NEW,
    ON_PATH,
    UNIT,
    Forest,
    add_gain,
    best_entry,
    catch_up,
    contract,
    copy_column,
    expand,
    fold,
    new_forest,
    plant,
    take,
    top_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph

# What `skim` says of a sentence whose tree is not its greedy graph.
HARD = -1


class Greedy(NamedTuple):
    """The greedy graph of a sentence, and scratch to find it."""

    best: np.ndarray  # (N,), the type of the scores: the score of each word's best edge
    head: np.ndarray  # (N,) int32: its tail
    scratch: np.ndarray  # (N,), the type of the scores
    seen: np.ndarray  # (N,) int32


@inlined_kernel
def greedy_rows(scores: np.ndarray, n: int, best: np.ndarray, head: np.ndarray) -> bool:
    """Find the best head of each word, where ``scores[h, d]``; tell if NaN was met. O(n²).

    The diagonal is read and put right afterwards, so that the inner loop has no branch. Of
    equal scores the lowest head wins.
    """
    for d in range(n + 1):
        best[d] = scores[0, d]
        head[d] = 0
    nan = False
    for h in range(1, n + 1):
        best_h, head_h = best[h], head[h]
        for d in range(1, n + 1):
            score = scores[h, d]
            better = score > best[d]
            best[d] = score if better else best[d]
            head[d] = h if better else head[d]
            nan |= score != score
        best[h], head[h] = best_h, head_h
    return nan


@inlined_kernel
def greedy_columns(
    scores: np.ndarray, n: int, best: np.ndarray, head: np.ndarray, scratch: np.ndarray
) -> bool:
    """Find the best head of each word, where ``scores[d, h]``; tell if NaN was met. O(n²).

    The best score is found by folding a copy of the row, and then sought in the row.
    """
    nan = False
    for d in range(1, n + 1):
        for h in range(n + 1):
            score = scores[d, h]
            scratch[h] = score
            nan |= score != score
        scratch[d] = -np.inf
        top = fold(scratch, n + 1)
        many = 0
        where = 0
        for h in range(n + 1):
            found = 1 if scores[d, h] == top else 0
            many += found
            where += found * h
        if many != 1 or where == d:
            where = 0
            while where < n and (where == d or scores[d, where] != top):
                where += 1
        best[d] = top
        head[d] = where
    return nan


@inlined_kernel
def has_bad_score(scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Tell whether any edge's score is NaN or +inf. O(n²)."""
    for h in range(n + 1):
        for d in range(1, n + 1):
            score = scores[d, h] if dependents_first else scores[h, d]
            if h != d and not score < np.inf:
                return True
    return False


@spliced_kernel
def climb(forest: Forest, x: int, depth: int) -> tuple[int, int]:
    """Put x and what lies above it on the path; return where a cycle starts, and the depth.

    The path ends at the root or a settled node (then -1 is returned), or where it meets itself.
    """
    while True:
        forest.status[x] = ON_PATH
        forest.path[depth] = x
        depth += 1
        above = top_of(forest, forest.tail[x])
        if forest.status[above] == DONE:
            return -1, depth
        if forest.status[above] == NEW:
            x = above
            continue
        start = depth - 1
        while forest.path[start] != above:
            start -= 1
        return start, depth


@spliced_kernel
def arrive(forest: Forest, depth: int) -> None:
    """Settle the nodes on the path."""
    for k in range(depth):
        forest.status[forest.path[k]] = DONE


@spliced_kernel
def unconstrained(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Contract critical cycles until the tops' edges form a tree; False if none exists. O(n²).

    From each word, follow best heads until the root, a settled node, or the path itself is
    met: in that last case the cycle is contracted and the walk goes on from it.
    """
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if forest.status[x] == DONE:
            continue
        depth = 0
        while True:
            start, depth = climb(forest, x, depth)
            if start < 0:
                break
            x = contract(forest, scores, dependents_first, n, start, depth)
            depth = start
            gains = forest.gains[forest.slot[x]]
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
    """Tell, exactly, if giving x its other head costs less than giving y its own."""
    catch_up(forest, scores, dependents_first)
    total = forest.sums[0]
    total[:] = 0
    for sign, node, tail in ((1, x, other_tail), (-1, y, y_tail)):
        root_edge = (forest.tail[node], forest.into[node])
        add_gain(forest, scores, dependents_first, total, sign, root_edge)
        edge = (tail, forest.entry[forest.slot[node], tail])
        add_gain(forest, scores, dependents_first, total, -sign, edge)
    return sign_of(total) < 0


@spliced_kernel
def constrained(forest: Forest, scores: np.ndarray, dependents_first: bool, n: int) -> bool:
    """Make the tops' tree one with a single root edge; False if none exists. O(n²).

    Each child r of the root gets an *other head*: its best head that is not the root.

    - *Reduction.* Where that head lies in r's own subtree, the cycle that it would close is
      contracted. The new node hangs from the root by the same edge as r did.
    - *Optimization.* Once every other head lies in another child's subtree, the child that
      loses least takes its other head for good, and the root edges into it are deleted.
    """
    roots, other, known = forest.roots, forest.other, forest.known
    family, link, loss = forest.family, forest.link, forest.loss
    for x in range(2 * (n + 1)):
        known[x] = False
        family[x] = -1
        link[x] = x
    many = 0
    for word in range(1, n + 1):
        x = top_of(forest, word)
        if forest.tail[x] == 0 and family[x] < 0:
            family[x] = x
            roots[many] = x
            many += 1
    if many == 1:
        return True
    for word in range(1, n + 1):
        x = top_of(forest, word)
        depth = 0
        while family[x] < 0:
            forest.path[depth] = x
            depth += 1
            x = top_of(forest, forest.tail[x])
        for k in range(depth):
            family[forest.path[k]] = family[x]

    while many > 1:
        least = -1
        for k in range(many):
            r = roots[k]
            mine = find(link, family[r])
            while not known[r]:
                if forest.slot[r] < 0:
                    copy_column(forest, scores, dependents_first, n, r)
                gains = forest.gains[forest.slot[r]]
                root_gain = gains[0]
                gains[0] = -np.inf
                tail = best_entry(forest, scores, dependents_first, n, r, gains, -1)
                gains[0] = root_gain
                other[r] = tail
                if tail < 0 or find(link, family[top_of(forest, tail)]) != mine:
                    known[r] = True
                    loss[r] = np.inf if tail < 0 else root_gain - gains[tail]
                    break
                depth = 0
                x = top_of(forest, tail)
                while x != r:
                    forest.path[depth] = x
                    depth += 1
                    x = top_of(forest, forest.tail[x])
                forest.path[depth] = r
                take(forest, r, tail)
                r = contract(forest, scores, dependents_first, n, 0, depth + 1)
                take(forest, r, 0)
                family[r] = mine
                roots[k] = r
            if other[r] < 0:
                continue
            if least < 0:
                least = k
                continue
            q = roots[least]
            # Each loss is the difference of two gains, off by what they are, and one rounding.
            off = 0.0
            for x in (r, q):
                size = 2.0 * abs(forest.gain[x]) + abs(loss[x])
                off += 2.0 * forest.bound[x] + 2.0 * forest.relative[x] * size + UNIT * abs(loss[x])
            if abs(loss[r] - loss[q]) <= 2.0 * off:
                if loses_less(forest, scores, dependents_first, r, other[r], q, other[q]):
                    least = k
            elif loss[r] < loss[q]:
                least = k
        if least < 0:
            return False
        r = roots[least]
        into = find(link, family[top_of(forest, other[r])])
        link[find(link, family[r])] = into
        take(forest, r, other[r])
        forest.gains[forest.slot[r], 0] = -np.inf
        many -= 1
        for k in range(least, many):
            roots[k] = roots[k + 1]
        for k in range(many):
            x = roots[k]
            if other[x] >= 0 and find(link, family[top_of(forest, other[x])]) == find(
                link, family[x]
            ):
                known[x] = False
    return True


@inlined_kernel
def skim(
    scores: np.ndarray,
    dependents_first: bool,
    lengths: np.ndarray,
    single: bool,
    heads: np.ndarray,
    start: int,
    greedy: Greedy,
) -> tuple[int, int]:
    """Decode easy sentences from `start` on; return the first other one and why it is none."""
    best, head = greedy.best, greedy.head
    batch, size = scores.shape[0], scores.shape[1]
    for b in range(start, batch):
        n = lengths[b] if lengths.shape[0] else size - 1
        heads[b, 0] = -1
        for d in range(n + 1, size):
            heads[b, d] = -1
        if n == 0:
            continue
        if dependents_first:
            nan = greedy_columns(scores[b], n, best, head, greedy.scratch)
        else:
            nan = greedy_rows(scores[b], n, best, head)
        absent = False
        for d in range(1, n + 1):
            nan |= not best[d] < np.inf
            absent |= best[d] == -np.inf
        if nan and has_bad_score(scores[b], dependents_first, n):
            return b, BAD_SCORE
        if absent:
            return b, NO_TREE
        if not spans(head, n, single, greedy.seen):
            return b, HARD
        for d in range(1, n + 1):
            heads[b, d] = head[d]
    return batch, FINE


@uncounted_kernel
def solve(
    scores: np.ndarray,
    dependents_first: bool,
    lengths: np.ndarray,
    single: bool,
    heads: np.ndarray,
    start: int,
    greedy: Greedy,
    forest: Forest,
) -> tuple[int, int]:
    """Decode the sentence `start`, whose greedy graph is at hand, and those after it."""
    b, found = start, HARD
    while found == HARD:
        n = lengths[b] if lengths.shape[0] else scores.shape[1] - 1
        plant(forest, n, greedy.best, greedy.head)
        if not unconstrained(forest, scores[b], dependents_first, n):
            return b, NO_TREE
        if single and not constrained(forest, scores[b], dependents_first, n):
            return b, NO_SINGLE_ROOT
        expand(forest, n, heads[b])
        b, found = skim(scores, dependents_first, lengths, single, heads, b + 1, greedy)
    return b, found


@kernel
def decode_kernel(
    scores: np.ndarray, dependents_first: bool, lengths: np.ndarray, single: bool, heads: np.ndarray
) -> tuple[int, int]:
    """Decode a batch. O(n²) a sentence.

    Parameters
    ----------
    scores : (B, N, N) float32 or float64
        ``scores[b, h, d]``, or ``scores[b, d, h]`` if `dependents_first`.
    dependents_first : bool
    lengths : (B,) int64, words of each sentence; or (0,) if all have N - 1
    single : bool, whether exactly one root edge is wanted
    heads : (B, N) int64, written; padding and the root become -1

    Returns
    -------
    (sentence, fault) : the first sentence that has no answer, and FINE or why
    """
    size = scores.shape[1]
    greedy = Greedy(
        best=np.empty(size, scores.dtype),
        head=np.empty(size, np.int32),
        scratch=np.empty(size, scores.dtype),
        seen=np.empty(size, np.int32),
    )
    b, found = skim(scores, dependents_first, lengths, single, heads, 0, greedy)
    if found == HARD:
        forest = new_forest(greedy.best, size - 1)
        b, found = solve(scores, dependents_first, lengths, single, heads, b, greedy, forest)
    return b, found


def decode_nonprojective(
    graph: Graph, single: bool, heads: NDArray[np.int64], start: int, stop: int
) -> None:
    """Fill the heads (B, N) of the sentences from `start` to `stop` of a flattened batch."""
    whole = stop - start == graph.scores.shape[0]
    sentence, fault = decode_kernel(
        graph.scores if whole else graph.scores[start:stop],
        graph.dependents_first,
        graph.lengths if whole or not graph.lengths.size else graph.lengths[start:stop],
        single,
        heads if whole else heads[start:stop],
    )
    if fault != FINE:
        raise no_answer(graph, start + sentence, fault, single)
