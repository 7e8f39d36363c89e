"""The laws of inference over the trees of small graphs, plain and labeled."""

from __future__ import annotations

import numpy as np

from cases import Case, examine_laws
from kinds import KINDS, options, random_kind, small_graph
from laws import labeled, trees


def attack(rng):
    for _ in range(20):
        more = {"k": int(rng.choice([1, 2, 5, 40, 3000])), "seed": int(rng.integers(9))}
        case = Case((small_graph(rng),), {**options(rng), **more})
        yield from examine_laws(
            case,
            trees.best, trees.k_best, trees.stream, trees.second_best, trees.best_where,
            trees.weights_are_rounded_once, trees.best_of_edges, trees.through_undirected_trees,
        )  # fmt: skip
    for _ in range(5):
        n, labels = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        kind = random_kind(rng, KINDS)
        scores = np.stack([kind(rng, n) for _ in range(labels)], axis=-1)
        case = Case((scores,), {**options(rng), "k": int(rng.choice([3, 30, 3000]))})
        yield from examine_laws(case, labeled.inference, labeled.best_where)
