"""Training of second-order parsers: MIRA or perceptron over edges, siblings and grandparents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.parsers.linear.pruning import keep_edges
from arborescence.parsers.linear.training import EdgeRun
from arborescence.parsers.second_order.parts import (
    MORE,
    WIDE,
    PartModel,
    list_features,
    rounded,
    score_parts,
)
from arborescence.second_order.decoding import decode
from arborescence.second_order.parts import tree_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.linear.training import Edges, Gold
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.shared.run import Task

#: The largest number of rounds of dual decomposition for a training sentence.
_ROUNDS: Final = 50


class Trainer(EdgeRun):
    """A training run of a second-order parser."""

    kind = "second-order"
    more_templates = MORE

    def __init__(self, task: Task) -> None:
        super().__init__(task._replace(settings=task.settings.of_edges))
        self._add_edges("edges")
        table = self._add_weights("parts", ((1 << self._settings.bits) // WIDE, WIDE))
        self._parts = PartModel(self._templates["parts"], table)

    def _prepare(self, progress: Progress) -> None:
        super()._prepare(progress)
        assert self._pruning is not None  # noqa: S101 - settings.prune
        self._kept = keep_edges(self._batch, self._pruning, False)

    def _learn_edges(self, gold: Gold, edges: Edges, scores: NDArray[np.float32]) -> None:
        """Decode, and update the weights if the best tree is wrong."""
        heads = gold.heads
        words = np.arange(1, len(heads))
        kept = rounded(self._only_kept(gold, scores))
        siblings, grandparents = score_parts(gold.batch, 0, self._parts, 1.0, kept)
        if self._settings.loss == "mira":  # each wrong head costs 1
            kept += 1
            kept[heads[1:], words] -= 1
        found = decode(kept, siblings, grandparents, root=self._settings.root, rounds=_ROUNDS)
        if (found.heads == heads).all():
            return
        of_gold = tree_weight(kept, heads, siblings, grandparents)
        rows = len(self._parts.weights)
        ours, theirs = (
            list_features(gold.batch, self._parts.templates, rows, tree)
            for tree in (heads, found.heads)
        )
        numbers, places = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
        signs = np.repeat([1.0, -1.0], [len(ours), len(theirs)])
        difference = np.bincount(places, signs)
        loss = float(found.weight - of_gold)
        step = self._update_edges(gold, edges, found.heads, loss, float(difference @ difference))
        change = (step * difference).astype(np.float32)
        self._parts.weights.reshape(-1)[numbers] += change
        self._sums["parts"].reshape(-1)[numbers] += change * np.float32(self._clock)

    def _only_kept(self, gold: Gold, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the scores of kept edges and of gold edges; -inf for all others."""
        firsts, kept = self._kept
        start, stop = gold.batch.starts.tolist()
        counts = np.diff(firsts[start : stop + 1])
        heads = kept[firsts[start] : firsts[stop]]
        words = np.repeat(np.arange(stop - start), counts)
        out = np.full_like(scores, -np.inf)
        out[heads, words] = scores[heads, words]
        words = np.arange(1, stop - start)
        out[gold.heads[1:], words] = scores[gold.heads[1:], words]
        return out
