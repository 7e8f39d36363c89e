"""The steps to the best tree that keeps rules, beside the search written down naively."""

import heapq
import importlib.util
import json
from fractions import Fraction
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import arborescence as arb
import arborescence.inference.branching as module
from arborescence.explaining import as_json, explain_constrained
from arborescence.explaining.page import search_html
from arborescence.explaining.problem import number
from arborescence.inference.constraints import Constraints
from arborescence.inference.demands import Charge, Limit
from arborescence.rules import Alternative, Conflict, Edges
from graphs import ABSENT, FINITE
from modes import FEW, UNCOMPILED, some
from random_rules import allowed_trees, labeled_graphs, random_rules

#: Steps that look at the part with the highest bound.
TAKEN = ("conflict", "keeps-rules", "again")

#: Searches that take more decodes are left out: their explanations are long.
LIMIT = 60


class Naive:
    """The search as docs/rules.md has it: on whole tables, one for each part of all trees."""

    def __init__(self, scores, conflicts, **options):
        self.scores, self.conflicts, self.options = scores, conflicts, options
        self.gone = np.zeros(scores.shape, bool)
        self.decoded, self.bounds = 0, []

    def best(self, allowed, most=None):
        """The best tree of a part, as an entry of the heap without its place."""
        self.decoded += 1
        masked = np.where(allowed & ~self.gone, self.scores, -np.inf)
        try:
            heads, labels = arb.decode_labeled(masked, **self.options)
        except arb.NoTreeError:
            return None
        weight = self.weight(heads, labels)
        return weight if most is None else min(weight, most), allowed, heads, labels

    def weight(self, heads, labels):
        edges = heads[1:], np.arange(1, len(heads)), labels[1:]
        return sum((Fraction(float(score)) for score in self.scores[edges]), Fraction(0))

    def run(self):
        """The best tree that keeps the rules; None: there is none, or it takes too many steps."""
        places = count()
        first = self.best(np.ones(self.scores.shape, bool))
        waiting = [] if first is None else [(-first[0], 1, next(places), first)]
        while waiting and self.decoded <= LIMIT:
            _, kind, _, node = heapq.heappop(waiting)
            if kind == 0:
                return node
            self.bounds.append(node[0])
            for kind, below in self.below(node):
                if below is not None:
                    heapq.heappush(waiting, (-below[0], kind, next(places), below))
        return None

    def below(self, node):
        """What comes of a node: it is decoded again, or keeps the rules, or is divided."""
        bound, allowed, heads, labels = node
        tree = heads[1:], np.arange(1, len(heads)), labels[1:]
        if self.gone[tree].any():
            return [(1, self.best(allowed, bound))]
        found = self.conflicts(heads.copy(), labels.copy())
        for ways in found:
            if len(ways) == 1:
                self.gone |= ~self.taking(ways[0])
        if self.gone[tree].any():
            return [(1, self.best(allowed, bound))]
        if not found:
            return [(0, (self.weight(heads, labels), *node[1:]))]
        parts = []
        ways = sorted(min(found, key=len), key=lambda way: not self.is_simple(way))
        for way in ways:
            taking = self.taking(way)
            parts.append((1, self.best(allowed & taking, bound)))
            if self.is_simple(way):
                [word] = np.flatnonzero((~taking).any(axis=(0, 2)))
                allowed = allowed.copy()
                allowed[:, word] &= ~taking[:, word]
        return parts

    def taking(self, way):
        """The edges that trees which take an alternative may have."""
        taking = np.ones(self.scores.shape, bool)
        for edges in way.forbid:
            taking &= ~self.inside(edges)
        for edges in way.require:
            words = self.inside(edges).any(axis=(0, 2))
            taking &= self.inside(edges) | ~words[:, None]
        return taking

    def inside(self, edges):
        """A table of the edges of a set."""
        axes = [
            np.arange(size) if which is None else np.atleast_1d(which)
            for which, size in zip(edges, self.scores.shape, strict=True)
        ]
        table = np.zeros(self.scores.shape, bool)
        table[np.ix_(*axes)] = True
        table[:, 0] = False
        return table

    def is_simple(self, way):
        """Whether an alternative is about one word, and so is what excludes it."""
        sets = [*way.forbid, *way.require]
        return (
            len(sets) == 1 and np.size(sets[0].dependents) == 1 and sets[0].dependents is not None
        )


def trees(number):
    """A budget of so many trees of a short sentence."""
    return arb.Budget(10_000 * number)


def problems(kind, rounds):
    for place, (scores, rng) in enumerate(labeled_graphs(kind, rounds, seed=11)):
        conflicts = random_rules(rng, len(scores) - 1, scores.shape[-1])
        root = ("single", "multi")[place % 2]
        yield scores, conflicts, {"root": root, "projective": bool(place // 2 % 2)}


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_the_same_bounds_in_the_same_order(kind, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 10**6)  # without multipliers
    monkeypatch.setattr(module, "_REPAIRS", ())
    compared = 0
    for scores, conflicts, options in problems(kind, 40 if UNCOMPILED else 70):
        naive = Naive(scores, conflicts, **options)
        tree = naive.run()
        if naive.decoded > LIMIT:
            continue
        compared += 1
        steps = explain_constrained(scores, conflicts, budget=trees(2 * LIMIT), **options)
        last = steps[-1]
        bounds = [step.detail.part.bound for step in steps if step.kind in TAKEN]
        assert bounds == [number(bound) for bound in naive.bounds]
        assert last.kind == ("no-tree" if tree is None else "tree")
        if tree is not None:
            weight, _, heads, labels = tree
            assert last.heads == tuple(heads.tolist())
            assert last.detail.part.labels == tuple(labels.tolist())
            assert last.weight == number(weight)
            assert last.detail.nodes == naive.decoded
    assert compared > (20 if UNCOMPILED else some(24))


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("patience", [12, 0], ids=["branching", "with multipliers"])
@pytest.mark.parametrize("kind", ["normal-64", "small-integers", "absent"])
def test_every_state(kind, patience, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", patience)
    monkeypatch.setattr(module, "_MANY", 8 if patience else 2)
    monkeypatch.setattr(module, "_REPAIRS", (16,) if patience else (1, 2))
    seen = set()
    for scores, conflicts, options in problems(kind, 40):
        steps = explain_constrained(scores, conflicts, budget=trees(4 * LIMIT), **options)
        if steps[-1].kind == "no-tree" and "more budget" in steps[-1].text:
            continue
        assert json.loads(json.dumps(as_json(steps), allow_nan=False))["steps"]
        seen |= {step.kind for step in steps}
        single, projective = options["root"] == "single", options["projective"]
        allowed = [
            list(zip(heads[1:].tolist(), range(1, len(heads)), labels[1:].tolist(), strict=True))
            for _, heads, labels in allowed_trees(scores, conflicts, single, projective)
        ]
        assert (steps[-1].kind == "no-tree") == (not allowed)
        for step in steps:
            assert str(step).startswith(f"[{step.kind}] ")
            assert step.text.endswith(".")
            if step.detail is not None:
                check_state(step, allowed, scores)
        if allowed:
            found = arb.decode_constrained(scores, conflicts, budget=trees(4 * LIMIT), **options)
            assert steps[-1].heads == tuple(found.heads.tolist())
            assert steps[-1].detail.part.labels == tuple(found.labels.tolist())
            assert (steps[-1].weight, steps[-1].detail.nodes) == (found.weight, found.nodes)
    wanted = {"first-tree", "conflict", "keeps-rules", "everywhere", "again", "tree", "no-tree"}
    rare = {"multipliers", "repair", "later"} if patience == 0 and not FEW else set()
    assert seen >= wanted | rare


def check_state(step, allowed, scores):
    """Bounds hold, no tree is lost, and what a conflict refuses is all of it."""
    part, made, waiting = step.detail.part, step.detail.made, step.detail.waiting
    exact = sum((Fraction(float(scores[edge])) for edge in part.edges), Fraction(0))
    assert step.weight == number(exact)
    for branch in (part, *made, *waiting):
        assert all(one.allows(edge) for one in branch.conditions for edge in branch.edges)
        assert branch.bound is None or branch.bound <= part.bound or branch in waiting
    for parts in (made, waiting):
        bounds = [-np.inf if branch.bound is None else branch.bound for branch in parts]
        assert bounds == sorted(bounds, reverse=True)
    if step.kind == "conflict":
        assert set(step.detail.refused) <= set(part.edges)
        for tree in allowed:
            holds = [all(c.allows(e) for c in b.conditions for e in tree) for b in (part, *made)]
            if holds[0]:
                assert any(holds[1:])
                assert not set(step.detail.refused) <= set(tree)
    if step.kind == "tree":
        assert all(branch.bound <= step.weight for branch in waiting)


def at_most_one_child(heads):
    """Each word has one dependent at most."""
    for h in heads[1:]:
        children = np.flatnonzero(heads == h)
        if h and len(children) > 1:
            return [[Alternative(forbid=[Edges(h, d)]) for d in children]]
    return []


def test_after_the_limit():
    scores = np.random.default_rng(3).normal(size=(14, 14))
    steps = explain_constrained(scores, at_most_one_child, budget=trees(100))
    last = steps[-1]
    found = arb.decode_constrained(scores, at_most_one_child, budget=trees(100))
    assert not found.certified
    assert last.kind == "limit"
    assert last.heads == tuple(found.heads.tolist())
    assert f"no other more than {found.bound:.6g}." in last.text


def test_rules_by_name_and_what_is_paid():
    scores = np.array([[0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 5.0, 5.0], [0.0, 0.0, 0.0, 1.0], [0.0] * 4])

    def conflicts(heads):
        return [
            Conflict(alternatives, "one-child", 1, cost)
            for alternatives in at_most_one_child(heads)
        ]

    for cost, weight in ((3.0, 12.0), (5.0, 11.0), (None, 11.0)):
        steps = explain_constrained(scores, conflicts, words=["a", "b", "c"])
        conflict = next(step for step in steps if step.kind == "conflict")
        assert "breaks one-child: a → b and a → c do not go together" in conflict.text
        paying = "with a → b, with a → c, paying for one-child (a)"
        assert (paying in str(conflict)) == (cost is not None)
        assert f"it weighs {weight:g}, certified" in steps[-1].text
        found = arb.decode_constrained(scores, conflicts)
        assert (found.weight, found.paid) == (weight, 15 - weight if cost == 3 else 0.0)
        if cost == 3:
            assert "the rules, except rules that it pays for, and weighs 12" in steps[1].text

    def only(heads):
        return [Conflict([Alternative(forbid=[Edges(1, 2)])], "not-a", 2)] if heads[2] == 1 else []

    assert (
        "A conflict (not-a) has only one alternative: " in explain_constrained(scores, only)[1].text
    )


def demands_of_every_kind(rng, n, labels):
    """Edges to have and not to have, prices at all levels, votes, limits and functions."""
    wanted = Constraints(
        forbid=[Edges(0, 1)],
        require=[Edges([2, 3], 4)],
        charges=[Charge(Edges(0, 2), 1.5, name="early root"), Charge(Edges(None, 3, 0), 2, 2)],
        limits=[Limit([Edges(2, None)], 1), Limit([Edges(3, None)], 0, price=1, level=1)],
        votes=[rng.integers(0, 2, (n + 1, n + 1))],
        conflicts=[random_rules(rng, n, labels)],
    )
    return wanted & Constraints.fixed(rng.integers(-1, n + 1, n + 1), levels=(2, 1))


@pytest.mark.parametrize("patience", [12, 0], ids=["branching", "with multipliers"])
def test_constraints_of_every_kind(patience, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", patience)
    rng, found, paid = np.random.default_rng(5), 0, 0
    for _ in range(some(40)):
        scores = rng.normal(size=(5, 5, 2))
        wanted = demands_of_every_kind(rng, 4, 2)
        steps = explain_constrained(scores, wanted, words=list("abcd"), budget=trees(10**4))
        last = steps[-1]
        try:
            [tree] = arb.solve(scores, wanted, budget=trees(10**4))
        except arb.NoTreeError:
            assert last.kind == "no-tree"
            continue
        found += 1
        assert [step.kind for step in steps[:3]] == ["prices", "demands", "first-tree"]
        assert "1.5 for edges root → b; 2 at level 2 for edges any → c (0)" in steps[0].text
        assert "without root → a and with b/c → d" in steps[1].text
        assert (last.heads, last.detail.part.labels) == (tuple(tree.heads), tuple(tree.labels))
        assert (last.detail.part.bound, last.detail.part.levels) == (tree.weight, tree.levels)
        assert last.detail.nodes == tree.nodes
        best = [tuple(-price for price in tree.levels), tree.weight]
        for step in steps[2:]:
            part = step.detail.part
            assert step.kind not in TAKEN or [tuple(-p for p in part.levels), part.bound] >= best
        for due in tree.dues:
            early = due.name == "early root"
            paid += early
            assert not early or "It pays 1.5 for early root (b)" in last.text
        levels = [f"{price} at level {2 - i}" for i, price in enumerate(tree.levels) if price]
        assert all(text in last.text for text in levels)
    assert found
    assert paid or FEW


def test_names_and_errors():
    scores = np.random.default_rng(3).normal(size=(5, 5, 2))
    words, labels = ["a", "b", "c", "d"], ["X", "Y"]

    def only(heads, labels):
        return [] if heads[1] == 0 else [[Alternative(forbid=[Edges(range(1, 5), 1)])]]

    steps = explain_constrained(scores, only, words=words, labels=labels)
    assert "only one alternative: without any but root → a." in steps[1].text
    with pytest.raises(arb.OptionError, match="there are 1 names of labels, and scores of 2"):
        explain_constrained(scores, only, labels=["X"])
    with pytest.raises(arb.OptionError, match="root must be among the constraints"):
        explain_constrained(scores, Constraints(), root="multi")
    with pytest.raises(arb.ScoresError, match="at most 30"):
        explain_constrained(np.zeros((40, 40)), at_most_one_child)
    for bad in (np.zeros(3), np.zeros((3, 3, 0)), np.zeros((2, 3, 3, 2))):
        with pytest.raises(arb.ScoresError):
            explain_constrained(bad, at_most_one_child)
    assert [step.kind for step in explain_constrained(np.full((3, 3), -np.inf), only)] == [
        "no-tree"
    ]


def test_the_pictures_of_the_page():
    path = Path(__file__).parents[2] / "docs" / "images" / "rules.py"
    spec = importlib.util.spec_from_file_location("rules_pictures", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, picture in script.pictures().items():
        assert (path.parent / name).read_text(encoding="utf-8") == picture


def test_as_a_page():
    scores = np.random.default_rng(3).normal(size=(6, 6))
    steps = explain_constrained(scores, at_most_one_child, words=["<", "b", "c", "d", "e"])
    page = search_html(steps)
    assert page.count("<svg") == len(steps)
    assert page.count("<table>") == len(steps)
    assert "&lt; b c d e" in page
    none = explain_constrained(np.full((3, 3), -np.inf), at_most_one_child)
    assert "<svg" not in search_html(none)
