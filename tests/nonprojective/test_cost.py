"""The cost of decoding, counted in steps of uncompiled kernels."""

from functools import partial

import numpy as np
import pytest

import arborescence as arb
from effort import steps
from graphs import LARGE
from modes import UNCOMPILED

pytestmark = pytest.mark.skipif(
    not UNCOMPILED, reason="counts steps of Python: NUMBA_DISABLE_JIT=1"
)


@pytest.mark.parametrize("kind", ["nested", "many-roots", "chains"])
@pytest.mark.parametrize("root", ["single", "multi"])
def test_steps_grow_with_the_square_of_the_words(kind, root):
    """At most 150 n² steps, for few words and for many: O(n³) would take n times more."""
    for n in (32, 128):
        scores = LARGE[kind](np.random.default_rng(1), n)
        count = steps("arborescence/nonprojective/", partial(arb.decode, root=root), scores)
        assert count < 150 * n**2
