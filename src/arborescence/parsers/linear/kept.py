"""Scored edges kept by pruning: conversion to matrices, and decoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: From this number of nodes on, sparse decoding is used. For shorter sentences, decoding a full
#: matrix is faster, even with only three edges for each word.
LONG: Final = 250


class Matrices(NamedTuple):
    """The layout of a batch's score matrices in one array: those of equal size are adjacent."""

    # This allows few calls of `decode`, without padding.

    places: NDArray[np.int64]  # (B,): the position of each sentence's matrix
    # (G,) each: the sentences of equal length, the shortest first
    groups: list[NDArray[np.int64]]
    nodes: NDArray[np.int64]  # (B,): the number of nodes of each sentence

    @classmethod
    def of(cls, nodes: NDArray[np.int64]) -> Self:
        """Make the layout for sentences of these numbers of nodes."""
        order = np.argsort(nodes, kind="stable")
        ends = np.cumsum(nodes[order] ** 2)
        places = np.empty_like(nodes)
        places[order] = ends - nodes[order] ** 2
        _, firsts = np.unique(nodes[order], return_index=True)
        return cls(places, np.split(order, firsts[1:]), nodes)

    @property
    def size(self) -> int:
        """The length of the array."""
        return int((self.nodes**2).sum())

    def split(
        self, array: NDArray[np.float32]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return each group of sentences and its part of the array, (G, n + 1, n + 1)."""
        parts = []
        for group in self.groups:
            n = int(self.nodes[group[0]])
            part = array[self.places[group[0]] :][: len(group) * n * n]
            parts.append((group, part.reshape(len(group), n, n)))
        return parts


class KeptEdges(NamedTuple):
    """The scored edges of a batch of sentences, grouped by dependent."""

    sentences: NDArray[np.int64]  # (B + 1,): ``Batch.starts``: the nodes of each sentence
    # (N + 1,): the edges into node i are ``starts[i]`` to ``starts[i + 1] - 1``
    starts: NDArray[np.int64]
    heads: NDArray[np.int64]  # (E,): the head of each edge, as a node of its sentence
    weights: NDArray[np.float32]  # (E,): their scores

    def to_matrices(self, layout: Matrices) -> NDArray[np.float32]:
        """Return the scores as matrices, -inf for other edges, without sentences of 0 nodes."""
        out = np.full(layout.size, -np.inf, dtype=np.float32)
        fill_kernel(self, layout.nodes, layout.places, out)
        return out

    def trees(
        self,
        of_matrices: Callable[[NDArray[np.float32]], NDArray[np.int64]],
        of_edges: Callable[..., NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """Find each sentence's tree, in a row (N,)."""
        # `of_matrices` for equal lengths, else `of_edges`
        heads = np.empty(self.sentences[-1], dtype=np.int64)
        nodes = np.diff(self.sentences)
        layout = Matrices.of(np.where(nodes < LONG, nodes, 0))
        for group, scores in layout.split(self.to_matrices(layout)):
            if scores.size:
                places = self.sentences[group][:, None] + np.arange(scores.shape[-1])
                heads[places] = of_matrices(scores)
        for b in np.flatnonzero(nodes >= LONG).tolist():
            start, stop = self.sentences[b : b + 2].tolist()
            starts = self.starts[start : stop + 1]
            edges = slice(starts[0], starts[-1])
            dependents = np.repeat(np.arange(stop - start), np.diff(starts))
            heads[start:stop] = of_edges(
                stop - start - 1, self.heads[edges], dependents, self.weights[edges]
            )
        return heads


#: `KeptEdges` in signatures of kernels.
KEPT: Final = "parsers.linear.kept.KeptEdges(int64[::1], int64[::1], int64[::1], float32[::1])"


def both_ways(
    sentences: NDArray[np.int64], starts: NDArray[np.int64], heads: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Add the other direction of kept edges between words."""
    # also return its index, a root edge's own
    count = sentences[-1]
    first = np.repeat(sentences[:-1], np.diff(sentences))  # the root of each node's sentence
    dependents = np.repeat(np.arange(count), np.diff(starts))
    of_words = heads > 0
    heads = heads + first[dependents]
    ends = np.stack((dependents, heads)), np.stack((heads, dependents))[:, of_words]
    edges = np.unique(np.concatenate([d * count + h for d, h in ends]))
    dependents, heads = np.divmod(edges, count)
    own = heads - first[dependents]
    other = np.where(own > 0, heads * count + dependents, edges)
    starts = np.searchsorted(dependents, np.arange(count + 1))
    return starts, own, np.searchsorted(edges, other)


@kernel
@takes(f"{KEPT}, int64[::1], int64[::1], out float32[::1]")
def fill_kernel(kept: KeptEdges, nodes: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Write the edges of `KeptEdges` into matrices laid out by `Matrices`; O(n + E) a sentence."""
    sentences, starts, heads, weights = kept
    for b in range(len(nodes)):
        n = nodes[b]
        for d in range(n):
            out[places[b] + d * n] = 0
            out[places[b] + d * n + d] = 0
            for e in range(starts[sentences[b] + d], starts[sentences[b] + d + 1]):
                out[places[b] + heads[e] * n + d] = weights[e]
