"""The least of any stretch of an array in constant time, after work that is linear in its length.

The array is cut into blocks of 32. The least number of 1, 2, 4, ... whole blocks from each block on
is kept: n / 32 · log₂ n numbers, no more than n. Within a block, a word of 32 bits for each place
says where the numbers stand that are lower than all after them up to that place (Alstrup, Gavoille,
Kaplan and Rauhe 2002).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arborescence.core.jit import inlined_kernel, kernel

_BLOCK = 32


class Minima(NamedTuple):
    """An array of small numbers, and what is known of its blocks."""

    values: np.ndarray  # (n,) int8
    before: np.ndarray  # (n,) int8: the least from the start of the block up to here
    after: np.ndarray  # (n,) int8: the least from here to the end of the block
    lower: np.ndarray  # (n,) int64: a bit for each earlier place of the block, as said above
    blocks: np.ndarray  # (levels, n / 32) int8: the least of 2^level blocks from each on
    level: np.ndarray  # (n / 32 + 1,) int8: log₂ of each number of blocks, rounded down


@kernel
def new_minima(values: np.ndarray) -> Minima:
    """Prepare (n,) int8 numbers for questions. O(n)."""
    n = len(values)
    before, after = values.copy(), values.copy()
    lower = np.zeros(n, np.int64)
    stack = np.empty(_BLOCK, np.int64)
    depth = 0
    for place in range(n):
        if place % _BLOCK == 0:
            depth = 0
            seen = 0
        else:
            before[place] = min(before[place - 1], values[place])
        while depth and values[stack[depth - 1]] >= values[place]:
            depth -= 1
            seen ^= 1 << (stack[depth] % _BLOCK)
        stack[depth] = place
        depth += 1
        seen |= 1 << (place % _BLOCK)
        lower[place] = seen
    for place in range(n - 2, -1, -1):
        if place % _BLOCK != _BLOCK - 1:
            after[place] = min(after[place + 1], values[place])

    count = (n + _BLOCK - 1) // _BLOCK
    level = np.zeros(count + 1, np.int8)
    for k in range(2, count + 1):
        level[k] = level[k // 2] + 1
    blocks = np.empty((level[count] + 1, count), np.int8)
    for k in range(count):
        blocks[0, k] = after[k * _BLOCK]
    for up in range(1, level[count] + 1):
        for k in range(count - (1 << up) + 1):
            blocks[up, k] = min(blocks[up - 1, k], blocks[up - 1, k + (1 << (up - 1))])
    return Minima(values, before, after, lower, blocks, level)


@inlined_kernel
def least(minima: Minima, start: int, last: int) -> int:
    """Return the least of the numbers from place `start` to `last`, both included. O(1)."""
    block, last_block = start // _BLOCK, last // _BLOCK
    if block == last_block:
        bits = minima.lower[last] & (-1 << (start % _BLOCK))
        return minima.values[block * _BLOCK + math.frexp(bits & -bits)[1] - 1]
    found = min(minima.after[start], minima.before[last])
    between = last_block - block - 1
    if between:
        level = minima.level[between]
        row = minima.blocks[level]
        found = min(found, row[block + 1], row[last_block - (1 << level)])
    return found
