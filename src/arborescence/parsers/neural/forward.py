"""The network of a neural parser in NumPy and kernels, as `network.Network` up to rounding (1e-5).

The kernels of `core.products` compute all matrix products, in the calling thread. Both directions
of an LSTM share the product with their inputs; `kernels.lstm` mirrors rows itself.
Convolutions over characters are sums of looked-up products. The products of a form with the weights
of the first layer's gates are computed once for all words of this form, and some are kept for other
batches. Relations are scored for trees only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.native import has_wide_registers
from arborescence.core.products import PanelMatrix, empty_panels
from arborescence.parsers.neural import kernels
from arborescence.parsers.neural.stored import SLOPE, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import BatchLayout, Inputs, Numbers
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Tagset, Vocabulary

    Array = NDArray[np.float32]

_LOWEST: Final = -1e9
_LEAST_VARIANCE: Final = 1e-5  # as PyTorch normalizes
#: The number of heads whose relations are scored at a time: the products fit into a processor's
#: cache.
_HEADS: Final = 128
#: The numbers that are kept for forms that come again: 16 megabytes, 2,621 forms of `english`.
_KEPT: Final = 2**22


class NetworkScores(NamedTuple):
    """The network's tags and scores for B sentences with N words and roots in all."""

    #: (N,) each: for each column, the numbers of the most probable values.
    tags: dict[str, NDArray[np.int64]]
    #: (B, T, T): the scores of edges, ``[head, dependent]``.
    edges: NDArray[np.float32]
    #: Scores all relations of edges: a function of the rows of their heads and the rows of their
    #: dependents, (E,) int64 each, to (E, L) float32.
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
            self._projection = PanelMatrix(weights["pretrained_projection.weight"].T)
        self._lemmas = weights.get("lemmas.weight")
        windows = [f"windows.{number}" for number in range(len(WINDOWS))]
        places = [p for name in windows for p in weights[f"{name}.weight"].transpose(2, 1, 0)]
        vectors = weights["letters.weight"]
        self._letters = PanelMatrix(np.concatenate(places, axis=1)).after(vectors)
        self._spelled = np.concatenate([weights[f"{name}.bias"] for name in windows])
        self._columns = [  # in alphabetical order, as in PyTorch's dictionaries of parameters
            _Column.of(column, vocabulary.tags[column], weights)
            for column in sorted(vocabulary.tags)
        ]
        self._mix = weights.get("encoder_mix")
        if self._mix is not None:
            self._projected = PanelMatrix(weights["encoder_projection.weight"].T)
            self._projected_bias = weights["encoder_projection.bias"]
        forms = weights["words.weight"].shape[1] + len(self._spelled)
        first = _inputs("lower.0", weights)
        self._first, self._others = PanelMatrix(first[:forms]), PanelMatrix(first[forms:])
        self._known: dict[str, Array] = {}  # see `_gates_of_forms`
        self._extra = len(self._columns) * settings.tag
        if self._lemmas is not None:
            self._extra += settings.word
        self._lower = [_BiLSTM(f"lower.{layer}", weights) for layer in range(settings.lower)]
        self._upper = [_BiLSTM(f"upper.{layer}", weights) for layer in range(settings.upper)]
        self._ends = [
            (PanelMatrix(weights[f"{name}.weight"].T), weights[f"{name}.bias"])
            for name in ("as_head", "as_dependent")
        ]
        edges = weights["edge_weights"]
        self._pairs: Any = (
            edges if self._is_mlp else PanelMatrix(np.vstack([edges[:-1].T, edges[-1]]))
        )
        relations = weights["relation_weights"]
        self._wide = len(relations)
        self._relations = RelationScorer(relations)

    def run(self, inputs: Inputs) -> NetworkScores:
        """Tag the words and score the edges of a batch."""
        layout = inputs.layout
        gates = self._read(inputs)
        for layer, above in pairwise(self._lower):
            gates = above.weights.after(layer.run(gates, layout))
        rows, tags = self._tag(gates, inputs)
        for layer in self._upper:
            rows = layer.run(layer.weights.after(rows), layout)
        heads, dependents = (weights.after(rows) + bias for weights, bias in self._ends)
        return NetworkScores(
            tags,
            self._score_edges(heads, dependents, layout),
            self._relations_of(heads, dependents),
        )

    def _read(self, inputs: Inputs) -> Array:
        """Return the inputs of the gates from words, letters, the linear tagger and the encoder."""
        gates = self._gates_of_forms(inputs)[inputs.spelling]
        others = []
        for column in self._columns:
            if column.hints is not None:  # the mean of the vectors of tags, by their probabilities
                tags, chances = inputs.hints[column.name]
                others.append(np.einsum("nk,nkd->nd", chances, column.hints[tags]))
        if self._mix is not None:
            mixed = _mixed(inputs.encoded, self._mix)
            others.append(self._projected.after(mixed) + self._projected_bias)
        if others:
            gates += self._others.after(np.concatenate(others, axis=1))
        return gates

    def _gates_of_forms(self, inputs: Inputs) -> Array:
        """Return what forms add to the inputs of the gates; forms that come again are not read."""
        known = self._known  # other threads may begin a new dictionary at the same time
        rows = [known.get(form) for form in inputs.forms]
        new = [place for place, row in enumerate(rows) if row is None]
        if new:
            most = max(_KEPT // self._first.columns, 1)
            if len(known) + len(new) > most:
                known = self._known = {}
            for place, row in zip(new, self._read_forms(inputs, np.array(new)), strict=True):
                rows[place] = row
                if len(known) < most:
                    known[inputs.forms[place]] = row.copy()  # a view would keep all of the rows
        gates: Array = np.stack(rows)  # type: ignore[arg-type]
        return gates

    def _read_forms(self, inputs: Inputs, new: Numbers) -> Array:
        """Compute what some of the forms add to the inputs of the gates: words and letters."""
        words = self._words[inputs.words[new]]
        if self._pretrained is not None and inputs.vectors is not None:
            words += self._projection.after(self._pretrained[inputs.vectors[new]])
        letters = inputs.letters[new]
        spelled = np.empty((len(new), len(self._spelled)), dtype=np.float32)
        kernels.spell(letters, self._letters, np.array(WINDOWS), self._spelled, spelled)
        return self._first.after(np.concatenate([words, spelled], axis=1))

    def _tag(self, gates: Array, inputs: Inputs) -> tuple[Array, dict[str, Numbers]]:
        """Run the last lower layer, and append the vectors of tags and lemmas to its output."""
        layer = self._lower[-1]
        rows = layer.run(gates, inputs.layout, self._extra)
        tags, vectors = {}, []
        for column in self._columns:
            tags[column.name], of_column = column.run(rows, inputs)
            vectors.append(of_column)
        if self._lemmas is not None and inputs.lemmas is not None:
            vectors.append(self._lemmas[inputs.lemmas])
        if vectors:
            rows[:, layer.size :] = np.concatenate(vectors, axis=1)
        return rows, tags

    def _score_edges(self, heads: Array, dependents: Array, layout: BatchLayout) -> Array:
        """Score all edges of each sentence; the score is very low where there is no edge."""
        columns = len(self._pairs) if self._is_mlp else self._pairs.columns
        slope = 1.0 if self._is_mlp else SLOPE
        ends = np.empty((2, len(heads), columns + 1), dtype=np.float32)
        for rectified, end in zip(ends, (heads, dependents), strict=True):
            kernels.rectify(end, 0, slope, layout.flat, rectified)
        heads, dependents = ends
        edges = np.full((*layout.rows.shape, layout.rows.shape[1]), _LOWEST, dtype=np.float32)
        if self._is_mlp:
            starts = np.cumsum(layout.lengths) - layout.lengths
            for scores, start, n in zip(
                edges, starts.tolist(), layout.lengths.tolist(), strict=True
            ):
                kernels.score_pairs(heads, dependents, self._pairs, start, n, scores)
        else:
            dependents = self._pairs.after(dependents)
            kernels.score_edges(heads, dependents, layout.lengths, edges, has_wide_registers())
        places = np.arange(edges.shape[1])
        edges[:, places, places] = _LOWEST
        return edges

    def _relations_of(
        self, heads: Array, dependents: Array
    ) -> Callable[[Numbers, Numbers], NDArray[np.float32]]:
        """Return the function that scores the relations of edges: see `NetworkScores`."""
        order = np.arange(len(heads))
        ends = np.empty((2, len(heads), self._wide), dtype=np.float32)
        for rectified, end in zip(ends, (heads, dependents), strict=True):
            kernels.rectify(end, end.shape[1] - self._wide + 1, SLOPE, order, rectified)
        return self._relations.of(*ends)


class RelationScorer:
    """Scores each of L relations of an edge by its own bilinear form, (K, L, K).

    The head and the dependent of the edge have K numbers each; the last number is 1.
    """

    def __init__(self, forms: Array) -> None:
        self._wide, self._count, _ = forms.shape
        self._forms = PanelMatrix(forms.reshape(self._wide, -1))

    def of(
        self, by_head: Array, by_dependent: Array
    ) -> Callable[[Numbers, Numbers], NDArray[np.float32]]:
        """Return the function that scores the relations of edges: see `NetworkScores`.

        The arrays, (N, K), are the vectors of nodes as heads, and as dependents.
        """
        nodes = len(by_head)

        def relations(governors: Numbers, dependents: Numbers) -> NDArray[np.float32]:
            edges, place = np.unique(governors * nodes + dependents, return_inverse=True)
            governors, dependents = np.divmod(edges, nodes)
            used, head_of_edge = np.unique(governors, return_inverse=True)
            scores = np.empty((len(edges), self._count), dtype=np.float32)
            for first in range(0, len(used), _HEADS):
                rows = used[first : first + _HEADS]
                part = slice(*np.searchsorted(head_of_edge, (first, first + len(rows))))
                products = self._forms.after(by_head[rows])
                kernels.score_relations(
                    products.reshape(-1, self._count, self._wide),
                    head_of_edge[part] - first,
                    by_dependent,
                    dependents[part],
                    scores[part],
                )
            return scores[place]

        return relations


def _mixed(encoded: Any, mix: Array) -> Array:
    """Return the mean of an encoder's layers, each normalized: see `network.Network`."""
    layers = encoded - encoded.mean(axis=2, keepdims=True)
    layers /= np.sqrt(np.square(layers).mean(axis=2, keepdims=True) + _LEAST_VARIANCE)
    shares = np.exp(mix - mix.max())
    mixed: Array = np.einsum("l,nld->nd", shares / shares.sum(), layers)
    return mixed


def _inputs(name: str, weights: Mapping[str, Array]) -> Array:
    """Return the weights of the inputs of a layer, of both directions side by side."""
    return np.concatenate(weights[f"{name}.input"], axis=1)


class _BiLSTM:
    """A bidirectional layer: see `network.BiLSTM`."""

    def __init__(self, name: str, weights: Mapping[str, Array]) -> None:
        self.weights = PanelMatrix(_inputs(name, weights))
        both = [PanelMatrix(each).panels for each in weights[f"{name}.recurrent"]]
        self._recurrent = empty_panels(2, *both[0].shape[:2])
        self._recurrent[:] = both
        self._bias = np.ascontiguousarray(weights[f"{name}.bias"][:, 0])
        #: The number of columns of the output.
        self.size = 2 * self._recurrent.shape[2]

    def run(self, gates: Array, layout: BatchLayout, extra: int = 0) -> Array:
        """Return the outputs of both directions side by side, and room for `extra` columns.

        `gates`, (N, 8 hidden), are the products of the inputs and `weights`.
        """
        outputs = np.empty((len(gates), self.size + extra), dtype=np.float32)
        kernels.lstm(
            gates,
            self._recurrent,
            self._bias,
            layout.mirrored,
            np.array(layout.sizes),
            outputs,
            has_wide_registers(),
        )
        return outputs


class _Column(NamedTuple):
    """The parameters that predict and read a column of tags."""

    #: The name of the column.
    name: str
    #: (2 hidden, V): the weights of the tagger.
    weights: PanelMatrix
    #: (V,) float32: the bias of the tagger.
    bias: Array
    #: (P, tag): the vectors of pieces.
    vectors: PanelMatrix
    #: (V, tag): the vectors of values.
    of_values: PanelMatrix
    #: (V + 1, tag) float32 or None: the vectors of values that the linear tagger predicts; index -1
    #: finds the vector for no value.
    hints: Array | None

    @classmethod
    def of(cls, name: str, tagset: Tagset, weights: Mapping[str, Array]) -> _Column:
        vectors, hints = PanelMatrix(weights[f"tags.{name}"]), weights.get(f"hints.{name}")
        pieces = tagset.table(tagset.values)
        return cls(
            name,
            PanelMatrix(weights[f"taggers.{name}.weight"].T),
            weights[f"taggers.{name}.bias"],
            vectors,
            PanelMatrix(vectors.after(pieces)),
            np.pad(PanelMatrix(hints).after(pieces), ((0, 1), (0, 0)))
            if hints is not None
            else None,
        )

    def run(self, rows: Array, inputs: Inputs) -> tuple[Numbers, Array]:
        """Return the most probable values, and the vectors of given or expected values."""
        logits: Array = self.weights.after(rows) + self.bias
        best = logits.argmax(axis=1)
        kernels.softmax(logits, best)
        vectors: Array = self.of_values.after(logits)
        vectors[: len(inputs.layout.lengths)] = 0  # the roots
        bag = inputs.given[self.name]
        shown = bag.given[inputs.layout.sentence]
        vectors[shown] = self.vectors.after(bag.pieces)[bag.row[shown]]
        return best, vectors
