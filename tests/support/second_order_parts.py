"""Random parts of second-order trees, and the weights of all trees, exactly."""

from fractions import Fraction

import numpy as np

from brute_force import all_trees

#: How the numbers of a part are drawn.
NUMBERS = {
    "whole": lambda rng, shape: rng.integers(-2, 3, shape).astype(np.float64),
    "float32": lambda rng, shape: rng.normal(size=shape).astype(np.float32),
    "float64": lambda rng, shape: rng.normal(size=shape),
    "huge": lambda rng, shape: 1e307 * rng.normal(size=shape),
    "tiny": lambda rng, shape: 1e-306 * rng.normal(size=shape),
    "masked": lambda rng, shape: np.where(
        rng.random(shape) < 0.2,
        rng.choice([-1e9, np.finfo(np.float32).min, np.finfo(np.float64).min]),
        rng.normal(size=shape),
    ),
}


def random_parts(rng, n, numbers, absent=0.0):
    """Scores, and siblings or grandparents or both, or neither."""

    def draw(shape):
        array = NUMBERS[numbers](rng, shape)
        array[rng.random(shape) < absent] = -np.inf
        return array

    shape = (n + 1,) * 3
    scores = draw(shape[:2])
    siblings = draw(shape) if rng.random() < 0.7 else None
    grandparents = draw(shape) if rng.random() < 0.7 else None
    return scores, siblings, grandparents


def parts_of(heads):
    """The parts of a tree: pairs (h, d), and triples (h, d, s) and (g, h, d)."""
    edges, siblings, grandparents = [], [], []
    for d in range(1, len(heads)):
        h = heads[d]
        edges.append((h, d))
        step = 1 if h > d else -1
        between = range(d + step, h, step)
        siblings.append((h, d, next((s for s in between if heads[s] == h), h)))
        if h > 0:
            grandparents.append((heads[h], h, d))
    return edges, siblings, grandparents


def weight_of(parts, heads):
    """The weight of a tree as a fraction; None if a part is absent."""
    total = Fraction(0)
    for array, places in zip(parts, parts_of(list(map(int, heads))), strict=True):
        if array is not None:
            for place in places:
                if array[place] == -np.inf:
                    return None
                total += Fraction(float(array[place]))
    return total


def all_weights(parts, single, projective):
    """All trees without absent parts, and their weights."""
    trees = all_trees(len(parts[0]) - 1, single, projective)
    weighed = [(heads, weight_of(parts, heads)) for heads in trees]
    return [(heads, weight) for heads, weight in weighed if weight is not None]
