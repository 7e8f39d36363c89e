"""Marginals of the heads of one word, by the elimination of Grassmann, Taksar and Heyman (1985).

The marginals of `eliminate` have an error of about 1e-13. Drawing without replacement needs more:
it may continue when the probability of the trees left is 1e-12. Here every number is a sum of
products of weights, without subtraction, so its relative error is small.
"""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.core.rows import add_row
from arborescence.core.weights import SMALLEST
from arborescence.nonprojective.sums import add_logs, swap


@kernel
@takes("float64[:, ::1], int64, int64, out float64[::1]")
def weigh_heads(logs: np.ndarray, n: int, word: int, shares: np.ndarray) -> None:
    """Compute the logarithm of the weight of each head of a word over all multi-root trees. O(n³).

    Eliminates all other words, and computes for each the probability that a random walk over heads
    from it reaches the root before `word`. The shares are up to a common constant, all -inf if
    there is no tree; absent edges, loops and column 0 of the logs are -inf.
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
