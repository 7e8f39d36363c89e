"""Scores of siblings and grandparents as linear functions of hashed features (Carreras 2007).

Templates are as in `shared.features`, with the roles h and d (head and dependent), s (the next
nearer modifier of h on the same side; the missing node if there is none) and g (the head of h). A
row of weights has one for each combination of two directions: that of the edge h -> d, and for
grandparents that of g -> h, for siblings whether s and d are close.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.core.kernels import inlined_kernel, kernel
from arborescence.parsers.shared.features import rotate, split_template, usable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch

SIBLINGS: Final = [
    "h:p d:p s:p", "d:p s:p", "h:w,p d:p s:p", "h:p d:w,p s:p", "h:p d:p s:w,p", "d:w,p s:p",
    "d:p s:w,p", "d:w,p s:w,p", "h:p,m d:p s:p", "h:p d:p,m s:p,m", "d:p,m s:p,m", "h:l,p d:p s:p",
    "h:x d:x s:x", "d:l,p s:l,p", "h:p d:p-1,p s:p,p+1", "h:p d:p,p+1 s:p-1,p",
]  # fmt: skip
GRANDPARENTS: Final = [
    "g:p h:p d:p", "g:p d:p", "g:w,p h:p d:p", "g:p h:w,p d:p", "g:p h:p d:w,p", "g:w,p d:p",
    "g:p d:w,p", "g:w,p d:w,p", "g:p,m h:p d:p", "g:p h:p,m d:p", "g:p,m h:p,m d:p,m",
    "g:p,m d:p,m", "g:x h:x d:x", "g:l,p d:l,p", "g:p,p+1 h:p d:p-1,p", "g:l,p h:p d:p",
]  # fmt: skip

#: The length of a row.
WIDE: Final = 4
#: Scores are rounded to multiples of this, so that second-order decoding need not round.
GRAIN: Final = 2.0**-20
# Siblings this far apart are close.
_CLOSE: Final = 2
# The rotation of the sides of each role; distinct for siblings and grandparents.
_DEPENDENT: Final = 32
_SIBLING: Final = 16
_GRANDPARENT: Final = 48


class PartTemplates(NamedTuple):
    """The sides of a batch that the features of a part are made of; -1 for a role without one.

    Attributes
    ----------
    siblings : (T, 3) int64
        Sides of head, dependent and sibling.
    grandparents : (T, 3) int64
        Sides of head, dependent and grandparent.
    """

    siblings: NDArray[np.int64]
    grandparents: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Iterable[str], sides: list[str]) -> Self:
        """Make the arrays of the templates that use only `columns`; add their sides to `sides`."""

        def number(side: str | None) -> int:
            if side is None:
                return -1
            if side not in sides:
                sides.append(side)
            return sides.index(side)

        def numbers(templates: list[str], roles: str) -> NDArray[np.int64]:
            split = [split_template(t) for t in usable(templates, columns)]
            rows = [[number(t.get(role)) for role in roles] for t in split]
            return np.array(rows, np.int64).reshape(-1, 3)

        return cls(numbers(SIBLINGS, "hds"), numbers(GRANDPARENTS, "hdg"))


class PartModel(NamedTuple):
    """Templates, and the weights: (R, 4) with a power of two of rows, float32 or int8."""

    templates: PartTemplates
    weights: NDArray[Any]


@inlined_kernel
def row_of(
    sides: np.ndarray,
    templates: np.ndarray,
    t: int,
    h: int,
    d: int,
    third: int,
    bits: int,
    rows: int,
) -> int:
    """Return the row of weights of a feature of three nodes. O(1)."""
    value = np.uint64(0)
    if templates[t, 0] >= 0:
        value ^= sides[h, templates[t, 0]]
    if templates[t, 1] >= 0:
        value ^= rotate(sides[d, templates[t, 1]], _DEPENDENT)
    if templates[t, 2] >= 0:
        value ^= rotate(sides[third, templates[t, 2]], bits)
    return np.int64(value & np.uint64(rows - 1))  # type: ignore[return-value]


@inlined_kernel
def sibling_column(h: int, d: int, s: int) -> int:
    """Return the column of weights of a sibling part. O(1)."""
    return (2 if h < d else 0) + (1 if abs(d - s) <= _CLOSE else 0)


@inlined_kernel
def grandparent_column(g: int, h: int, d: int) -> int:
    """Return the column of weights of a grandparent part. O(1)."""
    return (2 if h < d else 0) + (1 if g < h else 0)


def rounded(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the nearest multiples of `GRAIN`."""
    found: NDArray[np.float64] = np.rint(scores.astype(np.float64) / GRAIN) * GRAIN
    return found


def score_parts(
    batch: Batch, b: int, model: PartModel, unit: float, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score the siblings and grandparents of the present edges of a sentence.

    Parameters
    ----------
    batch, b, model
        The batch, the number of the sentence, and the model.
    unit
        The factor of the weights.
    scores : (n + 1, n + 1) float64
        -inf for absent edges.

    Returns
    -------
    siblings, grandparents : (n + 1, n + 1, n + 1) float64
        As `second_order.decode` takes them: multiples of `GRAIN`, 0 for parts of absent edges.

    Notes
    -----
    With m present edges a word, O(T n m²), and O(n³) for the arrays.
    """
    size = len(scores)
    out = np.zeros((2, size, size, size))
    score_kernel(
        batch.starts, batch.sides, b, *model.templates, model.weights, unit, scores, out[0], out[1]
    )
    return out[0], out[1]


@kernel
def score_kernel(
    starts: np.ndarray,
    sides: np.ndarray,
    b: int,
    of_siblings: np.ndarray,
    of_grandparents: np.ndarray,
    weights: np.ndarray,
    unit: float,
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
) -> None:
    """Do the work of `score_parts`."""
    first, absent = starts[b], sides.shape[0] - 1
    size, rows = scores.shape[0], weights.shape[0]
    for h in range(size):
        for d in range(1, size):
            if h == d or scores[h, d] == -np.inf:
                continue
            step = 1 if h > d else -1
            s = d + step
            while True:
                if s == h or scores[h, s] > -np.inf:
                    node = absent if s == h else first + s
                    column = sibling_column(h, d, s)
                    total = 0.0
                    for t in range(of_siblings.shape[0]):
                        row = row_of(
                            sides, of_siblings, t, first + h, first + d, node, _SIBLING, rows
                        )
                        total += weights[row, column]
                    siblings[h, d, s] = round(total * unit / GRAIN) * GRAIN
                if s == h:
                    break
                s += step
            if h == 0:
                continue
            for g in range(size):
                if g not in (h, d) and scores[g, h] > -np.inf:
                    column = grandparent_column(g, h, d)
                    total = 0.0
                    for t in range(of_grandparents.shape[0]):
                        row = row_of(
                            sides,
                            of_grandparents,
                            t,
                            first + h,
                            first + d,
                            first + g,
                            _GRANDPARENT,
                            rows,
                        )
                        total += weights[row, column]
                    grandparents[g, h, d] = round(total * unit / GRAIN) * GRAIN


def list_features(
    batch: Batch, templates: PartTemplates, rows: int, heads: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the numbers of the weights of a tree's parts: row · 4 + column; O(T n).

    Parameters
    ----------
    batch
        A batch of one sentence.
    templates
        `PartTemplates`.
    rows
        The number of rows of weights.
    heads : (n + 1,) int64
    """
    of_siblings, of_grandparents = templates
    out = np.empty(len(heads) * (len(of_siblings) + len(of_grandparents)), np.int64)
    count = list_kernel(batch.starts, batch.sides, *templates, rows, heads, out)
    return out[:count]


@kernel
def list_kernel(
    starts: np.ndarray,
    sides: np.ndarray,
    of_siblings: np.ndarray,
    of_grandparents: np.ndarray,
    rows: int,
    heads: np.ndarray,
    out: np.ndarray,
) -> int:
    """Do the work of `list_features`; return their number."""
    first, absent = starts[0], sides.shape[0] - 1
    count = 0
    for d in range(1, heads.shape[0]):
        h = heads[d]
        step = 1 if h > d else -1
        s = d + step
        while s != h and heads[s] != h:
            s += step
        node = absent if s == h else first + s
        for t in range(of_siblings.shape[0]):
            row = row_of(sides, of_siblings, t, first + h, first + d, node, _SIBLING, rows)
            out[count] = WIDE * row + sibling_column(h, d, s)
            count += 1
        if h > 0:
            g = heads[h]
            for t in range(of_grandparents.shape[0]):
                row = row_of(
                    sides, of_grandparents, t, first + h, first + d, first + g, _GRANDPARENT, rows
                )
                out[count] = WIDE * row + grandparent_column(g, h, d)
                count += 1
    return count
