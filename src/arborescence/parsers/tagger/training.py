"""Train one stage of the tagger: a log-linear model, by AdaGrad (Duchi et al. 2011)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arborescence.parsers.shared.classifier import Learned
from arborescence.parsers.tagger import kernels
from arborescence.parsers.tagger.stages import UNKNOWN, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arborescence.parsers.tagger.stages import Codes, Words

# Weights below this absolute value are removed after half the epochs. Chosen on the dev set of
# English-EWT.
_THRESHOLDS = {kernels.HISTORY: 0.15, kernels.NEIGHBOURS: 0.1, kernels.OWN: 0.1}


def untrained(column: str, tags: Sequence[str], features: int, found: Codes, gold: Codes) -> Stage:
    """Make a stage without weights, with the tags that occur in each context."""
    # `found` holds the gold results of earlier stages for each word (see `joint`), `gold` the gold
    # tag of this stage
    everything = np.arange(len(tags))
    known = (found != UNKNOWN) & (gold != UNKNOWN)
    contexts = np.unique(found[known])
    allowed, starts = everything, np.array([0, everything.size])
    if features == kernels.OWN:
        pairs = np.unique(np.stack((found[known], gold[known])), axis=1)
        allowed = np.concatenate((everything, pairs[1]))
        ends = np.searchsorted(pairs[0], contexts, side="right")
        starts = np.concatenate((starts, everything.size + ends))
    return Stage(
        column=column,
        tags=tuple(tags),
        features=features,
        contexts=contexts,
        allowed=allowed.astype(np.uint64),
        allowed_starts=starts,
        weights=np.zeros(kernels.PLACES + len(tags), dtype=np.int8),
    )


def trained(
    stage: Stage,
    words: Words,
    order: Codes,
    found: Codes,
    gold: Codes,
    *,
    epochs: int,
    generator: np.random.Generator,
    progress: Callable[[int, int], None],
    accuracy: Callable[[Stage], float] | None,
) -> Stage:
    """Return the stage with weights trained on the sentences in `order`."""
    # with `accuracy`, the best one. After half the epochs, small weights are set to zero
    # permanently
    learned = Learned(stage.weights.size)
    context = stage.context(found)
    best, best_accuracy = stage, -1.0
    for epoch in range(1, epochs + 1):
        stage.learn(words, generator.permutation(order), context, gold, learned)
        if epoch == (epochs + 1) // 2:
            learned.prune(_THRESHOLDS[stage.features])
        if epoch == epochs or (accuracy and epoch > epochs // 2):
            candidate = replace(stage, weights=learned.in_bytes())
            candidate_accuracy = accuracy(candidate) if accuracy else 0.0
            if candidate_accuracy >= best_accuracy:
                best, best_accuracy = candidate, candidate_accuracy
        progress(epoch, epochs)
    return best
