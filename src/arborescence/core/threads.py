"""Run a kernel over a batch in several threads: kernels release the GIL, so Python can split it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.checks import check_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Several shares per thread, so that a share of long sentences does not delay the whole batch.
_SHARES_A_THREAD = 4


def in_threads(
    run: Callable[[int, int], object],
    batch: int,
    threads: int,
    costs: NDArray[np.int64] | None = None,
) -> None:
    """Split a batch into shares and call ``run(start, stop)`` for each share, in threads.

    The shares cost the same, where `costs` has the cost of each sentence, (batch,); else they have
    as many sentences. If several calls raise, the error of the first share is raised.
    """
    threads = check_count(threads, "threads")
    if threads == 1 or batch < 2:
        run(0, batch)
        return
    from concurrent.futures import ThreadPoolExecutor

    shares = min(batch, threads * _SHARES_A_THREAD)
    bounds = [batch * k // shares for k in range(shares + 1)]
    if costs is not None:
        upto = np.cumsum(costs)
        bounds[1:-1] = np.searchsorted(upto, upto[-1] * np.arange(1, shares) / shares).tolist()
    with ThreadPoolExecutor(threads) as pool:
        try:
            parts = [pool.submit(run, start, stop) for start, stop in pairwise(bounds)]
            for part in parts:
                part.result()
        finally:  # after an error or an interruption: what has not begun is not needed
            pool.shutdown(cancel_futures=True)
