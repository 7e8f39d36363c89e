"""What a conversion looks at: the old tree around the two words of an edge."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from arborescence.parsers.harmonizer.kernels import OF_EDGE, find_candidates, find_places
from arborescence.parsers.shared.classifier import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.shared.classifier import Templates
    from arborescence.treebank import Sentence

    Hashes = NDArray[np.uint64]

# Of each node: UPOS, XPOS, FEATS, form, suffix, relation whole and without subtype; the relations
# of its children to its left and right; which child of its relation it is; UPOS, relation and form
# of its head; UPOS of the words before and after it.
_NODE: Final = "p x m w s r u kl kr nth hp hr hw before after hk"
_ATOMS: Final = " ".join(
    ["path way far rel reach", *(side + name for side in "hd" for name in _NODE.split())]
)
# Products of the path and what is known of head (h) and dependent (d).
_EDGES: Final = """
    path, path * hp, path * dp, path * hp * dp, path * far * dp, path * dp * dr,
    path * dkl * dkr, path * dp * dkl * dkr, path * hkl * hkr, path * hp * hkl * hkr,
    path * dp * hp * dkl * dkr, path * hp * dp * hkl * hkr,
    path * dw, path * hw, path * dw * hw, path * dw * hp, path * dp * hw,
    path * dx, path * hx, path * dx * hx, path * dm, path * hm, path * dp * hm,
    path * dnth * hnth, path * dnth * hnth * dp * hp, path * dhp * dp, path * dhw * dp,
    path * dhk, path * dhk * dp, path * hhp * hp, path * hr * hhr, path * hhw,
    path * dbefore * dp * dafter, path * hbefore * hp * hafter, path * ds * dp, path * hs * hp,
    far * dp * hp * way, path * hkl * hkr * dkl * dkr, dw * hw * way, path * dr * hr,
    reach * dp * way, reach * path * dp, reach * dp * hp * way, reach * dp * hr * way,
    reach * dw * way, reach * dw * hr * way, reach * dp * hhr * hr * way, reach * path * dw
"""
# The same with the new relation, and of the dependent alone: for tags.
_WORDS: Final = """
    dp, dx, dm, dw, ds, dr, dp * dr, dw * dp, dw * dr, ds * dp, dm * dp, dx * dm, dp * dkl * dkr,
    dp * dbefore, dp * dafter, dw * dbefore, dw * dafter, dp * dhp, rel, rel * dp, rel * dw,
    rel * dx, rel * dm, rel * dp * hp, rel * ds, path * dp, path * dw, dp * dr * hw,
    dp * dkl * dkr * rel, dw * dm
"""
#: For edges and relations, and for tags.
EDGES: Final = compiled(_ATOMS, _EDGES)
WORDS: Final = compiled(_ATOMS, _WORDS)


@lru_cache(1 << 18)
def hashed(value: str) -> int:
    """Return 64 bits of a string, the same in each process."""
    return int.from_bytes(blake2b(value.encode(), digest_size=8).digest(), "little")


class Edges:
    """The candidate edges of some sentences: those whose words are near in the old tree.

    Attributes
    ----------
    starts : (sentences + 1,) int64
        The first node of each sentence, which is its root.
    ends : (m, 2) int64
        Head and dependent of each candidate, as nodes.
    known : (m, 5) uint64
        See `kernels.OF_EDGE`; the column of relations is 0.
    groups : (words + 1,) int64
        The first candidate of each word, and m.
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        sizes = np.array([len(each) + 1 for each in sentences])
        self.starts = np.cumsum(np.concatenate(([0], sizes)))
        self.trees = np.concatenate([each.tree for each in sentences])
        self.words = np.ones(self.trees.size, dtype=np.bool_)
        self.words[self.starts[:-1]] = False
        self._nodes, labels = self._looked_at(sentences)
        room = int((sizes * (sizes - 1)).sum())
        ends, known = np.empty((room, 2), np.int64), np.empty((room, OF_EDGE), np.uint64)
        below = np.empty((self.trees.size, 2), dtype=np.int64)
        signs = np.zeros(self.trees.size, dtype=np.bool_)
        signs[self.words] = [not any(map(str.isalnum, f)) for s in sentences for f in s.forms]
        count = find_candidates(self.starts, self.trees, labels, signs, below, ends, known)
        self.ends, self.known = ends[:count], known[:count]
        self.nodes = np.flatnonzero(self.words)
        self.groups = np.searchsorted(self.ends[:, 1], np.append(self.nodes, self.trees.size))

    def places(self, templates: Templates, rows: NDArray[np.int64] | None = None) -> Hashes:
        """Return the places of the features of candidates, of all or of some."""
        ends, known = self.ends, self.known
        if rows is not None:
            ends, known = ends[rows], known[rows]
        places = np.empty((len(ends), templates.features.size), dtype=np.uint64)
        find_places(templates, self._nodes, ends, known, places)
        return places

    def _looked_at(self, sentences: Sequence[Sentence]) -> tuple[Hashes, Hashes]:
        """Return what is known of each node, and hashes of old relations without subtypes."""

        def column(values: Iterable[Sequence[str]]) -> Hashes:
            found = np.full(self.trees.size, 7, dtype=np.uint64)
            cells = map(hashed, chain.from_iterable(values))
            found[self.words] = np.fromiter(cells, np.uint64)
            return found

        forms = [[form.lower() for form in each.forms] for each in sentences]
        relations = [each.deprels for each in sentences]
        tags, form = column(each.upos for each in sentences), column(forms)
        kind = column([re.split("[:/]", name)[0] for name in each] for each in relations)
        whole = column(relations)
        first = np.repeat(self.starts[:-1], np.diff(self.starts))
        node = np.arange(self.trees.size)
        head = np.where(self.trees >= 0, first + self.trees, first)
        children = self._children(kind, head, node)
        before = np.where(self.words, tags[node - 1], np.uint64(5))
        after = np.where(np.append(self.words[1:], False), np.roll(tags, -1), np.uint64(6))
        looked = (
            tags,
            column(each.xpos for each in sentences),
            column(each.feats for each in sentences),
            form,
            column([form[-3:] for form in each] for each in forms),
            whole,
            kind,
            *children,
            tags[head],
            whole[head],
            form[head],
            before,
            after,
            children[0][head] + np.uint64(3) * children[1][head],
        )
        return np.ascontiguousarray(np.stack(looked, axis=1)), kind

    def _children(
        self, kind: Hashes, head: NDArray[np.int64], node: NDArray[np.int64]
    ) -> tuple[Hashes, Hashes, Hashes]:
        """Return hashes of the relations of left and right children, and the place among alike."""
        sides = []
        for left in (True, False):
            those = self.words & (self.trees >= 0) & ((node < head) == left)
            found = np.zeros(node.size, dtype=np.uint64)
            np.add.at(found, head[those], kind[those])
            sides.append(found)
        keys = head.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ kind
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        begin = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        place = np.arange(node.size) - np.repeat(begin, np.diff(np.append(begin, node.size)))
        nth = np.empty(node.size, dtype=np.uint64)
        nth[order] = np.minimum(place, 2)
        return sides[0], sides[1], nth
