"""Greedy transition parsing, trained with static or dynamic oracles (Goldberg and Nivre 2012).

A linear function of hashed features scores the four actions of a state. Another one, with the
features of `relations`, scores the relations of a new edge. If only one transition is legal, it is
neither scored nor learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.core.kernels import inlined_kernel, kernel
from arborescence.parsers.shared.features import Nodes
from arborescence.parsers.shared.relations import (
    RelationModel,
    RelationTemplates,
    best_relation,
    move,
    score_relations,
)
from arborescence.parsers.transition.features import (
    WORDS,
    StateTemplates,
    find_around,
    list_features,
)
from arborescence.transitions import state as layout
from arborescence.transitions import systems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch

#: A move is an action and a relation as one number: action + 8 (relation + 1).
STRIDE: Final = 8


class Model(NamedTuple):
    """The model for choosing transitions, as arguments of kernels.

    Attributes
    ----------
    system : int
        The number of the transition system.
    single : bool
        Whether trees have exactly one root edge.
    allowed : int
        A bit mask of the actions that may be taken if they are legal.
    templates : StateTemplates
    bits : int
        The binary logarithm of the number of rows: see `list_features`.
    actions : (2^bits + 2^(bits - 3), 4)
        The weights of actions: float32, or integers.
    relations : RelationModel
    """

    system: int
    single: bool
    allowed: int
    templates: StateTemplates
    bits: int
    actions: NDArray[Any]
    relations: RelationModel

    @property
    def parts(self) -> Any:
        """Its arrays and numbers, for kernels, in this order."""
        return (
            *(self.system, self.single, self.allowed, *self.templates),
            *(self.bits, self.actions, *self.relations.parts),
        )


class Scratch(NamedTuple):
    """Scratch for the features of one state, and for sums of their weights."""

    words: NDArray[np.int64]
    atoms: NDArray[np.uint64]
    rows: NDArray[np.int64]
    around: NDArray[np.int64]
    relation_rows: NDArray[np.int64]
    scores: NDArray[Any]
    sums: NDArray[Any]

    @classmethod
    def of(cls, model: Model) -> Self:
        """Allocate the scratch that a model needs."""
        floats = model.actions.dtype == np.float32
        return cls(
            np.empty(len(WORDS), dtype=np.int64),
            np.zeros(len(model.templates.odd) + 1, dtype=np.uint64),
            np.empty(len(model.templates.parts), dtype=np.int64),
            np.empty(7, dtype=np.int64),
            np.empty(len(model.relations.templates.roles), dtype=np.int64),
            np.empty(layout.ACTIONS, dtype=np.float32 if floats else np.int64),
            np.empty(model.relations.weights.shape[1], dtype=np.float32 if floats else np.int32),
        )


@kernel
def score_actions(
    batch: Nodes, start: int, state: np.ndarray, model: Model, scratch: Scratch
) -> None:
    """Score the four actions of a state; the scores are written to ``scratch.scores``."""
    list_features(
        batch.sides,
        start,
        state,
        model.templates,
        model.bits,
        scratch.words,
        scratch.atoms,
        scratch.rows,
    )
    rows = scratch.rows
    scores = scratch.scores
    weights = model.actions
    zero = scores.dtype.type(0)
    first, second, third, fourth = zero, zero, zero, zero
    for t in range(len(rows)):
        row = rows[t]
        first += weights[row, 0]
        second += weights[row, 1]
        third += weights[row, 2]
        fourth += weights[row, 3]
    scores[0], scores[1], scores[2], scores[3] = first, second, third, fourth


@kernel
def choose_relation(
    batch: Nodes,
    start: int,
    state: np.ndarray,
    model: Model,
    head: int,
    dependent: int,
    scratch: Scratch,
) -> int:
    """Return the best relation of an edge that is about to be added."""
    find_around(state, head, dependent, scratch.around)
    rows, sums = scratch.relation_rows, scratch.sums
    score_relations(batch, start, scratch.around, model.relations, rows, sums)
    return best_relation(model.relations, head, sums)


@inlined_kernel
def only_one(mask: int) -> bool:
    """Return whether at most one bit is set."""
    return mask & (mask - 1) == 0


@inlined_kernel
def lowest(mask: int) -> int:
    """Return the position of the lowest set bit."""
    k = 0
    while not mask >> k & 1:
        k += 1
    return k


@inlined_kernel
def best_action(scores: np.ndarray, mask: int) -> int:
    """Return the best action in a mask; ties go to the first."""
    best = -1
    for k in range(4):
        if mask >> k & 1 and (best < 0 or scores[k] > scores[best]):
            best = k
    return best


def parse_greedily(
    batch: Batch,
    model: Model,
    scratch: Scratch,
    heads: np.ndarray,
    labels: np.ndarray,
    totals: np.ndarray,
    taken: np.ndarray,
) -> int:
    """Parse sentences greedily, by the best transition in each state.

    Parameters
    ----------
    batch, model, scratch
        `Batch`, `Model` and `Scratch`.
    heads, labels
        Written: int64 (N,), the heads and the relation numbers of all sentences in a row; -1 for
        roots.
    totals
        Written: float64 (sentences,), the summed scores of each sentence's actions.
    taken
        Written: int64, the moves of the last sentence (see `STRIDE`), as many as fit.

    Returns
    -------
    steps : int
        The number of transitions of the last sentence.

    Notes
    -----
    O(T + L) for each transition; 2n transitions for n words (two more for each SWAP).
    """
    return parse_kernel(*(*batch.nodes, *model.parts, *scratch, heads, labels, totals, taken))


@kernel
def parse_kernel(
    starts: np.ndarray,
    sides: np.ndarray,
    tags: np.ndarray,
    system: int,
    single: bool,
    allowed: int,
    state_sides: np.ndarray,
    partial: np.ndarray,
    odd: np.ndarray,
    parts: np.ndarray,
    small: int,
    pair: np.ndarray,
    bits: int,
    actions: np.ndarray,
    roles: np.ndarray,
    of_roles: np.ndarray,
    relations: np.ndarray,
    allowed_relations: np.ndarray,
    words: np.ndarray,
    atoms: np.ndarray,
    rows: np.ndarray,
    around: np.ndarray,
    relation_rows: np.ndarray,
    scores: np.ndarray,
    sums: np.ndarray,
    heads: np.ndarray,
    labels: np.ndarray,
    totals: np.ndarray,
    taken: np.ndarray,
) -> int:
    """Do the work of `parse_greedily`."""
    batch = Nodes(starts, sides, tags)
    templates = StateTemplates(state_sides, partial, odd, parts, small, pair)
    of_edges = RelationModel(RelationTemplates(roles, of_roles), relations, allowed_relations)
    model = Model(system, single, allowed, templates, bits, actions, of_edges)
    scratch = Scratch(words, atoms, rows, around, relation_rows, scores, sums)
    step = 0
    for b in range(len(batch.starts) - 1):
        start = batch.starts[b]
        n = batch.starts[b + 1] - start - 1
        state = np.empty((layout.FIELDS, n + 4), dtype=np.int32)
        systems.begin(model.system, state)
        step = 0
        total = 0.0
        while True:
            mask = systems.legal(model.system, state, model.single) & model.allowed
            if mask == 0:
                break
            if only_one(mask):
                action = lowest(mask)
            else:
                score_actions(batch, start, state, model, scratch)
                action = best_action(scratch.scores, mask)
                total += scratch.scores[action]
            head, dependent = systems.arc(model.system, state, action)
            label = -1
            if dependent >= 0:
                label = choose_relation(batch, start, state, model, head, dependent, scratch)
            systems.advance(model.system, state, action, label)
            if step < len(taken):
                taken[step] = action + STRIDE * (label + 1)
            step += 1
        totals[b] = total
        for i in range(n + 1):
            heads[start + i] = state[layout.HEAD, i]
            labels[start + i] = state[layout.LABEL, i]
    return step


class Averages(NamedTuple):
    """Sums for averaged weights: each change times its clock."""

    actions: NDArray[np.float32]
    relations: NDArray[np.float32]


@kernel
def learn_relation(
    batch: Nodes,
    start: int,
    state: np.ndarray,
    model: Model,
    averages: Averages,
    scratch: Scratch,
    head: int,
    dependent: int,
    gold: int,
    clock: int,
) -> int:
    """Predict the relation of a right edge; update the weights if wrong; return the prediction."""
    guess = choose_relation(batch, start, state, model, head, dependent, scratch)
    if guess != gold:
        rows = scratch.relation_rows
        move(model.relations.weights, averages.relations, rows, gold, 1.0, clock)
        move(model.relations.weights, averages.relations, rows, guess, -1.0, clock)
    return guess


def learn_greedily(
    batch: Batch,
    order: np.ndarray,
    clock: int,
    model: Model,
    averages: Averages,
    scratch: Scratch,
    heads: np.ndarray,
    labels: np.ndarray,
    dynamic: bool,
    exploration: float,
    coins: np.ndarray,
) -> None:
    """Train on some sentences: a perceptron update in each state where the best action is wrong.

    Parameters
    ----------
    batch, scratch
        `Batch` and `Scratch`.
    order
        int64: the numbers of the sentences.
    clock
        The number of updates before this call: one for each sentence.
    model, averages
        `Model`, with float32 weights, and `Averages`: changed.
    heads, labels
        int64 (N,): gold heads and relations of all sentences in a row.
    dynamic
        Whether every transition of cost 0 is right (Goldberg and Nivre 2012), or only that of the
        static oracle.
    exploration
        With the dynamic oracle: the probability of taking the predicted action and relation, even
        if they are wrong.
    coins
        float64, uniform in [0, 1), two for each word of the sentences in `order`.
    """
    learn_kernel(
        *(
            *batch.nodes,
            order,
            clock,
            *model.parts,
            *averages,
            *scratch,
            heads,
            labels,
            dynamic,
            exploration,
            coins,
        )
    )


@kernel
def learn_kernel(
    starts: np.ndarray,
    sides: np.ndarray,
    tags: np.ndarray,
    order: np.ndarray,
    clock: int,
    system: int,
    single: bool,
    allowed: int,
    state_sides: np.ndarray,
    partial: np.ndarray,
    odd: np.ndarray,
    parts: np.ndarray,
    small: int,
    pair: np.ndarray,
    bits: int,
    actions: np.ndarray,
    roles: np.ndarray,
    of_roles: np.ndarray,
    relations: np.ndarray,
    allowed_relations: np.ndarray,
    of_actions: np.ndarray,
    of_relations: np.ndarray,
    words: np.ndarray,
    atoms: np.ndarray,
    rows: np.ndarray,
    around: np.ndarray,
    relation_rows: np.ndarray,
    scores: np.ndarray,
    sums: np.ndarray,
    heads: np.ndarray,
    labels: np.ndarray,
    dynamic: bool,
    exploration: float,
    coins: np.ndarray,
) -> None:
    """Do the work of `learn_greedily`."""
    batch = Nodes(starts, sides, tags)
    templates = StateTemplates(state_sides, partial, odd, parts, small, pair)
    of_edges = RelationModel(RelationTemplates(roles, of_roles), relations, allowed_relations)
    model = Model(system, single, allowed, templates, bits, actions, of_edges)
    averages = Averages(of_actions, of_relations)
    scratch = Scratch(words, atoms, rows, around, relation_rows, scores, sums)
    cost = np.empty(layout.ACTIONS, dtype=np.int32)
    coin = 0
    for b in order:
        clock += 1
        start = batch.starts[b]
        stop = batch.starts[b + 1]
        n = stop - start - 1
        gold = heads[start:stop]
        state = np.empty((layout.FIELDS, n + 4), dtype=np.int32)
        guide = np.empty((3, n + 1), dtype=np.int32)
        systems.begin(model.system, state)
        systems.prepare(model.system, gold, guide)
        while True:
            mask = systems.legal(model.system, state, model.single)
            if mask == 0:
                break
            explores = False
            if dynamic:
                explores = coins[coin] < exploration
                coin += 1
            if only_one(mask):
                action = lowest(mask)
            else:
                score_actions(batch, start, state, model, scratch)
                guess = best_action(scratch.scores, mask)
                if dynamic:
                    systems.costs(model.system, state, gold, model.single, cost)
                    free = 0
                    for k in range(layout.ACTIONS):
                        if cost[k] == 0:
                            free |= 1 << k
                    action = best_action(scratch.scores, free)
                else:
                    action = systems.oracle(model.system, state, gold, guide)
                if action != guess:
                    move(model.actions, averages.actions, scratch.rows, action, 1.0, clock)
                    move(model.actions, averages.actions, scratch.rows, guess, -1.0, clock)
                if explores:
                    action = guess
            head, dependent = systems.arc(model.system, state, action)
            label = -1
            if dependent >= 0:
                if gold[dependent] == head:
                    right = labels[start + dependent]
                    label = learn_relation(
                        batch, start, state, model, averages, scratch, head, dependent, right, clock
                    )
                    if not explores:
                        label = right
                else:
                    label = choose_relation(batch, start, state, model, head, dependent, scratch)
            systems.advance(model.system, state, action, label)
