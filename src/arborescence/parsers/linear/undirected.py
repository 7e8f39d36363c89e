"""Undirected inference for linear parsers."""
# Others do not import this, and do without that package

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.parsers.linear.graphs import LinearGraphs
from arborescence.parsers.linear.kept import both_ways
from arborescence.parsers.linear.pruning import keep_edges
from arborescence.undirected import decode, decode_sparse, enhance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from arborescence.parsers.linear.kept import KeptEdges


class UndirectedGraphs(LinearGraphs):
    """Graphs whose trees are found by way of undirected ones."""

    def _decoders(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        how: Any = {"root": self.options.root, "rounds": self._parser.rounds}
        return partial(decode, **how), partial(decode_sparse, **how)

    def _trees(self) -> Iterator[NDArray[np.int64]]:
        if "directed" not in self._parser.weights:
            find, _ = self._decoders()
            yield from (find(group.scores) for group in self.groups)
            return
        for group, (_, guide) in zip(self.groups, self._matrices("directed"), strict=True):
            trees = decode(group.scores, root=self.options.root, rounds=0)
            yield enhance(guide, trees, self._parser.rounds)

    def kept(self, name: str) -> KeptEdges:
        """Prune the edges, and weigh those that are kept, with both directions of each."""
        kept = keep_edges(self._batch, self._parser.pruning, self._projective)
        starts, heads, turned = both_ways(self.starts, *kept)
        edges = self._weighed(name, starts, heads)
        if self._parser.templates[name].undirected:  # weighed from left to right
            nodes = np.concatenate([np.arange(n) for n in np.diff(self.starts)])
            leftward = heads > np.repeat(nodes, np.diff(starts))
            edges.weights[leftward] = edges.weights[turned[leftward]]
        return edges
