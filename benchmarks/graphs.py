"""Optimal trees of any graph, from its edges to the tree, beside the libraries that have them.

Each gets the edges as arrays, and makes of them what it needs before the clock stops. NetworkX also
stands there by itself and through this library's backend on a graph of its own, made before.

* Arborescences, from node 0: NetworkX and arbok (arXiv 2208.02590), which is compiled if the
  variable ARBOK names its source; costs are whole numbers, all that it takes. rustworkx and igraph
  have none.
* Undirected trees: NetworkX, rustworkx and igraph.

All must find trees of the same weight. NetworkX has up to 1,000 edges, as it takes minutes beyond.

One process; processor time. ``ARBOK=FOLDER python benchmarks/graphs.py [--quick]``
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from time import process_time

import networkx as nx
import numpy as np

import arborescence as arb
from arborescence.undirected import spanning_tree
from recording import Results, options
from sparse import local_graph, nested_graph, random_graph
from timing import least_seconds

MANY = 1000
seconds_of = partial(least_seconds, budget=0.2, at_least=2, clock=process_time)
ALGORITHMS = ("pq", "hollow", "gabow")


def complete_graph(n, m):
    """All edges from the root and between words: about m."""
    n = round(m**0.5)
    heads, deps = np.nonzero(~np.eye(n + 1, dtype=bool))
    inside = deps > 0
    return heads[inside], deps[inside], np.random.default_rng(n).random(n * n)


GRAPHS = {
    "random": random_graph,
    "local": local_graph,
    "nested cycles": nested_graph,
    "complete": complete_graph,
}


def arbok():
    """Return its functions by algorithm, if its source is here."""
    if "ARBOK" not in os.environ:
        return {}
    source = Path(os.environ["ARBOK"]) / "source" / "arbok"
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "arbok.so"
        files = [Path(__file__).with_name("arbok.cpp"), *(source / "src").rglob("*.cpp")]
        files = [file for file in files if file.name not in ("utils.cpp", "treap.cpp")]
        flags = (
            "-std=c++20",
            "-O3",
            "-march=native",
            "-DNDEBUG",
            "-shared",
            "-fPIC",
            "-w",
            "-include",
            "cstddef",
        )
        command = ["c++", *flags, f"-I{source / 'include'}", *files, "-o", library]
        subprocess.run(command, check=True)
        loaded = ctypes.CDLL(str(library))
    array = np.ctypeslib.ndpointer(np.int32, flags="C_CONTIGUOUS")
    found = {}
    for name in ALGORITHMS:
        function = loaded[f"solve_{name}"]
        function.restype = ctypes.c_longlong
        function.argtypes = [ctypes.c_int, ctypes.c_int, array, array, array]
        found[name] = function
    return found


def in_networkx(graph, arrays):
    """Return the graph of NetworkX; of parallel edges the cheapest stays, and no loop."""
    heads, deps, costs = arrays
    order = np.argsort(-costs, kind="stable")
    order = order[heads[order] != deps[order]]
    graph.add_weighted_edges_from(zip(*(array[order].tolist() for array in arrays), strict=True))
    return graph


def beside_networkx(find, graph):
    """Return the seconds of NetworkX and of our backend, and the cost that both find."""
    start = process_time()
    found = find(graph)
    alone = process_time() - start
    backend = partial(find, graph, backend="arborescence")
    assert np.isclose(backend().size("weight"), found.size("weight"))
    return alone, seconds_of(backend), found.size("weight")


def cost_of(tree, edges):
    """The cost of a tree: of parallel edges the cheapest."""
    heads, deps, costs = edges
    least = np.full(len(tree), 2**40)
    inside = tree[deps] == heads
    np.minimum.at(least, deps[inside], costs[inside])
    return least[1:].sum()


def arborescences(results, sizes):
    peers = arbok()
    rows = []
    for kind, make in GRAPHS.items():
        for m in sizes:
            heads, deps, weights = make(m // 10, m)
            keep = heads != deps
            heads, deps, weights = heads[keep], deps[keep], weights[keep]
            # The order of nested graphs depends on tiny differences: ranks keep it.
            span = weights.max() - weights.min()
            costs = (
                np.unique(-weights, return_inverse=True)[1]
                if kind == "nested cycles"
                else np.round((weights.max() - weights) / span * 1e6)
            ).astype(np.int64)
            edges, n = (heads, deps, costs), int(deps.max())
            ours = partial(lambda n, h, d, c: arb.decode_sparse(n, h, d, -c, root="multi"), n)
            cost = cost_of(ours(*edges), edges)
            row = [kind if m == sizes[0] else "", n + 1, len(heads), 1e3 * seconds_of(
                lambda e=edges, f=ours: f(*e)
            )]  # fmt: skip
            if m <= MANY:
                graph = in_networkx(nx.DiGraph(), edges)
                alone, backend, theirs = beside_networkx(nx.minimum_spanning_arborescence, graph)
                assert theirs == cost
                row += [1e3 * alone, 1e3 * backend]
            else:
                row += ["", ""]
            for name in ALGORITHMS:
                if name not in peers:
                    row.append("")
                    continue

                def theirs(solve=peers[name], e=edges, n=n):
                    return solve(n + 1, len(e[0]), *(array.astype(np.int32) for array in e))

                assert theirs() == cost, (kind, m, name)
                row.append(1e3 * seconds_of(theirs))
            rows.append(row)
            print(row, flush=True)
    results.table(
        "arborescences",
        ["graph", "nodes", "edges", "`decode_sparse`", "NetworkX", "our backend",
         "arbok, binary heaps", "arbok, hollow heaps", "arbok, Gabow"],
        rows, unit="ms",
        condition="from arrays of edges to the tree, NetworkX and backend from its graph; "
        "processor time, least of runs",
    )  # fmt: skip


def _rustworkx(n, u, v, weight):
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(list(zip(u.tolist(), v.tolist(), weight.tolist(), strict=True)))
    return sum(edge[2] for edge in rustworkx.minimum_spanning_edges(graph, weight_fn=float))


def _igraph(n, u, v, weight):
    import igraph

    graph = igraph.Graph(n, np.stack((u, v), axis=1))
    return weight[graph.spanning_tree(weights=weight, return_tree=False)].sum()


def undirected(results, sizes):
    rows = []
    for kind in ("random", "complete"):
        for m in sizes:
            rng = np.random.default_rng(m)
            if kind == "complete":
                n = round((2 * m) ** 0.5)
                u, v = np.triu_indices(n, 1)
            else:
                n = m // 5
                pairs = np.sort(rng.integers(0, n, (2, m)), axis=0)
                pairs = np.unique(pairs[:, pairs[0] < pairs[1]], axis=1)
                u, v = pairs[:, rng.permutation(pairs.shape[1])]
            edges = u, v, rng.random(len(u))
            ours = partial(spanning_tree, n, *edges, minimum=True)
            weight = edges[2][ours()].sum()
            row = [kind if m == sizes[0] else "", n, len(u), 1e3 * seconds_of(ours)]
            if m <= MANY:
                graph = nx.Graph()
                graph.add_nodes_from(range(n))
                graph.add_weighted_edges_from(zip(*(each.tolist() for each in edges), strict=True))
                alone, backend, theirs = beside_networkx(nx.minimum_spanning_tree, graph)
                assert np.isclose(theirs, weight)
                row += [1e3 * alone, 1e3 * backend]
            else:
                row += ["", ""]
            for peer in (_rustworkx, _igraph):
                assert np.isclose(peer(n, *edges), weight)
                row.append(1e3 * seconds_of(partial(peer, n, *edges)))
            rows.append(row)
            print(row, flush=True)
    results.table(
        "undirected",
        ["graph", "nodes", "edges", "`spanning_tree`", "NetworkX", "our backend", "rustworkx",
         "igraph"],
        rows, unit="ms",
        condition="from arrays of edges to the tree, NetworkX and backend from its graph; "
        "processor time, least of runs",
    )  # fmt: skip


def main():
    quick = options(__doc__).quick
    results = Results("graphs", "optimal trees of graphs, conversion included", quick)
    sizes = (100, 1000, 10_000, 100_000, 1_000_000)[: 3 if quick else 5]
    arborescences(results, sizes)
    undirected(results, sizes)
    results.save()


if __name__ == "__main__":
    main()
