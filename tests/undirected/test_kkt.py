import numpy as np
import pytest

from arborescence.undirected.edges import UndirectedEdges
from arborescence.undirected.kkt import drop_heavy, kkt, least, new_minima
from modes import some


def test_the_least_of_every_stretch():
    rng = np.random.default_rng(0)
    for length in (1, 2, 31, 32, 33, 64, 65, 150):
        for high in (2, 30):
            values = rng.integers(0, high, length).astype(np.int8)
            minima = new_minima(values)
            for start in range(length):
                for last in range(start, length):
                    assert least(minima, start, last) == values[start : last + 1].min()


def forest_of(rng, n, kind, parts):
    """Edges u - v of a random forest of some parts, and how each node is reached."""
    above = {
        "bushy": lambda node: int(rng.integers(0, node)),
        "path": lambda node: node - 1,
        "star": lambda node: 0,
    }[kind]
    parent = [-1] + [above(node) for node in range(1, n)]
    for node in rng.choice(n, parts - 1, replace=False).tolist():
        parent[node] = -1
    return parent


def worst_on_path(parent, weight_of, a, b):
    """Climb from both ends, edge by edge, until they meet; None if they never do."""

    def line(node):
        nodes = [node]
        while parent[node] >= 0:
            node = parent[node]
            nodes.append(node)
        return nodes

    of_a, of_b = line(a), line(b)
    if of_a[-1] != of_b[-1]:
        return None
    apart = set(of_a) ^ set(of_b)
    return min((weight_of[node] for node in apart), default=None)


def test_heavy_edges_are_those_worse_than_their_path():
    rng = np.random.default_rng(1)
    for kind in ("bushy", "path", "star"):
        for n in (2, 3, 10, 100, some(400)):
            for parts in (1, max(1, n // 10)):
                parent = forest_of(rng, n, kind, parts)
                forest = [(parent[node], node) for node in range(n) if parent[node] >= 0]
                others = [tuple(rng.choice(n, 2, replace=False)) for _ in range(3 * n)]
                places = rng.permutation(len(forest) + len(others))
                edges = [([*forest, *others])[place] for place in places.tolist()]
                in_forest = places < len(forest)
                weight = rng.integers(0, 6, len(edges)).astype(float)
                # How good an edge is: by weight, and then the earlier the better.
                order = [(weight[k], -k) for k in range(len(edges))]
                weight_of = {edges[k][1]: order[k] for k in np.flatnonzero(in_forest).tolist()}
                light = []
                for k, (a, b) in enumerate(edges):
                    worst = worst_on_path(parent, weight_of, a, b)
                    if worst is None or order[k] >= worst:
                        light.append(k)
                u, v = np.array(edges, np.int32).T.copy()
                origin = np.arange(len(edges), dtype=np.int32)
                left = drop_heavy(n, UndirectedEdges(u, v, weight.copy(), origin), in_forest)
                assert origin[:left].tolist() == light
                assert list(zip(u[:left], v[:left], strict=True)) == [edges[k] for k in light]


def test_without_a_forest_nothing_is_heavy():
    u, v = np.array([0, 1, 2], np.int32), np.array([1, 2, 0], np.int32)
    origin = np.arange(3, dtype=np.int32)
    edges = UndirectedEdges(u, v, np.arange(3.0), origin)
    assert drop_heavy(3, edges, np.zeros(3, np.bool_)) == 3
    assert origin.tolist() == [0, 1, 2]


@pytest.mark.parametrize("density", [2, 10, 100])
def test_the_randomized_algorithm_looks_at_a_constant_number_of_times_m_edges(density):
    rng = np.random.default_rng(density)
    for m in (1000, 30_000, 300_000):
        n = m // density
        u = rng.integers(0, n, m, dtype=np.int32)
        v = (u + rng.integers(1, n, m, dtype=np.int32)) % n
        edges = UndirectedEdges(u, v, rng.random(m), np.arange(m, dtype=np.int32))
        visited = kkt(n, edges, np.zeros(m, np.bool_), np.array([7], np.uint64))
        assert m < visited < 8 * m
