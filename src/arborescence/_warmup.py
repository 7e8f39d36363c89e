"""Compile all kernels that Python calls, ahead and in several processes.

By itself, ``python -m arborescence._warmup`` is one of these processes: for each line that it
reads, it compiles a kernel, and answers with a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from arborescence.core import native
from arborescence.core.signatures import as_types, declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def warmup(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Compile every kernel and keep it on disk, once for all later processes.

    Takes some minutes the first time, and a second when everything is already compiled. Where
    nothing can be kept, the kernels are compiled for this process. With native modules there is
    nothing to compile.

    Parameters
    ----------
    progress
        Called as ``progress(what, done, total)`` after each kernel.

    Examples
    --------
    >>> import arborescence as arb
    >>> arb.warmup()  # doctest: +SKIP
    """
    if native.KERNELS is not None:
        return
    from arborescence.core.digests import size
    from arborescence.core.jit import Kernel
    from arborescence.core.kept import can_be_written

    tasks = [task for task in _tasks() if isinstance(task.kernel(), Kernel)]
    missing = [task for task in tasks if not task.kernel().is_kept(task.types())]
    missing.sort(key=lambda task: size(task.kernel()), reverse=True)
    compile_all = _in_processes if can_be_written() and sys.executable else _here
    kept = len(tasks) - len(missing)
    for done, _ in enumerate(compile_all(missing), kept):
        if progress:
            progress("compiling kernels", done, len(tasks))


class _Task(NamedTuple):
    """A kernel to compile for one combination of types."""

    module: str
    function: str
    signature: str
    choice: int
    """Which of the combinations that the signature stands for."""

    def kernel(self) -> Any:
        return getattr(import_module(self.module), self.function)

    def types(self) -> tuple[Any, ...]:
        return as_types(self.signature)[self.choice]


def _tasks() -> Iterator[_Task]:
    for export in declared():
        for signature in export.signatures:
            for choice in range(len(as_types(signature))):
                yield _Task(export.module, export.function, signature, choice)


def _here(tasks: Sequence[_Task]) -> Iterator[None]:
    """Compile in this process; yield before each kernel and at the end."""
    yield
    for task in tasks:
        task.kernel().compile(task.types())
        yield


def _in_processes(tasks: Sequence[_Task]) -> Iterator[None]:
    """Compile in one process for each core; yield before the first kernel and after each."""
    yield
    path = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {
        **os.environ,
        "ARBORESCENCE_QUIET": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),  # an empty one is the current folder
    }
    command = [sys.executable, "-P", "-m", "arborescence._warmup"]
    jobs = min(os.cpu_count() or 1, len(tasks))
    if not jobs:
        return
    with ExitStack() as stack:
        idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        for _ in range(jobs):
            worker = subprocess.Popen(  # noqa: S603
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            idle.put(stack.enter_context(worker))

        def compile_one(task: _Task) -> None:
            worker = idle.get()
            try:
                print(json.dumps(task), file=worker.stdin, flush=True)
                if not worker.stdout or not worker.stdout.readline():
                    raise RuntimeError(f"compiling {task.module}.{task.function} failed")
            finally:
                idle.put(worker)

        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        for done in as_completed([pool.submit(compile_one, task) for task in tasks]):
            done.result()
            yield


def _work() -> None:
    for line in sys.stdin:
        task = _Task(*json.loads(line))
        task.kernel().compile(task.types())
        print("compiled", flush=True)  # noqa: T201


if __name__ == "__main__":
    _work()
