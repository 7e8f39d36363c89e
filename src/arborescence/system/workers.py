"""Run a job on many items in several processes: if a process dies, another repeats its item.

If a process dies, `concurrent.futures` gives up all items. So here each process has its own pipe,
and one item at a time. Processes are spawned: a fork copies locks, but not the threads that would
release them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import Counter, deque
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from queue import SimpleQueue
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeVar

from arborescence.errors import ArborescenceError
from arborescence.system.processes import STOPS, end_with

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES: Final = 3  # an item is given up after this number of killed processes
#: Seconds after which to look for a signal: a signal does not end a wait if another thread received
#: the signal, or if it came just before the wait.
_LOOK: Final = 1.0
_PATIENCE: Final = 10.0  # seconds for the cleanup of a process

#: The environment variables that limit the threads of BLAS, PyTorch and Numba.
_THREADS: Final = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class Failure(NamedTuple):
    """The reason for a missing result, in place of the result."""

    #: the reason, in one line
    reason: str


def in_processes(
    # makes the job, a function of an item; is called once in each process. `make`, the items and
    # the results must be picklable.
    make: Callable[[], Callable[[Item], Result]],
    items: Sequence[Item],  # the work, in the order in which it is begun
    workers: int,  # the number of processes
    # called with the item of a process that was killed, before another process repeats the item
    died: Callable[[Item], object] = lambda _item: None,
    # the number of threads of a process: more threads than cores would slow each other down
    threads: int = 1,
) -> Generator[tuple[Item, Result | Failure]]:
    """Run a job on each item, in processes, and yield the results in any order.

    A job's error, or three deaths over an item, gives a `Failure`. ArborescenceError if `make`
    fails or if processes die in it. All processes have ended before this generator returns.
    """
    waiting = deque(range(len(items)))
    deaths: Counter[int] = Counter()
    team: dict[Connection, _Worker] = {}
    finished: list[_Worker] = []
    try:
        while waiting or team:
            busy = sum(worker.item is not None for worker in team.values())
            while len(team) < min(workers, len(waiting) + busy):
                with _settings_of_workers(threads):
                    worker = _Worker(make)
                    team[worker.pipe] = worker
            ready = set(connection.wait(list(team), _LOOK))
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
                                f"{_TRIES} processes that worked on it died ({worker.fate()}): "
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
                    finished.append(team.pop(worker.pipe))
                    worker.pipe.close()  # then the process ends
                if item is not None:
                    yield items[item], answer
    finally:
        for pipe in team:
            pipe.close()  # then its process ends
        end = monotonic() + _PATIENCE
        try:
            for worker in (*finished, *team.values()):
                worker.process.join(max(0.0, end - monotonic()))
        finally:
            for worker in (*finished, *team.values()):
                worker.process.kill()
                worker.process.join()


class _Worker:
    """A process, as its parent sees it: the pipe to it, and the number of its current item."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, pipe_of_process = context.Pipe()
        self.item: int | None = None
        self.process = context.Process(target=_work, args=(make, pipe_of_process), daemon=True)
        self.process.start()
        pipe_of_process.close()  # then the pipe ends with the process

    def begin(self, number: int, items: Sequence[Any]) -> None:
        """Send an item to the process."""
        self.item = number
        with suppress(OSError):  # the process has died: recv will raise
            self.pipe.send(items[number])

    def fate(self) -> str:
        """Return the signal or the exit status that ended the process."""
        code = self.process.exitcode
        with suppress(ValueError):
            return signal.Signals(-(code or 0)).name
        return f"exit status {code}"


@contextmanager
def _settings_of_workers(threads: int) -> Iterator[None]:
    """Give new processes this number of threads, and handle `STOPS` only in this process."""
    # New processes import neither the main script nor modules of the current folder (`python -c`)
    settings = {**dict.fromkeys(_THREADS, str(threads)), "PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in settings}
    main = sys.modules["__main__"]
    posix = sys.platform != "win32"
    if posix:
        old = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        os.environ.update(settings)
        sys.modules["__main__"] = ModuleType("__main__")
        if posix:
            resource_tracker.ensure_running()  # if it started later, it would unblock the signals
            signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        yield
    finally:
        sys.modules["__main__"] = main
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if posix:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)


def error_line(error: Exception) -> str:
    """Return an error as one line; with its type if it is not an error of this package."""
    if isinstance(error, ArborescenceError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"


def _work(make: Callable[[], Callable[[Any], Any]], pipe: Connection) -> None:
    """Do each item that comes through the pipe; end at once when the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    items: SimpleQueue[Any] = SimpleQueue()

    def listen() -> NoReturn:
        while True:
            items.put(pipe.recv())

    def tell(answer: Any) -> None:
        with suppress(OSError):  # the parent has ended: this process will end, too
            pipe.send(answer)

    try:
        end_with(listen)
        job = make()
    except Exception as error:
        tell(Failure(error_line(error)))
        return
    answer: Any = None  # ready
    while True:
        tell(answer)
        try:
            answer = job(items.get())
        except Exception as error:
            answer = Failure(error_line(error))
