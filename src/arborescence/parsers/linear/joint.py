"""Weights of the relations of all edges: of the best one before decoding, or of all after it.

The classifier of `relations` needs the whole tree. The joint one uses head and dependent only: it
can score every relation of every edge before decoding, and the score of the best one is added to
that of the edge. Edges and relations are trained together, on labelled trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence.compiling.kernels import kernel
from arborescence.parsers.shared.relations import (
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
def _rows_of(batch: Batch, model: RelationModel, trees: np.ndarray) -> np.ndarray:
    """Return the rows of weights of each edge of k trees: int64 (k, n + 1, T)."""
    rows = np.empty((*trees.shape, len(model.templates.roles)), dtype=np.int64)
    around = np.full(7, -1)
    mask = np.uint64(model.weights.shape[0] - 1)
    for k in range(trees.shape[0]):
        for d in range(1, trees.shape[1]):
            around[0], around[1] = d, trees[k, d]
            list_rows(batch.sides, batch.starts[0], around, model.templates, mask, rows[k, d])
    return rows


@kernel
def add_relations(
    batch: Batch,
    model: RelationModel,
    unit: float,
    gold: np.ndarray,
    gold_relations: np.ndarray,
    sums: np.ndarray,
    scores: np.ndarray,
    places: np.ndarray,
    best: np.ndarray,
) -> None:
    """Add the score of its best relation to the score of every edge.

    Parameters
    ----------
    batch, model, sums
        As for `relations.label_edges`; templates use heads and dependents only.
    unit
        The factor of the relation scores.
    gold, gold_relations
        In training: the gold heads and relations of a batch of one sentence, int64 (n + 1,); then
        each wrong relation of a gold edge gets a cost of 1, added to its score. Else empty.
    scores, places
        The scores, as written by `edges.score_edges` (changed), and where they begin.
    best
        Written: int16, the best relation of each edge, laid out like `scores`.

    Notes
    -----
    O(T L) for each pair of words.
    """
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
def difference(
    batch: Batch,
    model: RelationModel,
    gold: np.ndarray,
    gold_relations: np.ndarray,
    trees: np.ndarray,
    relations: np.ndarray,
    scores: np.ndarray,
    gram: np.ndarray,
) -> None:
    """Add up scores of gold relations, and inner products of differences to other trees.

    Parameters
    ----------
    batch, model
        As for `add_relations`; the batch has one sentence.
    gold, gold_relations
        int64 (n + 1,).
    trees, relations
        int64 (k, n + 1).
    scores
        Added to: float64 (k,), the summed scores of the gold relations of words whose head or
        relation is wrong in the tree.
    gram
        Added to: float64 (k, k), inner products of the feature differences between gold and each
        tree, assuming that features of different words or templates never share a row.
    """
    wide = model.weights.shape[1]
    of_gold = _rows_of(batch, model, gold.reshape(1, -1))[0]
    of_trees = _rows_of(batch, model, trees)
    for k in range(len(trees)):
        for d in range(1, len(gold)):
            if trees[k, d] != gold[d] or relations[k, d] != gold_relations[d]:
                for row in of_gold[d]:
                    scores[k] += model.weights[row, gold_relations[d]]
        for other in range(len(trees)):
            for d in range(1, len(gold)):
                for t in range(of_gold.shape[1]):
                    one = wide * of_trees[k, d, t] + relations[k, d]
                    two = wide * of_trees[other, d, t] + relations[other, d]
                    right = wide * of_gold[d, t] + gold_relations[d]
                    gram[k, other] += 1 + (one == two) - (one == right) - (two == right)


@kernel
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
    of_gold = _rows_of(batch, model, gold.reshape(1, -1))[0]
    of_guess = _rows_of(batch, model, guess.reshape(1, -1))[0]
    for d in range(1, len(gold)):
        if gold[d] != guess[d] or gold_relations[d] != guessed_relations[d]:
            move(model.weights, averages, of_gold[d], gold_relations[d], step, clock)
            move(model.weights, averages, of_guess[d], guessed_relations[d], -step, clock)


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

    Here the classifier sees whole trees: each edge h -> d stands in a tree that has been found, in
    place of the edge into d. That tree has the children of d, the head of h, and the neighbours of
    d among the children of h.

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
