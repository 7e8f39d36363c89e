"""Constraints: the edges that a tree must have, must not have, or pays for. `solve` takes them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arborescence.core.checks import check_count, check_flag, check_root
from arborescence.errors import OptionError
from arborescence.inference.conflicts import Edges, axes_of, check_cost
from arborescence.inference.demands import Charge, Limit, named_edges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.inference.conflicts import Heads
    from arborescence.inference.demands import Conflicts

_LEVELS: Final = 100


@dataclass(frozen=True)
class Constraints:
    """The edges that a tree must have, must not have, or pays for.

    Attributes
    ----------
    forbid : tuple of Edges
        Edges that no tree may have.
    require : tuple of Edges
        Sets of edges: one edge of the set must enter each dependent of the set.
    charges : tuple of Charge
        Sets of edges that a tree pays for.
    limits : tuple of Limit
        Sets of edges, each with the largest number of its edges that a tree may have.
    votes : tuple of (N, N) whole numbers
        The number of votes for each edge. A tree pays at level 1 for the votes for other edges.
    conflicts : tuple of callables
        Functions that return the conflicts of a tree, ``conflicts(heads)``, or ``conflicts(heads,
        labels)`` for labeled scores: an empty list if the tree keeps the rules. A conflict is a
        list of `Alternative`: each tree that keeps the rules takes at least one alternative of the
        list, and this tree takes no alternative. Or a conflict is a `Conflict`, which has a name,
        and perhaps a cost: then a tree may break the rule, and the cost reduces its weight.
    root : {"single", "multi"}
        As in `decode`.
    projective : bool
        As in `decode`.
    levels : int
        The number of levels above the scores. Needed only if conflicts have higher levels than all
        charges and limits.

    Raises
    ------
    OptionError
        If `root` or `projective` is invalid. `solve` checks the edges, by the size of the scores.

    Examples
    --------
    >>> wanted = Constraints(require=[Edges(2, 1)]) & Constraints(forbid=[Edges(0, [3, 4])])
    >>> print(wanted)
    into each dependent, one of the edges 2 → 1; no edge 0 → 3/4; one root edge
    """

    forbid: tuple[Edges, ...] = ()
    require: tuple[Edges, ...] = ()
    charges: tuple[Charge, ...] = ()
    limits: tuple[Limit, ...] = ()
    votes: tuple[NDArray[Any], ...] = ()
    conflicts: tuple[Conflicts, ...] = ()
    root: Root = "single"
    projective: bool = False
    levels: int = 0

    def __post_init__(self) -> None:
        """Check the options, and keep each list as a tuple."""
        check_root(self.root)
        own: dict[str, Any] = {"projective": check_flag(self.projective)}
        own |= {name: tuple(getattr(self, name)) for name in _LISTS}
        prices = (*own["charges"], *own["limits"])
        if prices or own["votes"] or self.levels:
            levels = [self.levels, *(priced.level for priced in prices), bool(own["votes"])]
            own["levels"] = max(check_count(level, "a level", 0, _LEVELS) for level in levels)
        names = set[str]()  # the names of prices so far
        for name in ("charges", "limits") if prices else ():
            own[name] = tuple(
                priced._replace(name=_new(str(priced), names)) for priced in own[name]
            )
        vars(self).update(own)

    @classmethod
    def fixed(
        cls,
        heads: Iterable[int],
        labels: Iterable[int] | None = None,
        *,
        levels: tuple[int, int] | None = None,
        **which: Any,
    ) -> Self:
        """Return constraints by which words keep their heads and labels.

        Parameters
        ----------
        heads, labels : n + 1 whole numbers
            -1 stands for any head, or any label. The first numbers, for the root, are ignored.
        levels
            If given, a tree may have another head, or another label, and pays 1 for each of them at
            the first, or the second, of these levels.
        **which
            `root` and `projective`.

        Examples
        --------
        >>> Constraints.fixed([-1, 2, -1]).require
        (Edges(heads=2, dependents=1, labels=None),)
        >>> print(Constraints.fixed([-1, 2, -1], levels=(1, 1)))
        1 at level 1 for edges other than 2 → 1; one root edge
        """
        numbers = list(map(int, heads))
        names = [-1] * len(numbers) if labels is None else list(map(int, labels))
        kept: list[tuple[Edges, int]] = []
        for word, (head, label) in enumerate(zip(numbers, names, strict=True)):
            if word and head >= 0:
                kept.append((Edges(head, word), 0))
            if word and label >= 0:
                kept.append((Edges(None, word, label), 1))
        if levels is None:
            return cls(require=tuple(edges for edges, _ in kept), **which)
        charges = [Charge(edges, 1, levels[kind], required=True) for edges, kind in kept]
        return cls(charges=tuple(charges), **which)

    @classmethod
    def span(cls, first: int, last: int, words: int, **which: Any) -> Self:
        """Return constraints by which a span of words, and no other word, is a subtree.

        Parameters
        ----------
        first, last : int
            The first word and the last word of the span.
        words : int
            The number of words of the sentence.
        **which
            `root` and `projective`.

        Examples
        --------
        >>> print(Constraints.span(2, 3, words=4))
        no edge 2/3 → 1/4; at most 1 of the edges 0/1/4 → 2/3; one root edge
        """
        if not 1 <= first <= last <= words:
            raise OptionError(f"a span is of words from 1 to {words}, not {first} to {last}")
        inside = list(range(first, last + 1))
        others = [word for word in range(words + 1) if word not in inside]
        forbid = (Edges(inside, others[1:]),) if others[1:] else ()
        return cls(forbid=forbid, limits=(Limit([Edges(others, inside)], 1),), **which)

    def __and__(self, other: Self) -> Self:
        """Join two sets of constraints: a tree must keep both, also in `root` and `projective`."""
        lists = {name: getattr(self, name) + getattr(other, name) for name in _LISTS}
        single = "single" in (self.root, other.root)
        return replace(
            self,
            root="single" if single else "multi",
            levels=max(self.levels, other.levels),
            projective=self.projective or other.projective,
            **lists,
        )

    def __str__(self) -> str:
        said = [
            *(
                f"into each dependent, one of the edges {named_edges(edges)}"
                for edges in self.require
            ),
            *(f"no edge {named_edges(edges)}" for edges in self.forbid),
            *map(str, (*self.charges, *self.limits)),
            *("votes" for _ in self.votes),
            *(getattr(rule, "__name__", "a rule") for rule in self.conflicts),
            *(["one root edge"] if self.root == "single" else []),
            *(["no crossing edges"] if self.projective else []),
        ]
        return "; ".join(said)

    def masked(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of scores, (N, N) or (N, N, L), with -inf for edges that no tree may have.

        All edges that compete with edges of `require` are absent, too. So
        ``TreeDistribution(constraints.masked(scores))`` is the distribution over the trees that
        keep the constraints.

        Raises
        ------
        OptionError
            If an edge is not among the scores.

        Examples
        --------
        >>> Constraints(require=[Edges(2, 1)]).masked(np.zeros((3, 3)))[:, 1]
        array([-inf, -inf,   0.])
        """
        table = np.array(scores)
        table = table.astype(np.float64) if table.dtype.kind in "iub" else table
        rows = table if table.ndim == 3 else table[..., None]
        for edges in self.require:
            heads, words, labels = axes_of(edges, rows.shape)
            others = np.ones((rows.shape[0], len(words), rows.shape[2]), np.bool_)
            others[np.ix_(heads, np.arange(len(words)), labels)] = False
            rows[:, words] = np.where(others, -np.inf, rows[:, words])
        for edges in self.forbid:
            rows[np.ix_(*axes_of(edges, rows.shape))] = -np.inf
        return table

    @property
    def are_edges(self) -> bool:
        """Whether the constraints are about single edges only: prices, and edges to have or not."""
        return not self.limits and not self.conflicts

    def charged(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[Conflicts]]:
        """Return scores (N, N, L) less charges at level 0.

        A charge that would be rounded becomes a function that finds conflicts.
        """
        rounded, charged = [], scores
        for charge in (charge for charge in self.charges if not charge.level):
            cost, mask = check_cost(charge.price), charge.mask(scores.shape)
            before = charged[mask & np.isfinite(charged)]
            exact = (before - cost + cost == before) & (before - (before - cost) == cost)
            if exact.all():
                charged = np.where(mask, charged - cost, charged)
            else:
                rounded.append(charge.conflicts(scores.shape))
        return charged, rounded

    def gains(self, shape: tuple[int, ...]) -> list[NDArray[np.int64]]:
        """Return the gains of edges at each level, (N, N, L) or (N, N, 1), highest level first."""
        tables = [np.zeros((*shape[:2], 1), np.int64) for _ in range(self.levels)]
        for votes in self.votes:
            table = np.array(votes)
            if table.shape != shape[:2] or table.dtype.kind not in "iub" or (table < 0).any():
                raise OptionError(
                    f"votes must be whole numbers {shape[:2]}, not {table.dtype} {table.shape}"
                )
            tables[-1] = tables[-1] + (table - table.sum(axis=0))[..., None]
        for charge in (charge for charge in self.charges if charge.level):
            price = check_cost(charge.price, charge.level)
            words, paying = charge.into(shape)
            if tables[-charge.level].shape[2] < shape[2] and not (paying == paying[..., :1]).all():
                tables[-charge.level] = np.repeat(tables[-charge.level], shape[2], axis=2)
            table = tables[-charge.level]
            table[:, words] -= np.int64(price) * paying[..., : table.shape[2]]
        return tables

    def dues(
        self, heads: Heads, labels: Heads, shape: tuple[int, ...]
    ) -> list[tuple[str, int, float, int]]:
        """Return the charges that a tree pays: names, words, prices and levels."""
        labels, dues = np.maximum(labels, 0), []
        for charge in self.charges:
            words, paying = charge.into(shape)
            pays = paying[heads[words], np.arange(len(words)), labels[words]]
            dues += [
                (str(charge), word, charge.price, charge.level) for word in words[pays].tolist()
            ]
        return dues

    def parts(self) -> list[Self]:
        """Return each demand by itself, with the same `root` and `projective`."""
        bare = self.bare()
        each: list[dict[str, Any]] = [
            {name: (demand,)} for name in _LISTS for demand in getattr(self, name)
        ]
        return [replace(bare, **demand) for demand in each]

    def bare(self) -> Self:
        """Return constraints with the same `root` and `projective`, and nothing else."""
        nothing: dict[str, Any] = dict.fromkeys(_LISTS, ())
        return replace(self, **nothing)


_LISTS: Final = tuple(
    each.name for each in fields(Constraints) if each.name not in ("root", "projective", "levels")
)


def _new(name: str, names: set[str]) -> str:
    """Add a name to a set of names, with a number if the set has the name already; return it."""
    numbered = (name if number < 2 else f"{name} ({number})" for number in count(1))
    new = next(each for each in numbered if each not in names)
    names.add(new)
    return new
