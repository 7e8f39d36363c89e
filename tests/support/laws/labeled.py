"""Labeled inference on small graphs, against every labeling of every tree."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

import arborescence as arb
from brute_force import all_trees, whole_numbers
from laws.trees import none_is_found, rounded


def every_labeled_tree(scores, root, projective):
    """Return the weight of each labeled tree, times one power of two: {(heads, labels): weight}."""
    n, many = len(scores) - 1, scores.shape[-1]
    whole, words, weights = whole_numbers(scores), np.arange(1, n + 1), {}
    for labels in product(range(many), repeat=n):
        for heads in all_trees(n, root == "single", projective):
            if (scores[heads[1:], words, labels] > -np.inf).all():
                weight = sum(whole[edge] for edge in zip(heads[1:], words, labels, strict=True))
                weights[tuple(heads.tolist()), (-1, *labels)] = weight
    return weights


def inference(scores, root, projective, k):
    """`decode_labeled`, `kbest_labeled` and `trees_labeled` agree with the list of all trees.

    Return how many trees there are.
    """
    options = {"root": root, "projective": projective}
    every = every_labeled_tree(scores, root, projective)
    if not every:
        none_is_found(
            lambda: arb.decode_labeled(scores, **options),
            lambda: arb.kbest_labeled(scores, k, **options),
            lambda: next(arb.trees_labeled(scores, **options)),
        )
        return 0
    found = plain(arb.trees_labeled(scores, **options))
    trees = [tree for _, *tree in found]
    assert len(found) == len(every), "not as many as there are"
    assert set(map(tuple, trees)) == set(every)
    exact = [every[tuple(tree)] for tree in trees]
    assert exact == sorted(exact, reverse=True), (options, scores.tolist())
    for weight, heads, labels in found[:5]:
        edges = [scores[heads[d], d, labels[d]] for d in range(1, len(heads))]
        assert weight == rounded(sum(Fraction(float(score)) for score in edges))
    heads, labels = arb.decode_labeled(scores, **options)
    assert trees[0] == [tuple(heads.tolist()), tuple(labels.tolist())]
    for many in (1, k, len(found) + 1):
        heads, labels, weights, _ = arb.kbest_labeled(scores, many, **options)
        assert plain(zip(heads, labels, weights.tolist(), strict=True)) == found[:many]
    return len(every)


def best_where(scores, root, projective):
    """`decode_where_labeled` finds the best tree that fulfils a condition."""

    def wanted(heads, labels):
        return bool((labels[1:] == 0).sum() % 2 == heads.sum() % 2)

    options = {"root": root, "projective": projective}
    every = every_labeled_tree(scores, root, projective)
    right = [w for (h, x), w in every.items() if wanted(np.array(h), np.array(x))]
    if not right:
        none_is_found(lambda: arb.decode_where_labeled(scores, wanted, **options))
        return
    heads, labels = arb.decode_where_labeled(scores, wanted, **options)
    assert wanted(heads, labels)
    assert every[tuple(heads.tolist()), tuple(labels.tolist())] == max(right)


def plain(trees):
    """Return labeled trees as tuples of Python's numbers."""
    return [
        (weight, tuple(heads.tolist()), tuple(labels.tolist())) for heads, labels, weight in trees
    ]
