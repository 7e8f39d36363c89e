"""`keep`: the best trees among those that have the heads and relations that are given."""

import numpy as np
import pytest

import arborescence as arb
from arborescence.projective.pseudo import MARK
from brute_force import all_trees
from samples import treebank
from small_parsers import small_parser

GRAPH_BASED = ("linear", "joint", "projective", "tree", "biaffine", "mlp", "combined")


def short_sentences():
    return [sentence for sentence in treebank() if len(sentence) <= 5]


def partly(sentence, rng, *, labels=True):
    """The sentence with some of its heads fixed, as a tree has them, and some relations."""
    n = len(sentence)
    trees = all_trees(n, True)
    heads = trees[rng.integers(len(trees))].copy()
    heads[1:][rng.random(n) < 0.5] = -1
    deprels = ["_"] * n
    if labels:
        deprels = [name if rng.random() < 0.4 else "_" for name in sentence.deprels]
    return sentence.replace(heads=heads, deprels=deprels)


def agreeing(trees, heads):
    """Those trees that have the fixed heads."""
    return trees[((heads == -1) | (trees == heads))[:, 1:].all(axis=1)]


@pytest.mark.parametrize("kind", GRAPH_BASED)
def test_the_best_completion_of_all(kind):
    parser, rng = small_parser(kind), np.random.default_rng(3)
    for sentence in short_sentences() * 3:
        given = partly(sentence, rng, labels=False)
        [found] = parser.parse([given], keep=True, projective=False)
        scores = parser.scores(given)
        trees = agreeing(all_trees(len(given), True), given.tree)
        weights = [arb.tree_weight(np.where(np.isneginf(scores), -1e3, scores), t) for t in trees]
        assert found.tree.tolist() in trees.tolist()
        weight = arb.tree_weight(np.where(np.isneginf(scores), -1e3, scores), found.tree)
        # What a filter leaves out is used only where it must be.
        assert weight == pytest.approx(max(weights), abs=1e-4) or np.isneginf(scores).any()


@pytest.mark.parametrize("kind", [*GRAPH_BASED, "second-order"])
def test_all_that_is_given_is_kept(kind):
    parser, rng = small_parser(kind), np.random.default_rng(4)
    given = [partly(sentence, rng) for sentence in treebank()[:6] if len(sentence) < 7]
    given = [*given, given[0].replace(deprels=["unseen", *given[0].deprels[1:]])]
    for sentence, found in zip(given, parser.parse(given, keep=True, root="multi"), strict=True):
        fixed = sentence.tree >= 0
        assert found.tree[fixed].tolist() == sentence.tree[fixed].tolist()
        assert arb.is_tree(found.tree, root="multi")
        for kept, relation in zip(sentence.deprels, found.deprels, strict=True):
            assert kept in ("_", relation)
            assert relation != "_"


@pytest.mark.parametrize("kind", ["biaffine", "joint"])
def test_a_relation_alone_chooses_the_head(kind):
    parser, rng = small_parser(kind), np.random.default_rng(5)
    for sentence in treebank() * 3:
        table = parser.labeled_scores(sentence.replace(heads=None, deprels=None))
        word = int(rng.integers(1, len(sentence) + 1))
        number = int(rng.integers(len(parser.labels)))
        if MARK in parser.labels[number]:
            continue
        deprels = ["_"] * len(sentence)
        deprels[word - 1] = parser.labels[number]
        given = sentence.replace(heads=None, deprels=deprels)
        scores = table.max(axis=-1)
        scores[:, word] = table[:, word, number]
        try:
            expected = arb.decode(scores, projective=bool(parser.projective))
        except arb.NoTreeError:
            if kind == "biaffine":  # a linear one keeps also what it has not learned
                with pytest.raises(arb.TreebankError):
                    list(parser.parse([given], keep=True))
            continue
        [found] = parser.parse([given], keep=True)
        assert found.deprels[word - 1] == parser.labels[number]
        weights = [arb.tree_weight(scores, heads) for heads in (expected, found.tree)]
        assert weights[0] == pytest.approx(weights[1], abs=1e-4)


@pytest.mark.parametrize("kind", ["tree", "biaffine"])
def test_lists_and_probabilities_are_those_of_the_trees_that_agree(kind):
    parser, rng = small_parser(kind), np.random.default_rng(6)
    for sentence in short_sentences():
        given = partly(sentence, rng, labels=False)
        how = {"keep": True, "projective": False}
        scores = parser.scores(given).astype(np.float64)
        trees = agreeing(all_trees(len(given), True), given.tree)
        weights = np.array([arb.tree_weight(scores, tree) for tree in trees])
        [ranked] = parser.kbest([given], 3, **how)
        best = sorted(weights - weights.max(), reverse=True)[:3]
        found = [weight for _, weight in ranked]
        assert np.subtract(found, found[0]).tolist() == pytest.approx(best, abs=1e-3)
        chances = np.exp((weights - weights.max()) / parser.temperature)
        chances /= chances.sum()
        [parsed] = parser.parse([given], confidence=True, **how)
        for word, misc in enumerate(parsed.misc, 1):
            here = chances[trees[:, word] == parsed.tree[word]].sum()
            said = float(misc.split("EdgeProb=")[1].split("|")[0])
            assert said == pytest.approx(here, abs=1e-3)


@pytest.mark.parametrize("kind", ["linear", "projective", "biaffine"])
def test_what_cannot_stand_in_a_tree(kind):
    parser, sentence = small_parser(kind), treebank()[0]
    cycle = sentence.replace(heads=[-1, 2, 3, 1, -1, -1, -1], deprels=None)
    roots = sentence.replace(heads=[-1, -1, 0, -1, 0, -1, -1], deprels=None)
    with pytest.raises(arb.TreebankError, match=r"words 1, 2, 3 form a cycle"):
        list(parser.parse([sentence, cycle], keep=True))
    with pytest.raises(arb.TreebankError, match=r"words 2, 4 hang from the root"):
        list(parser.parse([roots], keep=True))
    assert len(list(parser.parse([roots], keep=True, root="multi"))) == 1
    for given in (cycle, roots):
        [found] = parser.parse([given], keep="anyway")
        fixed = np.flatnonzero(given.tree >= 0)
        gone = fixed[found.tree[fixed] != given.tree[fixed]]
        assert len(gone) == 1
        assert found.comment("gave_up") == str(gone[0])
        assert arb.is_tree(found.tree)


def test_edges_that_cross_can_be_kept_by_a_parser_of_projective_trees():
    parser = small_parser("projective")
    given = treebank()[0].replace(heads=[-1, 3, 4, -1, -1, -1, -1], deprels=None)
    [found] = parser.parse([given], keep=True)
    assert found.tree[1:3].tolist() == [3, 4]


def test_who_does_not_keep_them():
    with pytest.raises(arb.ModelError, match="only graph-based parsers"):
        list(small_parser("greedy").parse(treebank(), keep=True))
    with pytest.raises(arb.OptionError, match="keep must be"):
        small_parser("linear").parse(treebank(), keep="some")
