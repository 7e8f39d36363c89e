"""Training of transition-based parsers by the averaged perceptron, greedy or with a beam."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.shared.run import OnlineRun, Weights
from arborescence.parsers.shared.training_trees import TrainingTrees
from arborescence.parsers.transition.beam import Agenda
from arborescence.parsers.transition.features import rows_for
from arborescence.parsers.transition.learning import Learner, learn_greedily, learn_with_beam
from arborescence.transitions.state import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from arborescence.parsers.shared.run import Task
    from arborescence.parsers.transition.settings import Settings

_AT_ONCE: Final = 100  # sentences for each call of a kernel, to save call overhead
# Goldberg and Nivre (2012): probability 0.9, from the second epoch on.
_EXPLORATION: Final = 0.9


class Trainer(OnlineRun):
    """A training run of a transition-based parser."""

    kind = "transition"
    rounded_on_dev = True
    _settings: Settings

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        settings = self._settings
        self._trees = TrainingTrees.of(task.treebank, settings.learned, task.start)
        self._heads = np.concatenate(self._trees.heads)
        self._relations = np.concatenate(self._trees.relations)
        self._add_weights("actions", (rows_for(settings.bits), ACTIONS))
        self._add_weights("relations", (1 << settings.bits - 5, len(self._trees.labels)))
        # The parser shares its weight arrays with the trainer: it always has the current weights.
        weights = {name: Weights(table) for name, table in self._weights.items()}
        self._parser = self._make(**self._fixed(), weights=weights)
        _, self._batch = self._parser._prepare(list(task.treebank))

    def _fixed(self) -> dict[str, Any]:
        return super()._fixed() | {"projective": self._settings.projective}

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        settings = self._settings
        scorer = self._parser._scorer(self._batch, settings.root, None)
        dynamic = settings.oracle == "dynamic"
        sums = self._sums["actions"], self._sums["relations"]
        learner = Learner(scorer, *sums, self._heads, self._relations, dynamic)
        agenda = Agenda.of(settings.beam)
        exploration = _EXPLORATION if dynamic and number > 1 else 0.0
        generator = np.random.default_rng((settings.rng, number, 1))
        shuffled = self._shuffled(number, tell)
        while some := list(islice(shuffled, _AT_ONCE)):
            order = np.array(some, dtype=np.int64)
            clock = self._clock - len(order)
            if settings.beam > 1:
                learn_with_beam(learner, order, clock, agenda)
            else:
                words = int((self._batch.starts[order + 1] - self._batch.starts[order] - 1).sum())
                coins = generator.random(2 * words if exploration else 0)
                learn_greedily(learner, order, clock, exploration, coins)
