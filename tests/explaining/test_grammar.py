"""Derivations and trees: every projective tree of up to six words, and every derivation."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from arborescence.errors import TreeError
from arborescence.explaining import Grammar, Production
from brute_force import all_trees

SIZES = range(1, 7)


def random_grammar(n):
    return Grammar.of(np.random.default_rng(n).normal(size=(n + 1, n + 1)))


def every_derivation(grammar):
    """All derivations of the sentence, by trying every rule on the leftmost nonterminal."""
    n = grammar.problem.n
    found = []

    def rewrite(rules, done, waiting):
        if not waiting:
            found.extend([tuple(rules)] * (done == n))
            return
        for rule in grammar.rules:
            if rule.left != waiting[0]:
                continue
            if rule.right == (rule.left,):
                if rule.left == done + 1:  # the next word
                    rewrite([*rules, rule], done + 1, waiting[1:])
                continue
            rest = [*rule.right, *waiting[1:]]
            if done + len(rest) <= n and len(set(rest)) == len(rest):
                rewrite([*rules, rule], done, rest)

    rewrite([], 0, [0])
    return found


def slow_count(heads):
    """How many orders of the dependents keep those of each side in their order."""
    count = 1
    for h in range(len(heads)):
        left = sum(heads[d] == h for d in range(1, h))
        right = sum(heads[d] == h for d in range(h + 1, len(heads)))
        count *= factorial(left + right) // factorial(left) // factorial(right)
    return count


@pytest.mark.parametrize("n", SIZES)
def test_derivations_of_every_tree(n):
    grammar = random_grammar(n)
    scores = grammar.problem.scores
    for heads in map(tuple, all_trees(n, single=True, projective=True).tolist()):
        weight = sum((scores[h, d] for d, h in enumerate(heads) if d), Fraction(0))
        found = list(grammar.derivations(heads))
        assert len(set(found)) == len(found) == grammar.count(heads) == slow_count(heads)
        assert found[0] == grammar.derivation(heads)
        for derivation in (*found, grammar.whole_rules(heads)):
            assert grammar.tree(derivation) == heads
            assert grammar.weight(derivation) == weight
        assert {rule for derivation in found for rule in derivation} <= set(grammar.rules)


@pytest.mark.parametrize("n", range(1, 5))
def test_the_grammar_derives_the_projective_trees_and_no_others(n):
    grammar = random_grammar(n)
    found = every_derivation(grammar)
    trees = [tuple(heads) for heads in all_trees(n, single=True, projective=True).tolist()]
    assert {grammar.tree(derivation) for derivation in found} == set(trees)
    expected = [derivation for heads in trees for derivation in grammar.derivations(heads)]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_the_rules_are_those_of_the_lecture():
    """S → N_v and N_v → v; N_h → N_left ... N_h ... N_right; and with one dependent in a rule."""
    n = 4
    grammar = random_grammar(n)
    words = range(1, n + 1)
    pairs = [(h, d) for h in words for d in words if h != d]
    printed = {Production(0, (v,)) for v in words} | {Production(v, (v,)) for v in words}
    printed |= {Production(h, (d, h) if d < h else (h, d)) for h, d in pairs}
    assert set(grammar.rules) == printed
    assert len(grammar.rules) == len(printed)
    for heads in map(tuple, all_trees(n, single=True, projective=True).tolist()):
        below = {h: [d for d in words if heads[d] == h] for h in range(n + 1)}
        whole = {Production(h, tuple(sorted([h, *below[h]]))) for h in words} | {
            Production(0, (*below[0],))
        }
        assert set(grammar.whole_rules(heads)) == whole | {Production(v, (v,)) for v in words}


def test_rules_of_absent_edges_are_not_there():
    scores = np.zeros((4, 4))
    scores[1, 3] = scores[0, 2] = -np.inf
    rules = Grammar.of(scores).rules
    assert len(rules) == 3 + 3 + 6 - 2
    assert Production(1, (1, 3)) not in rules
    assert Production(0, (2,)) not in rules
    with pytest.raises(TreeError, match="the absent edge root → 2"):
        Grammar.of(scores).count([-1, 2, 0, 2])
    with pytest.raises(TreeError, match="rule 0, S → N_2: there is no such edge"):
        Grammar.of(scores).tree(random_grammar(3).derivation([-1, 2, 0, 2]))


def test_what_is_no_derivation():
    grammar = random_grammar(3)
    top, *rest = grammar.derivation([-1, 2, 0, 2])
    for rules in ([top], rest, [top, *rest, rest[-1]], [top, *rest[::-1]], []):
        with pytest.raises(TreeError):
            grammar.tree(rules)
    swapped = [
        Production(0, (1,)),
        Production(1, (3, 1)),
        Production(3, (3,)),
        Production(1, (1, 2)),
        Production(1, (1,)),
    ]
    with pytest.raises(TreeError, match="in their order"):
        grammar.tree([*swapped, Production(2, (2,))])


@pytest.mark.parametrize(
    "heads", [[-1, 0, 0, 1, 1], [-1, 0, 1, 1], [-1, 2, 1, 0, 3], [-1, 3, 0, 2, 2]]
)
def test_what_has_no_derivation(heads):
    """Two root edges, too few words, a cycle, edges that cross."""
    grammar = random_grammar(4)
    grammar.derivation([-1, 3, 3, 0, 3])
    with pytest.raises(TreeError, match="projective tree of 4 words with one root edge"):
        grammar.derivation(heads)
