"""The published k best algorithms: against every tree, one another, and the figures as printed."""

import numpy as np
import pytest

import arborescence as arb
import as_printed
from arborescence_papers.runtime.measure import same_lists
from arborescence_papers.runtime.published import (
    ANY,
    LEAVING_OUT,
    N_STARTS,
    PUBLISHED,
    kbest_published,
)
from brute_force import exact_weights, tree_weights
from graphs import ABSENT, FINITE, LARGE, random_graphs
from modes import CHECKED, UNCOMPILED
from tree_lists import rounded_weights

KINDS = [*FINITE, *ABSENT]
# As many graphs of each kind as make 600; and in a short run.
MANY = 600 // len(KINDS) + 1
FEW = 2 if UNCOMPILED else 3 if CHECKED else 4
MOST = 20 if UNCOMPILED else 1300

exact_scalars = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")


def root_of(name):
    return "multi" if PUBLISHED[name].roots == ANY else "single"


def check(kind, count, seed):
    """Compare all algorithms with every tree, and with `kbest`."""
    for scores in random_graphs(kind, count, seed):
        for root in ("single", "multi"):
            check_those_of(root, scores, summed=not kind.startswith("wide"))


def check_those_of(root, scores, summed):
    """Compare the algorithms with these trees; `summed`: the long accumulator has their weights."""
    names = [name for name in PUBLISHED if root_of(name) == root]
    trees, weights = tree_weights(scores, root == "single")
    ranked, ours = sorted(weights.tolist(), reverse=True), {}
    for name in names:
        if not len(trees):
            with pytest.raises(arb.NoTreeError):
                kbest_published(scores, 3, name)
            continue
        k = min(MOST, len(trees) + 1)
        if name == LEAVING_OUT:  # up to twenty times k trees are tried
            k = max(k, len(tree_weights(scores, False)[0]) // 20 + 1)
        found, reported = kbest_published(scores, k, name)
        assert arb.is_tree(found, root=root).all()
        assert len(np.unique(found, axis=0)) == len(found)
        assert exact_weights(scores, found) == ranked[:k]
        if summed:
            np.testing.assert_allclose(reported, rounded_weights(scores, found), rtol=1e-15)
            if k not in ours:
                ours[k] = arb.kbest(scores, k, root=root)[:2]
            assert same_lists((found, reported), ours[k])


@exact_scalars
@pytest.mark.parametrize("kind", KINDS)
def test_against_every_tree(kind):
    check(kind, FEW, seed=5)


@pytest.mark.long
@pytest.mark.skipif(UNCOMPILED, reason="too slow without the JIT")
@exact_scalars
@pytest.mark.parametrize("kind", KINDS)
def test_against_every_tree_of_six_hundred_graphs(kind):
    check(kind, MANY, seed=6)


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the JIT")
@exact_scalars
@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("kind", LARGE)
def test_larger_graphs(kind, name):
    rng = np.random.default_rng([50, *kind.encode()])
    for n, k in ((9, 30), (33, 30)):
        scores = LARGE[kind](rng, n)
        found, weights = kbest_published(scores, k, name)
        expected, expected_weights, _ = arb.kbest(scores, k, root=root_of(name))
        assert len(np.unique(found, axis=0)) == len(found)
        m = len(found)
        assert m == len(expected) or name == LEAVING_OUT
        assert exact_weights(scores, found) == exact_weights(scores, expected[:m])
        np.testing.assert_allclose(weights, expected_weights[:m], rtol=1e-15)


def test_leaving_trees_out_gives_up():
    scores = LARGE["many-roots"](np.random.default_rng(1), 12)
    found, weights = kbest_published(scores, 2, LEAVING_OUT)
    assert found.shape == (0, 13)
    assert weights.shape == (0,)
    found, _ = kbest_published(scores, 2, "KBEST_DEP")
    assert len(found) == 2


# No two trees weigh the same.
UNTIED = ("normal-32", "normal-64", "root-dominates", "nested", "absent")


def printed(scores, single, k, errata=()):
    steps = as_printed.kbest_dep if single else as_printed.kbest
    return list(steps(as_printed.edges_of(scores), k, errata))


@exact_scalars
@pytest.mark.parametrize("kind", UNTIED)
def test_the_figures_as_printed(kind):
    compared = 0
    for scores in random_graphs(kind, max(FEW, 4), seed=8):
        for name, single in (("KBEST", False), ("KBEST_DEP", True)):
            if len(tree_weights(scores, single)[0]):
                found, _ = kbest_published(scores, 40, name)
                assert printed(scores, single, 40) == found.tolist()
                compared += 1
    assert compared


@exact_scalars
@pytest.mark.parametrize("kind", UNTIED)
def test_the_naive_way_as_printed(kind):
    compared = 0
    for scores in random_graphs(kind, max(FEW, 4), seed=8):
        if len(tree_weights(scores, True)[0]):
            found, _ = kbest_published(scores, 40, N_STARTS)
            steps = as_printed.kbest_starts(as_printed.edges_of(scores), 40)
            assert list(steps) == found.tolist()
            compared += 1
    assert compared


def test_the_errors_of_the_print():
    """Line 6 of Figure 5 finds other weights; line 18 of Figure 9 a tree that is known."""
    wrong = set()
    for scores in random_graphs("nested", 10, seed=9):
        if len(scores) > 3:
            for errata, single in (("5", False), ("9", True)):
                right, found = (printed(scores, single, 20, some) for some in ((), errata))
                if right != found:
                    wrong.add(errata)
    assert wrong == {"5", "9"}


def test_calls_of_the_swap_cost(monkeypatch):
    """The analysis of NEXT counts n + 2. Line 6 runs once for each cycle, so 2n can be reached."""
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return swap_cost(*arguments)

    swap_cost = as_printed.swap_cost
    monkeypatch.setattr(as_printed, "swap_cost", counted)
    for n in range(2, 9):
        calls.clear()
        as_printed.next_(as_printed.edges_of(nested_cycles(n)))
        assert len(calls) == 2 * n


def nested_cycles(n):
    """Scores of n words with n - 1 critical cycles, one within the other."""
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0, 1:] = 0.0
    for d in range(2, n + 1):  # d and the cycle of all words before it
        scores[d - 1, d] = 10.0 * n
        scores[d, 1] = 10.0 * (n - d) + 5
    scores[2, 1] = 10.0 * n
    return scores
