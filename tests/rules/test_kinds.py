"""Each rule in the search: beside all labeled trees of small sentences that do not break it."""

import numpy as np
import pytest

import arborescence as arb
import arborescence.rules.search as search
from arborescence.rules import ud
from arborescence.rules.sets import conflicts_of
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
@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
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
