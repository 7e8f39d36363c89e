"""Progress on stderr if that is a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
EVERY = 64  # items between two updates


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows how far each step is: ``step(what, done, total)``.

    A total of 0 stands for one that is not known.
    """
    if not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
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
            name = what.partition(":")[0]  # what follows the colon may change: "epoch 3: LAS 85.9"
            if name not in tasks:
                tasks[name] = bars.add_task(what, total=None, count="")
            bars.update(
                tasks[name],
                description=what,
                completed=done,
                total=total or None,
                count=f"{done:,}/{total:,}" if total else f"{done:,}",
            )

        yield step


def counted(items: Iterable[Item], what: str, *, printed: bool) -> Iterator[Item]:
    """Pass the items on and count them, unless they are printed on the same terminal."""
    if printed and sys.stdout.isatty():
        yield from items
        return
    with steps() as step:
        done = 0
        for done, item in enumerate(items, 1):
            yield item
            if done % EVERY == 0:
                step(what, done, 0)
        step(what, done, done)
