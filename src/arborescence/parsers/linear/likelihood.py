"""Gradient ascent on the likelihood of gold trees (Smith and Smith 2007) or of gold heads.

The gradient for an edge's score is 1 for a gold edge, else 0, minus the edge's marginal, O(n³); in
head selection (Zhang, Cheng and Lapata 2017), which need not give trees, minus the probability of
the head among all heads, O(n²).
"""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.linear.edges import move_edges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.parsers.linear.edges import EdgeModel
    from arborescence.parsers.shared.features import Batch

#: The precision of the Gaussian prior on each weight: 4 was better than 1 and about 11 on the dev
#: sets of English-EWT and Gothic-PROIEL.
PRECISION: Final = 4.0
#: Edges with a smaller absolute gradient are skipped. So 20 to 40 edges for each sentence are
#: updated, of several hundred. With 0.01, LAS on Gothic-PROIEL dev is 0.2 points lower; with
#: 0.0001, it is not higher.
LEAST: Final = 1e-3


@dataclass
class Ascent:
    """One epoch of stochastic gradient ascent.

    The prior shrinks all weights at each sentence: they are stored divided by a common factor, and
    only the factor shrinks (Bottou 2012, Section 5.1); so does the clock of the sums. `finish`
    multiplies it out.
    """

    # model, averages: changed: as in `edges.update_edges`
    model: EdgeModel
    averages: NDArray[np.float32]
    clock: InitVar[int]  # the number of updates before this epoch
    rate: float  # the learning rate: the largest change of a weight for one edge
    # the number of sentences in the treebank; each takes an equal share of the prior
    sentences: int
    # returns the edge probabilities, float64 (n + 1, n + 1), for given scores
    expect: Callable[[NDArray[np.float32]], NDArray[np.float64]]

    def __post_init__(self, clock: int) -> None:
        self._time, self._factor = float(clock), 1.0

    def step(self, batch: Batch, scores: NDArray[np.float32], gold: NDArray[np.int64]) -> None:
        """Take a gradient step for one sentence."""
        # scores (n + 1, n + 1) come from the stored weights
        self._factor *= math.exp(-self.rate * PRECISION / self.sentences)
        moves = -self.expect(scores * np.float32(self._factor))
        moves[gold[1:], np.arange(1, len(gold))] += 1
        rate = self.rate / self._factor
        move_edges(batch, self.model, self.averages, moves, LEAST, rate, self._time)
        self._time += self._factor

    def finish(self, clock: int) -> None:
        """Multiply the factor into weights and sums; `clock` is again the number of updates."""
        weights = self.model.weights
        total = np.float32(self._time) * weights - self.averages
        weights *= np.float32(self._factor)
        self.averages[:] = np.float32(clock) * weights - total


def head_probabilities(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the softmax over the heads of each word (Zhang, Cheng and Lapata 2017, Section 3)."""
    # O(n²). Column 0 and the diagonal are ignored, and 0 in the result
    probabilities = scores.astype(np.float64)
    probabilities[:, 0] = 0.0
    np.fill_diagonal(probabilities, -np.inf)
    probabilities -= probabilities.max(axis=0)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=0)
    probabilities[:, 0] = 0.0
    return probabilities
