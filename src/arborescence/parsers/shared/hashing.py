"""64-bit hashes of the columns of a sentence, by a multiply-with-carry step (Marsaglia 1994).

Each string is hashed once for each word, from the bytes of the CoNLL-U file; a tuple is the `mix`
of its hashes. The step (the lower half of the state times a constant, plus the upper half) never
overflows 64 bits, so hashes are the same without Numba. They are part of the model format: after a
change here, no trained model can be used.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from arborescence.compiling.kernels import kernel

#: The hash of a missing value (``_`` in any column except FORM).
MISSING: Final = np.uint64(0)

_LOWER_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER = np.uint64(0xCC9E2D51)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_CASE_BIT = np.uint8(0x20)


@kernel
def _step(state: np.uint64) -> np.uint64:
    return (state & _LOWER_HALF) * _MULTIPLIER + (state >> _HALF)


@kernel
def mix(first: np.uint64, second: np.uint64) -> np.uint64:
    """Combine two uint64 hashes into one; the order matters, and every bit depends on every bit."""
    state = _step(_step(first ^ _SEED) ^ second)
    state = _step(state ^ (state >> np.uint64(29)))
    state = _step(state ^ (state >> np.uint64(31)))
    return state ^ (state >> np.uint64(32))


@kernel
def hash_bytes(raw: np.ndarray, start: int, stop: int, fold: bool) -> np.uint64:
    """Hash ``raw[start:stop]`` (uint8); with `fold`, ASCII letters count as lower case."""
    state = _SEED
    for i in range(start, stop):
        byte = raw[i]
        if fold and 65 <= byte <= 90:
            byte = byte | _CASE_BIT
        state = _step(state ^ byte)
    return mix(state, np.uint64(stop - start))


@kernel
def prefix_stop(raw: np.ndarray, start: int, stop: int, characters: int) -> int:
    """Return where the first `characters` characters of the UTF-8 text ``raw[start:stop]`` end."""
    i = start
    while i < stop:
        if raw[i] & 0xC0 != 0x80:  # the first byte of a character
            if characters == 0:
                break
            characters -= 1
        i += 1
    return i


@kernel
def suffix_start(raw: np.ndarray, start: int, stop: int, characters: int) -> int:
    """Return where the last `characters` characters of the UTF-8 text ``raw[start:stop]`` begin."""
    i = stop
    while i > start and characters > 0:
        i -= 1
        if raw[i] & 0xC0 != 0x80:
            characters -= 1
    return i


@kernel
def shape(raw: np.ndarray, start: int, stop: int) -> np.uint64:
    """Return the kinds of characters in ``raw[start:stop]``, as a uint64 of seven bits.

    Bit 0: begins with an ASCII capital; 1: some other capital; 2: an ASCII lower-case letter;
    3: a digit; 4: a hyphen; 5: any other ASCII character; 6: a character beyond ASCII.
    """
    bits = 0
    for i in range(start, stop):
        byte = raw[i]
        if 65 <= byte <= 90:
            bits |= 1 if i == start else 2
        elif 97 <= byte <= 122:
            bits |= 4
        elif 48 <= byte <= 57:
            bits |= 8
        elif byte == 45:
            bits |= 16
        elif byte < 128:
            bits |= 32
        else:
            bits |= 64
    return np.uint64(bits)
