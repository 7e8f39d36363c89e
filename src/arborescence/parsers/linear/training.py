"""Training of linear parsers: MIRA, perceptron or likelihood, online with averaged weights."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from arborescence.core.tree import is_projective
from arborescence.distribution.arrays import TreeDistribution
from arborescence.inference.decode import decode
from arborescence.parsers.linear import joint
from arborescence.parsers.linear.edges import (
    WIDE,
    EdgeModel,
    WeightLayout,
    move_edges,
    score_edges,
    update_edges,
)
from arborescence.parsers.linear.graphs import compiled
from arborescence.parsers.linear.pruning import learn, sides_for
from arborescence.parsers.shared.features import Batch, tags_of
from arborescence.parsers.shared.graph_parser import FITTED
from arborescence.parsers.shared.relations import RelationModel, update_relations
from arborescence.parsers.shared.run import OnlineRun
from arborescence.parsers.shared.training_trees import TrainingTrees, agreeing
from arborescence.projective.pseudo import MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.linear.pruning import EdgeFilter
    from arborescence.parsers.linear.settings import Settings
    from arborescence.parsers.shared.options import Progress, Projective
    from arborescence.parsers.shared.run import Task
    from arborescence.treebank import Sentence

#: With a larger share of non-projective trees, the parser is non-projective: docs/training.md.
MOST_CROSSING: Final = 0.3
_HELD_OUT: Final = 10  # every tenth sentence sets the pruning threshold if there is no dev set
_NO_GOLD = np.empty(0, dtype=np.int64)


class LearnedEdges(NamedTuple):
    """Edge weights that are learned, and their sums for averaging."""

    #: The model of edge scores; its weights change.
    model: EdgeModel
    #: The sums of the changes of the weights, as in `edges.update_edges`.
    averages: NDArray[np.float32]


class Gold(NamedTuple):
    """A training sentence."""

    #: A batch of this sentence only.
    batch: Batch
    #: (n + 1,): the gold heads.
    heads: NDArray[np.int64]
    #: (n + 1,): the numbers of the gold relations.
    relations: NDArray[np.int64]


class EdgeRun(OnlineRun):
    """A run that learns the weights of edges (`_learn_edges`), and of relations given the tree."""

    #: The kinds of templates besides those of edges and relations, as in the parser.
    more_templates: ClassVar[Mapping[str, Any]] = {}
    _settings: Settings

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        treebank, settings = task.treebank, self._settings
        self._projective = _trees_for(treebank, settings)
        self._how: Any = {"root": settings.root, "projective": bool(self._projective)}
        self._trees = TrainingTrees.of(
            treebank, self._projective, task.start, in_part=settings.in_part
        )
        templates = compiled(settings.columns, settings.features, self.more_templates)
        self._sides, self._templates = templates
        self._tags = tags_of(treebank) if task.start is None else task.start.tags
        self._batch = Batch.of(treebank, self._sides, self._tags)
        self._layout = WeightLayout(1 << settings.bits - 3, 1 << settings.bits, len(self._tags) + 2)
        self._edges: list[LearnedEdges] = []
        self._relations = self._add_relations("relations")
        self._pruning: EdgeFilter | None = task.start and task.start.pruning
        longest = int(np.diff(self._batch.starts).max())
        self._scratch = np.empty((2, longest, WIDE), dtype=np.float32)

    def _add_edges(self, name: str) -> None:
        weights = self._add_weights(name, self._layout.size)
        model = EdgeModel(self._templates[name], self._layout, weights)
        self._edges.append(LearnedEdges(model, self._sums[name]))

    def _add_relations(self, name: str) -> RelationModel:
        weights = self._add_weights(name, (1 << self._settings.bits - 5, len(self._trees.labels)))
        return RelationModel(self._templates[name], weights, self._trees.allowed)

    def _fixed(self) -> dict[str, Any]:
        return super()._fixed() | {
            "tags": self._tags,
            "layout": self._layout,
            "projective": self._projective,
            "pruning": self._pruning,
        }

    def _prepare(self, progress: Progress) -> None:
        """Learn the pruning filter; set its threshold on dev, or on every tenth sentence."""
        if not self._settings.prune or self._pruning is not None:
            return
        training, heads = self._batch, self._trees.heads
        held_out, gold = self._dev, [sentence.tree for sentence in self._dev]
        if not held_out:
            rest = [b for b in range(len(heads)) if b % _HELD_OUT] or [0]
            held_out, gold = self._treebank[::_HELD_OUT], heads[::_HELD_OUT]
            training = Batch.of([self._treebank[b] for b in rest], self._sides, self._tags)
            heads = [heads[b] for b in rest]
        progress("pruning", 0, len(heads))
        self._pruning = learn(
            (training, np.concatenate(heads)),
            (Batch.of(held_out, self._sides, self._tags), np.concatenate(gold)),
            sides_for(self._settings.columns),
            self._layout.tags,
            seed=self._settings.rng,
        )
        progress("pruning", len(heads), len(heads))

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        place = np.zeros(1, dtype=np.int64)
        averages = self._sums["relations"]
        for b in self._shuffled(number, tell):
            single = self._batch._replace(starts=self._batch.starts[b : b + 2])
            gold = Gold(single, self._trees.heads[b], self._trees.relations[b])
            whole = gold
            for edges in self._edges:
                scores = np.zeros((len(gold.heads), len(gold.heads)), dtype=np.float32)
                score_edges(single, edges.model, self._scratch, scores.reshape(-1), place)
                if (gold.heads[1:] < 0).any():  # for features of relations
                    tree = decode(agreeing(scores, gold.heads), **self._how)
                    whole = gold._replace(heads=tree)
                self._learn_edges(gold, edges, scores)
            step = self._settings.largest_step
            update_relations(single, self._relations, averages, *whole[1:], step, self._clock)

    @abstractmethod
    def _learn_edges(self, gold: Gold, edges: LearnedEdges, scores: NDArray[np.float32]) -> None:
        """Learn from the edge scores (n + 1, n + 1) of a sentence; the scores may be changed."""

    def _update_edges(
        self, gold: Gold, edges: LearnedEdges, tree: NDArray[np.int64], loss: float, other: float
    ) -> float:
        """Update edge weights as `update_edges` does; return its step."""
        step, clock = self._settings.largest_step, self._clock
        return update_edges(gold.batch, *edges, gold.heads, tree, loss, other, step, clock)


class Trainer(EdgeRun):
    """A training run of a linear parser."""

    kind = "linear"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        settings = self._settings
        self._add_edges("edges")
        if settings.joint:
            self._joint = self._add_relations("joint")
        if settings.learns_enhancement:
            self._add_edges("directed")
        self._ascent: Ascent | None = None

    def parts(self) -> dict[str, Any]:
        """Return the arguments of the parser's constructor, after the last epoch."""
        parts = super().parts()
        if self._dev and self._settings.projective == "auto" and self._projective == "pseudo":
            # Both parsers learn the same trees and edge weights; only their relations differ.
            plain = without_marks(parts)
            lowered, lifted = (self._compared(each)["las"] for each in (parts, plain))
            parts = parts if lowered > lifted else plain
        if self._dev and self._settings.inference == "exact":
            parts |= self._make(**parts).fitted_temperatures(self._dev, self._settings.root)
            parts["info"][FITTED] = len(self._dev)
        return parts

    def _epoch(self, number: int, tell: Callable[[int], None]) -> None:
        if not self._settings.by_likelihood:
            super()._epoch(number, tell)
            return
        [edges] = self._edges
        clock, rate = (number - 1) * self._sentences, self._settings.rate
        self._ascent = Ascent(
            *edges, clock, rate, self._sentences, self._expect, self._settings.loss == "tree"
        )
        super()._epoch(number, tell)
        self._ascent.finish(self._clock)

    def _expect(self, scores: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the edge probabilities of the log-linear model of trees, or of single heads."""
        if self._settings.loss == "head":
            return head_probabilities(scores)
        probabilities: NDArray[np.float64] = TreeDistribution(scores, **self._how).marginals()
        return probabilities

    def _learn_edges(self, gold: Gold, edges: LearnedEdges, scores: NDArray[np.float32]) -> None:
        """Take a gradient step; or decode, and update the weights if the best trees are wrong."""
        if self._ascent:
            self._ascent.step(gold.batch, scores, gold.heads)
            return
        words = np.arange(1, len(gold.heads))
        known = gold.heads >= 0
        known[0] = True
        if not known.all():  # learn from the best tree that agrees with the known heads
            gold = gold._replace(heads=decode(agreeing(scores, gold.heads), **self._how))
        heads = gold.heads
        of_gold = scores[heads[1:], words]
        best = self._with_relations(gold, scores) if self._settings.joint else None
        if self._settings.loss == "mira":  # each wrong head (undirected: each wrong pair) costs 1
            scores += known
            scores[heads[1:], words] -= known[1:]
            if edges.model.templates.undirected:
                scores[words, heads[1:]] -= 1
        tree, guessed = self._best_tree(edges, scores), gold.relations
        if best is not None:
            guessed = guessed.copy()
            guessed[1:] = best[tree[1:], words]
        wrong = (tree != heads) | (guessed != gold.relations)
        if not wrong.any():  # no margin is violated
            return
        gains = scores[tree[1:], words] - of_gold
        loss = float(gains.sum(dtype=np.float64, where=wrong[1:]))
        if not self._settings.joint:
            self._update_edges(gold, edges, tree, loss, 0.0)
            return
        of_relations = np.zeros(2)
        joint.difference(gold.batch, self._joint, *gold[1:], tree, guessed, of_relations)
        of_gold_relations, other = of_relations.tolist()
        step = self._update_edges(gold, edges, tree, loss - of_gold_relations, other)
        learned = self._joint, self._sums["joint"]
        joint.update(gold.batch, *learned, *gold[1:], tree, guessed, step, self._clock)

    def _with_relations(self, gold: Gold, scores: NDArray[np.float32]) -> NDArray[np.int16]:
        """Add to each edge score the score of its best relation; return these relations."""
        best = np.zeros(scores.shape, dtype=np.int16)
        costly = gold.heads if self._settings.loss == "mira" else _NO_GOLD
        sums = np.empty(len(self._trees.labels), dtype=np.float32)
        laid = scores.reshape(-1), np.zeros(1, dtype=np.int64), best.reshape(-1)
        joint.add_relations(gold.batch, self._joint, 1.0, costly, gold.relations, sums, *laid)
        return best

    def _best_tree(self, edges: LearnedEdges, scores: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the tree to learn from: the best tree, or a tree by way of an undirected tree.

        Directed weights that guide the enhancement of undirected trees learn from the best tree.
        """
        settings, directed = self._settings, not edges.model.templates.undirected
        if settings.inference == "exact" or (directed and settings.features == "undirected"):
            return decode(scores, **self._how)
        from arborescence.undirected import decode as find

        rounds = settings.rounds if directed else 0  # undirected scores cannot enhance a tree
        options: Any = {"root": settings.root, "rounds": rounds, "changes": settings.changes}
        tree: NDArray[np.int64] = find(scores, **options)
        return tree


def without_marks(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the relations of lifted edges from the arguments of a pseudo-projective parser.

    A relation that only lifted edges have is then missing.
    """
    labels, weights = parts["labels"], dict(parts["weights"])
    plain = [number for number, label in enumerate(labels) if MARK not in label]
    for name in {"relations", "joint"} & weights.keys():
        weights[name] = weights[name]._replace(table=weights[name].table.take(plain, axis=1))
    return {
        **parts,
        "labels": [labels[number] for number in plain],
        "allowed": parts["allowed"].take(plain, axis=1),
        "weights": weights,
        "projective": True,
    }


def _trees_for(treebank: Sequence[Sentence], settings: Settings) -> Projective:
    """Return the `projective` setting; ``"auto"`` is decided by the treebank."""
    if settings.projective != "auto":
        return settings.projective
    if settings.inference == "undirected":
        return False
    crossing = sum(
        not is_projective(sentence.tree) for sentence in treebank if (sentence.heads >= 0).all()
    )
    if crossing > MOST_CROSSING * len(treebank):
        return False
    return "pseudo" if crossing else True


#: The precision of the Gaussian prior on each weight: 4 was better than 1 and about 11 on the dev
#: sets of English-EWT and Gothic-PROIEL.
PRECISION: Final = 4.0
#: Edges with a smaller absolute gradient are skipped. So 20 to 40 edges for each sentence are
#: updated, of several hundred. With 0.01, LAS on Gothic-PROIEL dev is 0.2 points lower; with
#: 0.0001, it is not higher.
LEAST: Final = 1e-3


@dataclass
class Ascent:
    """One epoch of stochastic gradient ascent.

    The prior shrinks all weights at each sentence: the weights are stored divided by a common
    factor, and only the factor shrinks (Bottou 2012, Section 5.1). The clock of the sums shrinks
    with it. `finish` multiplies the weights and sums by the factor.
    """

    #: The model of edge scores; its weights change.
    model: EdgeModel
    #: The sums of the changes of the weights, as in `edges.update_edges`.
    averages: NDArray[np.float32]
    #: The number of updates before this epoch.
    clock: InitVar[int]
    #: The learning rate: the largest change of a weight for one edge.
    rate: float
    #: The number of sentences in the treebank; each takes an equal share of the prior.
    sentences: int
    #: Returns the edge probabilities, float64 (n + 1, n + 1), for given scores.
    expect: Callable[[NDArray[np.float32]], NDArray[np.float64]]
    #: Whether `expect` returns probabilities over trees, not over the heads of each word.
    by_trees: bool

    def __post_init__(self, clock: int) -> None:
        self._time, self._factor = float(clock), 1.0

    def step(self, batch: Batch, scores: NDArray[np.float32], gold: NDArray[np.int64]) -> None:
        """Take a gradient step for one sentence; scores (n + 1, n + 1) are of stored weights."""
        self._factor *= math.exp(-self.rate * PRECISION / self.sentences)
        scores = scores * np.float32(self._factor)
        moves, known = -self.expect(scores), np.flatnonzero(gold >= 0)
        if len(known) == len(gold) - 1:
            moves[gold[known], known] += 1
        elif self.by_trees:  # towards all trees that agree with the known heads
            moves += self.expect(agreeing(scores, gold))
        else:
            moves[:, gold < 0] = 0
            moves[gold[known], known] += 1
        rate = self.rate / self._factor
        move_edges(batch, self.model, self.averages, moves, LEAST, rate, self._time)
        self._time += self._factor

    def finish(self, clock: int) -> None:
        """Multiply the factor into weights and sums; `clock` is again the number of updates."""
        weights = self.model.weights
        total = np.float32(self._time) * weights - self.averages
        weights *= np.float32(self._factor)
        self.averages[:] = np.float32(clock) * weights - total


def head_probabilities(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the softmax over the heads of each word (Zhang, Cheng and Lapata 2017, Section 3).

    Column 0 and the diagonal are ignored, and 0 in the result. O(n²).
    """
    probabilities = scores.astype(np.float64)
    probabilities[:, 0] = 0.0
    np.fill_diagonal(probabilities, -np.inf)
    probabilities -= probabilities.max(axis=0)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=0)
    probabilities[:, 0] = 0.0
    return probabilities
