"""The search for the best tree that keeps rules, beside every labeled tree of small graphs."""

from itertools import islice

import numpy as np
import pytest

import arborescence as arb
import arborescence.inference.branching as module
from arborescence.core.budget import work_of
from arborescence.inference.branching import Search
from arborescence.inference.parts import Lazy
from arborescence.rules import Alternative, Conflict, Edges, ud
from arborescence.rules.sets import conflicts_of
from brute_force import whole_numbers
from graphs import ABSENT, FINITE
from modes import FEW, UNCOMPILED
from random_rules import (
    allowed_trees,
    labeled_graphs,
    paying_trees,
    random_rules,
    rules_at_costs,
)
from random_words import random_words

ROOTS = ("single", "multi")
#: Kinds of scores that differ in what they ask of the search.
SOME = ("normal-64", "small-integers", "two-sizes", "mask-lowest-64", "absent")


@pytest.fixture(params=[12, 0], ids=["branching", "with multipliers"])
def patience(request, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", request.param)
    monkeypatch.setattr(module, "_MANY", 8 if request.param else 2)
    monkeypatch.setattr(module, "_REPAIRS", (16, 64) if request.param else (1, 2, 4))
    return request.param


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("kind", SOME)
@pytest.mark.usefixtures("patience")
def test_labeled_trees(kind):
    check_every_labeled_tree(kind, 9 if UNCOMPILED else 25, seed=3)
    check_rules_that_cost(kind, 6 if UNCOMPILED else 12, seed=5)


@pytest.mark.long
@pytest.mark.skipif(UNCOMPILED, reason="takes long without compiled kernels")
@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
@pytest.mark.usefixtures("patience")
def test_labeled_trees_of_many_graphs(kind):
    check_every_labeled_tree(kind, 10, seed=4)
    check_rules_that_cost(kind, 12, seed=6)


def check_every_labeled_tree(kind, rounds, seed):
    kept = 0
    for number, (scores, rng) in enumerate(labeled_graphs(kind, rounds, seed)):
        n = len(scores) - 1
        conflicts = random_rules(rng, n, scores.shape[-1])
        root, projective = ROOTS[number % 2], bool(number // 2 % 2)
        trees = allowed_trees(scores, conflicts, root == "single", projective)
        trees = list(islice(trees, 4))
        options = {"root": root, "projective": projective}
        if not trees:
            with pytest.raises(arb.NoTreeError):
                arb.decode_constrained(scores, conflicts, **options)
            continue
        kept += 1
        found = arb.kbest_constrained(scores, conflicts, 4, **options)
        assert len(found) == len(trees)
        numbers = whole_numbers(scores)
        words = np.arange(1, n + 1)
        for tree, (weight, *_) in zip(found, trees, strict=True):
            assert numbers[tree.heads[1:], words, tree.labels[1:]].sum() == weight
            assert not conflicts(tree.heads, tree.labels)
            assert tree.certified
            assert tree.bound == tree.weight
        assert len({(*tree.heads, *tree.labels) for tree in found}) == len(found)
        first = arb.decode_constrained(scores, conflicts, **options)
        assert first.weight == found[0].weight
        assert first.certified
        as_doubles = scores.astype(float)
        lazy = Lazy(as_doubles.max(axis=-1), scores.shape[-1], lambda h, d, s=as_doubles: s[h, d])
        later = Search(lazy, conflicts, None, options, arb.Budget()).run(4, by_heads=False)
        assert [(tree.weight, tree.certified) for tree in later] == [
            (tree.weight, True) for tree in found
        ]
    assert kept


def check_rules_that_cost(kind, rounds, seed):
    paid = 0
    for number, (scores, rng) in enumerate(labeled_graphs(kind, rounds, seed)):
        words = np.arange(1, len(scores))
        conflicts = rules_at_costs(rng, len(words), scores.shape[-1])
        root, projective = ROOTS[number % 2], bool(number // 2 % 2)
        trees = paying_trees(scores, conflicts, root == "single", projective)
        options = {"root": root, "projective": projective}
        if not trees:
            with pytest.raises(arb.NoTreeError):
                arb.decode_constrained(scores, conflicts, **options)
            continue
        # Where weights are far larger than costs, thousands of ways to pay have to be told apart.
        found = arb.kbest_constrained(scores, conflicts, 4, budget=arb.Budget(2e8), **options)
        assert len(found) == min(4, len(trees))
        every = {(*heads, *labels): (weight, due) for weight, heads, labels, due in trees}
        for tree, (best, *_) in zip(found, trees, strict=False):
            weight, due = every[*tree.heads, *tree.labels]
            assert weight == best
            assert tree.certified
            assert (tree.weight, tree.bound, tree.paid) == (*2 * [rounded(weight)], rounded(due))
            paid += due > 0
        assert len({(*tree.heads, *tree.labels) for tree in found}) == len(found)
        first = arb.decode_constrained(scores, conflicts, budget=arb.Budget(2e8), **options)
        assert (first.weight, first.certified) == (found[0].weight, True)
    assert paid or FEW  # of few graphs, none may have a cost that is worth paying


def rounded(exact):
    """The nearest float; infinite, if it is too large."""
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


@pytest.mark.parametrize("cost", [0, -1.0, np.inf, np.nan, "1"])
def test_costs_that_are_none(cost):
    def conflicts(heads):
        return [Conflict([Alternative(forbid=[Edges(heads[1], 1)])], "no", 1, cost)]

    with pytest.raises(arb.OptionError, match="cost must be a positive number, not"):
        arb.decode_constrained(np.zeros((4, 4)), conflicts)


def model_like(rng, n, labels, noise):
    """Log-probabilities of edges and labels around a random tree, as a parser gives them."""
    edges = rng.normal(0, noise, (n + 1, n + 1))
    edges[arb.decode(rng.normal(size=(n + 1, n + 1)))[1:], np.arange(1, n + 1)] += 6
    edges -= np.logaddexp.reduce(edges, axis=0)
    relations = rng.normal(0, noise, (n + 1, n + 1, labels))
    relations -= np.logaddexp.reduce(relations, axis=-1, keepdims=True)
    return edges[..., None] + relations


@pytest.mark.usefixtures("patience")
def test_beside_an_integer_linear_program():
    pytest.importorskip("scipy")
    from linear_program import best_weight

    labels = ("root", "nsubj", "obj", "punct", "case", "obl")
    rng = np.random.default_rng(5)
    most = 0
    for _ in range(12):
        n = int(rng.integers(5, 10))
        scores = model_like(rng, n, len(labels), noise=float(rng.choice([1.0, 2.0])))
        rules = [rule for rule in ud.RULES if not rule.name.startswith("rel-upos")]
        rules = [rule for rule in rules if rule.name != "upos-rel-punct"]
        conflicts = conflicts_of(rules, random_words(rng, n, labels))
        found = arb.decode_constrained(scores, conflicts)
        assert found.certified
        assert found.weight == pytest.approx(best_weight(scores, conflicts), abs=1e-6)
        most = max(most, found.nodes)
    assert most > 20


def test_after_the_limit_a_tree_that_keeps_the_rules_and_a_bound():
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(200, 200))

    def conflicts(heads):
        many = np.flatnonzero(np.bincount(heads[1:], minlength=200) > 2)
        for h in many[many > 0]:
            one, *others = np.flatnonzero(heads == h)[:3]
            yield [Alternative(forbid=[Edges(h, d)]) for d in (one, *others)]

    budget = arb.Budget(60 * work_of(200))
    found = arb.decode_constrained(scores, lambda heads: list(conflicts(heads)), budget=budget)
    assert not found.certified
    assert found.weight < found.bound <= arb.tree_weight(scores, arb.decode(scores))
    assert arb.is_tree(found.heads)
    assert not list(conflicts(found.heads))
    assert found.weight == arb.tree_weight(scores, found.heads)
    assert found.nodes > 30


def check_that_a_tree_is_found(scores, words):
    conflicts = conflicts_of(ud.RULES, words)
    budget = arb.Budget(300 * work_of(len(scores), projective=True))
    found = arb.decode_constrained(scores, conflicts, budget=budget)
    assert not found.certified
    assert arb.is_tree(found.heads)
    assert not conflicts(found.heads.copy(), found.labels)
    heads, labels = arb.decode_labeled(scores)
    best = scores[heads[1:], np.arange(1, len(heads)), labels[1:]].sum()
    assert found.weight < found.bound <= best + 1e-9


LABELS = (
    "root", "nsubj", "obj", "punct", "case", "obl", "det", "advmod", "conj", "cc", "mark", "aux",
    "cop", "nmod", "fixed", "flat", "goeswith", "appos", "csubj", "clf", "nummod", "acl",
)  # fmt: skip


@pytest.mark.skipif(UNCOMPILED, reason="takes long without compiled kernels")
@pytest.mark.parametrize(
    ("words", "seed"),
    [
        *[(40, seed) for seed in range(10)],
        pytest.param(200, 0, marks=pytest.mark.long),
    ],
)
def test_long_sentences_with_scores_and_tags_at_random(words, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(words + 1, words + 1, len(LABELS)))
    check_that_a_tree_is_found(scores, random_words(rng, words, LABELS))


@pytest.mark.skipif(UNCOMPILED, reason="takes long without compiled kernels")
def test_a_long_list_with_commas():
    """Each comma hangs a little better from a word that makes it cross edges."""
    rng = np.random.default_rng(3)
    n = 67
    words = random_words(rng, n, LABELS)
    tags = np.full(n + 1, words.tag_names.index("NOUN"))
    tags[2::3] = words.tag_names.index("PUNCT")
    tags[0] = -1
    words = words._replace(tags=tags, upos=tags, misc=lambda value: np.zeros(n + 1, np.bool_))
    scores = rng.normal(-9, 1, (n + 1, n + 1, len(LABELS)))
    scores[0, 1, LABELS.index("root")] = 5
    scores[1, 2:, LABELS.index("appos")] = 5
    for comma in range(2, n + 1, 3):
        scores[:, comma, LABELS.index("punct")] = 2.0 - rng.random(n + 1)
        scores[rng.integers(1, n + 1), comma, LABELS.index("punct")] = 2.1
    check_that_a_tree_is_found(scores, words)


def test_alternatives_that_no_edge_takes_among_many():
    """A rule that wants a label which the scores lack has such alternatives."""

    def conflicts(heads):
        ways = [Alternative(require=[Edges(0, 1)])]
        ways += [Alternative(require=[Edges([], d)]) for d in range(1, 10)]
        return [ways] if heads[1] else []

    scores = np.random.default_rng(0).normal(size=(10, 10))
    scores[0, 1] = -9
    [best] = arb.solve(scores, arb.Constraints(require=[Edges(0, 1)]))
    found = arb.decode_constrained(scores, conflicts)
    assert (found.heads.tolist(), found.certified) == (best.heads.tolist(), True)


def test_no_tree_within_the_limit():
    def conflicts(heads):
        return [[Alternative(forbid=[Edges(heads[d], d)]) for d in range(1, 8)]]

    scores = np.random.default_rng(0).normal(size=(8, 8))
    with pytest.raises(arb.StoppedError, match=r"none of the .* trees tried keeps the rules, and"):
        arb.decode_constrained(scores, conflicts, budget=arb.Budget(50_000))


def test_from_the_start():
    scores = np.random.default_rng(3).normal(size=(6, 6, 2))

    def nothing(heads, labels):
        return []

    best = arb.decode_labeled(scores)
    free = arb.decode_constrained(scores, nothing)
    assert np.array_equal((free.heads, free.labels), best)
    assert free.nodes == 1
    other = arb.decode_constrained(
        scores, nothing, forbid=[Edges(best[0][3], 3)], require=[Edges(None, [1, 2], 1), (5, 4)]
    )
    assert other.heads[3] != best[0][3]
    assert other.labels[[1, 2]].tolist() == [1, 1]
    assert other.heads[4] == 5
    with pytest.raises(arb.NoTreeError, match="no tree keeps all of this"):
        arb.decode_constrained(scores, nothing, require=[(1, 2), (2, 1)])


@pytest.mark.parametrize(
    "edges", [Edges(9, 1), Edges(1, 0), Edges(1, -1), Edges(1, 1.5), Edges(0, 1, 3)]
)
def test_edges_that_are_none(edges):
    def conflicts(heads):
        return [[Alternative(forbid=[edges])]]

    with pytest.raises(arb.OptionError, match="of edges must be whole numbers of"):
        arb.decode_constrained(np.zeros((4, 4)), conflicts)


def test_a_conflict_that_the_tree_does_not_have():
    def conflicts(heads):
        return [[Alternative(forbid=[Edges(heads[1], 1)]), Alternative(require=[Edges(None, 2)])]]

    with pytest.raises(arb.OptionError, match="the tree takes the alternative 1"):
        arb.decode_constrained(np.zeros((4, 4)), conflicts)


@pytest.mark.parametrize("scores", [np.zeros((2, 3, 3, 1)), np.zeros((2, 3)), np.zeros((2, 2, 0))])
def test_scores_of_one_sentence(scores):
    with pytest.raises(arb.ScoresError, match="scores must be of one sentence"):
        arb.decode_constrained(scores, lambda *tree: [])


def test_what_is_written_into_a_tree_spoils_nothing():
    def conflicts(heads, labels):
        heads[:], labels[:] = 0, 0
        return []

    scores = np.random.default_rng(3).normal(size=(6, 6, 2))
    found = arb.decode_constrained(scores, conflicts)
    assert np.array_equal((found.heads, found.labels), arb.decode_labeled(scores))


def test_a_sentence_without_words():
    found = arb.kbest_constrained(np.zeros((1, 1)), lambda heads: [], 3)
    assert [tree.heads.tolist() for tree in found] == [[-1]]
