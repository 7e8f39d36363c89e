"""`solve` under constraints of every kind, beside every labeled tree of small graphs."""

from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from operator import and_

import numpy as np
import pytest

import arborescence as arb
from arborescence.inference.constraints import Constraints
from arborescence.inference.demands import Charge, Limit
from arborescence.inference.parts import Lazy
from arborescence.inference.solver import search
from arborescence.inference.whole_numbers import decode_whole
from arborescence.rules import Alternative, Conflict, Edges
from brute_force import all_trees, whole_numbers
from modes import FEW, some
from random_rules import every_labeled_tree, labeled_graphs, random_rules, rules_at_costs

ROOTS = ("single", "multi")


def random_edges(rng, n, labels):
    """A set of edges of any size."""

    def entry(first, size):
        kind = rng.integers(3)
        if kind == 0:
            return None
        if kind == 1:
            return int(rng.integers(first, size))
        some_of = int(rng.integers(1, size - first + 1))
        return rng.choice(np.arange(first, size), some_of, replace=False)

    return Edges(entry(0, n + 1), entry(1, n + 1), entry(0, labels))


def has(edges, heads, labels, n, n_labels):
    """The words of a tree whose edge is in a set."""
    axes = [
        range(first, size) if which is None else np.atleast_1d(which).tolist()
        for which, first, size in zip(edges, (0, 1, 0), (n + 1, n + 1, n_labels), strict=True)
    ]
    return [d for d in axes[1] if heads[d] in axes[0] and labels[d] in axes[2]], axes[1]


def keeps(wanted, heads, labels, n_labels):
    """What `Constraints` say, once more."""
    n = len(heads) - 1
    found = [has(edges, heads, labels, n, n_labels) for edges in wanted.require]
    return (
        not any(has(edges, heads, labels, n, n_labels)[0] for edges in wanted.forbid)
        and all(set(inside) == set(words) for inside, words in found)
        and all(
            len({d for edges in one.edges for d in has(edges, heads, labels, n, n_labels)[0]})
            <= one.most
            for one in wanted.limits
        )
        and not any(rule(heads, labels) for rule in wanted.conflicts)
    )


def random_constraints(rng, n, labels, **which):
    few = [int(rng.integers(0, most)) for most in (3, 2, 3, 2)]
    return Constraints(
        forbid=[random_edges(rng, n, labels) for _ in range(few[0]) if rng.integers(3) == 0],
        require=[random_edges(rng, n, labels) for _ in range(few[1]) if rng.integers(2)],
        limits=[
            Limit(
                [random_edges(rng, n, labels) for _ in range(rng.integers(1, 3))],
                int(rng.integers(0, 3)),
            )
            for _ in range(few[2])
        ],
        conflicts=[random_rules(rng, n, labels) for _ in range(few[3])],
        **which,
    )


def trees_of(scores, wanted):
    """The heads, labels and edges of all labeled trees whose edges the scores have."""
    n, n_labels = len(scores) - 1, scores.shape[-1]
    every = every_labeled_tree(n, n_labels, wanted.root == "single", wanted.projective)
    for heads, labels in zip(*every, strict=True):
        edges = heads[1:], np.arange(1, n + 1), labels[1:]
        if (scores[edges] > -np.inf).all():
            yield heads, labels, edges


def all_that_keep(scores, wanted):
    """The weights of all labeled trees that keep constraints, best first, as whole numbers."""
    found = [
        (whole_numbers(scores)[edges].sum(), tuple(heads))
        for heads, labels, edges in trees_of(scores, wanted)
        if keeps(wanted, heads, labels, scores.shape[-1])
    ]
    return sorted(found, reverse=True)


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("kind", ["normal-64", "small-integers", "mask-lowest-64", "absent"])
def test_beside_all_trees(kind):
    kept = 0
    for number, (scores, rng) in enumerate(labeled_graphs(kind, min(some(60), 32), seed=11)):
        n, n_labels = len(scores) - 1, scores.shape[-1]
        which = {"root": ROOTS[number % 2], "projective": bool(number // 2 % 2)}
        wanted = random_constraints(rng, n, n_labels, **which)
        trees, by_heads = all_that_keep(scores, wanted), number % 3 == 0
        if not trees:
            with pytest.raises(arb.NoTreeError):
                arb.solve(scores, wanted)
            continue
        kept += 1
        weights = [weight for weight, _ in trees]
        if by_heads:
            weights = sorted({heads: w for w, heads in reversed(trees)}.values(), reverse=True)
        found = arb.solve(scores, wanted, 3, by_heads=by_heads)
        assert len(found) == min(3, len(weights))
        for tree, weight in zip(found, weights, strict=False):
            edges = tree.heads[1:], np.arange(1, n + 1), tree.labels[1:]
            assert whole_numbers(scores)[edges].sum() == weight
            assert keeps(wanted, tree.heads, tree.labels, n_labels)
            assert tree.certified
            assert tree.bound == tree.weight
    assert kept


def test_without_labels_and_as_a_mask():
    rng = np.random.default_rng(4)
    for _ in range(some(40)):
        n = int(rng.integers(2, 6))
        scores = rng.normal(size=(n + 1, n + 1))
        wanted = random_constraints(rng, n, 1)
        wanted = Constraints(forbid=wanted.forbid, require=wanted.require)
        try:
            [tree] = arb.solve(scores, wanted)
        except arb.NoTreeError:
            continue
        assert tree.labels is None
        assert tree.heads.tolist() == arb.decode(wanted.masked(scores)).tolist()
        watched = []
        [same] = arb.solve(scores, wanted, watch=watched.append)  # the search itself
        assert (same.heads.tolist(), same.weight) == (tree.heads.tolist(), tree.weight)
        assert watched
        marginals = arb.TreeDistribution(wanted.masked(scores)).marginals()
        assert (marginals[:, 1:][wanted.masked(scores)[:, 1:] == -np.inf] == 0).all()


@pytest.mark.parametrize("n", [3, 4])
def test_a_span_is_a_subtree(n):
    rng = np.random.default_rng(n)
    for first, last in [(1, 2), (2, 3), (2, n), (1, n), (2, 2)]:
        scores = rng.normal(size=(n + 1, n + 1, 1))
        inside = set(range(first, last + 1))

        def is_subtree(heads, inside=inside):
            entering = [d for d in inside if heads[d] not in inside]
            leaving = [d for d in range(1, n + 1) if d not in inside and heads[d] in inside]
            return len(entering) == 1 and not leaving

        heads, _ = every_labeled_tree(n, 1, True, False)
        best = max(
            whole_numbers(scores)[tree[1:], np.arange(1, n + 1), 0].sum()
            for tree in heads
            if is_subtree(tree)
        )
        [tree] = arb.solve(scores, Constraints.span(first, last, n))
        assert is_subtree(tree.heads)
        assert whole_numbers(scores)[tree.heads[1:], np.arange(1, n + 1), 0].sum() == best
    with pytest.raises(arb.OptionError, match="a span is of words from 1 to 4, not 3 to 2"):
        Constraints.span(3, 2, 4)


def test_what_contradicts_what():
    """The members that are named have no tree together, and any fewer of them do."""
    rng = np.random.default_rng(8)
    named = set()
    for _ in range(some(60)):
        n = int(rng.integers(3, 6))
        scores = rng.normal(size=(n + 1, n + 1))
        drawn = rng.integers(0, n + 1, (rng.integers(2, n + 3), 2)).tolist()
        pairs = {(h, d) for h, d in drawn if d and h != d}
        edges = [Edges(*pair) for pair in sorted(pairs)]
        wanted = Constraints(
            require=edges,
            limits=[Limit([Edges(None, None)], n - 1)] * (n == 3),
            root=ROOTS[int(rng.integers(2))],
            projective=bool(rng.integers(2)),
        )
        empty = _is_empty(scores, wanted)
        with pytest.raises(arb.NoTreeError) if empty else nullcontext() as raised:
            arb.solve(scores, wanted)
        if raised is None or "all of this" not in str(raised.value):
            continue
        said = str(raised.value).partition(": ")[2].split("; ")
        which = {
            "root": ROOTS["one root edge" not in said],
            "projective": "no crossing edges" in said,
        }
        parts = [
            replace(part, **which) for part in wanted.parts() if str(part).split("; ")[0] in said
        ]
        named |= {(len(parts) > 1, *which.values())}
        assert _is_empty(scores, _joined(parts))
        for fewer in combinations(parts, len(parts) - 1):
            assert not fewer or not _is_empty(scores, _joined(fewer))
        for name, free in ("root", "multi"), ("projective", False):
            if which[name] != free:
                assert not _is_empty(scores, replace(_joined(parts), **{name: free}))
    assert len(named) > 3 or FEW


def _joined(parts):
    return reduce(and_, parts)


def _is_empty(scores, wanted):
    return not all_that_keep(scores[..., None], wanted)


def test_contradictions_that_are_not_proved():
    def never(heads):
        return [[], []]  # no way out

    def stubborn(heads):
        ways = [[Edges(int(heads[d]), d)] for d in range(1, 7)]
        return [[arb.rules.Alternative(forbid=way) for way in ways]]

    scores = np.random.default_rng(0).normal(size=(7, 7))
    wanted = Constraints(conflicts=[never, stubborn])
    with pytest.raises(arb.NoTreeError, match="not proved within the budget"):
        arb.solve(scores, wanted, budget=arb.Budget(40_000))


def test_constraints_joined_and_in_words():
    wanted = Constraints.fixed([-1, 2, -1, 0], [-1, -1, 1, -1], root="multi") & Constraints(
        limits=[Limit([Edges(2, [1, 3])], 1)], root="multi", projective=True
    )
    assert str(wanted) == (
        "into each dependent, one of the edges 2 → 1; into each dependent, one of the edges "
        "any → 2 (label 1); into each dependent, one of the edges 0 → 3; at most 1 of the edges "
        "2 → 1/3; no crossing edges"
    )
    with pytest.raises(arb.OptionError, match="root"):
        Constraints(root="one")
    with pytest.raises(arb.OptionError, match="must be whole numbers of 0 to 3"):
        arb.solve(np.zeros((4, 4)), Constraints(forbid=[Edges(9, 1)]))


def priced(rng, n, labels, **which):
    """Demands of all kinds, most of them at a price."""
    hard = random_constraints(rng, n, labels, **which)
    amounts = [0.5, 1.0, float(rng.random()), 3.0]

    def price():
        level = int(rng.integers(0, 3))
        amount = int(rng.integers(1, 4)) if level else float(rng.choice(amounts))
        return {"price": amount, "level": level}

    charges = [
        Charge(random_edges(rng, n, labels), required=bool(rng.integers(2)), **price())
        for _ in range(rng.integers(0, 4))
    ]
    limits = [
        Limit([random_edges(rng, n, labels)], int(rng.integers(0, 2)), **price())
        for _ in range(rng.integers(0, 3))
    ]
    votes = [rng.integers(0, 3, (n + 1, n + 1)) for _ in range(rng.integers(0, 2))]
    rules = [rules_at_costs(rng, n, labels) for _ in range(rng.integers(0, 2))]
    others = Constraints(charges=charges, limits=limits, votes=votes, conflicts=rules, **which)
    if rng.integers(4) == 0:
        heads, names = rng.integers(-1, n + 1, n + 1), rng.integers(-1, labels, n + 1)
        others &= Constraints.fixed(heads, names, levels=(2, 1), **which)
    if rng.integers(4) == 0:
        first, last = sorted(rng.integers(1, n + 1, 2).tolist())
        others &= Constraints.span(first, last, n, **which)
    return (hard & others) if rng.integers(3) == 0 else others


def paid(wanted, heads, labels, n_labels):
    """What a tree pays at each level, the highest first; None if it breaks what it must keep."""
    n, levels = len(heads) - 1, [Fraction(0) for _ in range(wanted.levels + 1)]
    limits = [one for one in wanted.limits if one.price is None]
    if not keeps(replace(wanted, limits=limits, conflicts=()), heads, labels, n_labels):
        return None
    for charge in wanted.charges:
        inside, words = has(charge.edges, heads, labels, n, n_labels)
        times = len(words) - len(inside) if charge.required else len(inside)
        levels[-1 - charge.level] += times * Fraction(charge.price)
    for one in wanted.limits:
        inside = {d for edges in one.edges for d in has(edges, heads, labels, n, n_labels)[0]}
        if one.price is not None and len(inside) > one.most:
            levels[-1 - one.level] += Fraction(one.price)
    for votes in wanted.votes:
        kept = sum(int(votes[heads[d], d]) for d in range(1, n + 1))
        levels[-2] += int(votes[:, 1:].sum()) - kept
    for rule in wanted.conflicts:
        sites = {}
        for one in rule(heads, labels):
            if not isinstance(one, Conflict) or one.cost is None:
                return None
            sites[one.rule, one.word] = one.level, Fraction(one.cost)
        for level, cost in sites.values():
            levels[-1 - level] += cost
    return levels


def paying_trees(scores, wanted):
    """Each tree that keeps what it must, best first: gains at levels, weight less prices, tree."""
    trees = []
    for heads, labels, edges in trees_of(scores, wanted):
        dues = paid(wanted, heads, labels, scores.shape[-1])
        if dues is not None:
            weight = sum(map(Fraction, scores[edges].tolist())) - dues[-1]
            trees.append(([-due for due in dues[:-1]], weight, (*heads, *labels)))
    return sorted(trees, reverse=True)


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("kind", ["normal-64", "small-integers", "mask-lowest-64", "absent"])
@pytest.mark.parametrize("exact", [True, False], ids=["floats", "whole numbers"])
def test_prices_at_levels_beside_all_trees(kind, exact, monkeypatch):
    if not exact:
        monkeypatch.setattr("arborescence.inference.solver.combined", lambda tables: None)
        monkeypatch.setattr("arborescence.inference.levels.combined", lambda tables: None)
    kept = 0
    for number, (scores, rng) in enumerate(labeled_graphs(kind, min(some(40), 16), seed=12)):
        n, n_labels = len(scores) - 1, scores.shape[-1]
        which = {"root": ROOTS[number % 2], "projective": bool(number // 2 % 2)}
        wanted = priced(rng, n, n_labels, **which)
        trees = paying_trees(scores, wanted)
        budget = arb.Budget(2e8)
        if not trees:
            with pytest.raises(arb.NoTreeError):
                arb.solve(scores, wanted, budget=budget)
            continue
        kept += 1
        every = {tree: (gains, weight) for gains, weight, tree in trees}
        found = arb.solve(scores, wanted, 3, budget=budget)
        assert len(found) == min(3, len(trees))
        for tree, (gains, weight, _) in zip(found, trees, strict=False):
            assert every[*tree.heads, *tree.labels] == (gains, weight)
            assert tree.certified
            assert tree.levels == tuple(-gain for gain in gains)
            assert tree.weight == tree.bound == rounded(weight)
            dues = [Fraction(due.price) for due in tree.dues if not due.level]
            assert sum(dues) == pytest.approx(tree.paid)
        [first] = arb.solve(scores, wanted, budget=budget)
        assert every[*first.heads, *first.labels] == trees[0][:2]
    assert kept


def odd_heads_at_levels(rng, n):
    """A word of odd number pays, at some level, for a head of odd number; one word must not."""
    level, price, never = (
        int(rng.integers(0, 3)),
        int(rng.integers(1, 4)),
        int(rng.integers(n + 1)),
    )

    def conflicts(heads, labels):
        for d in range(1, n + 1, 2):
            if heads[d] % 2:
                ways = [Alternative(forbid=[Edges(range(1, n + 1, 2), d)])]
                hard = d == never
                yield Conflict(ways, "odd", d, None if hard else price, 0 if hard else level)

    return lambda heads, labels: list(conflicts(heads, labels))


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("by_heads", [False, True])
def test_mixes_of_all_kinds_beside_all_trees(labels, by_heads):
    """Up to five words; labels that are weighed when they are needed; the k best."""
    rng, kept, seen = np.random.default_rng([labels, by_heads]), 0, set()
    for number in range(some(48)):
        n = int(rng.integers(1, 7 - labels))
        scores = rng.integers(-6, 7, (n + 1, n + 1, labels)) / 2 if number % 2 else None
        scores = rng.normal(size=(n + 1, n + 1, labels)) if scores is None else scores
        which = {"root": ROOTS[number % 2], "projective": bool(number // 2 % 2)}
        wanted = priced(rng, n, labels, **which)
        wanted &= Constraints(conflicts=[odd_heads_at_levels(rng, n)], levels=2, **which)
        if number % 6 == 0:  # edges drawn as the others are mostly leave no tree
            heads = rng.choice(n + 1, n // 2 + 1, replace=False)
            required = Edges(heads, int(rng.integers(1, n + 1)))
            wanted &= Constraints(require=[required], **which)
        trees, k = paying_trees(scores, wanted), int(rng.integers(1, 6))
        if by_heads:
            firsts = {}
            for tree in trees:
                firsts.setdefault(tree[2][: n + 1], tree)
            trees = list(firsts.values())
        lazy = Lazy(scores.max(axis=-1), labels, lambda h, d, scores=scores: scores[h, d])
        for find, given in ((arb.solve, scores), (search, lazy)):
            budget = arb.Budget(2e8)
            if not trees:
                with pytest.raises(arb.NoTreeError):
                    find(given, wanted, k, budget=budget, by_heads=by_heads)
                continue
            found = find(given, wanted, k, budget=budget, by_heads=by_heads)
            assert len(found) == min(k, len(trees))
            for tree, (gains, weight, _) in zip(found, trees, strict=False):
                assert tree.certified
                assert tree.levels == tuple(-gain for gain in gains)
                assert tree.weight == tree.bound == rounded(weight)
            kept += 1
        names = ("forbid", "require", "charges", "limits", "votes", "conflicts")
        seen |= {name for name in names if trees and getattr(wanted, name)}
    assert kept
    assert seen == {*names} or FEW


def rounded(exact):
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("root", ROOTS)
def test_trees_of_whole_numbers(root, projective):
    rng = np.random.default_rng(3)
    for _ in range(some(200)):
        n = int(rng.integers(1, 8))
        scores = rng.integers(-3, 4, (n + 1, n + 1)).astype(float)
        scores[rng.random(scores.shape) < 0.3] = -np.inf
        rows = [
            [None if x == -np.inf else int(x) - 9 << 2000 for x in row] for row in scores.tolist()
        ]
        try:
            best = arb.decode(scores, root=root, projective=projective)
        except arb.NoTreeError:
            with pytest.raises(arb.NoTreeError):
                decode_whole(rows, root=root, projective=projective)
            continue
        found = decode_whole(rows, root=root, projective=projective)
        assert arb.is_tree(found, root=root)
        assert arb.is_projective(found) or not projective
        assert arb.tree_weight(scores, found) == arb.tree_weight(scores, best)


def test_votes_before_masked_scores():
    """No float holds a vote and float32's lowest number: lists of numbers do."""
    rng = np.random.default_rng(9)
    for _ in range(some(40)):
        n = 5
        scores = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
        scores[rng.random(scores.shape) < 0.3] = np.finfo(np.float32).min
        votes = rng.integers(0, 2, scores.shape)
        trees = [(int(votes[t[1:], range(1, n + 1)].sum()), weight_of(scores, t), t) for t in ALL]
        [found] = arb.solve(scores, Constraints(votes=[votes]))
        kept, weight, _ = max(trees, key=lambda tree: tree[:2])
        assert found.levels == (int(votes[:, 1:].sum()) - kept,)
        assert weight_of(scores, found.heads) == weight
        assert found.certified


ALL = [tree.tolist() for tree in all_trees(5, True, False)]


def weight_of(scores, heads):
    return sum(Fraction(float(scores[heads[d], d])) for d in range(1, len(heads)))


def test_prices_that_are_none():
    for charge in (
        Charge(Edges(0, 1), 0.5, level=1),
        Charge(Edges(0, 1), -1.0),
        Charge(Edges(0, 1), 10**10, level=2),
    ):
        with pytest.raises(arb.OptionError, match="cost"):
            arb.solve(np.zeros((3, 3)), Constraints(charges=[charge]))
    with pytest.raises(arb.OptionError, match="votes must be whole numbers"):
        arb.solve(np.zeros((3, 3)), Constraints(votes=[np.zeros((3, 3))]))
