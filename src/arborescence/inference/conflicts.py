"""Conflicts of a tree with rules: sets of edges, alternatives to a conflict, and their arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.checks import check_count
from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Heads = NDArray[np.int64]
    #: A number, several numbers, or None for all numbers.
    Which = int | Sequence[int] | NDArray[np.int64] | None
    #: An alternative: a tree that takes the alternative keeps all of these bans.
    Way = tuple["Ban", ...]


#: The largest cost at a level: sums of them are whole numbers that floats can hold.
_MOST: Final = 10**9
#: `Ban`, for kernels.
_BAN: Final = "inference.conflicts.Ban(bool, int64[::1], int64[::1], int64[::1])"


class Edges(NamedTuple):
    """A set of edges: from any of these heads, into any of these words, with any of these labels.

    Attributes
    ----------
    heads : int, several, or None
        The heads; None: all heads. Head 0 is the root.
    dependents : int, several, or None
        The dependents; None: all words.
    labels : int, several, or None
        The numbers of the labels; None: all labels.

    Examples
    --------
    >>> Edges(2, 7), Edges(None, 7, labels=[0, 3])
    (Edges(heads=2, dependents=7, labels=None), Edges(heads=None, dependents=7, labels=[0, 3]))
    """

    heads: Which = None
    dependents: Which = None
    labels: Which = None


class Alternative(NamedTuple):
    """An alternative to a conflict: edges that a tree gives up, or edges that it takes.

    A tree takes the alternative if the tree has no edge of `forbid`, and if its edge into each
    dependent of `require` is among the required edges.

    Attributes
    ----------
    forbid : sequence of Edges
        The edges that the tree may not have.
    require : sequence of Edges
        The edges of which one enters each dependent.

    Examples
    --------
    >>> Alternative(forbid=[Edges(2, 7)])
    Alternative(forbid=[Edges(heads=2, dependents=7, labels=None)], require=())
    """

    forbid: Sequence[Edges] = ()
    require: Sequence[Edges] = ()


class Ban(NamedTuple):
    """Edges, as arrays: a tree has none of them, or (`required`) one of them enters each word."""

    #: whether one of the edges enters each word; else a tree has none of them
    required: bool
    #: the heads of the edges
    heads: NDArray[np.int64]
    #: their dependents
    words: NDArray[np.int64]
    #: the numbers of their labels
    labels: NDArray[np.int64]


class Conflict(NamedTuple):
    """A word of a tree that breaks a rule. A list of alternatives is a conflict, too.

    Attributes
    ----------
    alternatives : sequence of Alternative
        Every tree in which the word keeps the rule takes at least one of the alternatives.
    rule : str
        The name of the rule.
    word : int
        The number of the word.
    cost : float, optional
        If given, a tree may break the rule, and its weight is less by this cost for each `word`
        that breaks the rule. Conflicts with the same rule and word cost once. If not given, a tree
        must keep the rule.
    level : int
        0 for a cost in units of scores; else a whole number at one of the levels of `Constraints`.
    """

    alternatives: Sequence[Alternative]
    rule: str = ""
    word: int = 0
    cost: float | None = None
    level: int = 0


def check_cost(cost: float, level: int = 0) -> float:
    """Return a cost; raise OptionError if it is not a positive number, whole at a level."""
    if level:
        return check_count(cost, f"a cost at level {level}", 1, _MOST)
    if isinstance(cost, (int, float)) and 0 < cost < np.inf:
        return float(cost)
    raise OptionError(f"cost must be a positive number, not {cost!r}")


def way_of(forbid: Sequence[Edges], require: Sequence[Edges], shape: tuple[int, int, int]) -> Way:
    """Return an alternative as bans, for scores of a shape (N, N, L)."""
    return (
        *(Ban(False, *axes_of(edges, shape)) for edges in forbid),
        *(Ban(True, *axes_of(edges, shape)) for edges in require),
    )


def against(banned: Ban, heads: Heads, labels: Heads) -> NDArray[np.bool_]:
    """Tell of each word of a tree whether the edge into it is banned."""
    is_banned = np.zeros(len(heads), np.bool_)
    find_banned(banned, heads, labels, is_banned)
    return is_banned[1:]


@kernel
@takes(f"{_BAN}, int64[::1], int64[::1], out bool[::1]")
def find_banned(ban: Ban, heads: np.ndarray, labels: np.ndarray, is_banned: np.ndarray) -> None:
    """Write for the words of a ban whether the edges of a tree into them are banned."""
    for d in ban.words:
        head, label = False, False
        for h in ban.heads:
            head = head or h == heads[d]
        for k in ban.labels:
            label = label or k == labels[d]
        is_banned[d] = (head and label) != ban.required


@lru_cache(maxsize=64)
def every_label(size: int) -> NDArray[np.uint64]:
    """Return words of bits (ceil(L / 64),), with a 1 for each of L labels; see `restrict`."""
    bits = np.arange(-(-size // 64) * 64) < size
    words = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
    words.setflags(write=False)
    return words


@inlined_kernel
def highest_left(scores: np.ndarray, left: np.ndarray) -> float:
    """Return the highest score (L,) of a label that is left, by bits (ceil(L / 64),). O(L)."""
    highest, one = -np.inf, np.uint64(1)
    for place in range(left.shape[0]):
        bits = left[place]
        if bits:
            for k in range(64 * place, min(64 * place + 64, scores.shape[0])):
                if bits >> np.uint64(k % 64) & one:
                    highest = max(highest, scores[k])
    return highest


@kernel
@takes(
    f"{_BAN}, float64[:, :, ::1], bool[:, ::1], float64[:, ::1], out uint64[:, :, ::1], "
    "out float64[:, ::1]"
)
def restrict(
    ban: Ban,
    scores: np.ndarray,
    weighed: np.ndarray,
    edges: np.ndarray,
    left: np.ndarray,
    best: np.ndarray,
) -> None:
    """Remove labels that a ban excludes from those ``left``, and from the best scores (N, N).

    Label k of an edge is bit k % 64 of ``left[h, d, k // 64]``, (N, N, ceil(L / 64)). All labels of
    an edge that is not ``weighed`` (N, N) have its score in ``edges`` (N, N).
    """
    one = np.uint64(1)
    of_heads, of_labels = np.zeros(len(left), np.bool_), np.zeros(left.shape[2], np.uint64)
    for h in ban.heads:
        of_heads[h] = True
    for k in ban.labels:
        of_labels[k // 64] |= one << np.uint64(k % 64)
    for d in ban.words:
        for h in range(len(left)):
            if ban.required or of_heads[h]:
                any_left = False
                for place in range(left.shape[2]):
                    if not ban.required:
                        left[h, d, place] &= ~of_labels[place]
                    elif of_heads[h]:
                        left[h, d, place] &= of_labels[place]
                    else:
                        left[h, d, place] = 0
                    any_left |= left[h, d, place] != 0
                if not any_left:
                    best[h, d] = -np.inf
                elif weighed[h, d]:
                    best[h, d] = highest_left(scores[h, d], left[h, d])
                else:
                    best[h, d] = edges[h, d]


@kernel
@takes("float64[:, :, ::1], uint64[:, :, ::1], int64[::1], out float64[:, ::1], out int64[::1]")
def label(
    scores: np.ndarray, left: np.ndarray, heads: np.ndarray, best: np.ndarray, labels: np.ndarray
) -> bool:
    """Write the best labels (N,) of the edges of a tree, and their scores into ``best`` (N, N).

    Only the labels that are ``left`` count, as in `restrict`. Returns whether ``best`` had these
    scores before. O(L) for each word.
    """
    right, one = True, np.uint64(1)
    for d in range(1, len(heads)):
        h = heads[d]
        score = -np.inf
        labels[d] = 0
        for k in range(scores.shape[2]):
            is_left = left[h, d, k // 64] >> np.uint64(k % 64) & one
            if is_left and scores[h, d, k] > score:
                labels[d], score = k, scores[h, d, k]
        right = right and score == best[h, d]
        best[h, d] = score
    return right


def can_be_excluded(way: Way) -> bool:
    """Tell whether a single ban leaves exactly the trees that do not take an alternative."""
    return len(way) == 1 and len(way[0].words) == 1


def axes_of(edges: Edges, shape: Sequence[int]) -> tuple[Heads, Heads, Heads]:
    """Return the heads, the dependents and the labels of edges, for scores of a shape (N, N, L)."""
    heads, dependents, labels = Edges(*edges)
    return (
        _axis("heads", heads, 0, shape[0]),
        _axis("dependents", dependents, 1, shape[1]),
        _axis("labels", labels, 0, shape[2]),
    )


def _axis(name: str, which: Which, first: int, size: int) -> NDArray[np.int64]:
    """Return an entry of `Edges` as an array."""
    if which is None:
        return np.arange(first, size)
    if type(which) is int and first <= which < size:
        return np.array([which])
    axis = np.atleast_1d(np.asarray(which))
    if not axis.size:
        return np.empty(0, np.int64)
    numbers = axis.tolist()  # for so few numbers, faster than an array
    if axis.ndim > 1 or axis.dtype.kind not in "iu" or min(numbers) < first or max(numbers) >= size:
        raise OptionError(
            f"{name} of edges must be whole numbers of {first} to {size - 1}, or None for all, "
            f"not {which!r}"
        )
    return np.ascontiguousarray(axis, np.int64)
