"""Validation of model files, by the header fields and arrays that each class lists.

After validation, no kernel reads or writes beyond the end of an array, and no number overflows.
The command line imports this module: NumPy is imported only where it is needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import ModelError, brief

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

_REQUIRED: Final = object()
#: The columns that features can use; for each column, the letters of its fields in templates.
COLUMNS: Final = {"form": "wsc", "lemma": "l", "upos": "p", "xpos": "x", "feats": "m"}
#: The largest weight, and the largest factor of weights: sums of their products are far below the
#: limit of float32.
LARGEST: Final = 1e6


@dataclass(frozen=True)
class Field:
    """A field of a header."""

    #: A description of the values, for error messages.
    what: str
    #: Returns whether a value is valid, for any JSON value.
    fits: Callable[[Any], bool]
    #: The value if a file lacks the field; without a default, the field is required.
    default: Any = _REQUIRED


def whole(low: int, high: int | None = None, default: Any = _REQUIRED) -> Field:
    """Make a field for a whole number."""
    return Field(
        f"a whole number {f'of at least {low}' if high is None else f'from {low} to {high}'}",
        lambda value: type(value) is int and low <= value and (high is None or value <= high),
        default,
    )


def real(low: float, high: float, default: Any = _REQUIRED) -> Field:
    """Make a field for a float (an integer value must be written as a float)."""
    return Field(
        f"a number from {low:g} to {high:g}",
        lambda value: isinstance(value, float) and low <= value <= high,
        default,
    )


def positive(default: Any = _REQUIRED) -> Field:
    """Make a field for a positive float up to `LARGEST`."""
    return Field(
        f"a positive number up to {LARGEST:g}",
        lambda value: isinstance(value, float) and 0 < value <= LARGEST,
        default,
    )


def one_of(values: Iterable[str | int], default: Any = _REQUIRED) -> Field:
    """Make a field for one of the given values."""
    known = list(values)
    *others, last = map(repr, known)
    return Field(
        f"{', '.join(others)} or {last}" if others else last,
        lambda value: any(type(value) is type(each) and value == each for each in known),
        default,
    )


def list_of(of: Field, low: int, high: int) -> Field:
    """Make a field for a list of `low` to `high` values of another field."""
    count = f"{low}" if low == high else f"{low} to {high}"
    return Field(
        f"a list of {count}, each {of.what}",
        lambda value: (
            isinstance(value, list | tuple)
            and low <= len(value) <= high
            and all(map(of.fits, value))
        ),
    )


def or_none(field: Field) -> Field:
    """Make a field for None and the values of another field."""
    return replace(
        field, what=f"{field.what}, or None", fits=lambda value: value is None or field.fits(value)
    )


#: A JSON object: the header of a parser inside another parser.
MAPPING: Final = Field("an object", lambda value: isinstance(value, dict))
#: A character of a CoNLL-U column's value: no tab, no line end, nothing that UTF-8 cannot encode.
CHARACTER: Final = r"[^\t\r\n\ud800-\udfff]"
_VALUE: Final = re.compile(f"{CHARACTER}+")
_JOINED: Final = re.compile(rf"(?:{CHARACTER}+\t)*")
#: A value of a CoNLL-U column.
VALUE: Final = Field(
    "a value of CoNLL-U",
    lambda value: isinstance(value, str) and _VALUE.fullmatch(value) is not None,
)


def values(low: int, high: int) -> Field:
    """Make a field for a list of `low` to `high` values of CoNLL-U columns; fast for many."""

    def fits(value: Any) -> bool:
        if not isinstance(value, list | tuple) or not low <= len(value) <= high:
            return False
        try:
            joined = "\t".join((*value, ""))
        except TypeError:
            return False
        return joined.count("\t") == len(value) and _JOINED.fullmatch(joined) is not None

    return replace(list_of(VALUE, low, high), fits=fits)


#: A list of relations or tags.
VALUES: Final = values(1, 10**6)
#: The columns that features use.
LOOKED_AT: Final = Field(
    f"some of {', '.join(COLUMNS)} (not feats alone)",
    lambda value: (
        isinstance(value, list | tuple)
        and all(column in tuple(COLUMNS) for column in value)  # a column may be unhashable
        and not set(value) <= {"feats"}
    ),
)
#: Text.
TEXT: Final = Field("text", lambda value: isinstance(value, str))
#: The factor by which weights are multiplied.
UNIT: Final = positive(1.0)
#: A JSON object or null.
MAPPING_OR_NULL: Final = Field(
    "null or an object", lambda value: value is None or isinstance(value, dict)
)
#: Information about the training of a parser.
INFO: Final = replace(MAPPING_OR_NULL, default=None)


@dataclass(frozen=True)
class Array:
    """An array of a model file."""

    #: The allowed dtypes.
    dtypes: tuple[type[np.generic], ...]
    #: The lengths of the axes: numbers or names. A name stands for the same number in all arrays. A
    #: length whose name begins with ``2^`` must be a power of two.
    shape: tuple[int | str, ...]
    #: The least allowed value. Without limits, floats must be finite.
    low: float | None = None
    #: The greatest allowed value.
    high: float | None = None
    #: For indices: the name of a length. All values must be at least 0 and less than this length.
    below: str | None = None
    #: Whether each value must be greater than the value before.
    ascending: bool = False


def weights(*shape: int | str) -> Array:
    """Describe an array of weights: float32, or rounded to int8."""
    import numpy as np

    return Array((np.float32, np.int8), shape, low=-LARGEST, high=LARGEST)


def fields_of(header: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the fields of a header; ModelError if a field is missing or invalid."""
    values = {}
    for name, field in fields.items():
        value = header.get(name, field.default)
        if value is _REQUIRED:
            raise ModelError(f"{name} is missing; it must be {field.what}")
        if name in header and not field.fits(value):
            raise ModelError(f"{name} is {brief(value)}, not {field.what}")
        values[name] = value
    return values


def arrays_of(
    arrays: Mapping[str, NDArray[Any]],  # the arrays of a file
    wanted: Mapping[str, Array],  # the required arrays
    # lengths given by the header; the keys are the names used in `wanted`
    lengths: Mapping[str, int],
    optional: Collection[str] = (),  # the names of arrays that may be missing
) -> dict[str, Any]:
    """Return the required arrays of a file; ModelError if an array is missing or invalid."""
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
    """Return the fields of a header inside a header; ModelError for another version, too."""
    header = fields_of({name: header}, {name: MAPPING})[name]
    values = fields_of(header, {"version": whole(1, 99), **fields})
    if values["version"] != version:
        raise ModelError(
            f"{name} has version {values['version']}, but this library reads {version}: train the "
            "model again"
        )
    return values


def joined(parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of several parts; names get the prefix of their part. See `part`."""
    return {
        prefix + name: array for prefix, arrays in parts.items() for name, array in arrays.items()
    }


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with a prefix; the prefix is removed from the names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _fault(array: NDArray[Any], wanted: Array, known: dict[str, int]) -> str | None:
    """Describe the fault of an array, or return None; add its lengths to `known`."""
    return _fault_of_shape(array, wanted, known) or _fault_of_values(array, wanted, known)


def _fault_of_shape(array: NDArray[Any], wanted: Array, known: dict[str, int]) -> str | None:
    """Describe the fault of an array's type or shape, or return None; add lengths to `known`."""
    fits = array.dtype in wanted.dtypes and len(array.shape) == len(wanted.shape)
    if fits:
        for length, actual in zip(wanted.shape, array.shape, strict=True):
            if isinstance(length, str) and length not in known:
                known[length] = actual
                if length.startswith("2^") and (not actual or actual & (actual - 1)):
                    return f"has {actual} rows, not a power of two"
            fits &= actual == (known[length] if isinstance(length, str) else length)
    return None if fits else f"is {array.dtype} {array.shape}, not {_expected(wanted, known)}"


def _expected(wanted: Array, known: Mapping[str, int]) -> str:
    """Return the types and the shape that an array should have, as text."""
    import numpy as np

    types = " or ".join(np.dtype(dtype).name for dtype in wanted.dtypes)
    shape = ", ".join(str(known.get(str(length), length)) for length in wanted.shape)
    return f"{types} ({shape})"


def _fault_of_values(array: NDArray[Any], wanted: Array, known: Mapping[str, int]) -> str | None:
    """Describe the fault of the values of an array, or return None."""
    import numpy as np

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
    """Return the least and the greatest allowed value; None if every value is allowed."""
    import numpy as np

    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    low = info.min if wanted.low is None else wanted.low
    high = info.max if wanted.high is None else wanted.high
    if wanted.below is not None:
        low, high = 0, known[wanted.below] - 1
    return None if dtype.kind != "f" and low <= info.min and info.max <= high else (low, high)
