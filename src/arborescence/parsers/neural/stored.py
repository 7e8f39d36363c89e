"""The weights of a network in a model file: rounded to float16, or to int8 with many scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.shared.scheme import LARGEST, Array, arrays_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.shared.types import Precision

    Weights = Mapping[str, NDArray[np.float32]]

_MOST: Final = 127
_SCALES: Final = ".scales"


def to_arrays(weights: Weights, precision: Precision) -> dict[str, NDArray[Any]]:
    """Round weights to the arrays of a model file.

    Parameters
    ----------
    weights : dict of str to float32 array
    precision
        ``"float16"``: each weight has 11 bits. ``"int8"``: it is an integer from -127 to 127, times
        a scale (float32, an array of its own); each row or each column of a matrix has its scale,
        whichever gives the smaller error. Vectors remain float16.

    Notes
    -----
    The rounding error of a weight is at most 1/2048 of the weight (float16, if it is above 6e-5),
    or 1/254 of the largest weight of the row or column (int8). With int8, LAS of a parser of
    English-EWT changed by 0.01 points.

    Examples
    --------
    >>> weights = {"table": np.array([[1, -2], [0.5, 0.5]], dtype=np.float32)}
    >>> to_arrays(weights, "int8")["table"]
    array([[ 127, -127],
           [  64,   32]], dtype=int8)
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
    """Return the weights that are stored in the arrays of a model file.

    Parameters
    ----------
    arrays
        The arrays of a file: see `to_arrays`. Others are ignored.
    shapes
        The names and shapes of all weights: see `shapes.shapes`.

    Raises
    ------
    ModelError
        If an array is missing, has another shape or dtype, or has values that are not finite or
        above 10^6.

    Examples
    --------
    >>> table = np.array([[1, -2], [0.25, 0.5]], dtype=np.float32)
    >>> from_arrays(to_arrays({"table": table}, "float16"), {"table": (2, 2)})["table"].tolist()
    [[1.0, -2.0], [0.25, 0.5]]
    """
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
    found = arrays_of(arrays, wanted, {})
    weights = {}
    for name in shapes:
        weights[name] = found[name].astype(np.float32)
        if name + _SCALES in found:
            weights[name] *= found[name + _SCALES]
    return weights


def _is_matrix(shape: tuple[int, ...]) -> bool:
    """Tell whether an array of this shape may be int8."""
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
