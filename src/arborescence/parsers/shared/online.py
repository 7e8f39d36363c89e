"""Online learning with averaged weights (Freund and Schapire 1999), best epoch, checkpoints."""

from __future__ import annotations

import hashlib
import json
import reprlib
from abc import ABC, abstractmethod
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import arborescence
from arborescence.core.errors import ModelError, OptionError
from arborescence.parsers.shared import model_file, scheme
from arborescence.parsers.shared.weights import Weights

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Parser
    from arborescence.parsers.shared.types import Progress
    from arborescence.treebank import Sentence

_REPORT_EVERY: Final = 100
#: The suffixes of array names in a checkpoint: weights, their sums, and the best average.
_PARTS: Final = ("", "_sums", "_best")
_FIELDS: Final = {
    "clock": scheme.whole(0, 10**12),
    "history": scheme.list_of(
        scheme.Field(
            "the scores of an epoch, with LAS, or none",
            lambda value: (
                isinstance(value, dict)
                and all(isinstance(score, float) for score in value.values())
                and (not value or "las" in value)
            ),
        ),
        1,
        10**6,
    ),
}


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
        settings: DataclassInstance,
    ) -> None:
        self._treebank = treebank
        self._dev = dev
        self._settings = settings
        self._identity = identity(treebank, dev, settings)
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
        while len(self._history) < epochs and self._best_epoch() > len(self._history) - patience:
            self._run_epoch(progress)
            if checkpoint is not None:
                self._store(checkpoint)

    def best(self) -> dict[str, Weights]:
        """Return the average weights of the best epoch, rounded."""
        return {name: Weights.rounded(table) for name, table in self._best.items()}

    def info(self) -> dict[str, Any]:
        """Return the settings, the best epoch, all scores on dev, and the number of sentences."""
        return asdict(self._settings) | {
            "epoch": self._best_epoch(),
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

    def _best_epoch(self) -> int:
        """Return the number (from 1) of the best epoch on dev, or of the last one without dev."""
        las = [scores["las"] for scores in self._history if scores]
        return las.index(max(las)) + 1 if las else len(self._history)

    def _run_epoch(self, progress: Progress | None) -> None:
        epoch = len(self._history) + 1
        self._learn(epoch, progress)
        average = {
            name: weights - self._sums[name] / np.float32(self._clock)
            for name, weights in self._weights.items()
        }
        scores = self._evaluate(average)
        self._history.append(scores)
        if self._best_epoch() == epoch:
            self._best = average
        if progress:
            shown = ", ".join(f"{name.upper()} {score:.2f}" for name, score in scores.items())
            total = len(self._treebank)
            progress(f"epoch {epoch}" + (f": {shown}" if shown else ""), total, total)

    def _store(self, checkpoint: str | os.PathLike[str]) -> None:
        header = {
            "kind": self._kind_of_checkpoint(),
            "identity": self._identity,
            "clock": self._clock,
            "history": self._history,
        }
        arrays = {
            name + part: array
            for part, kept in zip(_PARTS, (self._weights, self._sums, self._best), strict=True)
            for name, array in kept.items()
        }
        model_file.save(checkpoint, header, arrays, compress=False)

    def _restore(self, checkpoint: str | os.PathLike[str]) -> None:
        header, arrays = model_file.load(checkpoint)
        kind, identity = header.get("kind"), header.get("identity")
        if kind != self._kind_of_checkpoint():
            raise ModelError(
                f"{checkpoint}: not a {self._kind_of_checkpoint()}, but of the kind "
                f"{reprlib.repr(kind)}; give the checkpoint another name"
            )
        if identity != self._identity:
            raise ModelError(
                f"{checkpoint}: the checkpoint is of another treebank, other settings or another "
                "version of arborescence; remove it to start anew"
            )
        try:
            fields = scheme.fields_of(header, _FIELDS)
            wanted = {
                name + part: scheme.Array((np.float32,), weights.shape)
                for name, weights in self._weights.items()
                for part in _PARTS
            }
            kept = scheme.arrays_of(arrays, wanted, {})
        except ModelError as error:
            raise ModelError(f"{checkpoint}: the checkpoint is damaged ({error})") from error
        for name, weights in self._weights.items():
            weights[:], self._sums[name][:], self._best[name] = (
                kept[name + part] for part in _PARTS
            )
        self._clock, self._history = fields["clock"], fields["history"]

    def _kind_of_checkpoint(self) -> str:
        return f"checkpoint of a {self.kind} parser"


def identity(
    treebank: Sequence[Sentence], dev: Sequence[Sentence], settings: DataclassInstance
) -> str:
    """Hash everything that determines the result of training: data, settings, version (SHA-256)."""
    digest = hashlib.sha256(json.dumps(asdict(settings)).encode())
    digest.update(f"{arborescence.__version__} {len(treebank)} {len(dev)} ".encode())
    for sentences in (treebank, dev):
        for sentence in sentences:
            digest.update(sentence.raw)
    return digest.hexdigest()


def attachment(parser: Parser, sentences: Sequence[Sentence], root: Root) -> dict[str, float]:
    """Parse sentences with gold trees; return UAS and LAS (without relation subtypes) in percent.

    Return {} if there are no words.
    """
    words = attached = labelled = 0
    for gold, parsed in zip(sentences, parser.parse(sentences, root=root), strict=True):
        right = np.flatnonzero(gold.heads[1:] == parsed.heads[1:])
        ours, theirs = gold.deprels, parsed.deprels
        words += len(gold)
        attached += len(right)
        labelled += sum(
            ours[i].partition(":")[0] == theirs[i].partition(":")[0] for i in right.tolist()
        )
    return {"uas": 100 * attached / words, "las": 100 * labelled / words} if words else {}
