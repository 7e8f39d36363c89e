"""What a model file must hold, said once: the fields of its header, and its arrays.

Each kind of parser lists both beside its class, and asks for them here before it makes anything of
a file. Then no kernel can read or write beyond the end of an array, and no number overflows,
whatever the file holds; and what is wrong has one error that names the part.
"""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.errors import ModelError
from arborescence.parsers.shared.features import COLUMNS, can_be_looked_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from numpy.typing import NDArray

_REQUIRED: Final = object()
#: The largest weight, and the largest number that weights are multiplied by: sums of products of
#: them are far from the ends of float32.
LARGEST: Final = 1e6


@dataclass(frozen=True)
class Field:
    """A field of a header.

    Attributes
    ----------
    what
        What its value is, for messages.
    fits
        Whether a value is that. It is called with whatever JSON can hold.
    default
        The value where a file has no such field; without it, there must be one.
    """

    what: str
    fits: Callable[[Any], bool]
    default: Any = _REQUIRED


def whole(low: int, high: int, default: Any = _REQUIRED, *, none: bool = False) -> Field:
    """Make a field for a whole number, or perhaps None.

    >>> whole(1, 9).fits(3), whole(1, 9).fits(3.0), whole(0, 1).fits(True)
    (True, False, False)
    """
    what = f"{'null or ' if none else ''}a whole number from {low} to {high}"
    return Field(
        what,
        lambda value: (type(value) is int and low <= value <= high) or (none and value is None),
        default,
    )


def real(low: float, high: float, default: Any = _REQUIRED) -> Field:
    """Make a field for a number that is not whole, or written as if it were not."""
    return Field(
        f"a number from {low:g} to {high:g}",
        lambda value: isinstance(value, float) and low <= value <= high,
        default,
    )


def positive(default: Any = _REQUIRED) -> Field:
    """Make a field for a positive number that is not too large."""
    return Field(
        f"a positive number up to {LARGEST:g}",
        lambda value: isinstance(value, float) and 0 < value <= LARGEST,
        default,
    )


def one_of(values: Iterable[str | int], default: Any = _REQUIRED) -> Field:
    """Make a field for one of some values.

    >>> one_of([True, False]).fits(1)
    False
    """
    known = list(values)
    return Field(
        f"one of {known}",
        lambda value: any(type(value) is type(each) and value == each for each in known),
        default,
    )


def list_of(of: Field, low: int, high: int, default: Any = _REQUIRED) -> Field:
    """Make a field for a list of `low` to `high` values of another."""
    count = f"{low}" if low == high else f"{low} to {high}"
    return Field(
        f"a list of {count}, each {of.what}",
        lambda value: (
            isinstance(value, list | tuple)
            and low <= len(value) <= high
            and all(map(of.fits, value))
        ),
        default,
    )


#: An object of JSON: the header of a parser within another.
MAPPING: Final = Field("an object", lambda value: isinstance(value, dict))
#: A value of a column of CoNLL-U: no tab, no end of line, nothing that UTF-8 cannot express.
VALUE: Final = Field(
    "a value of CoNLL-U",
    lambda value: (
        isinstance(value, str) and re.fullmatch(r"[^\t\r\n\ud800-\udfff]+", value) is not None
    ),
)
#: Relations, or tags.
VALUES: Final = list_of(VALUE, 1, 10**6)
#: The columns that features look at.
LOOKED_AT: Final = Field(
    f"a list of some of {', '.join(COLUMNS)}, and not feats alone",
    lambda value: (
        isinstance(value, list | tuple)
        and all(isinstance(column, str) for column in value)
        and can_be_looked_at(value)
    ),
)
#: What weights are multiplied by.
UNIT: Final = positive(1.0)
#: The same, or nothing.
MAPPING_OR_NULL: Final = Field(
    "null or an object", lambda value: value is None or isinstance(value, dict)
)
#: How a parser was trained.
INFO: Final = replace(MAPPING_OR_NULL, default=None)


@dataclass(frozen=True)
class Array:
    """An array.

    Attributes
    ----------
    dtypes
        What it may be made of.
    shape
        Lengths: numbers, or names that stand for the same number wherever they occur. What has a
        name that begins with ``2^`` is a power of two.
    low, high
        The least and the greatest value that may occur. Where none is given, floats must be finite.
    below
        The name of a length that all values are less than (and none is negative): they are indices.
    ascending
        Whether each value is greater than the one before.
    """

    dtypes: tuple[type[np.generic], ...]
    shape: tuple[int | str, ...]
    low: float | None = None
    high: float | None = None
    below: str | None = None
    ascending: bool = False


def weights(*shape: int | str) -> Array:
    """Make an array of weights, as they are learned, or rounded to bytes."""
    return Array((np.float32, np.int8), shape, low=-LARGEST, high=LARGEST)


def fields_of(header: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the fields of a header.

    Raises
    ------
    ModelError
        If one is missing, or is not what it should be.

    Examples
    --------
    >>> fields_of({"beam": 8, "kind": "some"}, {"beam": whole(1, 64), "unit": UNIT})
    {'beam': 8, 'unit': 1.0}
    >>> fields_of({"beam": 0}, {"beam": whole(1, 64)})
    Traceback (most recent call last):
      ...
    arborescence.ModelError: beam is 0, not a whole number from 1 to 64
    """
    found = {}
    for name, field in fields.items():
        value = header.get(name, field.default)
        if value is _REQUIRED:
            raise ModelError(f"{name} is missing; it is {field.what}")
        if name in header and not field.fits(value):
            raise ModelError(f"{name} is {reprlib.repr(value)}, not {field.what}")
        found[name] = value
    return found


def arrays_of(
    arrays: Mapping[str, NDArray[Any]],
    wanted: Mapping[str, Array],
    lengths: Mapping[str, int],
    optional: Collection[str] = (),
) -> dict[str, Any]:
    """Return the arrays of a model, and no others.

    Parameters
    ----------
    arrays
        What a file holds.
    wanted
        What there must be.
    lengths
        Lengths that the header gives, by the names that `wanted` uses.
    optional
        The names of arrays that may be missing.

    Raises
    ------
    ModelError
        If one is missing, or is not what it should be.

    Notes
    -----
    Values are looked at only where they are limited: of weights in bytes, none.

    Examples
    --------
    >>> wanted = {"weights": weights("2^rows", "labels"), "heads": Array((np.int32,), ("labels",))}
    >>> table = np.zeros((3, 2), dtype=np.int8)
    >>> arrays_of({"weights": table}, wanted, {"labels": 2})
    Traceback (most recent call last):
      ...
    arborescence.ModelError: array 'weights' has 3 rows, not a power of two
    """
    known = dict(lengths)
    for name, array in wanted.items():
        if name in arrays:
            fault = _fault(arrays[name], array, known)
            if fault:
                raise ModelError(f"array '{name}' {fault}")
        elif name not in optional:
            raise ModelError(f"array '{name}' is missing")
    return {name: arrays[name] for name in wanted if name in arrays}


def fields_of_part(
    name: str, header: Any, fields: Mapping[str, Field], version: int
) -> dict[str, Any]:
    """Return the fields of a header within a header, which must say that it has this version.

    Raises
    ------
    ModelError
        If it has another, or a field is missing, or is not what it should be.

    Examples
    --------
    >>> fields_of_part("tagger", {"version": 2}, {}, 1)
    Traceback (most recent call last):
      ...
    arborescence.ModelError: tagger has version 2, and this library reads 1: train the model again
    """
    header = fields_of({name: header}, {name: MAPPING})[name]
    found = fields_of(header, {"version": whole(1, 99), **fields})
    if found["version"] != version:
        raise ModelError(
            f"{name} has version {found['version']}, and this library reads {version}: train the "
            "model again"
        )
    return found


def joined(parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of several parts, each name behind the prefix of its part; see `part`.

    >>> list(joined({"tagger/": {"weights": np.ones(1)}, "": {"weights": np.ones(1)}}))
    ['tagger/weights', 'weights']
    """
    return {
        prefix + name: array for prefix, arrays in parts.items() for name, array in arrays.items()
    }


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin so, by the rest of their names.

    >>> list(part({"tagger/weights": np.ones(1), "weights": np.ones(1)}, "tagger/"))
    ['weights']
    """
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _fault(array: NDArray[Any], wanted: Array, known: dict[str, int]) -> str | None:
    """Say what is wrong with an array, and note the lengths that it has."""
    fits = array.dtype in wanted.dtypes and len(array.shape) == len(wanted.shape)
    if fits:
        for length, found in zip(wanted.shape, array.shape, strict=True):
            if isinstance(length, str) and length not in known:
                known[length] = found
                if length.startswith("2^") and (not found or found & (found - 1)):
                    return f"has {found} rows, not a power of two"
            fits &= found == (known[length] if isinstance(length, str) else length)
    if not fits:
        types = " or ".join(np.dtype(dtype).name for dtype in wanted.dtypes)
        shape = ", ".join(str(known.get(str(length), length)) for length in wanted.shape)
        return f"is {array.dtype} {array.shape}, not {types} ({shape})"
    if array.dtype == np.bool_:
        return "is neither true nor false" if array.view(np.uint8).max(initial=0) > 1 else None
    limits = _limits(array.dtype, wanted, known)
    if limits and array.size and not (limits[0] <= array.min() and array.max() <= limits[1]):
        return f"has values that are not between {limits[0]} and {limits[1]}"
    if wanted.ascending and not (array[1:] > array[:-1]).all():
        return "is not in ascending order"
    return None


def _limits(
    dtype: np.dtype[Any], wanted: Array, known: Mapping[str, int]
) -> tuple[float, float] | None:
    """Return the least and the greatest value that may be; None if the type has no others."""
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    low = info.min if wanted.low is None else wanted.low
    high = info.max if wanted.high is None else wanted.high
    if wanted.below is not None:
        low, high = 0, known[wanted.below] - 1
    return None if dtype.kind != "f" and low <= info.min and info.max <= high else (low, high)
