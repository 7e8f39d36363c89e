"""Parsing through undirected trees: what it finds, against every tree."""

from fractions import Fraction

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import NoTreeError, ScoresError
from arborescence.undirected import encode, orient
from brute_force import all_trees, is_best, tree_weights
from graphs import ABSENT, FINITE, layouts, padded_batch, random_graphs

#: Graphs in which sums of two floats tell apart what the trees of one sentence weigh.
TELLABLE = sorted(set(FINITE) - {"wide-32", "wide-64", "two-sizes"})


def decode(scores, lengths=None, **options):
    return arb.undirected.decode(scores, lengths, **options)


def both_ways(scores):
    """The same scores in both directions of an edge: those of its upper triangle."""
    scores = np.array(scores)
    low = np.tril_indices(len(scores), -1)
    scores[low] = scores.T[low]
    return scores


@pytest.mark.parametrize("kind", TELLABLE)
@pytest.mark.parametrize("root", ["single", "multi"])
def test_of_scores_without_direction_it_finds_the_best_tree(kind, root):
    for scores in map(both_ways, random_graphs(kind, 40)):
        heads = decode(scores, root=root, rounds=0)
        assert is_best(scores, heads, root == "single"), scores.tolist()
        assert (decode(scores, root=root, encoding="max") == heads).all()


def weight_of(scores, heads):
    words = np.arange(1, len(heads))
    return sum(map(Fraction, scores[heads[1:], words].astype(np.float64).tolist()))


@pytest.mark.parametrize("kind", TELLABLE)
@pytest.mark.parametrize("encoding", ["mean", "max", "min"])
def test_a_spanning_tree_of_the_words_and_the_best_root_for_it(kind, encoding):
    for scores in random_graphs(kind, 15, seed=1):
        n = len(scores) - 1
        heads = decode(scores, encoding=encoding, rounds=0)
        assert arb.is_tree(heads)
        pairs = encode(scores, encoding)
        pairs[0] = 0
        assert is_best(pairs, heads, single=True)
        words = np.flatnonzero(heads > 0)
        turned = []
        for root in range(1, n + 1):
            tree = orient(n + 1, [0, *heads[words]], [root, *words])
            turned.append(weight_of(scores, tree))
        assert weight_of(scores, heads) == max(turned)


@pytest.mark.parametrize("kind", TELLABLE)
def test_several_root_edges(kind):
    for scores in random_graphs(kind, 15, seed=2):
        heads = decode(scores, root="multi", rounds=0)
        assert is_best(encode(scores), heads, single=False)


@pytest.mark.parametrize("kind", FINITE)
def test_it_is_a_tree_and_none_better_than_the_best(kind):
    for scores in random_graphs(kind, 30, seed=3):
        for root in ("single", "multi"):
            weights = []
            for rounds in (0, 5, None):
                heads = decode(scores, root=root, rounds=rounds)
                assert arb.is_tree(heads, root=root)
                weights.append(weight_of(scores, heads))
            assert weights == sorted(weights)
            assert weights[-1] <= weight_of(scores, arb.decode(scores, root=root))


@pytest.mark.parametrize("kind", ABSENT)
def test_absent_edges_are_in_no_tree(kind):
    exactly = 0
    for scores in random_graphs(kind, 150, seed=4):
        for root in ("single", "multi"):
            if not len(tree_weights(scores, root == "single")[0]):
                with pytest.raises(NoTreeError, match="no tree"):
                    decode(scores, root=root)
                continue
            heads = decode(scores, root=root)
            assert arb.is_tree(heads, root=root)
            assert (scores[heads[1:], np.arange(1, len(heads))] > -np.inf).all()
            exactly += (heads == arb.decode(scores, root=root)).all()
    assert exactly


def test_a_mask_keeps_edges_out():
    lowest = np.finfo(np.float64).min
    rng = np.random.default_rng(5)
    for n in (3, 4, 5):
        for gold in rng.choice(all_trees(n, single=True), 20):
            scores = np.full((n + 1, n + 1), lowest)
            scores[gold[1:], np.arange(1, n + 1)] = rng.normal(size=n)
            assert decode(scores, encoding="max").tolist() == gold.tolist()
            assert decode(scores, encoding="mean").tolist() == gold.tolist()


def test_products_of_probabilities():
    rng = np.random.default_rng(6)
    for scores in rng.random((30, 5, 5)):
        heads = decode(scores, encoding="product", rounds=0)
        pairs = scores * scores.T
        pairs[0] = 0
        assert is_best(pairs, heads, single=True)
    with pytest.raises(ScoresError, match=r"sentence 1: the edge 1 -> 2 .* encoding='mean'"):
        decode(np.array([[[0, 1, 1], [0, 0, 1], [0, 1, 0]], [[0, 1, 1], [0, 0, -1], [0, 1, 0]]]),
               encoding="product")  # fmt: skip


def test_batches_are_decoded_like_their_sentences():
    rng = np.random.default_rng(7)
    sizes = [4, 0, 1, 6, 3, 2, 6, 5]
    scores = padded_batch(rng, sizes)
    scores[5, :3, :3] = [[0, 1, -np.inf], [0, 0, -np.inf], [0, 3, 0]]
    with pytest.raises(NoTreeError, match="sentence 5: no tree exists: no edge enters word 2"):
        decode(scores, sizes)
    # The pair of the first word and the second is there, but not in the direction that it takes.
    scores[5, :3, :3] = [[0, 9, -9], [0, 0, -np.inf], [0, 3, 0]]
    heads = decode(scores, sizes)
    assert heads[5, :3].tolist() == [-1, 2, 0]
    for b, n in enumerate(sizes):
        assert heads[b, : n + 1].tolist() == decode(scores[b, : n + 1, : n + 1]).tolist()
        assert (heads[b, n + 1 :] == -1).all()
    assert (decode(scores, sizes, threads=3) == heads).all()
    for other in layouts(scores):
        assert (decode(other, sizes) == heads).all()
    four = decode(scores.reshape(2, 2, 2, 7, 7), np.reshape(sizes, (2, 2, 2)))
    assert (four.reshape(8, 7) == heads).all()
    assert decode(scores[:0]).shape == (0, 7)


def test_bad_scores_are_named():
    for bad in (np.nan, np.inf):
        for h, d in ((0, 2), (1, 2), (3, 1)):
            scores = np.zeros((2, 4, 4))
            scores[1, h, d] = bad
            for root in ("single", "multi"):
                with pytest.raises(ScoresError, match=rf"scores\[1, {h}, {d}\]"):
                    decode(scores, root=root)
    scores = np.zeros((4, 4))
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.inf)
    assert arb.is_tree(decode(scores))


def test_options_that_make_no_sense():
    scores = np.zeros((3, 3))
    with pytest.raises(ValueError, match="root must be 'single' or 'multi'"):
        decode(scores, root="greedy")
    with pytest.raises(ValueError, match="threads must be at least 1"):
        decode(scores, threads=0)
    with pytest.raises(ValueError, match="rounds must be 0 or more"):
        decode(scores, rounds=-2)
    with pytest.raises(ValueError, match="encoding must be one of"):
        decode(scores, encoding="sum")
