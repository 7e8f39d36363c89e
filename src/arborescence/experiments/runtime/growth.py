"""How the time of decoders grows with the sentence: the complexities that *root* claims."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.tree import root_count
from arborescence.experiments.runtime.clock import race
from arborescence.experiments.runtime.decoders import (
    CONSTRAINED,
    DECODERS,
    GREEDY,
    N_RUNS,
    REWEIGHTED,
    UNCONSTRAINED,
    count_worse,
)
from arborescence.experiments.runtime.graphs import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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
    easy : int
        For how many the greedy graph is a tree: without the constraint, all is done then.
    several : int
        For how many sentences the best tree of all has several root edges.
    worse : dict of str to int
        For how many the trees of `N_RUNS` and `REWEIGHTED` are worse than the best ones.
    """

    kind: str
    n: int
    sentences: int
    seconds: dict[str, float]
    easy: int
    several: int
    worse: dict[str, int]


def batch_of(kind: str, n: int, sentences: int) -> NDArray[Any]:
    """Return so many graphs of a kind: (sentences, n + 1, n + 1) float32, always the same."""
    return KINDS[kind](np.random.default_rng([_SEED, n]), sentences, n)


def enough(n: int) -> int:
    """Return how many sentences of n words make a batch beside which a call takes no time."""
    return min(1000, max(10, 400_000 // (n + 1) ** 2))


def time_decoders(
    kind: str,
    n: int,
    *,
    sentences: int,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> Timed:
    """Time all decoders on the same batch of graphs, by turns.

    Parameters
    ----------
    kind
        One of `graphs.KINDS`.
    n
        Words of each sentence.
    sentences
        How many there are.
    rounds
        How often each decoder is timed; the least counts.
    clock
        Tells seconds.

    Examples
    --------
    >>> timed = time_decoders("uniform", 4, sentences=10, rounds=1)
    >>> timed.worse
    {'n runs': 0, 'reweighting': 0}
    """
    batch = batch_of(kind, n, sentences)
    took = race([partial(find, batch) for find in DECODERS.values()], rounds, clock)
    best, free = DECODERS[CONSTRAINED](batch), DECODERS[UNCONSTRAINED](batch)
    return Timed(
        kind=kind,
        n=n,
        sentences=sentences,
        seconds={name: t / sentences for name, t in zip(DECODERS, took, strict=True)},
        easy=int((DECODERS[GREEDY](batch) == free).all(axis=1).sum()),
        several=int((root_count(free) > 1).sum()),
        worse={
            name: count_worse(batch, best, DECODERS[name](batch)) for name in (N_RUNS, REWEIGHTED)
        },
    )
