"""Labeled inference on small graphs, against every labeling of every tree."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

import arborescence as arb
from brute_force import all_trees
from cases import Case, WrongError, examine
from kinds import KINDS, options, random_kind


def attack(rng):
    for _ in range(10):
        n, labels = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        kind = random_kind(rng, KINDS)
        scores = np.stack([kind(rng, n) for _ in range(labels)], axis=-1)
        case = Case((scores,), {**options(rng), "k": int(rng.choice([1, 3, 30, 3000]))})
        for check in (decode_labeled, kbest_labeled, trees_labeled, decode_where_labeled):
            yield from examine(check, case)


def every_labeled(case):
    """Return the exact weight of each labeled tree: {(heads, labels): weight}."""
    size, _, labels = case.scores.shape
    single = case.options["root"] == "single"
    weights = {}
    for tree in all_trees(size - 1, single, case.options["projective"]).tolist():
        for of_words in product(range(labels), repeat=size - 1):
            edges = [float(case.scores[tree[d], d, label]) for d, label in enumerate(of_words, 1)]
            if -np.inf not in edges:
                weights[tuple(tree), (-1, *of_words)] = sum(map(Fraction, edges))
    return weights


def rounded(weight):
    try:
        return float(weight)
    except OverflowError:
        return np.inf if weight > 0 else -np.inf


def expect_none(call):
    try:
        call()
    except arb.NoTreeError:
        return
    raise WrongError("no NoTreeError where there is no tree")


def decode_labeled(case):
    every = every_labeled(case)
    if not every:
        expect_none(lambda: arb.decode_labeled(case.scores, **case.trees))
        return
    heads, labels = arb.decode_labeled(case.scores, **case.trees)
    if every.get((tuple(heads.tolist()), tuple(labels.tolist()))) != max(every.values()):
        raise WrongError("not the best labeled tree", heads.tolist(), labels.tolist())


def kbest_labeled(case):
    every, k = every_labeled(case), case.options["k"]
    if not every:
        expect_none(lambda: arb.kbest_labeled(case.scores, k, **case.trees))
        return
    heads, labels, weights, _ = arb.kbest_labeled(case.scores, k, **case.trees)
    in_order(every, heads, labels, weights.tolist(), k)


def trees_labeled(case):
    every = every_labeled(case)
    if not every:
        expect_none(lambda: next(iter(arb.trees_labeled(case.scores, **case.trees))))
        return
    heads, labels, weights = zip(*arb.trees_labeled(case.scores, **case.trees), strict=True)
    in_order(every, heads, labels, list(weights), len(every) + 1)


def in_order(every, heads, labels, weights, k):
    """Check that these are the k best labeled trees, in order, with their exact weights."""
    found = [(tuple(h.tolist()), tuple(x.tolist())) for h, x in zip(heads, labels, strict=True)]
    if len(set(found)) != min(k, len(every)) or len(found) != len(set(found)):
        raise WrongError("not as many labeled trees as there are", len(found), len(every))
    exact = [every.get(tree) for tree in found]
    if exact != sorted(every.values(), reverse=True)[:k]:
        raise WrongError("not the best labeled trees in order", found)
    if [rounded(weight) for weight in exact] != weights:
        raise WrongError("weights are not the exact sums, rounded once", weights)


def decode_where_labeled(case):
    def wanted(heads, labels):
        return bool((labels[1:] == 0).sum() % 2 == heads.sum() % 2)

    every = every_labeled(case)
    right = [w for (h, x), w in every.items() if wanted(np.array(h), np.array(x))]
    if not right:
        expect_none(lambda: arb.decode_where_labeled(case.scores, wanted, **case.trees))
        return
    heads, labels = arb.decode_where_labeled(case.scores, wanted, **case.trees)
    if every.get((tuple(heads.tolist()), tuple(labels.tolist()))) != max(right):
        raise WrongError("not the best that fulfils the condition", heads.tolist(), labels.tolist())
