"""The graphs of sentences by a neural network: weights of edges, and of relations on demand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arborescence.parsers.neural.inputs import Inputs, given_columns, hints_of
from arborescence.parsers.shared.graphs import Graphs, Group, with_relations
from arborescence.parsers.tagger.stages import COLUMNS
from arborescence.treebank.joined import names_of, with_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.forward import NetworkScores
    from arborescence.parsers.shared.base import Options
    from arborescence.treebank import Sentence

#: The largest number of words and roots in a group, unless one sentence has more.
_WORDS: Final = 2048


@dataclass
class NeuralGroup(Group):
    """Sentences that the network reads together."""

    #: (B, T): see `inputs.Layout`.
    rows: NDArray[np.int64]
    #: The network's tags and scores for the sentences.
    output: NetworkScores

    def part(self, rows: NDArray[np.int64], numbers: Any, starts: NDArray[np.int64]) -> Self:
        """Return the group of some of its sentences, with their numbers in a smaller batch."""
        return replace(super().part(rows, numbers, starts), rows=self.rows[rows])


class NeuralGraphs(Graphs):
    """The graphs of a batch of sentences, weighed by a neural parser, with tags and lemmas."""

    def __init__(self, parser: Any, sentences: list[Sentence], options: Options) -> None:
        self._given = sentences
        super().__init__(parser.reading.sentences(sentences), parser.labels, options)
        self._read, self._parser = list(self.sentences), parser

    def completed(self) -> list[Sentence]:
        """Return the sentences with the tags that the network has predicted, and lemmas."""
        _ = self.groups
        text = self._parser.text
        tagged: Iterable[Sentence] = self.sentences
        if text is not None and text.lemmatizer is not None:
            tagged = text.lemmatizer.lemmatize(tagged)
        return self._parser.reading.restored(tagged, self._read, self._given)

    def part(self, numbers: NDArray[np.int64]) -> Self:
        """Return the graphs of some of the sentences, with the same weights."""
        graphs = super().part(numbers)
        graphs._given = [self._given[b] for b in numbers]
        graphs._read = [self._read[b] for b in numbers]
        return graphs

    def _groups(self) -> Iterator[NeuralGroup]:
        parser, sentences = self._parser, self.sentences
        vocabulary, wanted = parser.vocabulary, self.options.projective
        projective = bool(parser.projective if wanted is None else wanted)
        of_all = hints_of(sentences, parser.tagger, vocabulary) if parser.tagger else None
        given_of_all = given_columns(sentences, vocabulary)
        tags = sorted(vocabulary.tags.items(), key=lambda item: COLUMNS[item[0]])
        lengths = [len(sentence) for sentence in sentences]
        for numbers in grouped(lengths, parser.settings.most_edges):
            batch = [sentences[b] for b in numbers]
            given = {column: flags[numbers] for column, flags in given_of_all.items()}
            hints = [of_all[b] for b in numbers] if of_all is not None else None
            inputs = Inputs.of(batch, vocabulary, hints, given, parser.encoder)
            output = parser._network.run(inputs)
            layout = inputs.layout
            new = {
                COLUMNS[column]: names_of(
                    tagset.values,
                    output.tags[column][layout.words],
                    np.repeat(given[column], layout.lengths - 1),
                )
                for column, tagset in tags
            }
            for b, sentence in zip(numbers, with_columns(batch, new), strict=True):
                sentences[b] = sentence
            yield NeuralGroup(
                np.array(numbers),
                self.starts[numbers],
                output.edges,
                layout.lengths - 1,
                projective,
                layout.rows,
                output,
            )

    def label(self, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the relations of the edges, tree after tree; score a repeated edge once."""
        labels = np.full(heads.shape, -1)
        for group in self.groups:
            trees = group.take(heads)
            has_head = trees >= 0
            sentence, _, dependent = np.nonzero(has_head)
            shape = group.scores.shape
            edges, place = np.unique(
                np.ravel_multi_index((sentence, trees[has_head], dependent), shape),
                return_inverse=True,
            )
            weights = self._relations(group, *np.unravel_index(edges, shape))
            trees[has_head] = weights.argmax(axis=1)[place]
            group.put(trees, labels)
        return labels

    def relations(self, heads: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the weights of all relations on the edges of the given trees: (N, L)."""
        weights = np.zeros((len(heads), len(self.labels)), dtype=np.float32)
        for group in self.groups:
            trees = group.take(heads[np.newaxis])[:, 0]
            rows, words = np.nonzero(trees >= 0)
            of_edges = self._relations(group, rows, trees[rows, words], words)
            weights[group.firsts[rows] + words] = of_edges
        return weights

    def weighed(
        self, group: NeuralGroup, row: int, heads: NDArray[np.int64], words: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the weights of edges of a sentence with each relation: (E, L)."""
        rows = np.full(len(heads), row)
        weights = self._relations(group, rows, heads, words)
        return with_relations(group.scores[row, heads, words], weights)

    def _relations(
        self,
        group: NeuralGroup,
        sentence: NDArray[np.int64],
        head: NDArray[np.int64],
        dependent: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """Return the weights of the relations of E edges, (E, L); -inf if not allowed."""
        rows = group.rows[sentence, head], group.rows[sentence, dependent]
        weights = group.output.relations(*rows)
        allowed = self._parser.allowed[(head > 0).astype(np.int64)]
        return np.where(allowed, weights, np.float32(-np.inf))


def grouped(lengths: Sequence[int], most_edges: int) -> Iterator[list[int]]:
    """Yield the numbers of sentences of similar length, in groups that fit into memory."""
    group: list[int] = []
    words = 0
    for b in np.argsort(-np.array(lengths, dtype=np.int64), kind="stable").tolist():
        longest = lengths[group[0]] if group else lengths[b]
        full = words + lengths[b] > _WORDS
        if group and (full or (len(group) + 1) * longest**2 > most_edges):
            yield group
            group, words = [], 0
        group.append(b)
        words += lengths[b] + 1
    if group:
        yield group
