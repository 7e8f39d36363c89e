"""Distributions over trees against every tree, and against high precision where that ends."""

import itertools
import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
import laws.sums
from arborescence.core.weights import SMALLEST, as_weights
from arborescence.distribution.counting import Kind, count_trees
from arborescence.distribution.partition import no_gaps
from arborescence.nonprojective.sums import eliminate, eliminate_in_logs
from arborescence.projective.sums import (
    inside,
    inside_in_logs,
    new_inside,
    outside,
    outside_in_logs,
)
from brute_force import EveryTree, all_trees, eisner, tree_weights
from graphs import ABSENT, FINITE, layouts, random_graphs
from laws import said_of, squares, without_padding
from laws.sums import edge_values
from matrix_tree import MatrixTree
from modes import FEW, NATIVE, UNCOMPILED, rarely, thinned

JIT = not UNCOMPILED
# How many graphs of each kind: without the JIT more take too long.
COUNT = 25 if JIT else 4
ROOTS = ("single", "multi")
FAMILIES = pytest.mark.parametrize(
    ("root", "projective"),
    [("single", False), ("multi", False), ("single", True), ("multi", True)],
    ids=["single", "multi", "projective-single", "projective-multi"],
)
PAIRS = [(root, projective) for root in ROOTS for projective in (False, True)]
exact_scalars = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
needs_parts = pytest.mark.skipif(NATIVE, reason="calls kernels that are only parts of others")
needs_jit = pytest.mark.skipif(not JIT, reason="too slow without the JIT")


# Graphs that are hard in other ways than for decoders.


def scaled(factor):
    return lambda rng, n: factor * rng.normal(size=(n + 1, n + 1))


def far_columns(rng, n):
    """Each column has an offset of its own, of up to 1e8."""
    return rng.normal(size=(n + 1, n + 1)) + rng.uniform(-1e8, 1e8, n + 1)


def cycles(margin):
    """The greedy graph is cycles, and each way out of them costs the margin, or a little more.

    Then the Laplacian is singular, as far as float64 can tell, from a margin of 37 on.
    """

    def make(rng, n):
        scores = rng.normal(size=(n + 1, n + 1)) - margin
        order = rng.permutation(n) + 1
        parts = np.split(order, sorted(rng.integers(0, n + 1, rng.integers(0, 3))))
        for part in parts:
            scores[np.roll(part, 1), part] = rng.normal(size=len(part)) / 10
        return scores

    return make


def nested_cycles(margin):
    """A cycle of two words, in a cycle with the next, in a cycle with the next, ..."""

    def make(rng, n):
        scores = rng.normal(-margin * (n + 1), 1, (n + 1, n + 1))
        if n > 1:
            scores[2, 1] = scores[1, 2] = 0
        for d in range(3, n + 1):
            scores[d - 1, d] = 0
            scores[d, rng.integers(1, d)] = -margin * (d - 2)
        order = [0, *(rng.permutation(n) + 1)]
        return scores[np.ix_(order, order)]

    return make


HARD = {
    "scaled-1e-6": scaled(1e-6),
    "scaled-30": scaled(30),
    "scaled-1e3": scaled(1e3),
    "scaled-1e6": scaled(1e6),
    "far-columns": far_columns,
    **{f"cycles-{margin}": cycles(margin) for margin in (10, 50, 200, 1000)},
    **{f"nested-cycles-{margin}": nested_cycles(margin) for margin in (10, 50, 200)},
}
KINDS = {**FINITE, **ABSENT, **HARD}
del KINDS["wide-32"], KINDS["wide-64"]  # those are in FAR


def graphs(kind, count, root, projective):
    """Random graphs of 1 to 6 words that have a tree."""
    if kind in HARD:
        rng = np.random.default_rng([11, *kind.encode()])
        sizes = rng.choice(np.arange(1, 7), count, p=[0.05, 0.15, 0.25, 0.25, 0.2, 0.1])
        made = (HARD[kind](rng, int(n)) for n in sizes)
    else:
        made = random_graphs(kind, count, seed=11)
    for scores in made:
        if len(tree_weights(scores, root == "single", projective)[0]):
            yield scores


def deficit(scores, heads):
    """By how much the edges of a tree fall short of the best into their words, together."""
    edges = scores.astype(np.float64)
    np.fill_diagonal(edges, -np.inf)
    words = np.arange(1, len(heads))
    return float((edges.max(axis=0)[1:] - edges[heads[1:], words]).sum())


# Against every tree.


@exact_scalars
@FAMILIES
@pytest.mark.parametrize("kind", KINDS)
def test_against_every_tree(kind, root, projective):
    for seed, scores in enumerate(graphs(kind, COUNT, root, projective)):
        laws.sums.totals(scores, root, projective)
        laws.sums.probabilities(scores, root, projective)
        laws.sums.moments(scores, root, projective, seed)
        laws.sums.most_right_heads(scores, root, projective)


# Scores of sizes that have nothing to do with each other, and of the largest sizes.


def sizes_apart(low):
    def make(rng, n):
        scores = rng.normal(size=(n + 1, n + 1))
        scores -= 10.0 ** rng.choice([0, 6, 9, 17, 30, 38, 100, 307], scores.shape)
        return np.where(rng.random(scores.shape) < low, scores, rng.normal(size=scores.shape))

    return make


def largest(rng, n):
    size = 10.0 ** rng.choice([6, 9, 17, 30, 100, 307, 308])
    return rng.choice([-size, 0, size, 1, 2], (n + 1, n + 1))


def root_apart(rng, n):
    scores = rng.normal(size=(n + 1, n + 1))
    scores[0] += rng.choice([-1, 1]) * 10.0 ** rng.choice([5, 6, 7, 9, 30, 308])
    return scores


def masks(rng, n):
    scores = rng.normal(size=(n + 1, n + 1))
    mask = rng.choice([-1e9, -1e30, np.finfo(np.float32).min, np.finfo(np.float64).min])
    scores[rng.random(scores.shape) < 0.6] = mask
    return scores


FAR = {
    "wide-32": FINITE["wide-32"],
    "wide-64": FINITE["wide-64"],
    "two-sizes": FINITE["two-sizes"],
    "some-low": sizes_apart(0.3),
    "most-low": sizes_apart(0.8),
    "largest": largest,
    "root-apart": root_apart,
    "masks": masks,
    "absent-and-large": lambda rng, n: 1e30 * ABSENT["absent"](rng, n).astype(np.float64),
}


def check_far(scores, root, projective):
    every = EveryTree(scores, root, projective)
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    # Where the best weights of words cancel, their sum is as precise as they are.
    sizes = np.where(np.isfinite(scores), np.abs(scores), 0).max(axis=0)[1:].max(initial=0).item()
    with np.errstate(over="ignore"):
        assert dist.log_partition() == pytest.approx(
            every.log_partition, rel=1e-14, abs=1e-15 * sizes
        )
    assert dist.marginals() == pytest.approx(every.marginals, abs=1e-9)
    np.testing.assert_allclose(dist.marginals()[:, 1:].sum(axis=0), 1, rtol=1e-9)
    assert dist.entropy() == pytest.approx(every.entropy, abs=1e-8)
    found, lowest = dist.log_prob(every.trees), np.finfo(np.float64).min
    np.testing.assert_allclose(
        found.clip(lowest), every.log_probs.clip(lowest), rtol=1e-12, atol=1e-8
    )
    f = edge_values(np.random.default_rng(22), len(scores))
    of_f = every.values(f)
    mean = every.probs @ of_f
    assert dist.expectation(f) == pytest.approx(mean, abs=1e-8)
    assert dist.covariance(f) == pytest.approx(every.probs @ (of_f - mean) ** 2, abs=1e-7)
    chosen = dist.mbr()
    right = every.marginals[every.trees[:, 1:], every.words].sum(axis=1)
    assert every.marginals[chosen[1:], every.words].sum() == pytest.approx(right.max(), abs=1e-9)
    assert (dist.log_prob(dist.sample(5, 0)) > -60).all()
    return dist, every


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@FAMILIES
@pytest.mark.parametrize("kind", FAR)
def test_scores_far_apart(kind, root, projective):
    rng = np.random.default_rng([23, *kind.encode()])
    compared = 0
    for _ in range(COUNT):
        scores = FAR[kind](rng, int(rng.integers(1, 5)))
        if len(tree_weights(scores, root == "single", projective)[0]):
            check_far(scores, root, projective)
            compared += 1
        else:
            with pytest.raises(arb.NoTreeError):
                _ = arb.TreeDistribution(scores, root=root, projective=projective).marginals()
    assert compared


def test_reported_scores_far_apart():
    masked = np.full((6, 6), -1e30)
    masked[0, 2], masked[1, 3], masked[1, 5], masked[2, 4], masked[4, 1] = -1, 2, 0, 5, -2
    for root, projective in PAIRS:
        check_far(masked, root, projective)
    one = np.array([[0, -1e308, -1e308], [0, 0, 1e308], [0, 1e308, 0]])
    for scores in (one, -one):
        for root, projective in PAIRS:
            check_far(scores, root, projective)


@FAMILIES
def test_a_batch_with_scores_far_apart(root, projective):
    """Some sentences go another way; their places and lengths stay what they are."""
    rng = np.random.default_rng(24)
    sizes = [3, 2, 4, 0, 4, 1]
    batch = batch_of(rng, sizes)
    for b in (1, 4):
        batch[b, 0] -= 1e30 * rng.integers(1, 3, 5)
    dist = arb.TreeDistribution(batch, sizes, root=root, projective=projective, threads=2)
    heads, values = dist.argmax(), rng.normal(size=batch.shape)
    found = {
        "log_partition": dist.log_partition(),
        "entropy": dist.entropy(),
        "log_prob": dist.log_prob(heads),
        "expectation": dist.expectation(values),
        "covariance": dist.covariance(values),
    }
    again = pickle.loads(pickle.dumps(dist))
    for b, n in enumerate(sizes):
        inside = np.s_[b, : n + 1, : n + 1]
        one = arb.TreeDistribution(batch[inside], root=root, projective=projective)
        np.testing.assert_allclose(
            dist.marginals()[inside], one.marginals(), rtol=1e-12, atol=1e-15
        )
        assert found["log_partition"][b] == one.log_partition()
        assert found["entropy"][b] == pytest.approx(one.entropy(), abs=1e-12)
        assert found["log_prob"][b] == one.log_prob(heads[b, : n + 1])
        assert found["expectation"][b] == pytest.approx(one.expectation(values[inside]))
        assert found["covariance"][b] == pytest.approx(one.covariance(values[inside]), abs=1e-12)
    np.testing.assert_array_equal(again.sample(3, 0), dist.sample(3, 0))
    other = arb.TreeDistribution(np.zeros(batch.shape), sizes, root=root, projective=projective)
    assert np.isfinite(dist.kl(other)).all()
    with pytest.raises(arb.ScoresError, match="sentence 1: the other's scores are too far apart"):
        other.kl(dist)


@needs_jit
@FAMILIES
def test_many_words_far_apart(root, projective):
    """As many words are there as usual, and each tree needs five masked edges."""
    rng = np.random.default_rng(25)
    n, parts = 30, 6
    scores = np.full((n + 1, n + 1), -1e30)
    for words in np.array_split(np.arange(1, n + 1), parts):
        scores[np.ix_(words, words)] = rng.normal(size=(len(words), len(words)))
    scores[0] = -1e30 - 1e16 * rng.integers(0, 3, n + 1)
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    np.testing.assert_allclose(dist.marginals()[:, 1:].sum(axis=0), 1, rtol=1e-9)
    # The same with a mask that floats take: what is lost by it is less than 1e-9.
    mild = np.where(scores < -1e29, -1e4 + (scores + 1e30) / 1e12, scores)
    expected = arb.TreeDistribution(mild, root=root, projective=projective)
    np.testing.assert_allclose(dist.marginals(), expected.marginals(), atol=1e-8)
    assert dist.entropy() == pytest.approx(expected.entropy(), abs=1e-7)


@FAMILIES
@pytest.mark.parametrize("kind", ["normal-32", "two-sizes", "absent"])
def test_the_best_trees(kind, root, projective):
    options = {"root": root, "projective": projective}
    for scores in graphs(kind, COUNT, root, projective):
        dist = arb.TreeDistribution(scores, **options)
        assert dist.argmax().tolist() == arb.decode(scores, **options).tolist()
        for one, other in zip(dist.kbest(7), arb.kbest(scores, 7, **options), strict=True):
            np.testing.assert_array_equal(one, other)


@exact_scalars
@FAMILIES
@pytest.mark.parametrize("kind", ["normal-64", "absent", "mask-1e9-64", "cycles-50"])
def test_two_distributions(kind, root, projective):
    rng = np.random.default_rng(2)
    apart = 0
    for scores in graphs(kind, COUNT, root, projective):
        best = arb.decode(scores, root=root, projective=projective)
        if deficit(scores, best) > 1e4:
            continue
        # Probabilities are differences of weights, and those may be large.
        coarse = 1e-10 + 1e-15 * arb.tree_weight(np.abs(scores), best)
        close = scores + 1e-2 * rng.normal(size=scores.shape)
        far = rng.normal(size=scores.shape)
        fewer = far.copy()
        fewer[rng.random(scores.shape) < 0.2] = -np.inf
        one = arb.TreeDistribution(scores, root=root, projective=projective)
        every = EveryTree(scores, root, projective)
        for others in (close, far, fewer):
            if not len(tree_weights(others, root == "single", projective)[0]):
                continue
            other = arb.TreeDistribution(others, root=root, projective=projective)
            expected = every.cross_entropy(EveryTree(others, root, projective))
            apart += expected == math.inf
            assert one.cross_entropy(other) == pytest.approx(expected, rel=1e-9, abs=coarse)
            divergence = expected - every.entropy
            assert one.kl(other) == pytest.approx(divergence, rel=1e-9, abs=coarse)
        assert one.kl(one) == pytest.approx(0, abs=coarse)
        assert one.cross_entropy(one) == pytest.approx(one.entropy(), rel=1e-9, abs=coarse)
    assert apart


@pytest.mark.parametrize("others", PAIRS)
@pytest.mark.parametrize("own", PAIRS)
def test_any_two_kinds_of_trees(own, others):
    """Each kind against each: infinite where one tree of the first is none of the second."""
    rng = np.random.default_rng(17)
    found = []
    for _ in range(COUNT * 4):
        n = int(rng.choice([1, 2, 3, 4], p=[0.1, 0.2, 0.4, 0.3]))
        one, two = rng.normal(size=(2, n + 1, n + 1))
        one[rng.random(one.shape) < rng.choice([0, 0.3, 0.6])] = -np.inf
        two[rng.random(two.shape) < rng.choice([0, 0.1])] = -np.inf
        found.append(laws.sums.divergence(one, two, own, others))
    assert any(value is not None and value < np.inf for value in found)
    assert np.inf in found


def test_a_tree_among_very_many_is_not_overlooked():
    """One of 2^38 + 1 trees is ruled out: no sum of floats tells."""
    n = 40
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0, 1] = scores[1, n] = 0
    for word in range(2, n):  # each below the last word, or the one before it
        scores[word - 1, word] = scores[n, word] = 0
    fewer = scores.copy()
    scores[n - 1, n] = 0  # only if each word is below the one before it
    assert count_trees(np.isfinite(scores), Kind(single=True, projective=False)) == 2**38 + 1
    dist = arb.TreeDistribution(scores)
    assert dist.kl(arb.TreeDistribution(fewer)) == np.inf
    assert arb.TreeDistribution(fewer).kl(dist) == pytest.approx(0, abs=1e-9)
    assert dist.kl(arb.TreeDistribution(scores, root="multi")) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_trees_are_counted_as_whole_numbers(single, projective):
    rng = np.random.default_rng(18)
    kind = Kind(single, projective)
    for _ in range(COUNT):
        n = int(rng.integers(1, 6))
        present = rng.random((n + 1, n + 1)) < rng.choice([0.3, 0.6, 1])
        scores = np.where(present, 0.0, -np.inf)
        assert count_trees(present, kind) == len(tree_weights(scores, single, projective)[0])
    for n in (1, 2, 30):
        full = np.ones((n + 1, n + 1), np.bool_)
        known = {
            (True, False): n ** (n - 1),
            (False, False): (n + 1) ** (n - 1),
            (True, True): math.comb(3 * n - 2, n - 1) // n,
            (False, True): math.comb(3 * n, n) // (2 * n + 1),
        }
        assert count_trees(full, kind) == known[kind]


def test_edges_that_are_as_good_as_absent_are_not_ruled_out():
    """A mask of -1e9 here goes with one of -inf there, unless trees need it."""
    scores = np.zeros((4, 4))
    masked, absent = scores.copy(), scores.copy()
    masked[1, 2], absent[1, 2] = -1e9, -np.inf
    one, other = arb.TreeDistribution(masked), arb.TreeDistribution(absent)
    assert one.kl(other) == pytest.approx(0, abs=1e-12)
    assert other.kl(one) == pytest.approx(0, abs=1e-12)
    masked[1, 2] = -700
    assert arb.TreeDistribution(masked).kl(other) == np.inf
    masked[:, 2] = [-1e9, -1e9, 0, -np.inf]  # all trees need one
    assert arb.TreeDistribution(masked).kl(other) == np.inf


def test_sentences_of_other_lengths_are_not_compared():
    scores = np.zeros((2, 4, 4))
    one = arb.TreeDistribution(scores, [3, 2])
    with pytest.raises(arb.ScoresError, match="the same lengths"):
        one.kl(arb.TreeDistribution(scores, [2, 3]))
    with pytest.raises(arb.ScoresError, match="the same lengths"):
        one.cross_entropy(arb.TreeDistribution(scores))
    every = arb.TreeDistribution(scores, [3, 3])
    assert every.kl(arb.TreeDistribution(scores)).tolist() == [0, 0]
    larger = arb.TreeDistribution(np.zeros((2, 6, 6)), [3, 2])  # the same sentences, padded
    assert one.kl(larger) == pytest.approx(0, abs=1e-12)


@FAMILIES
def test_marginals_are_the_derivatives_of_the_log_partition(root, projective):
    rng = np.random.default_rng(3)
    n, step = 7, 1e-4
    scores = rng.normal(size=(n + 1, n + 1))
    marginals = arb.TreeDistribution(scores, root=root, projective=projective).marginals()
    for h in range(n + 1):
        for d in range(n + 1):
            moved = np.array([scores, scores])
            moved[:, h, d] += [step, -step]
            high, low = arb.TreeDistribution(
                moved, root=root, projective=projective
            ).log_partition()
            assert marginals[h, d] == pytest.approx((high - low) / (2 * step), abs=1e-7)


@FAMILIES
def test_a_single_value_an_edge(root, projective):
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(3, 5, 5))
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    f, g = (np.stack([edge_values(rng, 5, 2) for _ in range(3)]) for _ in range(2))
    assert dist.expectation(f).shape == (3, 2)
    assert dist.expectation(f[..., 0]).shape == (3,)
    np.testing.assert_allclose(dist.expectation(f[..., 0]), dist.expectation(f)[:, 0])
    for moment in (dist.second_moment, dist.covariance):
        assert moment(f).shape == (3, 2, 2)
        np.testing.assert_allclose(moment(f), moment(f, f), rtol=1e-12)
        np.testing.assert_allclose(moment(f, g), moment(g, f).mT, rtol=1e-9, atol=1e-12)
        of_one = moment(f[..., 0], g[..., 1])
        assert of_one.shape == (3,)
        np.testing.assert_allclose(of_one, moment(f, g)[:, 0, 1], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(moment(f[..., 1]), moment(f)[:, 1, 1], rtol=1e-9, atol=1e-12)
    assert dist.edge_covariance(f[..., 0]).shape == scores.shape
    with pytest.raises(arb.ScoresError, match=r"\(3, 5, 5\).*one value for each edge"):
        dist.edge_covariance(f)
    one = arb.TreeDistribution(scores[0], root=root, projective=projective)
    assert one.edge_covariance(f[0, ..., 0]).shape == (5, 5)
    assert isinstance(one.expectation(f[0, ..., 0]), float)
    assert isinstance(one.covariance(f[0, ..., 0]), float)
    np.testing.assert_allclose(one.covariance(f[0]), dist.covariance(f)[0], rtol=1e-9)


@FAMILIES
def test_the_variance_of_the_number_of_words_is_nothing(root, projective):
    scores = 3 * np.random.default_rng(5).normal(size=(31, 31))
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    assert dist.expectation(np.ones((31, 31))) == pytest.approx(30, rel=1e-12)
    assert dist.covariance(np.ones((31, 31))) == pytest.approx(0, abs=1e-9)


@FAMILIES
def test_what_is_no_tree_has_no_probability(root, projective):
    scores = np.zeros((5, 5))
    scores[0, 4] = -np.inf
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    candidates = np.array([(-1, a, b, c, d) for a in range(5) for b in range(5)
                           for c in range(5) for d in range(5)])  # fmt: skip
    trees = {tuple(heads) for heads in all_trees(4, root == "single", projective).tolist()}
    found = dist.log_prob(candidates, errors="-inf")
    for heads, log_prob in zip(candidates.tolist(), found, strict=True):
        tree = tuple(heads) in trees and heads[4] != 0
        assert log_prob == (pytest.approx(-dist.log_count()) if tree else -np.inf)
        assert dist.log_prob(heads, errors="-inf") == log_prob
        if tree:
            assert dist.log_prob(heads) == log_prob
        else:
            with pytest.raises(arb.TreeError):
                dist.log_prob(heads)


def test_known_numbers():
    for n in (1, 2, 5, 30, 150):
        scores = np.zeros((n + 1, n + 1))
        for root, projective, count in [
            ("single", False, n ** (n - 1)),
            ("multi", False, (n + 1) ** (n - 1)),
            ("single", True, math.comb(3 * n - 2, n - 1) // n),
            ("multi", True, math.comb(3 * n, n) // (2 * n + 1)),
        ]:
            dist = arb.TreeDistribution(scores, root=root, projective=projective)
            assert dist.log_count() == pytest.approx(math.log(count), rel=1e-13, abs=1e-13)
            assert dist.log_partition() == dist.log_count()
            assert dist.entropy() == pytest.approx(math.log(count), rel=1e-11, abs=1e-13)


# Larger graphs.


@needs_jit
@pytest.mark.parametrize("root", ROOTS)
def test_matrix_tree_of_the_tests_against_every_tree(root):
    rng = np.random.default_rng(6)
    for kind in ("normal-64", "absent", "cycles-10", "nested-cycles-10"):
        for scores in graphs(kind, 10, root, projective=False):
            every, precise = EveryTree(scores, root, False), MatrixTree(scores, root)
            assert precise.log_partition == pytest.approx(every.log_partition, rel=1e-14)
            assert precise.entropy == pytest.approx(every.entropy, rel=1e-12, abs=1e-14)
            np.testing.assert_allclose(precise.marginals, every.marginals, rtol=1e-9, atol=1e-15)
    scores = rng.normal(size=(41, 41))
    one, other = MatrixTree(scores, root, bits=200), MatrixTree(scores, root, bits=800)
    assert one.log_partition == other.log_partition
    np.testing.assert_array_equal(one.marginals, other.marginals)


def check_precisely(scores, root, bits):
    precise = MatrixTree(scores, root, bits)
    dist = arb.TreeDistribution(scores, root=root)
    assert dist.log_partition() == pytest.approx(precise.log_partition, rel=1e-13)
    np.testing.assert_allclose(dist.marginals(), precise.marginals, rtol=1e-9, atol=1e-12)
    assert dist.entropy() == pytest.approx(precise.entropy, rel=1e-9, abs=1e-10)


@needs_jit
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(
    ("kind", "n", "bits"),
    [
        ("normal-64", 30, 200),
        ("scaled-30", 30, 1000),
        ("far-columns", 30, 200),
        ("cycles-50", 40, 400),
        ("cycles-1000", 25, 5000),
        ("nested-cycles-10", 30, 1500),
        ("nested-cycles-50", 15, 3000),
        ("nested-cycles-200", 10, 9000),
    ],
)
def test_thirty_words_in_high_precision(kind, n, bits, root):
    check_precisely(KINDS[kind](np.random.default_rng(n), n), root, bits)


@pytest.mark.long
@needs_jit
@pytest.mark.parametrize(("root", "n", "spread"), [("single", 200, 3), ("multi", 140, 1)])
def test_many_words_in_high_precision(root, n, spread):
    scores = spread * np.random.default_rng(n).normal(size=(n + 1, n + 1))
    check_precisely(scores, root, bits=220)


def precise_projective(scores, root):
    """The log-partition of projective trees by Eisner's recursion over logs of long doubles."""

    def plus(values):
        return np.logaddexp.reduce(np.array(values, np.longdouble))

    edges = [[np.longdouble(x) for x in row] for row in scores]
    return eisner(edges, root == "single", plus, lambda one, other: one + other)


@needs_jit
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(
    "kind", thinned(["normal-64", "scaled-30", "far-columns", "cycles-200", "sparse"], 3)
)
def test_sixty_projective_words_in_high_precision(kind, root):
    rng = np.random.default_rng([60, *kind.encode()])
    n = 60
    if kind == "sparse":
        scores = rng.normal(size=(n + 1, n + 1))
        absent = rng.random(scores.shape) < 0.8
        absent[np.arange(n), np.arange(1, n + 1)] = False
        scores[absent] = -np.inf
    else:
        scores = KINDS[kind](rng, n)
    dist = arb.TreeDistribution(scores, root=root, projective=True)
    expected = precise_projective(scores, root)
    assert dist.log_partition() == pytest.approx(float(expected), rel=1e-13)
    words = rng.choice(np.arange(1, n + 1), 3, replace=False)
    for d in words:
        h = int(dist.marginals()[:, d].argmax())
        having = precise_projective(arb.require(scores, [(h, d)]), root)
        assert math.log(dist.marginals()[h, d]) == pytest.approx(float(having - expected), abs=1e-8)


@pytest.mark.long
@needs_jit
@pytest.mark.parametrize(("root", "n"), [("single", 200), ("multi", 100)])
def test_many_projective_words_in_high_precision(root, n):
    scores = 2 * np.random.default_rng(n).normal(size=(n + 1, n + 1))
    dist = arb.TreeDistribution(scores, root=root, projective=True)
    assert dist.log_partition() == pytest.approx(float(precise_projective(scores, root)), rel=1e-13)
    assert dist.marginals()[:, 1:].sum(axis=0) == pytest.approx(np.ones(n), abs=1e-10)
    value = -np.where(dist.marginals() > 0, scores, 0)
    expected = dist.log_partition() + dist.expectation(value)
    assert dist.entropy() == pytest.approx(expected, rel=1e-10)


# Sums over so many words that they are too small for floats, though no edge is.


def by_logarithms(scores, single, projective):
    """The log-sum and the marginals by logarithms alone, of the weights that kernels are given."""
    n = len(scores) - 1
    weights, logs, *_ = as_weights(scores[np.newaxis], np.empty(0, np.int64), single)
    marginals = np.zeros(logs[0].shape)
    if not projective:
        log_sum, entropy = eliminate_in_logs(logs[0], n, single, marginals)
        return weights[0], logs[0], log_sum, entropy, marginals
    sums, slopes = new_inside(n + 1, logs[0]), new_inside(n + 1, logs[0])
    log_sum = inside_in_logs(logs[0], n, single, sums, no_gaps(n + 1))
    which = logs[0], n, single, sums, slopes, marginals, no_gaps(n + 1)
    return weights[0], logs[0], log_sum, outside_in_logs(*which), marginals


def text_like(rng, n):
    """Words that are sure of a head close by, but for a few."""
    scores = rng.normal(0, 2, (n + 1, n + 1))
    for d in range(1, n + 1):
        scores[min(max(0, d + rng.integers(-3, 4)), n), d] += rng.choice([0, 6])
    return scores


def pairs(rng, n):
    """Each two words are a cycle, from which every way out is bad."""
    scores = rng.normal(size=(n + 1, n + 1)) - 20
    words = np.arange(1, n)
    scores[words, words + 1] += 20 * (words % 2)
    scores[words + 1, words] += 20 * (words % 2)
    return scores


def half_absent(rng, n):
    scores = text_like(rng, n)
    absent = rng.random(scores.shape) < 0.5
    absent[np.arange(n), np.arange(1, n + 1)] = False
    return np.where(absent, -np.inf, scores)


def unlikely_parts(rng, n):
    """Words in the middle, all of whose edges to each other are close to underflow."""
    scores = text_like(rng, n)
    middle = slice(n // 3, n // 2)
    scores[middle, middle] -= rng.uniform(100, 300)
    return scores


@needs_jit
@needs_parts
@FAMILIES
@pytest.mark.parametrize(
    "make", [rarely(text_like), pairs, *map(rarely, (half_absent, unlikely_parts))]
)
def test_very_many_words_as_by_logarithms(make, root, projective):
    scores = make(np.random.default_rng(300), 300)
    single = root == "single"
    _, _, log_sum, entropy, marginals = by_logarithms(scores, single, projective)
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    assert dist.marginals() == pytest.approx(marginals, abs=1e-11)
    assert dist.entropy() == pytest.approx(entropy, rel=1e-10)
    assert dist._log_sums[0] == pytest.approx(log_sum + scale_of(scores, single), rel=1e-12)


def scale_of(scores, single):
    return as_weights(scores[np.newaxis], np.empty(0, np.int64), single).scales[0]


@needs_jit
@needs_parts
@pytest.mark.long
@pytest.mark.parametrize("single", [True, False])
def test_floats_serve_very_many_words(single):
    """That is, they are not given up for logarithms, which take many times as long."""
    scores = pairs(np.random.default_rng(2), 600)
    weights, _, log_sum, _, marginals = by_logarithms(scores, single, False)
    assert log_sum < math.log(SMALLEST)
    own = np.zeros_like(weights)
    assert eliminate(weights, 600, single, own) == pytest.approx(log_sum)
    assert own == pytest.approx(marginals, abs=1e-11)
    scores = text_like(np.random.default_rng(2), 600)
    weights, _, log_sum, _, marginals = by_logarithms(scores, single, True)
    sums, slopes = new_inside(601, weights), new_inside(601, weights)
    assert inside(weights, 600, single, sums, False)[0] < SMALLEST
    total, log_scale = inside(weights, 600, single, sums, True)
    assert math.log(total) - log_scale == pytest.approx(log_sum, rel=1e-12)
    own = np.zeros_like(weights)
    outside(weights, 600, single, sums, total, slopes, own)
    assert own == pytest.approx(marginals, rel=1e-9, abs=1e-200)


@needs_jit
@pytest.mark.parametrize("projective", [False, True])
def test_the_covariance_of_very_many_words(projective):
    """Every tree has as many edges as words: that number hardly varies, nor with any other."""
    scores = text_like(np.random.default_rng(5), 300)
    dist = arb.TreeDistribution(scores, projective=projective)
    assert dist.covariance(np.ones(scores.shape), scores) == pytest.approx(0, abs=1e-8)
    assert dist.covariance(scores) > 0


# Batches, shapes, types.


def batch_of(rng, sizes):
    """Sentences of several lengths; the padding is NaN."""
    size = max(sizes) + 1
    batch = np.full((len(sizes), size, size), np.nan)
    for matrix, n in zip(batch, sizes, strict=True):
        matrix[: n + 1, : n + 1] = 2 * rng.normal(size=(n + 1, n + 1))
    return batch


@FAMILIES
@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_equals_its_sentences(root, projective, threads):
    rng = np.random.default_rng(7)
    sizes = [*rng.integers(1, 12, 25 if JIT else 6).tolist(), 0, 1]
    batch = batch_of(rng, sizes)
    options = {"root": root, "projective": projective}
    values = rng.normal(size=(*batch.shape, 2))
    for scores in (batch, np.ascontiguousarray(batch.mT).mT, batch.astype(np.float32)):
        dist = arb.TreeDistribution(scores, sizes, threads=threads, **options)
        heads, mbr = dist.argmax(), dist.mbr()
        np.testing.assert_array_equal(heads, arb.decode(scores, sizes, **options))
        together = said_of(dist, heads, values)
        for b, n in enumerate(sizes):
            one = arb.TreeDistribution(scores[b, : n + 1, : n + 1], **options)
            alone = said_of(one, heads[b, : n + 1], values[b, : n + 1, : n + 1])
            for name, result in alone.items():
                found = without_padding(name, together[name][b], n)
                np.testing.assert_allclose(found, result, rtol=1e-12, atol=1e-12, err_msg=name)
            assert mbr[b, : n + 1].tolist() == one.mbr().tolist()
            assert (mbr[b, n + 1 :] == -1).all()


@FAMILIES
def test_leading_dimensions(root, projective):
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(2, 3, 5, 5))
    lengths = np.array([[4, 3, 2], [1, 0, 4]])
    dist = arb.TreeDistribution(scores, lengths, root=root, projective=projective)
    for name in ("log_partition", "entropy", "log_count"):
        assert getattr(dist, name)().shape == (2, 3)
        assert getattr(dist, name)().dtype == np.float64
    assert dist.marginals().shape == (2, 3, 5, 5)
    assert dist.argmax().shape == dist.mbr().shape == (2, 3, 5)
    assert dist.sample(6, 0).shape == (2, 3, 6, 5)
    assert dist.sample(6, 0, replace=False).shape == (2, 3, 6, 5)
    assert dist.log_prob(dist.argmax()).shape == (2, 3)
    assert dist.log_prob(dist.sample(6, 0)).shape == (2, 3, 6)
    one = arb.TreeDistribution(scores[0, 1, :4, :4], root=root, projective=projective)
    assert dist.entropy()[0, 1] == pytest.approx(one.entropy(), rel=1e-12)
    np.testing.assert_allclose(dist.marginals()[0, 1, :4, :4], one.marginals(), rtol=1e-12)
    for name in ("log_partition", "entropy", "log_count"):
        assert getattr(dist, name)()[1, 1] == 0


@FAMILIES
def test_no_sentences_and_no_words(root, projective):
    options = {"root": root, "projective": projective}
    none = arb.TreeDistribution(np.empty((0, 3, 3)), **options)
    assert none.log_partition().shape == none.entropy().shape == (0,)
    assert none.marginals().shape == (0, 3, 3)
    assert none.sample(2, 0).shape == (0, 2, 3)
    assert none.argmax().shape == none.mbr().shape == (0, 3)
    assert none.log_prob(np.empty((0, 3), np.int64)).shape == (0,)
    assert none.log_prob(np.empty((0, 6, 3), np.int64)).shape == (0, 6)
    values, more = np.empty((0, 3, 3)), np.empty((0, 3, 3, 4))
    assert none.expectation(values).shape == (0,)
    assert none.expectation(more).shape == (0, 4)
    for moment in (none.covariance, none.second_moment):
        assert moment(values).shape == (0,)
        assert moment(more).shape == (0, 4, 4)
        assert moment(values, more).shape == (0, 4)
    assert none.cross_entropy(none).shape == none.kl(none).shape == (0,)
    empty = arb.TreeDistribution([[0.0]], **options)
    assert (empty.log_partition(), empty.entropy(), empty.log_count()) == (0, 0, 0)
    assert empty.marginals().tolist() == [[0]]
    assert empty.argmax().tolist() == empty.mbr().tolist() == [-1]
    assert empty.log_prob([-1]) == 0
    assert empty.sample(2, 0).tolist() == [[-1], [-1]]
    assert empty.sample(2, 0, replace=False).tolist() == [[-1]]
    assert empty.expectation([[3.0]]) == 0
    word = arb.TreeDistribution([[0, 7], [0, 0]], **options)
    assert (word.log_partition(), word.entropy(), word.log_count()) == (7, 0, 0)
    assert word.marginals().tolist() == [[0, 1], [0, 0]]
    assert word.sample(2, 0).tolist() == [[-1, 0], [-1, 0]]


@FAMILIES
def test_what_the_caller_writes_later_changes_nothing(root, projective):
    rng = np.random.default_rng(19)
    options = {"root": root, "projective": projective}
    for transposed in (False, True):
        scores = rng.normal(size=(2, 5, 5))
        laid_out = scores.mT if transposed else scores
        lengths = np.array([4, 3])
        expected = arb.TreeDistribution(laid_out.copy(), lengths.copy(), **options)
        dist = arb.TreeDistribution(laid_out, lengths, **options)
        before = dist.log_partition()
        scores[:] = np.nan
        lengths[:] = 1
        assert before.tolist() == expected.log_partition().tolist()
        np.testing.assert_array_equal(dist.argmax(), expected.argmax())
        np.testing.assert_allclose(dist.marginals(), expected.marginals(), rtol=1e-12)
        np.testing.assert_array_equal(dist.sample(3, 1), expected.sample(3, 1))


@pytest.mark.parametrize("kind", ["array", "tensor", "list"])
def test_a_distribution_can_be_pickled(kind):
    scores = np.random.default_rng(20).normal(size=(2, 4, 4))
    if kind == "tensor":
        torch = pytest.importorskip("torch", reason="needs torch")
        scores = torch.tensor(scores)
    elif kind == "list":
        scores = scores.tolist()
    dist = arb.TreeDistribution(scores, [3, 2], root="multi", projective=True)
    for known in (False, True):
        if known:
            assert dist.entropy().shape == (2,)
        again = pickle.loads(pickle.dumps(dist))
        for name in ("log_partition", "entropy", "marginals", "argmax", "log_count"):
            one, other = getattr(dist, name)(), getattr(again, name)()
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(dist.sample(4, 0), again.sample(4, 0))


def test_gradients_are_not_lost_without_a_word():
    torch = pytest.importorskip("torch", reason="needs torch")
    scores = torch.zeros(3, 3, requires_grad=True)
    for given_ in (scores, scores * 2, [scores[None], scores[None]]):
        with pytest.raises(arb.ScoresError, match=r"arborescence\.torch.*scores\.detach\(\)"):
            arb.TreeDistribution(given_)
    assert arb.TreeDistribution(scores.detach()).log_partition() == pytest.approx(math.log(2))
    with torch.no_grad():
        assert arb.TreeDistribution(scores).log_partition() == pytest.approx(math.log(2))


@FAMILIES
def test_gold_trees_as_people_have_them(root, projective):
    scores = np.random.default_rng(21).normal(size=(3, 5, 5))
    dist = arb.TreeDistribution(scores, [4, 2, 0], root=root, projective=projective)
    expected = dist.log_prob([[-1, 2, 0, 2, 3], [-1, 0, 1, -1, -1], [-1] * 5])
    assert np.isfinite(expected).all()
    for at_root, padding in itertools.product([-1, 0, 3, -100, 9], [-1, 0, -100, 2, 7]):
        gold = np.full((3, 5), padding)
        gold[:, 0] = at_root
        gold[0, 1:], gold[1, 1:3] = [2, 0, 2, 3], [0, 1]
        before = gold.copy()
        np.testing.assert_array_equal(dist.log_prob(gold), expected)
        np.testing.assert_array_equal(dist.log_prob(gold[:, np.newaxis])[:, 0], expected)
        np.testing.assert_array_equal(gold, before)


def test_a_word_without_a_head_is_no_padding():
    dist = arb.TreeDistribution(np.zeros((3, 3)))
    for padding in (-1, -100):
        with pytest.raises(arb.TreeError, match=f"head of word 2 is {padding}.*give lengths"):
            dist.log_prob([-1, 0, padding])
        assert dist.log_prob([-1, 0, padding], errors="-inf") == -np.inf


@FAMILIES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_strides(dtype, root, projective):
    rng = np.random.default_rng(9)
    scores = rng.normal(size=(4, 6, 6)).astype(dtype)
    scores[:, range(6), range(6)] = np.nan
    scores[:, :, 0] = np.inf
    options = {"root": root, "projective": projective}
    expected = arb.TreeDistribution(scores, **options)
    drawn = expected.sample(20, 1)
    for layout in layouts(scores):
        before = layout.copy()
        dist = arb.TreeDistribution(layout, **options)
        np.testing.assert_allclose(dist.log_partition(), expected.log_partition(), rtol=1e-13)
        np.testing.assert_allclose(dist.marginals(), expected.marginals(), rtol=1e-11, atol=1e-14)
        np.testing.assert_array_equal(dist.sample(20, 1), drawn)
        np.testing.assert_array_equal(layout, before)


@pytest.mark.parametrize("dtype", [np.float16, np.bool_, np.int8, np.uint8, np.int64, np.uint64])
def test_any_type(dtype):
    scores = np.random.default_rng(3).integers(0, 2, (5, 5)).astype(dtype)
    expected = arb.TreeDistribution(scores.astype(np.float64))
    assert arb.TreeDistribution(scores).entropy() == pytest.approx(expected.entropy(), rel=1e-13)
    assert arb.TreeDistribution(scores.tolist()).log_partition() == expected.log_partition()


# What has no distribution.


def questions(scores, *lengths, **options):
    """What can be asked of a distribution; each has an answer where there are trees."""
    dist = arb.TreeDistribution(scores, *lengths, **options)
    size = np.asarray(scores).shape
    yield lambda: dist.log_partition()
    yield lambda: dist.marginals()
    yield lambda: arb.TreeDistribution(scores, *lengths, **options).entropy()
    yield lambda: dist.argmax()
    yield lambda: dist.kbest(2)
    yield lambda: dist.sample(1, 0)
    yield lambda: dist.sample(1, 0, replace=False)
    yield lambda: dist.log_prob(np.full(size[:-1], -1), errors="-inf")
    yield lambda: dist.expectation(np.zeros(size))
    yield lambda: dist.covariance(np.zeros(size))
    yield lambda: dist.cross_entropy(dist)
    yield lambda: dist.mbr()


@FAMILIES
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_scores_are_named(value, root, projective):
    options = {"root": root, "projective": projective}
    scores = np.zeros((3, 5, 5))
    scores[1, 3, 2] = value
    place = rf"sentence 1: scores\[1, 3, 2\].*3 -> 2.*{value}"
    for question in questions(scores, **options):
        with pytest.raises(arb.ScoresError, match=place):
            question()
    for question in questions(scores[1], **options):
        with pytest.raises(arb.ScoresError, match=r"^scores\[3, 2\]"):
            question()
    for question in questions(scores, [4, 1, 4], **options):
        question()


@FAMILIES
def test_no_tree_says_why(root, projective):
    options = {"root": root, "projective": projective}
    scores = np.zeros((3, 5, 5))
    scores[1, :, 3] = -np.inf
    unreachable = np.full((5, 5), -np.inf)
    unreachable[0, 1] = unreachable[1, 2] = unreachable[3, 4] = unreachable[4, 3] = 0
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0, 1:] = 0
    crossing = np.full((5, 5), -np.inf)
    for d, h in enumerate([3, 0, 2, 1], start=1):
        crossing[h, d] = 0
    faults = [
        (scores, "sentence 1: no tree exists: no edge enters word 3"),
        (unreachable, "the root does not reach words 3, 4"),
    ]
    if root == "single":
        faults.append((two_roots, r"single root.*words 1, 2"))
    if projective:
        faults.append((crossing, "projective"))
    for graph, message in faults:
        dist = arb.TreeDistribution(graph, **options)
        for question in (*questions(graph, **options), lambda dist=dist: dist.log_count()):
            with pytest.raises(arb.NoTreeError, match=message):
                question()
    if root == "multi":
        assert arb.TreeDistribution(two_roots, **options).log_count() == 0
    if not projective:
        assert arb.TreeDistribution(crossing, **options).entropy() == pytest.approx(0, abs=1e-12)


def test_unusable_input():
    with pytest.raises(arb.ScoresError):
        arb.TreeDistribution(np.zeros((3, 4)))
    with pytest.raises(arb.ScoresError, match=r"lengths\[1\] is 3"):
        arb.TreeDistribution(np.zeros((2, 3, 3)), lengths=[1, 3])
    with pytest.raises(ValueError, match="'single' or 'multi'"):
        arb.TreeDistribution(np.zeros((2, 2)), root="one")
    with pytest.raises(ValueError, match="threads"):
        arb.TreeDistribution(np.zeros((2, 2, 2)), threads=0)
    dist = arb.TreeDistribution(np.zeros((3, 3)))
    for k in (0, -1):
        with pytest.raises(ValueError, match="k must be at least 1"):
            dist.sample(k, 0)
    with pytest.raises(arb.TreeError, match="shape"):
        dist.log_prob([-1, 0])
    with pytest.raises(arb.ScoresError, match="shape"):
        dist.expectation(np.zeros((4, 4)))
    with pytest.raises(arb.ScoresError, match="finite"):
        dist.expectation(np.full((3, 3), np.nan))
    with pytest.raises(arb.ScoresError, match="shape"):
        dist.kl(arb.TreeDistribution(np.zeros((4, 4))))
    with pytest.raises(arb.OptionError, match="do not fit into memory"):
        dist.sample(2**62, 0)


# Properties.

small_graphs = squares(st.floats(-20, 20), 6, 4)
families = st.tuples(st.sampled_from(ROOTS), st.booleans())
examples = settings(deadline=None, max_examples=100 if JIT else 10)


@examples
@given(small_graphs, families)
def test_marginals_are_probabilities(rows, family):
    root, projective = family
    dist = arb.TreeDistribution(rows, root=root, projective=projective)
    marginals = dist.marginals()
    n = len(rows) - 1
    assert (marginals >= 0).all()
    assert (marginals <= 1 + 1e-12).all()
    assert (marginals[:, 0] == 0).all()
    assert (marginals.diagonal() == 0).all()
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), np.ones(n), atol=1e-12)
    if root == "single":
        assert marginals[0].sum() == pytest.approx(1, abs=1e-12)
    assert -1e-12 <= dist.entropy() <= dist.log_count() + 1e-12


@examples
@given(small_graphs, families, st.integers(0, 99))
def test_the_best_tree_is_the_most_probable(rows, family, seed):
    root, projective = family
    dist = arb.TreeDistribution(rows, root=root, projective=projective)
    drawn = dist.sample(5, seed)
    highest = dist.log_prob(dist.argmax())
    assert (dist.log_prob(drawn) <= highest + 1e-12).all()
    weights = arb.tree_weight(np.broadcast_to(rows, (5, len(rows), len(rows))), drawn)
    np.testing.assert_allclose(dist.log_prob(drawn), weights - dist.log_partition(), atol=1e-9)


@examples
@given(small_graphs, families, st.floats(-1e3, 1e3), st.integers(1, 6))
def test_a_constant_on_all_edges_into_a_word_is_added_to_the_log_partition(
    rows, family, constant, word
):
    root, projective = family
    shifted = np.array(rows)
    shifted[:, min(word, len(rows) - 1)] += constant
    one = arb.TreeDistribution(rows, root=root, projective=projective)
    other = arb.TreeDistribution(shifted, root=root, projective=projective)
    assert other.log_partition() == pytest.approx(one.log_partition() + constant, abs=1e-10)
    np.testing.assert_allclose(other.marginals(), one.marginals(), atol=1e-10)
    assert other.entropy() == pytest.approx(one.entropy(), abs=1e-9)
    assert other.log_count() == one.log_count()


@examples
@given(small_graphs, families, st.integers(0, 2**32 - 1))
def test_divergences(rows, family, seed):
    root, projective = family
    one = arb.TreeDistribution(rows, root=root, projective=projective)
    others = np.array(rows) + np.random.default_rng(seed).normal(size=(len(rows), len(rows)))
    other = arb.TreeDistribution(others, root=root, projective=projective)
    assert one.kl(one) == pytest.approx(0, abs=1e-11)
    assert one.kl(other) >= -1e-11
    crossed = one.entropy() + one.kl(other)
    assert one.cross_entropy(other) == pytest.approx(crossed, rel=1e-9, abs=1e-10)


# Samples, by Pearson's chi-squared test. Seeds are fixed, and so is the level, so that a test of
# a right sampler passes always or (one time in ten thousand, when it is written) never.

LEVEL = 1e-4
DRAWS = 20_000 if JIT else 500
# How many sentences are drawn from, one by one, which takes longer.
SENTENCES = 2000 if JIT else 100


def chi_squared(counts, probs):
    """The probability of counts as unlikely as these; rare outcomes are taken together."""
    expected = probs * counts.sum()
    if counts[expected < 1e-6].any():
        return 0.0
    order = np.argsort(expected)
    # Each group is expected five times or more, but for the last of the rare ones.
    rare = expected[order] < 5
    groups = np.where(rare, expected[order].cumsum() // 5, 0).astype(np.int64)
    groups[~rare] = groups.max() + 1 + np.arange(np.count_nonzero(~rare))
    counts = np.bincount(groups, counts[order])
    expected = np.bincount(groups, expected[order])
    counts, expected = counts[expected > 0], expected[expected > 0]
    if len(counts) > 1 and expected[0] < 5:
        counts = np.append(counts[2:], counts[:2].sum())
        expected = np.append(expected[2:], expected[:2].sum())
    if len(counts) == 1:
        return 1.0
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = mpmath.mpf(len(counts) - 1)
    return float(mpmath.gammainc(freedom / 2, float(statistic) / 2, regularized=True))


def test_chi_squared():
    # From tables: 3.841 is the 95 % point of one degree of freedom, 18.307 of ten.
    half = np.array([0.5, 0.5])
    shift = math.sqrt(3.841 * 1e4) / 2
    assert chi_squared(np.array([5e3 + shift, 5e3 - shift]), half) == pytest.approx(0.05, abs=1e-4)
    counts = np.full(11, 1e3)
    counts[:2] += np.array([1, -1]) * math.sqrt(18.307e3 / 2)
    assert chi_squared(counts, np.full(11, 1 / 11)) == pytest.approx(0.05, abs=1e-4)


def positions(trees, heads):
    """Where heads (..., N) stand among trees (T, N); all of them must."""
    base = trees.shape[1] ** np.arange(trees.shape[1])
    codes = trees @ base
    order = codes.argsort()
    found = order[np.searchsorted(codes[order], heads @ base).clip(max=len(codes) - 1)]
    np.testing.assert_array_equal(trees[found], heads)
    return found


SAMPLED = {
    "normal-64": FINITE["normal-64"],
    "equal": FINITE["equal"],
    "absent": ABSENT["absent"],
    "mask-1e9-32": FINITE["mask-1e9-32"],
    "root-dominates": FINITE["root-dominates"],
    "scaled-1e6": lambda rng, n: 1e6 * FINITE["normal-64"](rng, n),
    **{name: HARD[name] for name in ("cycles-50", "cycles-1000", "nested-cycles-10")},
}


def sampled_graphs(kind, root, projective, sizes=(2, 3, 4)):
    rng = np.random.default_rng([13, *kind.encode()])
    for n in sizes:
        while True:
            scores = SAMPLED[kind](rng, n)
            if len(tree_weights(scores, root == "single", projective)[0]):
                break
        yield scores


@pytest.mark.parametrize("rng", ["three", -1, 0.5, [1, -2]])
def test_what_is_no_source_of_random_numbers(rng):
    with pytest.raises(arb.OptionError, match="rng must be a numpy"):
        arb.TreeDistribution(np.zeros((3, 3))).sample(1, rng)


@FAMILIES
@pytest.mark.parametrize("kind", SAMPLED)
def test_samples_have_their_probabilities(kind, root, projective):
    sizes = (2, 3, 4, 4, 5, 5)
    for seed, scores in enumerate(sampled_graphs(kind, root, projective, sizes)):
        every = EveryTree(scores, root, projective)
        dist = arb.TreeDistribution(scores, root=root, projective=projective)
        drawn = dist.sample(DRAWS, seed)
        assert drawn.shape == (DRAWS, len(scores))
        assert drawn.dtype == np.int64
        counts = np.bincount(positions(every.trees, drawn), minlength=len(every.trees))
        assert chi_squared(counts, every.probs) > LEVEL


@FAMILIES
@pytest.mark.parametrize("kind", ["normal-64", "cycles-50"])
def test_samples_of_a_batch_have_their_probabilities_and_are_independent(kind, root, projective):
    for seed, scores in enumerate(sampled_graphs(kind, root, projective)):
        every = EveryTree(scores, root, projective)
        many = len(every.trees)
        copies = np.broadcast_to(scores, (SENTENCES, *scores.shape))
        dist = arb.TreeDistribution(copies, root=root, projective=projective)
        first, second = positions(every.trees, dist.sample(2, seed)).T
        pairs = np.outer(every.probs, every.probs).ravel()
        for one, other in ((first, second), (first[:-1], first[1:])):
            assert chi_squared(np.bincount(one * many + other, minlength=many**2), pairs) > LEVEL


@FAMILIES
@pytest.mark.parametrize(
    "kind", thinned(["absent", "cycles-50", "nested-cycles-10", "normal-64"], 4)
)
def test_draws_without_replacement_have_their_probabilities(kind, root, projective):
    compared = 0
    for seed, scores in enumerate(sampled_graphs(kind, root, projective)):
        every = EveryTree(scores, root, projective)
        many = len(every.trees)
        if many < 2:
            continue
        compared += 1
        copies = np.broadcast_to(scores, (SENTENCES, *scores.shape))
        dist = arb.TreeDistribution(copies, root=root, projective=projective)
        first, second = positions(every.trees, dist.sample(2, seed, replace=False)).T
        assert (first != second).all()
        # What the first leaves is summed, as 1 - p would round away what is left.
        probs = np.zeros((many, many))
        for i in range(many):
            others = np.delete(np.arange(many), i)
            left = np.exp(every.log_probs[others] - every.log_probs[others].max())
            probs[i, others] = every.probs[i] * left / left.sum()
        counts = np.bincount(first * many + second, minlength=many**2)
        assert chi_squared(counts, probs.ravel()) > LEVEL
    assert compared > 1


@pytest.mark.parametrize(
    ("root", "projective", "n"),
    [("single", False, 3), ("multi", False, 2), ("single", True, 3), ("multi", True, 2)],
)
def test_the_last_draw_without_replacement(root, projective, n):
    """Which tree is left to the end, where each draw has changed what is left."""
    scores = 1.5 * np.random.default_rng(16).normal(size=(n + 1, n + 1))
    every = EveryTree(scores, root, projective)
    many = len(every.trees)
    # The probability of each set of trees to be the first that are drawn.
    of_set = np.zeros(2**many)
    of_set[0] = 1
    for drawn in range(2**many):
        others = [i for i in range(many) if not drawn >> i & 1]
        left = every.probs[others].sum()
        for i in others:
            of_set[drawn | 1 << i] += of_set[drawn] * every.probs[i] / left
    expected = np.array([of_set[2**many - 1 - (1 << i)] for i in range(many)])
    assert expected.sum() == pytest.approx(1)
    copies = np.broadcast_to(scores, (SENTENCES // 2, *scores.shape))
    dist = arb.TreeDistribution(copies, root=root, projective=projective)
    last = positions(every.trees, dist.sample(many, 1, replace=False)[:, -1])
    assert chi_squared(np.bincount(last, minlength=many), expected) > LEVEL


@FAMILIES
@pytest.mark.parametrize("kind", SAMPLED)
def test_all_trees_come_out_without_replacement(kind, root, projective):
    for seed, scores in enumerate(sampled_graphs(kind, root, projective)):
        every = EveryTree(scores, root, projective)
        many = len(every.trees)
        dist = arb.TreeDistribution(scores, root=root, projective=projective)
        # A tree of less than e^-700 is as good as absent where sums are no logarithms.
        present = every.trees if not projective else every.trees[every.log_probs > -700]
        drawn = dist.sample(many, seed, replace=False)
        assert len(np.unique(drawn, axis=0)) == len(drawn) <= many
        positions(every.trees, drawn)
        assert {tuple(tree) for tree in present} <= {tuple(tree) for tree in drawn}
        more = dist.sample(many + 5, seed, replace=False)
        assert sorted(more.tolist()) == sorted(drawn.tolist())
        few = max(len(drawn) // 2, 1)
        part = dist.sample(few, seed, replace=False)
        assert len(np.unique(part, axis=0)) == len(part) == few
        batch = arb.TreeDistribution(scores[None], root=root, projective=projective)
        [alone] = batch.sample(many + 5, seed, replace=False)
        assert sorted(alone.tolist()) == sorted(drawn.tolist())


@pytest.mark.parametrize("k", [3, 10**8, 2**62])
def test_all_trees_come_out_of_any_number_of_draws(k):
    two = np.zeros((3, 3))
    assert sorted(arb.TreeDistribution(two).sample(k, 0, replace=False).tolist()) == [
        [-1, 0, 1],
        [-1, 2, 0],
    ]
    one = np.zeros((3, 3))
    one[0, 1] = -np.inf
    drawn = arb.TreeDistribution([one, two]).sample(k, 0, replace=False)
    assert drawn.shape == (2, 2, 3)
    assert drawn[0].tolist() == [[-1, 2, 0], [-1, -1, -1]]
    assert len(np.unique(drawn[1], axis=0)) == 2
    assert (drawn[1] >= -1).all()


@needs_jit
@FAMILIES
@pytest.mark.parametrize("kind", ["normal-64", "cycles-50", "nested-cycles-10"])
def test_samples_of_many_words_have_their_marginals(kind, root, projective):
    rng = np.random.default_rng([60, *kind.encode()])
    scores = KINDS[kind](rng, 40)
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    drawn = dist.sample(2000, 5)
    assert arb.is_tree(drawn, root=root).all()
    assert not projective or arb.is_projective(drawn).all()
    of_edges = np.zeros((41, 41))
    for d in range(1, 41):
        of_edges[:, d] = np.bincount(drawn[:, d], minlength=41) / 2000
    spread = np.sqrt(dist.marginals() * (1 - dist.marginals()).clip(0) / 2000)
    assert (np.abs(of_edges - dist.marginals()) <= 5 * spread + 3 / 2000).all()
    # -log p has the entropy as its mean.
    surprise = -dist.log_prob(drawn)
    assert abs(surprise.mean() - dist.entropy()) <= 5 * surprise.std() / math.sqrt(2000) + 1e-9


@needs_jit
@FAMILIES
def test_draws_without_replacement_of_many_words(root, projective):
    many = 100 if FEW else 300
    scores = 3 * np.random.default_rng(14).normal(size=(31, 31))
    confident = scores.copy()
    confident[arb.decode(scores, root=root, projective=projective)[1:], np.arange(1, 31)] += 12
    for one in (scores, confident):
        dist = arb.TreeDistribution(one, root=root, projective=projective)
        drawn = dist.sample(many, 6, replace=False)
        assert drawn.shape == (many, 31)
        assert arb.is_tree(drawn, root=root).all()
        assert not projective or arb.is_projective(drawn).all()
        assert len(np.unique(drawn, axis=0)) == many


@FAMILIES
@pytest.mark.parametrize("replace", [True, False])
def test_the_seed_decides(root, projective, replace):
    scores = np.random.default_rng(15).normal(size=(2, 9, 9))
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    drawn = dist.sample(10, 3, replace=replace)
    for seed in (3, np.random.default_rng(3)):
        np.testing.assert_array_equal(dist.sample(10, seed, replace=replace), drawn)
    again = arb.TreeDistribution(scores, root=root, projective=projective, threads=2)
    np.testing.assert_array_equal(again.sample(10, 3, replace=replace), drawn)
    for seed in (4, 5, None):
        assert (dist.sample(10, seed, replace=replace) != drawn).any()
    rng = np.random.default_rng(3)
    first, second = (dist.sample(10, rng, replace=replace) for _ in range(2))
    np.testing.assert_array_equal(first, drawn)
    assert (second != first).any()


@pytest.mark.parametrize("far", [700, 745, 800, 1e5, 1e9, 1e30, 1e300, 8e307])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("root", "projective", "many"),
    [("single", True, 7), ("multi", True, 12), ("single", False, 9), ("multi", False, 16)],
)
def test_all_trees_come_however_improbable(far, sign, root, projective, many):
    scores = np.zeros((4, 4))
    scores[1, 2] = scores[3, 1] = sign * far
    dist = arb.TreeDistribution(scores, root=root, projective=projective)
    assert len(np.unique(dist.sample(99, 0, replace=False), axis=0)) == many
