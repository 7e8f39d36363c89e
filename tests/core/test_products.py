"""Products of matrices by kernels: right for all shapes, the same for a row among any others."""

import numpy as np
import pytest

from arborescence.core.products import PanelMatrix, multiply_all

ROWS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 300)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("columns", [0, 1, 15, 16, 17, 33, 64, 70])
@pytest.mark.parametrize("depth", [0, 1, 300])
def test_all_shapes(depth, columns, wide):
    """Rows may be longer than the matrix is deep; each row has the same sums among any others."""
    rng = np.random.default_rng(depth + columns)
    matrix = rng.normal(size=(depth, columns)).astype(np.float32)
    panels = PanelMatrix(matrix).panels
    before = None
    rows = rng.normal(size=(max(ROWS), depth + 2)).astype(np.float32)
    exact = rows[:, :depth].astype(np.float64) @ matrix.astype(np.float64)
    for count in ROWS:
        # more rows are around it, which are not changed
        around = np.full((count + 2, columns), 7, dtype=np.float32)
        found = around[1:-1]
        multiply_all(rows[:count], panels, found, wide)
        assert found == pytest.approx(exact[:count], abs=1e-4)
        assert (around[[0, -1]] == 7).all()
        if before is not None:
            assert (found[: len(before)] == before).all()
        before = found


def test_registers_do_not_change_sums():
    rng = np.random.default_rng(0)
    matrix, rows = rng.normal(size=(200, 90)), rng.normal(size=(21, 200)).astype(np.float32)
    both = np.empty((2, 21, 90), dtype=np.float32)
    for wide, found in zip((True, False), both, strict=True):
        multiply_all(rows, PanelMatrix(matrix).panels, found, wide)
    assert (both[0] == both[1]).all()


def test_panels_begin_at_a_line_of_the_cache():
    for _ in range(20):
        assert PanelMatrix(np.ones((3, 40))).panels.ctypes.data % 64 == 0
