"""Each rule in the search: beside all labeled trees of small sentences that do not break it."""

from dataclasses import replace

import numpy as np
import pytest

import arborescence as arb
import arborescence.inference.branching as search
from arborescence.parsers import Keeper
from arborescence.rules import ud
from arborescence.rules.sets import conflicts_of
from modes import thinned
from random_words import every_tree, random_words

#: Labels that a group of rules is about.
GROUPS = (
    ("root", "nsubj", "nsubj:outer", "csubj"),
    ("root", "obj", "obl", "nsubj"),
    ("root", "punct", "dep"),
    ("root", "goeswith", "advmod", "dep"),
    ("root", "case", "mark", "advmod", "det"),
    ("root", "det", "acl", "conj", "cc"),
    ("root", "fixed", "conj", "punct", "cop"),
    ("root", "obl", "nmod", "cop"),
)


@pytest.mark.parametrize("patience", [12, 0], ids=["branching", "with multipliers"])
@pytest.mark.parametrize("group", thinned(GROUPS, 2), ids=" ".join)
def test_every_tree_that_keeps_the_rules(group, patience, monkeypatch):
    monkeypatch.setattr(search, "_PATIENCE", patience)
    rng = np.random.default_rng(len(" ".join(group)))
    branched = 0
    for number in range(12):
        n = int(rng.integers(2, 6)) if len(group) < 4 else int(rng.integers(2, 5))
        words = random_words(rng, n, group)
        # Some rules by themselves, some together.
        rules = ud.RULES if number % 2 else [r for r in ud.RULES if rng.random() < 0.5]
        rules = [rule for rule in rules if "gap" in rule.name or number % 3 or rng.random() < 0.8]
        root, projective = ("single", "multi")[number % 3 == 0], number % 4 == 0
        trees, many = every_tree(words, root == "single", projective)
        keeps = np.ones(many, np.bool_)
        for rule in rules:
            keeps[trees.roots[rule.broken(trees)] // (n + 1)] = False
        scores = rng.integers(-3, 4, (n + 1, n + 1, len(group)))
        heads = (trees.heads - trees.roots).reshape(many, n + 1)[:, 1:]
        weights = scores[heads, np.arange(1, n + 1), trees.labels.reshape(many, n + 1)[:, 1:]]
        best = np.sort(weights.sum(axis=1)[keeps])[::-1]
        conflicts, options = conflicts_of(rules, words), {"root": root, "projective": projective}
        if not best.size:
            with pytest.raises(arb.NoTreeError):
                arb.decode_constrained(scores, conflicts, **options)
            continue
        found = arb.kbest_constrained(scores, conflicts, 3, **options)
        assert [tree.weight for tree in found] == best[:3].tolist()
        assert all(tree.certified for tree in found)
        branched += found[0].nodes > 1
        for tree in found:
            assert not conflicts(tree.heads.copy(), tree.labels)
    assert branched


#: Costs, of which some are as large as differences of scores, so that trees weigh the same.
COSTS = (None, None, 0.5, 1.0, 2.0, 1 / 3, 1e-20)


@pytest.mark.parametrize("patience", [12, 0], ids=["branching", "with multipliers"])
@pytest.mark.parametrize("group", thinned(GROUPS, 2), ids=" ".join)
def test_every_tree_that_keeps_the_rules_or_pays(group, patience, monkeypatch):
    monkeypatch.setattr(search, "_PATIENCE", patience)
    monkeypatch.setattr(search, "_REPAIRS", (1, 3) if patience == 0 else (16,))
    rng = np.random.default_rng(len(" ".join(group)) + 1)
    paid = charged = 0
    for number in range(16):
        n = int(rng.integers(2, 6)) if len(group) < 4 else int(rng.integers(2, 5))
        words = random_words(rng, n, group)
        rules = [rule for rule in ud.RULES if rng.random() < 0.7]
        # Where these may be broken, other rules would not find all ways out.
        costs = [None if "goeswith" in rule.name else rng.choice(COSTS) for rule in rules]
        if number % 4 == 0:
            costs = [None if cost is None else 1.0 for cost in costs]
        gaps = [rule for rule in ud.RULES if rule.name == "goeswith-gap" and rule not in rules]
        rules = [replace(r, cost=c) for r, c in zip(rules, costs, strict=True)] + gaps
        waived = {r.name: rng.random(n + 1) < 0.5 for r in rules if rng.random() < 0.1}
        root, projective = ("single", "multi")[number % 3 == 0], number % 4 == 0
        trees, many = every_tree(words._replace(waived=waived), root == "single", projective)
        trees = trees._replace(waived={name: np.tile(of, many) for name, of in waived.items()})
        words = words._replace(waived=waived)
        scores = rng.integers(-3, 4, (n + 1, n + 1, len(group))).astype(float)
        if number % 5 == 0:
            scores[rng.random(scores.shape) < 0.2] = -np.inf
        heads = (trees.heads - trees.roots).reshape(many, n + 1)[:, 1:]
        weights = scores[heads, np.arange(1, n + 1), trees.labels.reshape(many, n + 1)[:, 1:]]
        weights, dues = weights.sum(axis=1), np.zeros(many)
        for rule in rules:
            broken = np.bincount(trees.roots[rule.found(trees)] // (n + 1), minlength=many)
            if rule.cost is None:
                weights[broken > 0] = -np.inf
            else:
                dues += broken * rule.cost
        best = np.sort((weights - dues)[weights > -np.inf])[::-1]
        options = {"root": root, "projective": projective}
        wanted = arb.Constraints(**options)
        conflicts = conflicts_of(rules, words)
        if not best.size:
            with pytest.raises(arb.NoTreeError):
                arb.decode_constrained(scores, conflicts, **options)
            assert Keeper(rules).best(words, scores, wanted, budget=arb.Budget()) == []
            continue
        found = arb.kbest_constrained(scores, conflicts, 3, **options)
        assert [tree.weight for tree in found] == pytest.approx(best[:3].tolist())
        assert all(tree.certified for tree in found)
        for tree in found:
            left = conflicts(tree.heads.copy(), tree.labels)
            assert tree.paid == pytest.approx(sum(conflict.cost for conflict in left))
            edges = tree.heads[1:], np.arange(1, n + 1), tree.labels[1:]
            assert tree.weight == pytest.approx(scores[edges].sum() - tree.paid)
            paid += tree.paid > 0
        # A parser subtracts what it can from the scores.
        for tree, weight in zip(
            Keeper(rules).best(words, scores, wanted, 3, budget=arb.Budget()), best, strict=False
        ):
            assert tree.weight == pytest.approx(weight)
            assert tree.certified
            charged += 1
        one = arb.decode_constrained(scores, conflicts, **options)
        assert one.weight == found[0].weight
    assert paid
    assert charged
