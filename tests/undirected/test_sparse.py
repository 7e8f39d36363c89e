"""Parsing of lists of edges through undirected trees: the same trees as by the matrix."""

from fractions import Fraction

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import NoTreeError, OptionError, ScoresError, TreeError
from arborescence.undirected import (
    decode,
    decode_sparse,
    encode,
    encode_sparse,
    enhance,
    enhance_sparse,
    spanning_tree,
)
from brute_force import all_trees
from graphs import ABSENT, FINITE, random_graphs
from sparse_graphs import SHAPES, WEIGHTS, listed, matrix, random_edges

ALGORITHMS = ("auto", "boruvka", "kruskal", "prim", "kkt")


def result(function, *arguments, **options):
    """What a function returns, or the error that there is no tree."""
    try:
        return function(*arguments, **options).tolist()
    except NoTreeError:
        return None


def weight_of(scores, heads):
    words = np.arange(1, len(heads))
    return sum(map(Fraction, scores[heads[1:], words].astype(np.float64).tolist()))


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("kind", sorted({*FINITE, *ABSENT}))
def test_small_graphs_against_the_matrix(kind, root):
    rng = np.random.default_rng(0)
    for number, scores in enumerate(random_graphs(kind, 40)):
        n, edges = len(scores) - 1, listed(rng, scores)
        options = {
            "root": root,
            "encoding": ("mean", "max", "min")[number % 3],
            "changes": ("disjoint", "best")[number % 2],
            "rounds": (0, 1, 5, None)[number % 4],
        }
        wanted = result(decode, scores, **options)
        algorithm = ALGORITHMS[number % 5]
        assert result(decode_sparse, n, *edges, algorithm=algorithm, **options) == wanted


@pytest.mark.parametrize("weights", sorted(WEIGHTS))
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_larger_graphs_against_the_matrix(shape, weights):
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 40):
        edges = random_edges(rng, shape, weights, n)
        scores = matrix(n, *edges)
        for root in ("single", "multi"):
            wanted = result(decode, scores, root=root)
            for algorithm in ("kkt", "boruvka"):
                found = result(decode_sparse, n, *edges, root=root, algorithm=algorithm)
                if found != wanted:  # both decoded exactly, where ties may be broken otherwise
                    best = arb.decode(scores, root=root)
                    assert weight_of(scores, found) == weight_of(scores, wanted)
                    assert weight_of(scores, wanted) == weight_of(scores, best)


@pytest.mark.parametrize("encoding", ["mean", "max", "min", "product"])
def test_pairs_are_those_of_the_matrix(encoding):
    rng = np.random.default_rng(2)
    for kind in [""] if encoding == "product" else ["normal-32", "small-integers", *ABSENT]:
        graphs = random_graphs(kind, 30) if kind else rng.random((30, 5, 5))
        for scores in graphs:
            u, v, weight = encode_sparse(len(scores) - 1, *listed(rng, scores), encoding)
            dense = np.triu(encode(scores, encoding), 1)
            low, high = np.nonzero((dense > -np.inf) & np.triu(np.ones(dense.shape, bool), 1))
            assert u.tolist() == low.tolist()
            assert v.tolist() == high.tolist()
            assert weight.tolist() == dense[low, high].tolist()
            assert len(spanning_tree(len(scores), u, v, weight)) < len(scores)


def test_enhancement_is_that_of_the_matrix():
    rng = np.random.default_rng(3)
    for kind in ("normal-32", "nested", *ABSENT):
        for scores in random_graphs(kind, 20):
            n = len(scores) - 1
            trees = all_trees(n, single=False)
            tree = trees[rng.integers(len(trees))]
            edges = listed(rng, scores)
            for changes in ("disjoint", "best"):
                for rounds in (1, 5, None):
                    found = enhance_sparse(n, *edges, tree=tree, rounds=rounds, changes=changes)
                    assert found.tolist() == enhance(scores, tree, rounds, changes=changes).tolist()


def test_edges_in_other_forms():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(6, 6))
    heads, deps, weights = listed(rng, scores)
    wanted = decode(scores).tolist()
    assert decode_sparse(sparse.csr_array(scores)).tolist() == wanted
    assert decode_sparse(5, heads.tolist(), deps.astype(np.uint8), weights).tolist() == wanted
    assert decode_sparse(0, [], [], []).tolist() == [-1]


def test_what_is_invalid_is_named():
    for bad, message in [
        ([[0, 9], [1, 2], [1, 1]], r"edge 1 is 9 -> 2: nodes are 0, the root, to 2"),
        ([[0, 1], [1, 2], [1, np.nan]], r"weights\[1\], the edge 1 -> 2, is nan"),
    ]:
        with pytest.raises(ScoresError, match=message):
            decode_sparse(2, *bad)
    with pytest.raises(ScoresError, match=r"weights\[1\] is -1.0: encoding='product'"):
        decode_sparse(2, [0, 1], [1, 2], [-1, -1], encoding="product")
    with pytest.raises(NoTreeError, match="no edge enters word 2"):
        decode_sparse(2, [0], [1], [1])
    with pytest.raises(OptionError, match="algorithm must be one of 'auto'"):
        decode_sparse(1, [0], [1], [1], algorithm="dijkstra")
    with pytest.raises(OptionError, match=r"undirected\.decode_sparse takes n, heads, deps"):
        decode_sparse(2, [0])
    for tree in ([-1, 2, 1], [-1, 0], [[-1, 0, 1]]):
        with pytest.raises(TreeError, match="tree is no head vector of a tree of 2 words"):
            enhance_sparse(2, [0], [1], [1], tree=tree)


def test_a_hundred_thousand_edges():
    rng = np.random.default_rng(5)
    n, m = 5000, 100_000
    heads, deps = rng.integers(0, n + 1, m), rng.integers(1, n + 1, m)
    edges = (heads, deps, rng.normal(size=m))
    found = decode_sparse(n, *edges, algorithm="kkt")
    assert arb.is_tree(found)
    present = set(zip(heads.tolist(), deps.tolist(), strict=True))
    assert present.issuperset((h, d) for d, h in enumerate(found.tolist()) if d)
