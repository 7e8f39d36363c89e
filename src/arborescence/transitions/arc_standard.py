"""Arc-standard (Nivre 2004): edges between the two topmost nodes of the stack, bottom-up.

The root is at the bottom of the stack from the start. s0 is the top of the stack, and s1 the node
below it:

| transition | does | legal |
| --- | --- | --- |
| SHIFT | moves the buffer's first word to the stack | if the buffer is not empty |
| LEFT-ARC | makes s0 → s1 and takes s1 from the stack | unless s1 is the root |
| RIGHT-ARC | makes s1 → s0 and takes s0 from the stack | from the root only with an empty buffer |

So the root edge is made last, and there is exactly one root edge. If several root edges are
allowed, RIGHT-ARC from the root is always legal. A derivation of n words has 2n transitions, and
builds a projective tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.compiling.kernels import inlined_kernel
from arborescence.transitions.state import (
    COUNTERS,
    END,
    FRONT,
    LEFT,
    LEFTS,
    NONE,
    RIGHT,
    RIGHTS,
    SHIFT,
    SIZE,
    STACK,
    push,
)

if TYPE_CHECKING:
    import numpy as np

#: The row of a guide with the number of children of each node.
CHILDREN: Final = 0


@inlined_kernel
def legal(state: np.ndarray, single: bool) -> int:
    """Return the set of legal transitions, as bits."""
    size = state[COUNTERS, SIZE]
    waiting = state[COUNTERS, FRONT] < state[COUNTERS, END]
    mask = 1 << SHIFT if waiting else 0
    if size > 2:
        mask |= 1 << LEFT | 1 << RIGHT
    elif size == 2 and not (single and waiting):
        mask |= 1 << RIGHT
    return mask


@inlined_kernel
def arc(state: np.ndarray, transition: int) -> tuple[int, int]:
    """Return head and dependent of the edge that a transition adds."""
    size = state[COUNTERS, SIZE]
    if transition == LEFT:
        return int(state[STACK, size - 1]), int(state[STACK, size - 2])
    if transition == RIGHT:
        return int(state[STACK, size - 2]), int(state[STACK, size - 1])
    return NONE, NONE


@inlined_kernel
def move(state: np.ndarray, transition: int) -> None:
    """Change stack and buffer as a transition does."""
    if transition == SHIFT:
        push(state)
        return
    size = state[COUNTERS, SIZE]
    if transition == LEFT:
        state[STACK, size - 2] = state[STACK, size - 1]
    state[COUNTERS, SIZE] = size - 1


@inlined_kernel
def prepare(heads: np.ndarray, guide: np.ndarray) -> None:
    """Count the children of each node of a tree. O(n)."""
    for node in range(heads.shape[0]):
        guide[CHILDREN, node] = 0
    for d in range(1, heads.shape[0]):
        guide[CHILDREN, heads[d]] += 1


@inlined_kernel
def is_complete(state: np.ndarray, guide: np.ndarray, node: int) -> bool:
    """Return whether a node has all its children."""
    return bool(state[LEFTS, node] + state[RIGHTS, node] == guide[CHILDREN, node])


@inlined_kernel
def oracle(state: np.ndarray, heads: np.ndarray, guide: np.ndarray) -> int:
    """Return the next transition towards a tree: an edge as soon as its dependent is complete."""
    size = state[COUNTERS, SIZE]
    if size > 1:
        s0, s1 = state[STACK, size - 1], state[STACK, size - 2]
        if heads[s1] == s0 and is_complete(state, guide, s1):
            return LEFT
        if heads[s0] == s1 and is_complete(state, guide, s0):
            return RIGHT
    return SHIFT
