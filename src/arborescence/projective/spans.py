"""The spans (chart items) of Eisner's algorithm (1996, 2000) for projective trees.

*Complete*: the head is at one end, and all other words are below it. *Incomplete*: an edge leads
from one end to the other, and each word between is below one of the two ends. A span is (kind,
head, other end); for each split r, it is built from two smaller spans. A tree has one derivation: a
complete span from node 0 to the last word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.compiling.kernels import inlined_kernel

if TYPE_CHECKING:
    import numpy as np

    # Kind, head and other end.
    Span = tuple[int, int, int]

INCOMPLETE, COMPLETE = 0, 1


@inlined_kernel
def parts_of(kind: int, h: int, e: int, r: int) -> tuple[Span, Span]:
    """Return the two parts of a span that is split at r. O(1).

    The parts of an incomplete span are two complete spans that meet between r and r + 1. The parts
    of a complete span are the incomplete span to r and the complete span of r.
    """
    if kind == INCOMPLETE:
        return (COMPLETE, min(h, e), r), (COMPLETE, max(h, e), r + 1)
    return (INCOMPLETE, h, r), (COMPLETE, r, e)


@inlined_kernel
def splits_of(kind: int, h: int, e: int, single: bool) -> tuple[int, int]:
    """Return the range of split positions r of a span. O(1)."""
    # With a single root edge, all words before its dependent are below this dependent
    if kind == INCOMPLETE:
        return min(h, e), 1 if single and h == 0 else max(h, e)
    return (h + 1, e + 1) if h < e else (e, h)


@inlined_kernel
def push(stack: np.ndarray, height: int, span: Span) -> int:
    """Push a span on a stack, ``(H, 3)`` int64, of this height; return the new height. O(1)."""
    stack[height, 0], stack[height, 1], stack[height, 2] = span
    return height + 1


@inlined_kernel
def pop(stack: np.ndarray, height: int) -> tuple[int, int, int, int]:
    """Take the next span of more than one word; return the new height, the kind, head and end.

    The height is -1 if no span is left. O(1) for each span on the stack.
    """
    while height > 0:
        height -= 1
        kind, h, e = stack[height, 0], stack[height, 1], stack[height, 2]
        if h != e:
            return height, kind, h, e
    return -1, 0, 0, 0
