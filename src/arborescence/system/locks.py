"""Let one process at a time do something."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_PAUSE: Final = 0.05  # seconds between two looks
_CAUTION: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def alone(
    path: Path, number: int, patience: float, say_waiting: Callable[[], object]
) -> Iterator[None]:
    """Wait until no other process is in here with this path and number."""
    # The lock of a process ends with it. Where the file cannot be written, nobody waits
    # path: a file for locks. It remains as it is, or empty.
    # number: those with other numbers do not wait for each other. In one process, only one thread
    # may be in here with the same path.
    # patience: seconds after which to go on nevertheless
    # say_waiting: called after a second of waiting
    try:
        # Neither is a link followed, nor a file emptied, nor a reader of a pipe waited for.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CAUTION, 0o666)
    except OSError:
        yield
        return
    with os.fdopen(handle, "ab") as file:
        start = time.monotonic()
        said = False
        while not _locked(file, number) and (waited := time.monotonic() - start) < patience:
            if waited >= 1 and not said:
                said = True
                say_waiting()
            time.sleep(_PAUSE)
        yield


def _locked(file: IO[bytes], number: int) -> bool:
    """Lock one byte of the file, unless another process has done so."""
    if sys.platform == "win32":  # there, nobody waits
        return True
    with suppress(BlockingIOError, PermissionError):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        return True
    return False
