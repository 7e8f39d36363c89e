"""Run a job on many items in several processes: if one dies, another does its item again.

`concurrent.futures` gives up all items when one of its processes dies, and does not say which item
that one had. So each process here has a pipe of its own, and one item at a time.

Processes are spawned, not forked: a fork copies the locks of all threads (of Rich, of BLAS, of a
caller's own), but not the threads that would release them, and may then wait for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter, deque
from contextlib import contextmanager, suppress
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from arborescence.core.errors import ArborescenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES: Final = 3  # an item whose processes were killed so often is given up
_PATIENCE: Final = 10.0  # seconds that a process has to clean up after itself

#: One thread a process: threads of BLAS would be in each other's way. And no module is looked for
#: in the current folder, as it is by `python -c`, which begins a process.
_SETTINGS: Final = {"PYTHONSAFEPATH": "1"} | dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class Failure(NamedTuple):
    """What stands in place of a result: why there is none."""

    reason: str


def in_processes(
    make: Callable[[], Callable[[Item], Result]],
    items: Sequence[Item],
    workers: int,
    died: Callable[[Item], object] = lambda _item: None,
) -> Iterator[tuple[Item, Result | Failure]]:
    """Run a job on each item, in processes, and yield what comes back, in any order.

    Parameters
    ----------
    make
        Called once in each process, makes the job: a function of an item. Must be picklable, as
        items and results.
    items
        The work, in the order in which it is begun.
    workers
        The number of processes.
    died
        Called with the item of a process that was killed, before another does it again.

    Yields
    ------
    item, result
        Each item once. An error of the job, or the death of three processes over the same item,
        gives a `Failure` as the result; the others go on.

    Raises
    ------
    ArborescenceError
        If `make` fails, or processes die in it.
    """
    waiting = deque(range(len(items)))
    deaths: Counter[int] = Counter()
    team: dict[Connection, _Worker] = {}
    try:
        while waiting or team:
            busy = sum(worker.item is not None for worker in team.values())
            while len(team) < min(workers, len(waiting) + busy):
                worker = _Worker(make)
                team[worker.pipe] = worker
            ready = set(connection.wait(list(team)))
            for worker in [each for pipe, each in team.items() if pipe in ready]:
                item = worker.item
                try:
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    del team[worker.pipe]
                    worker.process.join()
                    key = -1 if item is None else item
                    deaths[key] += 1
                    if item is not None:
                        died(items[item])
                    if deaths[key] < _TRIES:
                        if item is not None:
                            waiting.append(item)
                    elif item is None:
                        raise ArborescenceError(
                            f"processes die while they start ({worker.fate()}): not enough memory?"
                        ) from None
                    else:
                        yield (
                            items[item],
                            Failure(
                                f"{_TRIES} processes died over it ({worker.fate()}): "
                                "not enough memory?"
                            ),
                        )
                    continue
                if item is None and isinstance(answer, Failure):
                    raise ArborescenceError(answer.reason)
                worker.item = None
                if waiting:
                    worker.begin(waiting.popleft(), items)
                else:
                    del team[worker.pipe]
                    worker.pipe.close()  # it ends when it finds that
                if item is not None:
                    yield items[item], answer
    finally:
        for worker in team.values():
            worker.process.terminate()
        for worker in team.values():
            worker.process.join(_PATIENCE)
            worker.process.kill()


class _Worker:
    """A process as its parent sees it: its pipe, and the number of the item that it works on."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.item: int | None = None
        self.process = context.Process(target=_work, args=(make, theirs), daemon=True)
        with _settings_of_workers():
            self.process.start()
        theirs.close()  # so that the pipe ends with the process

    def begin(self, number: int, items: Sequence[Any]) -> None:
        self.item = number
        with suppress(OSError):  # it has died: recv finds that
            self.pipe.send(items[number])

    def fate(self) -> str:
        code = self.process.exitcode
        with suppress(ValueError):
            return signal.Signals(-(code or 0)).name
        return f"exit status {code}"


@contextmanager
def _settings_of_workers() -> Iterator[None]:
    """Apply the settings from a process's first moment, and leave Ctrl-C to its parent."""
    before = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    posix = sys.platform != "win32"
    if posix:
        old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if posix:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def told(error: Exception) -> str:
    """Say what is wrong, in one line; name the type of an error that is not ours."""
    if isinstance(error, ArborescenceError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"


def _work(make: Callable[[], Callable[[Any], Any]], pipe: Connection) -> None:
    """Do what comes through the pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        job = make()
    except Exception as error:
        pipe.send(Failure(told(error)))
        return
    answer: Any = None  # ready
    with suppress(EOFError, BrokenPipeError):
        while True:
            pipe.send(answer)
            item = pipe.recv()
            try:
                answer = job(item)
            except Exception as error:
                answer = Failure(told(error))
    # All files are finished. The parent, when it ends, stops those that have not ended yet.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(_number: int, _frame: object) -> None:
    """End in an orderly way, so that unfinished files are removed."""
    raise SystemExit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101
    connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
