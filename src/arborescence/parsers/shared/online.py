"""Online learning with averaged weights (Freund and Schapire 1999), best epoch, checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from arborescence.core.errors import OptionError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.checkpoint import (
    HISTORY,
    Checkpoint,
    best_epoch,
    identity,
    shown,
)
from arborescence.parsers.shared.weights import Weights

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Parser
    from arborescence.parsers.shared.options import Record
    from arborescence.parsers.shared.types import Progress
    from arborescence.treebank import Sentence

_REPORT_EVERY: Final = 100
#: The suffixes of array names in a checkpoint: weights, their sums, and the best average.
_PARTS: Final = ("", "_sums", "_best")
_FIELDS: Final = {"clock": scheme.whole(0, 10**12), "history": HISTORY}


class OnlineTrainer(ABC):
    """A training run: its state, and the best weights so far.

    Subclasses define `kind`, `_learn` and `_evaluate`, and name their weights by `_add_weights`.
    The result is the average of the weights over all steps (Freund and Schapire 1999; Collins
    2002): a step at time t that adds x to a weight adds t x to its sum, and the average at the
    final time T is the weight minus sum / T.

    Parameters
    ----------
    treebank
        Sentences to learn from.
    dev
        Sentences to choose the best epoch by; may be empty.
    settings
        All settings that, with the data, determine the result.
    """

    #: The kind of parser that is trained, as named in model files.
    kind: ClassVar[str]

    def __init__(
        self,
        treebank: Sequence[Sentence],
        dev: Sequence[Sentence],
        settings: Record,
    ) -> None:
        self._treebank = treebank
        self._dev = dev
        self._settings = settings
        self._checkpoint = Checkpoint(self.kind, identity(settings, treebank, dev))
        self._weights: dict[str, NDArray[np.float32]] = {}
        self._sums: dict[str, NDArray[np.float32]] = {}
        self._clock = 0
        self._history: list[dict[str, float]] = []
        self._best: dict[str, NDArray[np.float32]] = {}

    def run(
        self,
        epochs: int,
        patience: int,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Train until LAS stops rising or `epochs` is reached; resume from a checkpoint if any.

        Parameters
        ----------
        epochs, patience, checkpoint, progress
            As for `LinearParser.train`.

        Raises
        ------
        OptionError
            If `epochs` or `patience` is less than 1.
        ModelError
            If `checkpoint` belongs to other data or settings, or cannot be read.
        """
        for name, value in (("epochs", epochs), ("patience", patience)):
            if value < 1:
                raise OptionError(f"{name} must be at least 1, not {value}")
        if checkpoint is not None and Path(checkpoint).exists():
            self._restore(checkpoint)
        self._prepare(progress)
        while (done := len(self._history)) < epochs and best_epoch(self._history) > done - patience:
            self._run_epoch(progress)
            if checkpoint is not None:
                self._store(checkpoint)

    def best(self) -> dict[str, Weights]:
        """Return the average weights of the best epoch, rounded."""
        return {name: Weights.rounded(table) for name, table in self._best.items()}

    def info(self) -> dict[str, Any]:
        """Return the settings, the best epoch, all scores on dev, and the number of sentences."""
        return self._settings.stored() | {
            "epoch": best_epoch(self._history),
            "dev": self._history,
            "sentences": len(self._treebank),
        }

    @abstractmethod
    def _learn(self, epoch: int, progress: Progress | None) -> None:
        """Train for one epoch: change weights, sums and clock. The first epoch is 1."""

    @abstractmethod
    def _evaluate(self, average: Mapping[str, NDArray[np.float32]]) -> dict[str, float]:
        """Return UAS and LAS on dev (``"las"`` is required) with these weights; {} without dev."""

    def _prepare(self, progress: Progress | None) -> None:  # noqa: B027 - most have nothing to do
        """Prepare what evaluation needs and checkpoints do not contain."""

    def _add_weights(self, name: str, shape: int | tuple[int, ...]) -> None:
        """Add a table of weights and of their sums, all zero."""
        self._weights[name] = np.zeros(shape, dtype=np.float32)
        self._sums[name] = np.zeros(shape, dtype=np.float32)

    def _shuffled(self, epoch: int, seed: int, progress: Progress | None) -> Iterator[int]:
        """Yield all sentence numbers in random order, fixed by seed and epoch; each is one step."""
        sentences = len(self._treebank)
        order = np.random.default_rng((seed, epoch)).permutation(sentences)
        for done, b in enumerate(order.tolist()):
            if progress and done % _REPORT_EVERY == 0:
                progress(f"epoch {epoch}", done, sentences)
            self._clock += 1
            yield b

    def _run_epoch(self, progress: Progress | None) -> None:
        epoch = len(self._history) + 1
        self._learn(epoch, progress)
        average = {
            name: weights - self._sums[name] / np.float32(self._clock)
            for name, weights in self._weights.items()
        }
        scores = self._evaluate(average)
        self._history.append(scores)
        if best_epoch(self._history) == epoch:
            self._best = average
        if progress:
            total = len(self._treebank)
            progress(f"epoch {epoch}" + (f": {shown(scores)}" if scores else ""), total, total)

    def _store(self, checkpoint: str | os.PathLike[str]) -> None:
        header = {"clock": self._clock, "history": self._history}
        arrays = {
            name + part: array
            for part, kept in zip(_PARTS, (self._weights, self._sums, self._best), strict=True)
            for name, array in kept.items()
        }
        self._checkpoint.store(checkpoint, header, arrays)

    def _restore(self, checkpoint: str | os.PathLike[str]) -> None:
        wanted = {
            name + part: scheme.Array((np.float32,), weights.shape)
            for name, weights in self._weights.items()
            for part in _PARTS
        }
        fields, kept = self._checkpoint.restore(checkpoint, _FIELDS, wanted)
        for name, weights in self._weights.items():
            weights[:], self._sums[name][:], self._best[name] = (
                kept[name + part] for part in _PARTS
            )
        self._clock, self._history = fields["clock"], fields["history"]


def attachment(parser: Parser, sentences: Sequence[Sentence], root: Root) -> dict[str, float]:
    """Parse sentences with gold trees; return the scores of `compared`."""
    return compared(sentences, parser.parse(sentences, root=root))


def compared(gold: Iterable[Sentence], parsed: Iterable[Sentence]) -> dict[str, float]:
    """Return UAS and LAS (without relation subtypes) in percent; {} if there are no words.

    >>> from arborescence.treebank import Sentence
    >>> gold = Sentence.from_words(["Trees", "grow"], heads=[-1, 2, 0], deprels=["nsubj", "root"])
    >>> compared([gold], [gold.replace(deprels=["nsubj:pass", "cop"])])
    {'uas': 100.0, 'las': 50.0}
    """
    words = attached = labelled = 0
    for right, found in zip(gold, parsed, strict=True):
        same = np.flatnonzero(right.heads[1:] == found.heads[1:])
        ours, theirs = right.deprels, found.deprels
        words += len(right)
        attached += len(same)
        labelled += sum(
            ours[i].partition(":")[0] == theirs[i].partition(":")[0] for i in same.tolist()
        )
    return {"uas": 100 * attached / words, "las": 100 * labelled / words} if words else {}
