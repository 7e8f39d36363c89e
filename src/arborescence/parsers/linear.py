"""A first-order graph-based parser with a linear model (McDonald et al. 2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

import arborescence
from arborescence.errors import ModelError
from arborescence.nonprojective.decode import decode
from arborescence.parsers import model_file
from arborescence.parsers.base import Parser
from arborescence.parsers.edges import WIDTH, EdgeTemplates, score_edges
from arborescence.parsers.features import COLUMNS, Batch, Sides
from arborescence.parsers.relations import RelationTemplates, label_edges

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.base import Progress, Root
    from arborescence.treebank import Sentence

_WEIGHTS = (np.float32, np.int8, np.int16)


class LinearParser(Parser):
    """Edges scored by a linear function of hashed features, then relations by another.

    Made by `train` or `arborescence.parsers.load`.

    Attributes
    ----------
    columns : tuple of str
        What the features look at: of form, lemma, upos, xpos and feats.
    labels : tuple of str
        The relations it can give.
    info : dict
        How it was trained, and its scores on the development set.
    """

    kind: ClassVar[str] = "linear"

    def __init__(
        self,
        *,
        columns: Sequence[str],
        labels: Sequence[str],
        allowed: NDArray[np.bool_],
        tags: NDArray[np.uint64],
        edges: NDArray[Any],
        edge_scale: float = 1.0,
        relations: NDArray[Any],
        info: dict[str, Any] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.labels = tuple(labels)
        self.info = info or {}
        self._allowed = allowed
        self._tags = tags
        self._edges = edges
        self._edge_scale = np.float32(edge_scale)
        self._relations = relations
        sides: list[str] = []
        self._edge_templates = EdgeTemplates.of(self.columns, sides)
        self._relation_templates = RelationTemplates.of(self.columns, sides)
        self._sides = Sides.of(sides)
        self._known = len(tags) + 2
        self._rows = (len(edges) - 2 * self._known**3) // WIDTH

    def _hash(self, sentences: Sequence[Sentence]) -> Batch:
        return Batch.of(sentences, self._sides, self._tags)

    def _score(self, batch: Batch) -> list[NDArray[np.float32]]:
        """Return the score matrices of a batch, views on one block."""
        lengths = np.diff(batch.starts)
        places = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths**2, out=places[1:])
        out = np.zeros(places[-1], dtype=np.float32)
        accumulator = np.float32 if self._edges.dtype == np.float32 else np.int32
        score_edges(
            batch,
            self._edge_templates,
            self._edges,
            self._rows,
            self._known,
            np.empty((2, lengths.max(initial=0), WIDTH), dtype=accumulator),
            np.empty(self._known, dtype=accumulator),
            out,
            places,
        )
        return [
            out[start:stop].reshape(nodes, nodes)
            for start, stop, nodes in zip(
                places[:-1].tolist(), places[1:].tolist(), lengths.tolist(), strict=True
            )
        ]

    def _label(self, batch: Batch, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        accumulator = np.float32 if self._relations.dtype == np.float32 else np.int32
        labels = np.empty(len(heads), dtype=np.int64)
        label_edges(
            batch,
            self._relation_templates,
            self._relations,
            self._allowed,
            heads,
            np.empty(len(self.labels), dtype=accumulator),
            labels,
        )
        return labels

    def predict(self, batch: Batch, root: Root) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return heads and numbers of relations of all nodes of a batch in a row."""
        heads = np.concatenate([decode(scores, root=root) for scores in self._score(batch)])
        return heads, self._label(batch, heads)

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges of a sentence.

        Parameters
        ----------
        sentence
            Of n words.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            ``scores[h, d]`` is the weight of the edge h -> d; column 0 and the diagonal are 0.
            The tree that `parse` finds is ``arborescence.decode(scores)``.
        """
        [scores] = self._score(self._hash([sentence]))
        return scores * self._edge_scale

    def _parse_batch(self, sentences: list[Sentence], root: Root) -> list[Sentence]:
        batch = self._hash(sentences)
        heads, relations = self.predict(batch, root)
        names = [self.labels[r] for r in relations.tolist()]
        starts = batch.starts.tolist()
        return [
            sentence.replace(heads=heads[start:stop], deprels=names[start + 1 : stop])
            for sentence, start, stop in zip(sentences, starts[:-1], starts[1:], strict=True)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which appears whole or not at all."""
        header = {
            "kind": self.kind,
            "library": arborescence.__version__,
            "columns": self.columns,
            "labels": self.labels,
            "edge_scale": float(self._edge_scale),
            "info": self.info,
        }
        arrays = {
            "allowed": self._allowed,
            "tags": self._tags,
            "edges": self._edges,
            "relations": self._relations,
        }
        model_file.save(path, header, arrays)

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser of what `model_file.load` returns; ModelError if anything is amiss."""
        expect = model_file.expect
        columns = header.get("columns")
        if not isinstance(columns, list) or not columns or not set(columns) <= set(COLUMNS):
            raise ModelError(f"the header names columns {columns!r}, not some of {list(COLUMNS)}")
        labels = header.get("labels")
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise ModelError(f"the header lists relations {labels!r}, not strings")
        scale = header.get("edge_scale")
        if not isinstance(scale, float) or not 0 < scale < np.inf:
            raise ModelError(f"the header gives the scale {scale!r}, not a positive number")
        tags = expect(arrays, "tags", (np.uint64,), (-1,))
        edges = expect(arrays, "edges", _WEIGHTS, (-1,))
        relations = expect(arrays, "relations", _WEIGHTS, (-1, len(labels)))
        in_rows = len(edges) - 2 * (len(tags) + 2) ** 3
        for name, rows in (("edges", in_rows / WIDTH), ("relations", len(relations))):
            if rows < 1 or rows != int(rows) or int(rows) & (int(rows) - 1):
                raise ModelError(f"array '{name}' has {rows} rows, not a power of two")
        return cls(
            columns=columns,
            labels=labels,
            allowed=expect(arrays, "allowed", (np.bool_,), (2, len(labels))),
            tags=tags,
            edges=edges,
            edge_scale=scale,
            relations=relations,
            info=header.get("info"),
        )

    @classmethod
    def train(cls, treebank, *, dev=None, progress=None):
        pass
