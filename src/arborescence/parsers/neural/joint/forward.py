"""The layers above the encoder, for one treebank, as `network.JointNetwork` up to rounding.

Only the relations, tags and features that the treebank has are computed. Matrices are multiplied as
bytes: so the scores are the same on every processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.byte_products import ByteMatrix, ByteRows
from arborescence.parsers.neural import kernels
from arborescence.parsers.neural.bert.kernels import gelu
from arborescence.parsers.neural.forward import RelationScorer
from arborescence.parsers.neural.joint.casing import CASES, letter_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.joint.inventory import Inventory

    Array = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    #: UPOS, XPOS and features: see `JointScores`.
    Tags = tuple[Numbers | None, Numbers | None, Numbers | None]

_LOWEST: Final = -1e9
#: The tables that scale and shift vectors by letter case.
CASE_TABLES: Final = ("case_scale.weight", "case_shift.weight")


def shapes_of(
    inventory: Inventory, *, size: int, arc: int, label: int, cased: bool
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of `network.JointNetwork` above the encoder's layers.

    `cased` is whether there are parameters for the letter case of words: old models have none.
    """
    treebanks, _, relations = inventory.has_relation.shape
    values = max(sum(map(len, inventory.features.values())), 1)
    shapes: dict[str, tuple[int, ...]] = {
        "treebanks.weight": (treebanks, size),
        "edge_weights": (arc + 1, arc),
        "relation_weights": (label + 1, relations, label + 1),
    }
    layers = {"as_head": arc + label, "as_dependent": arc + label}
    layers |= {"upos": len(inventory.upos), "features": values}
    if inventory.xpos:
        layers["xpos"] = len(inventory.xpos)
    if cased:
        shapes |= dict.fromkeys(CASE_TABLES, (CASES, size))
    for name, outputs in layers.items():
        shapes |= {f"{name}.weight": (outputs, size), f"{name}.bias": (outputs,)}
    return shapes


def above_encoder(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Return the parameters of `network.JointNetwork` that `shapes_of` names."""
    return {
        name: array
        for name, array in weights.items()
        if name != "mix" and not name.startswith("encoder.")
    }


class JointScores(NamedTuple):
    """Tags and scores for B sentences with N nodes in all, sentence by sentence, roots first."""

    #: (N,): the number of each node's tag in the inventory; None if the treebank has no tags.
    upos: Numbers | None
    #: (N,): the number of the language's own tag; None if the treebank has no such tags.
    xpos: Numbers | None
    #: (N, A): the number of the value of each attribute; None if the treebank has no features.
    features: Numbers | None
    #: (B, T, T): the scores of edges, ``[head, dependent]``.
    edges: Array
    #: Scores the treebank's relations on edges, as in `forward.NetworkScores`.
    relations: Callable[[Numbers, Numbers], Array]


class JointForward:
    """The layers for one treebank of an inventory."""

    def __init__(
        self, inventory: Inventory, treebank: str, weights: Mapping[str, Array], arc: int
    ) -> None:
        number = list(inventory.treebanks).index(treebank)
        self._treebank = weights["treebanks.weight"][number]
        self._by_case = [weights[name] for name in CASE_TABLES if name in weights]
        self._arc = arc
        self._ends = [_Layer.of(name, weights) for name in ("as_head", "as_dependent")]
        self._pairs = ByteMatrix(weights["edge_weights"][:-1].T)
        self._bias = weights["edge_weights"][-1]
        kept = np.flatnonzero(inventory.has_relation[number].any(axis=0))
        #: (2, L) bool: the relations that may stand on edges from the root, and on others.
        self.allowed = inventory.has_relation[number][:, kept]
        #: The names of the treebank's relations.
        self.labels = tuple(inventory.relations[r] for r in kept.tolist())
        self._relations = RelationScorer(weights["relation_weights"][:, kept])
        self._taggers = [
            _Tagger.of(name, weights, np.flatnonzero(has[number]))
            for name, has in (("upos", inventory.has_upos), ("xpos", inventory.has_xpos))
        ]
        #: Whether the language's own tags are found.
        self.has_xpos = self._taggers[1] is not None
        self._attributes = len(inventory.features)
        self._values: list[tuple[int, Numbers, slice]] = []
        columns: list[Numbers] = []
        first = 0
        for row, values in enumerate(inventory.features.values()):
            there = np.flatnonzero(inventory.has_feature[number, row, : len(values)])
            if len(there) > 1:  # else it is always "": the treebank does not have the attribute
                done = sum(map(len, columns))
                self._values.append((row, there, slice(done, done + len(there))))
                columns.append(first + there)
            first += len(values)
        places = np.concatenate(columns) if columns else np.zeros(1, dtype=np.int64)
        self._finder = _Layer.of("features", weights, places)

    def cased(self, vectors: Array, sentences: Iterable[Sequence[str]]) -> Array:
        """Scale and shift the vectors of nodes (N, 2, size) by the letter case of their words."""
        if not self._by_case:
            return vectors
        cases = [case for words in sentences for case in (0, *letter_cases(words))]
        scale, shift = (table[cases][:, None] for table in self._by_case)
        changed: Array = vectors * (1 + scale) + shift
        return changed

    def run(self, vectors: Array, nodes: Numbers) -> JointScores:
        """Score sentences.

        `vectors`, (N, 2, size), has two vectors of each node, one by each mixture of layers.
        `nodes`, (B,), has the number of nodes of each sentence.
        """
        rows = ByteRows.of(vectors[:, 0] + self._treebank, len(self._treebank))
        heads, dependents = (layer.run(rows) for layer in self._ends)
        gelu(heads)
        gelu(dependents)
        inner = self._pairs.after(dependents, self._bias)
        longest = int(nodes.max())
        edges = np.full((len(nodes), longest, longest), _LOWEST, dtype=np.float32)
        kernels.score_edges(heads, inner, nodes, edges)
        places = np.arange(longest)
        edges[:, places, places] = _LOWEST
        one = np.ones((len(heads), 1), dtype=np.float32)
        ends = (np.concatenate([each[:, self._arc :], one], axis=1) for each in (heads, dependents))
        return JointScores(*self.tagged(vectors), edges, self._relations.of(*ends))

    def tagged(self, vectors: Array) -> Tags:
        """Return the tags and features of nodes, as `run` does: see `JointScores`."""
        rows = ByteRows.of(vectors[:, 1] + self._treebank, len(self._treebank))
        upos, xpos = (each and each.run(rows) for each in self._taggers)
        if not self._values:
            return upos, xpos, None
        features = np.zeros((len(vectors), self._attributes), dtype=np.int64)
        logits = self._finder.run(rows)
        for attribute, values, columns in self._values:
            features[:, attribute] = values[logits[:, columns].argmax(axis=1)]
        return upos, xpos, features


class _Tagger(NamedTuple):
    """A layer that chooses one of a treebank's tags."""

    #: The numbers of the tags in the inventory.
    tags: Numbers
    #: Scores these tags.
    layer: _Layer

    @classmethod
    def of(cls, name: str, weights: Mapping[str, Array], tags: Numbers) -> _Tagger | None:
        """Take the tags that the treebank has; None if there is none."""
        return cls(tags, _Layer.of(name, weights, tags)) if len(tags) else None

    def run(self, rows: ByteRows) -> Numbers:
        """Return the best tag of each row."""
        best: Numbers = self.tags[self.layer.run(rows).argmax(axis=1)]
        return best


class _Layer(NamedTuple):
    """A linear layer."""

    #: The weights, inputs by outputs.
    matrix: ByteMatrix
    #: A number for each output.
    bias: Array

    @classmethod
    def of(cls, name: str, weights: Mapping[str, Array], rows: Any = ...) -> _Layer:
        return cls(ByteMatrix(weights[f"{name}.weight"][rows].T), weights[f"{name}.bias"][rows])

    def run(self, rows: ByteRows) -> Array:
        return self.matrix.after_bytes(rows, self.bias)
