"""The weights of a log-linear choice between some alternatives and none of them.

A feature is a 64-bit hash; its lower bits are its place in one table of weights. An alternative
scores the sum of the weights of its features, and *none* scores 0.
"""

# mypy: disable-error-code="no-untyped-call,no-any-return"
from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.core.jit import kernel
from arborescence.parsers.shared.adagrad import NEGLIGIBLE, descend
from arborescence.parsers.shared.hashing import mix

#: How many weights a table has: a power of two.
PLACES: Final = 1 << 20
_MASK: Final = np.uint64(PLACES - 1)
# Chosen on the development part of English-EWT.
_RATE: Final = np.float32(0.2)


#: What stands for the right answers and for the squares where nothing is learned.
NO_GOLD: Final = np.zeros(0, dtype=np.bool_)
NO_SQUARES: Final = np.zeros(0, dtype=np.float32)


@kernel
def to_places(features: np.ndarray) -> None:
    """Replace the features that some templates have found by the places of their weights."""
    for template in range(features.size):
        features[template] = mix(features[template], np.uint64(template)) & _MASK


@kernel
def total(weights: np.ndarray, places: np.ndarray) -> float:
    """Add up the weights at some places; bytes as well as floats."""
    score = 0.0
    for at in places:
        score += weights[at]
    return score


@kernel
def move(
    weights: np.ndarray,
    squares: np.ndarray,
    places: np.ndarray,
    gradient: np.float32,
    penalty: np.float32,
) -> None:
    """Move the weights at some places against their gradient; see `descend`."""
    if abs(gradient) >= NEGLIGIBLE:
        for at in places:
            descend(weights, squares, at, gradient, _RATE, penalty)


@kernel
def learn(
    weights: np.ndarray,
    squares: np.ndarray,
    places: np.ndarray,
    score: float,
    right: bool,
    penalty: np.float32,
) -> None:
    """Learn from one decision between an end, which has this score, and none."""
    probability = 1 / (1 + np.exp(-score))
    move(weights, squares, places, np.float32(probability - right), penalty)
