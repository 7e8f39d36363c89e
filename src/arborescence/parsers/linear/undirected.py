"""Undirected inference for linear parsers: calls into `arborescence.undirected`.

Imports are local: only parsers with undirected inference need that package.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.parsers.linear.graphs import LinearGraphs
from arborescence.parsers.linear.kept import both_ways

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.linear.kept import KeptEdges
    from arborescence.parsers.linear.settings import Settings


class UndirectedGraphs(LinearGraphs):
    """Graphs whose trees are found by way of undirected ones."""

    def _decoders(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        how: Any = {"root": self.options.root, "rounds": self._parser.rounds}
        return partial(find_trees, **how), partial(find_listed, **how)

    def _trees(self) -> Iterator[NDArray[np.int64]]:
        if "directed" not in self._parser.weights:
            find, _ = self._decoders()
            yield from (find(group.scores) for group in self.groups)
            return
        for group, (_, guide) in zip(self.groups, self._matrices("directed"), strict=True):
            trees = find_trees(group.scores, self.options.root, rounds=0)
            yield enhanced(guide, trees, self._parser.rounds)

    def kept(self, name: str) -> KeptEdges:
        """Prune the edges, and weigh those that are kept, with both directions of each."""
        starts, heads, turned = both_ways(self.starts, *self._filtered())
        edges = self._weighed(name, starts, heads)
        if self._parser._edge_templates[name].undirected:  # weighed from left to right
            nodes = np.concatenate([np.arange(n) for n in np.diff(self.starts)])
            leftward = heads > np.repeat(nodes, np.diff(starts))
            edges.weights[leftward] = edges.weights[turned[leftward]]
        return edges


def find_trees(scores: NDArray[np.float32], root: Root, rounds: int | None) -> NDArray[np.int64]:
    """Find trees through undirected spanning trees: (..., n + 1) from (..., n + 1, n + 1)."""
    from arborescence.undirected import decode

    trees: NDArray[np.int64] = decode(scores, root=root, rounds=rounds)
    return trees


def find_in_training(
    scores: NDArray[np.float32], settings: Settings, *, directed: bool
) -> NDArray[np.int64]:
    """Find trees in training: without enhancement if features see no direction."""
    return find_trees(scores, settings.root, settings.rounds if directed else 0)


def find_listed(*edges: Any, root: Root, rounds: int | None) -> NDArray[np.int64]:
    """Find a tree through an undirected spanning tree of a list of edges, in edge-linear time."""
    from arborescence.undirected import decode_sparse

    tree: NDArray[np.int64] = decode_sparse(*edges, root=root, rounds=rounds)
    return tree


def enhanced(
    scores: NDArray[np.float32], trees: NDArray[np.int64], rounds: int | None
) -> NDArray[np.int64]:
    """Improve trees by local enhancement with scores of directed edges."""
    from arborescence.undirected import enhance

    better: NDArray[np.int64] = enhance(scores, trees, rounds)
    return better
