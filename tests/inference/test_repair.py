"""`repair`: the nearest tree, against all trees, and for columns of any kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from brute_force import all_trees
from modes import UNCOMPILED, some


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_no_tree_keeps_more(n, root, projective):
    rng = np.random.default_rng(n)
    trees = np.array(list(all_trees(n, root == "single", projective)))
    for _ in range(some(100)):
        columns = rng.integers(-2, n + 3, (rng.integers(1, 4), n + 1))
        scores = rng.normal(size=(n + 1, n + 1))
        votes = rng.integers(0, 4, len(columns))
        how = {"scores": scores, "root": root, "projective": projective}
        found = arb.repair(columns, weights=votes, **how)
        kept = (trees[:, None, 1:] == columns[:, 1:]).sum(axis=2) @ votes
        weights = arb.tree_weight(np.broadcast_to(scores, (len(trees), n + 1, n + 1)), trees)
        best = trees[np.lexsort((weights, kept))[-1]]
        assert found.heads.tolist() == best.tolist()
        if len(columns) == 1 and votes[0]:
            changed = 1 + np.flatnonzero(found.heads[1:] != columns[0, 1:])
            assert found.changed.tolist() == changed.tolist()


VALUE = st.one_of(
    st.none(), st.integers(), st.floats(), st.text(max_size=2), st.integers(-1, 8), st.booleans()
)


@given(st.lists(st.lists(VALUE, max_size=9), min_size=1, max_size=3), st.integers(1, 8))
def test_any_column_becomes_a_tree(columns, words):
    found = arb.repair(columns, words)
    assert arb.is_tree(found.heads)
    assert len(found.heads) == words + 1


@pytest.mark.parametrize("size", [1e308, 1.7976931348623157e308, 1e-308, 5e-324, 1.0])
def test_scores_of_any_size(size):
    """Only their order counts, and no difference of them is too large."""
    scores = np.array([[0, -1, 1], [0, 0, -1], [0, 1, 0]]) * size
    # uncompiled kernels are NumPy's: they may overflow, where compiled ones say nothing
    with np.errstate(all="ignore" if UNCOMPILED else "raise"):
        found = arb.repair([-1, 9, 9], scores=scores)
    assert found.heads.tolist() == [-1, 2, 0]
    assert arb.repair([-1, 9, 9], scores=-scores).heads.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("exponent", [-1074, -500, 0, 500, 893, 894, 895, 900, 960, 1000, 1023])
def test_votes_count_before_scores_of_any_size(exponent):
    """The root has both votes for word 2, and one edge of the root is allowed."""
    scores = np.ldexp([[0.0, 1.0, -1.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]], exponent)
    with np.errstate(all="ignore" if UNCOMPILED else "raise"):
        found = arb.repair([[-1, 0, 0], [-1, None, 0]], scores=scores)
        assert found.heads.tolist() == [-1, 2, 0]
        assert found.changed.tolist() == [1]
        scores[0, 2] = -np.inf
        assert arb.repair([-1, 0, 0], scores=scores).heads.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_not_numbers(value):
    scores = np.zeros((3, 3))
    scores[1, 2] = value
    with pytest.raises(arb.ScoresError, match=r"scores\[1, 2\]"):
        arb.repair([-1, 2, 0], scores=scores)


def test_a_tree_stays():
    tree = [-1, 2, 0, 2, 3]
    found = arb.repair(tree)
    assert found.heads.tolist() == tree
    assert len(found.changed) == 0


def test_what_is_refused():
    with pytest.raises(arb.OptionError, match="a word at least"):
        arb.repair([])
    with pytest.raises(arb.OptionError, match=r"must be \(3, 3\)"):
        arb.repair([-1, 0, 1], scores=np.zeros((2, 2)))
    with pytest.raises(arb.OptionError, match="1 columns need as many weights, not 2"):
        arb.repair([-1, 0, 1], weights=[1, 2])
    with pytest.raises(arb.OptionError, match="a weight must be a whole number"):
        arb.repair([-1, 0, 1], weights=[0.5])
