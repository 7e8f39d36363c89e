"""The backend of NetworkX, against NetworkX itself."""

import os
import subprocess
import sys

import numpy as np
import pytest

from modes import some

nx = pytest.importorskip("networkx", "3.4", reason="needs networkx")

from networkx.algorithms.tree import branchings  # noqa: E402

OURS = {"backend": "arborescence"}


def graph_of(rng, kind, nodes, edges):
    graph = kind()
    graph.add_nodes_from(range(nodes))
    for _ in range(edges):
        u, v = rng.integers(nodes, size=2).tolist()
        if u != v:  # with loops, NetworkX 3.6 misses arborescences
            graph.add_edge(u, v, weight=int(rng.integers(-5, 10)), name=f"{u}->{v}")
    return graph


def outcome(find, graph, **options):
    """The weight and the number of edges of what was found, or the error."""
    try:
        found = find(graph.copy(), **options)
    except nx.NetworkXException as error:
        return type(error), str(error)
    assert type(found) is type(graph)
    assert set(found) == set(graph)
    assert all(u != v and degree <= 1 for u, v in found.edges() for degree in [found.in_degree(v)])
    return found.size(weight="weight"), found.number_of_edges()


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize(
    "name",
    [
        "maximum_branching",
        "minimum_branching",
        "minimal_branching",
        "maximum_spanning_arborescence",
        "minimum_spanning_arborescence",
    ],
)
def test_as_good_as_networkx(name, kind):
    rng, find = np.random.default_rng(len(name)), getattr(branchings, name)
    for _ in range(some(200)):
        nodes = int(rng.integers(1, 8))
        graph = graph_of(rng, kind, nodes, int(rng.integers(16)))
        theirs, ours = outcome(find, graph), outcome(find, graph, **OURS)
        if name in ("maximum_branching", "minimum_branching"):  # edges of weight 0 may be left out
            assert ours[0] == theirs[0]
        else:
            assert ours == theirs


def undirected_graph(rng, kind):
    """A graph with loops, parallel edges, several parts, equal weights and some of NaN."""
    graph = kind(name="some")
    graph.add_nodes_from("abcdefgh"[: rng.integers(1, 9)], seen=True)
    for number in range(rng.integers(20)):
        u, v = rng.choice(list(graph), 2).tolist()
        weight = float(rng.integers(-3, 4)) if rng.random() < 0.9 else float("nan")
        graph.add_edge(u, v, **({"weight": weight} if number % 7 else {}), number=number)
    return graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("most", ["minimum", "maximum"])
def test_spanning_trees_are_those_of_networkx(most, kind):
    rng = np.random.default_rng(3)
    edges, tree = (getattr(nx, f"{most}_spanning_{what}") for what in ("edges", "tree"))
    for _ in range(some(200)):
        graph = undirected_graph(rng, kind)
        for data, keys in ((True, True), (False, True), (True, False), (False, False)):
            options = {"ignore_nan": True, "data": data, "keys": keys}
            assert list(edges(graph, **options, **OURS)) == list(edges(graph, **options))
        theirs, ours = tree(graph, ignore_nan=True), tree(graph, ignore_nan=True, **OURS)
        assert type(ours) is kind
        assert nx.utils.graphs_equal(ours, theirs)
        for algorithm in ("prim", *(["boruvka"] if kind is nx.Graph else [])):
            theirs, ours = (
                tree(graph, ignore_nan=True, algorithm=algorithm, **backend)
                for backend in ({}, OURS)
            )
            assert ours.size("weight") == theirs.size("weight")
            assert ours.size() == theirs.size()


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_spanning_trees_with_some_edges_and_without_others(kind):
    rng = np.random.default_rng(4)
    marks = list(nx.algorithms.tree.mst.EdgePartition)
    for _ in range(some(200)):
        graph = undirected_graph(rng, kind)
        for *_, data in graph.edges(data=True):
            data["mark"] = marks[rng.integers(3)]
        for minimum in (False, True):
            options = {"minimum": minimum, "partition": "mark", "ignore_nan": True}
            theirs = nx.partition_spanning_tree(graph, **options)
            ours = nx.partition_spanning_tree(graph, **options, **OURS)
            assert nx.utils.graphs_equal(ours, theirs)


def test_what_spanning_trees_refuse():
    graph = nx.Graph([("a", "b", {"weight": float("nan")})])
    found = nx.minimum_spanning_edges(graph, **OURS)  # as in NetworkX, told by the first edge
    with pytest.raises(ValueError, match=r"NaN found as an edge weight. Edge \('a', 'b',"):
        list(found)
    with pytest.raises(ValueError, match="best is not a valid choice"):
        nx.minimum_spanning_tree(graph, algorithm="best", **OURS)
    with pytest.raises(nx.NetworkXNotImplemented, match="for directed type"):
        nx.minimum_spanning_tree(nx.DiGraph(graph), **OURS)
    with pytest.raises(nx.NetworkXNotImplemented, match="for multigraph type"):
        nx.minimum_spanning_tree(nx.MultiGraph(graph), algorithm="boruvka", **OURS)


def test_attributes_and_the_graph_itself_stay():
    graph = graph_of(np.random.default_rng(1), nx.DiGraph, 6, 60)
    before = {edge: dict(data) for *edge, data in graph.edges(data=True) for edge in [tuple(edge)]}
    found = nx.maximum_spanning_arborescence(graph, preserve_attrs=True, **OURS)
    assert all(before[u, v] == data for u, v, data in found.edges(data=True))
    found = nx.maximum_spanning_arborescence(graph, **OURS)
    assert all(set(data) == {"weight"} for *_, data in found.edges(data=True))
    assert all(before[u, v] == data for u, v, data in graph.edges(data=True))


def test_weights_that_floats_cannot_hold_are_left_to_networkx():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2**60), (1, 0, 2**60 + 1)])
    with pytest.raises(NotImplementedError, match="NotImplementedError"):
        nx.maximum_spanning_arborescence(graph, **OURS)


#: NetworkX's own tests, with all graphs computed by the backend, also small ones.
OWN_TESTS = """
import pytest, sys, arborescence.integrations.networkx as ours
def counted(function):
    def call(*args, **options):
        global calls
        calls += 1
        return function(*args, **options)
    return call
calls = ours._FEW = 0
ours._best, ours._lightest = counted(ours._best), counted(ours._lightest)
status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
print(calls)
sys.exit(status)
"""


@pytest.mark.long
def test_its_own_tests_pass(tmp_path):
    environment = {f"NETWORKX_BACKEND_PRIORITY{of}": "arborescence" for of in ("", "_GENERATORS")}
    tests = ["networkx.algorithms.tree.tests." + name for name in ("test_branchings", "test_mst")]
    # That one wants one of two equally good branchings.
    options = ["-k", "not edmonds2_maxbranch", "--pyargs", *tests]
    run = subprocess.run(
        [sys.executable, "-c", OWN_TESTS, *options],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
    assert int(run.stdout.split()[-1]) > 5000  # they were computed here
