"""Model files: NumPy arrays and a JSON header in one ``.npz``, and nothing that can run.

The header says what kind of model it is and everything that is not an array. It is stored as the
UTF-8 bytes of the JSON text in an array named ``header``.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.errors import ModelError
from arborescence.files import replacing
from arborescence.parsers.features import COLUMNS, can_be_looked_at

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray

#: The version of the format that this library writes, and the newest that it reads.
VERSION: Final = 1

_FORMAT: Final = "arborescence model"
_HEADER: Final = "header"
_ZIP: Final = b"PK"
# What reading raises where the bytes are not those of arrays in a zip file.
_DAMAGES: Final = (
    OSError,
    ValueError,
    KeyError,
    tokenize.TokenError,  # of the description of an array
    AttributeError,
    EOFError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def save(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    compress: bool = True,
) -> None:
    """Write a model: the file appears whole or not at all.

    Parameters
    ----------
    path
        Where to.
    header
        What JSON can hold; should say its ``kind``.
    arrays
        Arrays of plain numbers.
    compress
        Smaller but slower to write.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
    >>> save(path, {"kind": "example"}, {"weights": np.ones(3, dtype=np.float32)})
    >>> header, arrays = load(path)
    >>> header["kind"], arrays["weights"]
    ('example', array([1., 1., 1.], dtype=float32))
    """
    text = json.dumps({"format": _FORMAT, "version": VERSION, **header}, ensure_ascii=False)
    packed = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    with replacing(path) as file:
        if compress:
            np.savez_compressed(file, allow_pickle=False, **packed)
        else:
            np.savez(file, allow_pickle=False, **packed)


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `save` wrote.

    Parameters
    ----------
    path
        A model file.

    Returns
    -------
    header, arrays

    Raises
    ------
    ModelError
        If there is no such file, it is damaged, no model, or written by a newer version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error
    if not data.startswith(_ZIP):
        raise ModelError(f"{path}: not a model file of arborescence")
    try:
        packed = np.load(io.BytesIO(data), allow_pickle=False)
        arrays = {name: packed[name] for name in getattr(packed, "files", ())}
        header = json.loads(arrays.pop(_HEADER).tobytes())
    except _DAMAGES as error:
        raise ModelError(f"{path}: the file is damaged ({error})") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ModelError(f"{path}: not a model file of arborescence")
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelError(
            f"{path}: format version {version} is newer than {VERSION}, the newest that this "
            "version of arborescence reads; install a newer one"
        )
    return header, arrays


def expect(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    dtypes: tuple[DTypeLike, ...],
    shape: tuple[int, ...],
) -> NDArray[Any]:
    """Return the array of a model, or say what is wrong with it; -1 in `shape` is any length.

    >>> expect({"weights": np.ones(3)}, "weights", (np.float32,), (3,))
    Traceback (most recent call last):
      ...
    arborescence.errors.ModelError: array 'weights' is float64 (3,), not float32 (3,)
    """
    if name not in arrays:
        raise ModelError(f"array '{name}' is missing")
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(
        wanted in (-1, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if array.dtype not in dtypes or not fits:
        wanted = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise ModelError(f"array '{name}' is {array.dtype} {array.shape}, not {wanted} {shape}")
    return array


def expect_table(
    arrays: Mapping[str, NDArray[Any]], name: str, dtypes: tuple[DTypeLike, ...], width: int
) -> NDArray[Any]:
    """Return an array of hashed rows, whose number is a power of two, or say what is wrong.

    >>> expect_table({"weights": np.ones((3, 2))}, "weights", (np.float64,), 2)
    Traceback (most recent call last):
      ...
    arborescence.errors.ModelError: array 'weights' has 3 rows, not a power of two
    """
    table = expect(arrays, name, dtypes, (-1, width))
    rows = len(table)
    if not rows or rows & (rows - 1):
        raise ModelError(f"array '{name}' has {rows} rows, not a power of two")
    return table


def columns_of(header: Mapping[str, Any]) -> list[str]:
    """Return the columns that a model looks at, or say what is wrong with them."""
    columns = header.get("columns")
    if (
        not isinstance(columns, list)
        or not all(isinstance(column, str) for column in columns)
        or not can_be_looked_at(columns)
    ):
        raise ModelError(f"columns are {columns!r}, not some of {', '.join(COLUMNS)}")
    return columns


def labels_of(header: Mapping[str, Any]) -> list[str]:
    """Return the relations that a model can give, or say what is wrong with them."""
    labels = header.get("labels")
    if not isinstance(labels, list) or not all(map(_is_value, labels)):
        raise ModelError(f"labels are {labels!r}, not a list of values of CoNLL-U")
    return labels


def _is_value(label: object) -> bool:
    return isinstance(label, str) and re.fullmatch(r"[^\t\r\n]+", label) is not None


def is_unit(value: object) -> bool:
    """Tell whether something of a header is a positive number."""
    return isinstance(value, float) and 0 < value < np.inf


def units_of(header: Mapping[str, Any], count: int) -> list[float]:
    """Return what the integers of a model are multiples of, or say what is wrong with it."""
    units = header.get("units")
    if not isinstance(units, list) or len(units) != count or not all(map(is_unit, units)):
        raise ModelError(f"units are {units!r}, not {count} positive numbers")
    return units
