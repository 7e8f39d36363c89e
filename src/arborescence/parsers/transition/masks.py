"""What rules forbid on the edges that transitions add: a mask of relations for each word.

Rules about tags, directions and the edges so far can be kept while a tree is built; those about
whole trees cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.parsers.transition.scoring import Masks
from arborescence.projective.pseudo import MARK
from arborescence.rules.kinds import AtMostOne, Direction, LabelTags, NotOfTags, TagLabels
from arborescence.rules.trees import matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.parsers.shared.keeping import Keeper
    from arborescence.treebank import Sentence

#: The rules that tell of an edge alone whether it may have a relation.
_OF_EDGES: Final = (Direction, LabelTags, NotOfTags, TagLabels)
_MOST: Final = 62  # sets of labels of which a word has at most one: bits of a number


def masks_of(keeper: Keeper, sentences: Sequence[Sentence], labels: Sequence[str]) -> Masks:
    """Return the masks of a batch for rules about tags, directions and numbers."""
    # O(N) a label and rule
    trees, rules = keeper.trees(sentences), keeper.rules
    names = tuple(label.partition(MARK)[0] for label in labels)
    roots = trees.roots
    nodes = np.arange(len(roots))
    ends = np.flatnonzero(np.append(np.diff(roots) > 0, True))
    all_alike = trees._replace(labels=np.where(nodes == roots, -1, 0))
    allowed = np.ones((2, len(nodes), len(names)), np.bool_)
    once, heads = np.zeros(len(names), np.int64), np.zeros(len(nodes), np.int64)
    for rule in rules:
        if isinstance(rule, _OF_EDGES):
            concerned = matching(names, rule.needed)[:-1] if rule.needed else np.ones(len(names))
            for label in np.flatnonzero(concerned):
                for side, far in enumerate((roots, ends[np.searchsorted(ends, nodes)])):
                    edges = all_alike._replace(heads=far, label_names=(names[label],))
                    allowed[side, rule.found(edges), label] = False
    for bit, rule in enumerate([each for each in rules if isinstance(each, AtMostOne)][:_MOST]):
        counted = matching(names, rule.labels) & ~matching(names, rule.but)
        once |= counted[:-1].astype(np.int64) << bit
        excused = trees.waived.get(rule.name, False)
        heads |= np.where(excused, 0, 1 << bit)
    return Masks(allowed, once, heads)
