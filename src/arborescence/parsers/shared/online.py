"""Online learning with averaged weights (Freund and Schapire 1999; Collins 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.options import kept_fields
from arborescence.parsers.shared.run import ParserRun
from arborescence.parsers.shared.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from arborescence.parsers.shared.run import Task
    from arborescence.parsers.shared.training_trees import TrainingTrees

_REPORT_EVERY: Final = 100


class OnlineRun(ParserRun):
    """A run that learns from one sentence after the other, and averages over all steps.

    Subclasses define `_epoch`, set `_trees`, and name weights by `_add_weights`. A step at time t
    that adds x to a weight adds t x to its sum; the average at time T is the weight minus sum / T.
    """

    #: Whether dev is parsed with rounded weights, as in model files: it is faster.
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
        """Add a table of weights and one of their sums, all zero; return that of the weights."""
        self._weights[name] = np.zeros(shape, dtype=np.float32)
        self._sums[name] = np.zeros(shape, dtype=np.float32)
        return self._weights[name]

    def _shuffled(self, epoch: int, tell: Callable[[int], None]) -> Iterator[int]:
        """Yield all sentence numbers in random order, fixed by seed and epoch; each is one step."""
        self._clock = (epoch - 1) * self._sentences
        order = np.random.default_rng((self._settings.seed, epoch)).permutation(self._sentences)
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
        """Return the averages."""
        time = np.float32(max(self._clock, 1))
        return {name: table - self._sums[name] / time for name, table in self._weights.items()}

    def _state(self) -> dict[str, NDArray[Any]]:
        return scheme.joined({"": self._weights, "sums/": self._sums})
