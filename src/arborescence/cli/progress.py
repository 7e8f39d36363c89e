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
    """Yield a function that shows the progress of each step: ``step(name, done, total)``.

    An unknown total is 0. The text after a colon in the name may change within a step: "epoch 3",
    then "epoch 3: LAS 85.9".
    """
    if quiet:
        yield lambda _name, _done, _total: None
    elif sys.stderr.isatty():
        with _bars() as step:
            yield step
    else:
        yield ProgressLines()


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # it may name a file with brackets
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks = {}

        def step(text: str, done: int, total: int) -> None:
            name = text.partition(":")[0]
            if name not in tasks:
                tasks[name] = bars.add_task(text, total=None, count="")
            bars.update(
                tasks[name],
                description=text,
                completed=done,
                total=total or None,
                count=_count(done, total),
            )

        yield step


class ProgressLines:
    """Steps as plain lines, each with the time since the beginning: for pipes and logs.

    A step has a line when it ends, and when the text after its colon changes. A step within another
    step, or without a known total, has a line only after half a minute without lines.
    """

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._write = write or _to_stderr
        self._clock = clock
        self._begun = self._last = clock()
        self._open: list[str] = []  # unfinished steps, each nested in the previous one
        self._written: dict[str, str] = {}

    def __call__(self, text: str, done: int, total: int) -> None:
        """Record the progress of a step, and write a line if the step needs one."""
        now = self._clock()
        name, _, more = text.partition(":")
        known = name in self._open
        last = not known and done == total and name in self._written
        if not known and total:
            self._open.append(name)
        inside = name in self._open[1:]
        changed = bool(more) and self._written.get(name) != text
        ended = known and done == total
        if ended:
            self._open.remove(name)
        if (not inside and total and (changed or ended or last)) or now - self._last >= PATIENCE:
            time = timedelta(seconds=int(now - self._begun))
            count = "" if ended else f"  {_count(done, total)}"
            self._write(f"{time}  {text}{count}")
            self._last = now
            self._written[name] = text


def counted(
    items: Iterable[Item], name: str, *, printed: bool, quiet: bool = False
) -> Iterator[Item]:
    """Yield the items and show their count, unless they are printed on the same terminal."""
    if printed and sys.stdout.isatty():
        yield from items
        return
    with steps(quiet=quiet) as step:
        done = 0
        for done, item in enumerate(items, 1):
            yield item
            if done % EVERY == 0:
                step(name, done, 0)
        step(name, done, done)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Write each warning of this library once, as a line on stderr; keep other warnings."""
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
    """Write a line on stderr: the work of a command, and the place of the result."""
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
