"""Weights of an encoder in blocks of 4 or 8 bits: what they stand for."""

import numpy as np
import pytest

from arborescence.parsers.neural.bert import blocks as written
from arborescence.parsers.neural.bert.blocks import rounded

RNG = np.random.default_rng(1)
MATRIX = RNG.normal(size=(5, 96)).astype(np.float32)


def unpacked(numbers, bits):
    if bits == 8:
        return numbers.astype(int)
    both = np.stack([numbers & 15, numbers >> 4], axis=-1)
    return both.reshape(*numbers.shape[:-1], -1).astype(int)


def restored(blocks, bits):
    """The weights that rounded numbers stand for, by the definition."""
    rows, count = blocks.scales.shape
    zeros = unpacked(blocks.zeros, bits)[:, :count, None]
    numbers = unpacked(blocks.numbers, bits).reshape(rows, count, -1)
    return ((numbers - zeros) * blocks.scales[..., None]).reshape(rows, -1)


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_are_near(bits):
    blocks = rounded(MATRIX, bits, 32)
    spans = np.ptp(MATRIX.reshape(5, 3, 32), axis=2)
    errors = np.sqrt(np.square(restored(blocks, bits) - MATRIX).reshape(5, 3, 32).mean(axis=2))
    assert (errors < 0.4 * spans / (2**bits - 1)).all()  # a uniform error has 0.29
    assert not (blocks.scales.view(np.uint32) & 0xFFFF).any()  # a file packs two of four bytes


def test_zero_is_exact():
    weights = np.abs(MATRIX)
    weights[:, ::2] = 0
    weights[0] = 0
    for bits in (4, 8):
        assert not restored(rounded(weights, bits, 16), bits)[weights == 0].any()


@pytest.mark.parametrize("bits", [4, 8])
def test_as_written_so_read(bits):
    whole = rounded(MATRIX, bits, 32)
    assert np.array_equal(written.restored(whole, bits), restored(whole, bits))
