"""The state of a transition system: one int32 array, which a beam copies in one operation.

A state of n words is a C-contiguous int32 array (`FIELDS`, n + 4). Its rows hold the stack, the
buffer, and the properties of each node in the partial tree; the last row holds counters. The stack
is ``state[STACK, :size]``, its top last; the buffer is ``state[BUFFER, front:end]``. The other
entries of these two rows have no meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.compiling.kernels import inlined_kernel

if TYPE_CHECKING:
    import numpy as np

#: No node, no head, no label.
NONE: Final = -1

#: The rows: the stack; the buffer; for each node, its head and the label of the edge from its head;
#: and for its left and right children: the outermost child and the next child, the number of
#: children, and a bit set of their labels.
STACK, BUFFER, HEAD, LABEL, LEFT1, LEFT2, RIGHT1, RIGHT2 = range(8)
LEFTS, RIGHTS, LEFT_SET, RIGHT_SET, COUNTERS = range(8, 13)
FIELDS: Final = 13

#: The columns of the row of counters: the size of the stack; start and end of the buffer; the
#: number of words on the stack without a head (only in arc-eager).
SIZE, FRONT, END, HEADLESS = range(4)

#: The transitions. The fourth is REDUCE in arc-eager and SWAP in swap; other systems have three.
SHIFT, LEFT, RIGHT, OTHER = range(4)
ACTIONS: Final = 4

#: The number of bits in a label set; further labels share these bits.
_BITS: Final = 31


@inlined_kernel
def clear(state: np.ndarray) -> None:
    """Empty the stack and the tree, and put the words 1 .. n into the buffer. O(n)."""
    n = state.shape[1] - 4
    for row in range(FIELDS):
        value = NONE if row < LEFTS else 0
        for column in range(n + 4):
            state[row, column] = value
    for i in range(n):
        state[BUFFER, i] = i + 1
    state[COUNTERS, END] = n


@inlined_kernel
def push(state: np.ndarray) -> None:
    """Move the buffer's first node to the stack."""
    state[STACK, state[COUNTERS, SIZE]] = state[BUFFER, state[COUNTERS, FRONT]]
    state[COUNTERS, SIZE] += 1
    state[COUNTERS, FRONT] += 1


@inlined_kernel
def attach(state: np.ndarray, head: int, dependent: int, label: int) -> None:
    """Add an edge to the tree. The new child need not be the outermost child."""
    state[HEAD, dependent] = head
    state[LABEL, dependent] = label
    bit = 0 if label == NONE else 1 << (label % _BITS)
    if dependent < head:
        state[LEFTS, head] += 1
        state[LEFT_SET, head] |= bit
        first, second = state[LEFT1, head], state[LEFT2, head]
        if first == NONE or dependent < first:
            state[LEFT1, head], state[LEFT2, head] = dependent, first
        elif second == NONE or dependent < second:
            state[LEFT2, head] = dependent
    else:
        state[RIGHTS, head] += 1
        state[RIGHT_SET, head] |= bit
        # NONE is less than every node.
        first, second = state[RIGHT1, head], state[RIGHT2, head]
        if dependent > first:
            state[RIGHT1, head], state[RIGHT2, head] = dependent, first
        elif dependent > second:
            state[RIGHT2, head] = dependent
