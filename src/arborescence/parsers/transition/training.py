"""The perceptron over transitions: state by state, or over whole derivations with a beam.

Without a beam, weights change in each state where the best action is wrong, by a static or a
dynamic oracle (Goldberg and Nivre 2012). With a beam, weights change at most once a sentence: as
soon as no right derivation is left in the beam (early update: Collins and Roark 2004; Zhang and
Clark 2008), or at the end, if the best derivation is wrong.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import kernel, takes, uncounted_kernel
from arborescence.parsers.shared.relations import move
from arborescence.parsers.shared.run import OnlineRun, Weights
from arborescence.parsers.shared.training_trees import TrainingTrees
from arborescence.parsers.transition.beam import (
    AGENDA,
    Agenda,
    Trail,
    begin,
    fill,
    grow,
    trace_back,
)
from arborescence.parsers.transition.features import rows_for
from arborescence.parsers.transition.scoring import (
    FINISHED,
    IDLE,
    LEARNED_SCORER,
    STRIDE,
    Model,
    Scorer,
    best_action,
    choose_relation,
    legal_actions,
    only_one,
    score_actions,
)
from arborescence.transitions import state as layout
from arborescence.transitions import systems
from arborescence.transitions.state import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from arborescence.parsers.shared.run import Task
    from arborescence.parsers.transition.settings import Settings


class Learner(NamedTuple):
    """The state of training: the sentences, their gold trees, and the weights that change."""

    #: The sentences and the model, whose float32 weights change.
    scorer: Scorer
    #: For averaged action weights: the sums of the changes, each change multiplied by its clock.
    of_actions: NDArray[np.float32]
    #: The same sums for the relation weights.
    of_relations: NDArray[np.float32]
    #: (N,): the gold heads of all sentences in a row.
    heads: NDArray[np.int64]
    #: (N,): the gold relations of all sentences in a row.
    labels: NDArray[np.int64]
    #: Whether every transition of cost 0 is right (Goldberg and Nivre 2012), or only the transition
    #: of the static oracle.
    dynamic: bool


_LEARNER: Final = (
    f"parsers.transition.training.Learner({LEARNED_SCORER}, out float32[:, ::1], "
    "out float32[:, ::1], int64[::1], int64[::1], bool)"
)


class Lesson(NamedTuple):
    """A sentence to learn from."""

    #: The first node of the sentence in the batch.
    start: int
    #: The number of sentences learned so far, with this sentence.
    clock: int
    #: (n + 1,): the gold heads.
    heads: NDArray[np.int64]
    #: (n + 1,): the gold relations.
    labels: NDArray[np.int64]
    #: (3, n + 1): the data of the static oracle: see `systems.prepare`.
    guide: NDArray[np.int32]


@kernel
def _lesson(learner: Learner, b: int, clock: int) -> Lesson:
    """Prepare sentence b."""
    starts = learner.scorer.batch.starts
    start, stop = starts[b], starts[b + 1]
    heads = learner.heads[start:stop]
    guide = np.empty((3, len(heads)), dtype=np.int32)
    systems.prepare(learner.scorer.model.system, heads, guide)
    return Lesson(start, clock, heads, learner.labels[start:stop], guide)


@uncounted_kernel
def _right_actions(
    model: Model, lesson: Lesson, state: np.ndarray, dynamic: bool, cost: np.ndarray
) -> int:
    """Return a mask of right actions.

    With a static oracle, the state must be on the oracle's derivation. `cost` is scratch memory,
    (4,).
    """
    mask = legal_actions(model, state)
    if only_one(mask):
        return mask
    if not dynamic:
        return 1 << systems.oracle(model.system, state, lesson.heads, lesson.guide)
    systems.costs(model.system, state, lesson.heads, model.single, cost)
    right = 0
    for k in range(layout.ACTIONS):
        if cost[k] == 0:
            right |= 1 << k
    return right


@uncounted_kernel
def _step(learner: Learner, lesson: Lesson, state: np.ndarray, action: int, gold: bool) -> None:
    """Take an action; if its edge is in the gold tree, learn the gold relation.

    The edge gets the gold relation if `gold`, else the model's relation.
    """
    model = learner.scorer.model
    label = choose_relation(learner.scorer, lesson.start, state, action)
    head, dependent = systems.arc(model.system, state, action)
    if dependent >= 0 and lesson.heads[dependent] == head:
        right = lesson.labels[dependent]
        if label != right:
            rows, weights = learner.scorer.scratch.relation_rows, model.relations.weights
            move(weights, learner.of_relations, rows, right, 1.0, lesson.clock)
            move(weights, learner.of_relations, rows, label, -1.0, lesson.clock)
        if gold:
            label = right
    systems.advance(model.system, state, action, label)


@uncounted_kernel
def _change(learner: Learner, lesson: Lesson, action: int, step: float) -> None:
    """Change the weights of an action in the state that was scored last."""
    rows, weights = learner.scorer.scratch.rows, learner.scorer.model.actions
    move(weights, learner.of_actions, rows, action, step, lesson.clock)


@kernel
@takes(f"{_LEARNER}, int64[::1], int64, float64, float64[::1]")
def learn_greedily(
    learner: Learner, order: np.ndarray, clock: int, exploration: float, coins: np.ndarray
) -> None:
    """Train on some sentences: a perceptron update in each state where the best action is wrong.

    `order`, int64, has the numbers of the sentences. `clock` is the number of sentences learned
    before this call. `exploration` is the probability of taking the predicted action and
    relation, even if they are wrong; it is more than 0 only with the dynamic oracle. Then `coins`
    has two random numbers in [0, 1) for each word of the sentences in `order`.
    """
    cost = np.empty(layout.ACTIONS, dtype=np.int32)
    tossed = 0
    for b in order:
        clock += 1
        lesson = _lesson(learner, b, clock)
        state = np.empty((layout.FIELDS, len(lesson.heads) + 3), dtype=np.int32)
        tossed += _learn_states(learner, lesson, state, exploration, coins[tossed:], cost)


@uncounted_kernel
def _learn_states(
    learner: Learner,
    lesson: Lesson,
    state: np.ndarray,
    exploration: float,
    coins: np.ndarray,
    cost: np.ndarray,
) -> int:
    """Train on the states of a sentence; return their number."""
    scorer, model = learner.scorer, learner.scorer.model
    scores = scorer.scratch.scores
    systems.begin(model.system, state)
    steps = 0
    mask = score_actions(scorer, lesson.start, state)
    while mask != FINISHED:
        action = best_action(scores, mask)
        explores = exploration > 0 and coins[steps] < exploration
        if not only_one(mask):
            right = best_action(scores, _right_actions(model, lesson, state, learner.dynamic, cost))
            if action != right:
                _change(learner, lesson, right, 1.0)
                _change(learner, lesson, action, -1.0)
            if not explores:
                action = right
        _step(learner, lesson, state, action, not explores)
        steps += 1
        mask = score_actions(scorer, lesson.start, state)
    return steps


@uncounted_kernel
def _learn_relations(learner: Learner, lesson: Lesson, state: np.ndarray) -> int:
    """Train relations along the static oracle's derivation; return the number of actions."""
    model = learner.scorer.model
    systems.begin(model.system, state)
    steps = 0
    while legal_actions(model, state) != FINISHED:
        action = systems.oracle(model.system, state, lesson.heads, lesson.guide)
        _step(learner, lesson, state, action, True)
        steps += 1
    return steps


@uncounted_kernel
def _best_right(
    learner: Learner,
    lesson: Lesson,
    states: np.ndarray,
    right: np.ndarray,
    count: int,
    agenda: Agenda,
) -> tuple[int, int]:
    """Return the best right candidate: its state and action. `right` has a mask for each state."""
    parent, best, highest = -1, -1, 0.0
    for i in range(count):
        if right[i] != 0:
            score_actions(learner.scorer, lesson.start, states[i])
            for k in range(IDLE + 1):
                score = agenda.reached[i] + learner.scorer.scratch.scores[k]
                if right[i] >> k & 1 and (parent < 0 or score > highest):
                    parent, best, highest = i, k, score
    return parent, best


@uncounted_kernel
def _change_path(
    learner: Learner, lesson: Lesson, state: np.ndarray, path: np.ndarray, first: int, step: float
) -> None:
    """Change the weights of the actions on a path by `step`, from the position `first` on."""
    system = learner.scorer.model.system
    systems.begin(system, state)
    for i in range(len(path)):
        action = path[i] % STRIDE
        if action == IDLE:
            break
        if i >= first and not only_one(score_actions(learner.scorer, lesson.start, state)):
            _change(learner, lesson, action, step)
        systems.advance(system, state, action, path[i] // STRIDE - 1)


@kernel
@takes(f"{_LEARNER}, int64[::1], int64, {AGENDA}")
def learn_with_beam(learner: Learner, order: np.ndarray, clock: int, agenda: Agenda) -> None:
    """Train on some sentences: a perceptron update if the best derivation is not right.

    `learner`, `order` and `clock` are as for `learn_greedily`. The width of the beam, two or more,
    is the width of `agenda`.
    """
    scorer, model, dynamic = learner.scorer, learner.scorer.model, learner.dynamic
    beam = len(agenda.scores)
    cost = np.empty(layout.ACTIONS, dtype=np.int32)
    fine = np.empty(beam, dtype=np.bool_)  # whether a state can still lead to the gold tree
    right = np.empty(beam, dtype=np.int64)  # masks of right actions; 0 if a state is not `fine`
    for b in order:
        clock += 1
        lesson = _lesson(learner, b, clock)
        start, n = lesson.start, len(lesson.heads) - 1
        states = begin(scorer, n, agenda)
        old, new = states[0], states[1]
        most = max(_learn_relations(learner, lesson, new[0]), 3 * n)
        trail = Trail(
            np.empty((most, beam), dtype=np.int64), np.empty((most, beam), dtype=np.int64)
        )
        fine[0] = True
        count = 1
        step = 0
        place = 0  # the place of the best right candidate in the agenda; -1 if none
        while step < most:
            for i in range(count):
                right[i] = 0
                if fine[i]:
                    right[i] = _right_actions(model, lesson, old[i], dynamic, cost)
            width, count = count, fill(scorer, start, old, count, agenda)
            place = -1
            for j in range(count - 1, -1, -1):
                fine[j] = right[agenda.parents[j]] >> agenda.actions[j] & 1 != 0
                if fine[j]:
                    place = j
            if place < 0 or not grow(scorer, start, old, new, count, agenda, trail, step):
                break
            step += 1
            old, new = new, old
        if place == 0:
            continue
        right_path = np.full(step + 1, IDLE)
        best_path = np.full(step + 1, IDLE)
        if place < 0:
            parent, right_path[step] = _best_right(learner, lesson, old, right, width, agenda)
            trace_back(trail, step, parent, right_path)
            trace_back(trail, step, agenda.parents[0], best_path)
            best_path[step] = agenda.actions[0]
        else:
            trace_back(trail, step, place, right_path)
            trace_back(trail, step, 0, best_path)
        first = 0
        while right_path[first] == best_path[first]:
            first += 1
        _change_path(learner, lesson, new[0], right_path, first, 1.0)
        _change_path(learner, lesson, new[0], best_path, first, -1.0)


_AT_ONCE: Final = 100  # sentences for each call of a kernel: fewer calls take less time
# Goldberg and Nivre (2012): probability 0.9, from the second epoch on.
_EXPLORATION: Final = 0.9


class Trainer(OnlineRun):
    """A training run of a transition-based parser."""

    kind = "transition"
    rounded_on_dev = True
    _settings: Settings

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        settings = self._settings
        self._trees = TrainingTrees.of(task.treebank, settings.learned, task.start)
        self._heads = np.concatenate(self._trees.heads)
        self._relations = np.concatenate(self._trees.relations)
        self._add_weights("actions", (rows_for(settings.bits), ACTIONS))
        self._add_weights("relations", (1 << settings.bits - 5, len(self._trees.labels)))
        # The parser shares its weight arrays with the trainer, and so has the current weights.
        weights = {name: Weights(table) for name, table in self._weights.items()}
        self._parser = self._make(**self._fixed(), weights=weights)
        _, self._batch = self._parser._prepare(list(task.treebank))

    def _fixed(self) -> dict[str, Any]:
        return super()._fixed() | {"projective": self._settings.projective}

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        settings = self._settings
        scorer = self._parser._scorer(self._batch, settings.root, None)
        dynamic = settings.oracle == "dynamic"
        sums = self._sums["actions"], self._sums["relations"]
        learner = Learner(scorer, *sums, self._heads, self._relations, dynamic)
        agenda = Agenda.of(settings.beam)
        exploration = _EXPLORATION if dynamic and number > 1 else 0.0
        generator = np.random.default_rng((settings.rng, number, 1))
        shuffled = self._shuffled(number, tell)
        while numbers := list(islice(shuffled, _AT_ONCE)):
            order = np.array(numbers, dtype=np.int64)
            clock = self._clock - len(order)
            if settings.beam > 1:
                learn_with_beam(learner, order, clock, agenda)
            else:
                words = int((self._batch.starts[order + 1] - self._batch.starts[order] - 1).sum())
                coins = generator.random(2 * words if exploration else 0)
                learn_greedily(learner, order, clock, exploration, coins)
