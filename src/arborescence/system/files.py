"""Open files for input, and write output files atomically."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import stat
import sys
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Errors that mean no room for a file: the disk is full, or a quota or a size limit is reached.
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BINARY: Final[int] = getattr(os, "O_BINARY", 0)  # Windows
_LONG_NAME: Final = 100  # bytes; file systems take 143 to 255, and a temporary name is longer
_unfinished: Final[set[Path]] = set()  # temporary files


@contextmanager
def opened(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[tuple[IO[bytes], str]]:
    """Open an input: a path, a file (left open), or "-"; yield it and its name for messages."""
    if source == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "is closed", "<stdin>")
        yield sys.stdin.buffer, "<stdin>"
    elif isinstance(source, (str, os.PathLike)):
        with Path(source).open("rb") as file:
            yield file, os.fspath(source)
    else:
        yield source, str(getattr(source, "name", "<stream>"))


@contextmanager
def writing(target: str | os.PathLike[str] | IO[bytes]) -> Iterator[IO[bytes]]:
    """Open an output: a path by `replacing` (compressed if ``.gz``), a file (left open), or "-"."""
    if target == "-":
        if sys.stdout is None:
            raise OSError(errno.EBADF, "is closed", "<stdout>")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif not isinstance(target, (str, os.PathLike)):
        yield target
    else:
        with replacing(target) as file:
            if Path(target).suffix.lower() != ".gz":
                yield file
            else:
                # No name and no time in the header, so the same content gives the same file.
                with gzip.GzipFile("", "wb", compresslevel=4, fileobj=file, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)


@contextmanager
def replacing(path: str | os.PathLike[str], rights: int | None = None) -> Iterator[IO[bytes]]:
    """Open a temporary file next to `path`, and rename it to `path` if the block succeeds.

    If the block raises, the temporary file is removed, and `path` is unchanged. A path that is no
    plain file (``/dev/stdout``, a pipe) is written directly. The file gets `rights`, less the
    umask: by default the rights of the file before, or 0o666.
    """
    target = Path(path)
    with suppress(FileNotFoundError, NotADirectoryError):
        target.stat()  # other errors are raised, for example for a symbolic link to itself
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    target = target.resolve()  # write through a symbolic link, as open() would
    if not target.parent.is_dir():  # name the folder, not the temporary file
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    keep = rights is None and target.exists()
    if rights is None:
        rights = target.stat().st_mode & 0o777 if keep else 0o666
    temporary = target.with_name(unfinished_name(target) + os.urandom(8).hex())
    _unfinished.add(temporary)
    try:
        # Never open an existing file of this name, nor the target of a link.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, rights)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if keep:
            temporary.chmod(rights)
        temporary.replace(target)
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            error.filename = os.fspath(target)  # Python's error does not name the file
        raise
    finally:
        temporary.unlink(missing_ok=True)
        _unfinished.discard(temporary)


def check_apart(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str]]) -> None:
    """Raise OptionError if an output is also an input: the same file, by any path or link.

    "-" is a standard stream, which a shell may have opened from a file. Of a folder, all treebanks
    are inputs.
    """
    written = _identity(target, sys.stdout)
    for source in chain.from_iterable(map(_files_of, sources)) if written else ():
        if _identity(source, sys.stdin) == written:
            output = "the standard output" if target == "-" else os.fspath(target)
            read = "the standard input" if source == "-" else os.fspath(source)
            clash = "is read, too" if output == read else f"and {read} are the same file"
            raise OptionError(
                f"{output} {clash}: writing would destroy the input; write into another file"
            )


def _files_of(source: str | os.PathLike[str]) -> Iterable[str | os.PathLike[str]]:
    with suppress(OSError, ValueError):  # no name of a file
        if source != "-" and Path(source).is_dir():
            return Path(source).glob("*.conllu*")
    return (source,)


def _identity(path: str | os.PathLike[str], stream: Any) -> tuple[int, int] | None:
    """Return a key that all names of a file share; None if there is no file, or no plain file."""
    with suppress(OSError, ValueError, AttributeError):  # no file; no stream, or not of a file
        status = os.fstat(stream.fileno()) if path == "-" else Path(path).stat()
        if stat.S_ISREG(status.st_mode):
            return status.st_dev, status.st_ino
    return None


def remove_unfinished() -> None:
    """Remove the temporary files of this process at its end."""
    for temporary in list(_unfinished):
        temporary.unlink(missing_ok=True)


def unfinished_name(target: Path) -> str:
    """Return the start of the names of `target`'s temporary files; 16 hexadecimal digits follow."""
    name = os.fsencode(target.name)
    short = target.name if len(name) <= _LONG_NAME else hashlib.sha256(name).hexdigest()
    return f".{short}."


def check_own(path: Path) -> None:
    """Raise PermissionError unless only this user or root can have made or changed a path.

    In a folder like ``/tmp``, everybody may write, but nobody can rename the files of others. On
    Windows, only whether the path is absolute is checked.
    """
    if not path.is_absolute():
        raise PermissionError(errno.EPERM, "is not an absolute path", str(path))
    if sys.platform == "win32":
        return
    real, me = path.resolve(), os.geteuid()
    for place in (path, *path.parents, real, *real.parents):
        status = place.lstat()
        mode = status.st_mode
        shared = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_of(status.st_gid, me))
        guarded = stat.S_ISLNK(mode) or (mode & stat.S_ISVTX and place not in (path, real))
        if status.st_uid not in (0, me) or (shared and not guarded):
            raise PermissionError(errno.EPERM, "can be changed by other users", str(place))


def _is_of(group: int, user: int) -> bool:
    """Return whether a group belongs to one user only; many systems make a group for each user."""
    import grp  # not on Windows
    import pwd

    with suppress(KeyError):
        entry, name = grp.getgrgid(group), pwd.getpwuid(user).pw_name
        return entry.gr_name == name and {*entry.gr_mem} <= {name}
    return False
