"""Products of bytes: exact sums for all shapes, and the same result with each type of weights."""

import numpy as np
import pytest

from arborescence.compiling.native import has_vnni
from arborescence.core import byte_products
from arborescence.core.byte_products import MOST, ByteMatrix, ByteRows
from modes import UNCOMPILED

WEIGHTS = [np.int16, pytest.param(np.int8, marks=pytest.mark.skipif(
    not has_vnni() and not UNCOMPILED, reason="the processor has no VNNI"
))]  # fmt: skip
ROWS = (0, 1, 2, 7, 49, 50)


def integers(rng, *shape):
    """Draw integers, among them many of the largest and smallest."""
    drawn = rng.integers(-MOST, MOST + 1, shape)
    return np.where(rng.random(shape) < 0.3, np.sign(drawn) * MOST, drawn)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("columns", [0, 1, 15, 17, 33, 64])
@pytest.mark.parametrize("depth", [0, 1, 3, 4, 6, 301])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_sums_are_exact(weight, depth, columns, wide, monkeypatch):
    monkeypatch.setattr(byte_products, "has_wide_registers", lambda: wide)
    rng = np.random.default_rng(depth + columns)
    matrix = integers(rng, depth, columns)
    if depth:
        matrix[0] = MOST  # so that all scales are 1
    of_matrix = ByteMatrix(matrix.astype(np.float32), weight)
    for count in ROWS:
        rows = integers(rng, count, depth)
        rows[::3] = 0
        given = ByteRows((rows + 128).astype(np.uint8), np.ones(count, dtype=np.float32))
        assert (of_matrix.after_bytes(given) == rows @ matrix).all()


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_sums(weight, sign):
    """The instruction for int16 with saturation (vpmaddubsw) would have wrong sums here."""
    matrix = np.full((700, 20), MOST, dtype=np.float32)
    rows = ByteRows(np.full((9, 700), 128 + sign * MOST, np.uint8), np.ones(9, np.float32))
    assert (ByteMatrix(matrix, weight).after_bytes(rows) == sign * 700 * MOST**2).all()


@pytest.mark.parametrize("weight", WEIGHTS)
def test_near_the_product_of_floats(weight):
    """The error of each factor is at most half an integer: 1/254 of the largest number."""
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(90, 40)) * 10.0 ** rng.integers(-9, 9, 40)).astype(np.float32)
    rows = rng.normal(size=(70, 92)).astype(np.float32)
    rows[3], rows[4], rows[5] = 0, 1e-35, 1e20
    bias = rng.normal(size=40).astype(np.float32)
    found = ByteMatrix(matrix, weight).after(rows, bias)
    exact = rows[:, :90].astype(np.float64) @ matrix + bias
    sizes = np.abs(rows[:, :90]).max(axis=1)[:, None] * np.abs(matrix).max(axis=0)
    assert (np.abs(found - exact) <= sizes * 90 * 1.01 / 127 + 1e-6 * np.abs(bias)).all()
    ratio = (np.abs(found - exact) / sizes.clip(1e-30))[6:]
    assert ratio.mean() < 0.03
    assert (found[3] == bias).all()


def test_each_type_of_weights_gives_the_same_bits():
    if not has_vnni() and not UNCOMPILED:
        pytest.skip("the processor has no VNNI")
    rng = np.random.default_rng(1)
    matrix, rows = rng.normal(size=(77, 33)), rng.normal(size=(60, 77)).astype(np.float32)
    one, other = (
        ByteMatrix(matrix.astype(np.float32), weight).after(rows) for weight in (np.int8, np.int16)
    )
    assert one.tobytes() == other.tobytes()


def test_a_row_has_the_same_product_among_any_others():
    rng = np.random.default_rng(2)
    matrix = ByteMatrix(rng.normal(size=(50, 21)).astype(np.float32))
    rows = rng.normal(size=(120, 50)).astype(np.float32)
    together = matrix.after(rows)
    for part in (slice(0, 1), slice(5, 30), slice(47, 97)):
        assert (matrix.after(rows[part]) == together[part]).all()


def test_rounding_to_the_nearest_byte():
    rows = np.array([[127, -127, 0.5, 1.5, -0.5, 2.51, -2.49], [0] * 7], dtype=np.float32)
    found = ByteRows.of(rows, 7)
    assert (found.numbers.astype(int) - 128).tolist() == [[127, -127, 0, 2, 0, 3, -2], [0] * 7]
    assert found.scales.tolist() == [1, 0]
    tenth = ByteRows.of(rows[:1] / 10, 3)
    assert tenth.scales == pytest.approx(0.1)
    assert (tenth.numbers == found.numbers[:1, :3]).all()
