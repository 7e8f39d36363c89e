"""Weights of all relations of all edges: the table of labeled scores.

A classifier of relations looks at a whole tree. Here each edge h -> d stands in a tree that has
been found, in place of the edge into d: that tree has the children of d, the head of h, and the
neighbours of d among the children of h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared.relations import find_relatives, score_relations

if TYPE_CHECKING:
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.relations import RelationModel


@kernel
def add_all_relations(
    batch: Batch,
    model: RelationModel,
    unit: float,
    heads: np.ndarray,
    sums: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Add the weight of each relation to the weight of every edge.

    Parameters
    ----------
    batch, model, sums
        As for `relations.label_edges`; the batch has one sentence.
    unit
        The factor of the relation weights.
    heads
        int64 (n + 1,): the tree.
    scores
        Changed: float32 (n + 1, n + 1, L). Relations that are not allowed become -inf, and absent
        edges, whose entries are -inf, are left out.

    Notes
    -----
    O(T L) for each pair of words.
    """
    n = len(heads)
    rows = np.empty(len(model.templates.roles), dtype=np.int64)
    relatives = np.empty((n, 7), dtype=np.int64)
    find_relatives(heads, relatives)
    following = np.empty(n, dtype=np.int64)
    around = np.empty(7, dtype=np.int64)
    for h in range(n):
        child = -1
        for d in range(n - 1, 0, -1):
            following[d] = child
            if heads[d] == h:
                child = d
        child = -1
        for d in range(1, n):
            if h != d and scores[h, d, 0] > -np.inf:
                for role in range(7):
                    around[role] = relatives[d, role]
                around[1] = h
                around[2] = heads[h]
                around[5] = child
                around[6] = following[d]
                score_relations(batch, batch.starts[0], around, model, rows, sums)
                for relation in range(len(sums)):
                    if model.allowed[0 if h == 0 else 1, relation]:
                        scores[h, d, relation] += np.float32(sums[relation] * unit)
                    else:
                        scores[h, d, relation] = -np.inf
            if heads[d] == h:
                child = d
