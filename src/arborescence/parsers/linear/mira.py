"""How far to step away from several wrong trees at once: k-best MIRA's quadratic programme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.core.jit import kernel

if TYPE_CHECKING:
    import numpy as np

_SWEEPS: Final = 200
_CLOSE: Final = 1e-6


@kernel
def hildreth(gram: np.ndarray, losses: np.ndarray, C: float, steps: np.ndarray) -> None:
    """Find the smallest change of weights after which gold beats each tree by its margin.

    Parameters
    ----------
    gram
        float64 (k, k): the products of the differences, features of gold minus those of a tree.
    losses
        float64 (k,): how much each tree's margin is missed by: its score and cost, minus the score
        of gold.
    C
        A margin may stay missed where a step would grow beyond it.
    steps
        Written: float64 (k,). The weights are to change by the sum of steps times differences.

    Notes
    -----
    Minimises ``|change|² / 2 + C (sum of what each margin is missed by)``: the programme of
    McDonald, Crammer and Pereira (2005), with a slack for each constraint as in PA-I of Crammer et
    al. (2006). Hildreth's algorithm (Censor and Zenios 1997) goes over the constraints in turn and
    solves for the step of one, between 0 and C, with those of all others held; with one constraint
    this is ``min(C, loss / |difference|²)`` and all. It stops when a sweep moves no margin by more
    than 1e-6, which is about the precision of scores, or after 200 sweeps. O(k²) a sweep.
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
