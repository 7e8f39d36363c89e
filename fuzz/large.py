"""Larger graphs, where one way to an answer is compared with another."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np

import arborescence as arb
from arborescence_papers import baselines
from cases import Case, WrongError, examine
from kinds import KINDS, ORDINARY, random_kind
from laws.trees import rounded_sum
from sparse_graphs import SHAPES, WEIGHTS, listed, matrix, random_edges


def attack(rng):
    for _ in range(3):
        n = int(rng.integers(6, 61))
        if rng.random() < 0.3:
            edges = random_edges(rng, str(rng.choice([*SHAPES])), str(rng.choice([*WEIGHTS])), n)
            scores = matrix(n, *edges)
            scores[np.isnan(scores)] = 0
        else:
            scores = random_kind(rng, KINDS)(rng, n)
        case = Case(
            (scores,), {"root": str(rng.choice(["single", "multi"])), "seed": int(rng.integers(99))}
        )
        for check in (best, projective, ranked):
            yield from examine(check, case)
        n = int(rng.integers(6, 20))
        scores = random_kind(rng, ORDINARY)(rng, n).astype(np.float64)
        yield from examine(single_from_multi, Case((scores,), {}))


def exact(scores, heads):
    """The weight of a tree as a fraction."""
    return sum(Fraction(float(scores[h, d])) for d, h in enumerate(heads.tolist()) if d)


def best(case):
    scores, root = case.scores, case.options["root"]
    n = len(scores) - 1
    edges = listed(np.random.default_rng(case.options["seed"]), scores)
    try:
        heads = arb.decode(scores, root=root)
    except arb.NoTreeError:
        try:
            arb.decode_sparse(n, *edges, root=root)
        except arb.NoTreeError:
            return
        raise WrongError("decode finds no tree, but decode_sparse does") from None
    if not arb.is_tree(heads, root=root):
        raise WrongError("decode returns no tree", heads.tolist())
    weight = exact(scores, heads)
    if exact(scores, arb.decode_sparse(n, *edges, root=root)) != weight:
        raise WrongError("decode and decode_sparse differ")
    if root == "multi" and n <= 20:
        other = baselines.chu_liu_edmonds(scores, lambda score: Fraction(float(score)))
        if exact(scores, other) != weight:
            raise WrongError("decode and the recursion with fractions differ", heads.tolist())
    if root == "single" and n <= 30:
        runs = scores.astype(np.float64)
        found = []
        for word in np.flatnonzero(runs[0, 1:] > -np.inf) + 1:
            try:
                one = arb.decode(arb.require(runs, [(0, word)]), root="single")
            except arb.NoTreeError:
                continue
            found.append(exact(scores, one))
        if max(found) != weight:
            raise WrongError("decode and a run for each root edge differ", heads.tolist())


def projective(case):
    scores, root = case.scores, case.options["root"]
    try:
        heads = arb.decode(scores, root=root, projective=True)
    except arb.NoTreeError:
        try:
            free = arb.decode(scores, root=root)
        except arb.NoTreeError:
            return
        if arb.is_projective(free):
            raise WrongError("no projective tree, but decode finds one", free.tolist()) from None
        return
    if not (arb.is_tree(heads, root=root) and arb.is_projective(heads)):
        raise WrongError("no projective tree", heads.tolist())
    free = arb.decode(scores, root=root)
    ours, bound = exact(scores, heads), exact(scores, free)
    if ours > bound or (arb.is_projective(free) and ours != bound):
        raise WrongError("the best projective tree and the best tree do not fit", heads.tolist())


def ranked(case):
    scores, root = case.scores, case.options["root"]
    for crossing_free in (False, True):
        options = {"root": root, "projective": crossing_free}
        try:
            heads, weights, _ = arb.kbest(scores, 12, **options)
        except arb.NoTreeError:
            continue
        if heads[0].tolist() != arb.decode(scores, **options).tolist():
            raise WrongError("the first of kbest is not what decode returns")
        values = [exact(scores, tree) for tree in heads]
        if values != sorted(values, reverse=True) or len({*map(tuple, heads.tolist())}) != len(
            heads
        ):
            raise WrongError("kbest is not in order, or a tree comes twice", options)
        if [rounded_sum(scores, tree) for tree in heads.tolist()] != weights.tolist():
            raise WrongError("weights are not the exact sums", weights.tolist())
        edges = scores[heads[:, 1:], range(1, len(scores))]
        if not (arb.is_tree(heads, root=root).all() and (edges > -np.inf).all()):
            raise WrongError("kbest returns what is no tree")
        if len(scores) <= 14 and not crossing_free:
            stream = baselines.trees_by_decoding(scores.astype(np.float64), root)
            right = [exact(scores, tree) for tree, _ in islice(stream, len(values))]
            if right != values:
                raise WrongError("kbest and constrained decoding differ", options)


def single_from_multi(case):
    """The trees with one root edge are those of each root edge, if it is the only one."""
    scores = case.scores
    try:
        whole = arb.TreeDistribution(scores)
        log_partition, marginals = whole.log_partition(), whole.marginals()
    except arb.NoTreeError:
        return
    parts, shares = [], []
    for word in range(1, len(scores)):
        one = scores.copy()
        one[0] = -np.inf
        one[0, word] = scores[0, word]
        if scores[0, word] > -np.inf:
            try:
                dist = arb.TreeDistribution(one, root="multi")
                parts.append(dist.log_partition())
                shares.append(dist.marginals())
            except arb.NoTreeError:
                pass
    total = np.logaddexp.reduce(parts)
    if not np.allclose(log_partition, total, rtol=1e-12, atol=1e-10):
        raise WrongError("log_partition of one root edge, and of each", log_partition, total)
    mixed = np.einsum("r,rhd->hd", np.exp(np.array(parts) - total), np.array(shares))
    if not np.allclose(marginals, mixed, rtol=1e-8, atol=1e-10):
        raise WrongError("marginals with one root edge, and with each", marginals.tolist())
