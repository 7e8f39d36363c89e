"""Compile all kernels that Python calls, ahead and in several processes."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from arborescence.compiling import native
from arborescence.compiling.signatures import as_types, declared
from arborescence.errors import ArborescenceError
from arborescence.system.workers import Failure, in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence


def warmup(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Compile every kernel and keep it on disk, once for all later processes.

    This takes some minutes the first time, and a second when everything is already compiled. If no
    folder can be written, the kernels are compiled for this process. With native modules, or with
    an unknown version of Numba, there is nothing to compile ahead.

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
    from arborescence.compiling import plain

    if not plain.is_known():  # nothing could be kept
        return
    from arborescence.compiling.digests import size
    from arborescence.compiling.jit import Kernel
    from arborescence.compiling.kept import can_be_written

    tasks = [task for task in _tasks() if isinstance(task.kernel(), Kernel)]
    missing = [task for task in tasks if not task.kernel().entry.is_kept(task.types())]
    missing.sort(key=lambda task: size(task.kernel().entry), reverse=True)
    compile_all = _in_processes if can_be_written() and sys.executable else _here
    kept_count = len(tasks) - len(missing)
    with closing(compile_all(missing)) as steps:
        for done, _ in enumerate(steps, kept_count):
            if progress:
                progress("compiling kernels", done, len(tasks))


class _Task(NamedTuple):
    """A kernel to compile for one combination of types."""

    #: the full name of the kernel's module
    module: str
    #: the kernel's name
    function: str
    #: the types of its arguments
    signature: str
    #: the index of the combination of types, if the signature stands for several
    choice: int

    def kernel(self) -> Any:
        return getattr(import_module(self.module), self.function)

    def types(self) -> tuple[Any, ...]:
        return as_types(self.signature)[self.choice]


def _tasks() -> Iterator[_Task]:
    for export in declared():
        for signature in export.signatures:
            for choice in range(len(as_types(signature))):
                yield _Task(export.module, export.function, signature, choice)


def _here(tasks: Sequence[_Task]) -> Generator[None]:
    """Compile in this process; yield before each kernel and at the end."""
    yield
    for task in tasks:
        _compile(task)
        yield


def _in_processes(tasks: Sequence[_Task]) -> Generator[None]:
    """Compile in a process for each core; yield before the first kernel and after each kernel."""
    yield
    for task, result in in_processes(_compiler, tasks, os.cpu_count() or 1):
        if isinstance(result, Failure):
            raise ArborescenceError(f"compiling {task.module}.{task.function}: {result.reason}")
        yield


def _compiler() -> Callable[[_Task], None]:
    """Make the job of a process."""
    os.environ["ARBORESCENCE_QUIET"] = "1"
    return _compile


def _compile(task: _Task) -> None:
    task.kernel().entry.compile(task.types())
