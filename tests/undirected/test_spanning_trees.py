import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

import laws.spanning
from arborescence.errors import OptionError, ScoresError
from arborescence.undirected import kruskal as kruskal_module
from arborescence.undirected import spanning_tree, spanning_trees
from arborescence.undirected.boruvka import boruvka_step, drop_repeated
from arborescence.undirected.edges import UndirectedEdges
from arborescence.undirected.prim import prim_dense
from forests import Forest
from modes import NATIVE, some

ALGORITHMS = ("boruvka", "kruskal", "prim", "kkt")
HUGE = np.finfo(np.float64).max
TINY = np.finfo(np.float64).smallest_subnormal


def _ties(rng, m):
    return rng.integers(-2, 3, m).astype(float)


def _absent(rng, m):
    return np.where(rng.random(m) < 0.3, -np.inf, rng.integers(-2, 3, m))


def _wide(rng, m):
    return rng.choice([HUGE, -HUGE, 1e300, 1.0, np.nextafter(1.0, 2), TINY, -TINY, 0.0, -0.0], m)


WEIGHTS = {
    "ties": _ties,
    "normal": lambda rng, m: rng.normal(size=m),
    "absent": _absent,
    "wide": _wide,
    "equal": lambda rng, m: np.zeros(m),
    "rising": lambda rng, m: np.arange(m, dtype=float),
    "falling": lambda rng, m: -np.arange(m, dtype=float),
}


def random_graphs(kind, count, nodes, edges):
    """Graphs with loops, parallel edges, and parts that do not hang together."""
    rng = np.random.default_rng([*kind.encode()])
    for _ in range(count):
        n = int(rng.integers(1, nodes + 1))
        m = int(rng.integers(0, edges + 1))
        yield n, rng.integers(0, n, m), rng.integers(0, n, m), WEIGHTS[kind](rng, m)


def total(weight, chosen):
    return sum(Fraction(float(weight[k])) for k in chosen)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_every_algorithm_finds_the_same_edges(kind):
    for n, u, v, weight in random_graphs(kind, some(200), nodes=30, edges=90):
        laws.spanning.edges(n, u.tolist(), v.tolist(), weight.tolist())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_algorithm_asked_for_is_called(algorithm, monkeypatch):
    called = []
    for name in ALGORITHMS:
        kernel = getattr(spanning_trees, name)

        def noted(*given, name=name, kernel=kernel):
            called.append(name)
            return kernel(*given)

        monkeypatch.setattr(spanning_trees, name, noted)
    assert spanning_tree(
        3, [0, 1, 0], [1, 2, 2], [1.0, 3.0, 2.0], algorithm=algorithm
    ).tolist() == [1, 2]
    assert called == [algorithm]


@pytest.mark.parametrize("kind", ["ties", "absent", "wide"])
def test_no_forest_of_all_is_better(kind):
    for n, u, v, weight in random_graphs(kind, 150, nodes=5, edges=8):
        present = [k for k in range(len(weight)) if weight[k] > -np.inf]
        best, most = None, 0
        for size in range(n):
            for edges in itertools.combinations(present, size):
                forest = Forest(n)
                if all(forest.joins(u[k], v[k]) for k in edges):
                    value = total(weight, edges)
                    if size > most or best is None or value > best:
                        best, most = value, size
        found = spanning_tree(n, u, v, weight)
        assert len(found) == most
        assert total(weight, found) == best


@pytest.mark.parametrize("shape", ["sparse", "many edges", "a long path", "a star", "many parts"])
def test_large_graphs_as_scipy_does(shape):
    rng = np.random.default_rng(1)
    n = 300 if shape == "many edges" else 4000
    m = {"many edges": 40_000, "many parts": 2500}.get(shape, 3 * n)
    u, v = rng.integers(0, n, (2, m))
    if shape == "a long path":
        u, v = np.concatenate([[np.arange(n - 1), np.arange(1, n)], [u, v]], axis=1)
    elif shape == "a star":
        u = np.where(rng.random(m) < 0.9, 0, u)
    # Whole numbers, whose sums are exact; none is 0, which SciPy would take for no edge.
    weight = rng.integers(1, 50, len(u)).astype(float)
    if shape == "a long path":
        weight[: n - 1] += 50
    pairs = scipy.sparse.coo_array((n, n))
    lightest = {}
    for a, b, w in zip(np.minimum(u, v).tolist(), np.maximum(u, v).tolist(), weight, strict=True):
        if a != b:
            lightest[a, b] = min(w, lightest.get((a, b), np.inf))
    rows, columns = np.array(list(lightest)).T
    pairs = scipy.sparse.coo_array((list(lightest.values()), (rows, columns)), shape=(n, n))
    truth = minimum_spanning_tree(pairs.tocsr()).sum()
    parts, _ = connected_components(pairs, directed=False)
    trees = [
        spanning_tree(n, u, v, weight, algorithm=algorithm, minimum=True)
        for algorithm in ALGORITHMS
    ]
    assert len(trees[0]) == n - parts
    assert weight[trees[0]].sum() == truth
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree, trees[0])


def test_a_boruvka_step_as_printed():
    """Algorithm 1, lines 1 to 12, and of line 13 the self-edges: see `drop_repeated`."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        n = int(rng.integers(2, 12))
        u = np.concatenate([np.arange(n - 1), rng.integers(0, n, 2 * n)]).astype(np.int32)
        v = np.concatenate([np.arange(1, n), rng.integers(0, n, 2 * n)]).astype(np.int32)
        u, v = u[u != v], v[u != v]
        weight = rng.permutation(len(u)).astype(float)
        best_of = [
            max((e for e in range(len(u)) if x in (u[e], v[e])), key=weight.__getitem__)
            for x in range(n)
        ]
        parts = Forest(n)
        for e in best_of:
            parts.joins(u[e], v[e])
        left_over = [e for e in range(len(u)) if parts.part[u[e]] != parts.part[v[e]]]

        origin = np.arange(len(u), dtype=np.int32)
        edges = UndirectedEdges(u.copy(), v.copy(), weight.copy(), origin)
        best, label = np.empty(n, np.int32), np.empty(n, np.int32)
        nodes, left = boruvka_step(n, edges, best, label)
        assert best.tolist() == best_of
        assert nodes == len(set(parts.part)) == len(set(label.tolist()))
        assert all((label[a] == label[b]) == (parts.part[a] == parts.part[b])
                   for a, b in itertools.combinations(range(n), 2))  # fmt: skip
        assert edges.origin[:left].tolist() == left_over
        ends = [(label[u[e]], label[v[e]]) for e in left_over]
        assert list(zip(edges.u[:left], edges.v[:left], strict=True)) == ends


def test_whatever_the_coins_say():
    rng = np.random.default_rng(2)
    n, m = 200, 2000
    u, v, weight = rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(0, 30, m)
    truth = spanning_tree(n, u, v, weight)
    for seed in range(50):
        found = spanning_tree(n, u, v, weight, algorithm="kkt", rng=seed)
        np.testing.assert_array_equal(found, truth)
    generator = np.random.default_rng(3)
    found = spanning_tree(n, u, v, weight, algorithm="kkt", rng=generator)
    np.testing.assert_array_equal(found, truth)
    assert generator.random() != np.random.default_rng(3).random()
    for wrong in ("three", -1, 0.5):
        with pytest.raises(OptionError, match="rng must be a numpy"):
            spanning_tree(n, u, v, weight, algorithm="kkt", rng=wrong)


@pytest.mark.skipif(NATIVE, reason="changes a constant of a kernel, which is compiled already")
def test_parts_that_wait_never_get_too_many(monkeypatch):
    rng = np.random.default_rng(4)
    monkeypatch.setattr(kruskal_module, "_WAITING", 2)
    n, m = 20, 300
    u, v, weight = rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(0, 30, m) + 0.0
    chosen = np.zeros(m, np.bool_)
    numbers = np.arange(m, dtype=np.int32)
    edges = UndirectedEdges(u.astype(np.int32), v.astype(np.int32), weight.copy(), numbers)
    kruskal_module.kruskal.py_func(n, edges, chosen)
    np.testing.assert_array_equal(np.flatnonzero(chosen), spanning_tree(n, u, v, weight))


graphs = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(
                st.integers(0, n - 1),
                st.integers(0, n - 1),
                st.floats(allow_nan=False, allow_infinity=False),
            ),
            max_size=20,
        ),
    )
)


@given(graphs, st.sampled_from(ALGORITHMS), st.integers(0, 2**32))
def test_cycles_and_cuts(graph, algorithm, seed):
    n, edges = graph
    u, v, weight = ([edge[k] for edge in edges] for k in range(3))
    chosen = spanning_tree(n, u, v, weight, algorithm=algorithm, rng=seed).tolist()
    forest = Forest(n)
    assert all(forest.joins(u[k], v[k]) for k in chosen)
    # Every cut: the best of the edges that cross it is chosen.
    for k in chosen:
        rest = Forest(n)
        for other in chosen:
            if other != k:
                rest.joins(u[other], v[other])
        crossing = [j for j in range(len(u)) if rest.part[u[j]] != rest.part[v[j]]]
        of_this_cut = [
            j
            for j in crossing
            if {rest.part[u[j]], rest.part[v[j]]} == {rest.part[u[k]], rest.part[v[k]]}
        ]
        assert min(of_this_cut, key=lambda j: (-weight[j], j)) == k
    # Every cycle: an edge that is not chosen is worse than the chosen ones that join its ends.
    for k in set(range(len(u))) - set(chosen):
        better = Forest(n)
        for other in chosen:
            if (-weight[other], other) < (-weight[k], k):
                better.joins(u[other], v[other])
        assert better.part[u[k]] == better.part[v[k]]


@given(graphs, st.sampled_from(ALGORITHMS))
def test_only_the_order_of_the_weights_counts(graph, algorithm):
    n, edges = graph
    u, v, weight = ([edge[k] for edge in edges] for k in range(3))
    truth = spanning_tree(n, u, v, weight, algorithm=algorithm).tolist()
    ranks = np.unique(np.array(weight), return_inverse=True)[1]
    assert spanning_tree(n, u, v, ranks, algorithm=algorithm).tolist() == truth
    assert spanning_tree(n, u, v, np.exp2(ranks), algorithm=algorithm).tolist() == truth
    negative = [-w for w in weight]
    assert spanning_tree(n, u, v, negative, algorithm=algorithm, minimum=True).tolist() == truth
    assert spanning_tree(n, v, u, weight, algorithm=algorithm).tolist() == truth


def symmetric(rng, n, absent):
    weights = np.triu(rng.integers(-2, 3, (n, n)).astype(float), 1)
    weights[np.triu(rng.random((n, n)) < absent, 1)] = -np.inf
    weights += weights.T
    np.fill_diagonal(weights, np.nan)
    return weights


@pytest.mark.parametrize("absent", [0.0, 0.6])
def test_a_matrix_is_the_list_of_its_pairs(absent):
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        weights = symmetric(rng, n, absent)
        u, v = np.triu_indices(n, 1)
        chosen = spanning_tree(n, u, v, weights[u, v])
        truth = np.stack((u[chosen], v[chosen]), axis=1)
        for algorithm in ("auto", *ALGORITHMS):
            found = spanning_tree(weights, algorithm=algorithm)
            assert found.shape == (len(chosen), 2)
            np.testing.assert_array_equal(found, truth)
        np.testing.assert_array_equal(spanning_tree(-weights, minimum=True), truth)
        present = [k for k in range(len(u)) if weights[u[k], v[k]] > -np.inf]
        entries = weights[u, v][present], (u[present], v[present])
        matrix = scipy.sparse.csr_array(entries, shape=(n, n))
        np.testing.assert_array_equal(spanning_tree(matrix), truth)


def test_the_dense_tree_does_not_depend_on_its_start():
    rng = np.random.default_rng(6)
    parents = np.empty(7, np.int64)
    for absent in (0.0, 0.5):
        for _ in range(100):
            weights = symmetric(rng, 7, absent)
            truth = spanning_tree(weights)
            for start in range(7):
                prim_dense(weights, start, parents)
                assert parents[start] == -1
                pairs = [sorted((d, h)) for d, h in enumerate(parents.tolist()) if h >= 0]
                np.testing.assert_array_equal(np.array(sorted(pairs)).reshape(-1, 2), truth)


def test_entries_of_sparse_matrices_are_edges():
    full = scipy.sparse.csr_array(
        np.array([[7, 5, 0, 0], [5, 0, 3, 0], [0, 3, 0, 1], [0, 0, 1, 0]])
    )
    for form in ("csr", "csc", "coo", "lil", "dok"):
        for part in (full, scipy.sparse.triu(full), scipy.sparse.tril(full)):
            for algorithm in ALGORITHMS:
                found = spanning_tree(part.asformat(form), algorithm=algorithm)
                assert found.tolist() == [[0, 1], [1, 2], [2, 3]]
    zeros = scipy.sparse.coo_array(([0.0, 0.0, -1.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
    assert spanning_tree(zeros).tolist() == [[0, 1], [1, 2]]
    parallel = scipy.sparse.coo_array(([1.0, 2.0, 3.0], ([0, 2, 2], [2, 1, 0])), shape=(3, 3))
    assert spanning_tree(parallel).tolist() == [[0, 2], [1, 2]]


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_graphs_with_next_to_nothing_in_them(algorithm):
    for n in (0, 1, 2):
        empty = spanning_tree(n, [], [], [], algorithm=algorithm)
        assert empty.shape == (0,)
        assert empty.dtype == np.int64
        pairs = spanning_tree(np.full((n, n), -np.inf), algorithm=algorithm)
        assert pairs.shape == (0, 2)
        assert pairs.dtype == np.int64
        assert spanning_tree(scipy.sparse.csr_array((n, n)), algorithm=algorithm).shape == (0, 2)
    assert spanning_tree(1, [0], [0], [3.0], algorithm=algorithm).tolist() == []
    assert spanning_tree(2, [0, 0, 1], [0, 1, 0], [9, 1, 1], algorithm=algorithm).tolist() == [1]


def test_the_input_is_left_alone():
    u, v, weight = np.arange(9), np.arange(1, 10), np.arange(9.0)
    for array in (u, v, weight):
        array.flags.writeable = False
    matrix = symmetric(np.random.default_rng(7), 5, 0.0)
    matrix.flags.writeable = False
    for algorithm in ALGORITHMS:
        spanning_tree(10, u, v, weight, algorithm=algorithm)
        spanning_tree(matrix, algorithm=algorithm)
    strided = spanning_tree(10, u[::2].astype(np.int16), v[::2], weight[::2].astype(np.float32))
    assert strided.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3, [0, 1], [1], [1.0]), {}, ScoresError, r"one entry an edge, not shapes \(2,\), \(1,\)"),
        ((3, [[0]], [[1]], [[1.0]]), {}, ScoresError, r"one entry an edge, not shapes \(1, 1\)"),
        ((3, [0, 3], [1, 2], [1, 2]), {}, ScoresError, r"u\[1\] is 3: nodes are 0 to 2"),
        ((3, [0, 1], [1, -2], [1, 2]), {}, ScoresError, r"v\[1\] is -2: nodes are 0 to 2"),
        (
            (3, [0], np.array([2**63], np.uint64), [1]),
            {},
            ScoresError,
            r"v\[0\] is 9223372036854775808",
        ),
        ((0, [0], [0], [1]), {}, ScoresError, r"u\[0\] is 0: there are no nodes"),
        ((3, [0.5], [1], [1]), {}, ScoresError, "u must be whole numbers, not float64"),
        ((3, [0], [1], [1j]), {}, ScoresError, "must be floats"),
        (
            (3, [0, 1], [1, 2], [1, np.nan]),
            {},
            ScoresError,
            r"weights\[1\], of the edge 1 - 2, is nan; weights are finite, or -inf",
        ),
        ((3, [0], [1], [np.inf]), {}, ScoresError, r"weights\[0\], of the edge 0 - 1, is inf"),
        (
            (3, [0], [1], [-np.inf]),
            {"minimum": True},
            ScoresError,
            r"weights\[0\].* is -inf; with minimum=True, weights are finite, or \+inf",
        ),
        ((-1, [], [], []), {}, ValueError, "nodes must be between 0 and 2147483647, not -1"),
        ((2**31, [], [], []), {}, ValueError, "nodes must be between 0 and 2147483647, not"),
        ((3,), {}, OptionError, "takes nodes, u, v and weights, or a matrix"),
        ((3.5, [], [], []), {}, OptionError, "nodes must be a whole number, or a matrix"),
        ((3, [], [], []), {"algorithm": "x"}, ValueError, "must be one of 'auto', .*, not 'x'"),
        ((np.zeros((2, 2)), [0]), {}, OptionError, "takes a matrix by itself"),
        ((np.zeros((2, 3)),), {}, ScoresError, r"must have shape \(N, N\), not \(2, 3\)"),
        ((np.zeros(3),), {}, ScoresError, r"must have shape \(N, N\), not \(3,\)"),
        ((scipy.sparse.csr_array((2, 3)),), {}, ScoresError, r"shape \(N, N\), not \(2, 3\)"),
        (
            ([[0, 1], [2, 0]],),
            {},
            ScoresError,
            r"weights\[0, 1\] is 1.0, but weights\[1, 0\] is 2.0: .* symmetric",
        ),
        (([[0, 1], [-np.inf, 0]],), {}, ScoresError, "must be symmetric"),
        (([[0, 1], [np.inf, 0]],), {}, ScoresError, r"weights\[1, 0\] is inf; weights are finite"),
        (([[0, np.nan], [np.nan, 0]],), {}, ScoresError, r"weights\[0, 1\] is nan"),
        (
            ([[0, -np.inf], [-np.inf, 0]],),
            {"minimum": True},
            ScoresError,
            r"weights\[0, 1\] is -inf; with minimum=True",
        ),
    ],
)
def test_what_is_wrong_is_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        spanning_tree(*arguments, **options)


def test_a_matrix_of_many_tiles_is_compared_in_full():
    weights = np.ones((150, 150))
    for row, column in ((0, 149), (149, 0), (70, 3), (64, 65), (148, 149)):
        other = weights.copy()
        other[row, column] = 2.0
        with pytest.raises(ScoresError, match=rf"{min(row, column)}, {max(row, column)}\]"):
            spanning_tree(other)
    assert len(spanning_tree(weights)) == 149


def test_ragged_lists():
    with pytest.raises(ScoresError, match="weights do not form an array"):
        spanning_tree([[1, 2], [3]])


def test_parallel_edges_are_removed():
    rng = np.random.default_rng(9)
    for n in (2, 3, 5, 8):
        for m in (n * (n - 1) // 2, n * (n - 1) // 2 + 1, 40, 200):
            u = rng.integers(0, n, m).astype(np.int32)
            v = ((u + rng.integers(1, n, m)) % n).astype(np.int32)
            weight = rng.integers(0, 4, m).astype(float)
            best = {}
            for e, pair in enumerate(zip(np.minimum(u, v), np.maximum(u, v), strict=True)):
                if pair not in best or weight[e] > weight[best[pair]]:
                    best[pair] = e
            kept = sorted(best.values()) if 2 * m > n * (n - 1) else list(range(m))
            edges = UndirectedEdges(u.copy(), v.copy(), weight.copy(), np.arange(m, dtype=np.int32))
            left = drop_repeated(n, edges, np.empty(n, np.int32))
            assert edges.origin[:left].tolist() == kept
            assert edges.u[:left].tolist() == u[kept].tolist()
            assert edges.weight[:left].tolist() == weight[kept].tolist()


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_nodes_without_edges_take_no_memory(algorithm):
    """Two thousand million nodes would take more than the 4 GB that this process may have."""
    pytest.importorskip("resource")
    u, v, weights = [7, 2_000_000_000, 7, 7], [2_000_000_000, 9, 9, 7], [1.0, 3.0, 2.0, 9.0]
    program = f"""
import resource
import numpy as np
import scipy.sparse
from arborescence.undirected import spanning_tree
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
u, v, weights = {u}, {v}, {weights}
print(spanning_tree(2**31 - 1, u, v, weights, algorithm={algorithm!r}).tolist())
matrix = scipy.sparse.coo_array((weights, (u, v)), shape=(2**31 - 1, 2**31 - 1))
print(spanning_tree(matrix, algorithm={algorithm!r}).tolist())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "[1, 2]\n[[7, 9], [9, 2000000000]]\n", run.stderr
