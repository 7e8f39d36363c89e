"""Why a sentence has no answer: what kernels return, and the error that a caller gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.errors import NoTreeError
from arborescence.graph import Graph, bad_score, matrix_of, name_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.errors import ArborescenceError

FINE, BAD_SCORE, NO_TREE, NO_SINGLE_ROOT = range(4)


def no_answer(graph: Graph, sentence: int, fault: int, single: bool) -> ArborescenceError:
    """Return the error that says why a kernel found no tree for a sentence."""
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
            f"{name}no tree with a single root exists: no one child of the root, of "
            f"{listed(children)}, reaches all other words; root='multi' allows several"
        )
    return NoTreeError(
        f"{name}no projective tree exists, only trees with crossing edges: projective=False "
        "allows those"
    )


def _out_of_reach(present: NDArray[np.bool_], start: int) -> NDArray[np.intp]:
    """Return the nodes that no path over the edges that are present reaches from `start`."""
    reached = np.zeros(present.shape[0], np.bool_)
    reached[start] = True
    while True:
        further = reached | present[reached].any(axis=0)
        if (further == reached).all():
            return np.flatnonzero(~reached)
        reached = further


def listed(words: NDArray[np.intp]) -> str:
    """Return words as messages name them: by number, the first ten."""
    shown = ", ".join(map(str, words[:10])) + (", ..." if words.size > 10 else "")
    return f"word {shown}" if words.size == 1 else f"words {shown}"
