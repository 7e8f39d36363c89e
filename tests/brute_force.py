"""The slow and obvious answer: every tree, weighed in exact arithmetic."""

from functools import cache
from itertools import product

import numpy as np


def _ends_at_root(heads, word):
    seen = set()
    while word != 0:
        if word in seen:
            return False
        seen.add(word)
        word = heads[word]
    return True


@cache
def all_trees(n, single):
    """Every head vector of n words that is a tree, (T, n + 1)."""
    trees = [
        (-1, *heads)
        for heads in product(range(n + 1), repeat=n)
        if (heads.count(0) == 1 or not single)
        and all(_ends_at_root((-1, *heads), d) for d in range(1, n + 1))
    ]
    return np.array(trees, np.int64).reshape(-1, n + 1)


def whole_numbers(scores):
    """The same scores times one power of two, as Python's unbounded integers; absent edges are 0.

    Equal to working in `fractions.Fraction` over a common denominator, and faster.
    """
    ratios = [
        (0, 1) if np.isinf(x) or np.isnan(x) else float(x).as_integer_ratio()
        for x in scores.ravel()
    ]
    common = max(denominator for _, denominator in ratios)
    whole = [numerator * (common // denominator) for numerator, denominator in ratios]
    return np.array(whole, dtype=object).reshape(scores.shape)


def tree_weights(scores, single):
    """All trees whose edges are present, and their exact weights: (T, n + 1), (T,) of int."""
    n = scores.shape[0] - 1
    trees = all_trees(n, single)
    words = np.arange(1, n + 1)
    present = (scores[trees[:, 1:], words] > -np.inf).all(axis=1)
    trees = trees[present]
    if not len(trees):
        return trees, np.empty(0, object)
    return trees, whole_numbers(scores)[trees[:, 1:], words].sum(axis=1)


def is_best(scores, heads, single):
    """Whether heads is a tree, present, and of the highest exact weight."""
    n = scores.shape[0] - 1
    _, weights = tree_weights(scores, single)
    words = np.arange(1, n + 1)
    tree = all(_ends_at_root(heads, d) for d in words) and heads[0] == -1
    if not tree or (single and np.count_nonzero(heads == 0) != 1):
        return False
    if not (scores[heads[1:], words] > -np.inf).all():
        return False
    return whole_numbers(scores)[heads[1:], words].sum() == weights.max()
