"""Words that are not attached projectively, or that edges cross, and the edges that prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes

if TYPE_CHECKING:
    from arborescence.rules.trees import Nodes, Trees


def faults(trees: Trees, words: Nodes, *, causes: bool) -> Nodes:
    """Return for each word the node that is easiest to prove a fault of its attachment, or -1.

    A fault is a node in the gap between a word and its head that is not below the head. Or
    (`causes`) one whose edge goes across the word, from a side of it that its own edge covers, and
    whose head is not above the word.
    """
    found = np.empty(len(words), np.int64)
    find_faults(trees.heads, trees.roots, words, causes, found)
    return found


def proof_of(trees: Trees, word: int, fault: int, *, causes: bool) -> list[int]:
    """Return the fewest words whose edges, beside that of a word, make a node its fault."""
    heads: list[int] = trees.heads.tolist()
    if not causes:
        return _not_above(_way(heads, heads[word]), _way(heads, fault))
    words = _not_above(_way(heads, heads[fault]), _way(heads, heads[word]))
    return sorted({*words, fault} - {word})


def _not_above(other: list[int], way: list[int]) -> list[int]:
    """Return words whose edges prove that a word, by its way, is not above that of another way.

    They are the way to the root, or both ways to where they meet.
    """
    common = 0
    for one, another in zip(reversed(way), reversed(other), strict=False):
        if one != another:
            break
        common += 1
    return min(way[:-1], way[:-common] + other[:-common], key=len)


def _way(heads: list[int], word: int) -> list[int]:
    """Return the word, and all words above it up to the root."""
    way = [word]
    while heads[way[-1]] != way[-1]:
        way.append(heads[way[-1]])
    return way


@inlined_kernel
def depth_of(heads: np.ndarray, node: int) -> int:
    """Return how many edges are between a node and its root, which is its own head."""
    depth = 0
    while heads[node] != node:
        node = heads[node]
        depth += 1
    return depth


@inlined_kernel
def edges_against(heads: np.ndarray, other: int, node: int) -> tuple[int, bool]:
    """Return how many edges prove that `other` is not above a node, -1 if it is.

    And whether these are the two ways to where they meet, or the way from the node to the root.
    """
    depth, of_other = depth_of(heads, node), depth_of(heads, other)
    meet, at, meeting = node, depth, other
    for _ in range(depth - of_other):
        meet = heads[meet]
        at -= 1
    for _ in range(of_other - depth):
        meeting = heads[meeting]
    while meet != meeting:
        meet, meeting = heads[meet], heads[meeting]
        at -= 1
    if meet == other:
        return -1, False
    both = depth + of_other - 2 * at
    return min(depth, both), both < depth


@kernel
@takes("int64[::1], int64[::1], int64[::1], bool, out int64[::1]")
def find_faults(
    heads: np.ndarray, roots: np.ndarray, words: np.ndarray, causes: bool, found: np.ndarray
) -> None:
    """Write for each word its fault with the shortest proof, the leftmost of several; else -1.

    ``heads`` and ``roots`` (N,) and ``words`` (W,) are indices of nodes. O(depth) for each node in
    the gap, or for each edge that goes across.
    """
    for i in range(words.shape[0]):
        word = words[i]
        head = heads[word]
        low, high = min(word, head), max(word, head)
        first = roots[word] if causes else low + 1
        shortest = -1
        found[i] = -1
        for d in range(first, heads.shape[0] if causes else high):
            if roots[d] != roots[word]:
                break
            if causes:
                h = heads[d]
                left, right = min(d, h), max(d, h)
                if not (left < word < right and (head < left or right < head)):
                    continue
                size, both = edges_against(heads, h, head)
                if size >= 0:
                    above = h
                    for _ in range(depth_of(heads, h) - depth_of(heads, word)):
                        above = heads[above]
                    # The edge itself is one more; that of the word does not count.
                    size += 0 if both and above == word else 1
            else:
                size, both = edges_against(heads, head, d)
            if size >= 0 and (shortest < 0 or size < shortest):
                shortest = size
                found[i] = d
