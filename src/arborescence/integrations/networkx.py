"""A backend of NetworkX: its optimal arborescences, branchings and undirected spanning trees.

``nx.maximum_spanning_arborescence(G, backend="arborescence")`` uses this backend. To use it in all
calls, set ``NETWORKX_BACKEND_PRIORITY_GENERATORS=arborescence``: this sets the backend of all
functions that return graphs. For a minimum, NetworkX then negates the weights itself, and calls the
maximum branching of this backend. The results are graphs and edges of NetworkX, from
`arborescence.decode_sparse` and `arborescence.undirected.spanning_tree`. Among equally good
results, this backend may return another result than NetworkX, except for Kruskal's algorithm;
weights come back unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.errors import NoTreeError
from arborescence.nonprojective.sparse import decode_sparse
from arborescence.undirected.spanning_trees import spanning_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: Larger whole numbers are not exact in floats.
_EXACT: Final = 2**53
#: For graphs with fewer edges, NetworkX itself is as fast.
_FEW: Final = 20
_FUNCTIONS: Final = (
    "maximum_branching",
    "minimum_branching",
    "minimal_branching",
    "maximum_spanning_arborescence",
    "minimum_spanning_arborescence",
    "minimum_spanning_edges",
    "maximum_spanning_edges",
    "minimum_spanning_tree",
    "maximum_spanning_tree",
    "partition_spanning_tree",
)
_ALGORITHMS: Final = ("kruskal", "prim", "boruvka", "borůvka")


def get_info() -> dict[str, Any]:
    """Return the description of the backend, which NetworkX reads before it loads the backend."""
    return {
        "backend_name": "arborescence",
        "project": "arborescence",
        "package": "arborescence",
        "short_summary": "Optimal arborescences, branchings and spanning trees, exactly",
        "functions": {name: {} for name in _FUNCTIONS},
    }


def _branching(sign: int, *, spanning: str = "", most_edges: bool = False) -> Any:
    """Return a function, as in NetworkX, that finds a branching or a spanning arborescence.

    Its weight is the highest or, with sign -1, the lowest; with `most_edges`, among the branchings
    with the most edges. `spanning` is "" for a branching, or the adjective for an error.
    """

    def find(
        G: Any,
        attr: str = "weight",
        default: float = 1,
        preserve_attrs: bool = False,
        partition: str | None = None,
    ) -> Any:
        import networkx as nx  # type: ignore[import-untyped,unused-ignore]

        _forget(G)
        if sign < 0 or spanning:
            for *_, data in G.edges(data=True):
                data.setdefault(attr, default)  # as NetworkX does
        if spanning and not len(G):
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        options: dict[str, Any] = {
            "sign": sign,
            "spanning": bool(spanning),
            "most_edges": most_edges,
        }
        try:
            return _best(G, attr, default, preserve_attrs, partition, **options)
        except NoTreeError:
            name = f"{spanning} spanning arborescence" if spanning else "branching"
            raise nx.NetworkXException(f"No {name} in G.") from None

    return staticmethod(find)


def _spanning_edges(sign: int) -> Any:
    """Return a function, as in NetworkX, for the edges of the lightest (-1: heaviest) tree."""

    def find(
        G: Any,
        algorithm: str = "kruskal",
        weight: str = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
    ) -> Iterator[Any]:
        _check(G, algorithm)
        edges = _lightest(G, sign, weight, ignore_nan)
        return (
            edge[: 2 + (keys and len(edge) > 3)] + ((edge[-1],) if data else ()) for edge in edges
        )

    return staticmethod(find)


def _spanning_tree(sign: int) -> Any:
    """Return a function, as in NetworkX, for the lightest (-1: heaviest) tree."""

    def find(
        G: Any, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
    ) -> Any:
        _check(G, algorithm)
        return _graph_of(G, _lightest(G, sign, weight, ignore_nan))

    return staticmethod(find)


class Backend:
    """The functions that NetworkX calls, with the names of its own functions."""

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> Any:
        """Return the graph itself: nothing is copied."""
        return graph

    @staticmethod
    def convert_to_nx(result: Any, **_: Any) -> Any:
        """Return a result unchanged, since results are graphs of NetworkX."""
        return result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether the backend can run with these arguments, or the reason why not."""
        graph = args[0] if args else kwargs["G"]
        if "arborescence" in name and not graph.is_directed():
            return "the graph is not directed"
        return True

    @staticmethod
    def should_run(_: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether the backend is faster than NetworkX, or the reason why not."""
        graph = args[0] if args else kwargs["G"]
        return graph.number_of_edges() >= _FEW or "the graph is small"

    maximum_branching = _branching(1)
    minimum_branching = _branching(-1)
    #: The branching of lowest weight among the branchings with the most edges.
    minimal_branching = _branching(-1, most_edges=True)
    maximum_spanning_arborescence = _branching(1, spanning="maximum")
    minimum_spanning_arborescence = _branching(-1, spanning="minimum")
    minimum_spanning_edges = _spanning_edges(1)
    maximum_spanning_edges = _spanning_edges(-1)
    minimum_spanning_tree = _spanning_tree(1)
    maximum_spanning_tree = _spanning_tree(-1)

    @staticmethod
    def partition_spanning_tree(
        G: Any,
        minimum: bool = True,
        weight: str = "weight",
        partition: str = "partition",
        ignore_nan: bool = False,
    ) -> Any:
        """Return the best tree with all included edges, and without the excluded edges."""
        _check(G, "kruskal")
        edges = _lightest(G, 1 if minimum else -1, weight, ignore_nan, partition)
        return _graph_of(G, edges)


def _forget(graph: Any) -> None:
    """Remove a graph from NetworkX's cache: else NetworkX warns that the graph may have changed."""
    (graph.__networkx_cache__ or {}).get("backends", {}).pop("arborescence", None)


def _as_floats(values: list[Any]) -> NDArray[np.float64]:
    """Return weights as floats; NotImplementedError if floats are not exact."""
    array = np.array(values or [0])
    if array.dtype.kind not in "biuf" or not (np.abs(array) < _EXACT).all():
        raise NotImplementedError("a weight is no number, not finite, or larger than 2^53")
    return array[: len(values)].astype(np.float64)


def _check(graph: Any, algorithm: str) -> None:
    """Raise NetworkX's exceptions for an unknown algorithm, or a graph of a wrong type."""
    import networkx as nx

    _forget(graph)
    if algorithm not in _ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if graph.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if graph.is_multigraph() and algorithm.startswith("bor"):
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _graph_of(graph: Any, edges: Iterator[Any]) -> Any:
    """Return a graph of the same kind, with all nodes and some edges."""
    result = graph.__class__()
    result.graph.update(graph.graph)
    result.add_nodes_from(graph.nodes.items())
    result.add_edges_from(edges)
    return result


def _lightest(
    graph: Any, sign: int, weight: str, ignore_nan: bool, partition: str | None = None
) -> Iterator[Any]:
    """Yield the edges of the best spanning tree, or forest, in the order of Kruskal's algorithm."""
    keys = {"keys": True} if graph.is_multigraph() else {}
    edges = list(graph.edges(data=True, **keys))
    values = [edge[-1].get(weight, 1) for edge in edges]
    for place, value in enumerate(values):
        if value != value and not ignore_nan:
            raise ValueError(f"NaN found as an edge weight. Edge {edges[place]}")
    marks = [
        "EXCLUDED" if value != value else getattr(edge[-1].get(partition), "name", "OPEN")
        for edge, value in zip(edges, values, strict=True)
    ]
    kept = [place for place, mark in enumerate(marks) if mark != "EXCLUDED"]
    edges = [edges[place] for place in kept]
    weights = sign * _as_floats([values[place] for place in kept])
    included = [marks[place] == "INCLUDED" for place in kept]
    if any(included):  # they come first: only the order of the weights matters
        weights = np.unique(weights, return_inverse=True)[1].astype(np.float64)
        weights[included] = -1
    numbers = {node: number for number, node in enumerate(graph)}
    u, v = (np.array([numbers[edge[end]] for edge in edges], np.int64) for end in (0, 1))
    tree = spanning_tree(len(numbers), u, v, weights, minimum=True)
    for place in tree[np.argsort(weights[tree], kind="stable")].tolist():
        yield edges[place]


def _best(
    graph: Any,
    attr: str,
    default: float,
    preserve_attrs: bool,
    partition: str | None,
    *,
    sign: int,
    spanning: bool,
    most_edges: bool,
) -> Any:
    """Return the best branching as a graph of NetworkX."""
    # The nodes become words, and an edge of weight 0 leads from a root to each word: a tree with a
    # single root edge is a spanning arborescence, a tree with several root edges a branching.
    numbers = {node: number for number, node in enumerate(graph, 1)}
    edges = list(graph.edges(data=True))
    n, m = len(numbers), len(edges)
    ends = np.array([(numbers[u], numbers[v]) for u, v, _ in edges], np.int64).reshape(m, 2)
    weights = sign * _as_floats([data.get(attr, default) for *_, data in edges])
    marks = [data.get(partition) for *_, data in edges] if partition else [None] * m
    names = np.array([getattr(mark, "name", "OPEN") for mark in marks], object)
    present = (names != "EXCLUDED") & (ends[:, 0] != ends[:, 1])
    forced = np.zeros(n + 1, np.bool_)
    for edge in np.flatnonzero((names == "INCLUDED") & present).tolist():
        if not forced[ends[edge, 1]]:
            present[(ends[:, 1] == ends[edge, 1]) & (np.arange(m) != edge)] = False
            forced[ends[edge, 1]] = True
    if not (spanning or most_edges):
        present &= (weights > 0) | forced[ends[:, 1]]
    kept = np.flatnonzero(present)
    unforced = np.flatnonzero(~forced[1:]) + 1
    # For the largest number of edges, an edge must count more than all weights together.
    root_weight = -2.0 * (1 + np.abs(weights[kept]).sum()) if most_edges and len(kept) else 0.0
    tree = decode_sparse(
        n,
        np.concatenate([np.zeros(len(unforced), np.int64), ends[kept, 0]]),
        np.concatenate([unforced, ends[kept, 1]]),
        np.concatenate([np.full(len(unforced), root_weight), weights[kept]]),
        root="single" if spanning else "multi",
    )
    chosen: dict[int, int] = {}  # the best of parallel edges
    for edge in kept[tree[ends[kept, 1]] == ends[kept, 0]].tolist():
        word = ends[edge, 1]
        if word not in chosen or weights[edge] > weights[chosen[word]]:
            chosen[word] = edge
    result = graph.__class__()
    result.add_nodes_from(graph)
    for edge in chosen.values():
        u, v, data = edges[edge]
        result.add_edge(u, v, **(data if preserve_attrs else {}) | {attr: data.get(attr, default)})
    return result


backend = Backend()
