"""Search for a tree that keeps the rules, by charges for edges; better trees may exist."""

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

#: The number of rounds of charges, in each of which one tree is decoded. The second number is for
#: projective trees, while no tree that keeps the rules is known.
_ROUNDS: Final = (10, 100)


def repaired(problem: Problem, part: Part, *, known: bool) -> Part | None:
    """Return a tree of a part that keeps the rules, if at most 110 decodes and the budget find one.

    Each round decodes the best tree. For each conflict of this tree, the alternative that seems
    cheapest is chosen, and the edges against this alternative are charged. Trees with crossing
    edges break rules about crossing edges again and again, so the second try is among projective
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
            best = best_labels(charged, 1)
            tree = problem.tree(part, best, charged.__getitem__, decoder, later=False)
            if tree is None:
                break
            conflicts = [breach for breach in problem.conflicts_of(tree) if breach.cost is None]
            problem.tell("repair", part, [(part.bans, tree)])
            if not conflicts:
                return tree
            _charge(charged, tree, conflicts)
    return None


def _charge(charged: NDArray[np.float64], tree: Part, conflicts: list[Breach]) -> None:
    """Charge the edges against the cheapest alternative of each conflict.

    A conflict is left out if the charges for another conflict also solve it.
    """
    given_up: set[int] = set()
    for breach in conflicts:
        ways = breach.ways
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
    """Return the weight that a tree loses by an alternative, if each word takes its best edge.

    Edges from the root do not count, for only one word can have the root as its head.
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
    """Return the words of a tree whose edges are banned."""
    words: list[int] = (1 + np.flatnonzero(against(banned, tree.heads, tree.labels))).tolist()
    return words
