"""Trees drawn at random, by walks that erase their loops: Wilson (1996).

From each word that is not in the tree yet, a walk goes to a head, drawn in proportion to the edges'
weights, and on from there, until it meets the tree; whatever loops it has made are forgotten. The
tree that comes out is drawn exactly from the distribution, whatever the order of the words.

Where a cycle of words outweighs the ways out of it, a walk may go round for ages. How many steps
all walks of a tree take together says nothing about the tree: they are what the erased loops make
up, which are independent of what remains (Propp and Wilson 1998). So after too many, all is
forgotten; the head of one word is drawn in another way (`heads`), and then the rest of the tree by
walks again, given that head. Which word that is must not depend on the walks either.
"""

from __future__ import annotations

import numpy as np

from arborescence.core.jit import inlined_kernel, kernel
from arborescence.nonprojective.heads import weigh_heads, weigh_heads_in_floats

# So many steps for each word cost about as much as to weigh the heads of one word.
_STEPS_A_WORD = 16


@kernel
def add_up(weights: np.ndarray, n: int, sums: np.ndarray) -> None:
    """Fill ``sums[d, h]``, the weight of the edges into d from the heads 0 to h. O(n²)."""
    for d in range(1, n + 1):
        total = 0.0
        for h in range(n + 1):
            total += weights[h, d]
            sums[d, h] = total


@inlined_kernel
def choose(sums: np.ndarray, n: int, uniform: float) -> int:
    """Return a number from 0 to n in proportion to what it adds to the `sums`. O(log n)."""
    value = uniform * sums[n]
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    while low > 0 and sums[low] == sums[low - 1]:  # where rounding has made the value the total
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
    uniform: float,
) -> int:
    """Draw the head of a word, given some heads of the tree; return -1 if there is none. O(n³)."""
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
        shares[:] = np.exp(shares - highest)
    return choose(np.cumsum(shares), n, uniform)


@kernel
def walk(
    weights: np.ndarray,
    logs: np.ndarray,
    sums: np.ndarray,
    roots: np.ndarray,
    n: int,
    single: bool,
    generator: np.random.Generator,
    heads: np.ndarray,
) -> int:
    """Draw trees; return how many, which are all unless `roots` allows what no tree has.

    Mostly O(n log n) each: a walk takes the mean time to hit the root.

    Parameters
    ----------
    weights, logs : (N, N) float64
        As `as_weights` makes them, in any scale for each word; if `single`, without root edges.
    sums : (N, N) float64
        By `add_up`.
    roots : (N,) float64
        If `single`: ``roots[d]`` is the probability that the root edge goes to a word up to d.
    n : words
    single : whether exactly one edge leaves the root
    generator : the source of randomness
    heads : (k, N) int64, filled
    """
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
            root = choose(roots, n, generator.random())
            tree[root] = 0
            given[root] = True
        if not grow(weights, logs, sums, best, n, generator, tree, given):
            return draw
    return heads.shape[0]


@kernel
def grow(
    weights: np.ndarray,
    logs: np.ndarray,
    sums: np.ndarray,
    best: np.ndarray,
    n: int,
    generator: np.random.Generator,
    tree: np.ndarray,
    given: np.ndarray,
) -> bool:
    """Draw the rest of a tree; tell if there is any.

    ``given`` (N,) bool marks the words whose heads are known, ``best`` (N,) are all words' best
    heads.
    """
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
                tree[d] = choose(sums[d], n, generator.random())
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
            tree[word] = choose_head(weights, logs, n, word, tree, given, generator.random())
            if tree[word] < 0:
                return False
            given[word] = True
            done[1:] = False
            steps = 0
            start = 1
    return True


@kernel
def find_trap(best: np.ndarray, n: int, tree: np.ndarray, given: np.ndarray) -> int:
    """Return a word whose head is not given: on a cycle of best heads, if there is one. O(n)."""
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
