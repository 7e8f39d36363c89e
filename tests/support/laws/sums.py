"""Distributions over the trees of small graphs, against every tree.

What no tree can do without is a difference of scores, and its logarithm a float: where scores fall
short of the best of their words by much, fewer digits are to be had, and laws ask for fewer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import arborescence as arb
from brute_force import EveryTree, all_trees, tree_weights
from laws.trees import none_is_found


class Known(NamedTuple):
    """A distribution beside every tree."""

    dist: arb.TreeDistribution
    every: EveryTree | None  # None: there is no tree
    rtol: float  # of probabilities
    coarse: float  # of logarithms


def known(scores, root, projective):
    """Return the distribution, every tree, and how sure digits are."""
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    if not len(tree_weights(scores, root == "single", projective)[0]):
        return Known(dist, None, 0.0, 0.0)
    every = EveryTree(scores, root, projective)
    best = every.trees[every.log_probs.argmax()]
    edges = scores.astype(np.float64)
    np.fill_diagonal(edges, -np.inf)
    words = every.words
    with np.errstate(over="ignore"):
        short = float((edges.max(axis=0)[1:] - edges[best[1:], words]).sum())
        weight = float(np.abs(edges[best[1:], words]).sum())
    return Known(dist, every, 1e-9 + 2e-15 * short, 1e-10 + 1e-15 * (weight + short))


def near(found, right, rtol, atol, said):
    """Check that numbers are as near as that."""
    assert np.allclose(found, right, rtol=rtol, atol=atol), (said, found, right)


def out_of_range(scores):
    """Tell whether scores are as far apart as a message may refuse them for."""
    return np.abs(scores[np.isfinite(scores)].astype(np.float64)).max(initial=0.0) > 1e15


def totals(scores, root, projective):
    """The log-partition, marginals and the entropy."""
    before = scores.copy()
    dist, every, rtol, coarse = known(scores, root, projective)
    if every is None:
        none_is_found(dist.log_partition)
        return
    near(dist.log_count(), math.log(len(every.trees)), 1e-12, 1e-12, "log_count")
    try:
        log_partition, marginals, entropy = dist.log_partition(), dist.marginals(), dist.entropy()
    except arb.ScoresError:
        assert out_of_range(scores)
        return
    np.testing.assert_array_equal(scores, before)
    assert isinstance(log_partition, float)
    assert marginals.dtype == np.float64
    assert not np.isnan([log_partition, entropy]).any()
    if math.isfinite(every.log_partition) and math.isfinite(coarse):
        near(log_partition, every.log_partition, 1e-14, coarse, "log_partition")
    assert marginals.min() >= 0
    assert marginals.max() <= 1 + 1e-9
    near(marginals[:, 1:].sum(axis=0), 1, 1e-9, 0, "the marginals of a word")
    assert -1e-10 <= entropy <= dist.log_count() + 1e-9
    assert not marginals[:, 0].any(), "what is no edge has a marginal"
    assert not np.diagonal(marginals).any(), "what is no edge has a marginal"
    assert not marginals[np.isneginf(scores)].any(), "an absent edge has a marginal"
    if rtol <= 1e-6:
        near(marginals, every.marginals, rtol, 1e-12, "marginals")
        near(entropy, every.entropy, rtol, 1e-9, "entropy")


def probabilities(scores, root, projective):
    """The logarithms of probabilities of trees, and of trees of other kinds."""
    dist, every, rtol, coarse = known(scores, root, projective)
    if every is None or rtol > 1e-6 or not math.isfinite(coarse):
        return
    found = dist.log_prob(every.trees)
    assert found.shape == (len(every.trees),)
    lowest = np.finfo(np.float64).min / 2  # two masked edges may be too low for a float
    near(found.clip(lowest), every.log_probs.clip(lowest), 1e-9, coarse, "log_prob")
    trees = set(map(tuple, every.trees.tolist()))
    both = all_trees(len(scores) - 1, single=False)
    others = np.array([tree for tree in both.tolist() if tuple(tree) not in trees], np.int64)
    if len(others):
        none = dist.log_prob(others, errors="-inf")
        assert (none == -np.inf).all(), "a tree of another kind has a probability"
        try:
            dist.log_prob(others[0])
        except arb.TreeError:
            return
        raise AssertionError("no TreeError for a gold tree that cannot be")


def moments(scores, root, projective, seed):
    """Expectations, second moments, covariances, and those with each edge."""
    dist, every, rtol, _ = known(scores, root, projective)
    if every is None or rtol > 1e-6:
        return
    rng = np.random.default_rng(seed)
    f, g = (edge_values(rng, len(scores), many) for many in (2, 3))
    of_f, of_g = every.values(f), every.values(g)
    mean_f, mean_g = every.probs @ of_f, every.probs @ of_g
    near(dist.expectation(f), mean_f, rtol, 1e-10, "expectation")
    moment = (every.probs[:, None] * of_f).T @ of_g
    near(dist.second_moment(f, g), moment, rtol, 1e-9, "second_moment")
    centred = (every.probs[:, None] * (of_f - mean_f)).T @ (of_g - mean_g)
    near(dist.covariance(f, g), centred, rtol, 1e-9, "covariance")
    having = np.zeros((len(every.trees), *scores.shape))
    places = np.arange(len(having))[:, None], every.trees[:, 1:], every.words
    having[places] = every.probs[:, None]
    of_edges = np.tensordot(of_f[:, 0] - mean_f[0], having, 1)
    near(dist.edge_covariance(f[..., 0]), of_edges, rtol, 1e-10, "edge_covariance")


def edge_values(rng, size, *more):
    """Values of edges; those of no edge are NaN."""
    values = rng.normal(size=(size, size, *more))
    values[:, 0] = values[range(size), range(size)] = np.nan
    return values


def most_right_heads(scores, root, projective):
    """`mbr` is a tree of the graph with the most right heads."""
    dist, every, rtol, _ = known(scores, root, projective)
    if every is None:
        return
    try:
        chosen = dist.mbr()
    except arb.ScoresError:
        assert out_of_range(scores)
        return
    assert chosen.dtype == np.int64
    assert chosen.tolist() in every.trees.tolist(), "no tree of the graph"
    if rtol <= 1e-6:
        right = every.marginals[every.trees[:, 1:], every.words].sum(axis=1).max()
        near(every.marginals[chosen[1:], every.words].sum(), right, 1e-9, 0, "mbr")


def draws(scores, root, projective, seed):
    """Draws are trees of the graph and follow the probabilities; all come without replacement."""
    dist, every, rtol, _ = known(scores, root, projective)
    if every is None:
        return
    trees = set(map(tuple, every.trees.tolist()))
    try:
        some = dist.sample(50, seed)
        distinct = dist.sample(len(trees) + 3, seed, replace=False)
    except arb.ScoresError:
        assert out_of_range(scores)
        return
    assert set(map(tuple, some.tolist())) <= trees, "a draw is no tree of the graph"
    found = list(map(tuple, distinct.tolist()))
    assert len(set(found)) == len(found), "a draw without replacement comes twice"
    assert set(found) <= trees
    within = np.count_nonzero(dist.log_prob(every.trees, errors="-inf") > -np.inf)
    assert len(found) >= within  # others are so improbable that no float says how much
    if rtol > 1e-6 or len(trees) > 20:
        return
    # Hoeffding: of 2000 draws a share is off by 0.1 once in 10^17 times.
    drawn = list(map(tuple, dist.sample(2000, seed).tolist()))
    for tree, p in zip(map(tuple, every.trees.tolist()), every.probs, strict=True):
        assert abs(drawn.count(tree) / 2000 - p) <= 0.1, (tree, p)


def divergence(one, other, of_one, of_other):
    """Cross-entropy and divergence of two distributions, each with a kind (root, projective).

    Return the cross-entropy, or None if one of them has no tree.
    """
    for scores, (root, projective) in ((one, of_one), (other, of_other)):
        if not len(tree_weights(scores, root == "single", projective)[0]):
            return None
    here, there = EveryTree(one, *of_one), EveryTree(other, *of_other)
    if here.probs.min() == 0 or np.abs(here.log_probs).max() > 500:
        return None
    first, second = (
        arb.TreeDistribution(scores, root=root, projective=projective)
        for scores, (root, projective) in ((one, of_one), (other, of_other))
    )
    right = here.cross_entropy(there)
    near(first.cross_entropy(second), right, 1e-9, 1e-9, "cross_entropy")
    near(first.kl(second), right - here.entropy, 1e-8, 1e-8, "kl")
    return right


def in_torch(scores, root, projective):
    """PyTorch's distribution has the same log-partition, and marginals as its gradient."""
    try:
        import torch
    except ImportError:
        return
    from arborescence.torch import TreeDistribution

    dist, every, rtol, _ = known(scores, root, projective)
    if every is None or rtol > 1e-6:
        return
    tensor = torch.tensor(scores.astype(np.float64), requires_grad=True)
    other = TreeDistribution(tensor, root=root, projective=projective).log_partition()
    near(other.detach().numpy(), dist.log_partition(), 1e-13, 1e-12, "log_partition in torch")
    other.backward()
    near(tensor.grad.numpy(), dist.marginals(), 1e-9, 1e-11, "the gradient is the marginals")
