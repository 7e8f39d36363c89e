"""What projective trees are built of in Eisner's algorithm (1996, 2000): spans of words.

A *complete* span has its head at one end, and all words between the ends are below that head. An
*incomplete* one is an edge from one end to the other, with all words between below either of them.
Either is written as (kind, head, other end), and is made of two smaller ones in one way for each
place r where it can be split. So each projective tree is built in one way only: as the complete
span of the root, node 0, that reaches to the last word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.core.jit import inlined_kernel

if TYPE_CHECKING:
    import numpy as np

    # Kind, head and other end.
    Span = tuple[int, int, int]

INCOMPLETE, COMPLETE = 0, 1


@inlined_kernel
def parts_of(kind: int, h: int, e: int, r: int) -> tuple[Span, Span]:
    """Return the two spans that a span is made of if it is split at r. O(1).

    Two complete ones that meet between r and r + 1, or an edge to r and what r has beyond.
    """
    if kind == INCOMPLETE:
        return (COMPLETE, min(h, e), r), (COMPLETE, max(h, e), r + 1)
    return (INCOMPLETE, h, r), (COMPLETE, r, e)


@inlined_kernel
def splits_of(kind: int, h: int, e: int, single: bool) -> tuple[int, int]:
    """Return the places r where a span can be split, as a range. O(1).

    If the root has a single edge, to some word, then all words before that one are below it.
    """
    if kind == INCOMPLETE:
        return min(h, e), 1 if single and h == 0 else max(h, e)
    return (h + 1, e + 1) if h < e else (e, h)


@inlined_kernel
def push(stack: np.ndarray, height: int, span: Span) -> int:
    """Put a span on a stack of so many, ``(H, 3)`` int64; return how many there are then. O(1)."""
    stack[height, 0], stack[height, 1], stack[height, 2] = span
    return height + 1
