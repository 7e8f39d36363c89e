"""The network of a neural parser in NumPy and kernels, as `network.Network` up to rounding (1e-5).

Both directions of an LSTM share one matrix product; `kernels.lstm_step` mirrors rows itself.
Convolutions over characters are sums of looked-up products; what a form puts into the gates of the
first layer is computed once for all its words. Relations are scored for trees only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.parsers.neural import kernels
from arborescence.parsers.neural.stored import SLOPE, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import Inputs, Layout, Numbers
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Tagset, Vocabulary

    Array = NDArray[np.float32]

_LOWEST: Final = -1e9
_LEAST_VARIANCE: Final = 1e-5  # as PyTorch normalizes
#: Relations are scored for so many heads at a time: their products fit into a processor's cache.
_HEADS: Final = 128


class Found(NamedTuple):
    """What the network found for B sentences with N words and roots in all."""

    # (N,) each: for each column, the numbers of the most probable values
    tags: dict[str, NDArray[np.int64]]
    edges: NDArray[np.float32]  # (B, T, T): the scores of edges, ``[head, dependent]``
    # scores all relations of edges: a function of the rows of their heads, and of those of their
    # dependents, (E,) int64 each, to (E, L) float32
    relations: Callable[[Numbers, Numbers], NDArray[np.float32]]


class Forward:
    """The network."""

    def __init__(
        self, settings: Settings, vocabulary: Vocabulary, weights: Mapping[str, Array]
    ) -> None:
        self._is_mlp = settings.scorer == "mlp"
        self._words = weights["words.weight"]
        self._pretrained = weights.get("pretrained.weight")
        if self._pretrained is not None:
            self._projection = weights["pretrained_projection.weight"].T
        self._lemmas = weights.get("lemmas.weight")
        windows = [f"windows.{number}" for number in range(len(WINDOWS))]
        places = [p for name in windows for p in weights[f"{name}.weight"].transpose(2, 1, 0)]
        vectors = weights["letters.weight"]
        self._letters = np.concatenate([vectors @ place for place in places], axis=1)
        self._spelled = np.concatenate([weights[f"{name}.bias"] for name in windows])
        self._columns = [  # in alphabetical order, as in PyTorch's dictionaries of parameters
            _Column.of(column, vocabulary.tags[column], weights)
            for column in sorted(vocabulary.tags)
        ]
        self._mix = weights.get("encoder_mix")
        if self._mix is not None:
            self._projected = weights["encoder_projection.weight"].T
            self._projected_bias = weights["encoder_projection.bias"]
        self._extra = len(self._columns) * settings.tag
        if self._lemmas is not None:
            self._extra += settings.word
        self._lower = [_BiLSTM(f"lower.{layer}", weights) for layer in range(settings.lower)]
        self._upper = [_BiLSTM(f"upper.{layer}", weights) for layer in range(settings.upper)]
        self._ends = [
            (np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"])
            for name in ("as_head", "as_dependent")
        ]
        edges = weights["edge_weights"]
        self._edges = edges if self._is_mlp else np.vstack([edges[:-1].T, edges[-1]])
        self._relations = weights["relation_weights"]

    def run(self, inputs: Inputs) -> Found:
        """Tag the words and score the edges of a batch."""
        layout = inputs.layout
        gates = self._read(inputs)
        for layer, above in pairwise(self._lower):
            gates = layer.run(gates, layout) @ above.weights
        rows, tags = self._tag(gates, inputs)
        for layer in self._upper:
            rows = layer.run(rows @ layer.weights, layout)
        heads, dependents = (rows @ weights + bias for weights, bias in self._ends)
        return Found(
            tags,
            self._score_edges(heads, dependents, layout),
            self._relations_of(heads, dependents),
        )

    def _read(self, inputs: Inputs) -> Array:
        """Return what words, letters, the linear tagger and the encoder put into the gates."""
        words = self._words[inputs.words]
        if self._pretrained is not None:
            words += self._pretrained[inputs.vectors] @ self._projection
        spelled = np.empty((len(inputs.letters), len(self._spelled)), dtype=np.float32)
        kernels.spell(inputs.letters, self._letters, np.array(WINDOWS), self._spelled, spelled)
        forms = np.concatenate([words, spelled], axis=1)
        weights, size = self._lower[0].weights, forms.shape[1]
        gates: Array = (forms @ weights[:size])[inputs.spelling]
        others = []
        for column in self._columns:
            if column.hints is not None:  # the mean of the vectors of tags, by their probabilities
                tags, chances = inputs.hints[column.name]
                others.append((chances[:, None] @ column.hints[tags])[:, 0])
        if self._mix is not None:
            mixed = _mixed(inputs.encoded, self._mix)
            others.append(mixed @ self._projected + self._projected_bias)
        if others:
            gates += np.concatenate(others, axis=1) @ weights[size:]
        return gates

    def _tag(self, gates: Array, inputs: Inputs) -> tuple[Array, dict[str, Numbers]]:
        """Run the last lower layer, and append the vectors of tags and lemmas to its output."""
        layer = self._lower[-1]
        rows = layer.run(gates, inputs.layout, self._extra)
        tags, vectors = {}, []
        for column in self._columns:
            tags[column.name], of_column = column.run(rows[:, : layer.size], inputs)
            vectors.append(of_column)
        if self._lemmas is not None and inputs.lemmas is not None:
            vectors.append(self._lemmas[inputs.lemmas])
        if vectors:
            rows[:, layer.size :] = np.concatenate(vectors, axis=1)
        return rows, tags

    def _score_edges(self, heads: Array, dependents: Array, layout: Layout) -> Array:
        """Score all edges of each sentence; very low where it has no such edge."""
        columns = self._edges.shape[-1]
        slope = 1.0 if self._is_mlp else SLOPE
        ends = np.empty((2, len(heads), columns + 1), dtype=np.float32)
        for found, end in zip(ends, (heads, dependents), strict=True):
            kernels.rectify(end, 0, slope, layout.flat, found)
        heads, dependents = ends
        if not self._is_mlp:
            heads, dependents = heads[:, :-1], dependents @ self._edges
        edges = np.full((*layout.rows.shape, layout.rows.shape[1]), _LOWEST, dtype=np.float32)
        start = 0
        for scores, n in zip(edges, layout.lengths.tolist(), strict=True):
            if self._is_mlp:
                kernels.score_pairs(heads, dependents, self._edges, start, n, scores)
            else:
                here = slice(start, start + n)
                np.matmul(heads[here], dependents[here].T, out=scores[:n, :n])
            start += n
        places = np.arange(edges.shape[1])
        edges[:, places, places] = _LOWEST
        return edges

    def _relations_of(
        self, heads: Array, dependents: Array
    ) -> Callable[[Numbers, Numbers], NDArray[np.float32]]:
        """Return what scores the relations of edges: see `Found`."""
        wide, count, _ = self._relations.shape
        weights = self._relations.reshape(wide, -1)
        order = np.arange(len(heads))
        ends = np.empty((2, len(heads), wide), dtype=np.float32)
        for found, end in zip(ends, (heads, dependents), strict=True):
            kernels.rectify(end, end.shape[1] - wide + 1, SLOPE, order, found)
        by_head, by_dependent = ends

        def relations(governors: Numbers, dependents: Numbers) -> NDArray[np.float32]:
            edges, place = np.unique(governors * len(order) + dependents, return_inverse=True)
            governors, dependents = np.divmod(edges, len(order))
            used, which = np.unique(governors, return_inverse=True)
            scores = np.empty((len(edges), count), dtype=np.float32)
            for first in range(0, len(used), _HEADS):
                some = used[first : first + _HEADS]
                here = slice(*np.searchsorted(which, (first, first + len(some))))
                products = (by_head[some] @ weights).reshape(-1, count, wide)
                kernels.score_relations(
                    products, which[here] - first, by_dependent, dependents[here], scores[here]
                )
            return scores[place]

        return relations


def _mixed(encoded: Any, mix: Array) -> Array:
    """Return the mean of an encoder's layers, each normalized: see `network.Network`."""
    layers = encoded - encoded.mean(axis=2, keepdims=True)
    layers /= np.sqrt(np.square(layers).mean(axis=2, keepdims=True) + _LEAST_VARIANCE)
    shares = np.exp(mix - mix.max())
    mixed: Array = shares / shares.sum() @ layers
    return mixed


class _BiLSTM:
    """A bidirectional layer: see `network.BiLSTM`."""

    def __init__(self, name: str, weights: Mapping[str, Array]) -> None:
        self.weights = np.concatenate(weights[f"{name}.input"], axis=1)
        self._recurrent = np.ascontiguousarray(weights[f"{name}.recurrent"])
        self._bias = np.ascontiguousarray(weights[f"{name}.bias"][:, 0])
        #: The number of columns of the output.
        self.size = 2 * self._recurrent.shape[1]

    def run(self, gates: Array, layout: Layout, extra: int = 0) -> Array:
        """Return the outputs of both directions side by side, and room for `extra` columns."""
        # gates: (N, 8 hidden): the products of inputs and `weights`
        found = np.empty((len(gates), self.size + extra), dtype=np.float32)
        _, hidden, wide = self._recurrent.shape
        cells, outputs = np.zeros((2, 2, layout.sizes[0], hidden), dtype=np.float32)
        recurrent = np.zeros((2, layout.sizes[0], wide), dtype=np.float32)
        start = 0
        for size in layout.sizes:
            if start:
                np.matmul(outputs[:, :size], self._recurrent, out=recurrent[:, :size])
            kernels.lstm_step(
                gates, recurrent, self._bias, layout.mirrored, start, size, cells, outputs, found
            )
            start += size
        return found


class _Column(NamedTuple):
    """What predicts and reads a column of tags."""

    name: str
    weights: Array  # (2 hidden, V) float32
    bias: Array  # (V,) float32
    vectors: Array  # (P, tag) float32: the vectors of pieces
    of_values: Array  # (V, tag) float32: the vectors of values
    # (V + 1, tag) float32 or None: the vectors of values that the linear tagger predicts; index -1
    # finds that of none
    hints: Array | None

    @classmethod
    def of(cls, name: str, tagset: Tagset, weights: Mapping[str, Array]) -> _Column:
        vectors, hints = weights[f"tags.{name}"], weights.get(f"hints.{name}")
        pieces = tagset.table(tagset.values)
        return cls(
            name,
            np.ascontiguousarray(weights[f"taggers.{name}.weight"].T),
            weights[f"taggers.{name}.bias"],
            vectors,
            pieces @ vectors,
            np.pad(pieces @ hints, ((0, 1), (0, 0))) if hints is not None else None,
        )

    def run(self, rows: Array, inputs: Inputs) -> tuple[Numbers, Array]:
        """Return the most probable values, and the vectors of given or expected ones."""
        logits: Array = rows @ self.weights + self.bias
        best = logits.argmax(axis=1)
        kernels.softmax(logits, best)
        found: Array = logits @ self.of_values
        found[: len(inputs.layout.lengths)] = 0  # the roots
        bag = inputs.given[self.name]
        shown = bag.given[inputs.layout.sentence]
        found[shown] = (bag.pieces @ self.vectors)[bag.row[shown]]
        return best, found
