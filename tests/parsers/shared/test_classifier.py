"""Learning by AdaGrad with an L1 penalty, and weights as bytes."""

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.shared.classifier import Learned, descend, pack, unpack

RATE, PENALTY = np.float32(0.2), np.float32(0.01)


def test_a_step_is_that_of_the_formula():
    learned = Learned(3)
    learned.weights[:] = [0.5, -0.25, 0]
    weights, squares = learned.weights.astype(np.float64), learned.squares.astype(np.float64)
    for at, gradient in ((0, 0.75), (1, -0.5), (0, -0.25), (2, 0.125)):
        descend(learned.weights, learned.squares, at, np.float32(gradient), RATE, PENALTY)
        squares[at] += gradient**2
        step = float(RATE) / np.sqrt(squares[at])
        moved = weights[at] - step * gradient
        weights[at] = np.sign(moved) * max(abs(moved) - step * float(PENALTY), 0)
    np.testing.assert_allclose(learned.weights, weights, rtol=1e-5)
    np.testing.assert_allclose(learned.squares, squares, rtol=1e-6)


def test_what_is_pruned_stays_0():
    learned = Learned(2)
    learned.weights[:] = [0.05, 0.5]
    learned.prune()
    for at in range(2):
        descend(learned.weights, learned.squares, at, np.float32(1), RATE, PENALTY)
    assert learned.weights[0] == 0
    assert 0 < learned.weights[1] < 0.5


def test_bytes_hold_tenths_up_to_their_ends():
    learned = Learned(4)
    learned.weights[:] = [0.26, -9, 20, -0.04]
    assert learned.in_bytes().tolist() == [3, -90, 127, 0]


@pytest.mark.parametrize("size", [1, 300, 70_000])
def test_weights_survive_packing(size):
    generator = np.random.default_rng(size)
    weights = generator.integers(-127, 128, size).astype(np.int8)
    weights[generator.random(size) < 0.995] = 0
    weights[-1] = 5
    arrays = pack(weights)
    assert np.array_equal(unpack(arrays, size), weights)
    with pytest.raises(ModelError, match="reach beyond the table"):
        unpack(arrays, size - 1)
