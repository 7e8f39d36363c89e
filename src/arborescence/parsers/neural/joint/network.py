"""The network for many treebanks: an encoder, mixtures of its layers, and one layer for each task.

A word's vector is the mean of the vectors of its pieces, scaled and shifted by its letter case
(`casing`), plus a vector of the treebank (Stymne et al. 2018). Edges and relations are scored by
biaffine forms (Dozat and Manning 2017), as in the other neural parsers, but without LSTMs
(Kondratyuk and Straka 2019).
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad

from arborescence.parsers.neural.joint.casing import CASES, letter_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.joint.inventory import Inventory

    Numbers = NDArray[np.int64]

_LOWEST: Final = -1e9


class JointInputs(NamedTuple):
    """B sentences with at most T nodes, cut into W windows of at most P pieces."""

    #: (W, P) int64: the numbers of the pieces.
    ids: Numbers
    #: (W,) int64: the number of pieces of each window.
    lengths: Numbers
    #: (M,) int64: the index in the flattened `ids` of each piece whose vector is used.
    place: Numbers
    #: (M,) int64: the node of each such piece, as an index in the flattened (B, T).
    node: Numbers
    #: (B,) int64: the number of nodes of each sentence, with the root.
    nodes: Numbers
    #: (B,) int64: the number of the treebank of each sentence.
    treebank: Numbers
    #: (B, T) int64: the letter case of each node.
    case: Numbers

    @classmethod
    def of(
        cls, encoder: Encoder, sentences: Sequence[Sequence[str]], treebanks: Sequence[int]
    ) -> JointInputs:
        """Cut words into pieces; the root's vector is that of the piece before the first word."""
        pieces = encoder.cut(sentences)
        words = np.array([len(each) for each in sentences], dtype=np.int64)
        width = int(words.max()) + 1
        sentence = np.repeat(np.arange(len(words)), words)
        firsts = np.cumsum(words) - words
        within = np.arange(len(sentence)) - np.repeat(firsts, words) + 1
        node = (sentence * width + within)[pieces.word]
        _, starts = np.unique(pieces.word, return_index=True)
        roots = pieces.place[starts[firsts]] // pieces.ids.shape[1] * pieces.ids.shape[1]
        cases = np.zeros((len(words), width), dtype=np.int64)
        for row, sentence_forms in zip(cases, sentences, strict=True):
            row[1 : len(sentence_forms) + 1] = letter_cases(sentence_forms)
        return cls(
            pieces.ids,
            pieces.lengths,
            np.concatenate([roots, pieces.place]),
            np.concatenate([np.arange(len(words)) * width, node]),
            words + 1,
            np.array(treebanks, dtype=np.int64),
            cases,
        )


class JointOutputs(NamedTuple):
    """The network's output for B sentences with at most T nodes."""

    #: (B, T, T): the scores of edges, ``[head, dependent]``; very low where there is no edge.
    edges: Tensor
    #: (B, T, label + 1): the vectors of nodes as heads, for `JointNetwork.relations`.
    heads: Tensor
    #: (B, T, label + 1): the vectors of nodes as dependents.
    dependents: Tensor
    #: (B, T, U): the logits of tags; very low for tags that the treebank does not have.
    upos: Tensor
    #: (B, T, X): the logits of the language's own tags; very low for tags of other treebanks.
    #: None if no treebank has such tags.
    xpos: Tensor | None
    #: (B, T, A, V): the logits of the values of each attribute; very low for values that the
    #: treebank does not have.
    features: Tensor


class JointNetwork(nn.Module):
    """The network; the encoder is copied."""

    #: (A, V) int64: the column of each value among the logits of features.
    _columns: Tensor
    #: The relations, tags and features of the treebanks: see `Inventory`.
    _has_relation: Tensor
    _has_upos: Tensor
    _has_xpos: Tensor
    _has_feature: Tensor

    def __init__(
        self, encoder: Encoder, inventory: Inventory, *, arc: int, label: int, dropout: float
    ) -> None:
        super().__init__()
        self.encoder = deepcopy(encoder.model)
        size = encoder.size
        treebanks, _, relations = inventory.has_relation.shape
        self.treebanks = nn.Embedding(treebanks, size)
        self.case_scale = nn.Embedding(CASES, size)
        self.case_shift = nn.Embedding(CASES, size)
        for table in (self.treebanks, self.case_scale, self.case_shift):
            nn.init.zeros_(table.weight)
        #: The shares of layers: a row for edges and relations, a row for tags and features.
        self.mix = nn.Parameter(torch.zeros(2, self.encoder.config.num_hidden_layers + 1))
        self.as_head = nn.Linear(size, arc + label)
        self.as_dependent = nn.Linear(size, arc + label)
        self.edge_weights = nn.Parameter(torch.zeros(arc + 1, arc))
        nn.init.orthogonal_(self.edge_weights, gain=arc**-0.5)
        self.relation_weights = nn.Parameter(torch.zeros(label + 1, relations, label + 1))
        self.upos = nn.Linear(size, len(inventory.upos))
        self.xpos = nn.Linear(size, len(inventory.xpos)) if inventory.xpos else None
        counts = [len(values) for values in inventory.features.values()]
        self.features = nn.Linear(size, max(sum(counts), 1))
        self._arc = arc
        self._drop = nn.Dropout(dropout)
        _, attributes, widest = inventory.has_feature.shape
        columns = np.full((attributes, widest), sum(counts), dtype=np.int64)
        first = 0
        for row, count in zip(columns, counts, strict=True):
            row[:count] = np.arange(first, first + count)
            first += count
        self.register_buffer("_columns", torch.from_numpy(columns), persistent=False)
        for name in ("relation", "upos", "xpos", "feature"):
            mask = torch.from_numpy(getattr(inventory, f"has_{name}"))
            self.register_buffer(f"_has_{name}", mask, persistent=False)
        with torch.no_grad():
            none = [sum(counts[:number]) for number in range(len(counts))]
            self.features.bias[none] = 3.0  # most words do not have most attributes

    def forward(self, batch: Any) -> JointOutputs:
        """Score `JointInputs` whose arrays are tensors (`devices.moved`)."""
        for_edges, for_tags = self._vectors(batch)
        treebank = self.treebanks(batch.treebank)[:, None]
        rows = self._drop(for_edges + treebank)
        heads, dependents = (
            self._drop(gelu(self.as_head(rows))),
            self._drop(gelu(self.as_dependent(rows))),
        )
        by_dependent = dependents[..., : self._arc] @ self.edge_weights[:-1].mT
        edges = heads[..., : self._arc] @ (by_dependent + self.edge_weights[-1]).mT
        rows = self._drop(for_tags + treebank)
        upos = self.upos(rows).masked_fill(~self._has_upos[batch.treebank][:, None], _LOWEST)
        xpos = None
        if self.xpos is not None:
            absent = ~self._has_xpos[batch.treebank][:, None]
            xpos = self.xpos(rows).masked_fill(absent, _LOWEST)
        values = pad(self.features(rows), (0, 1))[..., self._columns]
        features = values.masked_fill(~self._has_feature[batch.treebank][:, None], _LOWEST)
        return JointOutputs(
            edges.float().masked_fill(self._absent(batch, edges.shape[1]), _LOWEST),
            pad(heads[..., self._arc :], (0, 1), value=1.0),
            pad(dependents[..., self._arc :], (0, 1), value=1.0),
            upos,
            xpos,
            features,
        )

    def relations(
        self, heads: Tensor, dependents: Tensor, treebank: Tensor, is_root: Tensor
    ) -> Tensor:
        """Score relations (E, R) of edges by the vectors of both ends; very low where masked."""
        wide, relations, _ = self.relation_weights.shape
        by_head = (heads @ self.relation_weights.view(wide, -1)).view(-1, relations, wide)
        scores = (by_head @ dependents[:, :, None])[:, :, 0]
        return scores.masked_fill(~self._has_relation[treebank, 1 - is_root.long()], _LOWEST)

    def _vectors(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return the vectors of nodes, (B, T, size), by both mixtures of the encoder's layers."""
        places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        mask = (places < batch.lengths[:, None]).long()
        output = self.encoder(input_ids=batch.ids, attention_mask=mask, output_hidden_states=True)
        states = [state.flatten(0, 1) for state in output.hidden_states]
        size = states[0].shape[1]
        width = int(batch.nodes.max())
        rows = len(batch.nodes) * width
        counts = torch.bincount(batch.node, minlength=rows).clamp(min=1)[:, None]
        scale, shift = 1 + self.case_scale(batch.case), self.case_shift(batch.case)
        vectors = []
        for shares in self.mix.softmax(dim=1):
            mixed = sum(
                (share * state for share, state in zip(shares, states, strict=True)),
                torch.zeros((), device=shares.device),
            )
            sums = mixed.new_zeros(rows, size).index_add(0, batch.node, mixed[batch.place])
            vectors.append((sums / counts).view(-1, width, size) * scale + shift)
        return vectors[0], vectors[1]

    def _absent(self, batch: Any, width: int) -> Tensor:
        """Return whether there is no edge: from or into padding, or from a word to itself."""
        places = torch.arange(width, device=batch.nodes.device)
        beyond = places >= batch.nodes[:, None]
        same = torch.eye(width, device=batch.nodes.device, dtype=torch.bool)
        return beyond[:, :, None] | beyond[:, None] | same
