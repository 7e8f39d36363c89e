"""Step sizes of k-best MIRA (McDonald, Crammer and Pereira 2005), by Hildreth's algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.compiling.kernels import kernel

if TYPE_CHECKING:
    import numpy as np

_SWEEPS: Final = 200
_CLOSE: Final = 1e-6


@kernel
def hildreth(gram: np.ndarray, losses: np.ndarray, C: float, steps: np.ndarray) -> None:
    """Find the smallest weight change after which gold beats each tree by its margin.

    Parameters
    ----------
    gram
        float64 (k, k): inner products of the difference vectors (features of gold minus those of a
        tree).
    losses
        float64 (k,): the margin violations: score plus cost of each tree, minus the score of gold.
    C
        The largest step. A margin may remain violated if it needs a larger one.
    steps
        Written: float64 (k,). The weight change is the sum of steps times difference vectors.

    Notes
    -----
    Minimises ``|change|² / 2 + C (sum of the violations that remain)``: the quadratic program of
    McDonald, Crammer and Pereira (2005), with a slack variable for each constraint as in PA-I
    (Crammer et al. 2006). Hildreth's algorithm (Censor and Zenios 1997) goes over the constraints
    in turn and solves for one step, between 0 and C, with all others fixed. With one constraint,
    the solution is ``min(C, loss / |difference|²)``. It stops when a sweep changes no margin by
    more than 1e-6 (about the precision of scores), or after 200 sweeps. O(k²) for each sweep.
    """
    steps[:] = 0
    for _ in range(_SWEEPS if len(steps) > 1 else 1):
        largest = 0.0
        for i in range(len(steps)):
            missed = losses[i]
            for j in range(len(steps)):
                missed -= gram[i, j] * steps[j]
            step = min(C, max(0.0, steps[i] + missed / max(gram[i, i], 1.0)))
            largest = max(largest, gram[i, i] * abs(step - steps[i]))
            steps[i] = step
        if largest < _CLOSE:
            break
