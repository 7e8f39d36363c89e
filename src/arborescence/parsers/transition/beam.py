"""Beam search over transitions (Zhang and Clark 2008); greedy parsing is a beam of one.

A derivation's score is the sum of its actions' scores. Relations are chosen when an edge is added:
their scores do not decide which states stay in the beam, but later features use the relations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes, uncounted_kernel
from arborescence.parsers.transition.scoring import IDLE, SCORER, Scorer, score_actions, take
from arborescence.transitions import state as layout
from arborescence.transitions import systems

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Agenda(NamedTuple):
    """The candidates for the next beam, best first; ties in order of arrival."""

    #: (B,): the scores of the candidates.
    scores: NDArray[np.float64]
    #: (B,): the place of each candidate's state in the beam.
    parents: NDArray[np.int64]
    #: (B,): the action of each candidate.
    actions: NDArray[np.int64]
    #: (B,): the scores of the states in the beam.
    reached: NDArray[np.float64]

    @classmethod
    def of(cls, beam: int) -> Self:
        """Allocate an agenda for a beam of this width."""
        parents, actions = np.zeros((2, beam), dtype=np.int64)
        return cls(np.zeros(beam), parents, actions, np.zeros(beam))


class Trail(NamedTuple):
    """The steps that led to the states of the beam."""

    #: (steps, B): the place of the previous state in the beam.
    parents: NDArray[np.int64]
    #: (steps, B): the moves, see `STRIDE`.
    moves: NDArray[np.int64]

    @classmethod
    def of(cls, steps: int, beam: int) -> Self:
        """Allocate a trail of `steps` steps."""
        return cls(*np.empty((2, steps, beam), dtype=np.int64))


# Records in signatures of kernels.
AGENDA: Final = (
    "parsers.transition.beam.Agenda(out float64[::1], out int64[::1], out int64[::1], "
    "out float64[::1])"
)
_TRAIL: Final = "parsers.transition.beam.Trail(int64[:, ::1], int64[:, ::1])"


@inlined_kernel
def _enter(agenda: Agenda, count: int, score: float, parent: int, action: int) -> int:
    """Insert a candidate by score; return the new number of candidates, at most the beam width."""
    room = len(agenda.scores)
    if count == room and not score > agenda.scores[room - 1]:
        return count
    place = min(count, room - 1)
    while place > 0 and score > agenda.scores[place - 1]:
        agenda.scores[place] = agenda.scores[place - 1]
        agenda.parents[place] = agenda.parents[place - 1]
        agenda.actions[place] = agenda.actions[place - 1]
        place -= 1
    agenda.scores[place] = score
    agenda.parents[place] = parent
    agenda.actions[place] = action
    return min(count + 1, room)


@kernel
def begin(scorer: Scorer, n: int, agenda: Agenda) -> np.ndarray:
    """Make a sentence's beam with the initial state; return space for two beams.

    The space is int32 (2, B, FIELDS, n + 4). A beam of one, (1, 1, FIELDS, n + 4), makes its steps
    in place, so that greedy parsing is linear in n.
    """
    beam = len(agenda.scores)
    states = np.empty((min(beam, 2), beam, layout.FIELDS, n + 4), dtype=np.int32)
    systems.begin(scorer.model.system, states[0, 0])
    agenda.scores[0] = 0
    return states


@uncounted_kernel
def fill(scorer: Scorer, start: int, states: np.ndarray, count: int, agenda: Agenda) -> int:
    """Find the best candidates to follow the first `count` states; return their number."""
    candidates = 0
    for i in range(count):
        agenda.reached[i] = agenda.scores[i]
    for i in range(count):
        mask = score_actions(scorer, start, states[i])
        for k in range(IDLE + 1):
            if mask >> k & 1:
                score = agenda.reached[i] + scorer.scratch.scores[k]
                candidates = _enter(agenda, candidates, score, i, k)
    return candidates


@uncounted_kernel
def grow(
    scorer: Scorer,
    start: int,
    old: np.ndarray,
    new: np.ndarray,
    count: int,
    agenda: Agenda,
    trail: Trail,
    step: int,
) -> bool:
    """Make the next beam's states and extend the trail; return whether any state has changed."""
    going = False
    for j in range(count):
        state, parent, action = new[j], agenda.parents[j], agenda.actions[j]
        if len(new) > 1:
            for row in range(state.shape[0]):
                for column in range(state.shape[1]):
                    state[row, column] = old[parent, row, column]
        move = IDLE
        if action != IDLE:
            going = True
            move = take(scorer, start, state, action)
        if step < len(trail.moves):
            trail.parents[step, j] = parent
            trail.moves[step, j] = move
    return going


@kernel
@takes(f"{_TRAIL}, int64, int64, out int64[::1]")
def trace_back(trail: Trail, steps: int, place: int, out: np.ndarray) -> None:
    """Trace a state in the last beam back to the initial state.

    `place` is the place of the state in the beam. `out`, int64 (steps,) or longer, is written: the
    moves that lead to the state.
    """
    for step in range(steps - 1, -1, -1):
        out[step] = trail.moves[step, place]
        place = trail.parents[step, place]


@kernel
@takes(
    f"{SCORER}, {AGENDA}, out int64[:, ::1], out int64[:, ::1], out float64[:, ::1], "
    + _TRAIL.replace("int64", "out int64")
)
def parse(
    # scorer, agenda: `Scorer`, and `Agenda`, which has the width B of the beam
    scorer: Scorer,
    agenda: Agenda,
    # heads, labels: written: int64 (K, N), the heads and the relation numbers of all sentences in a
    # row, best first. Each tree occurs once; if there are fewer than K, the other heads are -1.
    heads: np.ndarray,
    labels: np.ndarray,
    # written: float64 (K, sentences), the score of each tree; -inf if there are fewer than K
    totals: np.ndarray,
    trail: Trail,  # written: the steps of the last sentence, as many as fit
) -> int:
    """Parse sentences by beam search; return the number of steps of the last sentence.

    O(B (T + L)) a step, and O(B n) to copy states if B > 1. A sentence of n words takes 2n steps,
    and two more for each SWAP.
    """
    step = 0
    starts = scorer.batch.starts
    for b in range(len(starts) - 1):
        start = starts[b]
        n = starts[b + 1] - start - 1
        states = begin(scorer, n, agenda)
        old, new = states[0], states[-1]
        count = fill(scorer, start, old, 1, agenda)
        step = 0
        while grow(scorer, start, old, new, count, agenda, trail, step):
            step += 1
            old, new = new, old
            count = fill(scorer, start, old, count, agenda)
        trees = 0
        for i in range(count):
            known = trees == len(heads)
            for j in range(trees):
                same = True
                for d in range(n + 1):
                    same &= heads[j, start + d] == new[i, layout.HEAD, d]
                known |= same
            if not known:
                for d in range(n + 1):
                    heads[trees, start + d] = new[i, layout.HEAD, d]
                    labels[trees, start + d] = new[i, layout.LABEL, d]
                totals[trees, b] = agenda.scores[i]
                trees += 1
        for j in range(trees, len(heads)):
            heads[j, start : start + n + 1] = -1
            totals[j, b] = -np.inf
    return step
