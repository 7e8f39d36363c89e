"""Sums over projective trees with siblings, against every tree."""

import numpy as np
import pytest

import arborescence as arb
from arborescence import second_order
from modes import UNCOMPILED
from second_order_parts import all_weights, random_parts

COUNT = 5 if UNCOMPILED else 30


def summed(parts, root):
    """The log-partition and the marginals by every tree; None if there is none."""
    weighed = all_weights(parts, root == "single", projective=True)
    if not weighed:
        return None
    weights = np.array([float(weight) for _, weight in weighed])
    shares = np.exp(weights - weights.max())
    log_partition = weights.max() + np.log(shares.sum())
    marginals = np.zeros_like(parts[0])
    for (heads, _), share in zip(weighed, shares / shares.sum(), strict=True):
        marginals[heads[1:], np.arange(1, len(heads))] += share
    return log_partition, marginals


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("absent", [0.0, 0.2])
@pytest.mark.parametrize("scale", [1.0, 500.0])
def test_against_every_tree(root, absent, scale):
    rng = np.random.default_rng(1)
    for _ in range(COUNT):
        scores, siblings, _ = random_parts(rng, int(rng.integers(1, 6)), "float64", absent)
        parts = scale * scores, None if siblings is None else scale * siblings, None
        expected = summed(parts, root)
        if expected is None:
            with pytest.raises(arb.NoTreeError):
                second_order.sum_trees(*parts[:2], root=root)
            continue
        found = second_order.sum_trees(*parts[:2], root=root)
        np.testing.assert_allclose(found.log_partition, expected[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.marginals, expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("root", ["single", "multi"])
def test_without_siblings_they_are_those_of_the_distribution(root):
    scores = np.random.default_rng(2).normal(size=(13, 13))
    found = second_order.sum_trees(scores, root=root)
    known = arb.TreeDistribution(scores, root=root, projective=True)
    np.testing.assert_allclose(found.log_partition, known.log_partition(), rtol=1e-12)
    np.testing.assert_allclose(found.marginals, known.marginals(), rtol=1e-9, atol=1e-14)


def test_batches_are_the_same_as_single_sentences():
    rng = np.random.default_rng(3)
    lengths = [4, 0, 5, 1]
    scores, siblings = rng.normal(size=(4, 6, 6)), rng.normal(size=(4, 6, 6, 6))
    batch = second_order.sum_trees(scores, siblings, lengths, threads=2)
    for b, n in enumerate(lengths):
        alone = second_order.sum_trees(
            scores[b, : n + 1, : n + 1], siblings[b][(slice(n + 1),) * 3]
        )
        assert batch.log_partition[b] == alone.log_partition
        assert (batch.marginals[b, : n + 1, : n + 1] == alone.marginals).all()
        assert not batch.marginals[b, n + 1 :].any()
        assert not batch.marginals[b, :, n + 1 :].any()


def test_invalid_parts():
    siblings = np.zeros((3, 3, 3))
    siblings[0, 1, 0] = np.nan
    with pytest.raises(arb.ScoresError, match=r"siblings\[0, 1, 0\] is nan"):
        second_order.sum_trees(np.zeros((3, 3)), siblings)
