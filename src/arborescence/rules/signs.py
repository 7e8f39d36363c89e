"""Signs of rules: marks of the edges that may break a rule, so that few rules need a full check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arborescence.rules.trees import Mask, Nodes

#: Places of the head of a word.
ROOT, LEFT, RIGHT = np.eye(3, dtype=np.bool_)
ANYWHERE: Final = ROOT | LEFT | RIGHT


class Signs(NamedTuple):
    """The signs of the edges by which trees break a rule: each of these edges has all signs.

    Attributes
    ----------
    labels, tags, heads : (L + 1,), (T + 1,), (L + 1,) bool
        The labels of such edges, the tags of their words, and the labels of their heads (the last
        entry is for a root). `tags` and `heads` may be None, for all tags or labels.
    places : (3,) bool
        Whether the head can be the root, a word to the left, and a word to the right.
    least : int
        The least number of such edges in a tree that breaks the rule.
    exact : bool
        Whether every word with such an edge breaks the rule, and no other word breaks it.
    """

    labels: Mask
    tags: Mask | None = None
    heads: Mask | None = None
    places: Mask = ANYWHERE
    least: int = 1
    exact: bool = False


class Suspects:
    """The signs of some rules as tables, which tell the rules that a tree may break.

    Parameters
    ----------
    signs
        The signs of the rules.
    labels, tags
        The number of labels, and the number of tags.
    """

    def __init__(self, signs: Sequence[Signs], labels: int, tags: int) -> None:
        self.labels = _table([each.labels for each in signs], labels + 1)
        self.labels[-1] = False  # a root breaks no rule
        self.tags = _table([each.tags for each in signs], tags + 1)
        self.heads = _table([each.heads for each in signs], labels + 1)
        self.places = _table([each.places for each in signs], 3)
        self.least = np.array([each.least for each in signs])
        self.exact = np.array([each.exact for each in signs], np.bool_)

    def __call__(self, heads: Nodes, labels: Nodes, of_tags: Mask) -> list[int]:
        """Return the numbers of the rules that a tree may break.

        `of_tags`, (n + 1, rules), is true for the words with a tag of the rule's signs:
        ``tags[tags of words]``.
        """
        places = places_of(heads, np.arange(len(heads)))
        signs = self.labels.take(labels, axis=0)
        signs &= self.heads.take(labels[heads], axis=0)
        signs &= self.places.take(places, axis=0)
        signs &= of_tags
        suspected = np.add.reduce(signs, axis=0, dtype=np.int64) >= self.least
        rules: list[int] = suspected.nonzero()[0].tolist()
        return rules


def places_of(heads: Nodes, words: Nodes | int, roots: Nodes | int = 0) -> Nodes:
    """Return 0 for heads that are a root, 1 for heads left of their word, 2 right of it."""
    places: Nodes = np.int64(heads > roots) + (heads > words)
    return places


def _table(masks: list[Mask | None], size: int) -> Mask:
    """Return masks as columns; None becomes a column of True."""
    every = np.ones(size, np.bool_)
    rows = [every if mask is None else mask for mask in masks]
    return np.ascontiguousarray(np.array(rows, np.bool_).reshape(-1, size).T)
