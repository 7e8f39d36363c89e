"""Words whose edge is not projective or causes a crossing, and the edges that prove the fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes

if TYPE_CHECKING:
    from arborescence.rules.trees import Nodes, Trees


def faults(trees: Trees, words: Nodes, *, causes: bool) -> Nodes:
    """Return, for each word, the node that proves a fault of its edge with the fewest edges, or -1.

    Without `causes`, the node stands between the word and its head, and is not below this head.
    With `causes`, the edge into the node passes over the word and crosses the word's own edge, and
    the head of the crossing edge is not above the word.
    """
    nodes = np.empty(len(words), np.int64)
    find_faults(trees.heads, trees.roots, words, causes, nodes)
    return nodes


def proof_of(trees: Trees, word: int, fault: int, *, causes: bool) -> list[int]:
    """Return the fewest words whose edges, with the word's own edge, prove the fault at a node."""
    heads: list[int] = trees.heads.tolist()
    if not causes:
        return _not_above(_way(heads, heads[word]), _way(heads, fault))
    words = _not_above(_way(heads, heads[fault]), _way(heads, heads[word]))
    return sorted({*words, fault} - {word})


def _not_above(other: list[int], way: list[int]) -> list[int]:
    """Return words whose edges prove that ``other[0]`` is not above ``way[0]``.

    These words are the way to the root, or both ways up to the node where they meet.
    """
    common = 0
    for node, other_node in zip(reversed(way), reversed(other), strict=False):
        if node != other_node:
            break
        common += 1
    return min(way[:-1], way[:-common] + other[:-common], key=len)


def _way(heads: list[int], word: int) -> list[int]:
    """Return the way of a word: the word, and all words above it up to the root."""
    way = [word]
    while heads[way[-1]] != way[-1]:
        way.append(heads[way[-1]])
    return way


@inlined_kernel
def depth_of(heads: np.ndarray, node: int) -> int:
    """Return the number of edges between a node and its root, which is its own head."""
    depth = 0
    while heads[node] != node:
        node = heads[node]
        depth += 1
    return depth


@inlined_kernel
def edges_against(heads: np.ndarray, other: int, node: int) -> tuple[int, bool]:
    """Return the number of edges that prove that `other` is not above a node; -1 if it is above.

    The second result is true if these edges are the two ways up to the node where they meet, and
    false if they are the way from the node to the root.
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


@inlined_kernel
def edges_of_crossing(heads: np.ndarray, word: int, d: int) -> int:
    """Return the number of edges that prove that the word causes a crossing with the edge into d.

    This edge passes over the word and crosses the word's edge, and its head is not above the word;
    otherwise the result is -1. The word's own edge does not count.
    """
    head, h = heads[word], heads[d]
    left, right = min(d, h), max(d, h)
    if not (left < word < right and (head < left or right < head)):
        return -1
    size, both = edges_against(heads, h, head)
    if size >= 0:
        above = h
        for _ in range(depth_of(heads, h) - depth_of(heads, word)):
            above = heads[above]
        # The edge into d is one more, unless the word's own edge was counted.
        size += 0 if both and above == word else 1
    return size


@kernel
@takes("int64[::1], int64[::1], int64[::1], bool, out int64[::1]")
def find_faults(
    heads: np.ndarray, roots: np.ndarray, words: np.ndarray, causes: bool, nodes: np.ndarray
) -> None:
    """Write for each word the node with the shortest proof (the first on a tie), or -1.

    ``heads`` and ``roots`` (N,) and ``words`` (W,) are indices of nodes. See `faults`. O(depth) for
    each node between a word and its head, or for each edge that crosses the word's edge.
    """
    for i in range(words.shape[0]):
        word = words[i]
        head = heads[word]
        start, stop = min(word, head) + 1, max(word, head)
        if causes:
            start, stop = roots[word], heads.shape[0]
        shortest = -1
        nodes[i] = -1
        for d in range(start, stop):
            if roots[d] != roots[word]:
                break
            if causes:
                size = edges_of_crossing(heads, word, d)
            else:
                size, _ = edges_against(heads, head, d)
            if size >= 0 and (shortest < 0 or size < shortest):
                shortest = size
                nodes[i] = d
