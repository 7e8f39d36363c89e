"""Scores of the relations of all edges: of the best relation before decoding, of all after it.

The classifier of `relations` needs the whole tree. The joint classifier uses head and dependent
only, so that the best relation's score can be added to the edge's score before decoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.parsers.shared.features import BATCH
from arborescence.parsers.shared.relations import (
    LEARNED_RELATIONS,
    RELATIONS,
    best_relation,
    find_relatives,
    list_rows,
    move,
    score_relations,
)

if TYPE_CHECKING:
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.relations import RelationModel


@kernel
def _rows_of(batch: Batch, model: RelationModel, tree: np.ndarray) -> np.ndarray:
    """Return the rows of weights of each edge of a tree: int64 (n + 1, T)."""
    rows = np.empty((len(tree), len(model.templates.roles)), dtype=np.int64)
    around = np.full(7, -1)
    mask = np.uint64(model.weights.shape[0] - 1)
    for d in range(1, len(tree)):
        around[0], around[1] = d, tree[d]
        list_rows(batch.sides, batch.starts[0], around, model.templates, mask, rows[d])
    return rows


@kernel
@takes(
    f"{BATCH}, {RELATIONS}, float64, int64[::1], int64[::1], out sum[::1], out float32[::1], "
    "int64[::1], out int16[::1]"
)
def add_relations(
    # batch, model, sums: as for `relations.label_edges`; templates use heads and dependents only
    batch: Batch,
    model: RelationModel,
    unit: float,  # the factor of the relation scores
    # gold, gold_relations: in training, the gold heads and relations of a batch of one sentence,
    # int64 (n + 1,): 1 is added to the score of each wrong relation of a gold edge. Else empty.
    gold: np.ndarray,
    gold_relations: np.ndarray,
    sums: np.ndarray,
    # scores, places: the scores, as written by `edges.score_edges` (changed), and where they begin
    scores: np.ndarray,
    places: np.ndarray,
    best: np.ndarray,  # written: int16, the best relation of each edge, laid out like `scores`
) -> None:
    """Add the score of its best relation to the score of every edge; O(T L) a pair of words."""
    around, rows = np.full(7, -1), np.empty(len(model.templates.roles), dtype=np.int64)
    for b in range(len(batch.starts) - 1):
        nodes = batch.starts[b + 1] - batch.starts[b]
        for h in range(nodes):
            for d in range(1, nodes):
                if h == d:
                    continue
                around[0], around[1] = d, h
                score_relations(batch, batch.starts[b], around, model, rows, sums)
                if len(gold) and gold[d] == h:
                    sums += 1
                    sums[gold_relations[d]] -= 1
                relation = best_relation(model, h, sums)
                place = places[b] + h * nodes + d
                scores[place] += np.float32(sums[relation] * unit)
                best[place] = relation


@kernel
@takes(
    f"{BATCH}, {RELATIONS.replace('weight', 'float32')}, int64[::1], int64[::1], "
    "int64[::1], int64[::1], out float64[::1]"
)
def difference(
    # batch, model: as for `add_relations`; the batch has one sentence
    batch: Batch,
    model: RelationModel,
    # gold, gold_relations, guess, guessed_relations: int64 (n + 1,)
    gold: np.ndarray,
    gold_relations: np.ndarray,
    guess: np.ndarray,
    guessed_relations: np.ndarray,
    # float64 (2,); two sums are added to it: the scores of the gold relations of words whose head
    # or relation is wrong; and the squared length of the difference of features, on the assumption
    # that features of different words or templates never share a row
    out: np.ndarray,
) -> None:
    """Add up scores of gold relations, and the squared difference to another tree."""
    of_gold, of_guess = _rows_of(batch, model, gold), _rows_of(batch, model, guess)
    for d in range(1, len(gold)):
        named = gold_relations[d]
        if guess[d] != gold[d] or guessed_relations[d] != named:
            for t in range(of_gold.shape[1]):
                out[0] += model.weights[of_gold[d, t], named]
                same = of_gold[d, t] == of_guess[d, t] and guessed_relations[d] == named
                out[1] += 0 if same else 2


@kernel
@takes(
    f"{BATCH}, {LEARNED_RELATIONS}, out float32[:, ::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], float64, int64"
)
def update(
    batch: Batch,
    model: RelationModel,
    averages: np.ndarray,
    gold: np.ndarray,
    gold_relations: np.ndarray,
    guess: np.ndarray,
    guessed_relations: np.ndarray,
    step: float,
    clock: int,
) -> None:
    """Take a step towards the gold tree and away from the guess, as in `edges.update_edges`."""
    of_gold, of_guess = _rows_of(batch, model, gold), _rows_of(batch, model, guess)
    for d in range(1, len(gold)):
        if gold[d] != guess[d] or gold_relations[d] != guessed_relations[d]:
            move(model.weights, averages, of_gold[d], gold_relations[d], step, clock)
            move(model.weights, averages, of_guess[d], guessed_relations[d], -step, clock)


@kernel
@takes(
    f"{BATCH}, {RELATIONS}, float64, int64, int64[::1], out sum[::1], int64[::1], int64[::1], "
    "float32[::1], out float32[:, ::1]"
)
def weigh_edges(
    # batch, model, sums: as for `relations.label_edges`
    batch: Batch,
    model: RelationModel,
    unit: float,  # the factor of the relation weights
    start: int,  # the first node of the sentence
    tree: np.ndarray,  # int64 (n + 1,): heads
    sums: np.ndarray,
    # heads, words: int64 (E,); edges: float32 (E,), the edges' weights, -inf for absent edges
    heads: np.ndarray,
    words: np.ndarray,
    edges: np.ndarray,
    scores: np.ndarray,  # float32 (E, L), written; -inf for relations not allowed
) -> None:
    """Weigh edges with each relation, so that the best relation has the edge's weight.

    O(n + T L) an edge. The classifier reads a whole tree. To score the edge h -> d, this edge
    replaces the edge into d in `tree`. The features are then those of the children of d, of the
    head of h, and of d's neighbours among the children of h.
    """
    rows = np.empty(len(model.templates.roles), dtype=np.int64)
    relatives = np.empty((len(tree), 7), dtype=np.int64)
    find_relatives(tree, relatives)
    around = np.empty(7, dtype=np.int64)
    for e in range(len(heads)):
        h, d = heads[e], words[e]
        best = np.float32(-np.inf)
        if edges[e] > -np.inf:
            for role in range(7):
                around[role] = relatives[d, role]
            around[1] = h
            around[2] = tree[h]
            around[5], around[6] = d - 1, d + 1
            while around[5] > 0 and tree[around[5]] != h:
                around[5] -= 1
            while around[6] < len(tree) and tree[around[6]] != h:
                around[6] += 1
            around[5] = around[5] if around[5] > 0 else -1
            around[6] = around[6] if around[6] < len(tree) else -1
            score_relations(batch, start, around, model, rows, sums)
            for relation in range(len(sums)):
                if model.allowed[0 if h == 0 else 1, relation]:
                    scores[e, relation] = np.float32(sums[relation] * unit)
                    best = max(best, scores[e, relation])
                else:
                    scores[e, relation] = -np.inf
        for relation in range(len(sums)):
            if best > -np.inf:
                scores[e, relation] = edges[e] + (scores[e, relation] - best)
            else:
                scores[e, relation] = -np.inf
