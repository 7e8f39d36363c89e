"""What the k best trees of a sentence are found on, and its use: `find`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.nonprojective.contraction import Forest, new_forest
from arborescence.nonprojective.kbest import FULL, Ranking, larger, new_ranking, rank_kernel
from arborescence.nonprojective.swaps import Board, new_board

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph
    from arborescence.core.lists import Lists

# For how many parts of the trees there is room at first. It costs no memory before it is used.
_FEW = 512

# Making a desk takes as long as ten trees of a short sentence, so each thread keeps some.
_kept = threading.local()
_KEPT_WORDS = 63


class KBestState(NamedTuple):
    """What the kernel works on: sentences of up to so many words, scores of one type."""

    board: Board
    forest: Forest
    ranking: Ranking

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Make a desk for the sentences of a graph."""
        return cls._of(graph.scores, graph.scores.shape[1] - 1)

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return a desk for a graph that nothing else uses until the calling thread goes on."""
        if graph.scores.shape[1] - 1 > _KEPT_WORDS:
            return cls.of(graph)
        desks: dict[Any, Self] = _kept.__dict__
        kind = graph.scores.dtype.char
        if kind not in desks:
            desks[kind] = cls._of(graph.scores, _KEPT_WORDS)
        return desks[kind]

    @classmethod
    def _of(cls, scores: NDArray[Any], words: int) -> Self:
        board = new_board(scores, words)
        forest = new_forest(board.best, words)
        return cls(board, forest, new_ranking(scores, words, _FEW))

    def find(
        self, graph: Graph, single: bool, lists: Lists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences from `start` to `stop`; go on where one has a count.

        Returns the desk with which to go on, which is another one if there was not enough room;
        and the sentence that has no tree, with the reason, or `FINE`.
        """
        desk = self
        share = slice(start, stop)
        scores = graph.scores[share]
        if not graph.dependents_first:
            scores = scores.swapaxes(1, 2)
        scores = np.ascontiguousarray(scores)
        arrays = [array[share] for array in lists]
        sentence, found = 0, FULL
        while found == FULL:
            sentence, found = rank_kernel(
                desk.ranking,
                desk.board,
                desk.forest,
                scores,
                graph.lengths[share] if graph.lengths.size else graph.lengths,
                single,
                sentence,
                *arrays,
            )
            if found == FULL:
                desk = desk._replace(ranking=larger(desk.ranking))
        return desk, start + sentence, found
