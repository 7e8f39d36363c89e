from itertools import permutations
from math import isqrt

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
from brute_force import is_best, tree_weights
from graphs import ABSENT, FINITE, random_graphs
from modes import CHECKED, UNCOMPILED
from sparse_graphs import SHAPES, WEIGHTS, listed, matrix, random_edges

SLOW = UNCOMPILED or CHECKED
COUNT = 20 if UNCOMPILED else 100 if CHECKED else 240

FIGURE_2 = np.array([
    (0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60), (3, 2, 50), (4, 3, 70), (4, 1, 20),
])  # fmt: skip


def weight(scores, heads):
    """The exact weight, in units of 2^-1074; absent edges are an OverflowError."""
    edges = scores[heads[1:], range(1, len(heads))].astype(np.float64)
    ratios = map(float.as_integer_ratio, edges.tolist())
    return sum(numerator << (1075 - denominator.bit_length()) for numerator, denominator in ratios)


def or_none(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except arb.NoTreeError:
        return None


def decode_padded(n, heads, deps, weights, *, root):
    """As `decode_sparse`, with so many more words below word 1 that no matrix is made of them."""
    more = np.arange(n + 1, n + 4 + isqrt(2 * len(heads)))
    edges = np.r_[heads, 0 * more + 1], np.r_[deps, more], np.r_[weights, 0.0 * more]
    return arb.decode_sparse(more[-1], *edges, root=root)[: n + 1]


def check(n, edges, scores, root):
    """The tree of these edges weighs what the best one of the scores does; return it, or None."""
    expected = or_none(arb.decode, scores, root=root)
    said = (root, n, *map(np.ndarray.tolist, edges))
    for decode in (decode_padded, arb.decode_sparse):
        heads = or_none(decode, n, *edges, root=root)
        assert (heads is None) == (expected is None), said
        if heads is not None:
            assert arb.is_tree(heads, root=root)
            assert weight(scores, heads) == weight(scores, expected), said
    return heads


def test_figure_2():
    heads = arb.decode_sparse(4, *FIGURE_2.T, root="multi")
    assert heads.tolist() == [-1, 0, 0, 4, 2]
    assert arb.decode_sparse(4, *FIGURE_2.T).tolist() == [-1, 0, 3, 1, 2]
    assert heads.dtype == np.int64


@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_small_graphs_against_every_tree(kind):
    rng = np.random.default_rng(1)
    for scores in random_graphs(kind, COUNT // 20):
        for root in ("single", "multi"):
            heads = or_none(decode_padded, len(scores) - 1, *listed(rng, scores), root=root)
            if heads is None:
                assert len(tree_weights(scores, root == "single")[0]) == 0
            else:
                assert is_best(scores, heads, root == "single"), (root, scores.tolist())


@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_small_graphs_against_the_matrix(kind):
    rng = np.random.default_rng(2)
    for scores in random_graphs(kind, COUNT, seed=1):
        for root in ("single", "multi"):
            check(len(scores) - 1, listed(rng, scores), scores, root)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_sparse_graphs_against_the_matrix(shape, weights):
    rng = np.random.default_rng([3, *shape.encode(), *weights.encode()])
    for n in (2, 3, 7, 12) if SLOW else (2, 3, 4, 7, 12, 20, 33, 60, 150, 300):
        for _ in range(2):
            edges = random_edges(rng, shape, weights, n)
            scores = matrix(n, *edges)
            for root in ("single", "multi"):
                check(n, edges, scores, root)


@pytest.mark.parametrize("bonus", [-1e3, 1e3])
def test_many_root_edges(bonus):
    rng = np.random.default_rng(4)
    for n in (5, 20) if SLOW else (5, 20, 60, 200):
        for shape in SHAPES:
            heads, deps, weights = random_edges(rng, shape, "normal", n)
            words = np.arange(1, n + 1)
            edges = np.r_[heads, 0 * words], np.r_[deps, words], np.r_[weights, bonus + 0.0 * words]
            scores = matrix(n, *edges)
            single = check(n, edges, scores, "single")
            assert single is None or arb.root_count(single) == 1
            assert arb.root_count(check(n, edges, scores, "multi")) == n or bonus < 0


def test_deeply_nested_cycles():
    """Each contraction makes a cycle with one more word, and is entered by it at random."""
    for n in (5, 20) if SLOW else (5, 33, 300):
        rng = np.random.default_rng(n)
        words = np.arange(3, n + 1)
        edges = (
            np.r_[1, 2, words - 1, words, 0, 0],
            np.r_[2, 1, words, rng.integers(1, words), 1, n],
            np.r_[10, 10, np.full(n - 2, 10), 10 - words, -1000, -1001],
        )
        check(n, edges, matrix(n, *edges), "single")


def test_order_does_not_matter():
    rng = np.random.default_rng(5)
    for shape in SHAPES:
        for weights in ("normal", "whole", "tied"):
            edges = random_edges(rng, shape, weights, 15)
            for root in ("single", "multi"):
                expected = or_none(arb.decode_sparse, 15, *edges, root=root)
                for order in (rng.permutation(edges[0].size), np.argsort(edges[1], kind="stable")):
                    shuffled = [array[order] for array in edges]
                    heads = or_none(arb.decode_sparse, 15, *shuffled, root=root)
                    assert np.array_equal(heads, expected)


def test_ties_prefer_the_lowest_head():
    heads, deps = np.nonzero(~np.eye(4, dtype=bool))
    zeros = np.zeros(heads.size)
    for order in (slice(None), slice(None, None, -1)):
        found = arb.decode_sparse(3, heads[order], deps[order], zeros, root="multi")
        assert found.tolist() == [-1, 0, 0, 0]


# Types, strides, matrices.


def test_any_type_and_strides():
    rng = np.random.default_rng(6)
    heads, deps, weights = random_edges(rng, "scattered", "whole", 20)
    expected = arb.decode_sparse(20, heads, deps, weights).tolist()
    for whole in (np.int8, np.uint8, np.int32, np.uint64):
        for number in (np.int8, np.int64, np.float16, np.float32, np.float64):
            edges = heads.astype(whole), deps.astype(whole), weights.astype(number)
            for array in edges:
                array.flags.writeable = False
            assert arb.decode_sparse(20, *edges).tolist() == expected
    wide = np.stack([heads, deps, weights], axis=1)
    before = wide.copy()
    assert arb.decode_sparse(20, *wide.T).tolist() == expected
    assert arb.decode_sparse(20, *wide[::-1].T).tolist() == expected
    swapped = [array.astype(array.dtype.newbyteorder()) for array in (heads, deps, weights * 1.0)]
    assert arb.decode_sparse(20, *swapped).tolist() == expected
    assert arb.decode_sparse(20, *map(list, (heads, deps, weights))).tolist() == expected
    assert arb.decode_sparse(np.int32(20), heads, deps, weights).tolist() == expected
    np.testing.assert_array_equal(wide, before)


def test_what_is_ignored():
    heads, deps, weights = FIGURE_2.T
    for value in (np.nan, np.inf, -np.inf, 1e300):
        edges = np.r_[heads, 2, 0, 3], np.r_[deps, 2, 0, 0], np.r_[weights, value, value, value]
        assert arb.decode_sparse(4, *edges).tolist() == [-1, 0, 3, 1, 2]


def test_the_best_of_parallel_edges_counts():
    assert arb.decode_sparse(2, [0, 0, 1, 0, 2], [1, 2, 2, 2, 1], [0, 0, 2, 1, 1]).tolist() == [
        -1,
        0,
        1,
    ]
    edges = [0, 0, 1, 2, 2], [1, 2, 2, 1, 1], [0, 0, 2, 1, 3]
    assert arb.decode_sparse(2, *edges).tolist() == [-1, 2, 0]


@pytest.mark.parametrize(
    "kind",
    [
        scipy.sparse.coo_matrix,
        scipy.sparse.coo_array,
        scipy.sparse.csr_matrix,
        scipy.sparse.csr_array,
        scipy.sparse.csc_matrix,
        scipy.sparse.csc_array,
        scipy.sparse.lil_array,
    ],
)
def test_sparse_matrices(kind):
    heads, deps, weights = FIGURE_2.T
    graph = kind(scipy.sparse.coo_array((weights * 1.0, (heads, deps)), shape=(5, 5)))
    assert arb.decode_sparse(graph).tolist() == [-1, 0, 3, 1, 2]
    assert arb.decode_sparse(graph, root="multi").tolist() == [-1, 0, 0, 4, 2]


def test_explicit_zeros_are_edges():
    graph = scipy.sparse.csr_array((np.zeros(2), ([0, 1], [1, 2])), shape=(3, 3))
    assert arb.decode_sparse(graph).tolist() == [-1, 0, 1]


def test_duplicates_are_parallel_edges():
    """1 -> 2 weighs 1, not 1 + 1; and the matrix stays as it was."""
    edges = np.array([[0, 0, 1, 1, 2], [1, 2, 2, 2, 1]])
    graph = scipy.sparse.coo_array((np.array([0.0, 0.0, 1.0, 1.0, 1.5]), edges), shape=(3, 3))
    assert arb.decode_sparse(graph).tolist() == [-1, 2, 0]
    assert graph.nnz == 5


def test_small_sentences():
    nothing = np.empty(0, np.int64)
    assert arb.decode_sparse(0, nothing, nothing, nothing).tolist() == [-1]
    assert arb.decode_sparse(0, [], [], []).tolist() == [-1]
    assert arb.decode_sparse(0, [0], [0], [np.nan], root="multi").tolist() == [-1]
    assert arb.decode_sparse(1, [0], [1], [-5]).tolist() == [-1, 0]
    assert arb.decode_sparse(scipy.sparse.csr_array((1, 1))).tolist() == [-1]


# What cannot be decoded.


@pytest.mark.parametrize(
    ("n", "heads", "deps", "weights", "message"),
    [
        (2, [0, 3], [1, 2], [1, 1], "edge 1 is 3 -> 2: nodes are 0, the root, to 2"),
        (2, [0, -1], [1, 2], [1, 1], "edge 1 is -1 -> 2"),
        (2, [0, 1], [1, 3], [1, 1], "edge 1 is 1 -> 3"),
        (2, [0, 1], [1, -2], [1, 1], "edge 1 is 1 -> -2"),
        (2, np.array([0, 2**63], np.uint64), [1, 2], [1, 1], "edge 1 is 9223372036854775808 -> 2"),
        (2, [0, 1], [1, 2], [1, np.nan], r"weights\[1\], the edge 1 -> 2, is nan"),
        (2, [0, 1], [1, 2], [np.inf, 1], r"weights\[0\], the edge 0 -> 1, is inf"),
        (2, [0, 1], [1, 2], [1, 2**60], "1152921504606846976"),
        (2, [0, 1], [1, 2, 2], [1, 1], r"\(2,\), \(3,\), \(2,\)"),
        (2, [[0, 1]], [[1, 2]], [[1, 1]], r"\(1, 2\)"),
        (2, [0.0, 1.0], [1, 2], [1, 1], "heads must be whole numbers"),
        (2, [0, 1], [1.0, 2.0], [1, 1], "deps must be whole numbers"),
        (2, [0, 1], [1, 2], [1j, 1], "complex"),
        (2, [0, 1], [1, 2], ["a", "b"], "floats"),
        (2, [0, 1], [[1], [2, 2]], [1, 1], "array"),
    ],
)
def test_unusable_edges(n, heads, deps, weights, message):
    with pytest.raises(arb.ScoresError, match=message):
        arb.decode_sparse(n, heads, deps, weights)


def test_unusable_arguments():
    with pytest.raises(arb.OptionError, match="whole number"):
        arb.decode_sparse(2.0, [0, 1], [1, 2], [1, 1])
    with pytest.raises(arb.OptionError, match="heads, deps and weights"):
        arb.decode_sparse(2, [0, 1], [1, 2])
    with pytest.raises(arb.OptionError, match="matrix by itself"):
        arb.decode_sparse(scipy.sparse.csr_array((2, 2)), [0], [1], [1])
    with pytest.raises(ValueError, match="not -1"):
        arb.decode_sparse(-1, [], [], [])


def test_unusable_matrices():
    with pytest.raises(arb.ScoresError, match=r"\(2, 3\)"):
        arb.decode_sparse(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(arb.ScoresError, match=r"\(0, 0\)"):
        arb.decode_sparse(scipy.sparse.csr_array((0, 0)))
    with pytest.raises(arb.ScoresError, match=r"0 -> 1.*nan"):
        arb.decode_sparse(scipy.sparse.csr_array(([np.nan], ([0], [1])), shape=(2, 2)))


def test_unusable_root():
    with pytest.raises(ValueError, match="'single' or 'multi'"):
        arb.decode_sparse(1, [0], [1], [1], root="one")


def test_no_tree_says_why():
    with pytest.raises(arb.NoTreeError, match=r"no edge enters word 2$"):
        arb.decode_sparse(3, [0, 1, 3], [1, 2, 3], [0, -np.inf, 0])
    with pytest.raises(arb.NoTreeError, match="no edge enters words 3, 4 from outside"):
        arb.decode_sparse(4, [0, 1, 3, 4], [1, 2, 4, 3], np.zeros(4))
    with pytest.raises(arb.NoTreeError, match=r"single root.*root='multi'"):
        arb.decode_sparse(2, [0, 0], [1, 2], [0, 0])
    assert arb.decode_sparse(2, [0, 0], [1, 2], [0, 0], root="multi").tolist() == [-1, 0, 0]
    with pytest.raises(arb.NoTreeError, match=r"no edge enters word 1$"):
        arb.decode_sparse(1, [], [], [])
    heads, deps = np.array(list(permutations(range(1, 6), 2)) * 2).T  # many, but none from the root
    with pytest.raises(arb.NoTreeError, match="no edge enters words 1, 2, 3, 4, 5 from outside"):
        arb.decode_sparse(5, heads, deps, np.zeros(40))


# Properties.

edge_lists = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n), st.integers(1, n), st.integers(-3, 3)), max_size=25),
    )
)


@given(edge_lists, st.sampled_from(["single", "multi"]))
def test_any_edges(graph, root):
    n, edges = graph
    heads, deps, weights = np.array([*edges, (0, 0, 0)]).T
    check(n, (heads, deps, weights), matrix(n, heads, deps, weights), root)
