"""What is said on stderr while kernels are compiled, unless `ARBORESCENCE_QUIET` is set."""

from __future__ import annotations

import os
import sys
from functools import cache


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
