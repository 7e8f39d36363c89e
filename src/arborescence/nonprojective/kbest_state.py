"""The state of a non-projective k-best search, kept between calls (see `kbest`)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.core.faults import FULL
from arborescence.nonprojective.kbest import kbest_kernel
from arborescence.nonprojective.parts import Ranking, larger, new_ranking
from arborescence.nonprojective.swaps import Constrained, GoodHeads, new_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph
    from arborescence.core.lists import Lists

# The number of parts allocated at first. Unused parts take no physical memory.
_FEW = 512

# Allocating a state takes as long as ten trees of a short sentence, so threads keep states.
_kept = threading.local()
_KEPT_WORDS = 63


class KBestState(NamedTuple):
    """The arrays of the kernel, for a maximum sentence length and one type of scores."""

    ranking: Ranking
    graph: Constrained
    good: GoodHeads

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Make a state for the sentences of a graph."""
        return cls._of(graph.scores, graph.scores.shape[1] - 1)

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return a state, for use until this thread's next call; reused for short sentences."""
        if graph.scores.shape[1] - 1 > _KEPT_WORDS:
            return cls.of(graph)
        states: dict[Any, Self] = _kept.__dict__
        kind = graph.scores.dtype.char
        if kind not in states:
            states[kind] = cls._of(graph.scores, _KEPT_WORDS)
        return states[kind]

    @classmethod
    def _of(cls, scores: NDArray[Any], words: int) -> Self:
        return cls(new_ranking(scores, words, _FEW), *new_graph(scores, words))

    def find(
        self, graph: Graph, single: bool, lists: Lists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences `start` to `stop`. As in `best_first.State.find`.

        The returned state is a new one if there was not enough room.
        """
        state = self
        share = slice(start, stop)
        scores = graph.scores[share]
        if not graph.dependents_first:
            scores = scores.swapaxes(1, 2)
        scores = np.ascontiguousarray(scores)
        arrays = [array[share] for array in lists]
        sentence, found = 0, FULL
        while found == FULL:
            sentence, found = kbest_kernel(
                state.ranking,
                state.graph,
                state.good,
                scores,
                graph.lengths[share] if graph.lengths.size else graph.lengths,
                single,
                sentence,
                *arrays,
            )
            if found == FULL:
                state = state._replace(ranking=larger(state.ranking))
        return state, start + sentence, found
