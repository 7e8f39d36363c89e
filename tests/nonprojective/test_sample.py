"""Where random walks take too long: the marginals of a word's heads, given other heads."""

import numpy as np

from arborescence.nonprojective.sample import find_trap, weigh_heads_in_floats
from brute_force import all_trees
from modes import some


def test_heads_of_a_word_beside_all_trees():
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(some(300)):
        n = int(rng.integers(1, 5))
        weights = rng.random((n + 1, n + 1)) * (rng.random((n + 1, n + 1)) < 0.8)
        weights[np.diag_indices(n + 1)] = weights[:, 0] = 0.0
        trees = all_trees(n, False)
        tree, word = rng.choice(trees), int(rng.integers(1, n + 1))
        given = rng.random(n + 1) < 0.4
        given[[0, word]] = False
        words = np.flatnonzero(~given)[1:]
        expected = np.zeros(n + 1)
        for heads in trees[(trees == tree)[:, given].all(axis=1)]:
            expected[heads[word]] += weights[heads[words], words].prod()
        shares = np.empty(n + 1)
        weighed = weigh_heads_in_floats(weights, n, word, tree, given, shares)
        assert weighed == (expected.sum() > 0)
        if weighed:
            np.testing.assert_allclose(shares / shares.sum(), expected / expected.sum(), 1e-12)
            compared += 1
    assert compared


def test_a_trap_is_a_free_word_on_a_cycle():
    rng = np.random.default_rng(1)
    traps = 0
    for _ in range(some(300)):
        n = int(rng.integers(1, 8))
        best = rng.integers(0, n + 1, n + 1)
        tree, given = np.full(n + 1, -1), np.zeros(n + 1, bool)
        order = rng.permutation(np.arange(1, n + 1))
        for place, d in enumerate(order[: rng.integers(0, n)]):  # no cycle of given heads
            tree[d], given[d] = rng.choice([0, *order[place + 1 :]]), True
        heads = np.where(given, tree, best)
        heads[0] = 0
        on_cycles = set()
        for d in range(1, n + 1):
            end = d
            for _ in range(n):
                end = heads[end]
            on_cycles |= {int(end)} - {0}
        on_cycles = set(trapped(heads, on_cycles))
        word = find_trap(best, n, tree, given)
        assert word > 0
        assert not given[word]
        assert word in on_cycles or not on_cycles
        traps += bool(on_cycles)
    assert traps


def trapped(heads, words):
    """All words on the cycles of some words."""
    for word in words:
        end = word
        while True:
            yield int(end)
            end = heads[end]
            if end == word:
                break
