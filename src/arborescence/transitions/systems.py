"""Kernel functions of all transition systems, with the system's number as the first argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arborescence.compiling.kernels import kernel, takes, uncounted_kernel
from arborescence.transitions import arc_eager, arc_hybrid, arc_standard, swap
from arborescence.transitions.state import (
    ACTIONS,
    BUFFER,
    COUNTERS,
    END,
    FRONT,
    HEAD,
    HEADLESS,
    NONE,
    SIZE,
    STACK,
    attach,
    clear,
)

if TYPE_CHECKING:
    import numpy as np

ARC_STANDARD: Final = 0
ARC_EAGER: Final = 1
ARC_HYBRID: Final = 2
SWAP_: Final = 3

#: The cost of a transition that is not legal.
NEVER: Final = 1 << 20


@uncounted_kernel
@takes("int64, out int32[:, ::1]")
def begin(system: int, state: np.ndarray) -> None:
    """Write the initial state of n words into an array, int32 (FIELDS, n + 4). O(n)."""
    clear(state)
    if system == ARC_EAGER:
        n = state[COUNTERS, END]
        state[BUFFER, n] = 0
        state[COUNTERS, END] = n + 1
    else:
        state[STACK, 0] = 0
        state[COUNTERS, SIZE] = 1


@uncounted_kernel
@takes("int64, int32[:, ::1], bool")
def legal(system: int, state: np.ndarray, single: bool) -> int:
    """Return the bit ``1 << transition`` of each legal transition; 0 for a complete tree. O(1)."""
    if system == ARC_STANDARD:
        return arc_standard.legal(state, single)
    if system == ARC_EAGER:
        return arc_eager.legal(state, single)
    if system == ARC_HYBRID:
        return arc_hybrid.legal(state, single)
    return swap.legal(state, single)


@uncounted_kernel
@takes("int64, int32[:, ::1], int64")
def arc(system: int, state: np.ndarray, transition: int) -> tuple[int, int]:
    """Return head and dependent of the edge that a legal transition adds, or -1 and -1. O(1)."""
    if system == ARC_EAGER:
        return arc_eager.arc(state, transition)
    if system == ARC_HYBRID:
        return arc_hybrid.arc(state, transition)
    return arc_standard.arc(state, transition)


@uncounted_kernel
def move(system: int, state: np.ndarray, transition: int) -> None:
    """Change stack and buffer as a legal transition does, but not the tree. O(1)."""
    if system == ARC_STANDARD:
        arc_standard.move(state, transition)
    elif system == ARC_EAGER:
        arc_eager.move(state, transition)
    elif system == ARC_HYBRID:
        arc_hybrid.move(state, transition)
    else:
        swap.move(state, transition)


@uncounted_kernel
@takes("int64, out int32[:, ::1], int64, int64")
def advance(system: int, state: np.ndarray, transition: int, label: int) -> None:
    """Make a transition, without a check. `label` is the label of its edge, or -1. O(1)."""
    head, dependent = arc(system, state, transition)
    if dependent != NONE:
        attach(state, head, dependent, label)
    move(system, state, transition)


@kernel
@takes("int64, int64[::1], out int32[:, ::1]")
def prepare(system: int, heads: np.ndarray, guide: np.ndarray) -> None:
    """Compute the arrays that the static oracle needs for a tree. O(n).

    - system: its number
    - heads: int64 (n + 1,): a tree that the system can build, with one root edge or several
    - guide: int32 (3, n + 1): filled, for `oracle`
    """
    if system == ARC_EAGER:
        arc_eager.prepare(heads, guide)
    elif system == SWAP_:
        swap.prepare(heads, guide)
    else:
        arc_standard.prepare(heads, guide)


@uncounted_kernel
@takes("int64, int32[:, ::1], int64[::1], int32[:, ::1]")
def oracle(system: int, state: np.ndarray, heads: np.ndarray, guide: np.ndarray) -> int:
    """Return the static oracle's next transition, in a state of its derivation. O(1)."""
    if system == ARC_STANDARD:
        return arc_standard.oracle(state, heads, guide)
    if system == ARC_EAGER:
        return arc_eager.oracle(state, heads, guide)
    if system == ARC_HYBRID:
        return arc_hybrid.oracle(state, heads, guide)
    return swap.oracle(state, heads, guide)


@uncounted_kernel
def loss(system: int, state: np.ndarray, heads: np.ndarray, single: bool) -> int:
    """Return the number of wrong heads of the best tree within reach: arc-eager, arc-hybrid.

    `heads` is projective, with one root edge if `single`.
    """
    if system == ARC_EAGER:
        return arc_eager.loss(state, heads, single)
    return arc_hybrid.loss(state, heads)


@uncounted_kernel
@takes("int64, out int32[:, ::1], int64[::1], bool, out int32[::1]")
def costs(system: int, state: np.ndarray, heads: np.ndarray, single: bool, out: np.ndarray) -> None:
    """Compute the cost of each transition, as `State.costs` describes it, exactly.

    The dynamic oracle (Goldberg and Nivre 2012, 2013): each transition is made and undone, but only
    in the entries of the state that `loss` reads.

    - system: the number of arc-eager or arc-hybrid
    - state: int32 (FIELDS, n + 4): any reachable state; unchanged afterwards
    - heads: int64 (n + 1,): a projective tree, with one root edge if `single`, else with one or
      more
    - single: whether there will be exactly one root edge
    - out: int32 (ACTIONS,): filled; `NEVER` for illegal transitions. If any transition is legal, at
      least one costs 0.
    """
    size, front = state[COUNTERS, SIZE], state[COUNTERS, FRONT]
    headless = state[COUNTERS, HEADLESS]
    mask = legal(system, state, single)
    before = loss(system, state, heads, single)
    for transition in range(ACTIONS):
        out[transition] = NEVER
        if mask >> transition & 1:
            head, dependent = arc(system, state, transition)
            if dependent != NONE:
                state[HEAD, dependent] = head
            move(system, state, transition)
            out[transition] = loss(system, state, heads, single) - before
            if dependent != NONE:
                state[HEAD, dependent] = NONE
            state[COUNTERS, SIZE], state[COUNTERS, FRONT] = size, front
            state[COUNTERS, HEADLESS] = headless
