"""Read arrays of numbers from ``.npy`` and ``.npz`` files of unknown origin, safely.

Unlike `numpy.load`: only a header that matches a regular expression, then exactly as many bytes as
it states; members of an ``.npz`` stored or deflated. Else the caller's error.
"""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from arborescence.errors import ArborescenceError

_NPY: Final = b"\x93NUMPY"
_ZIP: Final = b"PK"
_LONGEST: Final = 10_000  # bytes of a header; the same limit as in NumPy
_AT_ONCE: Final = 1 << 20  # bytes
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
# Limits on the unpacked size of an archive, so that a small file cannot fill the memory.
_ROOM: Final = 1 << 29
_ROOM_FOR_A_BYTE: Final = 16

_ITEM = re.compile(
    r"""\s*['"](descr|fortran_order|shape)['"]\s*:\s*"""
    r"""(?:['"]([^'"]*)['"]|(True|False)|\(([^()]*)\))\s*(?:,|(?=\}))\s*"""
)
_DTYPE = re.compile(r"[<>|=]?[biuf]\d{1,2}")
_NUMBERS = re.compile(r"[\d\s,L]*")  # Python 2 wrote 3 as 3L

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

    error: type[ArborescenceError]
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
        beginning = file.peek(len(_NPY))
        if beginning.startswith(_NPY):
            with complaint.made():
                array = read_array(file)
            yield array
        elif beginning.startswith(_ZIP):
            yield Archive(file, complaint)
        else:
            raise error(complaint.text)


def read_array(file: IO[bytes], size: int | None = None) -> NDArray[Any]:
    """Read a native, contiguous array that ends the file."""
    # ValueError if the file is another kind. With its `size`, nothing is read if the header says
    # otherwise
    if file.read(len(_NPY)) != _NPY:
        raise ValueError("not an array")
    version = _read(file, 2)[0]
    if version not in (1, 2, 3):
        raise ValueError(f"of version {version}, which is not known")
    [length] = struct.unpack(*(("<H", _read(file, 2)) if version == 1 else ("<I", _read(file, 4))))
    if length > _LONGEST:
        raise ValueError("its description is too long")
    shape, dtype, order = _understood(_read(file, length).decode("latin-1").strip())
    length = math.prod(shape) * dtype.itemsize
    if size is not None and size > file.tell() + length:
        raise ValueError("longer than it says")
    data = _read(file, length)
    if file.read(1):
        raise ValueError("longer than it says")
    array = np.frombuffer(data, dtype=dtype).reshape(shape, order=order)
    return np.require(array.astype(dtype.newbyteorder("="), copy=False), None, ["C", "A", "W"])


def _understood(text: str) -> tuple[tuple[int, ...], np.dtype[Any], Literal["C", "F"]]:
    """Return shape, dtype and order from the text of a header."""
    found: dict[str, str] = {}
    place = 1
    while item := _ITEM.match(text, place):
        found[item[1]] = item[item.lastindex or 0]
        place = item.end()
    descr, order, shape = (found.get(name, "?") for name in ("descr", "fortran_order", "shape"))
    if text[:1] + text[place:] != "{}" or order not in ("True", "False"):
        raise ValueError("its description makes no sense, or is that of no plain numbers")
    if not _DTYPE.fullmatch(descr):
        raise ValueError(f"of type {descr!r}, not of real numbers")
    if not _NUMBERS.fullmatch(shape):
        raise ValueError(f"of shape ({shape})")
    try:
        dtype = np.dtype(descr)
    except TypeError as error:
        raise ValueError(f"of type {descr!r}, which is not known") from error
    lengths = tuple(map(int, re.findall(r"\d+", shape)))
    return lengths, dtype, "F" if order == "True" else "C"


def _read(file: IO[bytes], size: int) -> bytearray:
    """Read `size` bytes; allocates no more memory than the file has bytes."""
    data = bytearray()
    while len(data) < size:
        piece = file.read(min(size - len(data), _AT_ONCE))
        if not piece:
            raise ValueError("shorter than it says")
        data += piece
    return data
