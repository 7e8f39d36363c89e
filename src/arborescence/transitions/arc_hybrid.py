"""Arc-hybrid (Kuhlmann, Gómez-Rodríguez and Satta 2011): bottom-up, left edges from the buffer.

The root is at the bottom of the stack from the start. With s1 below s0 on top of the stack, and b0
first in the buffer:

| transition | does | legal |
| --- | --- | --- |
| SHIFT | moves b0 to the stack | if there is one |
| LEFT-ARC | makes b0 → s0 and takes s0 from the stack | unless s0 is the root |
| RIGHT-ARC | makes s1 → s0 and takes s0 from the stack | from the root only with an empty buffer |

So the root's edge comes last, and there is one. Where the root may have several, RIGHT-ARC is legal
at any time. A derivation of n words has 2n transitions, and makes a projective tree. Each such tree
has one derivation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence._jit import inlined_kernel
from arborescence.transitions.arc_standard import is_complete
from arborescence.transitions.state import (
    BUFFER,
    COUNTERS,
    END,
    FRONT,
    LEFT,
    NONE,
    RIGHT,
    SHIFT,
    SIZE,
    STACK,
    push,
)

if TYPE_CHECKING:
    import numpy as np


@inlined_kernel
def legal(state: np.ndarray, single: bool) -> int:
    """Return a bit for each legal transition."""
    size = state[COUNTERS, SIZE]
    waiting = state[COUNTERS, FRONT] < state[COUNTERS, END]
    mask = 1 << SHIFT if waiting else 0
    if waiting and size > 1:
        mask |= 1 << LEFT
    if size > 2 or (size == 2 and not (single and waiting)):
        mask |= 1 << RIGHT
    return mask


@inlined_kernel
def arc(state: np.ndarray, transition: int) -> tuple[int, int]:
    """Return head and dependent of the edge that a transition makes."""
    size = state[COUNTERS, SIZE]
    if transition == LEFT:
        return int(state[BUFFER, state[COUNTERS, FRONT]]), int(state[STACK, size - 1])
    if transition == RIGHT:
        return int(state[STACK, size - 2]), int(state[STACK, size - 1])
    return NONE, NONE


@inlined_kernel
def move(state: np.ndarray, transition: int) -> None:
    """Do to stack and buffer what a transition does to them."""
    if transition == SHIFT:
        push(state)
    else:
        state[COUNTERS, SIZE] -= 1


@inlined_kernel
def oracle(state: np.ndarray, heads: np.ndarray, guide: np.ndarray) -> int:
    """Return the next transition towards a tree; the guide is that of arc-standard."""
    size = state[COUNTERS, SIZE]
    if size > 1:
        front = state[COUNTERS, FRONT]
        s0 = state[STACK, size - 1]
        if front < state[COUNTERS, END] and heads[s0] == state[BUFFER, front]:
            return LEFT
        if heads[s0] == state[STACK, size - 2] and is_complete(state, guide, s0):
            return RIGHT
    return SHIFT
