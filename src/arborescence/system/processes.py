"""Processes that end cleanly: on a signal, and when the process that started them has ended."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO, TYPE_CHECKING, Final

from arborescence.system.files import remove_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import CodeType, FrameType

#: Signals by which users, terminals and systems ask a process to stop; Windows has no SIGHUP.
STOPS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
#: The signal that repeats a signal that could not be raised at once; Windows does not have it.
_ALARM: Final = [signal.SIGALRM] if hasattr(signal, "SIGALRM") else []
#: Callbacks of Python's weak references: an import's lock, or an entry of a dictionary, is deleted.
_CALLBACKS: Final = {
    *((module, "cb") for module in ("importlib._bootstrap", "_frozen_importlib")),
    *((module, name) for module in ("weakref", "_weakrefset") for name in ("remove", "_remove")),
    ("weakref", "__call__"),
}
_TOGETHER: Final = 1.0  # seconds: a system that stops may send two signals at once
_SOON: Final = 0.01  # seconds


@contextmanager
def stoppable(work: CodeType) -> Iterator[list[int]]:
    """Raise KeyboardInterrupt for signals of `STOPS` within a function; yield all such signals.

    So the work is cleaned up. Before the work begins and after it ends, nothing would catch the
    exception, so none is raised. A signal within a second of another is not raised again: it would
    interrupt the cleaning. The work itself checks whether a signal came before. Signals that are
    ignored (`nohup`) or handled stay so; so do all signals in other threads than the main thread.
    """
    came: list[int] = []
    raised = -_TOGETHER

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        if number in STOPS:
            came.append(number)
            if monotonic() - raised < _TOGETHER:
                return
            raised = monotonic()
        frames = list(_with_callers(frame))
        if not any(each.f_code is work for each in frames):
            return
        # Python ignores errors in a generator that ends because it is deleted.
        deleted = isinstance(sys.exc_info()[1], GeneratorExit)
        if has_alarm and (deleted or any(map(_must_go_on, frames))):
            signal.setitimer(signal.ITIMER_REAL, _SOON)
            return
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        untouched = (signal.SIG_DFL, signal.default_int_handler)
        before = {n: old for n in [*STOPS, *_ALARM] if (old := signal.getsignal(n)) in untouched}
    has_alarm = any(number in before for number in _ALARM)
    try:
        for number in before:
            signal.signal(number, stop)
        yield came
    finally:
        if has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, old in before.items():
            signal.signal(number, old)


def _with_callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame, then the frame that called it, and so on."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _must_go_on(frame: FrameType) -> bool:
    """Tell whether a frame must not raise: Python ignores errors in finalizers, LLVM crashes."""
    name, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
    return name == "__del__" or (module, name) in _CALLBACKS or module.startswith("llvmlite.")


def end_with(wait: Callable[[], object]) -> None:
    """End this process, and remove its unfinished files, when `wait` returns or raises."""

    def end() -> None:
        with suppress(BaseException):
            wait()
        remove_unfinished()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


if sys.platform != "win32":
    import fcntl

_PAUSE: Final = 0.05  # seconds between two tries
_CAUTION: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def alone(
    path: Path, number: int, patience: float, say_waiting: Callable[[], object]
) -> Iterator[None]:
    """Wait until no other process is in here with this path and number.

    The lock of a process ends with the process. If the file cannot be written, no process waits.

    - path: a file for locks. It remains as it is, or empty.
    - number: processes with other numbers do not wait for each other. In one process, only one
      thread may be in here with the same path.
    - patience: seconds after which to go on nevertheless
    - say_waiting: called after a second of waiting
    """
    try:
        # This does not follow a link, empty a file, or wait for the reader of a pipe.
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
    """Lock one byte of the file, unless another process has locked it."""
    if sys.platform == "win32":  # on Windows, no process waits
        return True
    with suppress(BlockingIOError, PermissionError):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        return True
    return False
