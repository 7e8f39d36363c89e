"""The computation of BERT (Devlin et al. 2019) for windows of pieces side by side.

Rounded matrices are multiplied as bytes (`core.byte_products`), and exact ones as floats. No window
is padded; many windows share each product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from arborescence.compiling.native import has_wide_registers
from arborescence.core.byte_products import ByteMatrix
from arborescence.core.products import PanelMatrix
from arborescence.parsers.neural.bert import kernels
from arborescence.parsers.neural.bert.weights import (
    ATTENTION,
    DISTANCES,
    FIRST_NORM,
    INNER,
    LAST_NORM,
    MIXED,
    OUTER,
    PIECES,
    PREFIX,
    BertSizes,
    Parameter,
    Rounded,
    name_of,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Numbers: TypeAlias = NDArray[np.int64]
    Parameters = Mapping[str, Parameter]

#: The windows of a step have about so many pieces: their vectors stay in the cache.
_PIECES: Final = 512


class _Linear:
    """A matrix, and a number for each output."""

    def __init__(self, parameters: Parameters, layer: int, *parts: str) -> None:
        names = [name_of(layer, part) for part in parts]
        matrix = np.concatenate([rows_of(parameters[name]) for name in names]).T
        self._bias = np.concatenate([rows_of(parameters[name_of(layer, p, "bias")]) for p in parts])
        is_rounded = all(isinstance(parameters[name], Rounded) for name in names)
        self._matrix = ByteMatrix(matrix) if is_rounded else PanelMatrix(matrix)

    def run(self, rows: Floats) -> Floats:
        if isinstance(self._matrix, ByteMatrix):
            return self._matrix.after(rows, self._bias)
        product: Floats = self._matrix.after(rows) + self._bias
        return product


class _Norm(NamedTuple):
    """The factors and summands of a layer's norm."""

    #: (size,): the factors
    weights: Floats
    #: (size,): the summands
    bias: Floats
    #: is added to the variance
    epsilon: float

    def add(self, added: Floats, vectors: Floats) -> None:
        """Add to vectors, and normalize them."""
        kernels.add_and_norm(added, self.weights, self.bias, self.epsilon, vectors)


class _BertLayer:
    """One layer."""

    def __init__(self, parameters: Parameters, number: int, sizes: BertSizes) -> None:
        self._distances = np.zeros((sizes.heads, 0), dtype=np.float32)
        if sizes.distances:
            self._distances = rows_of(parameters[DISTANCES])
        self._attention = _Linear(parameters, number, *ATTENTION)
        self._mixed, self._inner, self._outer = (
            _Linear(parameters, number, part) for part in (MIXED, INNER, OUTER)
        )
        self._norms = [
            _Norm(
                rows_of(parameters[name_of(number, part)]),
                rows_of(parameters[name_of(number, part, "bias")]),
                sizes.epsilon,
            )
            for part in (FIRST_NORM, LAST_NORM)
        ]

    def run(self, vectors: Floats, starts: Numbers) -> None:
        """Change the vectors of pieces (N, size)."""
        first, last = self._norms
        context = np.empty_like(vectors)
        wide = has_wide_registers()
        kernels.attend(self._attention.run(vectors), starts, self._distances, context, wide)
        first.add(self._mixed.run(context), vectors)
        inner = self._inner.run(vectors)
        kernels.gelu(inner)
        last.add(self._outer.run(inner), vectors)


class BertForward:
    """BERT with given parameters, and L mixtures of its layers.

    `mix`, (L, depth + 1) float32, has the shares of the embeddings and of each layer.
    """

    def __init__(self, parameters: Parameters, mix: Floats, sizes: BertSizes) -> None:
        tables = (
            f"{PREFIX}embeddings.{name}_embeddings.weight" for name in ("position", "token_type")
        )
        positions, types = (rows_of(parameters[name]) for name in tables)
        self._pieces = parameters[PIECES]
        #: The vectors of places, with that of the first kind of text.
        self._places = np.ascontiguousarray(positions + types[0])
        norm = f"{PREFIX}embeddings.LayerNorm."
        self._norm = _Norm(
            rows_of(parameters[f"{norm}weight"]), rows_of(parameters[f"{norm}bias"]), sizes.epsilon
        )
        self._layers = [_BertLayer(parameters, number, sizes) for number in range(sizes.depth)]
        self._mix = np.ascontiguousarray(mix.T)

    def run(self, ids: Numbers, lengths: Numbers) -> Floats:
        """Return the mixtures (N, L, size) for the N pieces of windows: see `Pieces`."""
        mixtures = np.empty(
            (int(lengths.sum()), self._mix.shape[1], self._places.shape[1]), np.float32
        )
        done = 0
        for first, last in _steps(lengths):
            some = lengths[first:last]
            end = done + int(some.sum())
            self._step(ids[first:last], some, mixtures[done:end])
            done = end
        return mixtures

    def _step(self, ids: Numbers, lengths: Numbers, mixtures: Floats) -> None:
        """Fill the mixtures of some windows."""
        inside = np.arange(ids.shape[1]) < lengths[:, None]
        _, places = np.nonzero(inside)
        which, numbers = np.unique(ids[inside], return_inverse=True)
        vectors = rows_of(self._pieces, which)[numbers]
        self._norm.add(self._places[places], vectors)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        mixtures[:] = 0
        kernels.mix(vectors, self._mix[0], mixtures)
        for number, layer in enumerate(self._layers, 1):
            layer.run(vectors, starts)
            kernels.mix(vectors, self._mix[number], mixtures)


def _steps(lengths: Numbers) -> Iterator[tuple[int, int]]:
    """Yield the first and the last window of each step.

    >>> list(_steps(np.array([300, 300, 20, 600, 20])))
    [(0, 1), (1, 3), (3, 4), (4, 5)]
    """
    first = pieces = 0
    for number, length in enumerate(lengths.tolist()):
        if pieces and pieces + length > _PIECES:
            yield first, number
            first, pieces = number, 0
        pieces += length
    if pieces:
        yield first, len(lengths)
