"""The baselines' cost, counted in steps."""

import numpy as np
import pytest

import arborescence as arb
from arborescence_papers import baselines
from effort import steps
from graphs import LARGE


@pytest.mark.parametrize("kind", ["one-more-word", "chains"])
def test_the_recursion_takes_n_cubed(kind):
    few, many = (
        steps(
            baselines.__file__, baselines.chu_liu_edmonds, LARGE[kind](np.random.default_rng(1), n)
        )
        for n in (20, 40)
    )
    assert many < 2**3.1 * few


def test_one_run_for_each_root_edge(monkeypatch):
    """Section 1 of *root*: each run allows one root edge; absent ones need no run."""
    runs = []
    decoded = baselines._decoded

    def noted(scores, root):
        runs.append((np.flatnonzero(scores[0] > -np.inf).tolist(), root))
        return decoded(scores, root)

    monkeypatch.setattr(baselines, "_decoded", noted)
    scores = np.random.default_rng(1).normal(size=(8, 8))
    scores[0, 3] = -np.inf
    heads = baselines.best_of_n_runs(scores)
    assert runs == [([word], "multi") for word in (1, 2, 4, 5, 6, 7)]
    assert heads.tolist() == arb.decode(scores).tolist()


def test_adjust_as_printed_finds_wrong_trees():
    """It keeps edges inside the cycle: the cycle may then have no edge from outside."""
    rng = np.random.default_rng(3)
    wrong = no_tree = 0
    for _ in range(500):
        scores = rng.normal(size=(5, 5))
        right = arb.decode(scores, root="multi").tolist()
        assert baselines.chu_liu_edmonds(scores).tolist() == right
        printed = baselines.chu_liu_edmonds(scores, as_printed=True)
        wrong += printed.tolist() != right
        no_tree += not arb.is_tree(printed, root="multi")
    assert 50 < no_tree <= wrong < 120


def test_adjust_as_printed_on_the_graph_of_the_lecture():
    """Edges a to i: it finds {d, e, h} in place of {a, d, f}."""
    scores = np.array([[0, 5, 1, 1], [0, 0, 11, 5], [0, 10, 0, 4], [0, 9, 8, 0]])
    ends = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (1, 3), (2, 1), (3, 1), (3, 2)]
    names = dict(zip(ends, "abcdefghi", strict=True))

    def edges(heads):
        return {names[h, d] for d, h in enumerate(heads.tolist()) if d}

    assert edges(baselines.chu_liu_edmonds(scores)) == set("adf")
    assert edges(baselines.chu_liu_edmonds(scores, as_printed=True)) == set("deh")
