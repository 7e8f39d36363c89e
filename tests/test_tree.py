from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from brute_force import all_trees


@pytest.mark.parametrize("n", range(1, 6))
def test_is_tree_knows_every_tree(n):
    candidates = [(-1, *heads) for heads in product(range(n + 2), repeat=n)]
    for root, single in (("multi", False), ("single", True)):
        trees = {tuple(heads) for heads in all_trees(n, single).tolist()}
        answers = arb.is_tree(candidates, root=root)
        assert answers.tolist() == [heads in trees for heads in candidates]


def test_padding_is_at_the_end():
    assert arb.is_tree([[-1, 0, -1], [-1, -1, 0], [0, 0, 0]]).tolist() == [True, False, False]


def crosses(heads):
    edges = [tuple(sorted((h, d))) for d, h in enumerate(heads) if d]
    return any(a < c < b < d for a, b in edges for c, d in edges)


@pytest.mark.parametrize("n", range(1, 6))
def test_is_projective_is_the_absence_of_crossing_edges(n):
    trees = all_trees(n, False)
    assert arb.is_projective(trees).tolist() == [not crosses(heads) for heads in trees.tolist()]
    assert arb.root_count(trees).tolist() == (trees == 0).sum(axis=1).tolist()


def test_shapes():
    heads = np.array([[[-1, 2, 0], [-1, 0, -1]]])
    assert arb.is_tree(heads).tolist() == [[True, True]]
    assert arb.root_count(heads).tolist() == [[1, 1]]
    assert arb.is_projective(heads).tolist() == [[True, True]]
    assert arb.is_tree([-1]) is True
    assert arb.is_tree([0, 0]) is False
    assert arb.is_tree(np.empty((0, 3), int)).shape == (0,)


@given(st.integers(1, 6).flatmap(lambda n: st.sampled_from(all_trees(min(n, 5), True).tolist())))
def test_weight(heads):
    scores = np.random.default_rng(len(heads)).integers(-5, 5, (len(heads), len(heads)))
    expected = sum(scores[h, d] for d, h in enumerate(heads) if d)
    assert arb.tree_weight(scores, heads) == expected
    assert arb.tree_weight([scores, scores], [heads, heads]).tolist() == [expected] * 2


def test_weight_is_rounded_once():
    scores = np.zeros((4, 4))
    scores[0, 1], scores[1, 2], scores[2, 3] = 1e300, 1.0, -1e300
    assert arb.tree_weight(scores, [-1, 0, 1, 2]) == 1.0
    scores[0, 1] = -np.inf
    assert arb.tree_weight(scores, [-1, 0, 1, 2]) == -np.inf
    scores[0, 1] = scores[1, 2] = 1.7e308
    assert arb.tree_weight(scores, [-1, 0, 1, -1]) == np.inf


@pytest.mark.parametrize(
    ("heads", "message"),
    [([-1, 3, 0], "head of word 1 is 3"), ([-1, -2, 0], "is -2"), ([-1, 0], "do not fit")],
)
def test_unusable_heads(heads, message):
    with pytest.raises(arb.TreeError, match=message):
        arb.tree_weight(np.zeros((3, 3)), heads)


def test_unusable_types():
    with pytest.raises(arb.TreeError, match="whole numbers"):
        arb.is_tree([0.5, 1.0])
    with pytest.raises(arb.TreeError, match="root's own place"):
        arb.root_count(3)
    with pytest.raises(arb.TreeError, match="head of word 1 is 9"):
        arb.is_projective([-1, 9])
