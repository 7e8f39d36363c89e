"""A transition-based parser with a linear model (Zhang and Nivre 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np

import arborescence
from arborescence.core.errors import ModelError, OptionError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.annotating import annotated
from arborescence.parsers.shared.base import Parser, votes
from arborescence.parsers.shared.features import COLUMNS, LEAST_BITS, MOST_BITS, Sides
from arborescence.parsers.shared.relations import RelationTemplates
from arborescence.parsers.tagger import tagging
from arborescence.parsers.transition.beam import Agenda, parse_with_beam, trace_back
from arborescence.parsers.transition.features import StateTemplates, fingerprint, rows_for
from arborescence.parsers.transition.greedy import STRIDE, Model, Scratch, parse_greedily
from arborescence.transitions import SYSTEMS, Transition, TransitionSystem
from arborescence.transitions import system as system_named
from arborescence.transitions.state import ACTIONS, OTHER

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from arborescence.core.graph import Root
    from arborescence.parsers.shared.base import Options, Progress
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

#: What a parser learns from: the one way to the gold tree, or the best way on from anywhere.
Oracle = Literal["static", "dynamic"]

#: The widest beam: a state of n words takes 52 (n + 4) bytes, and there are two for each place.
MOST_BEAM: Final = 10_000

_FIELDS: Final = {
    "system": scheme.one_of(SYSTEMS),
    "oracle": scheme.one_of(["static", "dynamic"]),
    "beam": scheme.whole(1, MOST_BEAM),
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
_ROWS: Final = [rows_for(bits) for bits in range(LEAST_BITS, MOST_BITS + 1)]
_NO_TAGS = np.empty(0, dtype=np.uint64)


def check_beam(beam: int) -> None:
    """Raise OptionError if a beam has no place, or so many that memory might not do."""
    if not 1 <= beam <= MOST_BEAM:
        raise OptionError(f"beam must be between 1 and {MOST_BEAM}, not {beam}")


class TransitionParser(Parser):
    """Transitions scored by a linear function of hashed features, one after the other.

    Made by `train`, or by `arborescence.load`. `kbest` finds at most as many trees as the beam is
    wide; the weight of each is the sum of the scores of the transitions that lead to it.

    Attributes
    ----------
    system : str
        The transition system: one of `arborescence.transitions.SYSTEMS`.
    oracle : {"static", "dynamic"}
        What it was trained with.
    beam : int
        How many partial parses are kept side by side; 1 is greedy parsing. May be changed, but a
        parser is best with the beam that it was trained with.
    columns : tuple of str
        What the features look at: some of form, lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that it can give.
    pseudo_projective : bool
        Whether relations say where edges were lifted, and `parse` undoes it.
    tagger : Tagger or None
        Tags the sentences that come without UPOS.
    text : Text or None
        Cuts raw text into sentences and words, and gives lemmas to words that come without.
    info : dict
        How it was trained, and its scores on the development set after each epoch.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> lessons = [
    ...     Sentence.from_words(["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"],
    ...                         heads=[-1, 2, 3, 0], deprels=["amod", "nsubj", "root"]),
    ...     Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"],
    ...                         heads=[-1, 2, 0], deprels=["nsubj", "root"]),
    ... ]
    >>> parser = TransitionParser.train(lessons, system="arc-standard", epochs=3)
    >>> new = Sentence.from_words(["Old", "birds", "sing"], upos=["ADJ", "NOUN", "VERB"])
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([-1,  2,  3,  0]), ['amod', 'nsubj', 'root'])
    >>> print(*parser.derivation(new))
    SHIFT SHIFT LEFT-ARC(amod) SHIFT LEFT-ARC(nsubj) RIGHT-ARC(root)
    """

    kind: ClassVar[str] = "transition"

    def __init__(
        self,
        *,
        system: str,
        oracle: Oracle,
        beam: int,
        columns: Sequence[str],
        labels: Sequence[str],
        allowed: NDArray[np.bool_],
        actions: NDArray[Any],
        actions_unit: float = 1.0,
        relations: NDArray[Any],
        relations_unit: float = 1.0,
        pseudo_projective: bool = False,
        tagger: Tagger | None = None,
        text: Text | None = None,
        info: dict[str, Any] | None = None,
    ) -> None:
        """Put a parser together.

        Parameters
        ----------
        system, oracle, beam, columns, labels, pseudo_projective, tagger, text, info
            As the attributes.
        allowed : (2, L) bool
            The relations of edges from the root, and of other edges.
        actions : (2^bits + 2^(bits - 3), 4)
            The weights of transitions.
        relations : (S, L)
            The weights of relations.
        actions_unit, relations_unit
            What those weights are multiplied by: they are float32, or int8.
        """
        self.system = system
        self.oracle = oracle
        self.beam = beam
        self.columns = tuple(columns)
        self.labels = tuple(labels)
        self.pseudo_projective = pseudo_projective
        self.tagger = tagger
        self.text = text
        self.info = info or {}
        self._allowed = allowed
        self._actions = actions
        self._actions_unit = actions_unit
        self._relations = relations
        self._relations_unit = relations_unit
        self._system: TransitionSystem = system_named(system)
        sides: list[str] = []
        self._templates = StateTemplates.of(system, self.columns, sides)
        self._relation_templates = RelationTemplates.of(self.columns, sides)
        self._sides = Sides.of(sides)

    @property
    def beam(self) -> int:
        """How many partial parses are kept."""
        return self._beam

    @beam.setter
    def beam(self, beam: int) -> None:
        check_beam(beam)
        self._beam = beam

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        columns: Sequence[str] = tuple(COLUMNS),
        system: str = "arc-eager",
        oracle: Oracle | None = None,
        beam: int = 1,
        epochs: int = 10,
        patience: int = 3,
        seed: int = 1,
        root: Root = "single",
        pseudo_projective: bool = False,
        bits: int = 20,
        tagger: Tagger | None = None,
        text: Text | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Train a parser by the averaged perceptron.

        Parameters
        ----------
        treebank
            Sentences whose heads are trees. Unless the system is swap, edges that cross others are
            lifted first (`projectivize`).
        dev
            Sentences by which to choose the best epoch (by LAS), and when to stop. Without them,
            all epochs are run and the last one counts.
        columns
            What the features may look at: some of form, lemma, upos, xpos and feats.
        system
            ``"arc-standard"``, ``"arc-eager"``, ``"arc-hybrid"``, or ``"swap"``: arc-standard with
            a fourth transition, for edges that cross.
        oracle
            ``"static"``: one sequence of transitions is right for each tree. ``"dynamic"``, for
            arc-eager and arc-hybrid: all those are right after which the best tree is as good as
            before. From the second epoch on, a greedy parser then learns in the states that its
            own mistakes lead to (Goldberg and Nivre 2012); with a beam, every sequence that leads
            to the gold tree is right. None: dynamic where the system has it.
        beam
            How many partial parses to keep side by side, in training (by the structured perceptron
            with early update: Zhang and Clark 2008) and in parsing. 1 is greedy.
        epochs
            At most so often over the treebank.
        patience
            Stop after so many epochs without a better LAS on `dev`.
        seed
            Fixes the order of the sentences, and what is explored.
        root
            ``"single"``: each tree has one edge from the root; ``"multi"``: one or more.
        pseudo_projective
            Whether relations say where an edge was lifted from, and `parse` undoes it by
            `deprojectivize`, so that edges may cross after all. Not with swap.
        bits
            Room for weights: 2^bits hashed rows for transitions, a thirty-second of them for
            relations.
        tagger
            To be kept in the model, for sentences that come without UPOS.
        text
            To be kept in the model, for raw text and words that come without lemmas.
        checkpoint
            A file that holds the state of training after each epoch. If it exists, training goes
            on from there, and ends as it would have ended without interruption.
        progress
            Called as ``progress(phase, done, total)``.

        Raises
        ------
        TreebankError
            If the treebank is empty, or has a sentence whose heads are not a tree (or, with
            ``pseudo_projective``, whose relations hold the mark of lifted edges).
        ModelError
            If `checkpoint` is of other data or settings, or cannot be read.
        OptionError
            If a setting makes no sense.
        """
        from arborescence.parsers.transition import training

        if oracle is None:
            oracle = "dynamic" if system_named(system).dynamic else "static"
        settings = training.Settings(
            columns=tuple(columns),
            system=system,
            oracle=oracle,
            beam=beam,
            root=root,
            pseudo_projective=pseudo_projective,
            seed=seed,
            bits=bits,
        )
        trainer = training.Trainer(list(treebank), list(dev or ()), settings)
        return cls(
            **trainer.run(epochs, patience, checkpoint=checkpoint, progress=progress),
            tagger=tagger,
            text=text,
        )

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the votes of the parser for edges: it has no weights for each of them.

        Parameters
        ----------
        sentence
            Of n words. Without UPOS, and if there is a tagger, it is tagged first.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            1 for the edges of the tree that `parse` finds, 0 for all others. So that tree is
            ``arborescence.decode(scores)``.
        """
        [tree] = self.parse([sentence])
        return votes(tree).astype(np.float32)

    def derivation(self, sentence: Sentence, *, root: Root = "single") -> list[Transition]:
        """Return the transitions by which the parser parses a sentence.

        Parameters
        ----------
        sentence
            Of n words. Without UPOS, and if there is a tagger, it is tagged first.
        root
            As for `parse`.

        Returns
        -------
        transitions : list of Transition
            2n of them; with swap, two more for each swap. Relations are those of the parser: for
            a pseudo-projective one, with the marks of lifted edges.
        """
        _, batch = self._prepare([sentence])
        model = self._model(root, None)
        scratch = Scratch.of(model)
        heads, labels = np.empty((2, 1, len(sentence) + 1), dtype=np.int64)
        totals = np.empty((1, 1))
        steps = 0
        for _ in range(2):  # to see how many there are, and then to note them
            path = np.empty(steps, dtype=np.int64)
            if self.beam == 1:
                steps = parse_greedily(batch, model, scratch, heads[0], labels[0], totals[0], path)
                continue
            agenda = Agenda.of(self.beam, scratch)
            parents, moves = np.empty((2, steps, self.beam), dtype=np.int64)
            steps = parse_with_beam(
                batch, model, scratch, agenda, heads, labels, totals, parents, moves
            )
            trace_back(parents, moves, len(path), 0, path)
        return [
            Transition(self._system.actions[action], self.labels[label - 1] if label else None)
            for label, action in (divmod(move, STRIDE) for move in path.tolist())
            if action < ACTIONS
        ]

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file, those of the tagger among them."""
        header: dict[str, Any] = {
            "kind": self.kind,
            "library": arborescence.__version__,
            "system": self.system,
            "oracle": self.oracle,
            "beam": self.beam,
            "columns": self.columns,
            "features": fingerprint(self.system),
            "labels": self.labels,
            "pseudo_projective": self.pseudo_projective,
            "units": [self._actions_unit, self._relations_unit],
            "info": self.info,
        }
        arrays = {
            "allowed": self._allowed,
            "actions": self._actions,
            "relations": self._relations,
        }
        tagging.pack(self.tagger, self.text, header, arrays)
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser of what `model_file.load` returned; ModelError if anything is amiss."""
        fields = scheme.fields_of(header, _FIELDS)
        if header.get("features") != fingerprint(fields["system"]):
            raise ModelError(
                "its weights are for features that this version does not have: train it again"
            )
        kept = scheme.arrays_of(arrays, _ARRAYS, {"labels": len(fields["labels"])})
        actions, relations = kept["actions"], kept["relations"]
        if len(actions) not in _ROWS:
            raise ModelError(f"array 'actions' has {len(actions)} rows, which is no size of it")
        if actions.dtype != relations.dtype:
            raise ModelError(
                f"array 'actions' is {actions.dtype}, and 'relations' {relations.dtype}"
            )
        actions_unit, relations_unit = fields.pop("units")
        return cls(
            **fields,
            **kept,
            actions_unit=actions_unit,
            relations_unit=relations_unit,
            tagger=tagging.unpack(header, arrays),
            text=tagging.unpack_text(header, arrays),
        )

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        return [tree for [(tree, _)] in self._kbest_batch(sentences, 1, options)]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        if options.confidence:
            raise ModelError(
                "the probability of an edge needs a graph-based parser; this one is transition-"
                "based, and does not look at all trees"
            )
        if options.projective is False and self._system.projective and not self.pseudo_projective:
            raise ModelError(
                f"edges that cross are out of reach of {self.system}: train a parser with the "
                "system swap, or pseudo-projectively"
            )
        sentences, batch = self._prepare(sentences)
        heads, labels, totals = self._search(batch, k, options.root, options.projective)
        lower = not options.projective if self.pseudo_projective else None
        parsed = annotated(sentences, batch.starts, heads, labels, self.labels, lower=lower)
        return [
            list(zip(trees, of_trees, strict=False))
            for trees, of_trees in zip(parsed, totals.T.tolist(), strict=True)
        ]

    def _prepare(self, sentences: list[Sentence]) -> tuple[list[Sentence], Batch]:
        return tagging.annotated(sentences, self._sides, _NO_TAGS, self.tagger, self.text)

    def _model(self, root: Root, projective: bool | None) -> Model:
        everything = (1 << ACTIONS) - 1
        without_swap = projective and not self._system.projective
        return Model(
            system=self._system.number,
            single=root == "single",
            allowed=everything - (1 << OTHER) if without_swap else everything,
            templates=self._templates,
            relation_templates=self._relation_templates,
            bits=len(self._actions).bit_length() - 1,
            actions=self._actions,
            relations=self._relations,
            relations_allowed=self._allowed,
        )

    def _search(
        self, batch: Batch, k: int, root: Root, projective: bool | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Parse a batch: heads and labels (K, N), and what each tree scores (K, sentences)."""
        model = self._model(root, projective)
        scratch = Scratch.of(model)
        heads, labels = np.full((2, min(k, self.beam), batch.starts[-1]), -1, dtype=np.int64)
        totals = np.empty((len(heads), len(batch.starts) - 1))
        if self.beam == 1:
            nothing = np.empty(0, dtype=np.int64)
            parse_greedily(batch, model, scratch, heads[0], labels[0], totals[0], nothing)
        else:
            none = np.empty((0, self.beam), dtype=np.int64)
            agenda = Agenda.of(self.beam, scratch)
            parse_with_beam(batch, model, scratch, agenda, heads, labels, totals, none, none)
        totals *= self._actions_unit
        return heads, labels, totals
