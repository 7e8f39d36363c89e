"""The parts of second-order trees: their weights, and which of them no best tree can have.

A tree has one part for each word d with the head h: ``scores[h, d]``; ``siblings[h, d, s]``, where
s is the next nearer modifier of h on the same side, or h if there is none; and, if h is not the
root, ``grandparents[g, h, d]``, where g is the head of h (McDonald and Pereira 2006; Carreras
2007). So the *ceiling* of an edge, its score with the best sibling and the best grandparent, bounds
what the word d can add to a tree. An edge or a part whose tree cannot reach a known tree's weight
even if all other words add the most that they can is removed before the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel
from arborescence.core.accumulator import SCALE, rounded_sum
from arborescence.core.conversion import FLOATS, as_array, as_floats
from arborescence.core.faults import name_of
from arborescence.core.graph import as_graph, matrix_of, words_of
from arborescence.core.tree import as_rows, word_count
from arborescence.errors import ScoresError, TreeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.graph import Graph

#: In place of siblings or grandparents that are not given.
NONE = np.empty((0, 0, 0))

# Relative error of a ceiling, and of what is compared with it; and the error of an underflow.
_LOSS = 2.0**-49
_UNDERFLOW = 2.0**-1070

_NAMES = ("scores", "siblings", "grandparents")


class Parts(NamedTuple):
    """The weights of a sentence's parts, -inf where absent; kernels take these three arrays."""

    scores: NDArray[np.float64]
    """(N, N): ``[h, d]``."""
    siblings: NDArray[np.float64]
    """(N, N, N): ``[h, d, s]``, or (0, 0, 0)."""
    grandparents: NDArray[np.float64]
    """(N, N, N): ``[g, h, d]``, or (0, 0, 0)."""


class Batch(NamedTuple):
    """A batch of a caller's parts, checked but for their values."""

    graph: Graph
    siblings: NDArray[Any] | None
    """(B, N, N, N)"""
    grandparents: NDArray[Any] | None
    """(B, N, N, N)"""

    @classmethod
    def of(cls, scores: Any, siblings: Any, grandparents: Any, lengths: Any = None) -> Self:
        """Check shapes and types; ScoresError if one is invalid."""
        graph = as_graph(scores, lengths)
        return cls(
            graph,
            _of_shape(graph, siblings, "siblings"),
            _of_shape(graph, grandparents, "grandparents"),
        )

    def parts(self, sentence: int) -> Parts:
        """Return the caller's parts of a sentence of the flattened batch, copied."""
        size = words_of(self.graph, sentence) + 1
        thirds = [
            NONE if array is None else np.array(array[sentence, :size, :size, :size], np.float64)
            for array in (self.siblings, self.grandparents)
        ]
        matrix = np.array(matrix_of(self.graph, sentence), np.float64, order="C")
        return Parts(matrix, *map(np.ascontiguousarray, thirds))

    def bad_part(self, sentence: int, place: tuple[int, int, int, int]) -> ScoresError:
        """Return the error for a part that is NaN or +inf, at the place from `find_bad`."""
        which, *index = place
        part = self.parts(sentence)[which][tuple(index[: 2 if which == 0 else 3])]
        index = index[:2] if which == 0 else index
        leading = np.unravel_index(sentence, self.graph.shape) if self.graph.shape else ()
        where = ", ".join(map(str, [*leading, *index]))
        return ScoresError(
            f"{name_of(self.graph, sentence)}{_NAMES[which]}[{where}] is {part}; scores are "
            "finite, or -inf for what is absent"
        )


def _of_shape(graph: Graph, values: Any, name: str) -> NDArray[Any] | None:
    if values is None:
        return None
    size = graph.scores.shape[-1]
    shape = (*graph.shape, size, size, size)
    array, _ = as_array(values, name, absent=-np.inf)
    if array.shape != shape:
        raise ScoresError(
            f"{name} must have shape {shape}, one axis more than scores, not {array.shape}"
        )
    if array.dtype not in FLOATS:
        array = as_floats(array, name)
    return array.reshape(-1, size, size, size)


@inlined_kernel
def nearest(h: int, d: int, single: bool) -> tuple[int, int]:
    """Return the range of words that can be the next nearer modifier of h, beside none. O(1)."""
    if single and h == 0:
        return d, d
    return min(h, d) + 1, max(h, d)


@kernel
def find_bad(
    scores: np.ndarray, siblings: np.ndarray, grandparents: np.ndarray, single: bool
) -> tuple[int, int, int, int]:
    """Return which part is NaN or +inf, the array's number (-1 for none) and three indices."""
    # O(n³). Parts that no tree has, and those of absent edges, are ignored
    size = scores.shape[0]
    for h in range(size):
        for d in range(1, size):
            if h == d or scores[h, d] == -np.inf:
                continue
            if not scores[h, d] < np.inf:
                return 0, h, d, 0
            if siblings.shape[0] > 0:
                if not siblings[h, d, h] < np.inf:
                    return 1, h, d, h
                low, stop = nearest(h, d, single)
                for s in range(low, stop):
                    if not siblings[h, d, s] < np.inf:
                        return 1, h, d, s
            if grandparents.shape[0] > 0 and h > 0:
                for g in range(size):
                    if g not in (h, d) and not grandparents[g, h, d] < np.inf:
                        return 2, g, h, d
    return -1, 0, 0, 0


@kernel
def size_of_parts(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
    scale: float,
) -> float:
    """Return a bound on `scale` times the absolute weight of a tree and of its parts. O(n³)."""
    size = scores.shape[0]
    total = 0.0
    for d in range(1, size):
        largest = 0.0
        for h in range(size):
            if h == d or scores[h, d] == -np.inf:
                continue
            sibling, grandparent = 0.0, 0.0
            if siblings.shape[0] > 0:
                if siblings[h, d, h] > -np.inf:
                    sibling = abs(siblings[h, d, h])
                low, stop = nearest(h, d, single)
                for s in range(low, stop):
                    if siblings[h, d, s] > -np.inf:
                        sibling = max(sibling, abs(siblings[h, d, s]))
            if grandparents.shape[0] > 0 and h > 0:
                for g in range(size):
                    if g not in (h, d) and grandparents[g, h, d] > -np.inf:
                        grandparent = max(grandparent, abs(grandparents[g, h, d]))
            largest = max(
                largest, abs(scores[h, d]) * scale + sibling * scale + grandparent * scale
            )
        total += largest
    return total


@kernel
def fill_ceilings(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
    scale: float,
    ceilings: np.ndarray,
) -> None:
    """Fill the ceilings (3, N, N), times `scale`: of edges, siblings alone, grandparents alone."""
    # O(n³)
    size = scores.shape[0]
    ceilings[:] = 0.0
    for h in range(size):
        for d in range(1, size):
            if h == d or scores[h, d] == -np.inf:
                ceilings[0, h, d] = -np.inf
                continue
            if siblings.shape[0] > 0:
                best = siblings[h, d, h]
                low, stop = nearest(h, d, single)
                for s in range(low, stop):
                    best = max(best, siblings[h, d, s])
                ceilings[1, h, d] = best * scale
            if grandparents.shape[0] > 0 and h > 0:
                best = -np.inf
                for g in range(size):
                    if g not in (h, d) and scores[g, h] > -np.inf:
                        best = max(best, grandparents[g, h, d])
                ceilings[2, h, d] = best * scale
            ceilings[0, h, d] = scores[h, d] * scale + ceilings[1, h, d] + ceilings[2, h, d]


@inlined_kernel
def hopeless(score: float, sibling: float, grandparent: float, least: float) -> bool:
    """Tell whether three parts weigh certainly less together than `least`. O(1)."""
    total = score + sibling + grandparent
    return total + _LOSS * (abs(score) + abs(sibling) + abs(grandparent)) < least


@kernel
def remove_hopeless(
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
    single: bool,
    scale: float,
    ceilings: np.ndarray,
    weight: float,
) -> None:
    """Remove the edges and parts of which no tree weighs `weight`, times `scale`. O(n³)."""
    size = scores.shape[0]
    best = np.empty(size)
    room, off = -weight, abs(weight)
    for d in range(1, size):
        best[d] = -np.inf
        for h in range(size):
            if h != d:
                best[d] = max(best[d], ceilings[0, h, d])
        room += best[d]
        off += abs(best[d])
    # The trees of an edge weigh at most its ceiling and those of the other words; with the errors
    # of all these sums.
    room += (size * _LOSS) * off + size * _UNDERFLOW
    for h in range(size):
        for d in range(1, size):
            if h == d or scores[h, d] == -np.inf:
                continue
            score = scores[h, d] * scale
            sibling, grandparent = ceilings[1, h, d], ceilings[2, h, d]
            least = best[d] - room
            if ceilings[0, h, d] == -np.inf or hopeless(score, sibling, grandparent, least):
                scores[h, d] = -np.inf
                continue
            if siblings.shape[0] > 0:
                if hopeless(score, siblings[h, d, h] * scale, grandparent, least):
                    siblings[h, d, h] = -np.inf
                low, stop = nearest(h, d, single)
                for s in range(low, stop):
                    if hopeless(score, siblings[h, d, s] * scale, grandparent, least):
                        siblings[h, d, s] = -np.inf
            if grandparents.shape[0] > 0 and h > 0:
                for g in range(size):
                    if g not in (h, d) and hopeless(
                        score, sibling, grandparents[g, h, d] * scale, least
                    ):
                        grandparents[g, h, d] = -np.inf


def scale_for(parts: Parts, single: bool) -> float:
    """Return what to multiply weights by, so that no sum of them overflows: 1, or `SCALE`."""
    return 1.0 if size_of_parts(*parts, single, 1.0) < 1e300 else SCALE


@kernel
def find_nearer(heads: np.ndarray, nearer: np.ndarray) -> None:
    """Fill ``nearer[d]``: the next nearer modifier of d's head on its side, or that head. O(n)."""
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
    batch = Batch.of(scores, siblings, grandparents)
    rows, shape = as_rows(heads)
    size = batch.graph.scores.shape[-1]
    if shape != batch.graph.shape or rows.shape[1] != size:
        raise TreeError(
            f"heads of shape {(*shape, rows.shape[1])} do not fit scores of shape "
            f"{(*batch.graph.shape, size, size)}"
        )
    weights = np.empty(len(rows))
    for b, row in enumerate(rows):
        n = word_count(row)
        if (row[1 : n + 1] < 0).any() or (row > n).any():
            raise TreeError(f"{name_of(batch.graph, b)}heads are not within 0 .. {n}")
        parts = batch.parts(b)
        weights[b] = rounded_sum(weights_in(parts, row[: n + 1]).tolist())
        if not weights[b] < np.inf:
            place = find_bad(*parts, False)
            if place[0] >= 0:
                raise batch.bad_part(b, place)
    return weights.reshape(shape) if shape else float(weights[0])
