"""The backend of NetworkX, against NetworkX itself."""

import os
import subprocess
import sys

import numpy as np
import pytest

from modes import some

nx = pytest.importorskip("networkx", "3.4", reason="needs networkx")

from networkx.algorithms.tree import branchings  # noqa: E402

TESTS = "networkx.algorithms.tree.tests.test_branchings"
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


def test_its_own_tests_pass(tmp_path):
    """Those of branchings, with all graphs computed by the backend, also small ones."""
    code = "import pytest, sys, arborescence.integrations.networkx as n; n._FEW = 0; "
    code += "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '--pyargs', sys.argv[1]]))"
    run = subprocess.run(
        [sys.executable, "-c", code, TESTS],
        cwd=tmp_path,
        env=os.environ | {"NETWORKX_BACKEND_PRIORITY": "arborescence"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
