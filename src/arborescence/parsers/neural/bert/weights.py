"""The parameters of a BERT in a model file: tables and matrices in blocks of 4 or 8 bits.

A parameter has its name in PyTorch. Of a rounded one, the file has three arrays: see
`blocks.RoundedMatrix`; their shapes say the bits and the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from arborescence.errors import ModelError
from arborescence.parsers.neural.bert.blocks import BLOCKS, Bits, restored, rounded
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.scheme import Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Numbers: TypeAlias = NDArray[np.int64]

#: The prefix of the encoder's parameters in a network.
PREFIX: Final = "encoder."
#: The shares of the layers in each vector of a word, beside the encoder's own parameters.
MIX: Final = "mix"
#: The number that is added to a score of attention, for each head and each distance.
DISTANCES: Final = f"{PREFIX}distances"
PIECES: Final = f"{PREFIX}embeddings.word_embeddings.weight"
#: What makes up a layer, in the order of the computation.
ATTENTION: Final = tuple(f"attention.self.{name}" for name in ("query", "key", "value"))
MIXED, FIRST_NORM = "attention.output.dense", "attention.output.LayerNorm"
INNER, OUTER, LAST_NORM = "intermediate.dense", "output.dense", "output.LayerNorm"
#: The parts of a rounded parameter.
_PARTS: Final = ".numbers", ".scales", ".zeros"
#: Tables of fewer rows, such as those of positions, are small: they get 8 bits.
_FEW_ROWS: Final = 1025
#: The numbers in a header, and their limits: a matrix as floats takes at most 256 MB, and sums of
#: integers stay within int32.
FIELDS: Final = {
    "pieces": scheme.whole(1, 2**24),
    "positions": scheme.whole(1, 2**13),
    "types": scheme.whole(1, 2**8),
    "size": scheme.whole(1, 2**12),
    "inner": scheme.whole(1, 2**14),
    "depth": scheme.whole(1, 1000),
    "heads": scheme.whole(1, 2**12),
    "epsilon": scheme.real(0, 1),
    "distances": scheme.whole(0, 2**14),
}


class BertSizes(NamedTuple):
    """The sizes of a BERT."""

    #: the pieces that the table of pieces knows
    pieces: int
    #: the places of pieces in a window
    positions: int
    #: the kinds of texts; the first one is used
    types: int
    #: of the vectors between layers
    size: int
    #: of the vectors inside a layer
    inner: int
    #: the number of layers
    depth: int
    #: the number of heads of attention
    heads: int
    #: is added to variances
    epsilon: float
    #: the number of distances between pieces that change scores of attention; 0 in BERT
    distances: int = 0

    def work(self, pieces: int) -> int:
        """Return the number of multiplications for a window of `pieces` pieces."""
        matrices = 4 * self.size**2 + 2 * self.size * self.inner
        return self.depth * pieces * (matrices + 2 * pieces * self.size)


class Rounded(NamedTuple):
    """A matrix (R, C) that is rounded in blocks of its rows."""

    #: (R, C * bits / 8): see `blocks.RoundedMatrix`
    numbers: NDArray[np.uint8]
    #: (R, B): of each block
    scales: Floats
    #: (R, B * bits / 8), rounded up: the numbers that stand for 0
    zeros: NDArray[np.uint8]
    #: C
    columns: int

    def rows(self, which: Any = ...) -> Floats:
        """Return some rows, as float32."""
        numbers, scales, zeros = (each[which] for each in self[:3])
        bits = 8 * numbers.shape[1] // self.columns
        return restored([numbers, scales, zeros], bits)


Parameter: TypeAlias = "Rounded | Floats"


def rows_of(parameter: Parameter, which: Any = ...) -> Floats:
    """Return some rows of a parameter, by default all, as float32."""
    if isinstance(parameter, Rounded):
        return parameter.rows(which)
    rows: Floats = parameter[which]
    return rows


def name_of(layer: int, part: str, kind: str = "weight") -> str:
    """Return the name of a parameter of a layer.

    >>> name_of(0, INNER)
    'encoder.encoder.layer.0.intermediate.dense.weight'
    """
    return f"{PREFIX}encoder.layer.{layer}.{part}.{kind}"


def shapes_of(sizes: BertSizes) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of a BERT, by name."""
    size, inner = sizes.size, sizes.inner
    tables = {"word": sizes.pieces, "position": sizes.positions, "token_type": sizes.types}
    shapes: dict[str, tuple[int, ...]] = {
        f"{PREFIX}embeddings.{name}_embeddings.weight": (rows, size)
        for name, rows in tables.items()
    }
    for kind in ("weight", "bias"):
        shapes[f"{PREFIX}embeddings.LayerNorm.{kind}"] = (size,)
    matrices = dict.fromkeys((*ATTENTION, MIXED), (size, size))
    matrices |= {INNER: (inner, size), OUTER: (size, inner)}
    if sizes.distances:
        shapes[DISTANCES] = (sizes.heads, sizes.distances)
    for layer in range(sizes.depth):
        for part, shape in matrices.items():
            shapes[name_of(layer, part)] = shape
            shapes[name_of(layer, part, "bias")] = shape[:1]
        for part in (FIRST_NORM, LAST_NORM):
            for kind in ("weight", "bias"):
                shapes[name_of(layer, part, kind)] = (size,)
    return shapes


def to_arrays(weights: Mapping[str, Floats], bits: Bits | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file; None: nothing is rounded."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, array in weights.items():
        rows, width = array.shape if array.ndim == 2 else (0, 1)
        block = next((n for n in BLOCKS if bits and n <= bits.block and width % n == 0), None)
        if bits is None or block is None or name == DISTANCES:
            arrays[name] = np.array(array, dtype=np.float32)
            continue
        is_table = "embeddings." in name
        chosen = bits.matrix if not is_table else bits.table if rows >= _FEW_ROWS else 8
        parts = rounded(np.ascontiguousarray(array, dtype=np.float32), chosen, block)
        for part, numbers in zip(_PARTS, parts, strict=True):
            arrays[name + part] = np.asarray(numbers).reshape(rows, -1)
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]], sizes: BertSizes) -> dict[str, Parameter]:
    """Return parameters by the arrays of a model file; ModelError if an array does not fit."""
    parameters: dict[str, Parameter] = {}
    for name, shape in shapes_of(sizes).items():
        if name + _PARTS[0] not in arrays:
            wanted = Array((np.float32,), shape, low=-scheme.LARGEST, high=scheme.LARGEST)
            parameters[name] = scheme.arrays_of(arrays, {name: wanted}, {})[name]
            continue
        if len(shape) < 2:
            raise ModelError(f"array '{name}' is missing")
        parameters[name] = _rounded(arrays, name, *shape)
    return parameters


def _rounded(arrays: Mapping[str, NDArray[Any]], name: str, rows: int, columns: int) -> Rounded:
    """Return a rounded parameter; ModelError if its arrays do not fit."""
    numbers, scales = (arrays.get(name + part, np.zeros(0)) for part in _PARTS[:2])
    blocks = scales.shape[1] if scales.ndim == 2 else 0
    bits = 4 if numbers.ndim == 2 and 2 * numbers.shape[1] == columns else 8
    if not blocks or columns % blocks or columns * bits % 8:
        raise ModelError(f"array '{name}{_PARTS[1]}' has no blocks of equal size")
    shapes = columns * bits // 8, blocks, -(-blocks * bits // 8)
    wanted = {
        name + part: Array((np.uint8,), (rows, width))
        for part, width in zip(_PARTS, shapes, strict=True)
    }
    wanted[name + _PARTS[1]] = Array(
        (np.float32,), (rows, blocks), low=0, high=scheme.LARGEST / 2**8
    )
    found = scheme.arrays_of(arrays, wanted, {})
    numbers, scales, zeros = (found[name + part] for part in _PARTS)
    return Rounded(numbers, scales, zeros, columns)
