"""Undirected scores against the same, pair by pair, in plain Python."""

import numpy as np
import pytest

from arborescence.errors import ScoresError
from arborescence.undirected import encode
from graphs import ABSENT, FINITE, layouts, random_graphs

LARGEST = np.finfo(np.float64).max


def slow_encode(scores, encoding):
    size = len(scores)
    weights = np.full((size, size), -np.inf)
    for i in range(size):
        for j in range(i + 1, size):
            there = [] if i == 0 else [float(scores[j, i])]
            there = [score for score in [float(scores[i, j]), *there] if score > -np.inf]
            if not there:
                continue
            if len(there) == 1:
                [weight] = there
            elif encoding == "mean":
                weight = there[0] / 2 + there[1] / 2
            elif encoding == "product":
                weight = min(there[0] * there[1], LARGEST)
            else:
                weight = {"max": max, "min": min}[encoding](there)
            weights[i, j] = weights[j, i] = weight
    return weights


@pytest.mark.parametrize("kind", [*FINITE, *ABSENT])
def test_each_pair_has_the_score_of_its_directions(kind):
    for scores in random_graphs(kind, 20):
        scores = scores.astype(np.float64)
        for encoding in ("mean", "max", "min"):
            assert (encode(scores, encoding) == slow_encode(scores, encoding)).all()
        scores[1:] = np.where(scores[1:] > -np.inf, abs(scores[1:]), -np.inf)
        assert (encode(scores, "product") == slow_encode(scores, "product")).all()


def test_column_0_and_the_diagonal_are_ignored():
    scores = np.random.default_rng(0).normal(size=(5, 5))
    other = scores.copy()
    other[:, 0] = np.nan
    np.fill_diagonal(other, np.inf)
    assert (encode(scores) == encode(other)).all()


def test_batches_whatever_their_layout():
    scores = np.random.default_rng(0).normal(size=(2, 3, 6, 6)).astype(np.float32)
    weights = encode(scores, "max")
    assert weights.shape == scores.shape
    assert weights.dtype == np.float64
    assert (weights[1, 2] == encode(scores[1, 2], "max")).all()
    for other in layouts(scores):
        assert (encode(other, "max") == weights).all()


def test_scores_that_cannot_be_used():
    scores = np.zeros((2, 4, 4))
    scores[1, 2, 3] = np.nan
    with pytest.raises(ScoresError, match=r"scores\[1, 2, 3\], the edge 2 -> 3, is nan"):
        encode(scores)
    scores[1, 2, 3] = -2
    scores[:, 0] = -1  # the root has no part in a product
    with pytest.raises(ScoresError, match=r"sentence 1: the edge 2 -> 3 has the score -2\.0"):
        encode(scores, "product")
    with pytest.raises(ValueError, match="encoding must be one of mean, product, max, min"):
        encode(scores, "sum")
