"""Progress on stderr: bars on a terminal, occasional plain lines in a pipe, or nothing; results."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from arborescence.errors import ArborescenceWarning, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
EVERY: Final = 64  # number of items between two updates
PATIENCE: Final = 30.0  # maximum seconds without a line, in a pipe


@contextmanager
def steps(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows how far each step is."""
    # ``step(what, done, total)``, 0 if not known. What follows a colon may change while the step
    # remains: "epoch 3", then "epoch 3: LAS 85.9"
    if quiet:
        yield lambda _what, _done, _total: None
    elif sys.stderr.isatty():
        with _bars() as step:
            yield step
    else:
        yield Lines()


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks = {}

        def step(what: str, done: int, total: int) -> None:
            name = what.partition(":")[0]
            if name not in tasks:
                tasks[name] = bars.add_task(what, total=None, count="")
            bars.update(
                tasks[name],
                description=what,
                completed=done,
                total=total or None,
                count=_count(done, total),
            )

        yield step


class Lines:
    """Steps as plain lines, each with the time since the beginning: for pipes and logs."""

    # A step has a line when it is done, and where what follows its colon changes. One inside
    # another, or without a known total, has lines only where nothing else was said for half a
    # minute

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._write = write or _to_stderr
        self._clock = clock
        self._begun = self._last = clock()
        self._open: list[str] = []  # unfinished steps, each nested in the previous one
        self._said: dict[str, str] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note of how far a step is, and write a line if that is worth one."""
        now = self._clock()
        name, _, more = what.partition(":")
        known = name in self._open
        if not known and total:
            self._open.append(name)
        inside = name in self._open[1:]
        changed = bool(more) and self._said.get(name) != what
        ended = known and done == total
        if ended:
            self._open.remove(name)
        if (not inside and total and (changed or ended)) or now - self._last >= PATIENCE:
            time = timedelta(seconds=int(now - self._begun))
            count = "" if ended else f"  {_count(done, total)}"
            self._write(f"{time}  {what}{count}")
            self._last = now
            self._said[name] = what


def counted(
    items: Iterable[Item], what: str, *, printed: bool, quiet: bool = False
) -> Iterator[Item]:
    """Pass the items on and count them, unless they are printed on the same terminal."""
    if printed and sys.stdout.isatty():
        yield from items
        return
    with steps(quiet=quiet) as step:
        done = 0
        for done, item in enumerate(items, 1):
            yield item
            if done % EVERY == 0:
                step(what, done, 0)
        step(what, done, done)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Let warnings of this library be lines on stderr, each once; others are left alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ArborescenceWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ArborescenceWarning):
                note(f"arborescence: {printable(str(message))}")
            else:
                others(message, category, *where, **more)

        warnings.showwarning = show
        yield


def note(line: str, *, quiet: bool = False) -> None:
    """Say on stderr what a command has done, and where the result is."""
    if not quiet:
        _to_stderr(line)


def say(line: str) -> None:
    """Write a line of the result to stdout."""
    sys.stdout.write(f"{line}\n")


def _count(done: int, total: int) -> str:
    return f"{done:,}/{total:,}" if total else f"{done:,}"


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
