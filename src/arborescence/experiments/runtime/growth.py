"""How the time of decoders grows with the sentence: the complexities that *root* claims."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.experiments.runtime.clock import race
from arborescence.experiments.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    N_RUNS,
    REWEIGHTED,
    UNCONSTRAINED,
    count_worse,
)
from arborescence.experiments.runtime.graphs import KINDS
from arborescence.tree import root_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# A batch has about so many scores: enough that a call takes no time beside them.
_SCORES: Final = 400_000
_AT_LEAST: Final = 10
_SEED: Final = 1


class Timed(NamedTuple):
    """How long one tree of a sentence of n words takes.

    Attributes
    ----------
    kind : str
        What graphs: one of `graphs.KINDS`.
    n, sentences : int
        Their words, and how many there are.
    seconds : dict of str to float
        Of each of `DECODERS`, for a sentence.
    several : int
        For how many sentences the best tree of all has several root edges.
    worse : dict of str to int
        For how many the trees of `N_RUNS` and `REWEIGHTED` are worse than the best ones.
    """

    kind: str
    n: int
    sentences: int
    seconds: dict[str, float]
    several: int
    worse: dict[str, int]


def batch_of(kind: str, n: int, scores: int = _SCORES) -> NDArray[Any]:
    """Return graphs (B, n + 1, n + 1) float32 of a kind with about so many scores in all."""
    count = max(_AT_LEAST, scores // (n + 1) ** 2)
    return KINDS[kind](np.random.default_rng([_SEED, n]), count, n)


def time_decoders(
    kind: str,
    n: int,
    *,
    rounds: int,
    scores: int = _SCORES,
    clock: Callable[[], float] = time.process_time,
) -> Timed:
    """Time all decoders on the same batch of graphs, by turns.

    Parameters
    ----------
    kind
        One of `graphs.KINDS`.
    n
        Words of each sentence.
    rounds
        How often each decoder is timed; the least counts.
    scores
        How many scores the batch has, about; but it has ten graphs at least.
    clock
        Tells seconds.

    Examples
    --------
    >>> timed = time_decoders("uniform", 4, rounds=1, scores=100)
    >>> timed.sentences, timed.worse
    (10, {'n runs': 0, 'reweighting': 0})
    """
    batch = batch_of(kind, n, scores)
    took = race([partial(find, batch) for find in DECODERS.values()], rounds, clock)
    best = DECODERS[CONSTRAINED](batch)
    return Timed(
        kind=kind,
        n=n,
        sentences=len(batch),
        seconds={name: t / len(batch) for name, t in zip(DECODERS, took, strict=True)},
        several=int((root_count(DECODERS[UNCONSTRAINED](batch)) > 1).sum()),
        worse={
            name: count_worse(batch, best, DECODERS[name](batch)) for name in (N_RUNS, REWEIGHTED)
        },
    )
