"""Weights in a model file, rounded to 4 or 8 bits in blocks that share a scale and a zero."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]

#: A scale may span only a share of the range of its block: weights outside are clipped, but the
#: others are rounded less. Of these shares, the share with the least squared error is taken.
_SHARES: Final = (1.0, 0.92, 0.84, 0.76)
#: The number of weights that are rounded at a time.
_PART: Final = 1 << 22
#: The weights that may share a scale.
BLOCKS: Final = (128, 64, 32, 16)


class Bits(NamedTuple):
    """How the weights of an encoder are rounded."""

    #: The bits of a weight in the table of pieces: 4 or 8.
    table: int
    #: The bits of a weight in a matrix: 4 or 8.
    matrix: int
    #: The most weights that share a scale.
    block: int = BLOCKS[0]


#: How an encoder is rounded by default. With one scale for all inputs of a layer, LAS of
#: English-EWT's dev part fell by 0.24; with blocks of 128, it falls by 0.06.
EIGHT: Final = Bits(8, 8)


class RoundedMatrix(NamedTuple):
    """A rounded matrix: ``(number - zero) * scale`` for each of its R rows, in B blocks each."""

    #: (R, B, block * bits / 8): the numbers; of two in a byte, the first is in the low bits.
    numbers: Bytes
    #: (R, B): the scales, with 8 significant bits each, so that a file packs them well.
    scales: Floats
    #: (R, ceil(B * bits / 8)): the numbers that stand for 0, packed as `numbers`.
    zeros: Bytes


def rounded(weights: Floats, bits: int, block: int) -> RoundedMatrix:
    """Round the rows of a matrix; their length must be a multiple of the block.

    >>> whole = rounded(np.arange(32, dtype=np.float32).reshape(1, 32) / 8, 8, 16)
    >>> whole.numbers.shape, whole.scales.shape, whole.zeros.shape
    ((1, 2, 16), (1, 2), (1, 2))
    """
    rows, width = weights.shape
    step = max(_PART // width, 1)
    bounds = [*range(0, rows, step), rows]
    parts = [_rounded(weights[i:j].reshape(j - i, -1, block), bits) for i, j in pairwise(bounds)]
    numbers, scales, zeros = (np.concatenate(each) for each in zip(*parts, strict=True))
    return RoundedMatrix(_packed(numbers, bits), scales, _packed(zeros, bits))


def restored(parts: Sequence[NDArray[Any]], bits: int) -> Floats:
    """Return the matrix (R, C) that rounded parts stand for.

    >>> whole = np.arange(32, dtype=np.float32).reshape(1, 32) / 8
    >>> bool(np.abs(restored(rounded(whole, 8, 16), 8) - whole).max() < 0.02)
    True
    """
    numbers, scales, zeros = parts
    rows, blocks = scales.shape
    plain = _unpacked(numbers.reshape(rows, blocks, -1), bits).astype(np.float32)
    plain -= _unpacked(zeros, bits)[:, :blocks, None]
    plain *= scales[..., None]
    whole: Floats = plain.reshape(rows, -1)
    return whole


def _rounded(weights: Floats, bits: int) -> tuple[Bytes, Floats, Bytes]:
    """Round blocks (R, B, block) to numbers, scales (R, B) and zeros (R, B)."""
    most = 2**bits - 1
    low, high = np.minimum(weights.min(axis=2), 0), np.maximum(weights.max(axis=2), 0)
    least = np.full(low.shape, np.inf, dtype=np.float32)
    best = np.zeros(weights.shape, np.uint8), np.zeros_like(low), np.zeros(low.shape, np.uint8)
    for share in _SHARES:
        scales = _short(share * (high - low) / most)
        zeros = np.clip(np.rint(-share * low / scales), 0, most)
        numbers = np.clip(np.rint(weights / scales[..., None]) + zeros[..., None], 0, most)
        error = np.square((numbers - zeros[..., None]) * scales[..., None] - weights).sum(axis=2)
        better = error < least
        least[better] = error[better]
        for kept, new in zip(best, (numbers, scales, zeros), strict=True):
            kept[better] = new[better]
    return best


def _short(scales: Floats) -> Floats:
    """Round positive numbers up to 8 significant bits; 0 becomes 1."""
    bits = np.where(scales > 0, scales, 1).astype(np.float32).view(np.uint32)
    short: Floats = ((bits + np.uint32(0xFFFF)) & np.uint32(0xFFFF0000)).view(np.float32)
    return short


def _packed(numbers: Bytes, bits: int) -> Bytes:
    """Write two numbers of 4 bits in a byte, along the last axis."""
    if bits == 8:
        return numbers
    if numbers.shape[-1] % 2:
        numbers = np.concatenate([numbers, np.zeros_like(numbers[..., :1])], axis=-1)
    packed: Bytes = numbers[..., ::2] | numbers[..., 1::2] * np.uint8(16)
    return packed


def _unpacked(packed: Bytes, bits: int) -> Bytes:
    """Return the numbers that `_packed` has written, and perhaps one more."""
    if bits == 8:
        return packed
    pairs = np.stack([packed & np.uint8(15), packed >> np.uint8(4)], axis=-1)
    return pairs.reshape(*packed.shape[:-1], -1)
