"""Model files: NumPy arrays and a JSON header in one ``.npz`` file, without executable code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.errors import ModelError, brief
from arborescence.system.arrays import Archive, opened
from arborescence.system.files import replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: The format version that this library writes, and the newest version that it reads.
VERSION: Final = 1

_FORMAT: Final = "arborescence model"
_HEADER: Final = "header"
_WHAT: Final = "a model file of arborescence"


def save(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    compress: bool = True,
) -> None:
    """Write a model file atomically: a header of JSON values with ``kind``, and arrays."""
    text = json.dumps({"format": _FORMAT, "version": VERSION, **header}, ensure_ascii=False)
    packed = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    with replacing(path) as file:
        if compress:
            np.savez_compressed(file, allow_pickle=False, **packed)
        else:
            np.savez(file, allow_pickle=False, **packed)


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read header and arrays; ModelError if the file is missing or damaged, or no known model."""
    try:
        with opened(path, ModelError, _WHAT) as archive:
            if not isinstance(archive, Archive) or _HEADER not in archive.names:
                raise ModelError(f"{path}: not {_WHAT}")
            arrays = {name: archive.read(name) for name in archive.names}
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error
    try:
        header = json.loads(arrays.pop(_HEADER).tobytes())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: the header is damaged ({error})") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ModelError(f"{path}: not {_WHAT}")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ModelError(f"{path}: format version is {brief(version)}, which is invalid")
    if version > VERSION:
        raise ModelError(
            f"{path}: format version {brief(version)} is newer than {VERSION}, the newest "
            "that this version of arborescence reads; install a newer version"
        )
    return header, arrays
