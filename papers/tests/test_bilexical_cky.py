"""The naive algorithm against every projective tree, and against Eisner's."""

from functools import partial

import numpy as np
import pytest

import arborescence as arb
from arborescence_papers.bilexical_cky import bilexical_cky
from brute_force import all_trees
from modes import UNCOMPILED

ROOTS = ("single", "multi")
both_roots = pytest.mark.parametrize("root", ROOTS)


@both_roots
@pytest.mark.parametrize("n", range(1, 5 if UNCOMPILED else 6))
def test_against_every_tree(n, root):
    rng = np.random.default_rng(n)
    trees = all_trees(n, root == "single", projective=True)
    for _ in range(20):
        scores = rng.integers(-9, 9, (n + 1, n + 1)).astype(float)  # nothing is rounded
        heads = bilexical_cky(scores, root)
        assert arb.is_tree(heads, root=root)
        assert arb.is_projective(heads)
        best = max(arb.tree_weight(scores, tree) for tree in trees)
        assert arb.tree_weight(scores, heads) == best


@both_roots
def test_against_eisner(root):
    rng = np.random.default_rng(7)
    for n in (1, 2, 6) if UNCOMPILED else (1, 2, 6, 11, 19):
        scores = rng.normal(size=(2, 5, n + 1, n + 1)).astype(np.float32)
        heads = bilexical_cky(scores, root)
        assert heads.tolist() == arb.decode(scores, root=root, projective=True).tolist()
        assert heads.tolist() == bilexical_cky(scores.mT.copy().mT, root).tolist()


@both_roots
def test_absent_edges(root):
    rng = np.random.default_rng(8)
    without = 0
    for _ in range(60):
        scores = rng.normal(size=(6, 6))
        scores[rng.random((6, 6)) < 0.5] = -np.inf
        results = []
        for find in (partial(arb.decode, projective=True), bilexical_cky):
            try:
                results.append(find(scores, root=root).tolist())
            except arb.NoTreeError as error:
                results.append(str(error))
        assert results[0] == results[1]
        without += isinstance(results[0], str)
    assert 0 < without < 60


def test_bad_input():
    scores = np.zeros((2, 4, 4))
    scores[1, 2, 3] = np.nan
    with pytest.raises(arb.ScoresError, match=r"scores\[1, 2, 3\], the edge 2 -> 3, is nan"):
        bilexical_cky(scores)
    with pytest.raises(arb.OptionError, match="root must be"):
        bilexical_cky(scores, "one")
    with pytest.raises(arb.ScoresError):
        bilexical_cky(np.zeros((3, 4)))
