"""The parts of second-order trees: their weights, and the removal of hopeless parts.

A tree has one part for each word d with the head h: ``scores[h, d]``; ``siblings[h, d, s]``, where
s is the next nearer modifier of h on the same side, or h if there is none; and, if h is not the
root, ``grandparents[g, h, d]``, where g is the head of h (McDonald and Pereira 2006; Carreras
2007). So the *ceiling* of an edge, its score with the best sibling and the best grandparent, bounds
the weight that the word d can add to a tree. A *hopeless* edge or part is removed before the
search: a tree with this part weighs less than a known tree, even if all other words add their
highest ceilings.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.core.accumulator import rounded_sum
from arborescence.core.conversion import FLOATS, as_array, as_floats
from arborescence.core.faults import name_of
from arborescence.core.graph import as_graph, matrix_of, words_of
from arborescence.core.tree import rows_for, word_count
from arborescence.errors import ScoresError, TreeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph

#: In place of siblings or grandparents that are not given.
NONE = np.empty((0, 0, 0))

# Bounds on the relative error of a ceiling and the sums compared with it, and on an underflow.
_LOSS = 2.0**-49
_UNDERFLOW = 2.0**-1070


class Parts(NamedTuple):
    """The weights of a sentence's parts: -inf for parts that are absent, or that no tree has."""

    #: (N, N): ``[h, d]``
    scores: NDArray[np.float64]
    #: (N, N, N): ``[h, d, s]``, or (0, 0, 0)
    siblings: NDArray[np.float64]
    #: (N, N, N): ``[g, h, d]``, or (0, 0, 0)
    grandparents: NDArray[np.float64]

    def remove(self, edges: NDArray[np.bool_]) -> None:
        """Remove edges (N, N), and their other parts."""
        self.scores[edges] = -np.inf
        if self.siblings.size:
            self.siblings[edges] = -np.inf
        if self.grandparents.size:
            self.grandparents[:, edges] = -np.inf

    def largest(self, scale: float) -> float:
        """Return a bound on `scale` times the absolute weight of a tree and of its parts. O(n³)."""
        sizes = [scale * np.abs(np.where(part > -np.inf, part, 0.0)) for part in self]
        total = sizes[0]
        with np.errstate(over="ignore"):
            if self.siblings.size:
                total = total + sizes[1].max(axis=2)
            if self.grandparents.size:
                total = total + sizes[2].max(axis=0)
            return float(total.max(axis=0).sum())


class PartsBatch(NamedTuple):
    """A batch of a caller's parts, with checked shapes and types; the values are not checked."""

    #: the scores of edges
    graph: Graph
    #: (B, N, N, N): ``[b, h, d, s]``, or None
    siblings: NDArray[Any] | None
    #: (B, N, N, N): ``[b, g, h, d]``, or None
    grandparents: NDArray[Any] | None

    @classmethod
    def of(cls, scores: Any, siblings: Any, grandparents: Any, lengths: Any = None) -> Self:
        """Check shapes and types; ScoresError if one is invalid."""
        graph = as_graph(scores, lengths)
        return cls(
            graph,
            _of_shape(graph, siblings, "siblings"),
            _of_shape(graph, grandparents, "grandparents"),
        )

    def parts(self, sentence: int, single: bool) -> Parts:
        """Copy a sentence's parts; NaN and +inf stay in parts that a tree can have. O(n³)."""
        size = words_of(self.graph, sentence) + 1
        thirds = [
            NONE if array is None else np.array(array[sentence, :size, :size, :size], np.float64)
            for array in (self.siblings, self.grandparents)
        ]
        matrix = np.array(matrix_of(self.graph, sentence), np.float64, order="C")
        parts = Parts(matrix, *map(np.ascontiguousarray, thirds))
        without_edge, without_sibling, without_grandparent = _missing(size, single)
        if parts.siblings.size:
            parts.siblings[without_sibling] = -np.inf
        if parts.grandparents.size:
            parts.grandparents[without_grandparent] = -np.inf
        parts.remove(without_edge | (matrix == -np.inf))
        return parts

    def check(self, sentence: int, parts: Parts) -> None:
        """Raise the error for the first part that is NaN or +inf, if there is one. O(n³)."""
        for name, part in zip(Parts._fields, parts, strict=True):
            bad = not part.max(initial=-np.inf) < np.inf
            for place in np.argwhere(~(part < np.inf))[:1].tolist() if bad else ():
                leading = np.unravel_index(sentence, self.graph.shape) if self.graph.shape else ()
                where = ", ".join(map(str, [*leading, *place]))
                raise ScoresError(
                    f"{name_of(self.graph, sentence)}{name}[{where}] is {part[tuple(place)]}; "
                    "scores are finite, or -inf for an absent part"
                )


@lru_cache(maxsize=4)
def _missing(size: int, single: bool) -> tuple[NDArray[np.bool_], ...]:
    """Return the edges, siblings and grandparents that no tree of `size` nodes has. O(n³)."""
    nodes = np.arange(size)
    head, other = nodes[:, None], nodes
    low, high = np.minimum(head, other)[..., None], np.maximum(head, other)[..., None]
    between = (low < nodes) & (nodes < high)
    if single:
        between[0] = False
    grandparents = (nodes[:, None, None] == head) | (nodes[:, None, None] == other)
    grandparents[:, 0] = True
    none = head[:, None] == nodes  # in the place of a sibling
    return (head == other) | (other == 0), ~(between | none), grandparents


def _of_shape(graph: Graph, values: Any, name: str) -> NDArray[Any] | None:
    if values is None:
        return None
    size = graph.scores.shape[-1]
    shape = (*graph.shape, size, size, size)
    array, _ = as_array(values, name, absent=-np.inf)
    if array.shape != shape:
        raise ScoresError(
            f"{name} must have shape {shape}, with one more axis than scores, not {array.shape}"
        )
    if array.dtype not in FLOATS:
        array = as_floats(array, name)
    return array.reshape(-1, size, size, size)


def ceilings_of(parts: Parts, scale: float) -> NDArray[np.float64]:
    """Return the ceilings (3, N, N), times `scale`: of edges, siblings, grandparents. O(n³)."""
    ceilings = np.zeros((3, *parts.scores.shape))
    if parts.siblings.size:
        ceilings[1] = parts.siblings.max(axis=2) * scale
    if parts.grandparents.size:
        above = parts.scores[:, :, None] > -np.inf
        ceilings[2] = np.where(above, parts.grandparents, -np.inf).max(axis=0) * scale
        ceilings[2, 0] = 0.0
    ceilings[0] = parts.scores * scale + ceilings[1] + ceilings[2]
    return ceilings


def remove_hopeless(
    parts: Parts, scale: float, ceilings: NDArray[np.float64], weight: float
) -> None:
    """Remove the edges and parts that no tree of `weight`, times `scale`, has. O(n³)."""
    size = len(parts.scores)
    best = ceilings[0, :, 1:].max(axis=0)
    with np.errstate(invalid="ignore"):  # absent parts are -inf, and are not removed again
        # A tree weighs at most the ceiling of one of its edges plus the ceilings of the other
        # words, and the errors of all these sums.
        off = abs(weight) + np.abs(best).sum()
        room = best.sum() - weight + (size * _LOSS * off + size * _UNDERFLOW)
        least = np.append(np.inf, best - room)  # no edge enters the root

        def hopeless(score: Any, sibling: Any, grandparent: Any, least: Any) -> NDArray[np.bool_]:
            """Tell whether three parts weigh certainly less together than `least`."""
            total = score + sibling + grandparent
            sizes = np.abs(score) + np.abs(sibling) + np.abs(grandparent)
            weighs_less: NDArray[np.bool_] = total + _LOSS * sizes < least
            return weighs_less

        score, (_, sibling, grandparent) = parts.scores * scale, ceilings
        removed = (ceilings[0] == -np.inf) | hopeless(score, sibling, grandparent, least)
        if parts.siblings.size:
            ceiling = grandparent[..., None]
            few = hopeless(score[..., None], parts.siblings * scale, ceiling, least[:, None])
            parts.siblings[few] = -np.inf
        if parts.grandparents.size:
            few = hopeless(score, sibling, parts.grandparents * scale, least)
            parts.grandparents[few] = -np.inf
    parts.remove(removed)


@kernel
@takes("int64[::1], out int64[::1]")
def find_nearer(heads: np.ndarray, nearer: np.ndarray) -> None:
    """Fill ``nearer[d]``: the next nearer modifier of d's head on its side, or the head. O(n)."""
    size = heads.shape[0]
    last = np.arange(size)
    for d in range(1, size):
        h = heads[d]
        if h < d:
            nearer[d] = last[h]
            last[h] = d
    for d in range(size):
        last[d] = d
    for d in range(size - 1, 0, -1):
        h = heads[d]
        if h > d:
            nearer[d] = last[h]
            last[h] = d


def weights_in(parts: Any, heads: NDArray[np.int64]) -> NDArray[Any]:
    """Return the weights of the parts of a tree; `parts` are `Parts` or `Units`. O(n)."""
    words = np.arange(1, len(heads))
    above = heads[1:]
    weights = [parts.scores[above, words]]
    if parts.siblings.size:
        nearer = np.empty_like(heads)
        find_nearer(heads, nearer)
        weights.append(parts.siblings[above, words, nearer[1:]])
    if parts.grandparents.size:
        inner = above > 0
        weights.append(parts.grandparents[heads[above[inner]], above[inner], words[inner]])
    return np.concatenate(weights)


def tree_weight(scores: Any, heads: Any, siblings: Any = None, grandparents: Any = None) -> Any:
    """Return the weights of trees: the sums of all their parts.

    Parameters
    ----------
    scores, siblings, grandparents
        As in `decode`.
    heads : (..., N) whole numbers
        Trees, padded with -1.

    Returns
    -------
    weight : float, or (...) float64 array for a batch
        The exact sum, rounded once; -inf if a part is absent. O(n) a tree.

    Raises
    ------
    ScoresError
        If the shapes or types of the parts are invalid, or a part of a tree is NaN or +inf.
    TreeError
        If the heads do not fit the scores.

    Examples
    --------
    >>> scores, siblings = np.zeros((3, 3)), np.zeros((3, 3, 3))
    >>> siblings[0, 2, 1] = 3.0
    >>> tree_weight(scores, [-1, 0, 0], siblings), tree_weight(scores, [-1, 0, 1], siblings)
    (3.0, 0.0)
    """
    batch = PartsBatch.of(scores, siblings, grandparents)
    rows, shape = rows_for(batch.graph, heads), batch.graph.shape
    weights = np.empty(len(rows))
    for b, row in enumerate(rows):
        n = word_count(row)
        if (row[1 : n + 1] < 0).any() or (row > n).any():
            raise TreeError(f"{name_of(batch.graph, b)}heads are not within 0 .. {n}")
        parts = batch.parts(b, False)
        weights[b] = rounded_sum(weights_in(parts, row[: n + 1]).tolist())
        if not weights[b] < np.inf:
            batch.check(b, parts)
    return weights.reshape(shape) if shape else float(weights[0])
