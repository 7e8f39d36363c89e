"""Distributions over the trees of small graphs, against every tree."""

from __future__ import annotations

import math

import numpy as np

import arborescence as arb
from brute_force import EveryTree, all_trees, tree_weights
from cases import Case, WrongError, examine
from kinds import KINDS, ORDINARY, options, small_graph


def attack(rng):
    for _ in range(10):
        kinds = KINDS if rng.random() < 0.6 else ORDINARY
        case = Case((small_graph(rng, kinds),), {**options(rng), "seed": int(rng.integers(10**6))})
        for check in (sums, probabilities, moments, draws, mbr):
            yield from examine(check, case)
        if kinds is ORDINARY:
            yield from examine(torch_agrees, case)


def known(case):
    """Return the distribution, every tree (None if there is none), and how sure digits are.

    What no tree can do without is a difference of scores, and its logarithm a float: where scores
    fall short of the best of their words by much, fewer digits are to be had.
    """
    scores = case.scores
    dist = arb.TreeDistribution(scores, **case.trees)
    single, projective = case.options["root"] == "single", case.options["projective"]
    trees, _ = tree_weights(scores, single, projective)
    if not len(trees):
        return dist, None, 0.0, 0.0
    every = EveryTree(scores, case.options["root"], projective)
    best = every.trees[every.log_probs.argmax()]
    edges = scores.astype(np.float64)
    np.fill_diagonal(edges, -np.inf)
    words = every.words
    with np.errstate(over="ignore"):
        short = float((edges.max(axis=0)[1:] - edges[best[1:], words]).sum())
        weight = float(np.abs(edges[best[1:], words]).sum())
    return dist, every, 1e-9 + 2e-15 * short, 1e-10 + 1e-15 * (weight + short)


def near(found, right, rtol, atol):
    return bool(np.allclose(found, right, rtol=rtol, atol=atol))


def out_of_range(case, error):
    """Tell whether scores are as far apart as a message may refuse them for."""
    finite = np.abs(case.scores[np.isfinite(case.scores)].astype(np.float64))
    return isinstance(error, arb.ScoresError) and finite.max(initial=0.0) > 1e15


def sums(case):
    dist, every, rtol, coarse = known(case)
    if every is None:
        try:
            _ = dist.log_partition()
        except arb.NoTreeError:
            return
        raise WrongError("no NoTreeError where there is no tree")
    if not near(dist.log_count(), math.log(len(every.trees)), 1e-12, 1e-12):
        raise WrongError("log_count", dist.log_count(), math.log(len(every.trees)))
    try:
        log_partition, marginals, entropy = dist.log_partition(), dist.marginals(), dist.entropy()
    except arb.ScoresError as error:
        if out_of_range(case, error):
            return
        raise
    if np.isnan([log_partition, entropy]).any() or np.isnan(marginals).any():
        raise WrongError("NaN", log_partition, entropy, marginals.tolist())
    known_sum = math.isfinite(every.log_partition) and math.isfinite(coarse)
    if known_sum and not near(log_partition, every.log_partition, 1e-14, coarse):
        raise WrongError("log_partition", log_partition, every.log_partition)
    if marginals.min() < 0 or marginals.max() > 1 + 1e-9:
        raise WrongError("marginals are no probabilities", marginals.tolist())
    if not near(marginals[:, 1:].sum(axis=0), 1, 1e-9, 0):
        raise WrongError("the marginals of a word do not sum to 1", marginals.tolist())
    if not -1e-10 <= entropy <= dist.log_count() + 1e-9:
        raise WrongError("entropy is out of range", entropy)
    if (marginals[:, 0] != 0).any() or np.diagonal(marginals).any():
        raise WrongError("what is no edge has a marginal", marginals.tolist())
    if (marginals[np.isneginf(case.scores)] != 0).any():
        raise WrongError("an absent edge has a marginal", marginals.tolist())
    if rtol > 1e-6:
        return
    if not near(marginals, every.marginals, rtol, 1e-12):
        raise WrongError("marginals", marginals.tolist(), every.marginals.tolist())
    if not near(entropy, every.entropy, rtol, 1e-9):
        raise WrongError("entropy", entropy, every.entropy)


def probabilities(case):
    dist, every, rtol, coarse = known(case)
    if every is None or rtol > 1e-6:
        return
    if not math.isfinite(coarse):
        return
    found = dist.log_prob(every.trees)
    lowest = np.finfo(np.float64).min / 2
    if not near(found.clip(lowest), every.log_probs.clip(lowest), 1e-9, coarse):
        raise WrongError("log_prob", found.tolist(), every.log_probs.tolist())
    trees = set(map(tuple, every.trees.tolist()))
    both = all_trees(len(case.scores) - 1, single=False)
    others = np.array([tree for tree in both.tolist() if tuple(tree) not in trees], np.int64)
    if len(others):
        none = dist.log_prob(others, errors="-inf")
        if (none != -np.inf).any():
            raise WrongError("a tree of another kind has a probability", others[none > -np.inf][0])
        try:
            dist.log_prob(others[0])
        except arb.TreeError:
            return
        raise WrongError("no TreeError for a gold tree that cannot be", others[0].tolist())


def moments(case):
    dist, every, rtol, _ = known(case)
    if every is None or rtol > 1e-6:
        return
    rng = np.random.default_rng(case.options["seed"])
    f, g = rng.normal(size=(2, *case.scores.shape, 2))
    of_f, of_g = every.values(f), every.values(g)
    mean_f, mean_g = every.probs @ of_f, every.probs @ of_g
    if not near(dist.expectation(f), mean_f, rtol, 1e-10):
        raise WrongError("expectation", dist.expectation(f).tolist(), mean_f.tolist())
    moment = (every.probs[:, None] * of_f).T @ of_g
    if not near(dist.second_moment(f, g), moment, rtol, 1e-9):
        raise WrongError("second_moment", dist.second_moment(f, g).tolist(), moment.tolist())
    centred = (every.probs[:, None] * (of_f - mean_f)).T @ (of_g - mean_g)
    if not near(dist.covariance(f, g), centred, rtol, 1e-9):
        raise WrongError("covariance", dist.covariance(f, g).tolist(), centred.tolist())


def mbr(case):
    dist, every, rtol, _ = known(case)
    if every is None:
        return
    try:
        chosen = dist.mbr()
    except arb.ScoresError as error:
        if out_of_range(case, error):
            return
        raise
    if tuple(chosen.tolist()) not in set(map(tuple, every.trees.tolist())):
        raise WrongError("mbr is no tree of the graph", chosen.tolist())
    if rtol > 1e-6:
        return
    right = every.marginals[every.trees[:, 1:], every.words].sum(axis=1).max()
    if not near(every.marginals[chosen[1:], every.words].sum(), right, 1e-9, 0):
        raise WrongError("mbr is not the tree with the most right heads", chosen.tolist())


def draws(case):
    dist, every, rtol, _ = known(case)
    if every is None:
        return
    seed = case.options["seed"]
    trees = set(map(tuple, every.trees.tolist()))
    try:
        some = dist.sample(50, seed)
        distinct = dist.sample(len(trees) + 3, seed, replace=False)
    except arb.ScoresError as error:
        if out_of_range(case, error):
            return
        raise
    if not set(map(tuple, some.tolist())) <= trees:
        raise WrongError("a draw is no tree of the graph")
    found = list(map(tuple, distinct.tolist()))
    if len(set(found)) != len(found) or not set(found) <= trees:
        raise WrongError("a draw without replacement is no tree, or one twice", found)
    within = np.count_nonzero(dist.log_prob(every.trees, errors="-inf") > -np.inf)
    if len(found) < within:  # others are so improbable that no float says how much
        raise WrongError("not all trees come without replacement", len(found), len(trees))
    if rtol > 1e-6 or len(trees) > 20:
        return
    # Hoeffding: of 2000 draws a share is off by 0.1 once in 10^17 times.
    drawn = list(map(tuple, dist.sample(2000, seed).tolist()))
    for tree, p in zip(map(tuple, every.trees.tolist()), every.probs, strict=True):
        if abs(drawn.count(tree) / 2000 - p) > 0.1:
            raise WrongError("draws do not follow the probabilities", tree, drawn.count(tree), p)


def torch_agrees(case):
    try:
        import torch
    except ImportError:
        return
    from arborescence.torch import TreeDistribution

    dist, every, rtol, _ = known(case)
    if every is None or rtol > 1e-6:
        return
    scores = torch.tensor(case.scores.astype(np.float64), requires_grad=True)
    other = TreeDistribution(scores, **case.trees)
    if not near(float(other.log_partition().detach()), dist.log_partition(), 1e-13, 1e-12):
        raise WrongError(
            "log_partition in torch", float(other.log_partition()), dist.log_partition()
        )
    other.log_partition().backward()
    if not near(scores.grad.numpy(), dist.marginals(), 1e-9, 1e-11):
        raise WrongError("the gradient is not the marginals", scores.grad.tolist())
