"""Weights of a log-linear choice between some alternatives and "none", trained by AdaGrad.

A feature is a 64-bit hash; its lower bits are its index in one table of weights. The score of an
alternative is the sum of the weights of its features; the score of *none* is 0.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared.adagrad import NEGLIGIBLE, descend
from arborescence.parsers.shared.hashing import mix

#: The number of weights in a table: a power of two.
PLACES: Final = 1 << 20
_MASK: Final = np.uint64(PLACES - 1)
# The step size. Chosen on the dev set of English-EWT.
_RATE: Final = np.float32(0.2)


#: The argument for gold answers when nothing is trained.
NO_GOLD: Final = np.zeros(0, dtype=np.bool_)


@kernel
def to_places(features: np.ndarray) -> None:
    """Replace the values of the templates by the indices of their weights."""
    for template in range(features.size):
        features[template] = mix(features[template], np.uint64(template)) & _MASK


@kernel
def total(weights: np.ndarray, places: np.ndarray) -> float:
    """Sum the weights at some indices; int8 or float32."""
    score = 0.0
    for at in places:
        score += weights[at]
    return score


@kernel
def move(
    learned: np.ndarray, places: np.ndarray, gradient: np.float32, penalty: np.float32
) -> None:
    """Move the weights at some indices against their gradient; see `descend`."""
    if abs(gradient) >= NEGLIGIBLE:
        weights, squares = learned[0], learned[1]
        for at in places:
            descend(weights, squares, at, gradient, _RATE, penalty)


@kernel
def learn(
    learned: np.ndarray, places: np.ndarray, score: float, right: bool, penalty: np.float32
) -> None:
    """Take a gradient step for one binary decision: an end, with this score, or none."""
    probability = 1 / (1 + np.exp(-score))
    move(learned, places, np.float32(probability - right), penalty)
