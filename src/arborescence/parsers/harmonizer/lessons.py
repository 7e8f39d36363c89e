"""The training data of paired sentences: the correct candidate and new columns of each word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.parsers.harmonizer.features import CandidateEdges, hashed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.harmonizer.pairing import Pair

#: The columns that are converted in context, after the tree.
COLUMNS: Final = ("upos", "xpos", "feats")
#: The class of a value that stays as it was.
SAME: Final = "="


class Lessons:
    """Pairs of sentences as arrays.

    Attributes
    ----------
    candidates : CandidateEdges
        Of the old sentences.
    gold : (words,) int64
        The row of each word's new edge in `candidates`; -1 if it is unknown or no candidate.
    heads : (words,) int64
        Each word's new head, counted in its sentence; -1 if it is unknown.
    relations : list of str
        The new relation of each word whose head is known; elsewhere, empty.
    columns : dict
        The new values of each word whose head is known, `SAME` for an unchanged value.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.candidates = CandidateEdges([each.old for each in pairs])
        self.relations: list[str] = []
        self.columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
        heads: list[int] = []
        for each in pairs:
            self._read(each, heads)
        self.heads = np.array(heads)
        self.gold = self.candidates.where(self.heads)

    @property
    def learnable(self) -> bool:
        """Whether some word has its new edge among the candidates."""
        return bool((self.gold >= 0).any())

    def _read(self, each: Pair, heads: list[int]) -> None:
        back = {j: i for i, j in enumerate(each.words.tolist(), 1) if j >= 0}
        new_heads, relations = each.new.heads.tolist(), each.new.deprels
        values = {name: getattr(each.new, name) for name in COLUMNS}
        old = {name: getattr(each.old, name) for name in COLUMNS}
        for i, j in enumerate(each.words.tolist()):
            head = 0 if j >= 0 and new_heads[j] == 0 else -1
            if j >= 0 and new_heads[j] > 0:
                head = back.get(new_heads[j] - 1, -1)
            heads.append(-1 if head == i + 1 else head)
            self.relations.append(relations[j] if j >= 0 else "")
            for name, column in self.columns.items():
                value = values[name][j] if j >= 0 else ""
                column.append(SAME if value == old[name][i] else value)

    def with_relations(self) -> NDArray[np.int64]:
        """Write new relations into the gold candidates; return the words that have a relation."""
        words = np.flatnonzero(self.gold >= 0)
        for word in words.tolist():
            self.candidates.known[self.gold[word], 3] = hashed(self.relations[word])
        return words


def counted(pairs: Sequence[Pair]) -> list[list[str | int]]:
    """Count changes of relations: the old relation, the new head, the new relation, the count."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for each in pairs:
        words = each.words.tolist()
        old, relations = each.old.heads.tolist(), each.old.deprels
        new, new_relations = each.new.heads.tolist(), each.new.deprels
        of = [*words, -1]  # the last one stands for an unknown head
        for i, j in enumerate(words):
            if j < 0 or old[i] < 0 or new[j] < 0:
                continue
            head = of[old[i] - 1] + 1 if old[i] else 0
            if new[j] == head:
                where = "same head"
            elif head and new[head - 1] == j + 1:
                where = "reversed"
            else:
                where = "another head"
            counts[relations[i], where, new_relations[j]] += 1
    return [[*key, count] for key, count in sorted(counts.items(), key=lambda x: (-x[1], x[0]))]
