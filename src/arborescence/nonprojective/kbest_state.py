"""The state of a non-projective k-best search, kept between calls (see `kbest`)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

import numpy as np

from arborescence.core.faults import FULL
from arborescence.nonprojective.kbest import kbest_kernel
from arborescence.nonprojective.parts import Blocks

if TYPE_CHECKING:
    from arborescence.core.graph import Graph
    from arborescence.core.lists import Lists

# The number of parts allocated at first. Unused parts take no physical memory.
_FEW = 512

# Allocating a state takes as long as ten trees of a short sentence, so threads keep states.
_kept = threading.local()
_KEPT_WORDS = 63


class KBestState(Blocks):
    """What the kernel keeps, for a maximum sentence length and one type of scores."""

    __slots__ = ()

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Make a state for the sentences of a graph."""
        return cls.allocate(graph.scores.dtype, graph.scores.shape[1] - 1, _FEW)

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return a state, for use until this thread's next call; reused for short sentences."""
        scores = graph.scores
        if scores.shape[1] - 1 > _KEPT_WORDS:
            return cls.of(graph)
        states: dict[str, Self] = _kept.__dict__
        state = states.get(scores.dtype.char)
        if state is None:
            state = states[scores.dtype.char] = cls.allocate(scores.dtype, _KEPT_WORDS, _FEW)
        return state

    def find(
        self, graph: Graph, single: bool, lists: Lists, start: int, stop: int
    ) -> tuple[KBestState, int, int]:
        """Fill the lists of the sentences `start` to `stop`. As in `best_first.State.find`.

        The returned state is a new one if there was not enough room.
        """
        state: KBestState = self
        scores, lengths = graph.scores, graph.lengths
        if len(self.good) < scores.shape[1]:
            raise ValueError(f"the state is for sentences of {len(self.good) - 1} words")
        if stop - start < len(scores):
            share = slice(start, stop)
            scores = scores[share]
            lists = lists._replace(
                heads=lists.heads[share], weights=lists.weights[share], counts=lists.counts[share]
            )
            lengths = lengths[share] if lengths.size else lengths
        scores = np.ascontiguousarray(scores)
        sentence, found = 0, FULL
        while found == FULL:
            sentence, found = kbest_kernel(
                state, scores, graph.dependents_first, lengths, single, sentence, lists
            )
            if found == FULL:
                state = state.larger()
        return state, start + sentence, found
