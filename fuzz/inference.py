"""All inference over the trees of small graphs, against every tree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import arborescence as arb
from brute_force import all_trees, is_best, tree_weights
from cases import Case, WrongError, examine
from kinds import options, small_graph
from sparse_graphs import listed


def attack(rng):
    for _ in range(20):
        case = Case(
            (small_graph(rng),),
            {
                **options(rng),
                "k": int(rng.choice([1, 2, 5, 40, 3000])),
                "seed": int(rng.integers(9)),
            },
        )
        for check in CHECKS:
            yield from examine(check, case)


class Every:
    """Every tree, with exact weights."""

    def __init__(self, case):
        self.scores = case.scores
        self.single = case.options["root"] == "single"
        self.projective = case.options["projective"]
        self.trees, weights = tree_weights(self.scores, self.single, self.projective)
        self.weights = weights.tolist()
        self.of = dict(zip(map(tuple, self.trees.tolist()), self.weights, strict=True))

    def expect_none(self, call):
        """Check that a call says that there is no tree."""
        try:
            call()
        except arb.NoTreeError:
            return
        raise WrongError("no NoTreeError where there is no tree")


def rounded_sum(scores, heads):
    """The weight of a tree, rounded once."""
    edges = [float(scores[h, d]) for d, h in enumerate(heads) if d]
    if -np.inf in edges:
        return -np.inf
    total = sum(map(Fraction, edges), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return np.inf if total > 0 else -np.inf


def decode(case):
    every = Every(case)
    if not every.of:
        every.expect_none(lambda: arb.decode(case.scores, **case.trees))
        return
    found = arb.decode(case.scores, **case.trees)
    if not is_best(case.scores, found, every.single, every.projective):
        raise WrongError("not the best tree", found.tolist())


def undirected(case):
    every = Every(case)
    if every.projective:
        return
    for encoding in ("mean", "product", "max", "min"):
        try:
            found = arb.undirected.decode(case.scores, root=case.options["root"], encoding=encoding)
        except arb.NoTreeError:
            if every.of:
                raise WrongError("NoTreeError where there is a tree", encoding) from None
            continue
        except arb.ScoresError:
            if (
                encoding != "product"
                and np.abs(case.scores[np.isfinite(case.scores)]).max() < 1e300
            ):
                raise
            continue
        if tuple(found.tolist()) not in every.of:
            raise WrongError("not a tree of the graph", encoding, found.tolist())


def kbest(case):
    every = Every(case)
    k = case.options["k"]
    if not every.of:
        every.expect_none(lambda: arb.kbest(case.scores, k, **case.trees))
        return
    heads, weights, _ = arb.kbest(case.scores, k, **case.trees)
    in_order(case, every, heads.tolist(), weights.tolist(), k)
    if heads[0].tolist() != arb.decode(case.scores, **case.trees).tolist():
        raise WrongError("the first is not what decode returns", heads[0].tolist())


def in_order(case, every, heads, weights, k):
    """Check that these are the k best trees, in order, with their exact weights."""
    if len(heads) != min(k, len(every.of)):
        raise WrongError("not as many trees as there are", len(heads), len(every.of))
    found = [every.of.get(tuple(tree)) for tree in heads]
    if None in found or len({tuple(tree) for tree in heads}) != len(heads):
        raise WrongError("a tree that is none, or one twice", heads)
    if found != sorted(every.weights, reverse=True)[:k]:
        raise WrongError("not the best trees in order", heads)
    right = [rounded_sum(case.scores, tree) for tree in heads]
    if right != weights:
        raise WrongError("weights are not the exact sums, rounded once", weights, right)


def trees(case):
    every = Every(case)
    if not every.of:
        every.expect_none(lambda: next(iter(arb.trees(case.scores, **case.trees))))
        return
    heads, weights = zip(*arb.trees(case.scores, **case.trees), strict=True)
    in_order(case, every, [tree.tolist() for tree in heads], list(weights), len(every.of) + 1)


def second_best(case):
    every = Every(case)
    if len(every.of) < 2:
        every.expect_none(lambda: arb.second_best(case.scores, **case.trees))
        return
    heads, weight, (h, d) = arb.second_best(case.scores, **case.trees)
    best = arb.decode(case.scores, **case.trees)
    if best[d] != h or heads[d] == h:
        raise WrongError("the edge is not the one that is missing", (h, d))
    if every.of.get(tuple(heads.tolist())) != sorted(every.weights)[-2]:
        raise WrongError("not the second best tree", heads.tolist())
    if weight != rounded_sum(case.scores, heads):
        raise WrongError("the weight is not the exact sum", weight)


def tree_weight(case):
    every = Every(case)
    n = len(case.scores) - 1
    some = all_trees(n, every.single, every.projective)[:: max(1, 3 * n)]
    copies = np.broadcast_to(case.scores, (len(some), n + 1, n + 1))
    found = arb.tree_weight(copies, some).tolist()
    right = [rounded_sum(case.scores, tree) for tree in some.tolist()]
    if found != right:
        raise WrongError("not the exact sum, rounded once", found, right)


def decode_where(case):
    every = Every(case)

    def wanted(heads):
        return int(np.arange(len(heads)) @ heads) % 4 == case.options["seed"] % 4

    right = [weight for tree, weight in every.of.items() if wanted(np.array(tree))]
    if not right:
        every.expect_none(lambda: arb.decode_where(case.scores, wanted, **case.trees))
        return
    found = arb.decode_where(case.scores, wanted, **case.trees)
    if not wanted(found) or every.of.get(tuple(found.tolist())) != max(right):
        raise WrongError("not the best tree that fulfils the condition", found.tolist())


def decode_sparse(case):
    every = Every(case)
    if every.projective:
        return
    edges = listed(np.random.default_rng(case.options["seed"]), case.scores)
    n = len(case.scores) - 1

    def call():
        return arb.decode_sparse(n, *edges, root=case.options["root"])

    if not every.of:
        every.expect_none(call)
        return
    found = call()
    if not is_best(case.scores, found, every.single):
        raise WrongError("not the best tree", found.tolist())


CHECKS = (
    decode,
    kbest,
    trees,
    second_best,
    tree_weight,
    decode_where,
    decode_sparse,
    undirected,
)
