"""The sentences about the events of a search under constraints, one for each kind of event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.explaining.problem import counted, listed
from arborescence.explaining.search_state import set_of
from arborescence.inference.conflicts import axes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.explaining.search_state import Branch, SearchState
    from arborescence.inference.constraints import Constraints
    from arborescence.inference.demands import Charge


class SearchTexts:
    """The sentences about the events of a search under constraints."""

    def __init__(
        self,
        wanted: Constraints,
        shape: tuple[int, ...],
        names: Sequence[str],
        labels: Sequence[str],
    ) -> None:
        self.wanted, self.shape, self.names, self.labels = wanted, shape, names, labels

    def of(self, kind: str, search: SearchState) -> str:
        """Return the text of an event."""
        if kind in ("prices", "demands"):
            return self._prices() if kind == "prices" else self._demands(search)
        return self._of_trees(kind, search) or self._of_parts(kind, search)

    def dues(self, part: Branch) -> tuple[str, ...]:
        """Return the prices that the edges of a part's tree have."""
        if not part.heads:
            return ()
        tree = np.array(part.heads), np.array(part.labels)
        return tuple(
            f"{_amount(price, level)} for {name} ({self.names[word]})"
            for name, word, price, level in self.wanted.dues(*tree, self.shape)
        )

    def _prices(self) -> str:
        """Return the text about all prices of edges."""
        prices = [self._price(charge) for charge in self.wanted.charges]
        prices += ["1 at level 1 for each vote that a tree loses" for _ in self.wanted.votes]
        above = " Levels count before the scores." if self.wanted.levels else ""
        return f"Trees pay for edges: {'; '.join(prices)}.{above}"

    def _price(self, charge: Charge) -> str:
        """Return the price of edges, and the edges."""
        amount = _amount(charge.price, charge.level)
        if isinstance(charge.edges, np.ndarray):
            return f"{amount} for {charge}"
        axes = axes_of(charge.edges, self.shape)
        heads, words, labels = (tuple(axis.tolist()) for axis in axes)
        edges = set_of(heads, words, labels, self.names, self.labels)
        return f"{amount} for edges {'other than ' * charge.required}{edges}"

    def _demands(self, search: SearchState) -> str:
        """Return the text about the edges that trees must have or must not have."""
        demands = [search.conditions(each, self.names) for each in search.made]
        return f"All trees are {listed(demands)}: the other edges are left out."

    def _of_trees(self, kind: str, search: SearchState) -> str:
        """Return the text of an event about one tree; empty for other events."""
        bound = search.part.worth
        after = search.made[0].worth if search.made else ""
        decoded = counted(search.nodes, "decoded tree")
        highest = search.waiting[0].worth if search.waiting else ""
        waits = f"No part that waits has a higher bound: the highest is {highest}"
        pays = ", except rules that it pays for," if search.made and search.made[0].paid else ","
        due = f" It pays {listed(list(search.dues))}." if search.dues else ""
        if kind == "first-tree":
            return (
                f"The best tree of all weighs {bound}. No tree that keeps the rules weighs more."
                f"{due}"
            )
        if kind == "keeps-rules":
            return f"This tree keeps the rules{pays} and weighs {after}.{due}"
        if kind == "tree":
            return (
                f"{waits if highest else 'No part is left'}. So this is the best tree that keeps "
                f"the rules: it weighs {bound}, certified after {decoded}.{due}"
            )
        if kind == "limit":
            return (
                f"After {decoded}, the budget of the search ends. The best tree found that keeps "
                f"the rules weighs {bound}, and no other more than {highest}.{due}"
            )
        return ""

    def _of_parts(self, kind: str, search: SearchState) -> str:
        """Return the text of an event that makes other parts."""
        part, made, names = search.part, search.made, self.names
        bound, after = part.worth, made[0].worth if made and made[0].bound is not None else ""
        some = part.conditions or part.paid
        trees = f"trees {search.conditions(part, names)}" if some else "all trees"
        edges = listed([search.edge(edge, names) for edge in search.refused] or ["its edges"])
        only = ", ".join(search.conditions(each, names) for each in made)
        rule = f" ({search.rule})" if search.rule else ""
        texts = {
            "conflict": (
                f"Of {trees}, the best tree weighs {bound}, and breaks {search.rule or 'a rule'}: "
                f"{edges} do not go together. They are divided into {counted(len(made), 'part')}."
            ),
            "everywhere": (
                f"A conflict{rule} has only one alternative: {only}. From here on, all trees "
                "take it."
            ),
            "again": (
                f"The best of {trees} has an edge that was banned since. "
                + (f"The best tree left weighs {after}." if after else "No tree is left.")
            ),
            "later": (
                f"No part has a higher bound than {trees}. "
                + (f"The best tree weighs {after}." if after else "There is no tree.")
            ),
            "multipliers": (
                f"Prices for the edges of conflicts (Lagrange multipliers) lower the bound of "
                f"{trees} from {bound} to {after}."
            ),
            "repair": (
                "To find a tree that keeps the rules, edges of conflicts are charged. "
                f"Of {trees}, another tree is now the best."
            ),
        }
        return texts[kind]


def _amount(price: float, level: int) -> str:
    """Return a price as text."""
    return f"{price:g}" + (f" at level {level}" if level else "")
