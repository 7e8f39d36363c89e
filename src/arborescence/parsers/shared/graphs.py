"""The graphs of a batch of sentences: weights of edges and, where wanted, of relations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from arborescence.inference.decode import best_labels, decode
from arborescence.inference.parts import Lazy, pairs_of
from arborescence.system.lazy import remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.inference.parts import Decoder
    from arborescence.parsers.shared.base import Options
    from arborescence.treebank import Sentence


@dataclass
class Group:
    """Sentences of equal or similar length, and the weights of their edges."""

    #: (B,): the numbers of the sentences in the batch
    numbers: NDArray[np.int64]
    #: (B,): the sentences' first nodes, if the nodes of the whole batch are in a row
    firsts: NDArray[np.int64]
    #: (B, T, T): ``scores[b, h, d]`` is the weight of the edge h -> d. Column 0, the diagonal, and
    #: the rows and columns after a sentence's nodes have no meaning.
    scores: NDArray[np.float32]
    #: (B,) or None: the numbers of words; None if all sentences have T - 1
    lengths: NDArray[np.int64] | None
    #: whether the edges of the sentences' trees must not cross
    projective: bool

    def put(self, values: NDArray[Any], rows: NDArray[Any]) -> None:
        """Write K values of each node, (B, K, T), to their places in the first K rows."""
        places, inside = self._places()
        rows[: values.shape[1], places[inside]] = values.swapaxes(0, 1)[:, inside]

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the values in K rows, (B, K, T); -1 for padding."""
        places, inside = self._places()
        values = np.full((len(rows), *places.shape), -1)
        values[:, inside] = rows[:, places[inside]]
        return values.swapaxes(0, 1)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of nodes of each sentence."""
        if self.lengths is not None:
            return self.lengths + 1
        return np.full(len(self.numbers), self.scores.shape[-1])

    def size(self, row: int) -> int:
        """Return the number of nodes of one sentence."""
        return self.scores.shape[-1] if self.lengths is None else int(self.lengths[row]) + 1

    def _places(self) -> tuple[NDArray[np.int64], Any]:
        """Return the place of each node in a row, (B, T), and a mask of the nodes that exist."""
        nodes = np.arange(self.scores.shape[-1])
        places = self.firsts[:, None] + nodes
        return places, ... if self.lengths is None else nodes <= self.lengths[:, None]

    def leave_out(self, heads: NDArray[np.int64]) -> None:
        """Leave out all other edges into each word that has a head in `heads` (B, T)."""
        rows, words = np.nonzero(heads >= 0)
        fixed = heads[rows, words]
        kept = self.scores[rows, fixed, words]
        self.scores[rows, :, words] = -np.inf
        self.scores[rows, fixed, words] = np.where(
            np.isneginf(kept), 0, kept
        )  # the edge from this head must be present

    def part(self, rows: NDArray[np.int64], numbers: Any, starts: NDArray[np.int64]) -> Self:
        """Return some of the sentences, with their new numbers in a smaller batch."""
        lengths = None if self.lengths is None else self.lengths[rows]
        new: dict[str, Any] = {"scores": self.scores[rows], "lengths": lengths}
        return replace(self, numbers=numbers, firsts=starts[numbers], **new)


class Graphs(ABC):
    """The graphs of a batch of B sentences with N nodes (words and roots) in all."""

    def __init__(self, sentences: list[Sentence], labels: Sequence[str], options: Options) -> None:
        self.sentences = sentences  # see `completed`
        self.labels = labels  # the names of the relations
        self.options = options  # the options of parsing
        # (B + 1,) int64: the first node of each sentence, if all nodes are in a row
        self.starts = _starts(sentences)
        #: (N,) or None: the only head that a word may have; -1: any head
        self.heads: NDArray[np.int64] | None = None

    def restrict(self, heads: NDArray[np.int64]) -> None:
        """Keep only one edge into some words; called before edges are weighed.

        `heads`, (N,), are the heads of the kept edges, -1 for other words. A parser that leaves out
        edges must weigh these edges.
        """
        self.heads = heads

    @property
    @remembered
    def groups(self) -> list[Any]:
        """The groups of sentences, with the weights of their edges."""
        groups = list(self._groups())
        if self.heads is not None:
            for group in groups:
                group.leave_out(group.take(self.heads[np.newaxis])[:, 0])
        return groups

    @abstractmethod
    def _groups(self) -> Iterable[Group]:
        """Weigh the edges of all sentences, group by group."""

    def part(self, numbers: NDArray[np.int64]) -> Self:
        """Return the graphs of some of the sentences, with the same weights."""
        part = copy(self)
        part.sentences = [self.sentences[b] for b in numbers]
        part.starts = _starts(part.sentences)
        if self.heads is not None:
            part.heads = self.heads[self.nodes(numbers)]
        places = np.full(len(self.sentences), -1)
        places[numbers] = np.arange(len(numbers))
        inside = [np.flatnonzero(places[group.numbers] >= 0) for group in self.groups]
        vars(part)["groups()"] = [
            group.part(rows, places[group.numbers[rows]], part.starts)
            for group, rows in zip(self.groups, inside, strict=True)
            if len(rows)
        ]
        return part

    def nodes(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the nodes of some of the sentences."""
        return np.concatenate([np.arange(*self.starts[b : b + 2]) for b in numbers])

    def lazy(self, group: Any, row: int) -> Lazy:
        """Return the weights of a sentence's edges, and a function that weighs their relations."""
        size = group.size(row)
        weigh = partial(self.weighed, group, row)
        return Lazy(group.scores[row, :size, :size], len(self.labels), weigh)

    def searched(
        self,
        scores: Lazy,
        group: Any,  # noqa: ARG002
        row: int,  # noqa: ARG002
    ) -> tuple[NDArray[Any] | Lazy, Decoder | None]:
        """Return weights and a decoder for a search in a sentence, from the weights of `lazy`."""
        return scores, None

    def completed(self) -> list[Sentence]:
        """Return the sentences, with the tags and lemmas that the parser fills in."""
        return self.sentences

    @abstractmethod
    def label(self, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the relation numbers of the edges of given trees: (K, N) for (K, N) heads."""
        # The trees of all sentences are in a row, K times; -1 where a sentence has fewer than K.

    def relations(self, heads: NDArray[np.int64]) -> NDArray[np.float32] | None:  # noqa: ARG002
        """Return the weights of all relations on trees' edges, (N, L); None if not weighed."""
        return None

    @abstractmethod
    def weighed(
        self, group: Any, row: int, heads: NDArray[np.int64], words: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the weights of E edges of a sentence with each relation: (E, L)."""

    def labeled(self, group: Any) -> NDArray[np.float32]:
        """Return the weights of all edges of a group with each relation: (B, T, T, L)."""
        table = np.zeros((*group.scores.shape, len(self.labels)), dtype=np.float32)
        for row, size in enumerate(group.sizes().tolist()):
            edges = pairs_of(size)
            table[row][edges] = self.weighed(group, row, *edges)
        return table

    def decode(self) -> NDArray[np.int64]:
        """Return the best tree of each sentence, in a row: (N,)."""
        heads = np.empty(self.starts[-1], dtype=np.int64)
        for group, trees in zip(self.groups, self.trees(self.groups), strict=True):
            group.put(trees[:, None], heads[np.newaxis])
        return heads

    def trees(self, groups: Iterable[Any]) -> Iterator[NDArray[np.int64]]:
        """Yield the best trees of each group, (B, T)."""
        root = self.options.root
        for group in groups:
            yield decode(group.scores, group.lengths, root=root, projective=group.projective)


def _starts(sentences: list[Sentence]) -> NDArray[np.int64]:
    """Return the first node of each sentence, and the number of nodes."""
    return np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)])


def with_relations(
    edges: NDArray[np.float32], relations: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return weights (..., L) of labeled edges, whose maximum is the weight of the edge (...)."""
    best = best_labels(relations, 1)[..., None]
    return edges[..., None] + (relations - np.where(best > -np.inf, best, 0))


class Searchable(Protocol):
    """The methods of a graph-based parser that searches call: see `GraphParser`."""

    def _refuse(self, options: Options, *, kbest: bool = False) -> None: ...
    def _graphs(self, sentences: list[Sentence], options: Options) -> Graphs: ...
    def _unfiltered(self) -> Self | None: ...
    def _lowers(self, options: Options) -> bool: ...
    def _written(
        self, graphs: Graphs, heads: Any, labels: Any, *, lower: bool = True
    ) -> list[list[Sentence]]: ...
