"""What the k best projective trees of a sentence are found on, and its use: `find`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.core.faults import BAD_SCORE, FINE
from arborescence.core.graph import matrix_of, words_of
from arborescence.projective.decode import look_over
from arborescence.projective.exact_chart import Wholes, fill_wholes
from arborescence.projective.kbest import (
    EXHAUSTED,
    FULL,
    Ranking,
    larger,
    new_ranking,
    rank_projective,
)

if TYPE_CHECKING:
    from arborescence.core.graph import Graph
    from arborescence.core.lists import Lists

# For how many further derivations there is room at first, for each word.
_FEW = 64


class ProjectiveKBestState(NamedTuple):
    """What is known of the last sentence: its charts, and its derivations so far."""

    wholes: Wholes | None = None
    ranking: Ranking | None = None

    @classmethod
    def of(cls, graph: Graph) -> Self:  # noqa: ARG003
        """Make a desk for the sentences of a graph."""
        return cls()

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Do the same: each sentence needs room of its own, so that none is worth keeping."""
        return cls.of(graph)

    def find(
        self, graph: Graph, single: bool, lists: Lists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences from `start` to `stop`; go on where one has a count.

        Returns the desk with which to go on; and the sentence that has no tree, with the reason,
        or `FINE`.
        """
        wholes: Any = self.wholes
        ranking: Any = self.ranking
        for b in range(start, stop):
            n = words_of(graph, b)
            count = int(lists.counts[b])
            if count < 0:
                scores = np.ascontiguousarray(matrix_of(graph, b), np.float64)
                if np.isnan(look_over(scores, n)[0]):
                    return self, b, BAD_SCORE
                wholes = fill_wholes(scores, n, single)
                ranking = new_ranking(wholes, n, _FEW * (n + 1))
            found = FULL
            while found == FULL:
                count, found = rank_projective(
                    ranking, wholes, single, count, lists.heads[b, :, : n + 1], lists.weights[b]
                )
                if found == FULL:
                    ranking = larger(ranking)
            if found not in (FINE, EXHAUSTED):
                return self, b, found
            lists.counts[b] = count
        return type(self)(wholes, ranking), stop, FINE
