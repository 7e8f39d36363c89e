"""Demands that have a price: charges for edges, and limits of their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.checks import check_count
from arborescence.inference.conflicts import Alternative, Conflict, Edges, axes_of, check_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from arborescence.inference.conflicts import Heads

    #: Alternatives: every tree that keeps the rules takes at least one of them.
    AnyConflict = Conflict | Sequence[Alternative]
    #: A function that returns the conflicts of a tree, from its heads, or its heads and labels.
    Conflicts = Callable[..., Sequence[AnyConflict]]

#: A text names at most this many numbers; of more numbers it gives the count.
_NAMED: Final = 4


class Charge(NamedTuple):
    """A price for each edge of a tree in a set of edges, or (`required`) not in the set.

    Attributes
    ----------
    edges : Edges, or (N, N) or (N, N, L) bool
        The set.
    price : float or int
        The price of each edge.
    level : int
        0 for a price in units of scores. From level 1 on, prices are whole numbers, and count
        before all prices of lower levels.
    required : bool
        If true, a tree pays for each edge that enters a dependent of the set, but is not in the
        set.
    name : str
        The name in texts and in `Solution.dues`.

    Examples
    --------
    >>> print(Charge(Edges(2, 1), 3, level=1, required=True))
    3 at level 1 for edges other than 2 → 1
    """

    edges: Edges | NDArray[np.bool_]
    price: float
    level: int = 0
    required: bool = False
    name: str = ""

    def __str__(self) -> str:
        edges = self.edges
        named = "a set" if isinstance(edges, np.ndarray) else named_edges(edges)
        if self.name:
            return self.name
        price = f"{self.price} at level {self.level}" if self.level else f"{self.price}"
        return f"{price} for edges {'other than ' * self.required}{named}"

    def into(self, shape: tuple[int, ...]) -> tuple[Heads, NDArray[np.bool_]]:
        """Return words, (W,), and whether a tree pays for each edge into them, (N, W, L)."""
        if isinstance(self.edges, np.ndarray):
            inside = self.edges if self.edges.ndim == 3 else self.edges[..., None]
            words = np.flatnonzero(inside.any(axis=(0, 2)))
            paying = np.broadcast_to(
                inside[:, words] != self.required, (shape[0], len(words), shape[2])
            )
            return words, paying
        heads, words, labels = axes_of(self.edges, shape)
        words = np.unique(words)
        paying = np.full((shape[0], len(words), shape[2]), self.required)
        paying[np.ix_(heads, np.arange(len(words)), labels)] = not self.required
        return words, paying

    def mask(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether a tree pays for each edge, for scores of a shape (N, N, L)."""
        words, paying = self.into(shape)
        mask = np.zeros(shape, np.bool_)
        mask[:, words] = paying
        return mask

    def conflicts(self, shape: tuple[int, ...]) -> Conflicts:
        """Return the function that finds the words for which a tree pays."""
        mask, words = self.mask(shape), np.arange(1, shape[1])
        name, price = str(self), check_cost(self.price, self.level)

        def conflicts_of(heads: Heads, labels: Heads) -> list[Conflict]:
            return [
                Conflict([Alternative(_edges_into(mask, word))], name, word, price, self.level)
                for word in (np.flatnonzero(mask[heads[1:], words, labels[1:]]) + 1).tolist()
            ]

        return conflicts_of


class Limit(NamedTuple):
    """A tree has at most `most` edges of a set.

    Attributes
    ----------
    edges : sequence of Edges
        The set. An edge that is in several entries counts once.
    most : int
        The largest number of these edges that a tree may have.
    price : float or int, optional
        If given, a tree may have more of these edges, and pays the price once.
    level : int
        As in `Charge`.
    name : str
        As in `Charge`.

    Examples
    --------
    >>> Limit([Edges(2, None, labels=0)], 1)  # at most one subject of word 2
    Limit(edges=[Edges(heads=2, dependents=None, labels=0)], most=1, price=None, level=0, name='')
    """

    edges: Sequence[Edges]
    most: int
    price: float | None = None
    level: int = 0
    name: str = ""

    def __str__(self) -> str:
        if self.name:
            return self.name
        named = " and ".join(map(named_edges, self.edges))
        return f"at most {self.most} of the edges {named}"

    def conflicts(self, shape: tuple[int, ...]) -> Conflicts:
        """Return the function that tells whether a tree has too many edges of the set."""
        mask = np.zeros(shape, np.bool_)
        for edges in self.edges:
            mask[np.ix_(*axes_of(edges, shape))] = True
        most = check_count(self.most, "most", 0)
        price = None if self.price is None else check_cost(self.price, self.level)
        name, words = str(self), np.arange(1, shape[1])
        entered: NDArray[np.bool_] = np.any(mask, axis=(0, 2))
        into, first = entered[1:], int(np.argmax(entered))

        def conflicts_of(heads: Heads, labels: Heads) -> list[Conflict]:
            inside = np.flatnonzero(into & mask[heads[1:], words, labels[1:]]) + 1
            if len(inside) <= most:
                return []
            ways = [
                Alternative(forbid=_edges_into(mask, word)) for word in inside[: most + 1].tolist()
            ]
            return [Conflict(ways, name, first, price, self.level)]

        return conflicts_of


def _edges_into(mask: NDArray[np.bool_], word: int) -> list[Edges]:
    """Return the edges of a set that enter a word; heads with the same labels are together."""
    alike: dict[bytes, list[int]] = {}
    for head in np.flatnonzero(mask[:, word].any(axis=-1)).tolist():
        alike.setdefault(mask[head, word].tobytes(), []).append(head)
    return [
        Edges(heads, word, np.flatnonzero(mask[heads[0], word]).tolist())
        for heads in alike.values()
    ]


def named_edges(edges: Edges) -> str:
    """Return a set of edges as text."""
    heads, words, labels = map(_numbers, Edges(*edges))
    return f"{heads} → {words}" + ("" if labels == "any" else f" (label {labels})")


def _numbers(which: Any) -> str:
    """Return an entry of `Edges` as text."""
    if which is None:
        return "any"
    several = np.atleast_1d(np.asarray(which)).tolist()
    if len(several) > _NAMED:
        return f"{len(several)} nodes"
    return "/".join(map(str, several))
