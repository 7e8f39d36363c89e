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


def table(header, rows):
    """Print a Markdown table."""
    print("| " + " | ".join(header) + " |")
    print("| " + " | ".join("---" for _ in header) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print(flush=True)
