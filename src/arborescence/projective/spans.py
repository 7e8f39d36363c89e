"""What Eisner's algorithm builds trees of: spans of words.

A *complete* span has its head at one end, and all words between the ends are below that head. An
*incomplete* one is an edge from one end to the other, with all words between below either of them.
Either is written as (kind, head, other end), and is made of two smaller ones in one way for each
place r where it can be split. So each projective tree is built in one way only.
"""

from __future__ import annotations

from arborescence._jit import inlined_kernel

INCOMPLETE, COMPLETE = 0, 1


@inlined_kernel
def parts_of(
    kind: int, h: int, e: int, r: int
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the two spans that a span is made of if it is split at r. O(1).

    Two complete ones that meet between r and r + 1, or an edge to r and what r has beyond.
    """
    if kind == INCOMPLETE:
        return (COMPLETE, min(h, e), r), (COMPLETE, max(h, e), r + 1)
    return (INCOMPLETE, h, r), (COMPLETE, r, e)


@inlined_kernel
def first_split(kind: int, h: int, e: int) -> int:
    """Return the lowest r; there are as many as words between the ends, and one more. O(1)."""
    return h + 1 if kind == COMPLETE and h < e else min(h, e)
