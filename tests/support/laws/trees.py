"""Inference over the trees of small graphs, against every tree, weighed in exact arithmetic.

Each law raises an AssertionError where it does not hold. Tests ask for the same graphs each time,
and the fuzzer for new ones. `root` and `projective` say which trees there are.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import arborescence as arb
from brute_force import all_trees, exact_weights, is_best, tree_weights
from sparse_graphs import listed as listed_edges
from tree_lists import listed, rounded_weights


def none_is_found(*calls):
    """Check that each call says that there is no tree."""
    for call in calls:
        try:
            call()
        except arb.NoTreeError:
            continue
        raise AssertionError("no NoTreeError where there is no tree")


def best(scores, root, projective):
    """`decode` finds a best tree, or says that there is none; return whether there is one."""
    options = {"root": root, "projective": projective}
    if len(tree_weights(scores, root == "single", projective)[0]):
        heads = arb.decode(scores, **options)
        said = root, projective, scores.tolist(), heads.tolist()
        assert is_best(scores, heads, root == "single", projective), said
        return True
    try:
        arb.decode(scores, **options)
    except arb.NoTreeError as error:
        only_crossing = projective and len(tree_weights(scores, root == "single")[0])
        if only_crossing and "projective" not in str(error):
            raise
        return False
    raise AssertionError("no NoTreeError where there is no tree")


def k_best(scores, root, projective, k):
    """`kbest` and `trees` list the best trees, in order, once each; return how many there are."""
    options = {"root": root, "projective": projective}
    every, weights = tree_weights(scores, root == "single", projective)
    if not len(every):
        none_is_found(
            lambda: arb.kbest(scores, k, **options), lambda: next(arb.trees(scores, **options))
        )
        return 0
    before = scores.copy()
    found = arb.kbest(scores, k, **options)
    np.testing.assert_array_equal(scores, before)
    assert found.counts == len(found.heads) == min(k, len(every)), "not as many as there are"
    in_order(scores, root, projective, found.heads, found.weights, every, weights)
    return len(every)


def stream(scores, root, projective):
    """`trees` yields all trees in order, once each."""
    options = {"root": root, "projective": projective}
    every, weights = tree_weights(scores, root == "single", projective)
    if not len(every):
        none_is_found(lambda: next(arb.trees(scores, **options)))
        return
    heads, reported = listed(arb.trees(scores, **options))
    assert len(heads) == len(every), "not as many as there are"
    in_order(scores, root, projective, heads, reported, every, weights)


def in_order(scores, root, projective, heads, reported, every, weights):
    """These are the first of all trees, best first, with exact weights that are rounded once."""
    m = len(heads)
    assert heads.shape == (m, len(scores))
    assert (heads.dtype, reported.dtype) == (np.int64, np.float64)
    assert (heads[:, 0] == -1).all()
    codes = _codes(heads)
    assert len(np.unique(codes)) == m, "a tree comes twice"
    assert np.isin(codes, _codes(every)).all(), "a tree that is none"
    assert exact_weights(scores, heads) == sorted(weights.tolist(), reverse=True)[:m]
    np.testing.assert_array_equal(reported, rounded_weights(scores, heads))
    best = arb.decode(scores, root=root, projective=projective)
    assert heads[0].tolist() == best.tolist(), "the first is not what `decode` returns"


def _codes(heads):
    """One whole number a tree, the same for equal trees only."""
    return heads[:, 1:] @ heads.shape[1] ** np.arange(heads.shape[1] - 1)


def second_best(scores, root, projective):
    """`second_best` finds such a tree, and the edge of the best tree that it lacks."""
    options = {"root": root, "projective": projective}
    _, weights = tree_weights(scores, root == "single", projective)
    if len(weights) < 2:
        none_is_found(lambda: arb.second_best(scores, **options))
        return
    heads, weight, (h, d) = arb.second_best(scores, **options)
    second = sorted(weights.tolist())[-2]
    best = arb.decode(scores, **options)
    assert arb.is_tree(heads, root=root)
    assert not projective or arb.is_projective(heads)
    assert heads.tolist() != best.tolist()
    assert exact_weights(scores, heads[None]) == [second]
    assert weight == arb.tree_weight(scores, heads)
    assert best[d] == h != heads[d], "the edge is not the one that is missing"
    without = arb.decode(arb.forbid(scores, [(h, d)]), **options)
    assert exact_weights(scores, without[None]) == [second]


def weights_are_rounded_once(scores, root, projective):
    """`tree_weight` is the exact sum, rounded once."""
    n = len(scores) - 1
    some = all_trees(n, root == "single", projective)[:: max(1, 3 * n)]
    copies = np.broadcast_to(scores, (len(some), n + 1, n + 1))
    right = [rounded_sum(scores, tree) for tree in some.tolist()]
    assert arb.tree_weight(copies, some).tolist() == right


def best_where(scores, root, projective, seed):
    """`decode_where` finds the best tree that fulfils a condition."""
    options = {"root": root, "projective": projective}

    def wanted(heads):
        return int(np.arange(len(heads)) @ heads) % 4 == seed % 4

    every, weights = tree_weights(scores, root == "single", projective)
    right = [w for tree, w in zip(every, weights.tolist(), strict=True) if wanted(tree)]
    if not right:
        none_is_found(lambda: arb.decode_where(scores, wanted, **options))
        return
    found = arb.decode_where(scores, wanted, **options)
    assert wanted(found)
    assert arb.is_tree(found, root=root)
    assert not projective or arb.is_projective(found)
    assert exact_weights(scores, found[None]) == [max(right)]


def best_of_edges(scores, root, seed):
    """`decode_sparse` finds a best tree of the same edges as a list."""
    edges = listed_edges(np.random.default_rng(seed), scores)
    n = len(scores) - 1
    if not len(tree_weights(scores, root == "single")[0]):
        none_is_found(lambda: arb.decode_sparse(n, *edges, root=root))
        return
    found = arb.decode_sparse(n, *edges, root=root)
    assert is_best(scores, found, root == "single"), found.tolist()


def through_undirected_trees(scores, root):
    """`undirected.decode` finds a tree of the graph, with each encoding, if there is one."""
    every = set(map(tuple, tree_weights(scores, root == "single")[0].tolist()))
    finite = np.abs(scores[np.isfinite(scores)])
    for encoding in ("mean", "product", "max", "min"):
        try:
            found = arb.undirected.decode(scores, root=root, encoding=encoding)
        except arb.NoTreeError:
            assert not every, "NoTreeError where there is a tree"
        except arb.ScoresError:
            assert encoding == "product" or finite.max() >= 1e300
        else:
            assert tuple(found.tolist()) in every, "not a tree of the graph"


def rounded_sum(scores, heads):
    """The weight of a tree, rounded once."""
    edges = [float(scores[h, d]) for d, h in enumerate(heads) if d]
    return -np.inf if -np.inf in edges else rounded(sum(map(Fraction, edges), Fraction(0)))


def rounded(weight):
    """A whole number or a fraction as a float."""
    try:
        return float(weight)
    except OverflowError:
        return np.inf if weight > 0 else -np.inf
