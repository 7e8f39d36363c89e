"""The same function as that of ufal.chu_liu_edmonds."""

import numpy as np
import pytest

from arborescence import NoTreeError, ScoresError, tree_weight
from arborescence.integrations.ufal import chu_liu_edmonds
from brute_force import all_trees, is_best


def graphs(seed, count=300):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(2, 6))
        scores = rng.normal(size=(size, size))
        if rng.random() < 0.5:
            scores[rng.random(scores.shape) < 0.25] = np.nan
        yield scores


@pytest.mark.parametrize("root", ["multi", "single"])
def test_against_every_tree(root):
    for scores in graphs(1):
        present = np.where(np.isnan(scores), -np.inf, scores).T
        trees = all_trees(len(scores) - 1, root == "single")
        if not any(np.isfinite(tree_weight(present, tree)) for tree in trees):
            with pytest.raises(NoTreeError):
                chu_liu_edmonds(scores, root)
            continue
        heads, weight = chu_liu_edmonds(scores, root)
        assert is_best(present, np.array(heads), root == "single")
        assert weight == tree_weight(present, heads)


def test_against_the_function_itself():
    ufal = pytest.importorskip("ufal.chu_liu_edmonds", reason="ufal is not installed")
    for scores in graphs(2):
        heads, weight = ufal.chu_liu_edmonds(scores)
        if weight == -np.inf:  # its way to say that there is no tree
            with pytest.raises(NoTreeError):
                chu_liu_edmonds(scores)
        else:
            assert chu_liu_edmonds(scores) == (heads, pytest.approx(weight))
    for size in (0, 1):
        scores = np.zeros((size, size))
        assert chu_liu_edmonds(scores) == ufal.chu_liu_edmonds(scores)


def test_types():
    heads, weight = chu_liu_edmonds([[0, 0], [3, 0]])
    assert (heads, weight) == ([-1, 0], 3.0)
    assert [type(head) for head in heads] == [int, int]
    assert type(weight) is float


@pytest.mark.parametrize("scores", [np.ones(3), np.ones((2, 3)), np.ones((1, 2, 2)), "scores"])
def test_what_is_no_matrix(scores):
    with pytest.raises(ScoresError):
        chu_liu_edmonds(scores)


def test_scores_stay_as_they_are():
    scores = np.array([[0.0, 1.0], [np.nan, 1.0]])
    with pytest.raises(NoTreeError):
        chu_liu_edmonds(scores)
    assert np.isnan(scores[1, 0])
