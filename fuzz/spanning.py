"""The laws of spanning trees of undirected graphs."""

from __future__ import annotations

import numpy as np

from cases import Case, examine_laws
from laws import spanning
from sparse_graphs import WEIGHTS


def attack(rng):
    for _ in range(10):
        n = int(rng.choice([1, 2, 3, 5, 10, 40]))
        m = int(rng.integers(0, 4 * n + 1))
        weight = WEIGHTS[str(rng.choice([*WEIGHTS]))](rng, m).astype(np.float64)
        weight[rng.random(m) < rng.choice([0, 0.3])] = -np.inf
        u, v = rng.integers(0, n, (2, m)).tolist()
        case = Case((), {"n": n, "u": u, "v": v, "weight": weight.tolist()})
        yield from examine_laws(case, spanning.edges, spanning.matrix, spanning.direction)
