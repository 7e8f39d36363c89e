"""Levels of prices: lists of numbers for which a float has too few bits."""

import numpy as np
import pytest

from arborescence.errors import NoTreeError
from arborescence.inference import levels
from modes import some


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("root", ["single", "multi"])
def test_floats_never_decide_a_tie_between_lists(root, projective):
    """Where a float has too few bits for gains and scores, the tree is that of whole numbers."""
    rng = np.random.default_rng(5)
    decided = undecided = 0
    for _ in range(some(400)):
        nodes = int(rng.integers(2, 8))
        shape = nodes, nodes, int(rng.integers(1, 3))
        kind = rng.integers(4)
        scores = rng.normal(size=shape) * 10.0 ** rng.integers(-300, 300)
        if kind == 1:
            scores += rng.integers(-2, 3, shape) * 1e16  # the differences are small beside the sums
        elif kind == 2:
            scores = np.nextafter(1.0, rng.choice([0.0, 2.0], shape))  # apart by one bit
        elif kind == 3:
            scores[rng.random(shape) < 0.4] = -np.inf
        gains = [
            rng.integers(0, 10 ** int(rng.choice([0, 0, 1, 15])), shape)
            for _ in range(rng.integers(1, 3))
        ]
        listed = levels.LeveledScores([*gains, scores])
        options = {"root": root, "projective": projective}
        everything = np.ones(shape, dtype=bool)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(levels, "combined", lambda _: None)
            found = best_of(listed, everything, options)
            clear = best_clearly(listed, everything, options)
            patch.setattr(levels, "_clearly_best", lambda *_, **__: None)
            expected = best_of(listed, everything, options)
        assert (found is None) == (expected is None)
        if found is not None:
            assert listed.weight(*found) == listed.weight(*expected)
            decided, undecided = decided + clear, undecided + (not clear)
    assert decided
    assert undecided


def best_of(listed, left, options):
    """Return the heads and labels of the best tree; None without a tree."""
    try:
        return listed.best(left, **options)
    except NoTreeError:
        return None


def best_clearly(listed, left, options):
    """Return whether floats were enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "decode_whole", None)
        try:
            return best_of(listed, left, options) is not None
        except TypeError:
            return False
