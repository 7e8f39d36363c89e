"""Local enhancement against the same in fractions, and what it may not do."""

import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ScoresError, TreeError
from arborescence.undirected import enhance
from arborescence.undirected.enhancement import WITHOUT_END, enhance_kernel
from brute_force import all_trees, exact_weights
from graphs import ABSENT, FINITE, layouts, random_graphs
from modes import NATIVE

needs_python = pytest.mark.skipif(NATIVE, reason="the kernel is not there as Python")
#: Graphs whose differences of scores are exact, or next to it.
PLAIN = ["small-integers", "normal-32", "equal", "root-dominates", "nested"]


def random_tree(rng, n, root):
    trees = all_trees(n, root == "single")
    return trees[rng.integers(len(trees))]


def gain_of(scores, heads, v):
    u = heads[v]
    t = heads[u]
    new = Fraction(float(scores[t, v])) + Fraction(float(scores[v, u]))
    return new - Fraction(float(scores[t, u])) - Fraction(float(scores[u, v]))


def slow_round(scores, heads, changes):
    """One round: each change is made that gains more than all that it excludes; or than all."""
    gains = {v: gain_of(scores, heads, v) for v in range(1, len(heads)) if heads[v] > 0}
    gains = {v: gain for v, gain in gains.items() if gain > 0}
    changed = heads.copy()
    total = 0
    for v in gains:
        rivals = [w for w in gains if changes == "best" or {w, heads[w]} & {v, heads[v]}]
        if v == min(rivals, key=lambda w: (-gains[w], w)):
            changed[v], changed[heads[v]] = heads[heads[v]], v
            total += gains[v]
    return changed, total


@pytest.mark.parametrize("changes", ["disjoint", "best"])
@pytest.mark.parametrize("kind", PLAIN)
def test_rounds_against_fractions(kind, changes):
    rng = np.random.default_rng(0)
    changed = 0
    for scores in random_graphs(kind, 60):
        heads = random_tree(rng, len(scores) - 1, "multi")
        wanted = heads
        for rounds in range(1, 4):
            before = wanted
            wanted, gained = slow_round(scores, wanted, changes)
            found = enhance(scores, heads, rounds, changes=changes)
            assert found.tolist() == wanted.tolist()
            weights = [sum(map(Fraction, _edges(scores, tree))) for tree in (before, wanted)]
            assert weights[1] - weights[0] == gained
            changed += gained > 0
    assert changed or kind == "equal"


def _edges(scores, heads):
    return scores[heads[1:], np.arange(1, len(heads))].astype(np.float64).tolist()


@pytest.mark.parametrize("kind", FINITE)
@pytest.mark.parametrize("rounds", [1, 5, None])
def test_the_weight_never_goes_down(kind, rounds):
    rng = np.random.default_rng(1)
    for scores in random_graphs(kind, 30):
        for root in ("single", "multi"):
            heads = random_tree(rng, len(scores) - 1, root)
            enhanced = enhance(scores, heads, rounds)
            assert arb.is_tree(enhanced, root="multi")
            assert arb.root_count(enhanced) == arb.root_count(heads)
            before, after = exact_weights(scores, np.array([heads, enhanced]))
            assert after > before or (enhanced == heads).all()


@pytest.mark.parametrize("kind", PLAIN)
def test_without_a_limit_nothing_is_left_to_gain(kind):
    rng = np.random.default_rng(2)
    for scores in random_graphs(kind, 40):
        heads = enhance(scores, random_tree(rng, len(scores) - 1, "multi"), None)
        gains = [gain_of(scores, heads, v) for v in range(1, len(heads)) if heads[v] > 0]
        assert all(gain < 1e-12 for gain in gains)


def test_absent_edges_are_left_where_that_is_possible():
    scores = np.zeros((3, 3))
    scores[1, 2] = -np.inf
    scores[0, 2] = scores[2, 1] = -1e300
    assert enhance(scores, [-1, 0, 1]).tolist() == [-1, 2, 0]
    scores[0, 2] = -np.inf
    assert enhance(scores, [-1, 0, 1]).tolist() == [-1, 0, 1]
    rng = np.random.default_rng(3)
    for kind in ABSENT:
        for scores in random_graphs(kind, 30):
            heads = random_tree(rng, len(scores) - 1, "single")
            enhanced = enhance(scores, heads, None)
            words = np.arange(1, len(heads))
            absent = [int(np.isinf(scores[tree[1:], words]).sum()) for tree in (heads, enhanced)]
            assert absent[1] <= absent[0]
            assert arb.is_tree(enhanced)


class Counted:
    """An array that counts how often it is looked into."""

    def __init__(self, array):
        self.array = array
        self.looks = Counter()

    def __getitem__(self, index):
        self.looks["read"] += 1
        return self.array[index]

    def __setitem__(self, index, value):
        self.looks["write"] += 1
        self.array[index] = value


@pytest.fixture
def in_python(monkeypatch):
    """The kernel in Python, with all that it calls, also where it is not compiled at all."""
    module = sys.modules[enhance_kernel.__module__]
    for name in ("make_changes", "turn"):
        kernel = getattr(module, name)
        monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))
    return getattr(enhance_kernel, "py_func", enhance_kernel)


@needs_python
def test_a_round_takes_time_in_proportion_to_the_words(in_python):
    looks = {}
    for n in (40, 80, 160):
        rng = np.random.default_rng(n)
        arrays = [rng.normal(size=(n + 1, n + 1)), np.array([-1, *range(n)])]
        arrays += [np.empty(n + 1), np.empty(n + 1, np.int64)]
        scores, *others = counted = [Counted(array) for array in arrays]
        in_python(*counted[:2], n, 3, False, *counted[2:])
        assert arb.is_tree(arrays[1])
        assert scores.looks.total() == 3 * 4 * (n - 1)
        looks[n] = sum(array.looks.total() for array in others)
        assert looks[n] <= 3 * 16 * n
    assert looks[160] < 4.2 * looks[40]


@needs_python
def test_it_ends_where_nothing_changes(in_python):
    scores, heads = Counted(np.zeros((5, 5))), np.array([-1, 0, 1, 2, 3])
    in_python(scores, heads, 4, WITHOUT_END, False, np.empty(5), np.empty(5, np.int64))
    assert scores.looks["read"] == 4 * 3
    scores = np.random.default_rng(5).normal(size=(5, 5))
    assert enhance(scores, heads, 10**30).tolist() == enhance(scores, heads, None).tolist()


def test_batches_of_padded_trees_whatever_their_layout():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(3, 5, 5)).astype(np.float32)
    heads = np.full((3, 5), -1)
    for b, n in enumerate((4, 2, 0)):
        heads[b, : n + 1] = random_tree(rng, n, "single") if n else [-1]
        scores[b, n + 1 :] = scores[b, :, n + 1 :] = np.nan
    enhanced = enhance(scores, heads)
    assert (enhanced[1, 3:] == -1).all()
    for b, n in enumerate((4, 2, 0)):
        alone = enhance(scores[b, : n + 1, : n + 1], heads[b, : n + 1])
        assert enhanced[b, : n + 1].tolist() == alone.tolist()
    for other in layouts(scores):
        assert (enhance(other, heads) == enhanced).all()


def test_what_cannot_be_enhanced():
    scores = np.zeros((4, 4))
    tree = [-1, 0, 1, 1]
    for bad in (np.nan, np.inf):
        scores[3, 2] = bad
        with pytest.raises(ScoresError, match=r"scores\[3, 2\], the edge 3 -> 2"):
            enhance(scores, tree)
    scores[3, 2] = 0
    with pytest.raises(TreeError, match="do not fit"):
        enhance(scores, [tree, tree])
    with pytest.raises(TreeError, match="sentence 0: the heads are not a tree"):
        enhance(scores, [-1, 0, 3, 2])
    with pytest.raises(ValueError, match="rounds must be 0 or more"):
        enhance(scores, tree, -1)
    with pytest.raises(ValueError, match="changes must be 'disjoint' or 'best', not 'all'"):
        enhance(scores, tree, changes="all")
