"""Arc-standard with SWAP (Nivre 2009): all trees, also with crossing edges.

Arc-standard with a fourth transition. s0 is the top of the stack, and s1 the node below it:

| transition | does | legal |
| --- | --- | --- |
| SWAP | moves s1 back to the front of the buffer | if s1 is a word that comes before s0 |

So two words are swapped at most once. A derivation of n words has 2n transitions and two more for
each SWAP; there are at most n(n - 1)/2 SWAPs.
"""

from __future__ import annotations

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel
from arborescence.transitions import arc_standard
from arborescence.transitions.state import (
    BUFFER,
    COUNTERS,
    END,
    FRONT,
    NONE,
    OTHER,
    SHIFT,
    SIZE,
    STACK,
)

#: The rows of a guide besides the numbers of children: the position of each node in the projective
#: order, and the head of its maximal projective component.
ORDER, COMPONENT = 1, 2


@inlined_kernel
def legal(state: np.ndarray, single: bool) -> int:
    """Return the set of legal transitions, as bits."""
    mask = arc_standard.legal(state, single)
    size = state[COUNTERS, SIZE]
    if size > 2 and state[STACK, size - 2] < state[STACK, size - 1]:
        mask |= 1 << OTHER
    return mask


@inlined_kernel
def move(state: np.ndarray, transition: int) -> None:
    """Change stack and buffer as a transition does."""
    if transition == OTHER:
        size = state[COUNTERS, SIZE]
        state[COUNTERS, FRONT] -= 1
        state[BUFFER, state[COUNTERS, FRONT]] = state[STACK, size - 2]
        state[STACK, size - 2] = state[STACK, size - 1]
        state[COUNTERS, SIZE] = size - 1
    else:
        arc_standard.move(state, transition)


@kernel
def prepare(heads: np.ndarray, guide: np.ndarray) -> None:
    """Write the rows of a tree's guide. O(n)."""
    _order(heads, guide[0], guide[2], guide[ORDER])
    arc_standard.prepare(heads, guide)
    _components(heads, guide)


@inlined_kernel
def _order(heads: np.ndarray, first: np.ndarray, following: np.ndarray, order: np.ndarray) -> None:
    """Give numbers to nodes in order of traversal: left children, the node, right children.

    In this order, the projective order of Nivre (2009), Section 4, no edges cross. ``first`` and
    ``following`` are scratch.
    """
    for node in range(heads.shape[0]):
        first[node] = following[node] = order[node] = NONE
    for d in range(heads.shape[0] - 1, 0, -1):
        following[d] = first[heads[d]]
        first[heads[d]] = d
    met = 0
    node, child = 0, first[0]
    while node != NONE:
        if order[node] == NONE and (child == NONE or child > node):
            order[node] = met
            met += 1
        if child != NONE:
            node, child = child, first[child]
        else:
            node, child = heads[node], following[node]


@kernel
def _components(heads: np.ndarray, guide: np.ndarray) -> None:
    """Find the maximal projective components: sequences that need no SWAP, by their heads.

    Nivre, Kuhlmann and Hall (2009), Section 3.
    """
    n = heads.shape[0] - 1
    missing = guide[arc_standard.CHILDREN].copy()
    stack = np.empty(n, np.int32)
    start = np.empty(n + 1, np.int32)
    size = 0
    for d in range(1, n + 1):
        stack[size] = start[size] = d
        size += 1
        while size > 1:
            s0, s1 = stack[size - 1], stack[size - 2]
            if heads[s1] == s0 and missing[s1] == 0:
                missing[s0] -= 1
                stack[size - 2] = s0
            elif heads[s0] == s1 and missing[s0] == 0:
                missing[s1] -= 1
            else:
                break
            size -= 1
    start[size] = n + 1
    for i in range(size):
        for d in range(start[i], start[i + 1]):
            guide[COMPONENT, d] = stack[i]
    guide[COMPONENT, 0] = 0


@inlined_kernel
def oracle(state: np.ndarray, heads: np.ndarray, guide: np.ndarray) -> int:
    """Return the next transition towards a tree: an edge if there is one, as in arc-standard.

    Else SWAP, if s0 comes before s1 in the projective order, and s0 and the next word are in
    different components: the lazy oracle of Nivre, Kuhlmann and Hall (2009), which swaps whole
    components. Else SHIFT.
    """
    transition = arc_standard.oracle(state, heads, guide)
    size = state[COUNTERS, SIZE]
    if transition != SHIFT or size < 3:
        return transition
    s0, s1 = state[STACK, size - 1], state[STACK, size - 2]
    front = state[COUNTERS, FRONT]
    grows = (
        front < state[COUNTERS, END]
        and guide[COMPONENT, s0] == guide[COMPONENT, state[BUFFER, front]]
    )
    return OTHER if guide[ORDER, s0] < guide[ORDER, s1] and not grows else SHIFT
