"""Trees drawn by walks that erase their loops: Wilson (1996).

From each word that is not in the tree yet, a walk goes to a head, drawn in proportion to the edges'
weights, and on from there, until it meets the tree; whatever loops it has made are forgotten. The
tree that comes out is drawn exactly from the distribution, whatever the order of the words.
"""

from __future__ import annotations

import numpy as np

from arborescence._jit import inlined_kernel, kernel

# A walk that has taken so many steps for each word is given up. How many steps were taken says
# nothing about the tree (Propp and Wilson 1998: loops are popped off a stack independently of what
# is below them), so that trees drawn in another way may take the place of those given up.
_MOST_STEPS = 500


@kernel
def add_up(weights: np.ndarray, n: int, first: int, sums: np.ndarray) -> None:
    """Fill ``sums[d, h]``, the weight of the edges into d from the heads `first` to h. O(n²)."""
    for d in range(1, n + 1):
        total = 0.0
        for h in range(n + 1):
            if h >= first:
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
def walk(
    sums: np.ndarray,
    roots: np.ndarray,
    n: int,
    single: bool,
    generator: np.random.Generator,
    heads: np.ndarray,
) -> int:
    """Draw trees; return how many there are before the first that took too long.

    If `single`, of the one that took too long no more is known than the word of the root edge.

    Mostly O(n log n) each: the mean number of steps is a mean time of hitting the root.

    Parameters
    ----------
    sums : (N, N) float64
        By `add_up`: with all heads, or without the root if `single`.
    roots : (N,) float64
        If `single`: ``roots[d]`` is the probability that the root edge goes to a word up to d.
    n : words
    single : whether exactly one edge leaves the root
    generator : the source of randomness
    heads : (k, N) int64, filled
    """
    done = np.empty(n + 1, np.bool_)
    for draw in range(heads.shape[0]):
        tree = heads[draw]
        tree[0] = -1
        done[:] = False
        done[0] = True
        if single:
            root = choose(roots, n, generator.random())
            tree[root] = 0
            done[root] = True
        steps = 0
        for start in range(1, n + 1):
            d = start
            while not done[d]:
                if steps == _MOST_STEPS * n or sums[d, n] == 0.0:
                    return draw
                steps += 1
                tree[d] = choose(sums[d], n, generator.random())
                d = tree[d]
            d = start
            while not done[d]:
                done[d] = True
                d = tree[d]
    return heads.shape[0]
