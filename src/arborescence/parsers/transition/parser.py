"""A linear transition-based parser, greedy or with beam search (Zhang and Nivre 2011)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, get_args

import numpy as np

from arborescence.errors import ModelError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.base import Parser, annotated, votes
from arborescence.parsers.shared.features import Sides
from arborescence.parsers.shared.keeping import Counts
from arborescence.parsers.shared.options import (
    LEAST_BITS,
    MOST_BITS,
    Oracle,
    kept_fields,
    options_of,
)
from arborescence.parsers.shared.relations import RelationModel, RelationTemplates
from arborescence.parsers.shared.run import Weights
from arborescence.parsers.tagger import tagging
from arborescence.parsers.transition.beam import Agenda, Trail, parse, trace_back
from arborescence.parsers.transition.features import StateTemplates, fingerprint, rows_for
from arborescence.parsers.transition.scoring import STRIDE, Masks, Model, Scorer, Scratch
from arborescence.parsers.transition.settings import Settings
from arborescence.parsers.transition.training import Trainer
from arborescence.projective.pseudo import MARK
from arborescence.rules.kinds import AtMostOne, Direction, LabelTags, NotOfTags, TagLabels
from arborescence.rules.trees import matching
from arborescence.transitions import Transition, TransitionSystem
from arborescence.transitions import get_system as system_named
from arborescence.transitions.state import ACTIONS, OTHER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.keeping import Keeper
    from arborescence.parsers.shared.options import System
    from arborescence.parsers.shared.run import ParserRun, Task
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence


_FIELDS: Final = {
    **kept_fields(Settings, required=True),
    "oracle": scheme.one_of(get_args(Oracle)),  # None is decided in training
    "columns": scheme.LOOKED_AT,
    "labels": scheme.VALUES,
    "pseudo_projective": scheme.one_of([False, True]),
    "units": scheme.list_of(scheme.UNIT, 2, 2),
    "info": scheme.INFO,
}
_ARRAYS: Final = {
    "allowed": scheme.Array((np.bool_,), (2, "labels")),
    "actions": scheme.weights("actions", ACTIONS),
    "relations": scheme.weights("2^relations", "labels"),
}
#: The weights, in the order of their units in the header.
_WEIGHTS: Final = ("actions", "relations")
_ROWS: Final = [rows_for(bits) for bits in range(LEAST_BITS, MOST_BITS + 1)]
_NO_TAGS = np.empty(0, dtype=np.uint64)


@dataclass(kw_only=True, eq=False, repr=False)
class TransitionParser(Parser):
    """A parser that scores each transition by a linear function of hashed features.

    Created by `train`, or by `arborescence.load`. `kbest` finds at most `beam` trees; the weight of
    a tree is the sum of the scores of its transitions.

    Attributes
    ----------
    system : str
        The transition system: one of `arborescence.transitions.SYSTEMS`.
    oracle : {"static", "dynamic"}
        The oracle that the parser was trained with.
    beam : int
        The width of the beam; 1 is greedy parsing. You may change the width, but a parser is best
        with the width of its training.
    columns : tuple of str
        The columns that features use: some of form, lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that the parser can assign.
    projective : False or "pseudo"
        Whether relations mark lifted edges, and `parse` undoes the lifting.
    allowed : (2, L) bool
        The relations allowed on edges from the root, and on other edges.
    weights : dict of str to Weights
        ``"actions"``: (2^bits + 2^(bits - 3), 4); and ``"relations"``: (S, L).
    tagger : Tagger or None
        As in `LinearParser`.
    text : Text or None
        As in `LinearParser`.
    info : dict
        As in `LinearParser`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> tags, tree = ["ADJ", "NOUN", "VERB"], {"heads": [-1, 2, 3, 0]}
    >>> tree["deprels"] = ["amod", "nsubj", "root"]
    >>> taught = Sentence.from_words(["Old", "trees", "grow"], upos=tags, **tree)
    >>> parser = TransitionParser.train([taught] * 2, system="arc-standard", epochs=3)
    >>> new = Sentence.from_words(["Young", "birds", "sing"], upos=tags)
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([2, 3, 0]), ['amod', 'nsubj', 'root'])
    >>> print(*parser.derivation(new))
    SHIFT SHIFT LEFT-ARC(amod) SHIFT LEFT-ARC(nsubj) RIGHT-ARC(root)
    """

    kind: ClassVar[str] = "transition"
    settings_class = Settings

    system: System
    oracle: Oracle
    beam: int
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    allowed: NDArray[np.bool_]
    weights: Mapping[str, Weights]
    projective: Literal[False, "pseudo"] = False
    tagger: Tagger | None = None
    text: Text | None = None
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compile the feature templates."""
        self.columns, self.labels = tuple(self.columns), tuple(self.labels)
        self._system: TransitionSystem = system_named(self.system)
        sides: list[str] = []
        self._templates = StateTemplates.of(self.system, self.columns, sides)
        self._relation_templates = RelationTemplates.of(self.columns, sides)
        self._sides = Sides.of(sides)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "beam":
            value = options_of(Settings)[name].checked(value)
        super().__setattr__(name, value)

    @classmethod
    def _trainer(cls, task: Task) -> ParserRun:
        return Trainer(task)

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return 1 for the edges of the parser's tree, else 0: the parser has no scores of edges.

        Parameters
        ----------
        sentence
            As for `LinearParser.scores`.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            1 for the edges of the tree that `parse` finds, 0 for all other edges; so
            ``arborescence.decode(scores)`` returns the same tree.
        """
        [tree] = self.parse([sentence])
        return votes(tree).astype(np.float32)

    def derivation(self, sentence: Sentence, *, root: Root = "single") -> list[Transition]:
        """Return the derivation of the parser's tree for a sentence.

        Parameters
        ----------
        sentence
            As for `scores`.
        root
            As for `parse`.

        Returns
        -------
        transitions : list of Transition
            2n transitions, and two more for each SWAP. Relations of a pseudo-projective parser
            include the marks of lifted edges.
        """
        _, batch = self._prepare([sentence])
        scorer = self._scorer(batch, root, None)
        *_, steps = self._search(scorer, 1)
        trail = Trail.of(steps, self.beam)
        self._search(scorer, 1, trail)
        path = np.empty(steps, dtype=np.int64)
        trace_back(trail, steps, 0, path)
        return [
            Transition(self._system.actions[action], self.labels[label - 1] if label else None)
            for label, action in (divmod(move, STRIDE) for move in path.tolist())
            if action < ACTIONS
        ]

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        header: dict[str, Any] = {
            **{name: getattr(self, name) for name in kept_fields(Settings)},
            "columns": self.columns,
            "features": fingerprint(self.system),
            "labels": self.labels,
            "pseudo_projective": self.projective == "pseudo",
            "units": [self.weights[name].unit for name in _WEIGHTS],
            "info": self.info,
        }
        arrays = {"allowed": self.allowed}
        arrays |= {name: self.weights[name].table for name in _WEIGHTS}
        tagging.pack(self.tagger, self.text, header, arrays)
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        if header.get("features") != fingerprint(fields["system"]):
            raise ModelError(
                "its weights are for features that this version does not have: train it again"
            )
        kept = scheme.arrays_of(arrays, _ARRAYS, {"labels": len(fields["labels"])})
        actions, relations = kept["actions"], kept["relations"]
        if len(actions) not in _ROWS:
            raise ModelError(
                f"array 'actions' has {len(actions)} rows, which is not a valid number"
            )
        if actions.dtype != relations.dtype:
            raise ModelError(
                f"array 'actions' is {actions.dtype}, and 'relations' {relations.dtype}"
            )
        units = zip(_WEIGHTS, fields.pop("units"), strict=True)
        lifted = fields.pop("pseudo_projective")
        return cls(
            **fields,
            projective="pseudo" if lifted else False,
            allowed=kept["allowed"],
            weights={name: Weights(kept[name], unit) for name, unit in units},
            **tagging.unpack(header, arrays),
        )

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        return [tree for [(tree, _)] in self._kbest_batch(sentences, 1, options)]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        if options.confidence:
            raise ModelError(
                "the probability of an edge needs a graph-based parser; this parser is transition-"
                "based, and does not compare all trees"
            )
        if options.keep:
            raise ModelError(
                "only graph-based parsers keep given heads; this parser is transition-based"
            )
        if options.projective is False and self._system.projective and not self.projective:
            raise ModelError(
                f"the system {self.system} cannot build crossing edges: train a parser with the "
                "system swap, or with projective='pseudo'"
            )
        sentences, batch = self._prepare(sentences)
        trees = self._trees(sentences, batch, k, options)
        if options.rules is None:
            return trees
        return self._obeying(sentences, trees, k, options, options.rules)

    def _trees(
        self,
        sentences: list[Sentence],
        batch: Batch,
        k: int,
        options: Options,
        masks: Masks | None = None,
    ) -> list[list[tuple[Sentence, float]]]:
        """Return the k best trees of each sentence, with their weights."""
        scorer = self._scorer(batch, options.root, options.projective, masks)
        heads, labels, totals, _ = self._search(scorer, k)
        lower = not options.projective if self.projective else None
        parsed = annotated(sentences, batch.starts, heads, labels, self.labels, lower=lower)
        return [
            list(zip(trees, of_trees, strict=False))
            for trees, of_trees in zip(parsed, totals.T.tolist(), strict=True)
        ]

    def _obeying(
        self,
        sentences: list[Sentence],
        best: list[list[tuple[Sentence, float]]],
        k: int,
        options: Options,
        keeper: Keeper,
    ) -> list[list[tuple[Sentence, float]]]:
        """Parse sentences whose best trees break a rule once more, with masks for the rules."""
        failed = 0
        if broken := keeper.breaking([[tree for tree, _ in trees] for trees in best]):
            prepared, batch = self._prepare([sentences[b] for b in broken])
            masks = masks_of(keeper, prepared, self.labels)
            masked = self._trees(prepared, batch, k, options, masks)
            for b, trees in zip(broken, masked, strict=True):
                best[b] = trees
            failed = len(keeper.breaking([[tree for tree, _ in trees] for trees in masked]))
        changed = len(broken) - failed
        keeper.add(Counts(len(best), changed, changed, failed, len(best) + len(broken)))
        return [[(keeper.finished(tree), weight) for tree, weight in trees] for trees in best]

    def _prepare(self, sentences: list[Sentence]) -> tuple[list[Sentence], Batch]:
        models = self.tagger, self.text, self.reading
        return tagging.annotated(sentences, self._sides, _NO_TAGS, *models)

    def _scorer(
        self, batch: Batch, root: Root, projective: bool | None, masks: Masks | None = None
    ) -> Scorer:
        everything = (1 << ACTIONS) - 1
        without_swap = projective and not self._system.projective
        model = Model(
            system=self._system.number,
            single=root == "single",
            allowed=everything - (1 << OTHER) if without_swap else everything,
            templates=self._templates,
            bits=len(self.weights["actions"].table).bit_length() - 1,
            actions=self.weights["actions"].table,
            relations=RelationModel(
                self._relation_templates, self.weights["relations"].table, self.allowed
            ),
            masks=masks or Masks.of(len(self.labels)),
        )
        return Scorer(batch, model, Scratch.of(model))

    def _search(
        self, scorer: Scorer, k: int, trail: Trail | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
        """Parse a batch.

        Return heads and labels, (K, N) each, the trees' scores (K, sentences), and the number of
        steps of the last sentence.
        """
        starts = scorer.batch.starts
        heads, labels = np.full((2, min(k, self.beam), starts[-1]), -1, dtype=np.int64)
        totals = np.empty((len(heads), len(starts) - 1))
        trail = trail or Trail.of(0, self.beam)
        steps = parse(scorer, Agenda.of(self.beam), heads, labels, totals, trail)
        totals *= self.weights["actions"].unit
        return heads, labels, totals, steps


#: The rules that allow or forbid a relation for a single edge.
_OF_EDGES: Final = (Direction, LabelTags, NotOfTags, TagLabels)
_MOST: Final = (
    62  # the most rules about the number of a word's dependents: each has a bit of an int64
)


def masks_of(keeper: Keeper, sentences: Sequence[Sentence], labels: Sequence[str]) -> Masks:
    """Return the masks of a batch for rules about tags, directions and numbers.

    O(N) for each relation and rule.
    """
    trees = keeper.trees(sentences)
    rules = [rule for rule in keeper.rules if rule.cost is None]
    names = tuple(label.partition(MARK)[0] for label in labels)
    roots = trees.roots
    nodes = np.arange(len(roots))
    ends = np.flatnonzero(np.append(np.diff(roots) > 0, True))
    all_alike = trees._replace(labels=np.where(nodes == roots, -1, 0))
    allowed = np.ones((2, len(nodes), len(names)), np.bool_)
    once, heads = np.zeros(len(names), np.int64), np.zeros(len(nodes), np.int64)
    for rule in rules:
        if isinstance(rule, _OF_EDGES):
            for label in np.flatnonzero(rule.signs(names, ()).labels[:-1]):
                for side, far in enumerate((roots, ends[np.searchsorted(ends, nodes)])):
                    edges = all_alike._replace(heads=far, label_names=(names[label],))
                    allowed[side, rule.found(edges), label] = False
    for bit, rule in enumerate([each for each in rules if isinstance(each, AtMostOne)][:_MOST]):
        counted = matching(names, rule.labels) & ~matching(names, rule.but)
        once |= counted[:-1].astype(np.int64) << bit
        excused = trees.waived.get(rule.name, False)
        heads |= np.where(excused, 0, 1 << bit)
    return Masks(allowed, once, heads)
