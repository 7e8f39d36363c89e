"""The fault codes that kernels return, and the errors that are raised for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.graph import Graph, matrix_of
from arborescence.errors import NoTreeError, ScoresError, TreeError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from arborescence.errors import ArborescenceError

FINE = 0  # there is an answer
# Invalid input.
BAD_SCORE = 1  # NaN, or infinite where infinite scores are not allowed
BAD_NODE = 2  # an edge from or to a number that is not a node
NEGATIVE = 3  # a score below 0, where scores are to be multiplied
# There is no result.
NO_TREE = 4
NO_SINGLE_ROOT = 5  # there are trees, but none with a single root edge
TOO_FAR = 6  # scores are too far apart for sums in float64
# The kernel stopped early.
NOT_GREEDY = 7  # the greedy graph of this sentence is not its best tree
EXHAUSTED = 8  # there are no further trees
FULL = 9  # there is no room for more trees


def name_of(graph: Graph, sentence: int) -> str:
    """Return the name of a sentence for messages: its index in the batch, or "" for no batch."""
    if not graph.shape:
        return ""
    index = ", ".join(map(str, np.unravel_index(sentence, graph.shape)))
    return f"sentence {index}: "


def bad_edges(matrix: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the edges ``[h, d]`` of a sentence whose scores are NaN or +inf."""
    bad: NDArray[np.bool_] = ~(matrix < np.inf)
    bad[:, 0] = False
    np.fill_diagonal(bad, val=False)
    return bad


def bad_score(graph: Graph, sentence: int) -> ScoresError:
    """Return the error that names the position of the first NaN or +inf of a sentence."""
    matrix = matrix_of(graph, sentence)
    h, d = map(int, np.argwhere(bad_edges(matrix))[0])
    index = [*np.unravel_index(sentence, graph.shape), h, d] if graph.shape else [h, d]
    place = ", ".join(map(str, index))
    return ScoresError(
        f"{name_of(graph, sentence)}scores[{place}], the edge {h} -> {d}, is {matrix[h, d]}; "
        "scores are finite, or -inf for an absent edge"
    )


def no_answer(graph: Graph, sentence: int, fault: int, single: bool) -> ArborescenceError:
    """Return the error that explains why a sentence has no tree."""
    if fault == BAD_SCORE:
        return bad_score(graph, sentence)
    name = name_of(graph, sentence)
    present = matrix_of(graph, sentence) > -np.inf
    np.fill_diagonal(present, val=False)
    headless = np.flatnonzero(~present[:, 1:].any(axis=0)) + 1
    if headless.size:
        return NoTreeError(f"{name}no tree exists: no edge enters {listed(headless)}")
    lost = _out_of_reach(present, 0)
    if lost.size:
        return NoTreeError(f"{name}no tree exists: the root does not reach {listed(lost)}")
    children = np.flatnonzero(present[0, 1:]) + 1
    if single and all(
        _out_of_reach(present[1:, 1:], child - 1).size for child in children.tolist()
    ):
        return NoTreeError(
            f"{name}no tree with a single root exists: no child of the root ({listed(children)}) "
            "reaches all other words; root='multi' allows several children"
        )
    return NoTreeError(
        f"{name}no projective tree exists, only trees with crossing edges; projective=False "
        "allows crossing edges"
    )


def no_such_tree(
    graph: Graph, sentence: int, heads: NDArray[np.int64], *, single: bool, projective: bool
) -> TreeError:
    """Return the error that explains why a head vector is no tree of a sentence.

    Entry 0 and the entries after the last word are ignored.
    """
    present = matrix_of(graph, sentence) > -np.inf
    return TreeError(
        f"{name_of(graph, sentence)}{_why_no_tree(present, heads, single, projective)}; "
        "errors='-inf' returns -inf for a head vector that is not a tree of the graph"
    )


def _why_no_tree(
    present: NDArray[np.bool_], heads: NDArray[np.int64], single: bool, projective: bool
) -> str:
    """Describe the first fault of a head vector that is no tree of a sentence."""
    n = len(present) - 1
    words = np.arange(1, n + 1)
    heads = heads[1 : n + 1]
    outside = np.flatnonzero((heads < 0) | (heads > n))
    if outside.size:
        d = outside[0]
        padding = "; if that is padding, give lengths" if heads[d] < 0 else ""
        return f"heads is no tree: the head of word {d + 1} is {heads[d]}, not 0 to {n}{padding}"
    edges = np.zeros_like(present)
    edges[heads, words] = True
    lost = _out_of_reach(edges, 0)
    if lost.size:
        return f"heads is no tree: the root does not reach {listed(lost)}"
    roots = words[heads == 0]
    if single and roots.size > 1:
        return (
            f"heads is no tree with a single root: the root is the head of {listed(roots)}; "
            "root='multi' allows several children"
        )
    low, high = np.minimum(heads, words), np.maximum(heads, words)
    inner = low[:, np.newaxis]
    crossing = np.argwhere((low < inner) & (inner < high) & (high < high[:, np.newaxis]))
    if projective and crossing.size:
        first, second = (f"{heads[d]} -> {d + 1}" for d in crossing[0])
        return (
            f"heads is no projective tree: the edges {first} and {second} cross; "
            "projective=False allows crossing edges"
        )
    d = words[~present[heads, words]][0]
    return f"heads is no tree of this graph: the edge {heads[d - 1]} -> {d} is absent"


def _out_of_reach(present: NDArray[np.bool_], start: int) -> NDArray[np.intp]:
    """Return the nodes that no path of present edges from `start` reaches."""
    reached = np.zeros(present.shape[0], np.bool_)
    reached[start] = True
    while True:
        further = reached | present[reached].any(axis=0)
        if (further == reached).all():
            return np.flatnonzero(~reached)
        reached = further


def listed(words: NDArray[np.intp]) -> str:
    """Return the numbers of the first ten words, as text for a message."""
    shown = ", ".join(map(str, words[:10])) + (", ..." if words.size > 10 else "")
    return f"word {shown}" if words.size == 1 else f"words {shown}"
