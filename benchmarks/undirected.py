"""Minimum spanning trees of up to 10 million edges: each algorithm, and the peers.

Every program gets the graph in its own form before the clock starts: this library arrays of ends
and weights, SciPy a CSR matrix, rustworkx and igraph their graphs. Then all are timed to the chosen
edges. The weights are random, and up to a million edges all must find trees of the same weight.

One process; processor time, which counts all threads that a peer may start.
``python benchmarks/undirected.py [--quick]``
"""

from __future__ import annotations

import time

import numpy as np

from arborescence.undirected import spanning_tree
from arborescence.undirected.edges import UndirectedEdges
from arborescence.undirected.kkt import kkt
from recording import Results, options
from timing import least_seconds

ALGORITHMS = ("auto", "boruvka", "kruskal", "prim", "kkt")


def _scipy(n, u, v, weight):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    matrix = coo_array((weight, (u, v)), shape=(n, n)).tocsr()
    return lambda: minimum_spanning_tree(matrix).data


def _rustworkx(n, u, v, weight):
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(list(zip(u.tolist(), v.tolist(), weight.tolist(), strict=True)))
    return lambda: [edge[2] for edge in rustworkx.minimum_spanning_edges(graph, weight_fn=float)]


def _igraph(n, u, v, weight):
    import igraph

    graph = igraph.Graph(n, np.stack((u, v), axis=1))
    graph.es["weight"] = weight
    return lambda: weight[graph.spanning_tree(weights="weight", return_tree=False)]


# Each takes a graph, and returns a function that returns the weights of the tree's edges.
PEERS = {"SciPy": _scipy, "rustworkx": _rustworkx, "igraph": _igraph}


def sparse_graph(m, each, rng):
    """m different pairs of nodes at random, `each` times as many as nodes, in random order."""
    n = m // each
    low, high = np.sort(rng.integers(0, n, (2, m + m // 5)), axis=0)
    keys = rng.permutation(np.unique((low * n + high)[low < high]))[:m]
    return n, keys // n, keys % n, 1 + rng.random(len(keys))


def complete_graph(m, rng):
    """Every pair of nodes, m of them or a few more."""
    n = int(np.ceil((2 * m) ** 0.5)) + 1
    u, v = np.triu_indices(n, 1)
    return n, u, v, 1 + rng.random(len(u))


SHAPES = {
    "2 edges a node": lambda m, rng: sparse_graph(m, 2, rng),
    "10 edges a node": lambda m, rng: sparse_graph(m, 10, rng),
    "complete graphs": complete_graph,
}


def in_nanoseconds(call, m):
    """How long a call takes for each of m edges."""
    at_least = 1 if m > 2_000_000 else 2  # besides the one that warms up
    return least_seconds(call, at_least=at_least, clock=time.process_time) / m * 1e9


def as_matrix(n, u, v, weight):
    matrix = np.zeros((n, n))
    matrix[u, v] = matrix[v, u] = weight
    return matrix


def compare(graph, shape):
    """A row of the table: ns an edge, and for peers in brackets how many times ours."""
    n, weight = graph[0], graph[3]
    m = len(weight)
    truth = weight[spanning_tree(*graph, minimum=True)].sum()
    ours = [
        in_nanoseconds(lambda a=a: spanning_tree(*graph, minimum=True, algorithm=a), m)
        for a in ALGORITHMS
    ]
    cells = [round(took) for took in ours]
    if shape == "complete graphs":
        matrix = as_matrix(*graph)
        cells.append(in_nanoseconds(lambda: spanning_tree(matrix, minimum=True), m))
    for name, load in PEERS.items():
        try:
            call = load(*graph)
        except ImportError:
            cells.append(f"({name} is not installed)")
            continue
        if m < 2_000_000:
            np.testing.assert_allclose(np.sum(call()), truth, rtol=1e-9)
        took = in_nanoseconds(call, m)
        cells.append(f"{took:.0f} ({took / ours[0]:.1f}×)")
    return [m, n, *cells]


def visits(graph):
    """How many times the randomized algorithm looks at an edge, divided by their number."""
    n, u, v, weight = graph
    m = len(weight)
    counts = []
    for seed in range(3):
        edges = UndirectedEdges(
            u.astype(np.int32), v.astype(np.int32), -weight, np.arange(m, dtype=np.int32)
        )
        counts.append(kkt(n, edges, np.zeros(m, np.bool_), np.array([seed], np.uint64)) / m)
    return float(np.mean(counts))


def main():
    quick = options(__doc__).quick
    results = Results("undirected", "minimum spanning trees: each algorithm, and the peers", quick)
    most = 5 if quick else 7
    sizes = [10**power for power in range(3, most + 1)]
    looked = []
    for shape, make in SHAPES.items():
        rng = np.random.default_rng(0)
        rows, row = [], [shape]
        for m in sizes:
            graph = make(m, rng)
            row.append(visits(graph))
            rows.append(compare(graph, shape))
        of_matrix = ["a matrix"] if shape == "complete graphs" else []
        results.table(
            shape, ["m", "n", *ALGORITHMS, *of_matrix, *PEERS], rows, unit="ns an edge",
            condition="processor time, least of runs; in brackets, multiples of auto",
        )  # fmt: skip
        looked.append(row)
    results.table(
        "visits", ["graph", *(f"m = {m:,}" for m in sizes)], looked, unit="times",
        condition="how often `kkt` looks at each edge",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
