"""The nearest tree that keeps rules, against all labeled trees."""

import itertools

import numpy as np
import pytest

import arborescence as arb
from arborescence.rules import AtMostOne, Direction, RootLabel
from arborescence.treebank import Sentence, mended
from arborescence.treebank.broken import _relations
from brute_force import all_trees
from modes import some

RULES = (
    RootLabel("root", "root", of_root=True),
    RootLabel("no root", "root", of_root=False),
    AtMostOne("subjects", ("nsubj",)),
    Direction("left", ("nsubj",), right=False),
)
#: Those that rules name, another one that is given, and one for all others.
LABELS = ("root", "nsubj", "obj", "dep")


def is_kept(heads, labels):
    """What RULES say, once more."""
    edges = [*zip(range(1, len(heads)), heads[1:], labels, strict=True)]
    subjects = [(word, head) for word, head, label in edges if label == "nsubj"]
    return (
        all((head == 0) == (label == "root") for _, head, label in edges)
        and len({head for _, head in subjects}) == len(subjects)
        and all(word < head for word, head in subjects)
    )


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_tree_that_keeps_the_rules_is_nearer(n, projective):
    rng = np.random.default_rng(n)
    trees = [
        (tree, labels)
        for tree in all_trees(n, True, projective).tolist()
        for labels in itertools.product(LABELS, repeat=n)
        if is_kept(tree, labels)
    ]
    heads, deprels = (
        np.array([tree[1:] for tree, _ in trees]),
        np.array([labels for _, labels in trees]),
    )
    for _ in range(some(60)):
        given = rng.integers(-1, n + 1, n)
        given[given == np.arange(1, n + 1)] = -1
        names = rng.choice([*LABELS[:3], "_"], n)
        sentence = Sentence.from_words(["x"] * n, heads=given, deprels=names.tolist())
        [found] = mended([sentence], rules=RULES, projective=projective)
        assert not found.broken
        assert is_kept(found.sentence.tree, found.sentence.deprels)
        assert arb.is_tree(found.sentence.tree)
        assert arb.is_projective(found.sentence.tree) or not projective
        costs = ((heads != given) & (given >= 0)).sum(axis=1) * 100 + (
            (deprels != names) & (names != "_")
        ).sum(axis=1)
        changed = (found.sentence.heads != given) & (given >= 0)
        others = [a != b for a, b in zip(found.sentence.deprels, names, strict=True) if b != "_"]
        assert 100 * changed.sum() + sum(others) == costs.min()


def test_what_no_tree_keeps():
    sentence = Sentence.from_words(["a", "b"], heads=[2, 1], deprels=["dep", "dep"])
    rule = RootLabel("all", "root", of_root=True), RootLabel("none", "obj", of_root=True)
    [found] = mended([sentence], rules=rule)
    assert found.broken
    assert found.sentence.heads.tolist() == [0, 1]


@pytest.mark.parametrize("rules", ["ud", [RootLabel("root", "root", of_root=True)]])
def test_trees_with_several_roots_keep_rules(rules):
    """They are broken only where one root edge is asked for."""
    how = {"upos": ["VERB"] * 3, "deprels": ["root", "root", "conj"]}
    kept = Sentence.from_words(["a", "b", "c"], heads=[0, 0, 2], **how)
    cycle = Sentence.from_words(["a", "b", "c"], heads=[0, 3, 2], **how)
    [same, found] = mended([kept, cycle], rules=rules, root="multi")
    assert (same.sentence, same.changed.tolist(), same.broken) == (kept, [], False)
    assert not found.broken
    [single] = mended([kept], rules=rules)
    assert not single.broken
    assert len(single.changed) == 1


def test_rules_that_trees_with_several_roots_break():
    rules = [RootLabel("root", "root", of_root=True)]
    how = {"upos": ["VERB"] * 2, "deprels": ["root", "conj"]}
    sentence = Sentence.from_words(["a", "b"], heads=[0, 0], **how)
    [found] = mended([sentence], rules=rules, root="multi")
    assert not found.broken
    assert found.sentence.deprels == ["root", "root"]


def test_relations_are_in_the_order_of_the_sentence_in_every_run() -> None:
    names = [f"dep:{letter}" for letter in "qwertzuiop"]
    sentence = Sentence.from_words(names, deprels=[*names[:-1], "_"])
    assert _relations(sentence)[0] == "dep"
    assert _relations(sentence)[-9:] == tuple(names[:-1])
