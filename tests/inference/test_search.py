import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from brute_force import tree_weights, whole_numbers
from graphs import ABSENT, FINITE, random_graphs
from modes import FEW

ROOTS = ("single", "multi")


def one_in(every):
    """A condition that all of a tree has a say in, and that one tree in `every` fulfils."""

    def fulfilled(*tree):
        return sum((i + 1) * int(x) for part in tree for i, x in enumerate(part)) % every == 0

    return fulfilled


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_the_best_of_all_trees_that_will_do(kind):
    met, missed = 0, 0
    for scores in random_graphs(kind, 100, seed=1):
        if len(scores) > 5:
            continue
        for root in ROOTS:
            trees, weights = tree_weights(scores, root == "single")
            if not len(trees):
                with pytest.raises(arb.NoTreeError, match="no tree"):
                    arb.decode_where(scores, lambda heads: True, root=root)
                continue
            for fulfils in (one_in(1), one_in(2), one_in(7)):
                will_do = [fulfils(heads) for heads in trees]
                if not any(will_do):
                    missed += 1
                    with pytest.raises(arb.NoTreeError, match=f"all {len(trees)} trees"):
                        arb.decode_where(scores, fulfils, root=root)
                    continue
                met += 1
                heads = arb.decode_where(scores, fulfils, root=root)
                assert fulfils(heads)
                words = np.arange(1, len(scores))
                weight = whole_numbers(scores)[heads[1:], words].sum()
                assert weight == weights[will_do].max()
    assert met
    assert missed or FEW > 1  # a sixteenth of the graphs may have none


@pytest.mark.parametrize("root", ROOTS)
def test_labels_are_searched_too(root):
    rng = np.random.default_rng(0)
    for _ in range(100):
        scores = rng.integers(-3, 4, (4, 4, 3))
        fulfils = one_in(int(rng.integers(1, 12)))
        for *expected, _ in arb.trees_labeled(scores, root=root):
            if fulfils(*expected):
                break
        found = arb.decode_where_labeled(scores, fulfils, root=root)
        assert np.array_equal(found, expected)


def test_the_first_tree_is_that_of_decode():
    scores = np.random.default_rng(1).normal(size=(9, 9, 4))
    heads, labels = arb.decode_where_labeled(scores, lambda heads, labels: True)
    expected = arb.decode_labeled(scores)
    assert heads.tolist() == expected[0].tolist()
    assert labels.tolist() == expected[1].tolist()
    one = scores[..., 0]
    assert arb.decode_where(one, lambda heads: True).tolist() == arb.decode(one).tolist()


def test_a_predicate_that_writes_spoils_nothing():
    scores = np.random.default_rng(2).normal(size=(5, 5, 2))
    seen = []

    def third(*tree):
        seen.append([part.tolist() for part in tree])
        for part in tree:
            part[:] = 9
        return len(seen) % 3 == 0

    expected = [[part.tolist() for part in tree] for *tree, _ in arb.trees_labeled(scores)][:3]
    found = arb.decode_where_labeled(scores, third)
    assert seen == expected
    assert [part.tolist() for part in found] == expected[2]
    expected = [[heads.tolist()] for heads, _ in arb.trees(scores[..., 0])][:3]
    seen.clear()
    assert arb.decode_where(scores[..., 0], third).tolist() == expected[2][0]
    assert seen == expected


def test_the_limit_is_told_from_the_end():
    scores = np.zeros((4, 4))  # nine trees
    calls = []

    def never(*tree):
        calls.append(tree)

    with pytest.raises(arb.NoTreeError, match=r"best 8 trees, and there are more: raise limit"):
        arb.decode_where(scores, never, limit=8)
    assert len(calls) == 8
    with pytest.raises(arb.NoTreeError, match="all 9 trees that exist"):
        arb.decode_where(scores, never, limit=9)
    labeled = np.zeros((4, 4, 2))
    with pytest.raises(arb.NoTreeError, match=r"best 71 labeled trees, and there are more"):
        arb.decode_where_labeled(labeled, never, limit=71)
    with pytest.raises(arb.NoTreeError, match="all 72 labeled trees that exist"):
        arb.decode_where_labeled(labeled, never)
    with pytest.raises(ValueError, match="limit must be at least 1, not 0"):
        arb.decode_where(scores, never, limit=0)


def test_errors_pass():
    def fault(*tree):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        arb.decode_where(np.zeros((3, 3)), fault)
    with pytest.raises(arb.ScoresError, match=r"scores\[0, 1\]"):
        arb.decode_where([[0, np.nan], [0, 0]], fault)
    with pytest.raises(arb.ScoresError, match="L > 0"):
        arb.decode_where_labeled(np.zeros((3, 3)), fault)


@given(st.lists(st.integers(-5, 5), min_size=16, max_size=16), st.integers(1, 3))
def test_a_condition_on_edges_is_forbid(numbers, d):
    scores = np.array(numbers, np.float64).reshape(4, 4)
    best = arb.decode(scores)
    edge = (int(best[d]), d)
    found = arb.decode_where(scores, lambda heads: heads[d] != best[d])
    assert arb.tree_weight(scores, found) == arb.tree_weight(
        scores, arb.decode(arb.forbid(scores, [edge]))
    )
