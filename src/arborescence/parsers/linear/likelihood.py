"""Gradient ascent on the likelihood of gold trees (Smith and Smith 2007) or of gold heads.

In the log-linear model (Smith and Smith 2007), the probability of a tree is proportional to the
exponential of its score. The gradient for an edge's score is 1 for a gold edge and 0 for others,
minus the edge's marginal. In head selection (Zhang, Cheng and Lapata 2017), each word chooses its
head independently, and the probability of that choice takes the place of the marginal. Neural
parsers use this loss too (Dozat and Manning 2017). Head selection takes O(n²) for each sentence,
marginals of trees O(n³). Heads chosen independently need not form a tree; only the decoder ensures
a tree with one root edge.
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

    Parameters
    ----------
    model, averages
        Changed: as in `edges.update_edges`.
    clock
        The number of updates before this epoch.
    rate
        The learning rate: the largest change of a weight for one edge.
    sentences
        The number of sentences in the treebank; each takes an equal share of the prior.
    expect
        Returns the edge probabilities, float64 (n + 1, n + 1), for given scores.

    Notes
    -----
    The prior shrinks all weights at each sentence. To save time, the weights are stored divided by
    a common factor, and only the factor shrinks (Bottou 2012, Section 5.1). The clock that weights
    the sums advances by the factor too. `finish` multiplies the factor out.
    """

    model: EdgeModel
    averages: NDArray[np.float32]
    clock: InitVar[int]
    rate: float
    sentences: int
    expect: Callable[[NDArray[np.float32]], NDArray[np.float64]]

    def __post_init__(self, clock: int) -> None:
        self._time, self._factor = float(clock), 1.0

    def step(self, batch: Batch, scores: NDArray[np.float32], gold: NDArray[np.int64]) -> None:
        """Take a gradient step for the likelihood of one sentence.

        Parameters
        ----------
        batch
            As for `edges.move_edges`.
        scores
            (n + 1, n + 1), computed from the stored weights.
        gold
            int64 (n + 1,).
        """
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
    """Return the probability of each head of each word: a softmax over heads.

    Parameters
    ----------
    scores : (n + 1, n + 1)
        Finite edge scores; column 0 and the diagonal are ignored.

    Returns
    -------
    probabilities : (n + 1, n + 1) float64
        Columns sum to 1, except column 0; column 0 and the diagonal are 0.

    Notes
    -----
    O(n²). Zhang, Cheng and Lapata 2017, Section 3.

    Examples
    --------
    >>> scores = np.log([[1, 3, 2], [1, 1, 2], [1, 1, 1]])
    >>> head_probabilities(scores)
    array([[0.  , 0.75, 0.5 ],
           [0.  , 0.  , 0.5 ],
           [0.  , 0.25, 0.  ]])
    """
    probabilities = scores.astype(np.float64)
    probabilities[:, 0] = 0.0
    np.fill_diagonal(probabilities, -np.inf)
    probabilities -= probabilities.max(axis=0)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=0)
    probabilities[:, 0] = 0.0
    return probabilities
