"""Exact sampling of trees by loop-erased random walks (Wilson 1996).

From each word that is not in the tree yet, a random walk follows heads, drawn in proportion to the
edge weights, until it reaches the tree. Its loops are erased, and its path is added to the tree.
The result is an exact sample from the distribution, for any order of the words.

If a cycle of words outweighs the edges that enter it, a walk may stay in the cycle for very long.
The total number of steps is independent of the resulting tree, because it is determined by the
erased loops (Propp and Wilson 1998). So after too many steps all walks are discarded without bias.
Then the head of one word is drawn from its marginals (`heads`), and the rest of the tree by new
walks, given that head. The choice of this word must not depend on the walks.
"""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.random import uniform
from arborescence.nonprojective.heads import weigh_heads, weigh_heads_in_floats

# This many steps per word cost about as much as the marginals of the heads of one word.
_STEPS_A_WORD = 16


@kernel
def add_up(weights: np.ndarray, n: int, sums: np.ndarray) -> None:
    """Fill ``sums[d, h]``, the total weight of the edges into d from the heads 0 to h. O(n²)."""
    for d in range(1, n + 1):
        total = 0.0
        for h in range(n + 1):
            total += weights[h, d]
            sums[d, h] = total


@inlined_kernel
def choose(sums: np.ndarray, n: int, source: np.ndarray) -> int:
    """Draw a number from 0 to n by cumulative sums. O(log n)."""
    value = uniform(source) * sums[n]
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    while low > 0 and sums[low] == sums[low - 1]:  # if rounding made the value equal to the total
        low -= 1
    return low


@kernel
def choose_head(
    weights: np.ndarray,
    logs: np.ndarray,
    n: int,
    word: int,
    tree: np.ndarray,
    given: np.ndarray,
    source: np.ndarray,
) -> int:
    """Draw the head of a word, given some heads of the tree; -1 if there is no such tree. O(n³)."""
    shares = np.empty(n + 1)
    if not weigh_heads_in_floats(weights, n, word, tree, given, shares):
        logs = logs.copy()
        for d in range(1, n + 1):
            if given[d]:
                logs[:, d] = -np.inf
                logs[tree[d], d] = 0.0
        weigh_heads(logs, n, word, shares)
        highest = shares.max()
        if highest == -np.inf:
            return -1
        for h in range(n + 1):
            shares[h] = np.exp(shares[h] - highest)
    for h in range(1, n + 1):
        shares[h] += shares[h - 1]
    return choose(shares, n, source)


@kernel
@takes("float64[:, ::1], float64[:, ::1], float64[::1], int64, bool, int64[::1], out int64[:, ::1]")
def walk(
    weights: np.ndarray,
    logs: np.ndarray,
    roots: np.ndarray,
    n: int,
    single: bool,
    source: np.ndarray,
    heads: np.ndarray,
) -> int:
    """Draw trees; return their number: k, unless `roots` allows a root edge that no tree has.

    Usually O(n log n) for each tree: a walk takes the mean hitting time of the root. Weights and
    logs are from `as_weights`, with any scale for each word, without root edges if `single`: then
    ``roots[d]`` is the probability that the root edge enters a word up to d.
    """
    sums = np.empty((n + 1, n + 1))
    add_up(weights, n, sums)
    best = np.zeros(n + 1, np.int64)
    for h in range(n + 1):
        for d in range(1, n + 1):
            if weights[h, d] > weights[best[d], d]:
                best[d] = h
    given = np.empty(n + 1, np.bool_)
    for draw in range(heads.shape[0]):
        tree = heads[draw]
        tree[0] = -1
        given[:] = False
        if single:
            root = choose(roots, n, source)
            tree[root] = 0
            given[root] = True
        if not grow(weights, logs, sums, best, n, source, tree, given):
            return draw
    return heads.shape[0]


@kernel
def grow(
    weights: np.ndarray,
    logs: np.ndarray,
    sums: np.ndarray,
    best: np.ndarray,
    n: int,
    source: np.ndarray,
    tree: np.ndarray,
    given: np.ndarray,
) -> bool:
    """Draw the heads that are not `given`; tell if there is such a tree."""
    done = np.zeros(n + 1, np.bool_)
    done[0] = True
    steps = 0
    start = 1
    while start <= n:
        d = start
        while not done[d] and steps < _STEPS_A_WORD * n:
            if not given[d]:
                if sums[d, n] == 0.0:
                    return False
                tree[d] = choose(sums[d], n, source)
            d = tree[d]
            steps += 1
        if done[d]:
            d = start
            while not done[d]:
                done[d] = True
                d = tree[d]
            start += 1
        else:
            word = find_trap(best, n, tree, given)
            tree[word] = choose_head(weights, logs, n, word, tree, given, source)
            if tree[word] < 0:
                return False
            given[word] = True
            done[1:] = False
            steps = 0
            start = 1
    return True


@kernel
def find_trap(best: np.ndarray, n: int, tree: np.ndarray, given: np.ndarray) -> int:
    """Return a word without a given head, on a cycle of best heads if there is one. O(n)."""
    mark = np.zeros(n + 1, np.int64)
    mark[0] = -1
    free = 0
    for start in range(1, n + 1):
        d = start
        while mark[d] == 0:
            mark[d] = start
            d = tree[d] if given[d] else best[d]
        if mark[d] == start:
            while given[d]:
                d = tree[d]
            return d
        if not given[start]:
            free = start
    return free
