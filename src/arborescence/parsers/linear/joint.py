"""Joint scores of edges and relations: each edge gets the score of its best relation as well.

The classifier of `relations` needs the whole tree. This one uses head and dependent only, so it can
score every relation of every edge before decoding; the score of the best one is added to that of
the edge. Edges and relations are trained together, on labelled trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arborescence.core.kernels import kernel
from arborescence.parsers.shared.relations import (
    add_rows,
    best_relation,
    list_rows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.relations import RelationModel


class _Scratch(NamedTuple):
    """Space for the features of one edge: the words in each role, and the rows of weights."""

    around: NDArray[np.int64]
    rows: NDArray[np.int64]


@kernel
def _scratch(model: RelationModel) -> _Scratch:
    return _Scratch(np.full(7, -1, np.int64), np.empty(len(model.templates.roles), np.int64))


@kernel
def _rows_of(
    batch: Batch, b: int, model: RelationModel, h: int, d: int, scratch: _Scratch
) -> np.ndarray:
    """Return the rows of weights of the edge h -> d of a sentence."""
    scratch.around[0] = d
    scratch.around[1] = h
    mask = np.uint64(model.weights.shape[0] - 1)
    list_rows(batch.sides, batch.starts[b], scratch.around, model.templates, mask, scratch.rows)
    return scratch.rows


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
    scratch = _scratch(model)
    for b in range(len(batch.starts) - 1):
        nodes = batch.starts[b + 1] - batch.starts[b]
        for h in range(nodes):
            for d in range(1, nodes):
                if h == d:
                    continue
                add_rows(_rows_of(batch, b, model, h, d, scratch), model.weights, sums)
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
    scratch = _scratch(model)
    rows = scratch.rows
    of_gold = np.empty(len(rows), dtype=np.int64)
    of_trees = np.empty((len(trees), len(rows)), dtype=np.int64)
    for d in range(1, len(gold)):
        wrong = (trees[:, d] != gold[d]) | (relations[:, d] != gold_relations[d])
        if not wrong.any():
            continue
        _rows_of(batch, 0, model, gold[d], d, scratch)
        for t in range(len(rows)):
            of_gold[t] = rows[t] * model.weights.shape[1] + gold_relations[d]
        for k in range(len(trees)):
            if wrong[k]:
                for t in range(len(rows)):
                    scores[k] += model.weights[rows[t], gold_relations[d]]
        for k in range(len(trees)):
            _rows_of(batch, 0, model, trees[k, d], d, scratch)
            for t in range(len(rows)):
                of_trees[k, t] = rows[t] * model.weights.shape[1] + relations[k, d]
        for k in range(len(trees)):
            for other in range(len(trees)):
                for t in range(len(rows)):
                    one, two, right = of_trees[k, t], of_trees[other, t], of_gold[t]
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
    scratch = _scratch(model)
    for d in range(1, len(gold)):
        if gold[d] == guess[d] and gold_relations[d] == guessed_relations[d]:
            continue
        for sign, h, relation in (
            (1, gold[d], gold_relations[d]),
            (-1, guess[d], guessed_relations[d]),
        ):
            change = np.float32(sign) * step
            for row in _rows_of(batch, 0, model, h, d, scratch):
                model.weights[row, relation] += change
                averages[row, relation] += change * np.float32(clock)
