"""Fair timing of several functions in turn, and a description of the machine."""

from __future__ import annotations

import platform
import time
from typing import TYPE_CHECKING

import numpy as np

from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def race(
    runners: Sequence[Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Return the minimum time of each function over several rounds.

    Disturbances only add time, so the minimum is closest to the undisturbed time. Each round calls
    all runners, in alternating order, so that changes of the machine affect all of them. Each
    runner is called once before the first round, as a warm-up.

    Parameters
    ----------
    runners
        The functions to time.
    rounds
        The number of timed calls of each, at least 1.
    clock
        Returns seconds; by default the CPU time of this process.

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
    """Return what times depend on: the processor, and the versions of the software."""
    processor, versions = platform.processor(), {}
    try:
        import llvmlite.binding
        import numba

        processor, versions = llvmlite.binding.get_host_cpu_name(), {"Numba": numba.__version__}
    except ModuleNotFoundError:
        pass  # an installation with native modules does not need it
    return {
        "processor": f"{processor} ({platform.machine()})".lstrip(),
        "system": platform.system(),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        **versions,
        "arborescence": __version__,
    }
