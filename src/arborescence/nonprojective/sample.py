"""Exact sampling of trees by loop-erased random walks (Wilson 1996).

From each word that is not in the tree yet, a random walk follows heads, drawn in proportion to the
edge weights, until it reaches the tree. Its loops are erased, and its path is added to the tree.
The result is an exact sample from the distribution, for any order of the words.

If a cycle of words outweighs the edges that enter it, a walk may stay in the cycle for very long.
The total number of steps is independent of the resulting tree, because it is determined by the
erased loops (Propp and Wilson 1998). So after too many steps all walks are discarded without bias.
Then the head of one word is drawn from its marginals, and new walks draw the rest of the tree,
given this head. The choice of this word must not depend on the walks.

The marginals of a word's heads are found by the elimination of Grassmann, Taksar and Heyman (1985).
The marginals of `eliminate` have an error of about 1e-13. Drawing without replacement needs a
smaller error: it may continue when the remaining trees have a probability of 1e-12. Here every
number is a sum of products of weights, without subtraction, so its relative error is small.
"""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.random import uniform
from arborescence.core.rows import add_row
from arborescence.core.weights import SMALLEST
from arborescence.nonprojective.sums import add_logs, swap


@kernel
@takes("float64[:, ::1], int64, int64, out float64[::1]")
def weigh_heads(logs: np.ndarray, n: int, word: int, shares: np.ndarray) -> None:
    """Compute the logarithm of the weight of each head of a word over all multi-root trees. O(n³).

    Eliminate all other words. For each of these words, compute the probability that a random walk
    over heads from the word reaches the root before `word`. The shares are up to a common constant,
    all -inf if there is no tree; absent edges, loops and column 0 of the logs are -inf.
    """
    order = np.arange(n + 1)
    steps = logs[: n + 1, : n + 1].copy()
    shares[:] = -np.inf
    swap(steps, 1, word, n)
    order[1], order[word] = order[word], order[1]
    for m in range(n, 1, -1):
        degree = -np.inf
        for i in range(m):
            degree = add_logs(degree, steps[i, m])
        if degree == -np.inf:
            return
        for i in range(m):
            steps[i, m] -= degree
            if steps[i, m] > -np.inf:
                for j in range(1, m):
                    if i != j and steps[m, j] > -np.inf:
                        steps[i, j] = add_logs(steps[i, j], steps[i, m] + steps[m, j])
    escape = np.full(n + 1, -np.inf)
    escape[0] = 0.0
    for m in range(2, n + 1):
        for i in range(m):
            escape[m] = add_logs(escape[m], steps[i, m] + escape[i])
    for i in range(n + 1):
        if i != 1:
            shares[order[i]] = logs[order[i], word] + escape[i]


@kernel
def weigh_heads_in_floats(
    weights: np.ndarray,
    n: int,
    word: int,
    tree: np.ndarray,
    given: np.ndarray,
    shares: np.ndarray,
) -> bool:
    """Do the work of `weigh_heads` without logarithms, given some heads. O(n³).

    False if the range of floats is too small. Words whose head in `tree` is `given` are eliminated
    first, each in O(n).
    """
    order = np.zeros(n + 1, np.int64)
    order[1] = word
    free, last = 2, n
    for d in range(1, n + 1):
        if d != word:
            if given[d]:
                order[last] = d
                last -= 1
            else:
                order[free] = d
                free += 1
    steps = np.zeros((n + 1, n + 1))
    for j in range(1, n + 1):
        d = order[j]
        for i in range(n + 1):
            if given[d]:
                steps[i, j] = 1.0 if tree[d] == order[i] else 0.0
            else:
                steps[i, j] = weights[order[i], d]
    for m in range(n, 1, -1):
        degree = 0.0
        for i in range(m):
            degree += steps[i, m]
        if not degree > SMALLEST:
            return False
        for i in range(m):
            if steps[i, m] > 0.0:
                steps[i, m] /= degree
                add_row(steps[i, 1:m], steps[i, m], steps[m, 1:m])
                if i > 0:
                    steps[i, i] = 0.0
    escape = np.zeros(n + 1)
    escape[0] = 1.0
    for m in range(2, n + 1):
        for i in range(m):
            escape[m] += steps[i, m] * escape[i]
    total = 0.0
    shares[:] = 0.0
    for i in range(n + 1):
        if i != 1:
            shares[order[i]] = weights[order[i], word] * escape[i]
            total += shares[order[i]]
    return total > SMALLEST


@kernel
@takes("float64[:, ::1], int64, out float64[::1]")
def weigh_roots(logs: np.ndarray, n: int, shares: np.ndarray) -> None:
    """Compute the logarithm of the weight of each root edge over all single-root trees. O(n³).

    The sum over all trees of the words with top d is proportional to the stationary probability of
    d in a random walk from dependents to heads (the Markov chain tree theorem, Leighton and Rivest
    1986). Grassmann, Taksar and Heyman (1985) compute it without subtraction. The shares are up to
    a common constant, all -inf if there is no tree.
    """
    order = np.arange(n + 1)
    steps = logs[: n + 1, : n + 1].copy()
    shares[:] = -np.inf
    degrees = np.empty(n + 1)
    for m in range(n, 1, -1):
        chosen = m
        for j in range(m, 0, -1):
            degrees[j] = -np.inf
            for i in range(1, m + 1):
                degrees[j] = add_logs(degrees[j], steps[i, j])
            if degrees[j] > degrees[chosen]:
                chosen = j
        degree = degrees[chosen]
        if degree == -np.inf:
            return
        swap(steps, chosen, m, n)
        order[chosen], order[m] = order[m], order[chosen]
        for i in range(1, m):
            steps[i, m] -= degree
            if steps[i, m] > -np.inf:
                for j in range(1, m):
                    if i != j and steps[m, j] > -np.inf:
                        steps[i, j] = add_logs(steps[i, j], steps[i, m] + steps[m, j])
        for j in range(1, m):
            steps[m, j] -= degree
    stay = np.full(n + 1, -np.inf)
    stay[1] = 0.0
    for m in range(2, n + 1):
        for j in range(1, m):
            stay[m] = add_logs(stay[m], stay[j] + steps[m, j])
    for i in range(1, n + 1):
        shares[order[i]] = logs[0, order[i]] + stay[i]


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
    """Draw the head of a word, given some heads of the tree; -1 if no tree has them. O(n³)."""
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
    """Draw the heads that are not `given`; return whether a tree has the given heads."""
    in_tree = np.zeros(n + 1, np.bool_)
    in_tree[0] = True
    steps = 0
    start = 1
    while start <= n:
        d = start
        while not in_tree[d] and steps < _STEPS_A_WORD * n:
            if not given[d]:
                if sums[d, n] == 0.0:
                    return False
                tree[d] = choose(sums[d], n, source)
            d = tree[d]
            steps += 1
        if in_tree[d]:
            d = start
            while not in_tree[d]:
                in_tree[d] = True
                d = tree[d]
            start += 1
        else:
            word = find_trap(best, n, tree, given)
            tree[word] = choose_head(weights, logs, n, word, tree, given, source)
            if tree[word] < 0:
                return False
            given[word] = True
            in_tree[1:] = False
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
