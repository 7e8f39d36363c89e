"""The last step of each algorithm is what the fast function returns, on hundreds of graphs each."""

from fractions import Fraction

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ScoresError
from graphs import ABSENT, FINITE, random_graphs

KINDS = [*FINITE, *ABSENT]
COUNT = 32
ROOTS = ["single", "multi"]


def last_step(scores, algorithm="root-constraint", **options):
    return arb.explain(scores, algorithm, **options)[-1]


def best(function, scores, **options):
    try:
        return function(scores, **options)
    except arb.NoTreeError:
        return None


def farthest(scores):
    """The largest difference of the scores of a word's edges."""
    columns = [np.delete(scores[:, d], d).astype(np.float64) for d in range(1, len(scores))]
    present = [column[column > -np.inf] for column in columns]
    return max((c.max() * 0.5 - c.min() * 0.5 for c in present if c.size), default=0) * 2


def same_tree(step, heads):
    assert (step.kind == "tree") == (heads is not None)
    if heads is not None:
        assert step.heads == tuple(heads.tolist())


def as_good(step, scores, heads):
    """`decode` takes a shortcut to a single root edge, and may find another tree of that weight."""
    assert (step.kind == "tree") == (heads is not None)
    if heads is not None:
        assert step.heads.count(0) == 1
        assert weight(scores, step.heads) == weight(scores, heads)
        assert step.weight == arb.tree_weight(scores, heads)


def weight(scores, heads):
    return sum(Fraction(float(scores[h, d])) for d, h in enumerate(heads) if d)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_tree(kind):
    for scores in random_graphs(kind, COUNT):
        same_tree(last_step(scores, "chu-liu-edmonds"), best(arb.decode, scores, root="multi"))
        as_good(last_step(scores, "root-constraint"), scores, best(arb.decode, scores))


@pytest.mark.parametrize(("algorithm", "count"), [("eisner", COUNT), ("transitions", COUNT // 4)])
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_projective_tree(kind, root, algorithm, count):
    for scores in random_graphs(kind, count):
        heads = best(arb.decode, scores, root=root, projective=True)
        same_tree(last_step(scores, algorithm, root=root), heads)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_derivation(kind):
    for scores in random_graphs(kind, COUNT):
        as_good(last_step(scores, "cky"), scores, best(arb.decode, scores, projective=True))


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_k_best_trees(kind, root):
    for scores in random_graphs(kind, COUNT // 4):
        step = last_step(scores, "kbest", root=root, k=7)
        trees = best(arb.kbest, scores, k=7, root=root)
        assert (step.kind == "trees") == (trees is not None)
        if trees is None:
            continue
        heads, weights, _ = trees
        found = step.detail.heads
        assert len(set(found)) == len(found) == len(heads)
        assert step.detail.weights == tuple(weights.tolist())
        assert [weight(scores, tree) for tree in found] == [weight(scores, tree) for tree in heads]
        if root == "multi":
            assert found[0] == tuple(heads[0].tolist())
        if len(set(weights.tolist())) == len(weights) < 7:
            assert found == tuple(map(tuple, heads.tolist()))


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_sums(kind, root):
    for scores in random_graphs(kind, COUNT // 4):
        if farthest(scores) > 300:
            with pytest.raises(ScoresError, match="take TreeDistribution"):
                arb.explain(scores, "sums", root=root)
            continue
        step = last_step(scores, "sums", root=root)
        try:
            trees = arb.TreeDistribution(scores, root=root)
            expected = trees.log_partition()
        except arb.NoTreeError:
            assert step.kind == "no-tree"
            continue
        assert step.weight == pytest.approx(expected, rel=1e-12, abs=1e-9)
        np.testing.assert_allclose(step.detail.rows, trees.marginals(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_undirected_parsing(kind, root):
    for scores in random_graphs(kind, COUNT):
        heads = best(arb.undirected.decode, scores, root=root, changes="best")
        for algorithm in ("undirected", "kkt"):
            same_tree(last_step(scores, algorithm, root=root), heads)


@pytest.mark.parametrize("n", [12, 24])
def test_longer_sentences(n):
    rng = np.random.default_rng(n)
    for scores in (rng.normal(size=(n + 1, n + 1)), rng.integers(0, 4, (n + 1, n + 1))):
        same_tree(last_step(scores, "chu-liu-edmonds"), arb.decode(scores, root="multi"))
        as_good(last_step(scores, "root-constraint"), scores, arb.decode(scores))
        for algorithm in ("undirected", "kkt"):
            heads = arb.undirected.decode(scores, changes="best")
            same_tree(last_step(scores, algorithm), heads)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("algorithm", ["eisner", "kbest", "sums", "undirected", "transitions"])
def test_a_sentence_without_words(algorithm, root):
    step = last_step([[0.0]], algorithm, root=root)
    assert step.heads in ((-1,), ())
    assert step.kind in ("tree", "trees", "marginals")


def test_no_words_have_a_tree():
    assert last_step([[0.0]], "cky").heads == (-1,)
    assert last_step([[0.0]], "chu-liu-edmonds").heads == (-1,)
    assert last_step([[0.0]]).heads == (-1,)
