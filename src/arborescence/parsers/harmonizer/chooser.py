"""Log-linear models that choose the new head of a word, or the new value of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.parsers.harmonizer.kernels import (
    PLACES,
    best_classes,
    choose_classes,
    choose_heads,
    learn_classes,
    learn_heads,
)
from arborescence.parsers.shared.classifier import Learned, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.harmonizer.features import Hashes

    Numbers = NDArray[np.int64]


class HeadChooser:
    """Scores the candidate heads of a word against each other."""

    def __init__(self, weights: NDArray[np.int8]) -> None:
        self._weights = weights

    @classmethod
    def learn(
        cls, places: Hashes, groups: Numbers, gold: Numbers, epochs: int, rng: np.random.Generator
    ) -> HeadChooser:
        """Learn from the candidates of words, and the correct candidate of each word (-1: none)."""
        order = np.flatnonzero(gold >= 0)
        return cls(
            _learned(
                1, epochs, lambda t: learn_heads(t, places, groups, gold, rng.permutation(order))
            )
        )

    def logs(self, places: Hashes, groups: Numbers) -> NDArray[np.float32]:
        """Return the log-probability of each candidate."""
        logs = np.empty(len(places), dtype=np.float32)
        choose_heads(self._weights, places, groups, logs)
        return logs

    def to_file(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file."""
        return pack(self._weights)

    @classmethod
    def from_file(cls, arrays: Mapping[str, NDArray[Any]]) -> HeadChooser:
        """Restore a chooser from the output of `to_file`, or raise `ModelError`."""
        return cls(unpack(arrays, PLACES + 1))


class ClassChooser:
    """Chooses one of some values."""

    def __init__(self, classes: tuple[str, ...], weights: NDArray[np.int8]) -> None:
        self.classes = classes
        self._weights = weights

    @classmethod
    def learn(
        cls, places: Hashes, gold: list[str], epochs: int, rng: np.random.Generator
    ) -> ClassChooser:
        """Learn from rows of features, each of which has its value in `gold`."""
        classes = tuple(sorted(set(gold)))
        code_of = {name: code for code, name in enumerate(classes)}
        codes = np.array([code_of[name] for name in gold])
        return cls(
            classes,
            _learned(
                len(classes),
                epochs,
                lambda t: learn_classes(
                    t, places, codes, rng.permutation(codes.size), len(classes)
                ),
            ),
        )

    def values(self, places: Hashes) -> list[str]:
        """Return the most probable value of each row."""
        best = np.zeros(len(places), dtype=np.int64)
        if len(self.classes) > 1:
            best_classes(self._weights, places, len(self.classes), best)
        return [self.classes[k] for k in best.tolist()]

    def chances(self, places: Hashes) -> NDArray[np.float32]:
        """Return the probability of each class in each row."""
        chances = np.ones((len(places), len(self.classes)), dtype=np.float32)
        if len(self.classes) > 1:
            choose_classes(self._weights, places, chances)
        return chances

    def to_file(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file."""
        return pack(self._weights)

    @classmethod
    def from_file(cls, classes: list[str], arrays: Mapping[str, NDArray[Any]]) -> ClassChooser:
        """Restore a chooser from the output of `to_file`, or raise `ModelError`."""
        return cls(tuple(classes), unpack(arrays, PLACES + len(classes)))


def _learned(
    classes: int, epochs: int, learn: Callable[[NDArray[np.float32]], None]
) -> NDArray[np.int8]:
    table = Learned(PLACES + classes)
    for _ in range(epochs):
        learn(table.table)
    return table.in_bytes()
