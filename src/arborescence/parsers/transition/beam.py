"""Beam search over transitions, and the structured perceptron (Zhang and Clark 2008).

The score of a derivation is the sum of the scores of its actions. The beam keeps the best partial
derivations. When all right ones have fallen out of the beam, training updates the weights and goes
on to the next sentence (early update, Collins and Roark 2004).

Relations are chosen when an edge is added, as in `greedy`. Their scores do not affect which
derivations are kept, but later features use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arborescence.core.kernels import inlined_kernel, kernel
from arborescence.parsers.shared.features import Nodes
from arborescence.parsers.shared.relations import RelationModel, RelationTemplates, move
from arborescence.parsers.transition.features import StateTemplates
from arborescence.parsers.transition.greedy import (
    STRIDE,
    Averages,
    Model,
    Scratch,
    choose_relation,
    learn_relation,
    lowest,
    only_one,
    score_actions,
)
from arborescence.transitions import state as layout
from arborescence.transitions import systems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.parsers.shared.features import Batch

_IDLE = layout.ACTIONS  # the action of a final state


class Agenda(NamedTuple):
    """The candidates for the next beam, best first; ties in order of arrival.

    Attributes
    ----------
    scores : (B,)
    parents, actions : (B,) int64
        The state in the beam, and its action.
    right : (B,) bool
        Whether it is a partial derivation of the gold tree.
    """

    scores: NDArray[Any]
    parents: NDArray[np.int64]
    actions: NDArray[np.int64]
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, beam: int, scratch: Scratch) -> Self:
        """Allocate an agenda for a beam of this width."""
        whole = scratch.scores.dtype == np.int64
        return cls(
            np.zeros(beam, dtype=np.int64 if whole else np.float64),
            np.zeros(beam, dtype=np.int64),
            np.zeros(beam, dtype=np.int64),
            np.zeros(beam, dtype=np.bool_),
        )


@inlined_kernel
def _enter(agenda: Agenda, count: int, score: float, parent: int, action: int, right: bool) -> int:
    """Insert a candidate by score; return the new number of candidates, at most the beam width."""
    room = len(agenda.scores)
    if count == room and not score > agenda.scores[room - 1]:
        return count
    place = min(count, room - 1)
    while place > 0 and score > agenda.scores[place - 1]:
        agenda.scores[place] = agenda.scores[place - 1]
        agenda.parents[place] = agenda.parents[place - 1]
        agenda.actions[place] = agenda.actions[place - 1]
        agenda.right[place] = agenda.right[place - 1]
        place -= 1
    agenda.scores[place] = score
    agenda.parents[place] = parent
    agenda.actions[place] = action
    agenda.right[place] = right
    return min(count + 1, room)


@kernel
def _grow(
    batch: Nodes,
    start: int,
    model: Model,
    scratch: Scratch,
    agenda: Agenda,
    count: int,
    old: np.ndarray,
    new: np.ndarray,
    moves: np.ndarray,
) -> bool:
    """Make the states of the next beam; return whether any of them took a transition.

    `moves` is written: int64 (B,), the move of each (see `greedy.STRIDE`).
    """
    going = False
    for j in range(count):
        state = new[j]
        parent = old[agenda.parents[j]]
        for row in range(state.shape[0]):
            for column in range(state.shape[1]):
                state[row, column] = parent[row, column]
        action = agenda.actions[j]
        label = -1
        if action != _IDLE:
            going = True
            head, dependent = systems.arc(model.system, state, action)
            if dependent >= 0:
                label = choose_relation(batch, start, state, model, head, dependent, scratch)
            systems.advance(model.system, state, action, label)
        moves[j] = action + STRIDE * (label + 1)
    return going


def parse_with_beam(
    batch: Batch,
    model: Model,
    scratch: Scratch,
    agenda: Agenda,
    heads: np.ndarray,
    labels: np.ndarray,
    totals: np.ndarray,
    parents: np.ndarray,
    moves: np.ndarray,
) -> int:
    """Parse sentences by beam search over derivations.

    Parameters
    ----------
    batch, model, scratch, agenda
        `Batch`, `Model`, `Scratch`, and `Agenda`, which has the width B of the beam.
    heads, labels
        Written: int64 (K, N), the heads and the relation numbers of all sentences in a row, best
        first. Each tree occurs once; if there are fewer than K, the other heads are -1.
    totals
        Written: float64 (K, sentences), the score of each tree; -inf if there are fewer than K.
    parents, moves
        Written: int64 (steps, B), as many steps as fit: for each step of the last sentence and each
        state in the beam, the previous state and the move (see `trace_back`).

    Returns
    -------
    steps : int
        The number of steps of the last sentence.

    Notes
    -----
    O(B (T + L + n)) for each step; states are copied whole.
    """
    return parse_kernel(
        *(*batch.nodes, *model.parts, *scratch, *agenda, heads, labels, totals, parents, moves)
    )


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
    best: np.ndarray,
    from_parents: np.ndarray,
    by_actions: np.ndarray,
    right: np.ndarray,
    heads: np.ndarray,
    labels: np.ndarray,
    totals: np.ndarray,
    parents: np.ndarray,
    moves: np.ndarray,
) -> int:
    """Do the work of `parse_with_beam`."""
    batch = Nodes(starts, sides, tags)
    templates = StateTemplates(state_sides, partial, odd, parts, small, pair)
    of_edges = RelationModel(RelationTemplates(roles, of_roles), relations, allowed_relations)
    model = Model(system, single, allowed, templates, bits, actions, of_edges)
    scratch = Scratch(words, atoms, rows, around, relation_rows, scores, sums)
    agenda = Agenda(best, from_parents, by_actions, right)
    beam = len(agenda.scores)
    made = np.empty(beam, dtype=np.int64)
    step = 0
    for b in range(len(batch.starts) - 1):
        start = batch.starts[b]
        n = batch.starts[b + 1] - start - 1
        states = np.empty((2, beam, layout.FIELDS, n + 4), dtype=np.int32)
        systems.begin(model.system, states[0, 0])
        agenda.scores[0] = 0
        reached = agenda.scores.copy()
        count = 1
        step = 0
        going = True
        while going:
            old = states[step & 1]
            for i in range(count):
                reached[i] = agenda.scores[i]
            width = count
            count = 0
            for i in range(width):
                mask = systems.legal(model.system, old[i], model.single) & model.allowed
                if mask == 0:
                    count = _enter(agenda, count, reached[i], i, _IDLE, False)
                elif only_one(mask):
                    count = _enter(agenda, count, reached[i], i, lowest(mask), False)
                else:
                    score_actions(batch, start, old[i], model, scratch)
                    for k in range(layout.ACTIONS):
                        if mask >> k & 1:
                            score = reached[i] + scratch.scores[k]
                            count = _enter(agenda, count, score, i, k, False)
            going = _grow(
                batch, start, model, scratch, agenda, count, old, states[1 - (step & 1)], made
            )
            if going:
                if step < len(moves):
                    for i in range(beam):
                        parents[step, i] = agenda.parents[i]
                        moves[step, i] = made[i]
                step += 1
        final = states[1 - (step & 1)]
        found = 0
        for i in range(count):
            known = found == len(heads)
            for j in range(found):
                same = True
                for d in range(n + 1):
                    same &= heads[j, start + d] == final[i, layout.HEAD, d]
                known |= same
            if not known:
                for d in range(n + 1):
                    heads[found, start + d] = final[i, layout.HEAD, d]
                    labels[found, start + d] = final[i, layout.LABEL, d]
                totals[found, b] = agenda.scores[i]
                found += 1
        for j in range(found, len(heads)):
            heads[j, start : start + n + 1] = -1
            totals[j, b] = -np.inf
    return step


@kernel
def trace_back(
    parents: np.ndarray, moves: np.ndarray, steps: int, place: int, out: np.ndarray
) -> None:
    """Trace a state in the beam back to the initial state.

    Parameters
    ----------
    parents, moves
        As written by `parse_with_beam`.
    steps
        The number of steps.
    place
        The position of the state in the last beam.
    out
        Written: int64 (steps,), the moves that lead to it (see `greedy.STRIDE`).
    """
    for step in range(steps - 1, -1, -1):
        out[step] = moves[step, place]
        place = parents[step, place]


@kernel
def _blame(
    batch: Nodes,
    start: int,
    n: int,
    model: Model,
    averages: Averages,
    scratch: Scratch,
    path: np.ndarray,
    first: int,
    step: float,
    clock: int,
) -> None:
    """Update the weights of the actions on a path by `step`, from the position `first` on."""
    state = np.empty((layout.FIELDS, n + 4), dtype=np.int32)
    systems.begin(model.system, state)
    for i in range(len(path)):
        action = path[i] % STRIDE
        if action == _IDLE:
            break
        if i >= first and not only_one(systems.legal(model.system, state, model.single)):
            score_actions(batch, start, state, model, scratch)
            move(model.actions, averages.actions, scratch.rows, action, step, clock)
        systems.advance(model.system, state, action, path[i] // STRIDE - 1)


def learn_with_beam(
    batch: Batch,
    order: np.ndarray,
    clock: int,
    model: Model,
    averages: Averages,
    scratch: Scratch,
    agenda: Agenda,
    heads: np.ndarray,
    labels: np.ndarray,
    dynamic: bool,
) -> None:
    """Train on some sentences: a perceptron update if the best derivation is not a right one.

    Parameters
    ----------
    batch, order, clock, model, averages, scratch, heads, labels
        As for `greedy.learn_greedily`.
    agenda
        `Agenda`, which has the width of the beam.
    dynamic
        Whether every derivation of the gold tree is right, or only that of the static oracle.
    """
    learn_kernel(
        *(
            *batch.nodes,
            order,
            clock,
            *model.parts,
            *averages,
            *scratch,
            *agenda,
            heads,
            labels,
            dynamic,
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
    best: np.ndarray,
    from_parents: np.ndarray,
    by_actions: np.ndarray,
    right: np.ndarray,
    heads: np.ndarray,
    labels: np.ndarray,
    dynamic: bool,
) -> None:
    """Do the work of `learn_with_beam`."""
    batch = Nodes(starts, sides, tags)
    templates = StateTemplates(state_sides, partial, odd, parts, small, pair)
    of_edges = RelationModel(RelationTemplates(roles, of_roles), relations, allowed_relations)
    model = Model(system, single, allowed, templates, bits, actions, of_edges)
    averages = Averages(of_actions, of_relations)
    scratch = Scratch(words, atoms, rows, around, relation_rows, scores, sums)
    agenda = Agenda(best, from_parents, by_actions, right)
    beam = len(agenda.scores)
    cost = np.empty(layout.ACTIONS, dtype=np.int32)
    for b in order:
        clock += 1
        start = batch.starts[b]
        stop = batch.starts[b + 1]
        n = stop - start - 1
        gold = heads[start:stop]
        guide = np.empty((3, n + 1), dtype=np.int32)
        systems.prepare(model.system, gold, guide)
        guided = np.empty((layout.FIELDS, n + 4), dtype=np.int32)
        most = _learn_relations(
            batch, start, model, averages, scratch, gold, labels[start:stop], guide, guided, clock
        )
        most = max(most, 3 * n)
        states = np.empty((2, beam, layout.FIELDS, n + 4), dtype=np.int32)
        parents = np.empty((most, beam), dtype=np.int64)
        moves = np.empty((most, beam), dtype=np.int64)
        systems.begin(model.system, guided)
        systems.begin(model.system, states[0, 0])
        agenda.scores[0] = 0
        agenda.right[0] = True
        reached = agenda.scores.copy()
        fine = agenda.right.copy()
        count = 1
        step = 0
        place = 0  # of the best right candidate in the agenda; -1: see parent, last
        parent = -1
        last = -1
        while step < most:
            old = states[step & 1]
            for i in range(count):
                reached[i] = agenda.scores[i]
                fine[i] = agenda.right[i]
            width = count
            count = 0
            following = _IDLE
            if not dynamic and systems.legal(model.system, guided, model.single) != 0:
                following = systems.oracle(model.system, guided, gold, guide)
                systems.advance(model.system, guided, following, -1)
            parent = -1
            highest = 0.0
            for i in range(width):
                mask = systems.legal(model.system, old[i], model.single)
                if mask == 0:
                    count = _enter(agenda, count, reached[i], i, _IDLE, fine[i])
                    if fine[i] and (parent < 0 or reached[i] > highest):
                        parent, last, highest = i, _IDLE, reached[i]
                    continue
                scored = not only_one(mask)
                if scored:
                    score_actions(batch, start, old[i], model, scratch)
                if fine[i] and dynamic:
                    systems.costs(model.system, old[i], gold, model.single, cost)
                for k in range(layout.ACTIONS):
                    if mask >> k & 1:
                        score = reached[i] + (scratch.scores[k] if scored else 0.0)
                        fits = fine[i] and (cost[k] == 0 if dynamic else k == following)
                        count = _enter(agenda, count, score, i, k, fits)
                        if fits and (parent < 0 or score > highest):
                            parent, last, highest = i, k, score
            place = -1
            for j in range(count - 1, -1, -1):
                if agenda.right[j]:
                    place = j
            if place < 0:
                break
            going = _grow(
                batch,
                start,
                model,
                scratch,
                agenda,
                count,
                old,
                states[1 - (step & 1)],
                moves[step],
            )
            if not going:
                break
            for i in range(beam):
                parents[step, i] = agenda.parents[i]
            step += 1
        if place == 0:
            continue
        wanted = np.full(step + 1, _IDLE)
        found = np.full(step + 1, _IDLE)
        if place < 0:
            trace_back(parents, moves, step, parent, wanted)
            trace_back(parents, moves, step, agenda.parents[0], found)
            wanted[step] = last
            found[step] = agenda.actions[0]
        else:
            trace_back(parents, moves, step, place, wanted)
            trace_back(parents, moves, step, 0, found)
        first = 0
        while wanted[first] == found[first]:
            first += 1
        _blame(batch, start, n, model, averages, scratch, wanted, first, 1.0, clock)
        _blame(batch, start, n, model, averages, scratch, found, first, -1.0, clock)


@kernel
def _learn_relations(
    batch: Nodes,
    start: int,
    model: Model,
    averages: Averages,
    scratch: Scratch,
    gold: np.ndarray,
    labels: np.ndarray,
    guide: np.ndarray,
    state: np.ndarray,
    clock: int,
) -> int:
    """Train relations along the static oracle's derivation of the gold tree; return its length."""
    systems.begin(model.system, state)
    steps = 0
    while systems.legal(model.system, state, model.single) != 0:
        action = systems.oracle(model.system, state, gold, guide)
        head, dependent = systems.arc(model.system, state, action)
        label = -1
        if dependent >= 0:
            label = labels[dependent]
            learn_relation(
                batch, start, state, model, averages, scratch, head, dependent, label, clock
            )
        systems.advance(model.system, state, action, label)
        steps += 1
    return steps
