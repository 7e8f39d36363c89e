"""The randomized algorithm of Karger, Klein and Tarjan (1995): expected O(m).

Levi, Reichart and Rappoport (2016) parse with it (their Algorithm 2). After two steps of Borůvka's
algorithm, a forest of a random half of the edges shows most of the others to be needless.
"""

from __future__ import annotations

import numpy as np

from arborescence.core.jit import kernel
from arborescence.undirected.boruvka import boruvka_step, choose
from arborescence.undirected.heavy import drop_heavy


@kernel
def kkt(
    n: int,
    u: np.ndarray,
    v: np.ndarray,
    weight: np.ndarray,
    origin: np.ndarray,
    chosen: np.ndarray,
    coins: np.ndarray,
) -> int:
    """Find the maximum spanning forest. Expected O(m), and O(min(n², m log n)) at worst.

    Parameters
    ----------
    n
        Nodes 0, ..., n - 1.
    u, v, weight, origin
        The fields of `Edges`; overwritten.
    chosen : (M,) bool
        Written: True for each of the caller's edges that is chosen.
    coins : (1,) uint64
        Where the random bits come from; overwritten.

    Returns
    -------
    visited
        How many edges were looked at: in each Borůvka step, in each sampling, and in each search
        for heavy edges, all that there were.
    """
    visited = 0
    left = len(u)
    if left == 0:
        return visited
    best = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    while left:
        for _ in range(2):
            visited += left
            nodes, left = boruvka_step(
                n, u[:left], v[:left], weight[:left], origin[:left], best, label
            )
            choose(best[:n], chosen)
            n = nodes
        if left == 0:
            break
        places = _sample(left, coins)
        in_forest = np.zeros(left, np.bool_)
        visited += left + kkt(n, u[places], v[places], weight[places], places, in_forest, coins)
        visited += left
        left = drop_heavy(n, u[:left], v[:left], weight[:left], origin[:left], in_forest)
    return visited


@kernel
def _sample(m: int, coins: np.ndarray) -> np.ndarray:
    """Choose each of 0, ..., m - 1 with probability 1/2: int32, ascending. O(m).

    The coins are the bits of SplitMix64 (Steele, Lea and Flood 2014).
    """
    places = np.empty(m, np.int32)
    count = 0
    bits = np.uint64(0)
    for place in range(m):
        if place % 64 == 0:
            coins[0] += np.uint64(0x9E3779B97F4A7C15)
            bits = coins[0]
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bits ^= bits >> np.uint64(31)
        places[count] = place
        count += bool(bits & np.uint64(1))
        bits >>= np.uint64(1)
    return places[:count].copy()
