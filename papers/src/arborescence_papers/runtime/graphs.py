"""Random edge scores for timing: like those of a real parser, and worst cases.

Each function takes a random generator, the number of graphs, the number of words n and a float
dtype, and returns scores (count, n + 1, n + 1), ``[head, dependent]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray


class Kind(Protocol):
    """A function that makes graphs of one kind."""

    def __call__(
        self, rng: np.random.Generator, count: int, n: int, dtype: DTypeLike = np.float32
    ) -> NDArray[Any]:
        """Return scores (count, n + 1, n + 1)."""


def model_like(
    rng: np.random.Generator, count: int, n: int, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Log-probabilities of heads: N(0, 2), 6 more on the edges of a random tree, log-softmax."""
    scores = rng.normal(0.0, 2.0, (count, n + 1, n + 1))
    for matrix in scores:
        order = rng.permutation(n) + 1
        matrix[0, order[0]] += 6
        for k in range(1, n):
            matrix[order[rng.integers(k)], order[k]] += 6
    return log_softmax(scores).astype(dtype)


def log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Apply log-softmax over the heads of each word: (count, N, N)."""
    diagonal = np.arange(scores.shape[-1])
    scores[:, diagonal, diagonal] = -np.inf
    highest = scores.max(axis=1, keepdims=True)
    total = np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))
    logs: NDArray[np.float64] = scores - (highest + total)
    return logs


def uniform(
    rng: np.random.Generator, count: int, n: int, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Independent uniform scores in [0, 1): no sentence is easy."""
    return rng.random((count, n + 1, n + 1)).astype(dtype)


def masked(
    rng: np.random.Generator, count: int, n: int, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Model-like scores, with 30 % of the edges masked by the lowest float, as often in PyTorch."""
    scores = model_like(rng, count, n, dtype)
    scores[rng.random(scores.shape) < 0.3] = np.finfo(scores.dtype).min
    return scores


def nested(
    rng: np.random.Generator, count: int, n: int, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Graphs with n - 1 nested contractions: each makes a cycle with one more word."""
    scores = rng.normal(-50, 1, (count, n + 1, n + 1))
    scores[:, 2, 1] = scores[:, 1, 2] = 10
    words = np.arange(3, n + 1)
    scores[:, words - 1, words] = 10
    earlier = rng.integers(1, words, (count, len(words)))
    scores[np.arange(count)[:, None], words, earlier] = 9 - words / n
    scores[:, 0] = -1000 - rng.random((count, n + 1))
    return scores.astype(dtype)


def many_roots(
    rng: np.random.Generator, count: int, n: int, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Graphs whose best arborescence has all n words as children of the root."""
    scores = rng.random((count, n + 1, n + 1))
    scores[:, 0] += 100
    return scores.astype(dtype)


#: All kinds, by name.
KINDS: Final[Mapping[str, Kind]] = {
    "model-like": model_like,
    "uniform": uniform,
    "masked": masked,
    "many root edges": many_roots,
    "nested cycles": nested,
}
