"""Batches over threads: kernels release the GIL, so splitting them in Python is enough."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

from arborescence.core.graph import check_count

if TYPE_CHECKING:
    from collections.abc import Callable

# A thread takes a few shares, so that one with longer sentences does not keep the others waiting.
_SHARES_A_THREAD = 4


def in_threads(run: Callable[[int, int], object], batch: int, threads: int) -> None:
    """Call ``run(start, stop)`` for shares of a batch that together are the whole of it.

    If several calls raise, the error of the first share is the one that is raised.
    """
    threads = check_count(threads, "threads")
    if threads == 1 or batch < 2:
        run(0, batch)
        return
    shares = min(batch, threads * _SHARES_A_THREAD)
    bounds = [batch * k // shares for k in range(shares + 1)]
    with ThreadPoolExecutor(threads) as pool:
        parts = [pool.submit(run, start, stop) for start, stop in pairwise(bounds)]
        for part in parts:
            part.result()
