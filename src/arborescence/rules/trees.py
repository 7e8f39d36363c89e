"""Trees with tags, features and labels, of one sentence or several, as arrays that rules read."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Nodes = NDArray[np.int64]

#: The feature of words that negate.
NEGATIVE: Final = "Polarity=Neg"


class Trees(NamedTuple):
    """Trees of sentences, one after the other: each has its root as the first node.

    Attributes
    ----------
    heads : (N,) int64
        The head of each node, as an index among all nodes; the head of a root is the root itself.
    roots : (N,) int64
        The root of the sentence of each node.
    labels, feats : (N,) int64
        Indices of `label_names` and `feat_names`; -1 for roots.
    tags, upos : (N,) int64
        Indices of `tag_names`; -1 for roots. ``upos`` is the UPOS tag; ``tags`` is the value of the
        feature ExtPos, or else the UPOS tag.
    label_names, tag_names, feat_names : tuples of str
        The relations, the tags, and the values of the column FEATS.
    misc : callable
        Returns a mask of the nodes that have a value in the column MISC.
    waived : mapping of str to (N,) bool
        For the name of a rule, a mask of the nodes that are excused from the rule.
    """

    heads: Nodes
    roots: Nodes
    labels: Nodes
    tags: Nodes
    upos: Nodes
    feats: Nodes
    label_names: tuple[str, ...]
    tag_names: tuple[str, ...]
    feat_names: tuple[str, ...]
    misc: Callable[[str], Mask]
    waived: Mapping[str, Mask] = MappingProxyType({})

    def labeled(self, labels: tuple[str, ...]) -> Mask:
        """Return a mask of the nodes whose label is one of these labels, or a subtype of one."""
        return matching(self.label_names, labels)[self.labels]

    def tagged(self, tags: tuple[str, ...]) -> Mask:
        """Return a mask of the nodes whose tag (ExtPos, or else UPOS) is one of these tags."""
        return matching(self.tag_names, tags)[self.tags]

    def negations(self) -> Mask:
        """Return a mask of the adverbs and particles with Polarity=Neg."""
        return matching(self.tag_names, ("PART", "ADV"))[self.upos] & self.having(NEGATIVE)

    def having(self, feature: str) -> Mask:
        """Return a mask of the nodes that have a feature, such as Polarity=Neg."""
        return containing(self.feat_names, feature)[self.feats]

    def governing(self, nodes: Mask | Nodes) -> Mask:
        """Return a mask of the heads of these nodes."""
        heads: Mask = np.zeros(len(self.heads), np.bool_)  # np.unique would import numpy.ma
        heads[self.heads[nodes]] = True
        return heads

    def dependents(self, word: int, labels: tuple[str, ...]) -> list[int]:
        """Return the dependents of a word that have one of these labels."""
        first, end = self.sentence(word)
        labeled = matching(self.label_names, labels)[self.labels[first:end]]
        dependents: list[int] = (
            np.flatnonzero((self.heads[first:end] == word) & labeled) + first
        ).tolist()
        return dependents

    def of_sentence(self, root: int, end: int) -> Trees:
        """Return the tree of one sentence."""
        part = slice(root, end)
        of_nodes = ("labels", "tags", "upos", "feats")
        return self._replace(
            heads=self.heads[part] - root,
            roots=self.roots[part] - root,
            misc=lambda value: self.misc(value)[part],
            waived={name: words[part] for name, words in self.waived.items()},
            **{name: getattr(self, name)[part] for name in of_nodes},
        )

    def sentence(self, word: int) -> tuple[int, int]:
        """Return the root of the sentence of a word, and the node after the sentence."""
        root = int(self.roots[word])
        return root, int(np.searchsorted(self.roots, root, side="right"))

    def indices(self, labels: tuple[str, ...], *, of_others: bool = False) -> tuple[int, ...]:
        """Return the indices of the labels that match, or of all other labels."""
        return numbers(matching(self.label_names, labels)[:-1] != of_others)


def numbers(mask: Mask) -> tuple[int, ...]:
    """Return the indices where a mask is true, as a tuple, which can be hashed, for `Edges`."""
    return tuple(mask.nonzero()[0].tolist())


@lru_cache(maxsize=1024)
def matching(names: tuple[str, ...], wanted: tuple[str, ...]) -> Mask:
    """Return a mask of the names that are wanted, or subtypes of wanted names; at the end False.

    >>> matching(("nsubj", "nsubj:pass", "obj"), ("nsubj",))
    array([ True,  True, False, False])
    """
    match = [name in wanted or name.partition(":")[0] in wanted for name in names]
    return np.array([*match, False])


@lru_cache(maxsize=64)
def containing(names: tuple[str, ...], feature: str) -> Mask:
    """Return a mask of the values of FEATS that have the feature; at the end False."""
    return np.array([*(feature in name.split("|") for name in names), False])
