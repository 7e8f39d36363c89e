"""Train a reranker: a log-linear model of k-best lists (Charniak and Johnson 2005), by AdaGrad.

The lists come from parsers that were not trained on these sentences (jackknifing). A tree's
probability is the exponential of its score, normalized over the list; the loss is -log of the
probability of the trees with the most correct words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.reranker.features import (
    LISTS,
    WORKSPACE,
    Workspace,
    find_parts,
    score_list,
    score_lists,
)
from arborescence.parsers.shared.classifier import Learned, descend
from arborescence.parsers.shared.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.parsers.reranker.features import TreeTemplates
    from arborescence.parsers.reranker.lists import KBestLists
    from arborescence.parsers.shared.features import Batch

    #: Sentences and their lists.
    Data = tuple[Batch, KBestLists]

# Chosen on the dev sets of Gothic-PROIEL and Turkish-IMST.
_RATE: Final = np.float32(0.03)
_PENALTY: Final = np.float32(0.01)
# Smaller entries of the gradient are skipped.
_NEGLIGIBLE: Final = 1e-4
# Candidates for the scale of the parser's weight, and factors of the scale to choose from on dev.
_SCALES: Final = 2.0 ** (np.arange(-28, 13) / 2)
_FACTORS: Final = 2.0 ** (np.arange(-5, 6) / 2)


def fit_scale(lists: KBestLists) -> float:
    """Return half of the scale that makes the parser's weights log-probabilities.

    This scale maximizes the likelihood of the best trees. It is halved, since the features will
    explain a part of the differences.
    """
    lengths = np.diff(lists.firsts)
    starts = lists.firsts[:-1]
    below = lists.weights - np.repeat(np.maximum.reduceat(lists.weights, starts), lengths)
    labelled = lists.right[:, 1]
    best = labelled == np.repeat(np.maximum.reduceat(labelled, starts), lengths)
    likelihoods = []
    for scale in _SCALES:
        chances = np.exp(scale * below)
        of_best = np.add.reduceat(chances * best, starts)
        of_all = np.add.reduceat(chances, starts)
        # A probability that underflows to 0 must not give -inf.
        likelihoods.append(np.log(np.maximum(of_best / of_all, 1e-300)).sum())
    return float(_SCALES[np.argmax(likelihoods)]) / 2


class Trainer(Run):
    """A training run over lists."""

    phase = "ranking, epoch"

    def __init__(
        self, data: Data, dev: Data | None, templates: TreeTemplates, *, seed: int, bits: int
    ) -> None:
        batch, lists = data
        super().__init__(len(batch.starts) - 1)
        self._data = data
        self._dev = dev
        self._templates = templates
        self._seed = seed
        self._estimated = self._scale = fit_scale(lists)
        self._learned = Learned(1 << bits)
        self._work = Workspace.of(batch, lists, templates)

    def parts(self) -> dict[str, Any]:
        """Return the weights and the scale of the best epoch: arguments of `Reranker`."""
        # Rounded to float16, as in a model file.
        weights = self.best["weights"].astype(np.float16).astype(np.float32)
        return {"weights": weights, "scale": float(self.best["scale"])}

    def info(self) -> dict[str, Any]:
        """Return the settings and scores as `Run.info`; without dev, there are no scores."""
        return super().info() | {"dev": self.history if self._dev else []}

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        tell(0)
        order = np.random.default_rng((self._seed, number)).permutation(self._sentences)
        scale, table = self._estimated, self._learned.table
        learn_lists(*self._data, self._templates, order, scale, table, self._work)

    def _score(self) -> dict[str, float]:
        if not self._dev:
            return {}
        self._scale, scores = self._choose_scale(self._dev)
        return scores

    def _result(self) -> dict[str, NDArray[Any]]:
        return {"weights": self._learned.weights.copy(), "scale": np.array(self._scale)}

    def _choose_scale(self, dev: Data) -> tuple[float, dict[str, float]]:
        """Return the scale with the best LAS on dev, and its UAS and LAS in percent."""
        batch, lists = dev
        scores = np.empty(len(lists.weights))
        work = Workspace.of(batch, lists, self._templates)
        score_lists(batch, lists, self._templates, self._learned.weights, work, scores)
        words = len(batch.tags) - (len(batch.starts) - 1)
        results = {}
        for scale in (self._estimated * _FACTORS).tolist():
            chosen = best_trees(lists, scores + scale * lists.weights)
            uas, las = 100 * lists.right[chosen].sum(axis=0) / words
            results[scale] = {"uas": float(uas), "las": float(las)}
        scale = max(results, key=lambda scale: results[scale]["las"])
        return scale, results[scale]


def best_trees(lists: KBestLists, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the best-scoring tree of each list, the first of ties."""
    starts = lists.firsts[:-1]
    highest = np.repeat(np.maximum.reduceat(scores, starts), np.diff(lists.firsts))
    numbers = np.where(scores == highest, np.arange(len(scores)), len(scores))
    return np.minimum.reduceat(numbers, starts)


@kernel
@takes(f"{LISTS}, int64[::1], float64, out float32[:, ::1], {WORKSPACE}")
def learn_lists(
    # batch, lists, templates, work: as for `features.find_parts`
    batch: Batch,
    lists: KBestLists,
    templates: TreeTemplates,
    order: np.ndarray,  # int64: the sentences, in this order
    scale: float,  # the factor of the parser's weight of a tree
    learned: np.ndarray,  # ``Learned.table``, changed: the number of weights is a power of two
    work: Workspace,
) -> None:
    """Train for one epoch: for each list, one `descend` for each weight; O(T) a part."""
    weights, squares = learned[0], learned[1]
    mask = np.uint64(len(weights) - 1)
    gradient, scores = np.zeros_like(weights), np.empty(len(work.signs))
    touched = np.empty(work.rows.size, dtype=np.int32)
    for b in order:
        m = lists.firsts[b + 1] - lists.firsts[b]
        if m < 2:
            continue
        nodes = batch.starts[b + 1] - batch.starts[b]
        count = find_parts(batch, lists, b, templates, mask, work)
        score_list(weights, count, nodes, work, scores[:m])
        _to_slopes(lists, b, scale, scores[:m])
        work.sums[:count] = 0
        entries = 0
        for i in range(m):
            share = np.float32(scores[i])
            for d in range(1, nodes):
                work.sums[work.parts[i, d]] += share
        for part in range(count):
            share = work.sums[part]
            if abs(share) > _NEGLIGIBLE:
                for row in work.rows[part]:
                    touched[entries] = row
                    entries += 1
                    gradient[row] += share
        for j in range(entries):
            row = touched[j]
            slope = gradient[row]
            gradient[row] = 0
            if abs(slope) > _NEGLIGIBLE:
                descend(weights, squares, row, slope, _RATE, _PENALTY)


@kernel
def _to_slopes(lists: KBestLists, b: int, scale: float, scores: np.ndarray) -> None:
    """Replace the feature scores of trees by the gradient of the loss at these scores."""
    first, stop = lists.firsts[b], lists.firsts[b + 1]
    labelled = lists.right[first:stop, 1]
    is_best = labelled == labelled.max()
    scores += scale * lists.weights[first:stop]
    chances = np.exp(scores - scores.max())
    of_all, of_best = chances.sum(), (chances * is_best).sum()
    for i in range(len(scores)):
        # If all best trees underflow, take the largest possible gradient.
        among_best = chances[i] / of_best if of_best > 0 else 1.0
        scores[i] = chances[i] / of_all - (among_best if is_best[i] else 0.0)
