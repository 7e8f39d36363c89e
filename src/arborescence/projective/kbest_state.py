"""The state of a projective k-best search, kept between calls (see `kbest`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self, cast

import numpy as np

from arborescence.core.conversion import as_doubles
from arborescence.core.faults import BAD_SCORE, EXHAUSTED, FINE, FULL
from arborescence.core.graph import matrix_of, words_of
from arborescence.projective.decode import sum_sizes
from arborescence.projective.exact_chart import ExactChart, exact_chart
from arborescence.projective.kbest import (
    Derivations,
    find_projective,
    larger,
    new_derivations,
)

if TYPE_CHECKING:
    from arborescence.core.graph import Graph
    from arborescence.core.lists import Lists

# The number of further derivations per word that are allocated at first.
_FEW = 64


class ProjectiveKBestState(NamedTuple):
    """The chart of the last sentence, and its derivations so far."""

    chart: ExactChart | None = None
    derivations: Derivations | None = None

    @classmethod
    def of(cls, graph: Graph) -> Self:  # noqa: ARG003
        """Return an empty state."""
        return cls()

    @classmethod
    def kept(cls, graph: Graph) -> Self:
        """Return an empty state; nothing is reused, as each sentence has its own arrays."""
        return cls.of(graph)

    def find(
        self, graph: Graph, single: bool, lists: Lists, start: int, stop: int
    ) -> tuple[Self, int, int]:
        """Fill the lists of the sentences `start` to `stop`. As in `best_first.State.find`."""
        chart = cast("ExactChart", self.chart)
        known = cast("Derivations", self.derivations)
        for b in range(start, stop):
            n = words_of(graph, b)
            count = int(lists.counts[b])
            if count < 0:
                scores = as_doubles(matrix_of(graph, b))
                if np.isnan(sum_sizes(scores, n)[0]):
                    return self, b, BAD_SCORE
                chart = exact_chart(scores, n, single)
                known = new_derivations(chart, n, _FEW * (n + 1))
            found = FULL
            while found == FULL:
                count, found = find_projective(
                    known, chart, single, count, lists.heads[b], lists.weights[b]
                )
                if found == FULL:
                    known = larger(known)
            if found not in (FINE, EXHAUSTED):
                return self, b, found
            lists.counts[b] = count
        return type(self)(chart, known), stop, FINE
