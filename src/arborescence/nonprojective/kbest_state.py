"""The state of a non-projective k-best search, kept between calls (see `kbest`)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.faults import FULL
from arborescence.nonprojective.kbest import kbest_kernel
from arborescence.nonprojective.parts import Blocks, larger, new_blocks

if TYPE_CHECKING:
    from arborescence.core.graph import Graph
    from arborescence.core.lists import Lists

# The number of parts allocated at first. Unused parts take no physical memory.
_FEW = 512

# Allocating a state takes as long as ten trees of a short sentence, so threads keep states.
_kept = threading.local()
_KEPT_WORDS = 63


class KBestState(NamedTuple):
    """What the kernel keeps, for a maximum sentence length and one type of scores."""

    blocks: Blocks

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Make a state for the sentences of a graph."""
        return cls(new_blocks(graph.scores.dtype, graph.scores.shape[1] - 1, _FEW))

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return a state, for use until this thread's next call; reused for short sentences."""
        if graph.scores.shape[1] - 1 > _KEPT_WORDS:
            return cls.of(graph)
        kind = graph.scores.dtype
        state: Self | None = _kept.__dict__.get(kind.char)
        if state is None:
            state = _kept.__dict__[kind.char] = cls(new_blocks(kind, _KEPT_WORDS, _FEW))
        return state

    def find(
        self, graph: Graph, single: bool, lists: Lists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences `start` to `stop`. As in `best_first.State.find`.

        The returned state is a new one if there was not enough room.
        """
        (blocks,) = self
        scores, lengths = graph.scores, graph.lengths
        heads, weights, counts = lists
        if len(blocks.good) < scores.shape[1]:
            raise ValueError(f"the state is for sentences of {len(blocks.good) - 1} words")
        if stop - start < len(scores):
            share = slice(start, stop)
            scores, heads, weights, counts = (
                scores[share],
                heads[share],
                weights[share],
                counts[share],
            )
            lengths = lengths[share] if lengths.size else lengths
        scores = np.ascontiguousarray(scores)
        sentence, found = 0, FULL
        while found == FULL:
            sentence, found = kbest_kernel(
                *blocks,
                scores,
                graph.dependents_first,
                lengths,
                single,
                sentence,
                heads,
                weights,
                counts,
            )
            if found == FULL:
                blocks = larger(blocks)
        return type(self)(blocks), start + sentence, found
