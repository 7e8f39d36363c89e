"""Attention, norms, GELU and averages against their definitions; no other row matters."""

import math
from itertools import pairwise

import numpy as np
import pytest

from arborescence.parsers.neural.bert import kernels


def numbers(seed, *shape, scale=1.0):
    generator = np.random.default_rng(seed)
    return (scale * generator.standard_normal(shape)).astype(np.float32)


def attended(vectors, heads, distances):
    """The output for one window, by the definition."""
    n, size = len(vectors), vectors.shape[1] // 3
    queries, keys, values = (
        vectors[:, k * size : (k + 1) * size].astype(np.float64).reshape(n, heads, -1)
        for k in range(3)
    )
    scores = np.einsum("ihd,jhd->hij", queries, keys) / math.sqrt(size // heads)
    if distances.size:
        far = np.arange(n) - np.arange(n)[:, None] + distances.shape[1] // 2
        scores += distances[:, far]
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    return np.einsum("hij,jhd->ihd", shares, values).reshape(n, size)


@pytest.mark.parametrize("scale", [0.1, 1, 30])
@pytest.mark.parametrize(("heads", "width"), [(1, 1), (1, 7), (2, 8), (3, 16), (4, 33)])
@pytest.mark.parametrize("far", [0, 69, 70, 99])
def test_attention(heads, width, scale, far):
    distances = numbers(far, heads, far)
    lengths = [1, 5, 1, 17, 2, 35]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    vectors = numbers(heads, starts[-1], 3 * heads * width, scale=scale)
    out = np.full((starts[-1], heads * width), np.nan, dtype=np.float32)
    kernels.attend(vectors, starts, distances, out, True)
    narrow = np.empty_like(out)
    kernels.attend(vectors, starts, distances, narrow, False)
    assert np.array_equal(narrow, out)
    for first, last in pairwise(starts.tolist()):
        expected = attended(vectors[first:last], heads, distances)
        near = scale * (1e-4 if scale < 30 else 1e-3)  # scores of thousands are rounded, too
        np.testing.assert_allclose(out[first:last], expected, rtol=1e-4, atol=near)
        alone = np.empty_like(out[first:last])
        own = np.array([0, last - first])
        kernels.attend(np.ascontiguousarray(vectors[first:last]), own, distances, alone, True)
        assert np.array_equal(alone, out[first:last])


def test_without_windows():
    out = np.empty((0, 4), dtype=np.float32)
    no_pieces, no_windows = np.empty((0, 12), dtype=np.float32), np.zeros(1, dtype=np.int64)
    kernels.attend(no_pieces, no_windows, np.zeros((2, 0), dtype=np.float32), out, True)


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 48, 100])
@pytest.mark.parametrize("scale", [1e-3, 1, 1e3])
def test_norm(size, scale):
    vectors, added = (numbers(seed, 5, size, scale=scale) for seed in (1, 2))
    weights, bias = numbers(3, size), numbers(4, size)
    both = (vectors + added).astype(np.float64)
    centred = both - both.mean(axis=1, keepdims=True)
    variance = np.square(centred).mean(axis=1, keepdims=True)
    expected = centred / np.sqrt(variance + 1e-5) * weights + bias
    kernels.add_and_norm(added, weights, bias, 1e-5, vectors)
    np.testing.assert_allclose(vectors, expected, rtol=1e-3, atol=1e-3)


def test_gelu():
    rows = np.linspace(-12, 12, 2001, dtype=np.float32).reshape(3, -1)
    expected = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in rows.ravel().tolist()]
    kernels.gelu(rows)
    np.testing.assert_allclose(rows.ravel(), expected, atol=2e-6)


def test_gelu_of_huge_numbers():
    rows = np.array([[-1e30, -100, 0, 100, 1e30]], dtype=np.float32)
    kernels.gelu(rows)
    assert rows.tolist() == [[0, 0, 0, 100, np.float32(1e30)]]


def test_averages():
    vectors = numbers(1, 9, 5)
    which, starts = np.array([3, 0, 0, 8, 1, 2]), np.array([0, 1, 3, 6])
    out = np.empty((3, 5), dtype=np.float32)
    kernels.average(vectors, which, starts, out)
    parts = np.split(vectors[which], starts[1:-1])
    np.testing.assert_allclose(out, [part.mean(axis=0) for part in parts], rtol=1e-5)
