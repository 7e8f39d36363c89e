"""A tree that keeps the rules, though perhaps not the best: edges of conflicts are charged."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.inference.conflicts import against
from arborescence.inference.decode import best_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.inference.conflicts import Ban, Way
    from arborescence.inference.parts import Breach, Part, Problem

#: So many times are edges charged to find a tree without conflicts; more often if none is known,
#: among projective trees.
_ROUNDS: Final = (10, 100)


def repaired(problem: Problem, part: Part, *, known: bool) -> Part | None:
    """Return a tree of a part that keeps the rules, if at most 110 decodes and the budget find one.

    Of each conflict of its tree, the edges against the alternative that seems cheapest are charged,
    of all conflicts at once, and so on with the best tree that is left. Where edges cross, much of
    what rules say of that is broken again and again: so the second try is made among projective
    trees.
    """
    masked = problem.masked(part)
    if masked is None:
        return None
    masked /= np.abs(masked, where=masked > -np.inf, out=np.ones_like(masked)).max()
    for projective in dict.fromkeys((problem.options["projective"], True)):
        charged = masked.copy()
        decoder = partial(problem.decode, projective=projective)
        for _ in range(_ROUNDS[projective and not known]):
            if problem.budget.over:
                return None
            tree = problem.tree(part, best_labels(charged, 1), charged.__getitem__, decoder)
            if tree is None:
                break
            tree = tree._replace(later=False)
            found = [one for one in problem.conflicts_of(tree) if one.cost is None]
            problem.tell("repair", part, [(part.bans, tree)])
            if not found:
                return tree
            _charge(charged, tree, found)
    return None


def _charge(charged: NDArray[np.float64], tree: Part, conflicts: list[Breach]) -> None:
    """Charge the edges against the cheapest alternative of each conflict.

    Conflicts that are gone with the edges charged for others are left out.
    """
    given_up: set[int] = set()
    for one in conflicts:
        ways = one.ways
        words = [[_against(banned, tree) for banned in way] for way in ways]
        if any(given_up.issuperset(chain.from_iterable(of_way)) for of_way in words):
            continue
        cheapest = int(np.argmin([_cost(charged, tree, way) for way in ways]))
        for (required, *axes), of_ban in zip(ways[cheapest], words[cheapest], strict=True):
            if required:
                charged[:, axes[1]] -= 1.0
            charged[np.ix_(*axes)] += 1.0 if required else -1.0
            given_up.update(of_ban)


def _cost(charged: NDArray[np.float64], tree: Part, way: Way) -> float:
    """Return how much less the best edges by an alternative weigh, each into a word by itself.

    Edges from the root are not among them, for only one word can have one.
    """
    cost = 0.0
    for banned in way:
        for word in _against(banned, tree):
            left = np.full(charged[:, word].shape, not banned.required)
            left[np.ix_(banned.heads, banned.labels)] = banned.required
            left[0] &= tree.heads[word] == 0
            best = charged[:, word].max(where=left, initial=-np.inf)
            cost += float(charged[tree.heads[word], word, tree.labels[word]] - best)
    return cost


def _against(banned: Ban, tree: Part) -> list[int]:
    """Return the words of a tree into which a banned edge goes."""
    words: list[int] = (1 + np.flatnonzero(against(banned, tree.heads, tree.labels))).tolist()
    return words
