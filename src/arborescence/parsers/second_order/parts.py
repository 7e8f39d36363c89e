"""Scores of siblings and grandparents as linear functions of hashed features (Carreras 2007).

Templates are as in `shared.features`, with the roles h and d (head and dependent), s (the next
nearer modifier of h on the same side; the missing node if there is none) and g (the head of h). A
row has four weights: for both directions of the edge h -> d, and, with grandparents, for both
directions of g -> h, with siblings, for s and d close to each other or not.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import indexing_kernel, inlined_kernel, kernel, takes
from arborescence.parsers.linear.graphs import KEPT
from arborescence.parsers.shared.features import BATCH, numbered, rotate
from arborescence.second_order.edges import Listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from arborescence.parsers.linear.graphs import KeptEdges
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
#: Scores are rounded to multiples of this number, so that second-order decoding need not round.
GRAIN: Final = 2.0**-20
# The largest distance of close siblings.
_CLOSE: Final = 2
# The rotation of the sides of each role; distinct for siblings and grandparents.
_DEPENDENT: Final = 32
_SIBLING: Final = 16
_GRANDPARENT: Final = 48


class PartTemplates(NamedTuple):
    """The templates of a part's features: numbers of a batch's sides, -1 for a missing role."""

    #: (T, 3): sides of head, dependent and sibling.
    siblings: NDArray[np.int64]
    #: (T, 3): sides of head, dependent and grandparent.
    grandparents: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Iterable[str], sides: list[str]) -> Self:
        """Make the arrays of the templates that use only `columns`; add their sides to `sides`."""
        siblings = numbered(SIBLINGS, "hds", columns, sides)
        return cls(siblings, numbered(GRANDPARENTS, "hdg", columns, sides))


#: The templates that a second-order parser has besides those of a linear parser, for `compiled`.
MORE: Final = {"parts": PartTemplates}


class PartModel(NamedTuple):
    """The model of the scores of siblings and grandparents."""

    #: The templates of the features.
    templates: PartTemplates
    #: (R, 4): the weights, float32 or int8; R is a power of two.
    weights: NDArray[Any]


# Records in signatures of kernels.
_TEMPLATES: Final = "parsers.second_order.parts.PartTemplates(int64[:, ::1], int64[:, ::1])"
_MODEL: Final = f"parsers.second_order.parts.PartModel({_TEMPLATES}, weight[:, ::1])"
_LISTED: Final = (
    "second_order.edges.Listed(int64[::1], out int64[::1], out float64[::1], out float64[::1], "
    "out float64[::1])"
)


@inlined_kernel
def sibling_column(h: int, d: int, s: int) -> int:
    """Return the column of weights of a sibling part. O(1)."""
    return (2 if h < d else 0) + (1 if abs(d - s) <= _CLOSE else 0)


@inlined_kernel
def grandparent_column(g: int, h: int, d: int) -> int:
    """Return the column of weights of a grandparent part. O(1)."""
    return (2 if h < d else 0) + (1 if g < h else 0)


def rounded(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the nearest multiples of `GRAIN`."""
    multiples: NDArray[np.float64] = np.rint(scores.astype(np.float64) / GRAIN) * GRAIN
    return multiples


class _Hasher(NamedTuple):
    """The arrays by which the features of siblings, or of grandparents, are hashed."""

    #: The hashed sides of the batch's nodes.
    sides: np.ndarray
    #: (T, 3): the templates of siblings, or of grandparents.
    templates: np.ndarray
    #: (T,), scratch memory: the halves of the features, from the edge h -> d of a part.
    halves: np.ndarray


@kernel
def _hashers(batch: Batch, templates: PartTemplates) -> tuple[_Hasher, _Hasher]:
    """Return the hashers of siblings and grandparents, with room for the halves."""
    halves = np.empty((2, max(len(templates.siblings), len(templates.grandparents))), np.uint64)
    siblings = _Hasher(batch.sides, templates.siblings, halves[0])
    return siblings, _Hasher(batch.sides, templates.grandparents, halves[1])


@indexing_kernel
def fill_halves(kind: _Hasher, h: int, d: int) -> None:
    """Write the halves of the features that all parts with the edge h -> d share. O(T)."""
    for t in range(kind.templates.shape[0]):
        value = np.uint64(0)
        if kind.templates[t, 0] >= 0:
            value ^= kind.sides[h, kind.templates[t, 0]]
        if kind.templates[t, 1] >= 0:
            value ^= rotate(kind.sides[d, kind.templates[t, 1]], _DEPENDENT)
        kind.halves[t] = value


@indexing_kernel
def row_of(kind: _Hasher, t: int, third: int, bits: int, last: np.uint64) -> np.int64:
    """Return the row of a feature of three nodes, two of which are in the halves. O(1)."""
    value: np.uint64 = kind.halves[t]
    if kind.templates[t, 2] >= 0:
        value ^= rotate(kind.sides[third, kind.templates[t, 2]], bits)
    return np.int64(value & last)


@indexing_kernel
def _score(
    kind: _Hasher, third: int, bits: int, weights: np.ndarray, column: int, unit: float
) -> float:
    """Return the score of a part, by the halves of its edge: a multiple of `GRAIN`. O(T)."""
    total, last = 0.0, np.uint64(weights.shape[0] - 1)
    for t in range(kind.templates.shape[0]):
        total += weights[row_of(kind, t, third, bits, last), column]
    return round(total * unit / GRAIN) * GRAIN


@indexing_kernel
def _score_sibling(
    kind: _Hasher, weights: np.ndarray, unit: float, first: int, h: int, d: int, s: int
) -> float:
    """Score h -> d with a sibling (no sibling if s is h); `first` is the sentence's root. O(T)."""
    node = kind.sides.shape[0] - 1 if s == h else first + s
    return _score(kind, node, _SIBLING, weights, sibling_column(h, d, s), unit)


@indexing_kernel
def _score_grandparent(
    kind: _Hasher, weights: np.ndarray, unit: float, first: int, g: int, h: int, d: int
) -> float:
    """Score h -> d with a head of h; `first` is the sentence's root. O(T)."""
    return _score(kind, first + g, _GRANDPARENT, weights, grandparent_column(g, h, d), unit)


def score_parts(
    batch: Batch, b: int, model: PartModel, unit: float, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score siblings and grandparents of the edges of sentence b.

    `unit` is the factor of the weights; `scores`, (n + 1, n + 1), is -inf for absent edges. Return
    two arrays of (n + 1, n + 1, n + 1), multiples of `GRAIN`, 0 for parts of absent edges. With m
    present edges a word, O(T n m²), and O(n³) for the arrays.
    """
    size = len(scores)
    out = np.zeros((2, size, size, size))
    score_kernel(batch, b, model, unit, scores, out[0], out[1])
    return out[0], out[1]


@kernel
@takes(
    f"{BATCH}, int64, {_MODEL}, float64, float64[:, ::1], out float64[:, :, ::1], "
    "out float64[:, :, ::1]"
)
def score_kernel(
    batch: Batch,
    b: int,
    model: PartModel,
    unit: float,
    scores: np.ndarray,
    siblings: np.ndarray,
    grandparents: np.ndarray,
) -> None:
    """Do the work of `score_parts`."""
    first, size, weights = batch.starts[b], scores.shape[0], model.weights
    of_siblings, of_grandparents = _hashers(batch, model.templates)
    for h in range(size):
        for d in range(1, size):
            if h == d or scores[h, d] == -np.inf:
                continue
            fill_halves(of_siblings, first + h, first + d)
            step = 1 if h > d else -1
            s = d
            while s != h:
                s += step
                if s == h or scores[h, s] > -np.inf:
                    score = _score_sibling(of_siblings, weights, unit, first, h, d, s)
                    siblings[h, d, s] = score
            if h == 0:
                continue
            fill_halves(of_grandparents, first + h, first + d)
            for g in range(size):
                if g not in (h, d) and scores[g, h] > -np.inf:
                    score = _score_grandparent(of_grandparents, weights, unit, first, g, h, d)
                    grandparents[g, h, d] = score


def list_parts(
    batch: Batch, kept: KeptEdges, model: PartModel, unit: float, single: bool
) -> tuple[Listed, NDArray[np.int64]]:
    """Score siblings and grandparents of kept edges, for `decode_listed`. O(T n m²).

    `unit` is the factor of the weights; `single` says whether exactly one edge leaves the root.
    """
    roots, into = batch.starts[:-1], np.diff(kept.starts)
    nodes = np.arange(len(into))
    dependents = np.repeat(nodes, into)
    governors = kept.heads + np.repeat(roots, np.diff(batch.starts))[dependents]
    sides = 2 * governors + (governors > dependents)
    counts = np.bincount(sides, minlength=2 * len(nodes)).reshape(-1, 2)
    pairs, modifiers = counts * (counts + 1) // 2, counts.sum(axis=1)
    if single:
        pairs[roots] = 0
    of_nodes = np.ones_like(nodes), modifiers, pairs.sum(axis=1), modifiers * into
    before = np.pad(np.cumsum(of_nodes, axis=1), ((0, 0), (1, 0)))
    ends = np.ascontiguousarray(before[:, batch.starts].T)
    before = np.pad(np.cumsum(counts), (1, 0))
    firsts = [before[i : j + 1] - before[i] for i, j in pairwise(2 * batch.starts)]
    edges, *others = ends[-1, 1:].tolist()
    weights = [np.empty(count) for count in (edges, *others)]
    listed = Listed(np.concatenate(firsts), np.empty(edges, np.int64), *weights)
    score_list_kernel(batch, kept, model, unit, single, ends, listed)
    return listed, ends


@kernel
@takes(f"{BATCH}, {KEPT}, {_MODEL}, float64, bool, int64[:, ::1], {_LISTED}")
def score_list_kernel(
    batch: Batch,
    kept: KeptEdges,
    model: PartModel,
    unit: float,
    single: bool,
    ends: np.ndarray,
    listed: Listed,
) -> None:
    """Do the work of `list_parts`."""
    weights, (sentences, starts, heads, of_edges) = model.weights, kept
    of_siblings, of_grandparents = _hashers(batch, model.templates)
    free = np.empty(listed.firsts.shape[0], np.int64)
    for b in range(ends.shape[0] - 1):
        node, size = sentences[b], sentences[b + 1] - sentences[b]
        firsts = listed.firsts[2 * node + b : 2 * (node + size) + b + 1]
        modifiers, scores = listed.modifiers[ends[b, 1] :], listed.scores[ends[b, 1] :]
        free[: 2 * size] = firsts[: 2 * size]
        for turn in range(2 * size):
            d = turn if turn < size else 2 * size - 1 - turn
            for i in range(starts[node + d], starts[node + d + 1]):
                h = heads[i]
                if (turn < size) == (h < d):
                    side = 2 * h + (0 if h < d else 1)
                    modifiers[free[side]] = d
                    scores[free[side]] = round(of_edges[i] / GRAIN) * GRAIN
                    free[side] += 1
        p, t = ends[b, 2], ends[b, 3]
        for h in range(size):
            first, stop = firsts[2 * h], firsts[2 * h + 2]
            for e in range(first, stop):
                d = modifiers[e]
                fill_halves(of_siblings, node + h, node + d)
                nearest = firsts[2 * h if h < d else 2 * h + 1]
                for other in range(e if single and h == 0 else nearest, e + 1):
                    s = modifiers[other] if other < e else h
                    score = _score_sibling(of_siblings, weights, unit, node, h, d, s)
                    if single and h == 0:
                        scores[e] += score
                    else:
                        listed.pairs[p] = score
                        p += 1
                if h == 0:
                    continue
                fill_halves(of_grandparents, node + h, node + d)
                into = starts[node + h]
                for i in range(into, starts[node + h + 1]):
                    g, place = heads[i], t + (i - into) * (stop - first) + e - first
                    score = _score_grandparent(of_grandparents, weights, unit, node, g, h, d)
                    listed.grandparents[place] = score if g != d else -np.inf
            if h > 0:
                t += (stop - first) * (starts[node + h + 1] - starts[node + h])


def list_features(
    batch: Batch, templates: PartTemplates, rows: int, heads: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the numbers of the weights of a tree's parts: row · 4 + column. O(T n)."""
    of_siblings, of_grandparents = templates
    out = np.empty(len(heads) * (len(of_siblings) + len(of_grandparents)), np.int64)
    count = list_kernel(batch, templates, rows, heads, out)
    return out[:count]


@kernel
@takes(f"{BATCH}, {_TEMPLATES}, int64, int64[::1], out int64[::1]")
def list_kernel(
    batch: Batch, templates: PartTemplates, rows: int, heads: np.ndarray, out: np.ndarray
) -> int:
    """Do the work of `list_features`; return the number of features."""
    first, last = batch.starts[0], np.uint64(rows - 1)
    of_siblings, of_grandparents = _hashers(batch, templates)
    count = 0
    for d in range(1, heads.shape[0]):
        h = heads[d]
        step = 1 if h > d else -1
        s = d + step
        while s != h and heads[s] != h:
            s += step
        node = batch.sides.shape[0] - 1 if s == h else first + s
        fill_halves(of_siblings, first + h, first + d)
        for t in range(templates.siblings.shape[0]):
            row = row_of(of_siblings, t, node, _SIBLING, last)
            out[count] = WIDE * row + sibling_column(h, d, s)
            count += 1
        if h > 0:
            g = heads[h]
            fill_halves(of_grandparents, first + h, first + d)
            for t in range(templates.grandparents.shape[0]):
                row = row_of(of_grandparents, t, first + g, _GRANDPARENT, last)
                out[count] = WIDE * row + grandparent_column(g, h, d)
                count += 1
    return count
