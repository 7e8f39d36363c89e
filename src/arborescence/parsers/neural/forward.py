"""The network of a neural parser in NumPy and kernels: `network.Network`, rounded to bytes.

The kernels of `core.byte_products` compute all matrix products, in the calling thread: the results
are the same on every processor. The outputs of LSTMs and the vectors of tags stay bytes between
layers; one product of previous outputs and inputs, with shared weights of both, gives the gates of
a step. Convolutions over characters are sums of looked-up products. The products of a form with the
weights of the first layer's gates are computed once for all words of this form, and some are kept
for other batches. Relations are scored for trees only.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.native import has_wide_registers
from arborescence.core.byte_products import MOST, ZERO, ByteMatrix, ByteRows
from arborescence.core.products import PanelMatrix, aligned
from arborescence.parsers.neural import kernels
from arborescence.parsers.neural.stored import SLOPE, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import BatchLayout, Inputs, Numbers
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Tagset, Vocabulary

    Array = NDArray[np.float32]
    Bytes = NDArray[np.uint8]

_LOWEST: Final = -1e9
_LEAST_VARIANCE: Final = 1e-5  # as PyTorch normalizes
#: The number of heads whose relations are scored at a time: the products fit into a processor's
#: cache.
_HEADS: Final = 128
#: The numbers that are kept for forms that come again: 16 megabytes, 2,621 forms of `english`.
_KEPT: Final = 2**22
#: What an integer of an LSTM's output is worth: outputs are between -1 and 1.
_UNIT: Final = np.float32(1 / MOST)


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
            self._projection = ByteMatrix(weights["pretrained_projection.weight"].T)
        windows = [f"windows.{number}" for number in range(len(WINDOWS))]
        places = [p for name in windows for p in weights[f"{name}.weight"].transpose(2, 1, 0)]
        self._letters = _in_order(weights["letters.weight"], np.concatenate(places, axis=1))
        self._spelled = np.concatenate([weights[f"{name}.bias"] for name in windows])
        self._columns = [  # in alphabetical order, as in PyTorch's dictionaries of parameters
            _Column.of(column, vocabulary.tags[column], weights)
            for column in sorted(vocabulary.tags)
        ]
        taggers = [f"taggers.{column.name}" for column in self._columns]
        self._tagger: ByteMatrix | None = None
        if taggers:
            tagger = np.concatenate([weights[f"{name}.weight"] for name in taggers]).T
            self._tagger = ByteMatrix(tagger * _UNIT)
            self._tagger_bias = np.concatenate([weights[f"{name}.bias"] for name in taggers])
        self._mix = weights.get("encoder_mix")
        forms = weights["words.weight"].shape[1] + len(self._spelled)
        first = _inputs("lower.0", weights)
        self._first = ByteMatrix(first[:forms])
        hints = [column.hints for column in self._columns if column.hints is not None]
        end = forms + sum(each.size for each in hints)
        if self._mix is not None:
            self._projected = ByteMatrix(weights["encoder_projection.weight"].T)
            self._projected_bias = weights["encoder_projection.bias"]
            self._encoded = ByteMatrix(first[end:])
        self._known = _KnownForms(_KEPT // first.shape[1], first.shape[1])
        self._lemmas: _Vectors | None = None
        if "lemmas.weight" in weights:
            self._lemmas = _Vectors.of(weights["lemmas.weight"])
        shown = [column.values for column in self._columns]
        shown += [self._lemmas] if self._lemmas is not None else []
        self._extra = sum(each.size for each in shown)
        both = np.full(2 * settings.hidden, _UNIT)
        lower = [slice(forms, end), *[slice(None)] * (settings.lower - 1)]
        units = [np.concatenate([np.empty(0, np.float32), *(each.units for each in hints)])]
        units += [both] * (settings.lower - 1)
        self._lower = [
            _BiLSTM(f"lower.{layer}", weights, *each)
            for layer, each in enumerate(zip(lower, units, strict=True))
        ]
        units = [np.concatenate([both, *(each.units for each in shown)])]
        units += [both] * (settings.upper - 1)
        self._upper = [
            _BiLSTM(f"upper.{layer}", weights, slice(None), each)
            for layer, each in enumerate(units)
        ]
        ends = [weights[f"{name}.weight"] for name in ("as_head", "as_dependent")]
        self._ends = ByteMatrix(np.concatenate(ends).T * _UNIT)
        self._ends_bias = np.concatenate(
            [weights[f"{name}.bias"] for name in ("as_head", "as_dependent")]
        )
        edges = weights["edge_weights"]
        self._pairs: Any = edges if self._is_mlp else ByteMatrix(edges[:-1].T)
        self._pairs_bias = edges[-1]
        relations = weights["relation_weights"]
        self._wide = len(relations)
        self._relations = RelationScorer(relations, ByteMatrix)

    def run(self, inputs: Inputs) -> NetworkScores:
        """Tag the words and score the edges of a batch."""
        layout = inputs.layout
        gates, which = self._gates(inputs)
        first, *lower = self._lower
        extra = 0 if lower else self._extra
        rows = first.run(self._hinted(inputs), layout, extra, gates, which)
        for layer in lower:
            rows = layer.run(rows, layout, self._extra if layer is lower[-1] else 0)
        tags = self._tag(rows, inputs)
        for layer in self._upper:
            rows = layer.run(rows, layout)
        ends = self._ends.after_bytes(_outputs(rows), self._ends_bias)
        return NetworkScores(tags, self._score_edges(ends, layout), self._relations_of(ends))

    def _hinted(self, inputs: Inputs) -> Bytes:
        """Return the vectors of the tags by the linear tagger: their mean, by probabilities."""
        first = self._lower[0]
        rows = np.empty((len(inputs.spelling), first.inputs), dtype=np.uint8)
        done = 0
        for column in self._columns:
            if column.hints is not None:
                of_column = inputs.hints[column.name]
                kernels.average(*of_column, column.hints.table, column.hints.units, done, rows)
                done += column.hints.size
        return rows

    def _gates(self, inputs: Inputs) -> tuple[Array, Numbers]:
        """Return what forms and the encoder add to the first gates, and the row of each word."""
        gates = self._known.of(inputs.forms, lambda new: self._read_forms(inputs, new))
        which = inputs.spelling
        if self._mix is None:
            return gates, which
        mixed = self._projected.after(_mixed(inputs.encoded, self._mix), self._projected_bias)
        return gates[which] + self._encoded.after(mixed), np.arange(len(which))

    def _read_forms(self, inputs: Inputs, new: Numbers) -> Array:
        """Compute what some of the forms add to the first gates: words and letters."""
        words = self._words[inputs.words[new]]
        if self._pretrained is not None and inputs.vectors is not None:
            words += self._projection.after(self._pretrained[inputs.vectors[new]])
        letters = inputs.letters[new]
        spelled = np.empty((len(new), len(self._spelled)), dtype=np.float32)
        kernels.spell(letters, self._letters, np.array(WINDOWS), self._spelled, spelled)
        forms = np.concatenate([words, spelled], axis=1)
        return self._first.after(forms, self._lower[0].bias)

    def _tag(self, rows: Bytes, inputs: Inputs) -> dict[str, Numbers]:
        """Tag words, and write the vectors of tags and lemmas into the last columns of rows."""
        tags: dict[str, Numbers] = {}
        column = rows.shape[1] - self._extra
        if self._tagger is not None:
            logits = self._tagger.after_bytes(_outputs(rows), self._tagger_bias)
            first = 0
            for each in self._columns:
                tags[each.name] = each.run(logits, first, inputs, rows, column)
                first += len(each.values.table)
                column += each.values.size
        if self._lemmas is not None and inputs.lemmas is not None:
            rows[:, column:] = self._lemmas.as_bytes(self._lemmas.table[inputs.lemmas])
        return tags

    def _score_edges(self, ends: Array, layout: BatchLayout) -> Array:
        """Score all edges of each sentence; the score is very low where there is no edge."""
        columns = len(self._pairs) if self._is_mlp else len(self._pairs.scales)
        slope = 1.0 if self._is_mlp else SLOPE
        heads, dependents = np.empty((2, len(ends), columns + 1), dtype=np.float32)
        kernels.rectify(ends, 0, slope, layout.flat, heads)
        kernels.rectify(ends, ends.shape[1] // 2, slope, layout.flat, dependents)
        edges = np.full((*layout.rows.shape, layout.rows.shape[1]), _LOWEST, dtype=np.float32)
        if self._is_mlp:
            starts = np.cumsum(layout.lengths) - layout.lengths
            for scores, start, n in zip(
                edges, starts.tolist(), layout.lengths.tolist(), strict=True
            ):
                kernels.score_pairs(heads, dependents, self._pairs, start, n, scores)
        else:
            inner = self._pairs.after(dependents, self._pairs_bias)
            kernels.score_edges(heads, inner, layout.lengths, edges)
        places = np.arange(edges.shape[1])
        edges[:, places, places] = _LOWEST
        return edges

    def _relations_of(self, ends: Array) -> Callable[[Numbers, Numbers], NDArray[np.float32]]:
        """Return the function that scores the relations of edges: see `NetworkScores`."""
        order = np.arange(len(ends))
        both = np.empty((2, len(ends), self._wide), dtype=np.float32)
        for number, rectified in enumerate(both, 1):
            first = number * ends.shape[1] // 2 - self._wide + 1
            kernels.rectify(ends, first, SLOPE, order, rectified)
        return self._relations.of(*both)


class _KnownForms:
    """The gates of up to `most` forms that were read; when there is no room, all are forgotten.

    Threads share it: the lock is held while gates are copied, not while they are computed.
    """

    def __init__(self, most: int, columns: int) -> None:
        self._rows: dict[str, int] = {}
        self._gates = np.empty((most, columns), dtype=np.float32)
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[_KnownForms], tuple[int, ...]]:
        return type(self), self._gates.shape  # a copy knows no forms yet

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, forms: tuple[str, ...], read: Callable[[Numbers], Array]) -> Array:
        """Return the gates of each form; `read` computes those that are not known."""
        gates = np.empty((len(forms), self._gates.shape[1]), dtype=np.float32)
        with self._lock:
            rows = np.array([self._rows.get(form, -1) for form in forms], dtype=np.int64)
            known, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
            gates[known] = self._gates[rows[known]]
        if len(new):
            gates[new] = read(new)
            self._keep([forms[place] for place in new], gates[new])
        return gates

    def _keep(self, forms: list[str], gates: Array) -> None:
        """Keep the gates of forms; forget the others if there is no room for all."""
        most = len(self._gates)
        with self._lock:
            if len(self._rows) + len(forms) > most:
                self._rows.clear()
            # Another thread may have kept some of them meanwhile.
            new = [place for place, form in enumerate(forms) if form not in self._rows]
            first = len(self._rows)
            del new[most - first :]
            self._gates[first : first + len(new)] = gates[new]
            self._rows |= {forms[place]: row for row, place in enumerate(new, first)}


class RelationScorer:
    """Scores each of L relations of an edge by its own bilinear form, (K, L, K).

    The head and the dependent of the edge have K numbers each; the last number is 1.
    """

    def __init__(self, forms: Array, matrix: type[PanelMatrix | ByteMatrix] = PanelMatrix) -> None:
        self._wide, self._count, _ = forms.shape
        self._forms = matrix(forms.transpose(0, 2, 1).reshape(self._wide, -1))

    def of(
        self, by_head: Array, by_dependent: Array
    ) -> Callable[[Numbers, Numbers], NDArray[np.float32]]:
        """Return the function that scores the relations of edges: see `NetworkScores`.

        The arrays, (N, K), are the vectors of nodes as heads, and as dependents.
        """

        def relations(governors: Numbers, dependents: Numbers) -> NDArray[np.float32]:
            order = np.argsort(governors, kind="stable")
            used, head_of_edge = np.unique(governors[order], return_inverse=True)
            by_head_first = np.empty((len(order), self._count), dtype=np.float32)
            for first in range(0, len(used), _HEADS):
                rows = used[first : first + _HEADS]
                part = slice(*np.searchsorted(head_of_edge, (first, first + len(rows))))
                products = self._forms.after(by_head[rows])
                kernels.score_relations(
                    products.reshape(-1, self._wide, self._count),
                    head_of_edge[part] - first,
                    by_dependent,
                    dependents[order[part]],
                    by_head_first[part],
                )
            scores = np.empty_like(by_head_first)
            scores[order] = by_head_first
            return scores

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


def _outputs(rows: Bytes) -> ByteRows:
    """Return the outputs of an LSTM as rows of bytes; their unit is in the next weights."""
    return ByteRows(rows, np.ones(len(rows), dtype=np.float32))


def _in_order(rows: Array, matrix: Array) -> Array:
    """Return a small product of matrices whose sums have one order on all processors."""
    product = np.zeros((len(rows), matrix.shape[1]), dtype=np.float32)
    for column, row in zip(rows.T, matrix, strict=True):
        product += column[:, None] * row
    return product


class _BiLSTM:
    """A bidirectional layer: see `network.BiLSTM`.

    Of its inputs, it reads the columns `used` as bytes; an integer of each is worth its unit.
    """

    def __init__(self, name: str, weights: Mapping[str, Array], used: slice, units: Array) -> None:
        both = [
            ByteMatrix(np.concatenate([recurrent * _UNIT, of_inputs[used] * units[:, None]]))
            for recurrent, of_inputs in zip(
                weights[f"{name}.recurrent"], weights[f"{name}.input"], strict=True
            )
        ]
        self._room = both[0].room
        self._panels = aligned((2, *both[0].panels.shape), both[0].panels.dtype.type)
        self._panels[:] = [each.panels for each in both]
        self._scales = np.stack([each.scales for each in both])
        self._offsets = np.stack([each.offsets for each in both])
        #: (8 hidden,): the bias of the gates of both directions.
        self.bias = np.concatenate(weights[f"{name}.bias"][:, 0])
        #: The number of columns of the inputs, and of the outputs.
        self.inputs, self.size = len(units), len(self.bias) // 4

    def run(
        self,
        inputs: Bytes,
        layout: BatchLayout,
        extra: int = 0,
        gates: Array | None = None,
        which: Numbers | None = None,
    ) -> Bytes:
        """Return the outputs of both directions side by side, and room for `extra` columns.

        Row ``which[n]`` of `gates` is added to the gates of row n; by default, only the bias.
        """
        outputs = np.empty((len(inputs), self.size + extra), dtype=np.uint8)
        kernels.lstm(
            inputs,
            self.bias[None] if gates is None else gates,
            np.zeros(len(inputs), dtype=np.int64) if which is None else which,
            self._panels,
            self._scales,
            self._offsets,
            layout.mirrored,
            np.array(layout.sizes),
            self._room(layout.sizes[0]),
            outputs,
            has_wide_registers(),
        )
        return outputs


class _Vectors(NamedTuple):
    """A table of vectors, and its columns' units: the largest integer stands for the largest."""

    #: (V, D) float32.
    table: Array
    #: (D,) float32: what an integer of each column is worth.
    units: Array

    @classmethod
    def of(cls, table: Array) -> _Vectors:
        largest = np.abs(table).max(axis=0, initial=0)
        return cls(table, np.where(largest > 0, largest / np.float32(MOST), np.float32(1)))

    @property
    def size(self) -> int:
        """D."""
        return self.table.shape[1]

    def as_bytes(self, vectors: Array) -> Bytes:
        """Round vectors to bytes; larger numbers than the table's become its largest."""
        integers = np.clip(np.rint(vectors / self.units), -MOST, MOST)
        return (integers + ZERO).astype(np.uint8)


class _Column(NamedTuple):
    """The vectors of a column of tags."""

    #: The name of the column.
    name: str
    #: (P, tag): the vectors of pieces.
    pieces: Array
    #: The vectors of values.
    values: _Vectors
    #: The vectors of values that the linear tagger predicts, and last that for no value; or None.
    hints: _Vectors | None

    @classmethod
    def of(cls, name: str, tagset: Tagset, weights: Mapping[str, Array]) -> _Column:
        vectors, hints = weights[f"tags.{name}"], weights.get(f"hints.{name}")
        pieces = tagset.table(tagset.values)
        return cls(
            name,
            vectors,
            _Vectors.of(_in_order(pieces, vectors)),
            _Vectors.of(np.pad(_in_order(pieces, hints), ((0, 1), (0, 0))))
            if hints is not None
            else None,
        )

    def run(self, logits: Array, first: int, inputs: Inputs, rows: Bytes, column: int) -> Numbers:
        """Return the most probable values; write the vectors of given or expected values.

        The logits begin at the column `first`, the vectors at the column `column`.
        """
        best = np.empty(len(rows), dtype=np.int64)
        roots = len(inputs.layout.lengths)
        of_values = self.values.table, self.values.units
        kernels.choose_tags(logits, first, *of_values, column, roots, rows, best)
        bag = inputs.given[self.name]
        shown = bag.given[inputs.layout.sentence]
        if shown.any():
            vectors = self.values.as_bytes(_in_order(bag.pieces, self.pieces))
            rows[shown, column : column + self.values.size] = vectors[bag.row[shown]]
        return best
