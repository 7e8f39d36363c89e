"""Conflicts of a tree with rules: sets of edges, ways out of a conflict, and both as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Heads = NDArray[np.int64]
    #: One number, several, or None for all.
    Which = int | Sequence[int] | NDArray[np.int64] | None
    #: The heads, dependents and labels of edges.
    Axes = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    #: Edges that are absent (False), or of which one enters each of their dependents (True).
    Ban = tuple[bool, Axes]
    #: An alternative: all of these.
    Way = tuple[Ban, ...]


class Edges(NamedTuple):
    """A set of edges: from any of these heads, into any of these words, with any of these labels.

    Each entry is a number, several numbers, or None for all. Head 0 is the root.

    Examples
    --------
    >>> Edges(2, 7), Edges(None, 7, labels=[0, 3])
    (Edges(heads=2, dependents=7, labels=None), Edges(heads=None, dependents=7, labels=[0, 3]))
    """

    heads: Which = None
    dependents: Which = None
    labels: Which = None


class Alternative(NamedTuple):
    """One of the ways out of a conflict.

    A tree takes it if it has none of the edges in `forbid`, and the edge into each dependent of
    `require` is one of those.

    Examples
    --------
    >>> Alternative(forbid=[Edges(2, 7)])
    Alternative(forbid=[Edges(heads=2, dependents=7, labels=None)], require=())
    """

    forbid: Sequence[Edges] = ()
    require: Sequence[Edges] = ()


class Conflict(NamedTuple):
    """What is wrong with a tree: a word that breaks a rule. A list of alternatives will do, too.

    Attributes
    ----------
    alternatives : sequence of Alternative
        Every tree in which the word keeps the rule takes at least one.
    rule : str
        The name of the rule.
    word : int
        The number of the word.
    cost : float, optional
        If given, the rule may be broken, and the weight of a tree is so much less for each `word`
        that breaks it. Conflicts with the same rule and word cost once. Else it must be kept.
    """

    alternatives: Sequence[Alternative]
    rule: str = ""
    word: int = 0
    cost: float | None = None


def check_cost(cost: float) -> float:
    """Return a cost; raise OptionError if it is not a positive number."""
    if isinstance(cost, (int, float)) and 0 < cost < np.inf:
        return float(cost)
    raise OptionError(f"cost must be a positive number, not {cost!r}")


def way_of(forbid: Sequence[Edges], require: Sequence[Edges], shape: tuple[int, int, int]) -> Way:
    """Return an alternative as bans, for scores of a shape (N, N, L)."""
    return (
        *((False, _axes(edges, shape)) for edges in forbid),
        *((True, _axes(edges, shape)) for edges in require),
    )


def ban(array: NDArray[Any], banned: Ban, absent: Any) -> None:
    """Overwrite the banned edges of an array (N, N, L)."""
    required, axes = banned
    index = axes[0][:, None, None], axes[1][:, None], axes[2]
    if required:
        kept = array[index]
        array[:, axes[1]] = absent
        array[index] = kept
    else:
        array[index] = absent


def against(banned: Ban, heads: Heads, labels: Heads) -> NDArray[np.bool_]:
    """Tell of each word of a tree whether the edge into it is banned."""
    required, (of_heads, words, of_labels) = banned
    found = np.zeros(len(heads), np.bool_)
    inside = _among(heads[words], of_heads) & _among(labels[words], of_labels)
    found[words] = inside != required
    return found[1:]


def _among(values: Heads, wanted: Heads) -> NDArray[np.bool_]:
    """Tell of each value whether it is one of those wanted."""
    one = len(wanted) == 1
    found: NDArray[np.bool_] = values == wanted if one else (values[:, None] == wanted).any(axis=1)
    return found


def can_be_excluded(way: Way) -> bool:
    """Tell whether the trees that do not take an alternative are those of one ban."""
    return len(way) == 1 and len(way[0][1][1]) == 1


def _axes(edges: Edges, shape: tuple[int, int, int]) -> Axes:
    """Return the heads, dependents and labels of edges, each as an array."""
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
    if axis.ndim > 1 or axis.dtype.kind not in "iu" or ((axis < first) | (axis >= size)).any():
        raise OptionError(
            f"{name} of edges must be whole numbers of {first} to {size - 1}, or None for all, "
            f"not {which!r}"
        )
    return axis
