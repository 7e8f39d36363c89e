"""The instructions for lanes do what the NumPy definitions do, and check bounds if asked to."""

import numpy as np
import pytest

from arborescence.compiling import lanes
from arborescence.compiling.lanes import (
    LANES,
    count,
    doubles,
    fill,
    gather,
    longs,
    lowest,
    magnitude,
    multiply,
    numbers,
    places,
    plus_product,
    top,
    turn,
    where,
)
from modes import CHECKED, UNCOMPILED

numba = pytest.importorskip("numba")
pytest.importorskip("arborescence.compiling.jit_lanes")

SPECIAL = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, 3e38, 1e-40]
FLOATS = (np.float32, np.float64)
SAME = (*FLOATS, np.int32, np.int64)

# Functions of two vectors of lanes, and the types for which they are.
ELEMENTWISE = {
    "greater": (lambda a, b: where(a > b, a, b), SAME),
    "not less": (lambda a, b: where(a >= b, a, b), SAME),
    "less": (lambda a, b: where(a < b, a, b), SAME),
    "not greater": (lambda a, b: where(a <= b, a, b), SAME),
    "equal": (lambda a, b: where(a == b, a, b), SAME),
    "not equal": (lambda a, b: where(a != b, a, b), SAME),
    "not a number": (lambda a, b: where(a != a, b, a), FLOATS),
    "both": (lambda a, b: where((a > b) & (a != 2), a, b), SAME),
    "either": (lambda a, b: where((a > b) | (a == 2), a, b), SAME),
    "neither": (lambda a, b: where(~(a > b), a, b), SAME),
    "sum": (lambda a, b: a + b, SAME),
    "difference": (lambda a, b: a - b, SAME),
    "product": (lambda a, b: a * b, SAME),
    "with numbers": (lambda a, b: where(a > 2, 1 - a * 3, where(b <= 0, 5, b + 1)), SAME),
    "magnitude": (lambda a, b: magnitude(a) - b, FLOATS),
}
REDUCED = {
    "top": (lambda a, b: top(a) + b[3], SAME),
    "lane": (lambda a, b: a[b[0] * 0 + 7], (np.int32, np.int64)),
    "count": (lambda a, b: count(a > b), SAME),
    "lowest": (lambda a, b: lowest(a > b), SAME),
    "none": (lambda a, b: lowest((a > b) & (a < b)), SAME),
}


def cases(operations):
    """Each is compiled by itself: `make test` takes every third."""
    every = [
        (function, kind, f"{name} {np.dtype(kind)}")
        for name, (function, kinds) in operations.items()
        for kind in kinds
    ]
    return [
        pytest.param(function, kind, id=name, marks=[pytest.mark.long] * (place % 3 > 0))
        for place, (function, kind, name) in enumerate(every)
    ]


def pairs(kind, seed=0):
    """Vectors of numbers, with ties and, for floats, with the numbers of `SPECIAL` and NaN."""
    rng = np.random.default_rng(seed)
    for step in range(20):
        one, other = rng.integers(-4, 5, (2, LANES)).astype(kind)
        if step % 2 and kind in FLOATS:
            one[: len(SPECIAL)] = SPECIAL
            other[:4] = rng.permutation(SPECIAL)[:4]
            if step % 4 == 1:
                other[5] = np.nan
        yield one, other


def compiled(operation):
    return numba.njit(operation, error_model="numpy")


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(("function", "kind"), cases(ELEMENTWISE))
def test_lane_by_lane(function, kind):
    inner = compiled(function)

    @compiled
    def run(one, other, out):
        out[places(0)] = inner(one[places(0)], other[places(0)])

    for one, other in pairs(kind):
        out = np.zeros(LANES, kind)
        run(one, other, out)
        np.testing.assert_array_equal(out, function(one, other))
        assert (np.signbit(out) == np.signbit(function(one, other))).all()


@pytest.mark.parametrize(("function", "kind"), cases(REDUCED))
def test_all_lanes_to_one_number(function, kind):
    inner = compiled(function)

    @compiled
    def run(one, other):
        return inner(one[places(0)], other[places(0)])

    for one, other in pairs(kind):
        if not np.isnan(one).any() and not np.isnan(other).any():
            assert run(one, other) == function(one, other)


@pytest.mark.parametrize("kind", SAME)
def test_rows_columns_and_tiles(kind):
    @compiled
    def run(matrix, row, column, tile):
        row[places(1)] = matrix[places(3)]
        column[places(0)] = 7
        column[places(2)] = gather(matrix, 3, 5)
        turn(tile)

    matrix = np.arange(100).astype(kind)
    row, column = np.zeros((2, LANES + 4), kind)
    square = np.random.default_rng(0).integers(0, 99, (LANES, LANES)).astype(kind)
    tile = square.reshape(-1).copy()
    run(matrix, row, column, tile)
    assert row.tolist() == [0, *range(3, 3 + LANES), 0, 0, 0]
    assert column.tolist() == [7, 7, *range(3, 3 + 5 * LANES, 5), 0, 0]
    assert (tile.reshape(LANES, LANES) == square.T).all()


@pytest.mark.parametrize("kind", [*FLOATS, np.complex128])
def test_sums_and_products(kind):
    @compiled
    def run(one, other, out):
        a, b = one[places(0)], other[places(0)]
        total = plus_product(a - b, fill(a, other[2]), b) + a * b
        out[places(0)] = where(numbers(0) < 9, total, one[1])

    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.normal(size=(2, LANES)).astype(kind)
        if kind == np.complex128:
            one, other = one + 1j * rng.normal(size=LANES), other * (1 + 1e-30j)
        out = np.zeros(LANES, kind)
        run(one, other, out)
        expected = one - other + other[2] * other + one * other
        expected[9:] = one[1]
        rounding = 1e-5 if kind == np.float32 else 1e-14
        assert out == pytest.approx(expected, rel=rounding, abs=rounding)
        # The imaginary parts are derivatives: as small as they may be, they are right.
        if kind == np.complex128:
            run(one.real + 0j, other, out)
            slopes = (other[2] * other + one.real * other - other).imag
            assert out.imag[:9] == pytest.approx(slopes[:9], rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("depth", [0, 1, 7])
def test_rows_times_panels(depth, kind):
    def run(rows, panels, depth, found):
        starts, firsts, to = (1, 0, 1), (0, depth * LANES), (0, 3 * LANES, 5 * LANES)
        multiply(rows, starts, panels, firsts, depth, found, to)

    rng = np.random.default_rng(0)
    rows, panels = rng.normal(size=depth + 1).astype(kind), rng.normal(size=depth * 32).astype(kind)
    by_jit, found = np.full((2, 7 * LANES), 9, kind)
    compiled(run)(rows, panels, depth, by_jit)
    run(rows, panels, depth, found)
    assert by_jit == pytest.approx(found, abs=1e-5)
    of_row = [rows[start : start + depth] @ panels.reshape(2, depth, LANES) for start in (1, 0, 1)]
    untouched = np.full(LANES, 9)
    wanted = [*of_row[0], untouched, *of_row[1], *of_row[2]]
    assert found == pytest.approx(np.concatenate(wanted), abs=1e-5)


def test_types_change_without_loss():
    @compiled
    def run(floats, as_doubles, as_longs):
        as_doubles[places(0)] = doubles(floats[places(0)])
        as_longs[places(0)] = longs(numbers(-3))

    floats = np.array([*SPECIAL, *SPECIAL], np.float32)
    as_doubles, as_longs = np.zeros(LANES), np.zeros(LANES, np.int64)
    run(floats, as_doubles, as_longs)
    np.testing.assert_array_equal(as_doubles, floats.astype(np.float64))
    assert as_longs.tolist() == list(range(-3, LANES - 3))


@pytest.mark.skipif(UNCOMPILED, reason="NumPy's arrays know their layout themselves")
def test_a_contiguous_array_is_a_row():
    @compiled
    def run(array, out):
        if lanes.is_row(array):
            out[places(0)] = lanes.as_row(array)[places(5)]
        return lanes.is_row(array)

    out = np.zeros(LANES)
    cube = np.arange(60.0).reshape(3, 4, 5)
    assert run(cube, out)
    assert out.tolist() == list(range(5, 5 + LANES))
    assert not run(cube[:, ::2], out)


@pytest.mark.skipif(not CHECKED and not UNCOMPILED, reason="bounds are not checked")
@pytest.mark.parametrize("at", [-1, 5])
def test_lanes_outside_an_array(at):
    few = np.zeros(LANES + 4)
    reads = [
        lambda few, at: few[places(at)][0],
        lambda few, at: gather(few, 0, at + 1)[0] if at > 0 else few[places(at)][0],
    ]
    for read in reads:
        with pytest.raises((IndexError, OverflowError)):
            compiled(read)(few, at)

    def write(few, at):
        few[places(at)] = numbers_as_doubles(few)

    def numbers_as_doubles(few):
        return fill(few[places(0)], 1.0)

    numbers_as_doubles = compiled(numbers_as_doubles)
    with pytest.raises((IndexError, OverflowError)):
        compiled(write)(few, at)


@pytest.mark.skipif(not CHECKED, reason="bounds are not checked")
@pytest.mark.parametrize("places", [(5, 0, 0), (0, 5, 0), (0, 0, 5), (-1, 0, 0), (0, -1, 0)])
def test_products_outside_an_array(places):
    @compiled
    def run(row, panel, found, a, b, c):
        multiply(row, (0, a), panel, (b,), 4, found, (0, c))

    with pytest.raises((IndexError, OverflowError)):
        run(np.ones(8), np.ones(4 * LANES + 4), np.ones(LANES + 4), *places)
