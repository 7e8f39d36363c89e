"""How long things take that are compared with each other, and on what machine."""

from __future__ import annotations

import platform
import time
from typing import TYPE_CHECKING

import llvmlite.binding
import numba
import numpy as np

import arborescence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def race(
    runners: Sequence[Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Return the least time that each takes in several rounds.

    All disturbances add time, so the least is what comes closest to a call alone on the machine.
    All runners run in each round, forth and back by turns: what changes on the machine changes for
    all. Before the first round each runs once, to warm up.

    Parameters
    ----------
    runners
        What to call.
    rounds
        How often each is called, at least 1.
    clock
        Tells seconds; by default those that this process was at work.

    Examples
    --------
    >>> short, long = race([lambda: sum(range(10)), lambda: sum(range(10_000))], rounds=3)
    >>> short < long
    True
    """
    for run in runners:
        run()
    least = [float("inf")] * len(runners)
    order = list(enumerate(runners))
    for _ in range(rounds):
        for place, run in order:
            before = clock()
            run()
            least[place] = min(least[place], clock() - before)
        order.reverse()
    return least


def machine() -> dict[str, str]:
    """Return what times depend on: the processor, and the versions of what runs on it."""
    return {
        "processor": f"{llvmlite.binding.get_host_cpu_name()} ({platform.machine()})",
        "system": platform.system(),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "Numba": numba.__version__,
        "arborescence": arborescence.__version__,
    }
