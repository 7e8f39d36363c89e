"""Which threads of a process run (Linux)."""

from __future__ import annotations

import os
import threading
from pathlib import Path

TASKS = Path("/proc/self/task")
#: There if Linux counts how long each thread has run.
SCHEDSTAT = Path("/proc/self/schedstat")
#: What says how many threads NumPy, PyTorch and others may have.
VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TOKENIZERS_PARALLELISM",
)


def unlimited():
    """Return the environment without the variables that limit threads, and with these modules."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return environment | {"PYTHONPATH": str(Path(__file__).parent)}


def woken(action):
    """Return the numbers of all other threads that run whenever an action does.

    On a busy machine, a thread that worked before may go to rest only now: hence the second run.
    """
    first = _woken_once(action)
    return first & _woken_once(action) if first else first


def _woken_once(action):
    """Return the numbers of all other threads that have run while an action did."""
    # Those that have just worked first come to rest.
    while any(_state(task) == "R" for task in _others()):
        pass
    before = times()
    action()
    return {task for task, time in times().items() if time != before.get(task)}


def _others():
    mine = threading.get_native_id()
    return [task for task in (int(path.name) for path in TASKS.iterdir()) if task != mine]


def _state(task):
    try:
        return (TASKS / f"{task}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # it has ended
        return "X"


def times():
    """Return how long each of the other threads has run, by its number."""
    found = {}
    for task in _others():
        try:
            found[task] = (TASKS / f"{task}/schedstat").read_text().split()[0]
        except OSError:
            continue
    return found
