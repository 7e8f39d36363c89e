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

    O(k²) a sweep. Minimises ``|change|² / 2 + C (sum of the violations that remain)`` (McDonald,
    Crammer and Pereira 2005; slack as in PA-I, Crammer et al. 2006). Hildreth's algorithm (Censor
    and Zenios 1997) solves for one step after the other, until a sweep changes no margin by more
    than 1e-6, or 200 sweeps.
    """
    # gram: float64 (k, k): inner products of the difference vectors (features of gold minus those
    # of a tree)
    # losses: float64 (k,): the margin violations: score plus cost of each tree, minus the score of
    # gold
    # C: the largest step. A margin may remain violated if it needs a larger one.
    # steps: written: float64 (k,). The weight change is the sum of steps times difference vectors.
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
