"""Decoding of edge scores from NumPy files: read scores, write trees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.errors import ScoresError
from arborescence.system.arrays import Archive, opened
from arborescence.system.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray


def load_scores(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read scores, and lengths if there are any, from a ``.npy`` or ``.npz`` file."""
    with opened(path, ScoresError, "a .npy or .npz file of numbers") as content:
        if not isinstance(content, Archive):
            return content, None
        if "scores" in content.names:
            lengths = content.read("lengths") if "lengths" in content.names else None
            return content.read("scores"), lengths
        found = ", ".join(content.names) or "none"
        raise ScoresError(f"{path}: no array named 'scores' (found: {found})")


class Best:
    """The best tree of each sentence: heads (..., N), weights (...)."""

    def __init__(self, heads: NDArray[np.int64], weights: Any) -> None:
        self.heads = heads
        self.trees = heads.reshape(-1, heads.shape[-1])
        self.weights: list[float] = np.atleast_1d(weights).ravel().tolist()

    def lines(self) -> Iterator[str]:
        """Write the heads of each sentence's words on a line."""
        for tree in self.trees:
            yield " ".join(map(str, words_of(tree)))

    def json_lines(self) -> Iterator[str]:
        """Write each tree as a JSON object on a line."""
        for tree, weight in zip(self.trees, self.weights, strict=True):
            yield json.dumps({"heads": words_of(tree), "weight": float(weight)})

    def save(self, path: Path) -> None:
        """Write the head vectors as a ``.npy`` file, whole or not at all."""
        with replacing(path) as file:
            np.save(file, self.heads, allow_pickle=False)


class KBest:
    """The k best trees of each sentence: heads (..., k, N), weights (..., k), counts (...)."""

    def __init__(
        self,
        heads: NDArray[np.int64],
        weights: NDArray[np.float64],
        counts: NDArray[np.int64],
    ) -> None:
        self.heads = heads
        self.weights = weights
        self.counts = counts

    def sentences(self) -> Iterator[list[tuple[float, list[int]]]]:
        """Give the trees of each sentence: their weights and the heads of their words."""
        k, nodes = self.heads.shape[-2:]
        for trees, weights, count in zip(
            self.heads.reshape(-1, k, nodes),
            self.weights.reshape(-1, k),
            self.counts.flat,
            strict=True,
        ):
            yield list(zip(weights[:count].tolist(), map(words_of, trees[:count]), strict=True))

    def lines(self) -> Iterator[str]:
        """Write each tree on a line: sentence (from 0), rank (from 1), weight, heads; with tabs."""
        for sentence, trees in enumerate(self.sentences()):
            for rank, (weight, heads) in enumerate(trees, 1):
                yield f"{sentence}\t{rank}\t{weight!r}\t{' '.join(map(str, heads))}"

    def json_lines(self) -> Iterator[str]:
        """Write the trees of each sentence as a JSON object on a line."""
        for trees in self.sentences():
            analyses = [{"weight": weight, "heads": heads} for weight, heads in trees]
            yield json.dumps({"analyses": analyses})

    def save(self, path: Path) -> None:
        """Write the three arrays as a ``.npz`` file, whole or not at all."""
        with replacing(path) as file:
            np.savez(file, heads=self.heads, weights=self.weights, counts=self.counts)


def words_of(tree: NDArray[np.int64]) -> list[int]:
    """Give the heads of the words, without root and padding."""
    heads: list[int] = tree[tree >= 0].tolist()
    return heads
