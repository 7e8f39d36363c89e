"""Processes that end in good order: on a signal, and when the one that started them has gone."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

from arborescence.system.files import remove_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Signals by which users, terminals and systems ask a process to stop; Windows has no SIGHUP.
STOPS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_TOGETHER: Final = 1.0  # seconds: a system that stops may send two signals at once


@contextmanager
def stoppable() -> Iterator[list[int]]:
    """Turn each signal of `STOPS` into KeyboardInterrupt for cleaning up; yield those that came.

    One within a second of another is not raised again: it would interrupt that. Signals that are
    ignored (`nohup`) or handled stay so, and all do in other threads than the main one.
    """
    came: list[int] = []
    raised = -_TOGETHER

    def stop(number: int, _frame: object) -> None:
        nonlocal raised
        came.append(number)
        if monotonic() - raised >= _TOGETHER:
            raised = monotonic()
            raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        untouched = (signal.SIG_DFL, signal.default_int_handler)
        before = {n: old for n in STOPS if (old := signal.getsignal(n)) in untouched}
    try:
        for number in before:
            signal.signal(number, stop)
        yield came
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def end_with(wait: Callable[[], object]) -> None:
    """End this process, without the files it has not finished, when `wait` returns or raises."""

    def end() -> None:
        with suppress(BaseException):
            wait()
        remove_unfinished()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
