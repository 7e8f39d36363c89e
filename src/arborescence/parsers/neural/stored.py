"""The weights of a network in a model file: rounded to float16, or to int8 with many scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.neural.vocabulary import STRANGE, UNKNOWN
from arborescence.parsers.shared.scheme import LARGEST, Array, arrays_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.shared.options import Precision

    Weights = Mapping[str, NDArray[np.float32]]
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.vocabulary import Vocabulary

    Shape = tuple[int, ...]

_MOST: Final = 127
_SCALES: Final = ".scales"


def to_arrays(weights: Weights, precision: Precision) -> dict[str, NDArray[Any]]:
    """Round float32 weights to the arrays of a model file: float16, or int8 with scales.

    An int8 weight is -127 to 127 times a scale (float32, in another array) for each row or each
    column, whichever has the smaller error: at most 1/254 of the largest weight. Vectors remain
    float16. LAS of English-EWT changed by 0.01.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name, array in weights.items():
        if precision == "int8" and _is_matrix(array.shape):
            arrays[name], arrays[name + _SCALES] = _least_error(array)
        else:
            arrays[name] = array.astype(np.float16)
    return arrays


def from_arrays(
    arrays: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float32]]:
    """Return the weights from arrays; ModelError if an array is missing or does not fit."""
    wanted = {}
    for name, shape in shapes.items():
        if not _is_matrix(shape) or name not in arrays or arrays[name].dtype != np.int8:
            wanted[name] = Array((np.float16,), shape)
            continue
        wanted[name] = Array((np.int8,), shape)
        by_row, by_column = (*shape[:-1], 1), (*shape[:-2], 1, shape[-1])
        scales = arrays.get(name + _SCALES)
        is_by_column = scales is not None and scales.shape == by_column
        wanted[name + _SCALES] = Array(
            (np.float32,), by_column if is_by_column else by_row, low=0, high=LARGEST / _MOST
        )
    rounded = arrays_of(arrays, wanted, {})
    weights = {}
    for name in shapes:
        weights[name] = rounded[name].astype(np.float32)
        if name + _SCALES in rounded:
            weights[name] *= rounded[name + _SCALES]
    return weights


def keep(
    state: Mapping[str, NDArray[np.float32]],  # changed
    weights: Weights,
    before: Vocabulary,
    now: Vocabulary,
) -> None:
    """Copy the weights of a network into a network that knows more words, tags and relations.

    A new word or character begins with the vector of the unknown word or character. New relations
    come last.
    """
    first: dict[str, Any] = {}  # the new places along the first axis
    for column, tagset in before.tags.items():
        pieces = [now.tags[column].pieces[piece] for piece in tagset.pieces]
        numbers = {value: number for number, value in enumerate(now.tags[column].values)}
        values = [numbers[value] for value in tagset.values]
        first |= dict.fromkeys((f"hints.{column}", f"tags.{column}"), pieces)
        first |= dict.fromkeys((f"taggers.{column}.{part}" for part in ("weight", "bias")), values)
    unknown = {"words.weight": UNKNOWN, "lemmas.weight": UNKNOWN, "letters.weight": STRANGE}
    for name, array in weights.items():
        if name in unknown:
            state[name][:] = array[unknown[name]]
            state[name][: len(array)] = array
        elif name == "relation_weights":
            state[name][:, : array.shape[1]] = array
        else:
            state[name][first.get(name, ...)] = array


def _is_matrix(shape: tuple[int, ...]) -> bool:
    """Return whether an array of this shape may be int8."""
    return len(shape) > 1 and shape[-2] > 1


def _least_error(array: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round to int8 by rows and by columns; return the better result and its scales."""
    choices = []
    for axis in (-1, -2):
        scales = np.abs(array).max(axis=axis, keepdims=True) / np.float32(_MOST)
        integers = np.rint(array / np.where(scales > 0, scales, 1)).astype(np.int8)
        choices.append((float(np.square(integers * scales - array).sum()), integers, scales))
    _, integers, scales = min(choices, key=lambda choice: choice[0])
    return integers, scales


#: The widths of the windows over the characters of a word.
WINDOWS: Final = (3, 5)
#: The slope of leaky rectifiers for negative numbers.
SLOPE: Final = 0.1


def shapes_of(
    settings: Settings, vocabulary: Vocabulary, *, hinted: bool, relations: int
) -> dict[str, Shape]:
    """Return the shape of each parameter of a network, by name."""
    words, lemmas, letters = vocabulary.sizes
    word, tag, both = settings.word, settings.tag, 2 * settings.hidden
    ends = settings.arc + settings.label
    shapes: dict[str, Shape] = {
        "words.weight": (words, word),
        "letters.weight": (letters, settings.letter),
    }
    if settings.vector:
        shapes["pretrained.weight"] = (len(vocabulary.vectors) + 1, settings.vector)
        shapes["pretrained_projection.weight"] = (word, settings.vector)
    for number, width in enumerate(WINDOWS):
        shapes[f"windows.{number}.weight"] = (settings.filters, settings.letter, width)
        shapes[f"windows.{number}.bias"] = (settings.filters,)
    for column, tagset in vocabulary.tags.items():
        if hinted:
            shapes[f"hints.{column}"] = (len(tagset.pieces), tag)
        shapes[f"tags.{column}"] = (len(tagset.pieces), tag)
        shapes[f"taggers.{column}.weight"] = (len(tagset.values), both)
        shapes[f"taggers.{column}.bias"] = (len(tagset.values),)
    read = word + len(WINDOWS) * settings.filters
    tagged = both + len(vocabulary.tags) * tag
    if hinted:
        read += len(vocabulary.tags) * tag
    if settings.encoded:
        read += settings.hidden
        shapes["encoder_mix"] = (settings.encoder_layers,)
        shapes["encoder_projection.weight"] = (settings.hidden, settings.encoded)
        shapes["encoder_projection.bias"] = (settings.hidden,)
    if vocabulary.lemmas:
        shapes["lemmas.weight"] = (lemmas, word)
        tagged += word
    for name, layers, first in (("lower", settings.lower, read), ("upper", settings.upper, tagged)):
        for layer in range(layers):
            size = both if layer else first
            shapes[f"{name}.{layer}.input"] = (2, size, 4 * settings.hidden)
            shapes[f"{name}.{layer}.recurrent"] = (2, settings.hidden, 4 * settings.hidden)
            shapes[f"{name}.{layer}.bias"] = (2, 1, 4 * settings.hidden)
    for name in ("as_head", "as_dependent"):
        shapes[f"{name}.weight"] = (ends, both)
        shapes[f"{name}.bias"] = (ends,)
    is_mlp = settings.scorer == "mlp"
    shapes["edge_weights"] = (settings.arc,) if is_mlp else (settings.arc + 1, settings.arc)
    wide = settings.label + 1
    shapes["relation_weights"] = (wide, relations, wide)
    return shapes
