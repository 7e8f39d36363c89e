"""NumPy's files from anywhere: plain numbers out of ``.npy`` and ``.npz``, and nothing else.

`numpy.load` reads more than numbers, and believes what a file says of itself. This reads what NumPy
writes for arrays of numbers (the format is that of `numpy.lib.format`): a description that a
regular expression understands, then exactly as many bytes as it speaks of; in an ``.npz``, members
that are stored or deflated. Anything else is an error of the one kind that the caller names.
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

    from arborescence.core.errors import ArborescenceError

_NPY: Final = b"\x93NUMPY"
_ZIP: Final = b"PK"
_LONGEST: Final = 10_000  # bytes of a description; NumPy reads no longer ones either
_AT_ONCE: Final = 1 << 20  # bytes
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
# How much an archive may unpack to: a small file must not fill the memory.
_ROOM: Final = 1 << 32
_ROOM_FOR_A_BYTE: Final = 64

_ITEM = re.compile(
    r"""\s*['"](descr|fortran_order|shape)['"]\s*:\s*"""
    r"""(?:['"]([^'"]*)['"]|(True|False)|\(([^()]*)\))\s*(?:,|(?=\}))\s*"""
)
_DTYPE = re.compile(r"[<>|=]?[biuf]\d{1,2}")
_NUMBERS = re.compile(r"[\d\s,L]*")  # Python 2 wrote 3 as 3L

# What reading raises where the bytes are not those of arrays.
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
    """What is said of a file that cannot be read."""

    error: type[ArborescenceError]
    text: str

    @contextmanager
    def made(self) -> Iterator[None]:
        """Turn what reading raises into one error."""
        try:
            yield
        except _DAMAGES as fault:
            # What Python says of an archive may quote all that is in it.
            why = str(fault)[:200] or type(fault).__name__
            raise self.error(f"{self.text}, or damaged ({why})") from fault


class Archive:
    """The arrays of an open ``.npz`` file, each of them read when it is asked for.

    Attributes
    ----------
    names : tuple of str
        What there is, be it readable or not.
    """

    def __init__(self, file: IO[bytes], complaint: _Complaint) -> None:
        self._complaint = complaint
        with complaint.made():
            self._zip = zipfile.ZipFile(file)
            members = self._zip.infolist()
            self._members = {info.filename.removesuffix(".npy"): info for info in members}
            if len(self._members) < len(members):
                raise ValueError("two of its members have the same name")
            self._room = max(_ROOM, _ROOM_FOR_A_BYTE * file.seek(0, os.SEEK_END))
        self.names = tuple(self._members)

    def read(self, name: str) -> NDArray[Any]:
        """Return one of the arrays, as `read_array` does."""
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
                raise ValueError(f"it unpacks to more than {_ROOM >> 30} GB; save it uncompressed")
            with self._zip.open(info) as member:
                try:
                    return read_array(member)
                except ValueError as error:
                    raise ValueError(f"{name!r}: {error}") from error


@contextmanager
def opened(
    path: str | os.PathLike[str], error: type[ArborescenceError], what: str
) -> Iterator[NDArray[Any] | Archive]:
    """Open a file of arrays.

    Parameters
    ----------
    path
        A ``.npy`` or ``.npz`` file, whatever its name.
    error
        What to raise where the file is something else or damaged; the message begins with the path.
    what
        What messages say that a file should be.

    Yields
    ------
    array or Archive
        What is in an ``.npy`` file; of an ``.npz`` file, what reads its arrays.

    Raises
    ------
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from arborescence.core.errors import ScoresError
    >>> path = Path(tempfile.mkdtemp()) / "scores.npz"
    >>> np.savez(path, scores=np.zeros((2, 2)))
    >>> with opened(path, ScoresError, "a file of scores") as content:
    ...     content.names, content.read("scores").shape
    (('scores',), (2, 2))
    """
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


def read_array(file: IO[bytes]) -> NDArray[Any]:
    """Read an array of numbers, and nothing after it, from an open ``.npy`` file.

    Returns
    -------
    array
        In the machine's own byte order, C-contiguous, aligned and writeable.

    Raises
    ------
    ValueError
        If it is anything else, or shorter or longer than it says.
    """
    if file.read(len(_NPY)) != _NPY:
        raise ValueError("not an array")
    version = _read(file, 2)[0]
    if version not in (1, 2, 3):
        raise ValueError(f"of version {version}, which is not known")
    [length] = struct.unpack(*(("<H", _read(file, 2)) if version == 1 else ("<I", _read(file, 4))))
    if length > _LONGEST:
        raise ValueError("its description is too long")
    shape, dtype, order = _understood(_read(file, length).decode("latin-1").strip())
    data = _read(file, math.prod(shape) * dtype.itemsize)
    if file.read(1):
        raise ValueError("longer than it says")
    array = np.frombuffer(data, dtype=dtype).reshape(shape, order=order)
    return np.require(array.astype(dtype.newbyteorder("="), copy=False), None, ["C", "A", "W"])


def _understood(text: str) -> tuple[tuple[int, ...], np.dtype[Any], Literal["C", "F"]]:
    """Return shape, type and order of an array that is so described."""
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
    """Read so many bytes; only as much memory is taken as there are."""
    data = bytearray()
    while len(data) < size:
        piece = file.read(min(size - len(data), _AT_ONCE))
        if not piece:
            raise ValueError("shorter than it says")
        data += piece
    return data
