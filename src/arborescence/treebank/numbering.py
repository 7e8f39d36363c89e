"""Integer ids for the different strings of a column: an FNV-1a hash table with linear probing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import kernel
from arborescence.treebank.columns import equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from arborescence.treebank.columns import Columns, Integers

_ALL = slice(None)
_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_FACTOR = np.uint64(0x100000001B3)


class Numbering:
    """Integer ids for the values of a column, normalized by `normal`, the same in all `Columns`."""

    def __init__(self, column: int, normal: Callable[[str], str]) -> None:
        self.column = column
        self.normal = normal
        self.names: dict[str, int] = {}
        self._known: dict[bytes, int] = {}

    def __call__(self, columns: Columns, words: Integers | slice = _ALL) -> Integers:
        """Return the id of the value of each word, or of the words at `words`."""
        starts = np.ascontiguousarray(columns.spans[words, self.column])
        stops = columns.spans[words, self.column + 1] - 1
        n = len(starts)
        ids, firsts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        table = np.full(1 << (2 * n).bit_length(), -1)
        count = _distinct(columns.data, starts, stops, ids, firsts, table)
        found = firsts[:count]
        data = columns.data
        numbers = [
            self._number(data[start:stop].tobytes())
            for start, stop in zip(starts[found].tolist(), stops[found].tolist(), strict=True)
        ]
        return np.array(numbers, dtype=np.int64)[ids]

    def _number(self, value: bytes) -> int:
        number = self._known.get(value)
        if number is None:
            number = self.names.setdefault(self.normal(value.decode()), len(self.names))
            self._known[value] = number
        return number


@kernel
def _distinct(
    data: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    ids: np.ndarray,
    firsts: np.ndarray,
    table: np.ndarray,
) -> int:
    """Give each different string among ``data[starts[i]:stops[i]]`` an id; return the id count.

    O(size): a hash table with linear probing and FNV-1a. Written: the id of each string, `ids`
    (n,), and the first string of each, `firsts` (n,). `table`: a power of two above n, all -1.
    """
    mask = np.uint64(table.size - 1)
    count = 0
    for i in range(starts.shape[0]):
        key = _HASH_START
        for at in range(starts[i], stops[i]):
            key = (key ^ np.uint64(data[at])) * _HASH_FACTOR
        slot = key & mask
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = found = count
                firsts[count] = i
                count += 1
                break
            other = firsts[found]
            if equal(data, starts[i], stops[i], data, starts[other], stops[other]):
                break
            slot = (slot + np.uint64(1)) & mask
        ids[i] = found
    return count
