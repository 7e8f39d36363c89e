"""k-best lists as arrays, for training and applying a reranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.features import hash_bytes
from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import DEPREL, read_head_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.treebank import Sentence
    from arborescence.treebank.conllu import Analyses

_COLON = 58


class KBestLists(NamedTuple):
    """The k-best lists of B sentences, C trees in all."""

    #: (B + 1,): sentence b has the trees ``firsts[b]`` to ``firsts[b + 1] - 1``, best first.
    firsts: NDArray[np.int64]
    #: (B + 1,): the offset of each sentence's trees in `heads` and `relations`.
    places: NDArray[np.int64]
    #: The head vectors of all trees, concatenated.
    heads: NDArray[np.int32]
    #: The hash of the relation of each node in `heads`.
    relations: NDArray[np.uint64]
    #: (C,): the weight of each tree.
    weights: NDArray[np.float64]
    #: (C, 2): the number of words with the correct head, and of those words the number with the
    #: correct relation (without subtype).
    right: NDArray[np.int64]

    @classmethod
    def of(
        cls, ranked: Iterable[Analyses], gold: Sequence[Sentence] | None = None
    ) -> tuple[list[Sentence], Self]:
        """Convert k-best lists to their first trees and arrays; without gold, `right` is 0."""
        sentences: list[Sentence] = []
        heads: list[NDArray[np.int32]] = []
        relations: list[NDArray[np.uint64]] = []
        weights: list[float] = []
        right: list[NDArray[np.int64]] = []
        for b, trees in enumerate(ranked):
            parsed = [sentence for sentence, _ in trees]
            head_vectors, names = _read(parsed)
            correct = np.zeros((len(trees), 2), dtype=np.int64)
            if gold is not None:
                [gold_heads], [gold_names] = _read([gold[b]])
                attached = (head_vectors == gold_heads)[:, 1:]
                labelled = attached & (names == gold_names)[:, 1:, 1]
                correct[:] = np.stack((attached.sum(1), labelled.sum(1)), axis=1)
            sentences.append(parsed[0])
            heads.append(head_vectors.astype(np.int32))
            relations.append(names[..., 0])
            weights += [weight for _, weight in trees]
            right.append(correct)
        return sentences, cls(
            firsts=np.cumsum([0, *map(len, heads)]),
            places=np.cumsum([0, *(head_vectors.size for head_vectors in heads)]),
            heads=np.concatenate([head_vectors.reshape(-1) for head_vectors in heads]),
            relations=np.concatenate([names.reshape(-1) for names in relations]),
            weights=np.array(weights),
            right=np.concatenate(right),
        )


def _read(trees: list[Sentence]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return trees' heads (m, n + 1), and hashes of relations and of their main types (..., 2)."""
    joined = Joined.of(trees)
    spans = joined.places_of_columns
    heads = np.empty((len(trees), len(trees[0]) + 1), dtype=np.int64)
    read_head_vectors(joined.raw, spans, joined.offsets, heads.reshape(-1))
    relations = np.zeros((*heads.shape, 2), dtype=np.uint64)
    hashed = np.empty((len(spans), 2), dtype=np.uint64)
    hash_relations(joined.raw, spans, hashed)
    relations[:, 1:] = hashed.reshape(len(trees), -1, 2)
    return heads, relations


@kernel
@takes("uint8[::1], int64[:, ::1], out uint64[:, ::1]")
def hash_relations(raw: np.ndarray, spans: np.ndarray, out: np.ndarray) -> None:
    """Hash the relations of words, with and without their subtypes: uint64 (n, 2)."""
    for i in range(len(spans)):
        start = spans[i, DEPREL]
        stop = spans[i, DEPREL + 1] - 1
        colon = start
        while colon < stop and raw[colon] != _COLON:
            colon += 1
        out[i, 0] = hash_bytes(raw, start, stop, False)
        out[i, 1] = hash_bytes(raw, start, colon, False)
