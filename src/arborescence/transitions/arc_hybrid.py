"""Arc-hybrid (Kuhlmann, Gómez-Rodríguez and Satta 2011): bottom-up, left edges from the buffer.

The root is at the bottom of the stack from the start. s0 is the top of the stack, s1 the node below
it, and b0 the first node of the buffer:

| transition | does | legal |
| --- | --- | --- |
| SHIFT | moves b0 to the stack | if the buffer is not empty |
| LEFT-ARC | makes b0 → s0 and takes s0 from the stack | unless s0 is the root |
| RIGHT-ARC | makes s1 → s0 and takes s0 from the stack | from the root only with an empty buffer |

So the root edge is made last, and there is exactly one root edge. If several root edges are
allowed, RIGHT-ARC from the root is always legal. A derivation of n words has 2n transitions, and
builds a projective tree. A tree may have several derivations: RIGHT-ARC can be made before or after
words with heads in the buffer are shifted and removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.compiling.kernels import inlined_kernel
from arborescence.transitions.arc_standard import arc as arc_of_standard
from arborescence.transitions.arc_standard import is_complete
from arborescence.transitions.state import (
    BUFFER,
    COUNTERS,
    END,
    FRONT,
    HEAD,
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
    """Return the set of legal transitions, as bits."""
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
    """Return head and dependent of the edge that a transition adds."""
    if transition == LEFT:
        top = state[COUNTERS, SIZE] - 1
        return int(state[BUFFER, state[COUNTERS, FRONT]]), int(state[STACK, top])
    return arc_of_standard(state, transition)


@inlined_kernel
def move(state: np.ndarray, transition: int) -> None:
    """Change stack and buffer as a transition does."""
    if transition == SHIFT:
        push(state)
    else:
        state[COUNTERS, SIZE] -= 1


@inlined_kernel
def oracle(state: np.ndarray, heads: np.ndarray, guide: np.ndarray) -> int:
    """Return the next transition towards a tree; the guide is the guide of arc-standard."""
    size = state[COUNTERS, SIZE]
    if size > 1:
        front = state[COUNTERS, FRONT]
        s0 = state[STACK, size - 1]
        if front < state[COUNTERS, END] and heads[s0] == state[BUFFER, front]:
            return LEFT
        if heads[s0] == state[STACK, size - 2] and is_complete(state, guide, s0):
            return RIGHT
    return SHIFT


@inlined_kernel
def loss(state: np.ndarray, heads: np.ndarray) -> int:
    """Return the number of wrong heads in the best tree that can still be reached. O(n).

    If each of several gold edges can be made, all of them can be made together (Goldberg and Nivre
    2013, Section 4), also with a single root edge. The head of a word on the stack must be in the
    buffer or just below the word; the head of a word in the buffer can be anywhere.
    """
    n = heads.shape[0] - 1
    front = state[COUNTERS, FRONT]
    lost = 0
    for d in range(1, front + 1):
        if state[HEAD, d] not in (NONE, heads[d]):
            lost += 1
    for i in range(1, state[COUNTERS, SIZE]):
        head = heads[state[STACK, i]]
        if head <= front and head != state[STACK, i - 1]:
            lost += 1
    for d in range(front + 1, n + 1):
        if state[HEAD, heads[d]] != NONE:
            lost += 1
    return lost
