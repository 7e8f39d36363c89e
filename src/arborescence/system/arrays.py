"""Read arrays of numbers from ``.npy`` and ``.npz`` files of unknown origin, safely.

NumPy reads the header. Unlike `numpy.load`, this module reads only real numbers, as many bytes as
the header states, and stored or deflated members of an ``.npz``. Other files raise the error of the
caller.
"""

from __future__ import annotations

import io
import math
import os
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.lib import format as npy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from arborescence.errors import ArborescenceError

_ZIP: Final = b"PK"
_LONGEST: Final = 10_000  # bytes before the numbers; NumPy takes no longer header either
#: The reader of each version's header. The third is for arrays with named fields, which are not
#: read here.
_HEADERS: Final = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
    (3, 0): npy.read_array_header_2_0,
}
_AT_ONCE: Final = 1 << 20  # bytes
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
# Limits on the unpacked size of an archive, so that a small file cannot fill the memory.
_ROOM: Final = 1 << 29
_ROOM_FOR_A_BYTE: Final = 16

# The errors that damaged input can cause.
_DAMAGES: Final = (
    ValueError,
    EOFError,
    OSError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


class _Complaint(NamedTuple):
    """The error class and the message for a file that cannot be read."""

    #: the error class
    error: type[ArborescenceError]
    #: the message
    text: str

    @contextmanager
    def made(self) -> Iterator[None]:
        """Turn all errors from damaged input into this error."""
        try:
            yield
        except _DAMAGES as fault:
            # Python's message about an archive may quote its whole content.
            why = str(fault)[:200] or type(fault).__name__
            raise self.error(f"{self.text}, or damaged ({why})") from fault


class Archive:
    """An open ``.npz`` file; each array is read on request."""

    def __init__(self, file: IO[bytes], complaint: _Complaint) -> None:
        self._complaint = complaint
        with complaint.made():
            self._zip = zipfile.ZipFile(file)
            members = self._zip.infolist()
            self._members = {info.filename.removesuffix(".npy"): info for info in members}
            if len(self._members) < len(members):
                raise ValueError("two of its members have the same name")
            self._room = max(_ROOM, _ROOM_FOR_A_BYTE * file.seek(0, os.SEEK_END))
        self.names = tuple(self._members)  # the names of all members, readable or not

    def read(self, name: str) -> NDArray[Any]:
        """Read one array. As in `read_array`."""
        info = self._members[name]
        with self._complaint.made():
            if info.flag_bits & _ENCRYPTED:
                raise ValueError(f"{name!r} is encrypted")
            if info.compress_type not in _METHODS:
                raise ValueError(
                    f"{name!r} is compressed by method {info.compress_type}, and only stored and "
                    "deflated members are read"
                )
            self._room -= info.file_size
            if self._room < 0:
                raise ValueError(f"it unpacks to more than {_ROOM >> 20} MB; save it uncompressed")
            with self._zip.open(info) as member:
                try:
                    return read_array(member, info.file_size)
                except ValueError as error:
                    raise ValueError(f"{name!r}: {error}") from error


@contextmanager
def opened(
    path: str | os.PathLike[str], error: type[ArborescenceError], what: str
) -> Iterator[NDArray[Any] | Archive]:
    """Open a file of arrays (the suffix does not matter); yield its array, or an `Archive`."""
    # Raises `error`, whose message begins with the path and says `what` was expected
    complaint = _Complaint(error, f"{path}: not {what}")
    with Path(path).open("rb") as file:
        beginning = file.peek(npy.MAGIC_LEN)
        if beginning.startswith(npy.MAGIC_PREFIX):
            with complaint.made():
                array = read_array(file)
            yield array
        elif beginning.startswith(_ZIP):
            yield Archive(file, complaint)
        else:
            raise error(complaint.text)


def read_array(file: IO[bytes], size: int | None = None) -> NDArray[Any]:
    """Read a native, contiguous array that ends the file; ValueError for any other file.

    If `size`, the number of bytes of the file, contradicts the header, the numbers are not read.
    Memory is taken for no more bytes than the file has.
    """
    start = io.BytesIO(file.read(_LONGEST))
    shape, by_columns, dtype = _header(start)
    length = math.prod(shape) * dtype.itemsize
    if size is not None and size > start.tell() + length:
        raise ValueError("longer than its header says")
    data = bytearray(start.read())
    while len(data) < length and (piece := file.read(min(length - len(data), _AT_ONCE))):
        data += piece
    if len(data) < length:
        raise ValueError("shorter than its header says")
    if len(data) > length or file.read(1):
        raise ValueError("longer than its header says")
    array = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if by_columns else "C")
    return np.require(array.astype(dtype.newbyteorder("="), copy=False), None, ["C", "A", "W"])


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape of an array, whether its columns are contiguous, and its type."""
    try:
        version = npy.read_magic(file)
    except ValueError as error:
        raise ValueError("not an array") from error
    if version not in _HEADERS:
        raise ValueError(f"of version {version[0]}, which is not known")
    try:
        shape, by_columns, dtype = _HEADERS[version](file, max_header_size=_LONGEST)
    except Exception as error:  # NumPy evaluates the header as a literal of Python
        raise ValueError(
            "its description is cut off or too long, makes no sense, or is that of no plain numbers"
        ) from error
    if dtype.kind not in "biuf":
        raise ValueError(f"of type {dtype}, not of real numbers")
    if any(type(count) is not int or count < 0 for count in shape):
        raise ValueError(f"of shape {shape}")
    return shape, by_columns, dtype
