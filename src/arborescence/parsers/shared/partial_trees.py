"""Heads and relations that a person has fixed, and that parsed trees keep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.parsers.shared.graphs import Graphs, Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.inference.parts import Decoder, Lazy
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.graphs import Searchable
    from arborescence.treebank import Sentence


class Fixed(NamedTuple):
    """The fixed heads and relations of sentences, with their N nodes (words and roots) in a row."""

    #: (N,): the fixed heads; -1: any head
    heads: NDArray[np.int64]
    #: (N,): the fixed relations, as indices of `names`; -1: any relation
    labels: NDArray[np.int64]
    #: the relations of the parser, and other relations of the sentences
    names: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Sequence[Sentence], labels: Sequence[str]) -> Self:
        """Read the heads and relations that are not ``_``."""
        numbers = {"_": -1} | {name: number for number, name in enumerate(labels)}
        of_words: list[int] = []
        for sentence in sentences:
            of_words.append(-1)
            for label in sentence.deprels:
                of_words.append(numbers.setdefault(label, len(numbers) - 1))
        heads = [sentence.tree for sentence in sentences]
        return cls(np.concatenate(heads), np.array(of_words), tuple(numbers)[1:])

    def wide(self, table: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Return weights (N, N, L) that include fixed relations that the parser lacks."""
        wide = self.with_all_names(table).astype(np.float64)
        words = np.flatnonzero(self.labels >= table.shape[-1])
        wide[:, words, self.labels[words]] = table[:, words].max(axis=-1)
        words = np.flatnonzero((self.heads >= 0) & (self.labels >= 0))
        edges = self.heads[words], words, self.labels[words]
        wide[edges] = np.maximum(wide[edges], table.min(initial=0, where=np.isfinite(table)))
        return wide

    def with_all_names(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return weights of labeled edges (..., L), -inf for relations that the parser lacks."""
        more = len(self.names) - table.shape[-1]
        return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, more)], constant_values=-np.inf)

    def given_up(self, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell where the heads and the relations of a tree differ from fixed ones: (2, N)."""
        pairs = (self.heads, heads), (self.labels, labels)
        return np.array([(fixed >= 0) & (fixed != own) for fixed, own in pairs])


class FixedGraphs(Graphs):
    """The graphs of a parser, without edges and relations that contradict the fixed ones.

    So the best tree, the k best and the probabilities are those among the trees that have all fixed
    heads and relations.
    """

    def __init__(self, graphs: Graphs, fixed: Fixed) -> None:
        super().__init__(graphs.sentences, fixed.names, graphs.options)
        graphs.restrict(fixed.heads)
        self._graphs, self._fixed = graphs, fixed
        #: (N,): the fixed relation of a word without a fixed head, if the parser has it; else -1
        alone = (fixed.heads < 0) & (fixed.labels < len(graphs.labels))
        self._alone = np.where(alone, fixed.labels, -1)

    def _groups(self) -> Iterator[Group]:
        for group in self._graphs.groups:
            labels = group.take(self._alone[np.newaxis])[:, 0]
            rows, words = np.nonzero(labels >= 0)
            if len(rows):
                scores, table = group.scores.copy(), self._graphs.labeled(group)
                scores[rows, :, words] = table[rows, :, words, labels[rows, words]]
                group = replace(group, scores=scores)
            yield group

    def part(self, numbers: NDArray[np.int64]) -> Self:
        """Return the graphs of some of the sentences, with the same weights."""
        part, nodes = super().part(numbers), self.nodes(numbers)
        part._graphs, part._alone = self._graphs.part(numbers), self._alone[nodes]
        part._fixed = self._fixed._replace(
            heads=self._fixed.heads[nodes], labels=self._fixed.labels[nodes]
        )
        return part

    def any_fixed(self, numbers: Iterable[int]) -> bool:
        """Tell whether a head or a relation of some sentences is fixed."""
        fixed = np.maximum(self._fixed.heads, self._fixed.labels) >= 0
        return any(fixed[self.starts[b] : self.starts[b + 1]].any() for b in numbers)

    def completed(self) -> list[Sentence]:
        """Return the sentences, with the tags and lemmas that the parser fills in."""
        return self._graphs.completed()

    def decode(self) -> NDArray[np.int64]:
        """Return the best tree of each sentence, in a row: (N,)."""
        return super().decode() if (self._alone >= 0).any() else self._graphs.decode()

    def trees(self, groups: Iterable[Any]) -> Iterator[NDArray[np.int64]]:
        """Yield the best trees of each group, (B, T)."""
        return self._graphs.trees(groups)

    def label(self, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the relation numbers of the edges of given trees: (K, N) for (K, N) heads."""
        fixed = self._fixed.labels
        return np.where((fixed >= 0) & (heads >= 0), fixed, self._graphs.label(heads))

    def relations(self, heads: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Return the weights of all relations on trees' edges, (N, L); None if not weighed."""
        weights = self._graphs.relations(heads)
        return (
            None
            if weights is None
            else self._only_fixed(weights, np.zeros(len(heads)), self._fixed.labels)
        )

    def weighed(
        self, group: Any, row: int, heads: NDArray[np.int64], words: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the weights of E edges of a sentence with each relation: (E, L)."""
        weights = self._graphs.weighed(group, row, heads, words)
        labels = self._fixed.labels[group.firsts[row] + words]
        return self._only_fixed(weights, group.scores[row, heads, words], labels)

    def _only_fixed(
        self, weights: NDArray[np.float32], edges: NDArray[Any], labels: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return weights (E, L) in which each fixed relation has the weight of its edge, (E,)."""
        weights = self._fixed.with_all_names(weights)
        rows = np.flatnonzero(labels >= 0)
        weights[rows] = -np.inf
        weights[rows, labels[rows]] = edges[rows]
        return weights

    def searched(
        self, scores: Lazy, group: Any, row: int
    ) -> tuple[NDArray[Any] | Lazy, Decoder | None]:
        """Return weights and a decoder for a search in a sentence, from the weights of `lazy`."""
        return self._graphs.searched(scores, group, row)


def graphs_of(parser: Searchable, sentences: list[Sentence], options: Options) -> Graphs:
    """Return the graphs of sentences; with `keep`, of the trees with all that is fixed."""
    graphs = parser._graphs(sentences, options)
    return FixedGraphs(graphs, Fixed.of(sentences, graphs.labels)) if options.keep else graphs
