"""The features of a conversion: the old tree around the two words of an edge."""

from __future__ import annotations

import re
from copy import copy
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

# The features of a node: UPOS (p), XPOS (x), FEATS (m), form (w), suffix (s), relation (r) and
# relation without subtype (u); the relations of its children to its left (kl) and right (kr); its
# place among the children of its head with the same relation (nth); UPOS (hp), relation (hr) and
# form (hw) of its head; UPOS of the words before and after it; the relations of all children of its
# head (hk).
_NODE: Final = "p x m w s r u kl kr nth hp hr hw before after hk"
# The features of an edge, as in `kernels.OF_EDGE`, then those of its head (h) and dependent (d).
_ATOMS: Final = " ".join(
    ["path way far rel reach", *(side + name for side in "hd" for name in _NODE.split())]
)
# The products of features for edges and relations.
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
# The products of features for tags: of the dependent, also with its new relation.
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


@lru_cache(1 << 12)
def universal(relation: str) -> str:
    """Return a relation without its subtype."""
    return re.split("[:/]", relation)[0]


class CandidateEdges:
    """The candidate edges of some sentences: edges between words that are near in the old tree.

    Attributes
    ----------
    starts : (sentences + 1,) int64
        The first node of each sentence, which is its root.
    words, signs : (nodes,) bool
        Whether a node is a word (not a root), and whether it is a sign: a word without letters and
        digits, such as a punctuation mark.
    ends : (m, 2) int64
        Head and dependent of each candidate, as nodes.
    known : (m, 5) uint64
        The features of each candidate: see `kernels.OF_EDGE`. The column of new relations is 0.
    nodes : (words,) int64
        The node of each word.
    groups : (words + 1,) int64
        The first candidate of each word, and m.
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        sizes = np.array([len(each) + 1 for each in sentences])
        self.starts = np.cumsum(np.concatenate(([0], sizes)))
        self.words = np.ones(self.starts[-1], dtype=np.bool_)
        self.words[self.starts[:-1]] = False
        self.nodes = np.flatnonzero(self.words)
        self.signs = np.zeros(self.words.size, dtype=np.bool_)
        forms = [[form.lower() for form in each.forms] for each in sentences]
        self.signs[self.nodes] = [not any(map(str.isalnum, f)) for each in forms for f in each]
        self._columns = tuple(
            self._column(chain.from_iterable(values))
            for values in (
                (each.upos for each in sentences),
                (each.xpos for each in sentences),
                (each.feats for each in sentences),
                forms,
                ([form[-3:] for form in each] for each in forms),
            )
        )
        relations = [name for each in sentences for name in each.deprels]
        self._find(
            np.concatenate([each.tree for each in sentences]),
            self._column(relations),
            self._column(map(universal, relations)),
        )

    def with_new_trees(self, heads: NDArray[np.int64], relations: Iterable[str]) -> CandidateEdges:
        """Return the candidates for the heads of signs: all other words have their new edges.

        Parameters
        ----------
        heads : (words,) int64
            New heads, counted in the sentence; -1 keeps the old head.
        relations
            The new relation of each word; "" keeps the old relation.
        """
        names = list(relations)
        is_new = np.array([bool(name) for name in names]) & (heads >= 0)
        is_new &= ~self.signs[self.nodes]
        nodes = self.nodes[is_new]
        trees, full, main = self.trees.copy(), self._relations.copy(), self._main_relations.copy()
        trees[nodes] = heads[is_new]
        full[nodes] = self._column(names)[nodes]
        main[nodes] = self._column(map(universal, names))[nodes]
        candidates = copy(self)
        candidates._find(trees, full, main)
        return candidates

    def _find(self, trees: NDArray[np.int64], relations: Hashes, main: Hashes) -> None:
        """Find the candidates in trees with these relations, and relations without subtypes."""
        self.trees, self._relations, self._main_relations = trees, relations, main
        self._node_features = self._features_of_nodes()
        sizes = np.diff(self.starts)
        room = int((sizes * (sizes - 1)).sum())
        ends, known = np.empty((room, 2), np.int64), np.empty((room, OF_EDGE), np.uint64)
        below = np.empty((trees.size, 2), dtype=np.int64)
        count = find_candidates(self.starts, trees, main, self.signs, below, ends, known)
        self.ends, self.known = ends[:count], known[:count]
        self.groups = np.searchsorted(self.ends[:, 1], np.append(self.nodes, trees.size))

    def places(self, templates: Templates, rows: NDArray[np.int64] | None = None) -> Hashes:
        """Return the places in the table of weights for the features of candidates.

        The candidates are those in `rows`, or all.
        """
        ends, known = self.ends, self.known
        if rows is not None:
            ends, known = ends[rows], known[rows]
        places = np.empty((len(ends), templates.features.size), dtype=np.uint64)
        find_places(templates, self._node_features, ends, known, places)
        return places

    def rows_of(self, trees: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the candidate of each word's edge in head vectors.

        If the edge is not a candidate, the first candidate of the word stands for it.
        """
        rows = self.where(np.concatenate([tree[1:] for tree in trees]))
        return np.where(rows >= 0, rows, self.groups[:-1])

    def where(self, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the candidate of each word with its head; -1 without a head or a candidate."""
        first = np.repeat(self.starts[:-1], np.diff(self.starts) - 1)
        target = np.full(self.trees.size, -1)
        target[self.nodes] = np.where(heads >= 0, first + heads, -1)
        rows = np.flatnonzero(self.ends[:, 0] == target[self.ends[:, 1]])
        rows_of_nodes = np.full(self.trees.size, -1)
        rows_of_nodes[self.ends[rows, 1]] = rows
        return rows_of_nodes[self.nodes]

    def cells(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return where candidates stand in the matrices of all sentences, one after another."""
        sizes = np.diff(self.starts)
        sentence = np.repeat(np.arange(sizes.size), sizes)
        heads, words = (self.ends if rows is None else self.ends[rows]).T
        b = sentence[words]
        first = (np.cumsum(sizes**2) - sizes**2)[b]
        cells: NDArray[np.int64] = first + (heads - self.starts[b]) * sizes[b]
        cells += words - self.starts[b]
        return cells

    def matrices(self, scores: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return the matrix of each sentence, as a view of the scores of all cells."""
        sizes = np.diff(self.starts).tolist()
        parts = np.split(scores, np.cumsum(np.square(sizes))[:-1])
        return [part.reshape(size, size) for part, size in zip(parts, sizes, strict=True)]

    def _column(self, cells: Iterable[str]) -> Hashes:
        """Return the hash of a cell for each node; 7 for roots."""
        hashes = np.full(self.words.size, 7, dtype=np.uint64)
        hashes[self.words] = np.fromiter(map(hashed, cells), np.uint64)
        return hashes

    def _features_of_nodes(self) -> Hashes:
        """Return the features of each node, in the order of `_NODE`: (nodes, 16)."""
        tags, form = self._columns[0], self._columns[3]
        first = np.repeat(self.starts[:-1], np.diff(self.starts))
        node = np.arange(self.trees.size)
        head = np.where(self.trees >= 0, first + self.trees, first)
        children = self._children(head, node)
        before = np.where(self.words, tags[node - 1], np.uint64(5))
        after = np.where(np.append(self.words[1:], False), np.roll(tags, -1), np.uint64(6))
        features = (
            *self._columns,
            self._relations,
            self._main_relations,
            *children,
            tags[head],
            self._relations[head],
            form[head],
            before,
            after,
            children[0][head] + np.uint64(3) * children[1][head],
        )
        return np.ascontiguousarray(np.stack(features, axis=1))

    def _children(
        self, head: NDArray[np.int64], node: NDArray[np.int64]
    ) -> tuple[Hashes, Hashes, Hashes]:
        """Return hashes of the relations of left and of right children, and ``nth`` for each node.

        ``nth`` is the number of earlier children of its head with the same relation, at most 2.
        """
        sides = []
        for left in (True, False):
            on_side = self.words & (self.trees >= 0) & ((node < head) == left)
            sums = np.zeros(node.size, dtype=np.uint64)
            np.add.at(sums, head[on_side], self._main_relations[on_side])
            sides.append(sums)
        keys = head.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ self._main_relations
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        begin = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        place = np.arange(node.size) - np.repeat(begin, np.diff(np.append(begin, node.size)))
        nth = np.empty(node.size, dtype=np.uint64)
        nth[order] = np.minimum(place, 2)
        return sides[0], sides[1], nth
