"""The kinds of rules: each finds the words of trees that break it, and alternatives to a conflict.

`broken` looks at many sentences at once, in a few passes over arrays. `conflict` is for one
sentence, in the search for the best tree that keeps the rule: see `inference.solver`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from arborescence.inference.conflicts import Alternative, Edges, check_cost
from arborescence.rules.crossings import faults, proof_of
from arborescence.rules.signs import LEFT, RIGHT, ROOT, Signs, places_of
from arborescence.rules.trees import NEGATIVE, matching, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.rules.trees import Nodes, Trees

    Words = tuple[str, ...]
    Conflict = Sequence[Alternative]


@dataclass(frozen=True)
class Rule:
    """A rule of an annotation scheme: the base class. Labels of rules stand for subtypes, too.

    Attributes
    ----------
    name : str
        The name in reports.
    cost : float, optional
        If given, a tree may break the rule, and its weight is less by this cost for each word that
        breaks the rule.
    """

    name: str
    cost: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the cost."""
        if self.cost is not None:
            check_cost(self.cost)

    @property
    def features(self) -> tuple[str, ...]:
        """The features of words that the rule reads, such as Polarity=Neg."""
        return ()

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        """Return the signs of edges that break the rule, for the names of labels and tags."""
        return Signs(np.ones(len(labels) + 1, np.bool_))

    def broken(self, trees: Trees) -> Nodes:
        """Return the words that break the rule, in ascending order."""
        raise NotImplementedError

    def found(self, trees: Trees) -> Nodes:
        """Return the words that break the rule and are not excused from the rule."""
        words = self.broken(trees)
        waived = trees.waived.get(self.name)
        return words if waived is None else words[~waived[words]]

    def conflict(self, trees: Trees, word: int) -> Conflict:
        """Return the alternatives for a word that breaks the rule, in a tree of one sentence.

        As in `Conflict`: every tree in which the word keeps the rule takes at least one of the
        alternatives. This tree takes none.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class _OfLabels(Rule):
    """A rule about words with certain labels."""

    #: the labels
    labels: Words

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        return Signs(matching(labels, self.labels))


class _OfEdges(Rule):
    """A rule about single edges: a word breaks it if and only if the word's edge has its signs."""

    def broken(self, trees: Trees) -> Nodes:
        signs = self.signs(trees.label_names, trees.tag_names)
        places = places_of(trees.heads, np.arange(len(trees.heads)), trees.roots)
        marked = signs.labels[trees.labels] & signs.places[places] & (trees.labels >= 0)
        return np.flatnonzero(marked if signs.tags is None else marked & signs.tags[trees.tags])

    def conflict(self, trees: Trees, word: int) -> Conflict:
        signs = self.signs(trees.label_names, trees.tag_names)
        heads = numbers(signs.places[places_of(np.arange(len(trees.heads)), word)])
        return [Alternative(forbid=[Edges(heads, word, numbers(signs.labels[:-1]))])]


@dataclass(frozen=True)
class AtMostOne(_OfLabels):
    """A word has at most one dependent with one of the `labels`.

    Attributes
    ----------
    labels : tuple of str
        The labels.
    but : tuple of str
        Labels that do not count, although a label of `labels` includes them.
    but_misc : str
        A text: words with this text in their column MISC do not count.
    """

    but: Words = ()
    but_misc: str = ""

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        counted = matching(labels, self.labels) & ~matching(labels, self.but)
        return Signs(counted, least=2)

    def broken(self, trees: Trees) -> Nodes:
        heads = (np.bincount(trees.heads[self._counted(trees)]) > 1).nonzero()[0]
        return heads[trees.labels[heads] >= 0]

    def conflict(self, trees: Trees, word: int) -> Conflict:
        counted = self._counted(trees)
        first = int(counted[trees.heads[counted] == word][0])
        others = np.ones(len(trees.heads), np.bool_)
        others[[0, first]] = False
        if self.but_misc:
            others &= ~trees.misc(self.but_misc)
        labels = numbers(self.signs(trees.label_names, ()).labels[:-1])
        return [
            Alternative(forbid=[Edges(word, first, labels)]),
            Alternative(forbid=[Edges(word, numbers(others), labels)]),
        ]

    def _counted(self, trees: Trees) -> Nodes:
        """Return words that count, if their head has several with these labels."""
        words = self.signs(trees.label_names, ()).labels[trees.labels].nonzero()[0]
        heads = trees.heads[words]
        words = words[np.bincount(heads)[heads] > 1]
        if not self.but_misc or not len(words):
            return words
        return words[~trees.misc(self.but_misc)[words]]


@dataclass(frozen=True)
class RootLabel(_OfEdges):
    """The edge from the root has a certain label, or no other edge has the label.

    Attributes
    ----------
    label : str
        The label.
    of_root : bool
        Whether the edge from the root has the label; else no other edge has it.
    """

    label: str
    of_root: bool

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        has = matching(labels, (self.label,))
        return Signs(has != self.of_root, places=ROOT if self.of_root else ~ROOT, exact=True)


@dataclass(frozen=True)
class LabelTags(_OfEdges):
    """A word with one of the `labels` has one of the `tags`, or (if `refused`) none of the `tags`.

    Attributes
    ----------
    labels : tuple of str
        The labels.
    tags : tuple of str
        The UPOS tags.
    refused : bool
        Whether the word must have none of the tags.
    but_heads : tuple of str
        Labels: a word is excused if it has a dependent with one of these labels. Without a cost,
        the search tries only the next word as this dependent.
    """

    labels: Words
    tags: Words
    refused: bool = False
    but_heads: Words = ()

    def signs(self, labels: Words, tags: Words) -> Signs:
        wrong = matching(tags, self.tags) == self.refused
        return Signs(matching(labels, self.labels), wrong, exact=not self.but_heads)

    def broken(self, trees: Trees) -> Nodes:
        words = super().broken(trees)
        if not self.but_heads:
            return words
        return words[~trees.governing(trees.labeled(self.but_heads))[words]]

    def conflict(self, trees: Trees, word: int) -> Conflict:
        ways = [*super().conflict(trees, word)]
        # Rules about goeswith demand that the dependent is the next word. With a cost, the
        # alternatives must not miss a tree, so any word can be the dependent.
        others = [word + 1] if self.cost is None else {*range(1, len(trees.heads))} - {word}
        for other in others if self.but_heads else ():
            if other < len(trees.heads):
                excused = Edges(word, other, trees.indices(self.but_heads))
                ways.append(Alternative(require=[excused]))
        return ways


@dataclass(frozen=True)
class TagLabels(_OfEdges):
    """A word with one of the `tags` has one of the `labels`.

    Attributes
    ----------
    tags : tuple of str
        The UPOS tags.
    labels : tuple of str
        The labels.
    """

    tags: Words
    labels: Words

    def signs(self, labels: Words, tags: Words) -> Signs:
        return Signs(~matching(labels, self.labels), matching(tags, self.tags), exact=True)


@dataclass(frozen=True)
class NotOfTags(_OfLabels):
    """A word with one of the `tags` has none of the `labels`, and no dependent with one of them.

    Attributes
    ----------
    labels : tuple of str
        The labels.
    tags : tuple of str
        The UPOS tags.
    """

    tags: Words

    def broken(self, trees: Trees) -> Nodes:
        labeled = trees.labeled(self.labels)
        concerned = labeled.copy()
        concerned[trees.heads[labeled]] = True
        return np.flatnonzero(concerned & trees.tagged(self.tags))

    def conflict(self, trees: Trees, word: int) -> Conflict:
        labels = trees.indices(self.labels)
        return [Alternative(forbid=[Edges(None, word, labels), Edges(word, None, labels)])]


@dataclass(frozen=True)
class Direction(_OfEdges):
    """A word with one of the `labels` stands right of its head, or left of its head.

    Attributes
    ----------
    labels : tuple of str
        The labels.
    right : bool
        Whether the word stands right of its head; else left.
    """

    labels: Words
    right: bool = True

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        places = RIGHT if self.right else ROOT | LEFT
        return Signs(matching(labels, self.labels), places=places, exact=True)


@dataclass(frozen=True)
class Dependents(_OfLabels):
    """A word with one of the `labels` has only dependents with one of the labels `allowed`.

    Attributes
    ----------
    labels : tuple of str
        The labels of the word.
    allowed : tuple of str
        The labels of its dependents.
    also : tuple of (str, tuple of str)
        Pairs of a feature and labels: a word with the feature may also have dependents with these
        labels.
    negation : bool
        Whether the word may also have an adverb or particle with Polarity=Neg as its advmod.
    if_crossed : tuple of str
        Labels that are allowed, too, if the word itself is not attached projectively. The search
        does not use this exception, and a rule with a cost does not have it.
    """

    allowed: Words = ()
    also: tuple[tuple[str, Words], ...] = ()
    negation: bool = False
    if_crossed: Words = ()

    @property
    def features(self) -> tuple[str, ...]:
        return (*(feature for feature, _ in self.also), *((NEGATIVE,) if self.negation else ()))

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        return Signs(~matching(labels, self.allowed), heads=matching(labels, self.labels))

    def broken(self, trees: Trees) -> Nodes:
        of_label = trees.labeled(self.labels)
        refused = of_label[trees.heads] & ~trees.labeled(self.allowed) & (trees.labels >= 0)
        if not refused.any():
            return np.empty(0, np.int64)
        for feature, labels in self.also:
            refused &= ~(trees.having(feature)[trees.heads] & trees.labeled(labels))
        if self.negation:
            refused &= ~(trees.negations() & trees.labeled(("advmod",)))
        excused = self.if_crossed if self.cost is None else ()
        words = np.flatnonzero(refused & trees.labeled(excused))
        refused[words] = faults(trees, trees.heads[words], causes=False) < 0
        return np.flatnonzero(trees.governing(refused))

    def conflict(self, trees: Trees, word: int) -> Conflict:
        allowed = self.allowed
        for feature, labels in self.also:
            allowed += labels if trees.having(feature)[word] else ()
        negations = trees.negations() if self.negation else np.zeros(len(trees.heads), np.bool_)
        negations[0], others = False, ~negations
        others[0] = False
        with_negation = (*allowed, "advmod")
        return [
            Alternative(forbid=[Edges(None, word, trees.indices(self.labels))]),
            Alternative(
                forbid=[
                    Edges(word, numbers(words), trees.indices(labels, of_others=True))
                    for words, labels in ((others, allowed), (negations, with_negation))
                ]
            ),
        ]


@dataclass(frozen=True)
class Contiguous(_OfLabels):
    """A word and its dependents with one of the `labels` are a span that begins with the word."""

    def broken(self, trees: Trees) -> Nodes:
        parts = np.flatnonzero(trees.labeled(self.labels) & (trees.heads != trees.roots))
        heads, first = np.unique(trees.heads[parts], return_inverse=True)
        number, last = np.bincount(first, minlength=len(heads)), heads.copy()
        np.maximum.at(last, first, parts)
        left = np.zeros(len(heads), np.bool_)
        left[first[parts < trees.heads[parts]]] = True
        broken: Nodes = heads[(last - heads != number) | left]
        return broken

    def conflict(self, trees: Trees, word: int) -> Conflict:
        labels = trees.indices(self.labels)
        parts = trees.dependents(word, self.labels)
        if min(parts) < word:
            return [Alternative(forbid=[Edges(word, range(1, word), labels)])]
        missing = next(d for d in range(word + 1, len(trees.heads)) if d not in parts)
        return [
            Alternative(require=[Edges(word, missing, labels)]),
            Alternative(forbid=[Edges(word, range(missing + 1, len(trees.heads)), labels)]),
        ]


@dataclass(frozen=True)
class Spaced(_OfLabels):
    """A word and its dependents with one of the `labels` are separated by spaces.

    If `tag` is given, the word and these dependents are parts of one word: a parse gives such a
    dependent this UPOS tag, no lemma and no features, since the head has the lemma and the features
    of the whole word.

    Attributes
    ----------
    labels : tuple of str
        The labels of the dependents.
    tag : str
        The UPOS tag of the dependents, or an empty text.
    """

    tag: str = ""

    def broken(self, trees: Trees) -> Nodes:
        parts = np.flatnonzero(trees.labeled(self.labels) & (trees.heads != trees.roots))
        heads = np.flatnonzero(trees.governing(parts))
        return heads[[self._first(trees, int(head)) >= 0 for head in heads]]

    def conflict(self, trees: Trees, word: int) -> Conflict:
        labels, joined = trees.indices(self.labels), self._first(trees, word)
        ways = [Alternative(forbid=[Edges(word, joined, labels)])] if joined != word else []
        if joined >= word:  # else the head itself comes after the joined word
            after = range(joined + 1, len(trees.heads))
            ways.append(Alternative(forbid=[Edges(word, after, labels)]))
        return ways

    def _first(self, trees: Trees, head: int) -> int:
        """Return the first word that no space follows, among a head and its dependents, or -1.

        The last of these words does not count.
        """
        joined = trees.misc("SpaceAfter=No")
        for word in sorted([head, *trees.dependents(head, self.labels)])[:-1]:
            if joined[word]:
                return word
        return -1


@dataclass(frozen=True)
class Nominal(_OfLabels):
    """A nominal that is not a predicate has no dependent with one of the `labels`.

    Attributes
    ----------
    labels : tuple of str
        The labels that its dependents do not have.
    tags : tuple of str
        The UPOS tags of nominals.
    nominals : tuple of str
        The labels of nominals.
    clause : tuple of str
        Labels: a nominal that has a dependent with one of them is a predicate.
    """

    tags: Words
    nominals: Words
    clause: Words

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        return Signs(matching(labels, self.labels), heads=matching(labels, self.nominals))

    def broken(self, trees: Trees) -> Nodes:
        nominal = matching(trees.tag_names, self.tags)[trees.upos] & trees.labeled(self.nominals)
        nominal[trees.heads[trees.labeled(self.clause)]] = False
        return np.flatnonzero(trees.labeled(self.labels) & nominal[trees.heads])

    def conflict(self, trees: Trees, word: int) -> Conflict:
        head, clause = int(trees.heads[word]), trees.indices(self.clause)
        return [
            Alternative(forbid=[Edges(head, word, trees.indices(self.labels))]),
            Alternative(forbid=[Edges(None, head, trees.indices(self.nominals))]),
            *_with_dependent(head, clause, len(trees.heads)),
        ]


@dataclass(frozen=True)
class Projective(_OfLabels):
    """A word with one of the `labels` is attached projectively, or (`causes`) causes no crossing.

    A word is attached projectively if all words between the word and its head are below this head.
    A word causes a crossing if an edge passes over the word and crosses the word's own edge, and
    the head of the passing edge is not above the word.

    Attributes
    ----------
    labels : tuple of str
        The labels.
    causes : bool
        Whether the word must not cause a crossing; else the word must be attached projectively.
    """

    causes: bool

    def signs(self, labels: Words, tags: Words) -> Signs:  # noqa: ARG002
        return Signs(matching(labels, self.labels), crossing=True)

    def broken(self, trees: Trees) -> Nodes:
        words = trees.labeled(self.labels).nonzero()[0]
        return words[faults(trees, words, causes=self.causes) >= 0]

    def conflict(self, trees: Trees, word: int) -> Conflict:
        [fault] = faults(trees, np.array([word]), causes=self.causes).tolist()
        proof = proof_of(trees, word, fault, causes=self.causes)
        own = Edges(int(trees.heads[word]), word, trees.indices(self.labels))
        others = [Edges(int(trees.heads[d]), d) for d in proof]
        return [Alternative(forbid=[edges]) for edges in [own, *others]]


@lru_cache(maxsize=256)
def _with_dependent(head: int, labels: tuple[int, ...], size: int) -> list[Alternative]:
    """Return alternatives: one for each other word, which becomes a dependent of the head."""
    words = [d for d in range(1, size) if d != head]
    return [Alternative(require=[Edges(head, d, labels)]) for d in words]
