"""One run of training: epochs, the best epoch by its scores on dev, and checkpoints."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from arborescence.core.checks import check_count
from arborescence.errors import ModelError, OptionError, brief
from arborescence.parsers import model_file
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.options import kept_fields
from arborescence.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.options import OptionSet, Progress
    from arborescence.parsers.shared.training_trees import TrainingTrees
    from arborescence.treebank import Sentence

    History = list[dict[str, float]]
    Arrays = dict[str, NDArray[Any]]

_BEST: Final = "best/"
_SCORES: Final = scheme.Field(
    "the scores of an epoch, with LAS, or none",
    lambda value: (
        isinstance(value, dict)
        and all(isinstance(score, float) for score in value.values())
        and (not value or "las" in value)
    ),
)
_FIELDS: Final = {"history": scheme.list_of(_SCORES, 1, 10**6)}


class Run(ABC):
    """A run of training in epochs.

    Each epoch is scored on dev; the best epoch is kept. An interrupted run continues from its
    checkpoint, with the same result. Subclasses define `_epoch`, `_score` and `_result`; with
    checkpoints, also `kind`, `_identity` and `_state`.
    """

    #: The kind of parser that is trained, as named in model files.
    kind: ClassVar[str]
    #: The name of an epoch in progress reports.
    phase: ClassVar[str] = "epoch"
    #: A hash of everything that determines the result: see `identity`.
    _identity: str

    def __init__(self, sentences: int) -> None:
        self._sentences = sentences
        #: The scores on dev after each epoch, with ``"las"``; {} without dev.
        self.history: History = []
        #: The result of the best epoch.
        self.best: Arrays = {}

    def run(
        self,
        epochs: int,
        patience: int | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Train; continue from the checkpoint if it exists.

        ModelError if the checkpoint is of other data or settings.
        """
        check_count(epochs, "epochs")
        patience = check_count(epochs if patience is None else patience, "patience")
        if checkpoint is not None and Path(checkpoint).exists():
            self._resume(checkpoint)
        progress = progress or _say_nothing
        self._prepare(progress)
        while (done := len(self.history)) < epochs and best_epoch(self.history) > done - patience:
            self._run_epoch(progress)
            if checkpoint is not None:
                self._save(checkpoint)

    def info(self) -> dict[str, Any]:
        """Return the best epoch, the scores on dev of all epochs, and the number of sentences."""
        return {
            "epoch": best_epoch(self.history),
            "dev": self.history,
            "sentences": self._sentences,
        }

    @abstractmethod
    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        """Learn for one epoch (from 1); call `tell` with the number of sentences done."""

    @abstractmethod
    def _score(self) -> dict[str, float]:
        """Return UAS and LAS on dev (``"las"`` is required) after an epoch; {} without dev."""

    @abstractmethod
    def _result(self) -> Arrays:
        """Return copies of the arrays to keep if the epoch is the best."""

    def _state(self) -> Arrays:
        """Return the arrays from which another run can continue after this epoch."""
        return {}

    def _restore(self, state: Arrays) -> None:
        """Continue from a state; if `_state` returns copies, subclasses override this method."""
        for name, array in self._state().items():
            array[...] = state[name]

    def _prepare(self, progress: Progress) -> None:  # noqa: B027 - most runs have nothing to prepare
        """Prepare the data of epochs that checkpoints do not contain."""

    def _said(self, scores: Mapping[str, float]) -> str:
        """Return the text about an epoch in progress reports."""
        return shown(scores)

    def _run_epoch(self, progress: Progress) -> None:
        number, total = len(self.history) + 1, self._sentences
        phase = f"{self.phase} {number}"
        self._epoch(number, lambda done: progress(phase, done, total))
        scores = self._score()
        self.history.append(scores)
        if best_epoch(self.history) == number:
            self.best = self._result()
        said = self._said(scores)
        progress(f"{phase}: {said}" if said else phase, total, total)

    def _save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint atomically: an interruption leaves the last checkpoint unchanged."""
        header = {"kind": self._name, "identity": self._identity, "history": self.history}
        arrays = scheme.joined({"": self._state(), _BEST: self.best})
        model_file.save(path, header, arrays, compress=False)

    def _resume(self, path: str | os.PathLike[str]) -> None:
        """Read a checkpoint of this run."""
        header, arrays = model_file.load(path)
        kind = header.get("kind")
        if kind != self._name:
            raise ModelError(
                f"{path}: not a {self._name}, but of the kind {brief(kind)}; give the "
                "checkpoint another name"
            )
        if header.get("identity") != self._identity:
            raise ModelError(
                f"{path}: the checkpoint is of another treebank, other settings or another "
                "version of arborescence; remove it to start again"
            )
        ours = scheme.joined({"": self._state(), _BEST: self._result()})
        wanted = {name: scheme.Array((each.dtype.type,), each.shape) for name, each in ours.items()}
        try:
            self.history = scheme.fields_of(header, _FIELDS)["history"]
            kept = scheme.arrays_of(arrays, wanted, {})
        except ModelError as error:
            raise ModelError(f"{path}: the checkpoint is damaged ({error})") from error
        self._restore(kept)
        self.best = scheme.part(kept, _BEST)

    @property
    def _name(self) -> str:
        return f"checkpoint of a {self.kind} parser"


class Task(NamedTuple):
    """The data and the settings of a parser's training."""

    #: Sentences to learn from.
    treebank: Sequence[Sentence]
    #: Sentences to choose the best epoch by; the list may be empty.
    dev: Sequence[Sentence]
    #: All settings that, with the data, determine the result.
    settings: Any
    #: Makes a parser from its parts.
    make: Callable[..., Any]
    #: A parser of this kind to continue from, or None.
    start: Any = None


class ParserRun(Run):
    """A run that trains a parser; subclasses also define `parts`."""

    def __init__(self, task: Task) -> None:
        super().__init__(len(task.treebank))
        self._treebank, self._dev, self._settings, self._make, self._start = task
        self._identity = identity(task.settings, task.treebank, task.dev)
        if self._start is not None:
            for _, array in sorted(self._start.to_file()[1].items()):
                self._identity += hashlib.sha256(array.tobytes()).hexdigest()

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """Return the arguments of the parser's constructor, after the last epoch."""

    def _compared(self, parts: Mapping[str, Any]) -> dict[str, float]:
        """Return the scores on dev of the parser with these constructor arguments."""
        return compared(self._dev, self._make(**parts).parse(self._dev, root=self._settings.root))


def identity(settings: OptionSet, *treebanks: Sequence[Sentence]) -> str:
    """Hash everything that determines the result of training: data, settings, version (SHA-256)."""
    digest = hashlib.sha256(json.dumps(settings.stored()).encode())
    sizes = "".join(f"{len(treebank)} " for treebank in treebanks)
    digest.update(f"{__version__} {sizes}".encode())
    for treebank in treebanks:
        for sentence in treebank:
            digest.update(sentence.raw)
    return digest.hexdigest()


def compared(gold: Iterable[Sentence], parsed: Iterable[Sentence]) -> dict[str, float]:
    """Return UAS and LAS (without relation subtypes) in percent; {} if there are no words."""
    words = attached = labelled = 0
    for right, guess in zip(gold, parsed, strict=True):
        same = np.flatnonzero(right.heads == guess.heads)
        of_right, of_guess = right.deprels, guess.deprels
        words += len(right)
        attached += len(same)
        labelled += sum(
            of_right[i].partition(":")[0] == of_guess[i].partition(":")[0] for i in same.tolist()
        )
    return {"uas": 100 * attached / words, "las": 100 * labelled / words} if words else {}


def best_epoch(history: History) -> int:
    """Return the number (from 1) of the epoch with the best LAS on dev; else of the last epoch."""
    las = [scores["las"] for scores in history if scores]
    return las.index(max(las)) + 1 if las else len(history)


def shown(scores: Mapping[str, float]) -> str:
    """Return scores as text."""
    named = ((*name.split("_"), f"{score:.2f}") for name, score in scores.items())
    return ", ".join(" ".join((name[0].upper(), *name[1:])) for name in named)


def about(progress: Progress | None, topic: str) -> Progress:
    """Return a function that reports progress, with `topic` before each phase."""
    if not progress:
        return _say_nothing
    return lambda phase, done, total: progress(f"{topic}, {phase}", done, total)


def _say_nothing(*_: Any) -> None:
    """Ignore a report of progress."""


class Weights(NamedTuple):
    """A table of weights and their factor."""

    #: The weights, float32 or int8.
    table: NDArray[Any]
    #: The factor of the weights.
    unit: float = 1.0

    @classmethod
    def rounded(cls, table: NDArray[np.float32]) -> Self:
        """Round weights to multiples of a unit, -127 to 127; LAS of English-EWT changes by 0.02."""
        unit = float(np.abs(table).max() or 1) / 127
        return cls(np.rint(table / np.float32(unit)).astype(np.int8), unit)

    def sums(self, shape: int | tuple[int, ...]) -> NDArray[Any]:
        """Allocate an array for sums of weights: float32, or int32 for int8 weights."""
        return np.empty(shape, np.float32 if self.table.dtype == np.float32 else np.int32)


_REPORT_EVERY: Final = 100


class OnlineRun(ParserRun):
    """A run that learns from one sentence after the other, and averages over all steps.

    Subclasses define `_epoch`, set `_trees`, and add tables by `_add_weights`. A step at time t
    that adds x to a weight adds t x to the weight's sum; the average at time T is the weight minus
    sum / T.
    """

    #: Whether dev is parsed with rounded weights, as in model files, which is faster.
    rounded_on_dev: ClassVar[bool] = False
    _trees: TrainingTrees

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._weights: dict[str, NDArray[np.float32]] = {}
        self._sums: dict[str, NDArray[np.float32]] = {}
        self._clock = 0

    def parts(self) -> dict[str, Any]:
        """Return the arguments of the parser's constructor, after the last epoch."""
        weights = {name: Weights.rounded(table) for name, table in self.best.items()}
        info = self._settings.stored() | self.info()
        return self._fixed() | {"weights": weights, "info": info}

    def _fixed(self) -> dict[str, Any]:
        """Return the constructor arguments that training does not change."""
        names = ("columns", *kept_fields(type(self._settings)))
        return {name: getattr(self._settings, name) for name in names} | {
            "labels": self._trees.labels,
            "allowed": self._trees.allowed,
        }

    def _add_weights(self, name: str, shape: int | tuple[int, ...]) -> NDArray[np.float32]:
        """Add a table of weights and a table of their sums, both zero; return the weights.

        The weights of a parser to continue from are kept; new relations come last.
        """
        self._sums[name] = np.zeros(shape, dtype=np.float32)
        table = self._weights[name] = np.zeros(shape, dtype=np.float32)
        if self._start is not None:
            try:
                old, unit = self._start.weights[name]
                table[..., : old.shape[-1]] = old * np.float32(unit)
            except (KeyError, ValueError) as error:
                raise OptionError(
                    "the parser to continue from has weights of another shape: leave out the "
                    "options of its size and kind, such as bits"
                ) from error
        return table

    def _shuffled(self, epoch: int, tell: Callable[[int], None]) -> Iterator[int]:
        """Yield all sentence numbers in random order, by seed and epoch; each is one step."""
        self._clock = (epoch - 1) * self._sentences
        order = np.random.default_rng((self._settings.rng, epoch)).permutation(self._sentences)
        for done, b in enumerate(order.tolist()):
            if done % _REPORT_EVERY == 0:
                tell(done)
            self._clock += 1
            yield b

    def _score(self) -> dict[str, float]:
        average = self._result()
        rounded = Weights.rounded if self.rounded_on_dev else Weights
        weights = {name: rounded(table) for name, table in average.items()}
        return self._compared(self._fixed() | {"weights": weights})

    def _result(self) -> dict[str, NDArray[Any]]:
        """Return the averages of the weights."""
        time = np.float32(max(self._clock, 1))
        return {name: table - self._sums[name] / time for name, table in self._weights.items()}

    def _state(self) -> dict[str, NDArray[Any]]:
        return scheme.joined({"": self._weights, "sums/": self._sums})
