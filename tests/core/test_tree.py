from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from brute_force import all_trees
from modes import UNCOMPILED


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


def rounded(scores, heads):
    """The exact sum, by fractions."""
    edges = [float(scores[h, d]) for d, h in enumerate(heads) if d]
    if -np.inf in edges:
        return -np.inf
    total = sum(map(Fraction, edges), Fraction(0))
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return np.inf if total > 0 else -np.inf


LARGEST = np.finfo(np.float64).max
EXTREME = [LARGEST, -LARGEST, np.nextafter(LARGEST, 0), 1e308, -1e308, 2.0**970, -(2.0**970)]
EXTREME += [2.0**969, 5e-324, -5e-324, 1.0, 0.0, -np.inf]


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_weights_are_exact_where_a_part_of_the_sum_overflows(single, projective):
    root = "single" if single else "multi"
    rng = np.random.default_rng(0)
    for n in (1, 2, 3) * 3 if UNCOMPILED else (1, 2, 3, 4) * 10:
        scores = rng.choice(EXTREME, size=(n + 1, n + 1))
        trees = all_trees(n, single, projective)
        weights = [rounded(scores, heads) for heads in trees.tolist()]
        batch = np.broadcast_to(scores, (len(trees), *scores.shape))
        assert arb.tree_weight(batch, trees).tolist() == weights
        present = (scores[trees[:, 1:], np.arange(1, n + 1)] > -np.inf).all(axis=1)
        there = sorted(np.array(weights)[present].tolist(), reverse=True)
        options = {"root": root, "projective": projective}
        if not there:
            with pytest.raises(arb.NoTreeError):
                arb.kbest(scores, 10, **options)
            continue
        assert arb.kbest(scores, len(trees), **options)[1].tolist() == there
        assert [weight for _, weight in arb.trees(scores, **options)] == there
        if len(there) > 1:
            assert arb.second_best(scores, **options)[1] == there[1]
        labeled = np.stack([scores, np.full_like(scores, -np.inf)], axis=-1)
        assert arb.kbest_labeled(labeled, len(trees), **options)[2].tolist() == there


def test_minimal_cases_of_overflow():
    most, zero = LARGEST, np.zeros(4)
    scores = np.array([[0, most, most, -most], zero, zero, zero])
    assert arb.tree_weight(scores, [-1, 0, 0, 0]) == most
    scores[0, 3] = -np.inf
    assert arb.tree_weight(scores, [-1, 0, 0, 0]) == -np.inf


def test_nan_and_inf_of_a_trees_edges_are_named():
    scores = np.zeros((2, 3, 3))
    scores[:, 1, 1] = scores[:, 2, 0] = np.nan  # a loop, and an edge into the root
    scores[1, 0, 1] = np.inf
    scores[1, 1, 2] = -np.inf
    assert arb.tree_weight(scores[0], [-1, 2, 0]) == 0
    assert arb.tree_weight(scores[0], [2, 2, 0]) == 0  # the root's place does not count
    with pytest.raises(arb.ScoresError, match=r"sentence 1: the edge 0 -> 1 .* inf;"):
        arb.tree_weight(scores, [[-1, 0, 1]] * 2)


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
    with pytest.raises(arb.TreeError, match="entry for the root"):
        arb.root_count(3)
    with pytest.raises(arb.TreeError, match="head of word 1 is 9"):
        arb.is_projective([-1, 9])
    with pytest.raises(arb.TreeError, match="for a Sentence, pass tree"):
        arb.is_projective([3, 4, 4, 0])
