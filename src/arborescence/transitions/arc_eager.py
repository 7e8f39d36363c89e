"""Arc-eager (Nivre 2003, 2008): edges between stack and buffer, each as early as possible.

The root is at the end of the buffer (Ballesteros and Nivre 2013), and is never shifted. s0 is the
top of the stack, and b0 the first node of the buffer:

| transition | does | legal |
| --- | --- | --- |
| SHIFT | moves b0 to the stack | if words are left, but see below |
| LEFT-ARC | makes b0 → s0 and takes s0 from the stack | if s0 has no head |
| RIGHT-ARC | makes s0 → b0 and moves b0 to the stack | if words are left, but see below |
| REDUCE | takes s0 from the stack | if s0 has a head |

For exactly one root edge, there must be one word without a head after the last word has left the
buffer. So the last word is shifted only onto an empty stack, and RIGHT-ARC to the last word is
legal only if exactly one word on the stack has no head. This word is at the bottom of the stack,
and gets the root edge. A derivation of n words has 2n transitions, because each word enters the
stack once and leaves the stack once. It builds a projective tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.compiling.kernels import inlined_kernel
from arborescence.transitions.state import (
    BUFFER,
    COUNTERS,
    END,
    FRONT,
    HEAD,
    HEADLESS,
    LEFT,
    NONE,
    OTHER,
    RIGHT,
    SHIFT,
    SIZE,
    STACK,
    push,
)

if TYPE_CHECKING:
    import numpy as np

#: The row of a guide with the leftmost child of each node, or the node if it has no left child.
LEFTMOST: Final = 0


@inlined_kernel
def legal(state: np.ndarray, single: bool) -> int:
    """Return the set of legal transitions, as bits."""
    size = state[COUNTERS, SIZE]
    words = state[COUNTERS, END] - state[COUNTERS, FRONT] - 1
    more = words > 1 or (words == 1 and not single)
    mask = 1 << SHIFT if more or (words == 1 and size == 0) else 0
    if size > 0:
        if more or (words == 1 and state[COUNTERS, HEADLESS] == 1):
            mask |= 1 << RIGHT
        if state[HEAD, state[STACK, size - 1]] == NONE:
            mask |= 1 << LEFT
        else:
            mask |= 1 << OTHER
    return mask


@inlined_kernel
def arc(state: np.ndarray, transition: int) -> tuple[int, int]:
    """Return head and dependent of the edge that a transition adds."""
    top, front = state[COUNTERS, SIZE] - 1, state[COUNTERS, FRONT]
    if transition == LEFT:
        return int(state[BUFFER, front]), int(state[STACK, top])
    if transition == RIGHT:
        return int(state[STACK, top]), int(state[BUFFER, front])
    return NONE, NONE


@inlined_kernel
def move(state: np.ndarray, transition: int) -> None:
    """Change stack and buffer as a transition does."""
    if transition == SHIFT:
        push(state)
        state[COUNTERS, HEADLESS] += 1
    elif transition == RIGHT:
        push(state)
    else:
        state[COUNTERS, SIZE] -= 1
        if transition == LEFT:
            state[COUNTERS, HEADLESS] -= 1


@inlined_kernel
def prepare(heads: np.ndarray, guide: np.ndarray) -> None:
    """Find the leftmost child of each node of a tree. O(n)."""
    for node in range(heads.shape[0]):
        guide[LEFTMOST, node] = node
    for d in range(1, heads.shape[0]):
        guide[LEFTMOST, heads[d]] = min(d, guide[LEFTMOST, heads[d]])


@inlined_kernel
def oracle(state: np.ndarray, heads: np.ndarray, guide: np.ndarray) -> int:
    """Return the next transition towards a tree (Nivre 2008, Section 4).

    LEFT-ARC or RIGHT-ARC if the tree has the edge. Else REDUCE, if s0 has its head, and the tree
    has an edge between b0 and a node below s0 on the stack. Else SHIFT. The root counts as a node
    below s0: if b0 is the root or its child, then s0 has all its children.
    """
    size = state[COUNTERS, SIZE]
    if size > 0:
        s0 = state[STACK, size - 1]
        b0 = state[BUFFER, state[COUNTERS, FRONT]]
        if heads[s0] == b0:
            return LEFT
        if heads[b0] == s0:
            return RIGHT
        if state[HEAD, s0] != NONE and (heads[b0] < s0 or guide[LEFTMOST, b0] < s0):
            return OTHER
    return SHIFT


@inlined_kernel
def loss(state: np.ndarray, heads: np.ndarray, single: bool) -> int:
    """Return the number of wrong heads in the best tree that can still be reached. O(n · stack).

    A head is wrong if its gold edge can no longer be made (Goldberg and Nivre 2012, Section 4).
    With a single root edge, the root edge can go only to the bottom of the stack. Let w be a word
    above the bottom that has lost its gold head: w must get a later word as its head. This costs
    another edge if the last word is, in the gold tree, a descendant of w or of a word above w.
    """
    n = heads.shape[0] - 1
    front = state[COUNTERS, FRONT]
    lost = 0
    for d in range(1, front + 1):
        if state[HEAD, d] != NONE:
            if state[HEAD, d] != heads[d]:
                lost += 1
        elif heads[d] <= front and not (heads[d] == 0 and (d == state[STACK, 0] or not single)):
            lost += 1
    for d in range(front + 1, n + 1):
        if 0 < heads[d] <= front and not _is_on_stack(state, heads[d]):
            lost += 1
    if single:
        for i in range(1, state[COUNTERS, SIZE]):
            word = state[STACK, i]
            if state[HEAD, word] == NONE and heads[word] <= front:
                last = n
                while last > front:
                    last = heads[last]
                if last >= word and _is_on_stack(state, last):
                    lost += 1
                break
    return lost


@inlined_kernel
def _is_on_stack(state: np.ndarray, word: int) -> bool:
    """Return whether a word is on the stack, which is sorted by word."""
    i = state[COUNTERS, SIZE] - 1
    while i >= 0 and state[STACK, i] > word:
        i -= 1
    return bool(i >= 0 and state[STACK, i] == word)
