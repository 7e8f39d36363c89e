"""Exact sampling of projective trees, top-down, by the inside sums of the spans."""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import kernel
from arborescence.core.random import uniform
from arborescence.projective.spans import COMPLETE, INCOMPLETE, parts_of, pop, push, splits_of
from arborescence.projective.sums import inside_in_logs, new_inside, sum_in_logs, way_of


@kernel
def draw_down(
    logs: np.ndarray,  # (N, N) float64: from `as_weights`
    n: int,
    single: bool,
    gaps: np.ndarray,
    source: np.ndarray,  # (2,) int64: the source of randomness, from `core.random`
    heads: np.ndarray,  # (k, N) int64, filled
) -> None:
    """Draw trees by inside sums. O(n³), with O(n³) exps, and O(n²) per tree."""
    sums = new_inside(n + 1, logs)
    inside_in_logs(logs, n, single, sums, gaps)
    complete, across, incomplete = sums
    stack = np.empty((n + 2, 3), np.int64)
    for draw in range(heads.shape[0]):
        tree = heads[draw]
        tree[0] = -1
        top, kind, h, e = pop(stack, push(stack, 0, (COMPLETE, 0, n)))
        while top >= 0:
            low, stop = splits_of(kind, h, e, single)
            if kind == INCOMPLETE:
                tree[e] = h
                i, j = min(h, e), max(h, e)
                one, other = complete[i, low:stop], complete[j, low + 1 : stop + 1]
                whole = incomplete[h, e] - logs[h, e]
            else:
                one, other = incomplete[h, low:stop], across[e, low:stop]
                whole = complete[h, e]
            below = gaps[kind, h, e, low:stop]
            rest = uniform(source)
            split = 0
            for r in range(stop - low):
                share = np.exp(way_of(one, other, below, r) - whole)
                if share > 0.0:
                    split = r
                    rest -= share
                    if rest < 0.0:
                        break
            first, second = parts_of(kind, h, e, low + split)
            top, kind, h, e = pop(stack, push(stack, push(stack, top, first), second))


@kernel
def sum_projective(
    logs: np.ndarray, n: int, single: bool, gaps: np.ndarray, marginals: np.ndarray
) -> float:
    """Return the log-partition, and fill the marginals. O(n³), with O(n³) exps."""
    sums, slopes = new_inside(n + 1, logs), new_inside(n + 1, logs)
    log_sum, _ = sum_in_logs(logs, n, single, sums, slopes, marginals, gaps)
    return log_sum
