"""Run a job on many items in several processes: if one dies, another does its item again.

`concurrent.futures` gives up all items then. So each process has a pipe of its own, and one item at
a time. Processes are spawned: a fork copies locks, but not the threads that would release them.
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

_TRIES: Final = 3  # an item whose processes were killed so often is given up
#: Seconds after which to look for a signal: it does not end a wait that another thread has taken it
#: from, or that had not quite begun.
_LOOK: Final = 1.0
_PATIENCE: Final = 10.0  # seconds that a process has to clean up after itself

#: What tells BLAS, PyTorch and Numba how many threads a process may have.
_THREADS: Final = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class Failure(NamedTuple):
    """What stands in place of a result: why there is none."""

    reason: str


def in_processes(
    # called once in each process, makes the job: a function of an item. Must be picklable, as items
    # and results.
    make: Callable[[], Callable[[Item], Result]],
    items: Sequence[Item],  # the work, in the order in which it is begun
    workers: int,  # the number of processes
    # called with the item of a process that was killed, before another does it again
    died: Callable[[Item], object] = lambda _item: None,
    # how many threads a process may have: more than cores would be in each other's way
    threads: int = 1,
) -> Generator[tuple[Item, Result | Failure]]:
    """Run a job on each item, in processes, and yield the results in any order.

    A job's error, or three deaths over an item, gives a `Failure`. ArborescenceError if `make`
    fails or if processes die in it. All processes have ended before this generator returns.
    """
    waiting = deque(range(len(items)))
    deaths: Counter[int] = Counter()
    team: dict[Connection, _Worker] = {}
    done: list[_Worker] = []
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
                    done.append(team.pop(worker.pipe))
                    worker.pipe.close()  # it ends when it finds that
                if item is not None:
                    yield items[item], answer
    finally:
        for pipe in team:
            pipe.close()  # its process ends when it finds that
        end = monotonic() + _PATIENCE
        try:
            for worker in (*done, *team.values()):
                worker.process.join(max(0.0, end - monotonic()))
        finally:
            for worker in (*done, *team.values()):
                worker.process.kill()
                worker.process.join()


class _Worker:
    """A process as its parent sees it: its pipe, and the number of the item that it works on."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.item: int | None = None
        self.process = context.Process(target=_work, args=(make, theirs), daemon=True)
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
def _settings_of_workers(threads: int) -> Iterator[None]:
    """Let new processes have so many threads, and leave the signals of `STOPS` to this one."""
    # They import neither the main script nor what is in the current folder (`python -c` would)
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
            resource_tracker.ensure_running()  # it would start later, and let signals through again
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


def told(error: Exception) -> str:
    """Say what is wrong, in one line; name the type of an error that is not ours."""
    if isinstance(error, ArborescenceError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"


def _work(make: Callable[[], Callable[[Any], Any]], pipe: Connection) -> None:
    """Do what comes through the pipe; end, whatever is under way, when the parent closes it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    items: SimpleQueue[Any] = SimpleQueue()

    def listen() -> NoReturn:
        while True:
            items.put(pipe.recv())

    def tell(answer: Any) -> None:
        with suppress(OSError):  # the parent has gone: so will this process
            pipe.send(answer)

    try:
        end_with(listen)
        job = make()
    except Exception as error:
        tell(Failure(told(error)))
        return
    answer: Any = None  # ready
    while True:
        tell(answer)
        try:
            answer = job(items.get())
        except Exception as error:
            answer = Failure(told(error))
