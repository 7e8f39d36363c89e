"""Pairs of distributions over trees of different kinds, against every tree."""

from __future__ import annotations

import numpy as np

import arborescence as arb
from brute_force import EveryTree, tree_weights
from cases import Case, WrongError, examine
from distributions import near
from kinds import ORDINARY, options, random_kind


def attack(rng):
    for _ in range(20):
        n = int(rng.integers(1, 5))
        graphs = tuple(random_kind(rng, ORDINARY)(rng, n).astype(np.float64) for _ in range(2))
        one, other = options(rng), options(rng)
        case = Case(graphs, {**one, "of_other": other})
        yield from examine(divergence, case)
    graphs = (rng.normal(size=(n + 1, n + 1)),)
    yield from examine(other_lengths, Case(graphs, {"n": n}))


def divergence(case):
    one, other = case.graphs
    of_one, of_other = case.trees, case.options["of_other"]
    pair = []
    for scores, kind in ((one, of_one), (other, of_other)):
        if not len(tree_weights(scores, kind["root"] == "single", kind["projective"])[0]):
            return
        pair.append(EveryTree(scores, kind["root"], kind["projective"]))
    here, there = pair
    if here.probs.min() == 0 or np.abs(here.log_probs).max() > 500:
        return
    right = here.cross_entropy(there)
    first = arb.TreeDistribution(one, **of_one)
    second = arb.TreeDistribution(other, **of_other)
    found = first.cross_entropy(second)
    if not near(found, right, 1e-9, 1e-9):
        raise WrongError("cross_entropy", found, right)
    if not near(first.kl(second), right - here.entropy, 1e-8, 1e-8):
        raise WrongError("kl", first.kl(second), right - here.entropy)


def other_lengths(case):
    """Distributions over sentences of other lengths cannot be compared."""
    n = case.options["n"]
    both = np.stack([case.scores, case.scores])
    one, other = arb.TreeDistribution(both, [n, n]), arb.TreeDistribution(both, [n, n - 1])
    for name, call in (("kl", one.kl), ("cross_entropy", other.cross_entropy)):
        try:
            call(other if name == "kl" else one)
        except arb.ScoresError:
            continue
        raise WrongError(f"{name} compares sentences of other lengths")
