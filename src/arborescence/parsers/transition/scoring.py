"""The scores of a state's actions, and the step that an action makes.

Four actions are scored, and the relations of a new edge. If only one action is legal, it is neither
scored nor learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, uncounted_kernel
from arborescence.parsers.shared.features import BATCH
from arborescence.parsers.shared.relations import (
    RELATIONS,
    RelationModel,
    best_relation,
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

#: The action of a final state, which does not change the state; and the mask of this action alone.
IDLE: Final = layout.ACTIONS
FINISHED: Final = 1 << IDLE
#: A move is an action and a relation as one number: action + 8 (relation + 1).
STRIDE: Final = 8


class Masks(NamedTuple):
    """The relations that rules allow on new edges; N is the number of nodes, 0 without rules.

    A rule may say that a word has at most one dependent with a relation of some set: each of these
    rules has a bit.
    """

    #: (2, N, L): the relations that a word may have if its head is on the left, and on the right.
    allowed: NDArray[np.bool_]
    #: (L,): the bits of the rules whose sets contain each relation.
    once: NDArray[np.int64]
    #: (N,): the bits of the rules that hold for the dependents of each word.
    heads: NDArray[np.int64]

    @classmethod
    def of(cls, labels: int) -> Self:
        """Return masks that forbid nothing."""
        nothing = np.zeros((2, 0, labels), dtype=np.bool_)
        return cls(nothing, *np.zeros((2, labels), dtype=np.int64))


class Model(NamedTuple):
    """The model for choosing transitions."""

    #: The number of the transition system.
    system: int
    #: Whether trees have exactly one root edge.
    single: bool
    #: A bit mask of the actions that may be taken if they are legal.
    allowed: int
    #: The templates of the features.
    templates: StateTemplates
    #: The binary logarithm of the number of rows: see `list_features`.
    bits: int
    #: (2^bits + 2^(bits - 3), 4): the weights of actions: float32, or integers.
    actions: NDArray[Any]
    #: The model of relation scores.
    relations: RelationModel
    #: The relations that rules allow.
    masks: Masks


class Scratch(NamedTuple):
    """Scratch memory for the features of one state, and for sums of their weights."""

    #: (18,): the words of the state, see `features.WORDS`.
    words: NDArray[np.int64]
    #: (A + B + 1,): the atoms of the templates; the last entry is 0.
    atoms: NDArray[np.uint64]
    #: (T,): the rows of the state's features.
    rows: NDArray[np.int64]
    #: (7,): the words in the roles of `relations`.
    around: NDArray[np.int64]
    #: The rows of the features of a relation.
    relation_rows: NDArray[np.int64]
    #: (5,): the scores of the actions.
    scores: NDArray[Any]
    #: (L,): the scores of the relations.
    sums: NDArray[Any]

    @classmethod
    def of(cls, model: Model) -> Self:
        """Allocate the scratch memory that a model needs."""
        sums = np.float32 if model.actions.dtype == np.float32 else np.int32
        return cls(
            np.empty(len(WORDS), dtype=np.int64),
            np.zeros(len(model.templates.odd) + 1, dtype=np.uint64),
            np.empty(len(model.templates.parts), dtype=np.int64),
            np.empty(7, dtype=np.int64),
            np.empty(len(model.relations.templates.roles), dtype=np.int64),
            np.zeros(IDLE + 1, dtype=sums),
            np.empty(model.relations.weights.shape[1], dtype=sums),
        )


class Scorer(NamedTuple):
    """A batch of sentences with the model that scores the states of their parses."""

    #: The sentences.
    batch: Batch
    #: The model.
    model: Model
    #: The scratch memory.
    scratch: Scratch


#: `Scorer` in signatures: with the weights of a parser, or with weights that training changes.
SCORER: Final = (
    f"parsers.transition.scoring.Scorer({BATCH}, parsers.transition.scoring.Model("
    "int64, bool, int64, parsers.transition.features.StateTemplates("
    "int64[:, ::1], int64[:, ::1], uint64[::1], int64[:, ::1], int64, int64[::1]), "
    f"int64, weight[:, ::1], {RELATIONS}, parsers.transition.scoring.Masks("
    "bool[:, :, ::1], int64[::1], int64[::1])), parsers.transition.scoring.Scratch("
    "out int64[::1], out uint64[::1], out int64[::1], out int64[::1], out int64[::1], "
    "out sum[::1], out sum[::1]))"
)
LEARNED_SCORER: Final = SCORER.replace("weight[", "out float32[").replace("sum[", "float32[")


@inlined_kernel
def only_one(mask: int) -> bool:
    """Return whether at most one bit is set."""
    return mask & (mask - 1) == 0


@inlined_kernel
def best_action(scores: np.ndarray, mask: int) -> int:
    """Return the best action in a mask; ties go to the first."""
    best = -1
    for k in range(layout.ACTIONS):
        if mask >> k & 1 and (best < 0 or scores[k] > scores[best]):
            best = k
    return best


@inlined_kernel
def legal_actions(model: Model, state: np.ndarray) -> int:
    """Return a mask of the actions that can be taken; in a final state, only of `IDLE`."""
    mask = systems.legal(model.system, state, model.single) & model.allowed
    return mask if mask != 0 else FINISHED


@uncounted_kernel
def find_taken(masks: Masks, start: int, state: np.ndarray, head: int) -> int:
    """Return the bits of the rules that allow a head no more dependents of their sets. O(n)."""
    taken = 0
    for d in range(1, state.shape[1] - 3):
        if state[layout.HEAD, d] == head and state[layout.LABEL, d] >= 0:
            taken |= masks.once[state[layout.LABEL, d]]
    return int(taken & masks.heads[start + head])


@inlined_kernel
def may_be(model: Model, start: int, head: int, dependent: int, label: int, taken: int) -> bool:
    """Return whether a new edge may have a relation."""
    side = 0 if head < dependent else 1
    return bool(
        model.relations.allowed[0 if head == 0 else 1, label]
        and model.masks.allowed[side, start + dependent, label]
        and model.masks.once[label] & taken == 0
    )


@uncounted_kernel
def masked(model: Model, start: int, state: np.ndarray, mask: int) -> int:
    """Return a mask without actions whose edges may have no relation, unless these are all."""
    remaining = mask
    for action in range(layout.ACTIONS):
        if mask >> action & 1:
            head, dependent = systems.arc(model.system, state, action)
            if dependent >= 0:
                taken = find_taken(model.masks, start, state, head)
                possible = False
                for label in range(len(model.masks.once)):
                    possible |= may_be(model, start, head, dependent, label, taken)
                if not possible:
                    remaining &= ~(1 << action)
    return remaining if remaining != 0 else mask


@uncounted_kernel
def score_actions(scorer: Scorer, start: int, state: np.ndarray) -> int:
    """Write the scores of a state's legal actions to ``scratch.scores``; return their mask. O(T).

    The score of a single legal action is 0. `start` is the first node of the sentence.
    """
    model, scratch = scorer.model, scorer.scratch
    rows, scores, weights = scratch.rows, scratch.scores, model.actions
    mask = legal_actions(model, state)
    if model.masks.allowed.shape[1] > 0 and mask != FINISHED:
        mask = masked(model, start, state, mask)
    if only_one(mask):
        scores[:] = 0
        return mask
    sides, words, atoms = scorer.batch.sides, scratch.words, scratch.atoms
    list_features(sides, start, state, model.templates, model.bits, words, atoms, rows)
    zero = scores.dtype.type(0)
    first, second, third, fourth = zero, zero, zero, zero
    for t in range(len(rows)):
        row = rows[t]
        first += weights[row, 0]
        second += weights[row, 1]
        third += weights[row, 2]
        fourth += weights[row, 3]
    scores[0], scores[1], scores[2], scores[3] = first, second, third, fourth
    return mask


@uncounted_kernel
def choose_relation(scorer: Scorer, start: int, state: np.ndarray, action: int) -> int:
    """Return the best relation of the edge that an action adds; -1 if it adds no edge. O(L)."""
    model, scratch = scorer.model, scorer.scratch
    head, dependent = systems.arc(model.system, state, action)
    if dependent < 0:
        return layout.NONE
    find_around(state, head, dependent, scratch.around)
    around, rows, sums = scratch.around, scratch.relation_rows, scratch.sums
    score_relations(scorer.batch, start, around, model.relations, rows, sums)
    best = -1
    if model.masks.allowed.shape[1] > 0:
        taken = find_taken(model.masks, start, state, head)
        for label in range(len(sums)):
            if (best < 0 or sums[label] > sums[best]) and may_be(
                model, start, head, dependent, label, taken
            ):
                best = label
    return best if best >= 0 else best_relation(model.relations, head, sums)


@uncounted_kernel
def take(scorer: Scorer, start: int, state: np.ndarray, action: int) -> int:
    """Take an action, and give its edge the best relation; return the move (see `STRIDE`)."""
    label = choose_relation(scorer, start, state, action)
    systems.advance(scorer.model.system, state, action, label)
    return action + STRIDE * (label + 1)
