"""Training of transition-based parsers: the averaged perceptron, greedy or with a beam."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np

from arborescence.core.errors import OptionError
from arborescence.core.graph import check_root
from arborescence.parsers.shared.features import check_bits, check_columns
from arborescence.parsers.shared.online import OnlineTrainer, all_rounded, attachment
from arborescence.parsers.shared.training_trees import Lessons
from arborescence.parsers.transition.beam import Agenda, learn_with_beam
from arborescence.parsers.transition.features import rows_for
from arborescence.parsers.transition.greedy import Averages, Scratch, learn_greedily
from arborescence.parsers.transition.parser import Oracle, TransitionParser, check_beam
from arborescence.transitions import system as system_named
from arborescence.transitions.state import ACTIONS

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.graph import Root
    from arborescence.parsers.linear.parser import Projective
    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence

_AT_ONCE: Final = 100  # sentences a call, for a call costs as much as some words
# Goldberg and Nivre (2012): nine times of ten, from the second epoch on.
_EXPLORATION: Final = 0.9


@dataclass(frozen=True)
class Settings:
    """What, with the data, decides where training arrives; see `TransitionParser.train`."""

    columns: tuple[str, ...]
    system: str
    oracle: Oracle
    beam: int
    root: Root
    pseudo_projective: bool
    seed: int
    bits: int

    def __post_init__(self) -> None:
        check_columns(self.columns)
        system = system_named(self.system)
        if self.oracle not in get_args(Oracle):
            raise OptionError(f"oracle must be 'static' or 'dynamic', not {self.oracle!r}")
        if self.oracle == "dynamic" and not system.dynamic:
            raise OptionError(
                f"oracle='dynamic' goes with arc-eager and arc-hybrid, not with {self.system}"
            )
        check_beam(self.beam)
        if self.pseudo_projective and not system.projective:
            raise OptionError(
                f"pseudo_projective does not go with {self.system}: its edges cross as they are"
            )
        check_bits(self.bits)
        check_root(self.root)

    @property
    def projective(self) -> Projective:
        """Which trees are learned from."""
        return "pseudo" if self.pseudo_projective else system_named(self.system).projective


class Trainer(OnlineTrainer):
    """A training run of a transition-based parser.

    Parameters
    ----------
    treebank
        Sentences to learn from.
    dev
        Sentences to choose the best epoch by; may be none.
    settings
        What to do with them.
    """

    kind = TransitionParser.kind
    _settings: Settings

    def __init__(
        self, treebank: Sequence[Sentence], dev: Sequence[Sentence], settings: Settings
    ) -> None:
        super().__init__(treebank, dev, settings)
        self._lessons = Lessons.of(treebank, settings.root, settings.projective)
        self._heads = np.concatenate(self._lessons.heads)
        self._relations = np.concatenate(self._lessons.relations)
        self._add_weights("actions", (rows_for(settings.bits), ACTIONS))
        self._add_weights("relations", (1 << settings.bits - 5, len(self._lessons.labels)))
        # It shares its weights with the trainer, and so is what has been learned at any time.
        self._parser = TransitionParser(**(self._fixed() | self._weights))
        _, self._batch = self._parser._prepare(list(treebank))

    def run(
        self,
        epochs: int,
        patience: int,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Train; return what to make a `TransitionParser` of; for parameters see its `train`."""
        self.run_epochs(epochs, patience, checkpoint=checkpoint, progress=progress)
        return self._fixed() | self.best() | {"info": self.info()}

    def _fixed(self) -> dict[str, Any]:
        """Return the parts of a parser that training does not change."""
        return {
            "system": self._settings.system,
            "oracle": self._settings.oracle,
            "beam": self._settings.beam,
            "columns": self._settings.columns,
            "labels": self._lessons.labels,
            "allowed": self._lessons.allowed,
            "pseudo_projective": self._settings.pseudo_projective,
        }

    def _evaluate(self, average: Mapping[str, NDArray[np.float32]]) -> dict[str, float]:
        # As it will be kept: rounded, which is also twice as fast.
        parser = TransitionParser(**self._fixed(), **all_rounded(average))
        return attachment(parser, self._dev, self._settings.root)

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
