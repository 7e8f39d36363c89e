"""Trees drawn by walks that erase their loops: Wilson (1996).

From each word that is not in the tree yet, a walk goes to a head, drawn in proportion to the edges'
weights, and on from there, until it meets the tree; whatever loops it has made are forgotten. The
tree that comes out is drawn exactly from the distribution, whatever the order of the words.

Where a cycle of words outweighs the ways out of it, a walk may go round for ages. Then the head of
a word on its way is drawn in another way, given the tree so far (`heads`), and the walk starts
again. That it went on for long says nothing about how the tree will be: loops are independent of
what remains once they are erased (Propp and Wilson 1998).
"""

from __future__ import annotations

import numpy as np

from arborescence._jit import inlined_kernel, kernel
from arborescence.nonprojective.heads import weigh_heads, weigh_heads_in_floats

# For each word, so many steps of a walk cost about as much as to weigh the heads of one word.
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
    known: np.ndarray,
    uniform: float,
) -> int:
    """Draw the head of a word, given some heads of the tree; return -1 if there is none. O(n³)."""
    shares = np.empty(n + 1)
    if not weigh_heads_in_floats(weights, n, word, tree, known, shares):
        given = logs.copy()
        for d in range(1, n + 1):
            if known[d]:
                given[:, d] = -np.inf
                given[tree[d], d] = 0.0
        weigh_heads(given, n, word, shares)
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
) -> None:
    """Draw trees. Mostly O(n log n) each: a walk takes the mean time to hit the root.

    Parameters
    ----------
    weights, logs : (N, N) float64
        As `as_weights` makes them; without edges from the root, if `single`.
    sums : (N, N) float64
        By `add_up`.
    roots : (N,) float64
        If `single`: ``roots[d]`` is the probability that the root edge goes to a word up to d.
    n : words
    single : whether exactly one edge leaves the root
    generator : the source of randomness
    heads : (k, N) int64, filled
    """
    done = np.empty(n + 1, np.bool_)
    known = np.empty(n + 1, np.bool_)
    for draw in range(heads.shape[0]):
        tree = heads[draw]
        while True:
            tree[0] = -1
            done[:] = False
            known[:] = False
            done[0] = True
            if single:
                root = choose(roots, n, generator.random())
                tree[root] = 0
                done[root] = known[root] = True
            if grow(weights, logs, sums, n, generator, tree, done, known):
                break


@kernel
def grow(
    weights: np.ndarray,
    logs: np.ndarray,
    sums: np.ndarray,
    n: int,
    generator: np.random.Generator,
    tree: np.ndarray,
    done: np.ndarray,
    known: np.ndarray,
) -> bool:
    """Draw the rest of a tree; tell if there is any, which only rounding can make false.

    ``done`` (N,) bool marks the words that are connected to the root, ``known`` those whose heads
    are given.
    """
    for start in range(1, n + 1):
        d, steps = start, 0
        while not done[d]:
            if known[d]:
                d = tree[d]
            elif sums[d, n] == 0.0:
                return False
            elif steps < _STEPS_A_WORD * n:
                tree[d] = choose(sums[d], n, generator.random())
                d = tree[d]
                steps += 1
            else:
                tree[d] = choose_head(weights, logs, n, d, tree, known, generator.random())
                if tree[d] < 0:
                    return False
                known[d] = True
                d, steps = start, 0
        d = start
        while not done[d]:
            done[d] = known[d] = True
            d = tree[d]
    return True
