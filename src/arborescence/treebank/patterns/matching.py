"""The matches of a pattern in the columns of a treebank, by joins of arrays.

A match grows node by node: each step adds a node, and joins the matches so far with the words that
a condition allows for it. The condition is an edge if there is one (the head of each word is known,
dependents are sorted by head), else a path, else any word of the sentence. The cost is the number
of partial matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.errors import TreeError
from arborescence.system.lazy import remembered
from arborescence.treebank.columns import UNKNOWN, Columns, Numbering
from arborescence.treebank.patterns.pattern import ANY
from arborescence.treebank.sentence import DEPREL, FEATS, FORM, LEMMA, MISC, UPOS, XPOS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from arborescence.treebank.patterns.pattern import Feature, GraphPattern, NodePattern, Pattern

    Integers = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

_ALL: Final = slice(None)
#: The features of a word that have a column of their own.
COLUMNS_OF: Final = {
    "form": FORM, "lemma": LEMMA, "upos": UPOS, "xpos": XPOS, "deprel": DEPREL,
}  # fmt: skip


def value_of(cell: str, feature: str) -> str | None:
    """Return a feature's value in a cell of FEATS or MISC, or the cell of a column; None if absent.

    >>> value_of("Mood=Ind|Tense=Past", "Tense")
    'Past'
    """
    if feature in COLUMNS_OF:
        return None if cell == "_" and feature != "form" else cell
    for entry in cell.split("|"):
        name, equals, value = entry.partition("=")
        if equals and name == feature:
            return value
    return None


class Matcher:
    """Finds the matches of a pattern, part by part of a treebank."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        kept = {edge.dependent for edge in pattern.demanded.edges if edge.name}
        #: the nodes of a match, in order: those with a name, and dependents of edges with a name
        self.names = [
            name for name in pattern.demanded.nodes if not name.startswith(ANY) or name in kept
        ]
        # Kept from part to part: the numbers of values ("" for no value), and their tests' results.
        self._numbers = {"": 0}
        self._listed: list[str] = []
        self._numberings: dict[tuple[str, int], Numbering] = {}
        self._known: dict[Callable[[str | None], bool], dict[int, bool]] = {}

    def matches(self, columns: Columns) -> Integers:
        """Return the words of each match, as indices among all words: (matches, named nodes)."""
        words = _Words(columns, self)
        rows = _Join(words, self.pattern.demanded, {}).run()
        for block in self.pattern.forbidden:
            given = {name: rows[:, at] for at, name in enumerate(self.pattern.demanded.nodes)}
            rows = rows[~_Join(words, block, given).any_of(len(rows))]
        named = [at for at, name in enumerate(self.pattern.demanded.nodes) if name in self.names]
        if len(named) < rows.shape[1]:
            rows = np.unique(rows[:, named], axis=0)
        return rows[np.lexsort(rows.T[::-1])]

    def values(self, columns: Columns, feature: str, words: Integers | slice = _ALL) -> Integers:
        """Return the number of each word's value of a feature: 0 for none, else as in `names`."""
        if feature in COLUMNS_OF:
            return self._numbering(feature, COLUMNS_OF[feature])(columns, words)
        values = self._numbering(feature, FEATS)(columns, words)
        absent = values == 0
        values[absent] = self._numbering(feature, MISC)(columns, words)[absent]
        return values

    def texts(self, columns: Columns, feature: str, words: Integers) -> list[str]:
        """Return the values of a feature of some words; ``_`` for none."""
        values, names = self.values(columns, feature, words).tolist(), self._names
        return [names[value] or "_" for value in values]

    def holding(self, feature: Feature, values: Integers) -> Mask:
        """Return for each of some values of a feature whether its condition holds."""
        known = self._known.setdefault(feature.holds, {})
        distinct, places = np.unique(values, return_inverse=True)
        for value in distinct.tolist():
            if value not in known:
                known[value] = feature.holds(self._names[value] if value else None)
        return np.array([known[value] for value in distinct.tolist()], dtype=np.bool_)[places]

    def _numbering(self, feature: str, column: int) -> Numbering:
        """Return the numbering of the values of a feature in a column; all have the same names."""
        if (feature, column) not in self._numberings:
            numbering = Numbering(column, lambda cell: value_of(cell, feature) or "")
            numbering.names = self._numbers
            self._numberings[feature, column] = numbering
        return self._numberings[feature, column]

    @property
    def _names(self) -> list[str]:
        """The values by their numbers."""
        if len(self._listed) < len(self._numbers):
            self._listed = list(self._numbers)
        return self._listed


class _Words:
    """The words of a part of a treebank: heads, dependents, sentences."""

    def __init__(self, columns: Columns, matcher: Matcher) -> None:
        self.columns = columns
        self.count = len(columns.spans)
        self._matcher = matcher
        self._values: dict[str, Integers] = {}

    def values(self, feature: str) -> Integers:
        """Return the number of each word's value of a feature."""
        if feature not in self._values:
            self._values[feature] = self._matcher.values(self.columns, feature)
        return self._values[feature]

    def hold(self, feature: Feature) -> Mask:
        """Return for each word whether a condition on a feature holds."""
        return self._matcher.holding(feature, self.values(feature.name))

    @property
    @remembered
    def heads(self) -> Integers:
        """The head of each word as an index, or ROOT or UNKNOWN."""
        return self.columns.heads(self.columns.head_vectors())

    @property
    @remembered
    def sentences(self) -> Integers:
        """The number of each word's sentence."""
        offsets = self.columns.offsets
        return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))

    @property
    @remembered
    def by_head(self) -> tuple[Integers, Integers]:
        """The words sorted by their heads, and where the dependents of each word begin there."""
        order = np.argsort(self.heads, kind="stable")
        return order, np.searchsorted(self.heads[order], np.arange(self.count + 1))

    def dependents(self, words: Integers) -> tuple[Integers, Integers]:
        """Pair words with their dependents."""
        order, begins = self.by_head
        return _expanded(begins[words], begins[words + 1], order)

    @property
    @remembered
    def walk(self) -> tuple[Integers, Integers, Integers]:
        """The words in the order of a walk down the trees, and each subtree's start and end there.

        TreeError if a word is in or below a cycle.
        """
        level = np.flatnonzero(self.heads < 0)
        sizes, places = np.ones(self.count, np.int64), np.full(self.count, -1)
        levels = []  # words, and for each word of the next level, the row of its head among them
        reached = len(level)
        while len(level):
            rows, lower = self.dependents(level)
            levels.append((level, rows, lower))
            level, reached = lower, reached + len(lower)
        if reached < self.count:
            below = np.concatenate([level for level, _, _ in levels] or [level])
            word = int(np.setdiff1d(np.arange(self.count), below)[0])
            raise TreeError(
                f"->>: {self.columns.describe(word)} is in or below a cycle: "
                "`arborescence repair` removes it"
            )
        for above, rows, lower in reversed(levels):
            np.add.at(sizes, above[rows], sizes[lower])
        roots = levels[0][0]
        places[roots] = np.cumsum(sizes[roots]) - sizes[roots]
        for above, rows, lower in levels:
            before = np.cumsum(sizes[lower]) - sizes[lower]
            siblings = before - before[np.searchsorted(rows, rows)]
            places[lower] = places[above[rows]] + 1 + siblings
        return np.argsort(places), places, places + sizes

    def descendants(self, words: Integers) -> tuple[Integers, Integers]:
        """Pair words with all words below them."""
        order, begins, ends = self.walk
        return _expanded(begins[words] + 1, ends[words], order)

    def ancestors(self, words: Integers) -> tuple[Integers, Integers]:
        """Pair words with all words above them."""
        _ = self.walk  # there is no cycle
        rows, above = np.arange(len(words)), self.heads[words]
        all_rows, all_above = [rows[:0]], [above[:0]]
        while len(rows):
            rows, above = rows[above >= 0], above[above >= 0]
            all_rows.append(rows)
            all_above.append(above)
            above = self.heads[above]
        return np.concatenate(all_rows), np.concatenate(all_above)

    def is_below(self, above: Integers, below: Integers) -> Mask:
        """Return for each pair whether the first word is above the second."""
        _, begins, ends = self.walk
        return (begins[above] < begins[below]) & (begins[below] < ends[above])


def _expanded(begins: Integers, ends: Integers, items: Integers) -> tuple[Integers, Integers]:
    """Return the row and the item of each element of slices of `items`, one slice a row."""
    counts = ends - begins
    rows = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, items[np.repeat(begins, counts) + within]


class _Join:
    """The join of the nodes of a block with given nodes: one column of words for each node."""

    def __init__(self, words: _Words, block: GraphPattern, bound: dict[str, Integers]) -> None:
        self._words, self._block = words, block
        self._columns: dict[str, Integers] = {}  # the words of each node that is joined
        self._given = bound
        self._rows = np.arange(len(next(iter(bound.values())))) if bound else None

    def run(self) -> Integers:
        """Return the words of each match, a column for each node in the order of the block."""
        candidates = {name: self._candidates(node) for name, node in self._block.nodes.items()}
        left = sorted(candidates, key=lambda name: int(candidates[name].sum()))
        self._columns = dict(self._given)
        left = [name for name in left if name not in self._columns]
        if self._columns:
            kept = np.ones(len(self._rows_now), dtype=np.bool_)
            for name in candidates.keys() & self._columns.keys():
                kept &= candidates[name][self._columns[name]]
            self._keep(kept & self._conditions(set(self._columns)))
        while left:
            name = next((one for one in left if self._is_linked(one)), left[0])
            left.remove(name)
            self._add(name, candidates[name])
        shape = len(self._rows_now), len(self._block.nodes)
        rows = np.empty(shape, dtype=np.int64)
        for at, name in enumerate(self._block.nodes):
            rows[:, at] = self._columns[name]
        return rows

    def any_of(self, count: int) -> Mask:
        """Return for each of the given matches whether the block has a match with it."""
        self.run()
        hit = np.zeros(count, dtype=np.bool_)
        hit[self._rows_now] = True
        return hit

    @property
    def _rows_now(self) -> Integers:
        """The given match that each row continues; without given matches, a number for each row."""
        if self._rows is not None:
            return self._rows
        return np.arange(len(next(iter(self._columns.values()))) if self._columns else 0)

    def _candidates(self, node: NodePattern) -> Mask:
        """Return for each word whether it may be a node."""
        right = np.zeros(self._words.count, dtype=np.bool_)
        for features in node.choices or [[]]:
            all_hold = np.ones(self._words.count, dtype=np.bool_)
            for feature in features:
                all_hold &= self._words.hold(feature)
            right |= all_hold
        for edge in self._block.edges:
            if edge.dependent == node.name:
                right &= self._words.hold(edge.relation)
                heads = self._words.heads
                right &= heads != UNKNOWN if edge.head == ANY else heads >= 0
        return right

    def _is_linked(self, name: str) -> bool:
        """Return whether an edge or path joins a node to a joined node, or they are neighbours."""
        ends = [{edge.head, edge.dependent} for edge in self._block.edges]
        ends += [{order.first, order.second} for order in self._block.orders if order.adjacent]
        ends += [{path.above, path.below} for path in self._block.paths]
        return any(name in pair and (pair - {name}) & set(self._columns) for pair in ends)

    def _add(self, name: str, candidates: Mask) -> None:
        """Join one more node."""
        if not self._columns and self._rows is None:
            self._columns[name] = np.flatnonzero(candidates)
        else:
            rows, new = self._pairs(name, candidates)
            self._columns = {known: words[rows] for known, words in self._columns.items()}
            self._rows = None if self._rows is None else self._rows[rows]
            self._columns[name] = new
        self._keep(self._conditions({name}))

    def _pairs(self, name: str, candidates: Mask) -> tuple[Integers, Integers]:
        """Return the rows and the new words of a join with one more node."""
        for edge in self._block.edges:
            if edge.head == name and edge.dependent in self._columns:
                heads = self._words.heads[self._columns[edge.dependent]]
                rows = np.flatnonzero(heads >= 0)
                rows = rows[candidates[heads[rows]]]
                return rows, heads[rows]
            if edge.dependent == name and edge.head in self._columns:
                rows, new = self._words.dependents(self._columns[edge.head])
                kept = candidates[new]
                return rows[kept], new[kept]
        for order in self._block.orders:
            if order.adjacent and name in (order.first, order.second):
                known, step = (order.first, 1) if name == order.second else (order.second, -1)
                if known in self._columns:
                    new = self._columns[known] + step
                    rows = np.flatnonzero((new >= 0) & (new < self._words.count))
                    rows = rows[candidates[new[rows]]]
                    return rows, new[rows]
        for path in self._block.paths:
            if name == path.below and path.above in self._columns:
                rows, new = self._words.descendants(self._columns[path.above])
                return rows[candidates[new]], new[candidates[new]]
            if name == path.above and path.below in self._columns:
                rows, new = self._words.ancestors(self._columns[path.below])
                return rows[candidates[new]], new[candidates[new]]
        return self._pairs_in_sentences(name, np.flatnonzero(candidates))

    def _pairs_in_sentences(self, name: str, candidates: Integers) -> tuple[Integers, Integers]:
        """Return the rows and the words of their sentences that stand where the orders demand."""
        sentences = self._words.sentences[next(iter(self._columns.values()))]
        offsets = self._words.columns.offsets
        begins, ends = offsets[sentences], offsets[sentences + 1]
        for order in self._block.orders:
            if name == order.second and order.first in self._columns:
                begins = np.maximum(begins, self._columns[order.first] + 1)
            if name == order.first and order.second in self._columns:
                ends = np.minimum(ends, self._columns[order.second])
        ends = np.maximum(begins, ends)
        first, last = np.searchsorted(candidates, begins), np.searchsorted(candidates, ends)
        return _expanded(first, last, candidates)

    def _conditions(self, new: set[str]) -> Mask:
        """Return for each row whether the conditions hold that name a new node."""
        kept = np.ones(len(self._rows_now), dtype=np.bool_)
        words, columns = self._words, self._columns

        def known(*names: str) -> bool:
            return bool(new & set(names)) and all(name in columns for name in names)

        for name in columns:
            for other in new:
                if name != other:
                    kept &= columns[name] != columns[other]
        for edge in self._block.edges:
            if edge.head != ANY and known(edge.head, edge.dependent):
                kept &= words.heads[columns[edge.dependent]] == columns[edge.head]
        for order in self._block.orders:
            if known(order.first, order.second):
                first, second = columns[order.first], columns[order.second]
                kept &= (first + 1 == second) if order.adjacent else (first < second)
                kept &= words.sentences[first] == words.sentences[second]
        for equal in self._block.equal:
            if known(equal.one, equal.other):
                first_values = words.values(equal.one_feature)[columns[equal.one]]
                second_values = words.values(equal.other_feature)[columns[equal.other]]
                same = first_values == second_values
                kept &= (same != equal.differ) & (first_values > 0) & (second_values > 0)
        for path in self._block.paths:
            if known(path.above, path.below):
                rows = np.flatnonzero(kept)
                above, below = columns[path.above][rows], columns[path.below][rows]
                kept[rows] = words.is_below(above, below)
        return kept

    def _keep(self, kept: Mask) -> None:
        """Keep some rows."""
        if self._rows is not None:
            self._rows = self._rows[kept]
        self._columns = {name: words[kept] for name, words in self._columns.items()}
