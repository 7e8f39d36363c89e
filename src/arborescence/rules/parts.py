"""Parts of all trees, each made by what it bans; the best tree of a part, and what it weighs."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.core.accumulator import BIAS_64, whole_number
from arborescence.errors import NoTreeError, OptionError
from arborescence.inference.decode import best_labels, decode
from arborescence.rules.conflicts import Conflict, against, ban, check_cost, way_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.rules.conflicts import Alternative, Ban, Heads, Way

    #: A tree (None: not found), what it weighs beyond its scores, and how much more others may.
    Decoded = tuple[Heads | None, float, float]
    Decoder = Callable[[NDArray[np.float64]], Decoded]
    #: The name of a rule, and a word that breaks it.
    Site = tuple[str, int]


class Part(NamedTuple):
    """A part of all trees, those that its bans leave, and the best of them.

    If it is `later`, it is not decoded yet, and its heads and labels have no meaning. Beside their
    scores, its tree weighs `beyond`, and others up to `gap` more; they have paid for `paid`, and
    may break these rules.
    """

    bound: int
    heads: Heads
    labels: Heads
    bans: Way
    prices: NDArray[np.float64]
    tight: bool = False
    beyond: float = 0.0
    gap: int = 0
    later: bool = False
    paid: frozenset[Site] = frozenset()
    due: int = 0


class Found(NamedTuple):
    """A conflict of a tree. If it has a `cost`, the other way out is to pay it, once for a site."""

    ways: list[Way]
    site: Site
    cost: int | None

    @property
    def sure(self) -> bool:
        """Whether there is one way out, so that the tree is gone."""
        return len(self.ways) == 1 and self.cost is None


class Problem:
    """The trees of one sentence. Weights are whole numbers, so that nothing is rounded.

    Attributes
    ----------
    scores : (N, N, L) float64
        The scores; -inf where no tree of any part has an edge.
    best : (N, N) float64
        The best of them over labels.
    nodes : int
        The number of trees decoded.
    lost : int or None
        A bound of trees that were left out and may keep the rules.
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        rules: Callable[[Heads, Heads], Sequence[Any]],
        decoder: Decoder | None,
        options: Any,
    ) -> None:
        self.scores = scores
        self.rules = rules
        self.sums_up = decoder is None  # whether the weight of a tree is the sum of its scores
        self.options = options
        self.decoder = decoder or self.decode
        self.words = np.arange(1, len(scores))
        self.everywhere = np.arange(len(scores))[:, None]
        self.whole_number = lru_cache(None)(partial(whole_number, bias=BIAS_64))
        self.nodes = 0
        self.best = best_labels(scores, 1)
        self.decode(self.best)  # complains about scores, and where there is no tree
        self.lost: int | None = None

    def tell(
        self, kind: str, part: Part, below: list[tuple[Way, Part | None]], rule: str = ""
    ) -> None:
        """Report what was done."""

    def decode(self, best: NDArray[np.float64], **options: Any) -> Decoded:
        """Return the best tree by the scores of edges alone."""
        return decode(best, **self.options | options), 0.0, 0.0

    def ban_everywhere(self, bans: Iterable[Ban]) -> None:
        """Take edges out of all parts, from now on."""
        for banned in bans:
            ban(self.scores, banned, -np.inf)
            words = banned[1][1]
            self.best[:, words] = best_labels(self.scores[:, words], 1)

    def is_outdated(self, part: Part) -> bool:
        """Tell whether the tree of a part has edges that were banned from all parts since."""
        scores = self.scores[part.heads[1:], self.words, part.labels[1:]]
        return bool((scores == -np.inf).any())

    def conflicts_of(self, part: Part) -> list[Found]:
        """Return the conflicts of the tree of a part; ban everywhere what leaves one way out."""
        found = []
        for given in self.rules(part.heads, part.labels):
            conflict = given if isinstance(given, Conflict) else Conflict(given)
            ways = [self.way(alternative) for alternative in conflict.alternatives]
            for number, way in enumerate(ways):
                if not any(against(banned, part.heads, part.labels).any() for banned in way):
                    raise OptionError(
                        "conflicts(...) returned a conflict of which the tree takes the "
                        f"alternative {number}: {conflict.alternatives[number]}"
                    )
            cost = None if conflict.cost is None else self.whole_number(check_cost(conflict.cost))
            found.append(Found(ways, (conflict.rule, conflict.word), cost))
        sure = [one for one in found if one.sure]
        if sure:
            bans = [banned for one in sure for banned in one.ways[0]]
            self.ban_everywhere(bans)
            rules = ", ".join(sorted({one.site[0] for one in sure} - {""}))
            self.tell("everywhere", part, [((banned,), None) for banned in bans], rules)
        return found

    def way(self, alternative: Alternative) -> Way:
        """Return an alternative as bans."""
        return way_of(alternative, self.scores.shape)

    def left(self, bans: Way) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the best score of each edge (N, N), and which labels are left (N, N, L)."""
        left = np.ones(self.scores.shape, np.bool_)
        best, changed = self.best.copy(), np.zeros(self.best.shape, np.bool_)
        for required, axes in bans:
            ban(left, (required, axes), False)
            changed[self.everywhere if required else axes[0][:, None], axes[1]] = True
        best[changed] = np.where(left[changed], self.scores[changed], -np.inf).max(axis=-1)
        return best, left

    def masked(self, part: Part) -> NDArray[np.float64]:
        """Return the scores of the edges that a part may have, -inf for others."""
        return np.where(self.left(part.bans)[1], self.scores, -np.inf)

    def decoded(self, part: Part, bans: Way) -> Part | None:
        """Return the part of these bans within one, with its best tree; None if it is empty."""
        best, left = self.left(bans)
        within = part._replace(bans=bans, tight=False, later=False)
        found = self.tree(within, best, self.scores, left)
        return found and found._replace(bound=min(part.bound, self.weight(found) + found.gap))

    def tree(
        self,
        part: Part,
        best: NDArray[np.float64],
        scores: NDArray[np.float64],
        left: Any = np.True_,
        decoder: Decoder | None = None,
    ) -> Part | None:
        """Return a part with the tree that is best by these scores.

        Scores are (N, N, L), `left` says which count, and `best` is (N, N), over labels.
        """
        self.nodes += 1
        try:
            heads, beyond, more = (decoder or self.decoder)(best)
        except NoTreeError:
            return None
        gap = self.whole_number(more)
        if heads is None:
            self.lose(gap - part.due)
            return None
        edges = heads[1:], self.words
        of_edges = np.where(left[edges] if left.ndim else left, scores[edges], -np.inf)
        labels = of_edges.argmax(axis=-1)
        return part._replace(heads=heads, labels=np.append(-1, labels), beyond=beyond, gap=gap)

    def weight(self, part: Part) -> int:
        """Return the weight of the tree of a part, less what it has paid."""
        scores = self.scores[part.heads[1:], self.words, part.labels[1:]].tolist()
        return sum(map(self.whole_number, scores), self.whole_number(part.beyond) - part.due)

    def lose(self, bound: int) -> None:
        """Note that trees up to this weight are left out."""
        self.lost = bound if self.lost is None else max(bound, self.lost)

    def bounds(self, part: Part) -> Callable[[Way], int | None]:
        """Return a function: a bound of the trees of a part that take an alternative; None: none.

        They have one edge into each word, and weigh no more than the best of these edges together.
        """
        left = self.masked(part)
        best: list[float] = left.max(axis=(0, 2)).tolist()
        most = sum(map(self.whole_number, best[1:])) - part.due

        def bound_of(way: Way) -> int | None:
            less = 0
            for required, (heads, words, labels) in way:
                inside = left[np.ix_(heads, words, labels)].max(axis=(0, 2)) if required else ()
                for word, score in zip(words.tolist(), inside, strict=False):
                    if score == -np.inf:
                        return None
                    less = max(
                        less, self.whole_number(best[word]) - self.whole_number(float(score))
                    )
            return min(part.bound, most - less)

        return bound_of
