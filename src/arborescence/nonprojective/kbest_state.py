"""The state of a non-projective k-best search, kept between calls (see `kbest`)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from arborescence.core.faults import FULL
from arborescence.nonprojective.kbest import kbest_kernel
from arborescence.nonprojective.parts import NOTES, PARTS, POOL, Blocks
from arborescence.nonprojective.swaps import GOOD, width_of

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

    @classmethod
    def allocate(cls, kind: np.dtype[Any], n: int, parts: int) -> Self:
        """Make room for `parts` parts, sentences of up to n words and this type of scores."""
        size = n + 1
        return cls(
            trees=np.empty((4, parts, size), np.int32),
            numbers=np.empty((6, parts), np.int64),
            keys=np.empty((2, parts, 3), np.float64),
            costs=np.empty((parts, 3, width_of(n)), np.float64),
            changes=np.empty((2, (parts + size) * size), np.int32),
            matrices=np.empty((2, size, width_of(n)), kind),
            good=np.empty((size, GOOD), np.int32),
            notes=np.empty((3, max(size, NOTES)), np.int64),
        )

    def larger(self) -> Self:
        """Return the same state with room for twice as many parts."""
        parts, size = self.trees.shape[1:]
        more = self.allocate(self.matrices.dtype, size - 1, 2 * parts)
        used, pooled = self.notes[2, PARTS], self.notes[2, POOL]
        more.trees[:, :used] = self.trees[:, :used]
        more.numbers[:, :used] = self.numbers[:, :used]
        more.keys[:, :used] = self.keys[:, :used]
        more.costs[:used] = self.costs[:used]
        more.changes[:, :pooled] = self.changes[:, :pooled]
        return more._replace(matrices=self.matrices, good=self.good, notes=self.notes)

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
