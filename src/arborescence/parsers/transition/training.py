"""Training of transition-based parsers by the averaged perceptron, greedy or with a beam."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.shared.online import OnlineTrainer, attachment
from arborescence.parsers.shared.training_trees import TrainingTrees
from arborescence.parsers.shared.weights import Weights
from arborescence.parsers.transition.beam import Agenda, learn_with_beam
from arborescence.parsers.transition.features import rows_for
from arborescence.parsers.transition.greedy import Averages, Scratch, learn_greedily
from arborescence.transitions.state import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.types import Progress
    from arborescence.parsers.transition.parser import TransitionParser
    from arborescence.parsers.transition.settings import Settings
    from arborescence.treebank import Sentence

_AT_ONCE: Final = 100  # sentences for each call of a kernel, to save call overhead
# Goldberg and Nivre (2012): probability 0.9, from the second epoch on.
_EXPLORATION: Final = 0.9


class Trainer(OnlineTrainer):
    """A training run of a transition-based parser.

    Parameters
    ----------
    treebank, dev, settings
        As for `OnlineTrainer`.
    make
        Makes a parser from its parts, to evaluate it on dev.
    """

    kind = "transition"
    _settings: Settings

    def __init__(
        self,
        treebank: Sequence[Sentence],
        dev: Sequence[Sentence],
        settings: Settings,
        make: Callable[..., TransitionParser],
    ) -> None:
        super().__init__(treebank, dev, settings)
        self._make = make
        self._trees = TrainingTrees.of(treebank, settings.learned)
        self._heads = np.concatenate(self._trees.heads)
        self._relations = np.concatenate(self._trees.relations)
        self._add_weights("actions", (rows_for(settings.bits), ACTIONS))
        self._add_weights("relations", (1 << settings.bits - 5, len(self._trees.labels)))
        # The parser shares its weight arrays with the trainer: it always has the current weights.
        weights = {name: Weights(table) for name, table in self._weights.items()}
        self._parser = make(**self._fixed(), weights=weights)
        _, self._batch = self._parser._prepare(list(treebank))

    def parts(self) -> dict[str, Any]:
        """Return the arguments of the parser's constructor, after the last epoch."""
        return self._fixed() | {"weights": self.best(), "info": self.info()}

    def _fixed(self) -> dict[str, Any]:
        """Return the constructor arguments that training does not change."""
        same = ("system", "oracle", "beam", "columns", "projective")
        return {name: getattr(self._settings, name) for name in same} | {
            "labels": self._trees.labels,
            "allowed": self._trees.allowed,
        }

    def _evaluate(self, average: Mapping[str, NDArray[np.float32]]) -> dict[str, float]:
        # With rounded weights, as in model files; this is also twice as fast.
        weights = {name: Weights.rounded(table) for name, table in average.items()}
        return attachment(
            self._make(**self._fixed(), weights=weights), self._dev, self._settings.root
        )

    def _learn(self, epoch: int, progress: Progress | None) -> None:
        settings = self._settings
        model = self._parser._model(settings.root, None)
        averages = Averages(self._sums["actions"], self._sums["relations"])
        scratch = Scratch.of(model)
        agenda = Agenda.of(settings.beam, scratch)
        dynamic = settings.oracle == "dynamic"
        exploration = _EXPLORATION if epoch > 1 else 0.0
        generator = np.random.default_rng((settings.seed, epoch, 1))
        shuffled = self._shuffled(epoch, settings.seed, progress)
        while some := list(islice(shuffled, _AT_ONCE)):
            order = np.array(some, dtype=np.int64)
            clock = self._clock - len(order)
            gold = (self._heads, self._relations)
            if settings.beam > 1:
                learn_with_beam(
                    self._batch, order, clock, model, averages, scratch, agenda, *gold, dynamic
                )
                continue
            words = int((self._batch.starts[order + 1] - self._batch.starts[order] - 1).sum())
            coins = generator.random(2 * words if dynamic else 0)
            learn_greedily(
                self._batch,
                order,
                clock,
                model,
                averages,
                scratch,
                *gold,
                dynamic,
                exploration,
                coins,
            )
