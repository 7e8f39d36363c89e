"""How long a call takes: the least of several runs, since all disturbances add time."""

from __future__ import annotations

import time


def least_seconds(call, *, budget=0.5, at_least=3, at_most=50, clock=time.perf_counter):
    """Time `call` repeatedly for about `budget` seconds, after one run to warm up.

    With ``clock=time.process_time`` other programs at work add less: for calls of milliseconds.
    """
    call()
    runs = []
    start = time.perf_counter()
    while len(runs) < at_least or (len(runs) < at_most and time.perf_counter() - start < budget):
        before = clock()
        call()
        runs.append(clock() - before)
    return min(runs)


def microseconds(call, count=1, *, budget=0.3, **more):
    """Return the microseconds of processor time that a call takes for each of `count` sentences."""
    return least_seconds(call, budget=budget, **{"clock": time.process_time, **more}) / count * 1e6
