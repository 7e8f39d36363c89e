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
        The least number of such edges in a tree that breaks the rule, 1 or 2.
    exact : bool
        Whether every word with such an edge breaks the rule, and no other word breaks it.
    crossing : bool
        Whether only trees with crossing edges break the rule.
    """

    labels: Mask
    tags: Mask | None = None
    heads: Mask | None = None
    places: Mask = ANYWHERE
    least: int = 1
    exact: bool = False
    crossing: bool = False


class Suspects:
    """The signs of some rules as tables, which tell the rules that a tree may break.

    An entry of a table is a whole number: bit r tells whether an edge has the sign of rule r. A
    sentence is short, so plain numbers are faster than arrays.

    Parameters
    ----------
    signs
        The signs of the rules.
    labels, tags
        The number of labels, and the number of tags.
    """

    def __init__(self, signs: Sequence[Signs], labels: int, tags: int) -> None:
        self.labels = _bits([each.labels for each in signs], labels + 1)
        self.labels[-1] = 0  # a root breaks no rule
        self.tags = _bits([each.tags for each in signs], tags + 1)
        self.heads = _bits([each.heads for each in signs], labels + 1)
        self.places = _bits([each.places for each in signs], 3)
        [self._single] = _bits([np.array([each.least < 2]) for each in signs], 1)
        self._crossing = [r for r, each in enumerate(signs) if each.crossing]

    def of_words(self, tags: Nodes, *, projective: bool) -> list[int]:
        """Return for each word the rules whose edges can enter it, by its tag.

        In projective trees, no word breaks a rule about crossing edges.
        """
        left_out = sum(1 << r for r in self._crossing) if projective else 0
        return [self.tags[tag] & ~left_out for tag in tags.tolist()]

    def __call__(self, heads: Nodes, labels: Nodes, of_words: list[int]) -> list[int]:
        """Return the numbers of the rules that a tree may break; `of_words` is from the method."""
        once = twice = 0
        above, names = heads.tolist(), labels.tolist()
        for word, (head, name, rules) in enumerate(zip(above, names, of_words, strict=True)):
            place = self.places[(head > 0) + (head > word)]
            signs = self.labels[name] & self.heads[names[head]] & place & rules
            twice |= once & signs
            once |= signs
        suspected = twice | once & self._single
        return [r for r in range(suspected.bit_length()) if suspected >> r & 1]


def places_of(heads: Nodes, words: Nodes | int, roots: Nodes | int = 0) -> Nodes:
    """Return 0 for heads that are a root, 1 for heads left of their word, 2 right of it."""
    places: Nodes = np.int64(heads > roots) + (heads > words)
    return places


def _bits(masks: list[Mask | None], size: int) -> list[int]:
    """Return masks of a size as whole numbers: bit r of entry i is entry i of mask r."""
    bits = [0] * size
    for r, mask in enumerate(masks):
        for i in range(size) if mask is None else mask.nonzero()[0].tolist():
            bits[i] |= 1 << r
    return bits
