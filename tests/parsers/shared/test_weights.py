import numpy as np
import pytest

from arborescence.parsers.shared.run import Weights


def test_rounding_is_to_the_nearest_of_255_multiples():
    weights = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    whole, unit = Weights.rounded(weights)
    assert whole.dtype == np.int8
    assert np.abs(whole).max() == 127
    assert np.abs(weights - whole * unit).max() <= unit / 2 * (1 + 1e-4)
    whole, unit = Weights.rounded(np.zeros(3, dtype=np.float32))
    assert not whole.any()
    assert unit > 0


@pytest.mark.parametrize(("dtype", "sums"), [(np.float32, np.float32), (np.int8, np.int32)])
def test_sums_of_bytes_have_room(dtype, sums):
    assert Weights(np.zeros((2, 3), dtype)).sums((4, 5)).dtype == sums
    assert Weights(np.zeros((2, 3), dtype)).sums(4).shape == (4,)
