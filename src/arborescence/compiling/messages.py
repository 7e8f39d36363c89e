"""What is said on stderr while kernels are compiled, unless `ARBORESCENCE_QUIET` is set."""

from __future__ import annotations

import os
import sys
import time
from functools import cache
from typing import Any, Final

from numba.core import event

from arborescence.compiling.digests import size

_SPEED: Final = 1000  # bytes of bytecode compiled in a second, for a first guess
_LONG: Final = 1.0  # seconds that are worth a line


def say(line: str) -> None:
    """Write a line on stderr."""
    if not os.environ.get("ARBORESCENCE_QUIET"):
        print(f"arborescence: {line}", file=sys.stderr, flush=True)  # noqa: T201


@cache
def say_not_kept(*reasons: str) -> None:
    """Say once that compiled kernels cannot be kept, and why."""
    say(
        f"compiled kernels cannot be kept ({'; '.join(reasons)}), and each process compiles them "
        "again: set NUMBA_CACHE_DIR to a folder that you can write, and nobody else"
    )


class Compiling(event.Listener):
    """Say what is compiled, and how long it took."""

    def __init__(self, kernels: type) -> None:
        self._kernels: Any = kernels
        self._start = 0.0
        self._said = False

    def on_start(self, event: Any) -> None:
        """Say at the first compilation of the process about how long it takes."""
        kernel = event.data["dispatcher"]
        if isinstance(kernel, self._kernels):
            self._start = time.perf_counter()
            if not self._said:
                self._said = True
                say(
                    f"compiling {kernel.__name__}, for about {size(kernel) / _SPEED:.0f} s; each "
                    "kernel is compiled once, at first use or ahead by `arborescence warmup`"
                )

    def on_end(self, event: Any) -> None:
        """Say how long it took."""
        kernel = event.data["dispatcher"]
        if isinstance(kernel, self._kernels):
            seconds = time.perf_counter() - self._start
            if seconds >= _LONG:
                say(f"compiled {kernel.__name__} in {seconds:.0f} s")
