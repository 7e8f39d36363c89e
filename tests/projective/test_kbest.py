"""The k best projective trees against every projective tree, weighed in exact arithmetic."""

import math
from functools import partial
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
import laws.trees
from brute_force import all_trees, eisner, exact_weights, tree_weights, whole_numbers
from graphs import ABSENT, FINITE, layouts, padded_batch, random_graphs
from modes import CHECKED, UNCOMPILED
from tree_lists import check_batch, check_leading_dimensions, listed, rounded_weights, same

JIT = not UNCOMPILED
# How many graphs of each kind: without the JIT, and with bounds checked, more take too long.
COUNT = 3 if not JIT else 30 if CHECKED else 80
ALL = 10_000
ROOTS = ("single", "multi")

both_roots = pytest.mark.parametrize("root", ROOTS)
exact_scalars = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
needs_jit = pytest.mark.skipif(not JIT, reason="too slow without the JIT")


def kbest(scores, k, lengths=None, **options):
    return arb.kbest(scores, k, lengths, projective=True, **options)


def stream(scores, **options):
    return arb.trees(scores, projective=True, **options)


def number_of_trees(n, root):
    """The number of projective trees of n words (Yuret 1998): ternary trees, in the end."""
    if root == "multi":
        return math.comb(3 * n, n) // (2 * n + 1)
    return math.comb(3 * (n - 1) + 1, n - 1) // n


def check_order(scores, root, found, weights):
    """That these are trees of the kind, each once, best first, with their weights."""
    assert found.dtype == np.int64
    assert weights.dtype == np.float64
    assert found.shape == (len(weights), len(scores))
    assert arb.is_tree(found, root=root).all()
    assert arb.is_projective(found).all()
    assert len(np.unique(found, axis=0)) == len(found)
    exact = exact_weights(scores, found)
    assert exact == sorted(exact, reverse=True)
    np.testing.assert_array_equal(weights, rounded_weights(scores, found))
    assert found[0].tolist() == arb.decode(scores, root=root, projective=True).tolist()


# Against every tree.


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", FINITE)
def test_finite_scores_against_every_tree(kind, root):
    for scores in random_graphs(kind, COUNT, seed=6):
        found = laws.trees.k_best(scores, root, True, ALL)
        assert found == number_of_trees(len(scores) - 1, root)


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", ABSENT)
def test_absent_edges_against_every_tree(kind, root):
    graphs = random_graphs(kind, max(2 * COUNT, 40), seed=6)
    many = [laws.trees.k_best(scores, root, True, ALL) for scores in graphs]
    assert 0 in many
    assert max(many) > 1


@both_roots
@pytest.mark.parametrize("n", range(1, 8 if JIT else 5))
def test_the_stream_of_a_complete_graph_ends_after_all_trees(n, root):
    scores = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    found, weights = listed(stream(scores, root=root))
    assert len(found) == number_of_trees(n, root)
    check_order(scores, root, found, weights)
    if n < 7:
        assert sorted(found.tolist()) == all_trees(n, root == "single", projective=True).tolist()


def count(present, root):
    """How many projective trees there are, by Eisner's recursion over whole numbers."""
    edges = present.astype(int).tolist()
    return eisner(edges, root == "single", sum, int.__mul__)


@both_roots
def test_the_number_of_trees_is_what_eisner_counts(root):
    graphs, words = (60, (2, 12)) if JIT else (10, (2, 6))
    laws.streams_are_as_long_as_counted(count, check_order, root, 4, words, graphs, projective=True)


# Larger graphs.


def k_best_weights(scores, k, root):
    """The k best exact weights by Eisner's recursion over lists of them."""

    def plus(lists):
        return sorted((weight for one in lists for weight in one), reverse=True)[:k]

    def times(one, other):
        return plus([[a + b for a, b in product(one, other)]])

    edges = [[[weight] for weight in row] for row in whole_numbers(scores).tolist()]
    return eisner(edges, root == "single", plus, times)


@needs_jit
@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", FINITE)
def test_larger_graphs_against_eisner_over_lists(kind, root):
    rng = np.random.default_rng([50, *kind.encode()])
    for n, k in ((8, 20), (20, 8)):
        scores = FINITE[kind](rng, n)
        found, weights, _ = kbest(scores, k, root=root)
        check_order(scores, root, found, weights)
        assert exact_weights(scores, found) == k_best_weights(scores, k, root)


@needs_jit
@both_roots
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33])
def test_all_sizes_of_blocks(n, root):
    rng = np.random.default_rng(n)
    scores = rng.integers(-9, 9, (n + 1, n + 1)).astype(np.float32)
    found, weights, _ = kbest(scores, 4, root=root)
    check_order(scores, root, found, weights)
    assert exact_weights(scores, found) == k_best_weights(scores, 4, root)


@needs_jit
@both_roots
def test_many_trees_of_many_words(root):
    rng = np.random.default_rng(10)
    for n, k in ((40, 2000), (100, 200)):
        for scores in (rng.normal(size=(n + 1, n + 1)), np.zeros((n + 1, n + 1), np.float32)):
            found, weights, _ = kbest(scores, k, root=root)
            assert len(found) == k
            check_order(scores, root, found, weights)


@needs_jit
@both_roots
def test_the_projective_ones_of_all_trees_come_in_order(root):
    rng = np.random.default_rng(11)
    seen = 0
    for _ in range(20):
        scores = rng.normal(size=(8, 8))
        every = islice(arb.trees(scores, root=root), 3000)
        expected = [heads.tolist() for heads, _ in every if arb.is_projective(heads)]
        seen += len(expected)
        found = [heads.tolist() for heads, _ in islice(stream(scores, root=root), len(expected))]
        assert found == expected
    assert seen > 500


# One order, whoever asks.


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_all_ways_to_ask_give_the_same_trees(kind, root):
    for scores in random_graphs(kind, 8 if JIT else 2, seed=7):
        try:
            heads, weights, _ = kbest(scores, 30, root=root)
        except arb.NoTreeError:
            for ask in (arb.second_best, lambda s, **o: arb.decode_where(s, all, **o)):
                with pytest.raises(arb.NoTreeError):
                    ask(scores, root=root, projective=True)
            continue
        assert same((heads, weights), listed(islice(stream(scores, root=root), 30)))
        for k in (1, 2, 29):
            assert same((heads[:k], weights[:k]), kbest(scores, k, root=root))
        for layout in layouts(scores):
            assert same((heads, weights), kbest(layout, 30, root=root))
            assert same((heads, weights), listed(islice(stream(layout, root=root), 30)))
        if len(heads) == 1:
            with pytest.raises(arb.NoTreeError):
                arb.second_best(scores, root=root, projective=True)
            continue
        second, weight, (h, d) = arb.second_best(scores, root=root, projective=True)
        assert exact_weights(scores, second[None]) == exact_weights(scores, heads[1:2])
        assert weight == weights[1]
        assert second.tolist() != heads[0].tolist()
        assert heads[0, d] == h != second[d]


@exact_scalars
@both_roots
@pytest.mark.parametrize("kind", ["normal-32", "two-sizes", "absent"])
def test_the_best_of_all_trees_that_will_do(kind, root):
    def will_do(heads):
        return (heads @ np.arange(len(heads))) % 11 == 1

    met, missed = 0, 0
    for scores in random_graphs(kind, 60 if JIT else 10, seed=8):
        trees, weights = tree_weights(scores, root == "single", projective=True)
        fitting = [will_do(heads) for heads in trees]
        if any(fitting):
            met += 1
            heads = arb.decode_where(scores, will_do, root=root, projective=True)
            assert will_do(heads)
            assert exact_weights(scores, heads[None]) == [max(weights[fitting])]
        else:
            missed += 1
            with pytest.raises(arb.NoTreeError, match=f"all {len(trees)}" if len(trees) else "no"):
                arb.decode_where(scores, will_do, root=root, projective=True)
    assert met
    assert missed


@both_roots
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_equals_its_sentences(root, threads):
    rng = np.random.default_rng(1)
    sizes = [*rng.integers(1, 12 if JIT else 5, 40 if JIT else 5), 0, 1]
    batch = padded_batch(rng, sizes)
    k = 12
    expected = [min(k, number_of_trees(n, root)) if n else 1 for n in sizes]
    for scores in (batch, np.ascontiguousarray(batch.mT).mT):
        assert check_batch(kbest, scores, sizes, k, root, threads).tolist() == expected


@both_roots
def test_leading_dimensions(root):
    check_leading_dimensions(kbest, root)


def test_streams_do_not_disturb_each_other():
    rng = np.random.default_rng(8)
    one, other = rng.normal(size=(5, 5)), rng.normal(size=(6, 6))
    expected = [listed(islice(stream(scores), 25)) for scores in (one, other)]
    both = list(islice(zip(stream(one), stream(other), strict=False), 25))
    assert same(listed(first for first, _ in both), expected[0])
    assert same(listed(second for _, second in both), expected[1])


def test_a_tree_belongs_to_the_caller():
    scores = np.random.default_rng(9).normal(size=(5, 5))
    expected = listed(stream(scores))
    seen = []
    for heads, weight in stream(scores):
        seen.append((heads.copy(), weight))
        heads[:] = 0
        scores[:] = 0
    assert same(listed(seen), expected)


@both_roots
def test_small_sentences(root):
    heads, weights, _ = kbest([[0.0]], 3, root=root)
    assert (heads.tolist(), weights.tolist()) == ([[-1]], [0.0])
    heads, weights, _ = kbest([[0, 7], [0, 0]], 3, root=root)
    assert (heads.tolist(), weights.tolist()) == ([[-1, 0]], [7.0])
    assert [(h.tolist(), w) for h, w in stream([[0.0]], root=root)] == [([-1], 0.0)]
    assert [(h.tolist(), w) for h, w in stream([[0, 7], [0, 0]], root=root)] == [([-1, 0], 7.0)]


def test_far_more_than_there_are():
    heads, weights, _ = kbest(np.random.default_rng(0).normal(size=(4, 4)), 10**9)
    assert heads.shape == (7, 4)
    assert weights.shape == (7,)


# Labels.


def labeled_trees(scores, root):
    """All labeled projective trees with their weights, which are small whole numbers."""
    n, levels = len(scores) - 1, scores.shape[-1]
    words = np.arange(1, n + 1)
    for heads in all_trees(n, root == "single", projective=True):
        for labels in product(range(levels), repeat=n):
            weight = scores[heads[1:], words, labels].sum()
            if weight > -np.inf:
                yield weight, tuple(heads.tolist()), (-1, *labels)


@both_roots
def test_labeled_trees(root):
    rng = np.random.default_rng(12)
    searched = 0
    for n in (1, 2, 3, 3, 3, 4, 4):
        scores = rng.integers(-3, 4, (n + 1, n + 1, 2)).astype(np.float64)
        scores[rng.random(scores.shape) < 0.3] = -np.inf
        expected = sorted(labeled_trees(scores, root), reverse=True)
        options = {"root": root, "projective": True}
        if not expected:
            with pytest.raises(arb.NoTreeError):
                arb.kbest_labeled(scores, 3, **options)
            continue
        searched += 1
        found = [
            (weight, tuple(heads.tolist()), tuple(labels.tolist()))
            for heads, labels, weight in arb.trees_labeled(scores, **options)
        ]
        assert sorted(found, reverse=True) == expected
        assert [weight for weight, *_ in found] == [weight for weight, *_ in expected]
        heads, labels = arb.decode_labeled(scores, **options)
        assert found[0][1:] == (tuple(heads.tolist()), tuple(labels.tolist()))
        for k in (1, 5, len(found) + 1):
            heads, labels, weights, _ = arb.kbest_labeled(scores, k, **options)
            assert weights.tolist() == [weight for weight, *_ in found[:k]]
            assert [tuple(row) for row in heads.tolist()] == [tree for _, tree, _ in found[:k]]
            assert [tuple(row) for row in labels.tolist()] == [names for *_, names in found[:k]]

        def will_do(heads, labels):
            return (heads.sum() + labels.sum()) % 3 == 0

        fitting = [tree for tree in found if will_do(np.array(tree[1]), np.array(tree[2]))]
        if fitting:
            heads, labels = arb.decode_where_labeled(scores, will_do, **options)
            assert (tuple(heads.tolist()), tuple(labels.tolist())) == fitting[0][1:]
    assert searched > 3


def test_labeled_batches():
    rng = np.random.default_rng(13)
    scores = rng.integers(-3, 4, (4, 5, 5, 3)).astype(np.float32)
    lengths = [4, 0, 2, 3]
    heads, labels, weights, counts = arb.kbest_labeled(
        scores, 9, lengths, projective=True, threads=2
    )
    for b, n in enumerate(lengths):
        one = arb.kbest_labeled(scores[b, : n + 1, : n + 1], 9, projective=True)
        m = counts[b]
        assert same((heads[b, :m, : n + 1], labels[b, :m, : n + 1], weights[b, :m]), one)


# What has no k best trees.


def first_of_each(scores, **options):
    """The functions that look for more than one tree, each called for its first result."""
    yield lambda: kbest(scores, 3, **options)
    yield lambda: next(stream(scores, **options))
    yield lambda: arb.second_best(scores, projective=True, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_scores_are_named(value):
    found = laws.bad_scores_are_named(
        value,
        np.float64,
        lambda scores, **options: kbest(scores, 4, **options),
        (lambda scores: next(stream(scores)), partial(arb.second_best, projective=True)),
    )
    assert found[2].tolist() == [4, 1, 4]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_column_0_and_the_diagonal_are_ignored(value):
    scores = np.random.default_rng(6).normal(size=(9, 9))
    expected = kbest(scores, 15)
    scores[:, 0] = value
    np.fill_diagonal(scores, value)
    assert same(kbest(scores, 15), expected)


def test_no_projective_tree_says_so():
    scores = np.full((5, 5), -np.inf)
    for d, h in enumerate([3, 0, 2, 1], start=1):
        scores[h, d] = 0
    for root in ROOTS:
        for call in first_of_each(scores, root=root):
            with pytest.raises(arb.NoTreeError, match="projective"):
                call()


@pytest.mark.parametrize("k", [0, -1, 2.5, "2", None])
def test_unusable_k(k):
    for scores in (np.zeros((3, 3)), np.zeros((2, 3, 3))):
        with pytest.raises((ValueError, TypeError), match=r"\bk\b"):
            kbest(scores, k)


# Properties.

small_graphs = laws.squares(laws.ABSENT_TOO, 5, 3)
examples = settings(deadline=None, max_examples=60 if JIT else 10)


@examples
@given(small_graphs, st.sampled_from(ROOTS))
def test_the_projective_ones_of_all_trees(rows, root):
    scores = np.array(rows, np.float64)
    found = laws.every_tree(scores, root, projective=True)
    try:
        every = list(arb.trees(scores, root=root))
    except arb.NoTreeError:
        every = []
    expected = [(w, tuple(heads.tolist())) for heads, w in every if arb.is_projective(heads)]
    assert sorted(found) == sorted(expected)
    assert [weight for weight, _ in found] == [weight for weight, _ in expected]


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.sampled_from([-1060, -500, 3, 900]))
def test_a_power_of_two_scales_all(rows, root, power):
    laws.a_power_of_two_scales_all(rows, root, power, projective=True)


@examples
@given(small_graphs, st.sampled_from(ROOTS), st.integers(0, 5), st.integers(1, 5))
def test_trees_with_an_edge_and_trees_without_it_are_all(rows, root, h, d):
    laws.trees_with_an_edge_and_trees_without_it_are_all(rows, root, h, d, projective=True)
