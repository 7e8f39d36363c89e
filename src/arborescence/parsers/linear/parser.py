"""A first-order graph-based parser with a linear model (McDonald et al. 2005)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np

import arborescence
from arborescence.core.errors import ModelError
from arborescence.distribution.arrays import TreeDistribution
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest
from arborescence.parsers.linear.edges import (
    LAYOUT,
    WIDE,
    EdgeTemplates,
    Layout,
    score_edges,
    score_kept_edges,
)
from arborescence.parsers.linear.joint import add_all_relations, add_relations
from arborescence.parsers.linear.kept import KeptEdges, Matrices
from arborescence.parsers.linear.pruning import THRESHOLD, EdgeFilter, keep_edges
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.annotating import annotated
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.confidence import edge_probabilities, with_edge_probs
from arborescence.parsers.shared.features import COLUMNS, Sides
from arborescence.parsers.shared.relations import RelationTemplates, label_edges
from arborescence.parsers.tagger import tagging
from arborescence.undirected.enhance import enhance

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.graph import Root
    from arborescence.parsers.linear.training import Algorithm
    from arborescence.parsers.shared.base import Options, Progress
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

#: What trees a parser is for: any, those without crossing edges, or any by way of those.
Projective = bool | Literal["pseudo"]
#: How the tree is found: the best one, or one by way of an undirected tree.
Inference = Literal["exact", "undirected"]
#: Whether the features of an edge know which of its two words is the head.
Features = Literal["directed", "undirected"]

#: What inference and features can be.
_KINDS: Final = [("exact", "directed"), ("undirected", "directed"), ("undirected", "undirected")]
_FIELDS: Final = {
    "columns": scheme.LOOKED_AT,
    "labels": scheme.VALUES,
    "layout": LAYOUT,
    "units": scheme.list_of(scheme.UNIT, 3, 3),
    "directed_unit": scheme.UNIT,
    "projective": scheme.one_of([False, True, "pseudo"], False),
    "inference": scheme.one_of(["exact", "undirected"], "exact"),
    "features": scheme.one_of(["directed", "undirected"], "directed"),
    "rounds": scheme.whole(0, 10**9, 5, none=True),
    "temperature": scheme.real(1e-4, 1e4, 1.0),
    "pruning": THRESHOLD,
    "info": scheme.INFO,
}
_ARRAYS: Final = {
    "allowed": scheme.Array((np.bool_,), (2, "labels")),
    "tags": scheme.Array((np.uint64,), ("known",), ascending=True),
    "edges": scheme.weights("weights"),
    "relations": scheme.weights("2^relations", "labels"),
    "joint": scheme.weights("2^joint", "labels"),
    "directed": scheme.weights("weights"),
}
_NO_GOLD = np.empty(0, dtype=np.int64)


class LinearParser(Parser):
    """Edges scored by a linear function of hashed features, then relations by another.

    Made by `train`, or by `arborescence.load`.

    Attributes
    ----------
    columns : tuple of str
        What the features look at: some of form, lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that it can give.
    projective : bool or "pseudo"
        What it was trained for: see `train`.
    inference : {"exact", "undirected"}
        How `parse` finds a tree: see `train`, like the next two.
    features : {"directed", "undirected"}
        What the scores of edges are made of.
    rounds : int or None
        Of local enhancement, if inference is undirected.
    temperature : float
        What scores are divided by to become log-probabilities (but for a constant): found on the
        development set, 1 if it was trained without one.
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
    >>> parser = LinearParser.train(lessons, epochs=3)
    >>> new = Sentence.from_words(["Old", "birds", "sing"], upos=["ADJ", "NOUN", "VERB"])
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([-1,  2,  3,  0]), ['amod', 'nsubj', 'root'])
    >>> [(best, second)] = parser.kbest([new], 2)
    >>> best[0].heads, bool(best[1] > second[1])
    (array([-1,  2,  3,  0]), True)
    """

    kind: ClassVar[str] = "linear"

    def __init__(
        self,
        *,
        columns: Sequence[str],
        labels: Sequence[str],
        allowed: NDArray[np.bool_],
        tags: NDArray[np.uint64],
        layout: Layout,
        edges: NDArray[Any],
        edges_unit: float = 1.0,
        relations: NDArray[Any],
        relations_unit: float = 1.0,
        joint: NDArray[Any] | None = None,
        joint_unit: float = 1.0,
        directed: NDArray[Any] | None = None,
        directed_unit: float = 1.0,
        pruning: EdgeFilter | None = None,
        projective: Projective = False,
        inference: Inference = "exact",
        features: Features = "directed",
        rounds: int | None = 5,
        temperature: float = 1.0,
        tagger: Tagger | None = None,
        text: Text | None = None,
        info: dict[str, Any] | None = None,
    ) -> None:
        """Put a parser together.

        Parameters
        ----------
        columns, labels, projective, inference, features, rounds, temperature, tagger, text, info
            As the attributes.
        allowed : (2, L) bool
            The relations of edges from the root, and of other edges.
        tags : (P - 2,) uint64
            Sorted hashes of the UPOS tags that have a number of their own.
        layout, edges
            The weights of edges, and how they lie.
        relations : (R, L)
            The weights of relations, given the tree.
        joint : (R, L), optional
            The weights of relations that have a say in the tree.
        directed : like `edges`, optional
            The weights of directed edges, by which trees of undirected ones are enhanced.
        edges_unit, relations_unit, joint_unit, directed_unit
            What those weights are multiplied by: they are float32, or int8.
        pruning
            Which edges are scored; all of them without it.
        """
        self.columns = tuple(columns)
        self.labels = tuple(labels)
        self.projective = projective
        self.inference = inference
        self.features = features
        self.rounds = rounds
        self.temperature = temperature
        self.tagger = tagger
        self.text = text
        self.info = info or {}
        self._allowed = allowed
        self._tags = tags
        self._layout = layout
        self._edges = edges
        self._edges_unit = edges_unit
        self._relations = relations
        self._relations_unit = relations_unit
        self._joint = joint
        self._joint_unit = joint_unit
        self._directed = directed
        self._directed_unit = directed_unit
        self._pruning = pruning
        sides: list[str] = []
        self._edge_templates = EdgeTemplates.of(self.columns, sides, features == "undirected")
        self._relation_templates = RelationTemplates.of(self.columns, sides)
        self._joint_templates = RelationTemplates.of(self.columns, sides, "dh")
        self._sides = Sides.of(sides)

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        columns: Sequence[str] = tuple(COLUMNS),
        algorithm: Algorithm = "mira",
        epochs: int = 10,
        patience: int = 3,
        seed: int = 1,
        root: Root = "single",
        aggressiveness: float = 0.1,
        k: int = 1,
        bits: int = 20,
        joint: bool = False,
        projective: Projective | Literal["auto"] = False,
        inference: Inference = "exact",
        features: Features = "directed",
        rounds: int | None = 5,
        prune: bool = False,
        tagger: Tagger | None = None,
        text: Text | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Train a parser.

        Online learning, one sentence after the other, with averaged weights. The result depends
        on nothing but data and settings.

        Parameters
        ----------
        treebank
            Sentences whose heads are trees.
        dev
            Sentences by which to choose the best epoch (by LAS), when to stop, and the temperature.
            Without them, all epochs are run and the last one counts.
        columns
            What the features may look at: some of form, lemma, upos, xpos and feats.
            ``("form", "upos")`` is what the MSTParser looked at.
        algorithm
            ``"mira"``: the smallest change after which the gold tree beats the best other one by
            as much as that one has wrong heads (1-best MIRA, loss-augmented). ``"perceptron"``:
            the averaged structured perceptron. ``"loglinear"``: gradient ascent on the likelihood
            of the gold tree among all trees, with a Gaussian prior (see `loglinear`).
            ``"head-selection"``: the same of each word's gold head among all heads, whatever the
            other words choose (see `head_selection`).
        epochs
            At most so often over the treebank.
        patience
            Stop after so many epochs without a better LAS on `dev`.
        seed
            Fixes the order of the sentences.
        root
            ``"single"``: each tree has one edge from the root; ``"multi"``: one or more. Head
            selection looks at no trees but those of `treebank` and those that it finds in `dev`.
        aggressiveness
            The largest step that MIRA takes (its C), and the learning rate of the log-linear
            model and of head selection; the perceptron takes no notice.
        k
            How many trees MIRA looks at: the step is the smallest one after which gold beats each
            of the k best trees by as much as that one has wrong heads (k-best MIRA).
        bits
            Room for weights: 2^bits hashed rows for features of words, an eighth of them for
            features of tags, a thirty-second for relations. One more bit doubles the memory, and
            helps for treebanks of over a million words.
        joint
            Whether relations have a say in the tree: the score of an edge is that of the edge and
            that of its best relation. Several times slower. Not for the log-linear model
            or head selection.
        projective
            Whether the parser is for trees without crossing edges: it learns from the gold trees
            that `projectivize` makes, decoding with Eisner's algorithm, and parses likewise.
            ``"pseudo"``: in addition, relations say where an edge was lifted from, and `parse`
            undoes it by `deprojectivize`, so that edges may cross after all. (Of the k best trees,
            some may become the same by that.) ``"auto"``, which
            the command line takes if nothing else is asked for: False if more than 30 % of the
            trees have crossing edges, or inference is undirected; True if none has; else
            ``"pseudo"``, but True after all unless that has the better LAS on `dev`. The parser's
            attribute tells what it has become.
        inference
            ``"exact"``: the parser learns and parses with the best tree. ``"undirected"``: with the
            best undirected tree, directed away from the root and enhanced: an approximation
            (Levi, Reichart and Rappoport 2016; see `arborescence.decode`). Such a parser finds one
            tree only, and gives no confidence. Not with `k` > 1, `joint`, `projective`, the
            log-linear model or head selection.
        features
            ``"undirected"``, with undirected inference: the score of an edge is the same whichever
            of its words is the head. It is made of the features of the edge from the left word to
            the right one, so half of the edges are scored, and MIRA counts wrong pairs.
        rounds
            Of local enhancement, with undirected inference: see `arborescence.undirected.enhance`.
            Undirected features need directed scores for it, so the parser learns and keeps a second
            set of weights: the one that ``inference="exact"`` has after as many epochs. 0 leaves
            enhancement out, and takes half of the time.
        prune
            Whether a filter, learned from the same treebank, leaves out most edges before the
            parser scores them: see `arborescence.parsers.linear.pruning`. It is set to keep 98.5 %
            of the gold edges of `dev`, or, without, of every tenth sentence of the treebank, which
            it then does not learn from. The parser itself learns from all edges. Not with
            undirected inference.
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
            ``projective="pseudo"``, whose relations hold the mark of lifted edges).
        ModelError
            If `checkpoint` is of other data or settings, or cannot be read.
        OptionError
            If a setting makes no sense.
        """
        from arborescence.parsers.linear import training

        settings = training.Settings(
            columns=tuple(columns),
            algorithm=algorithm,
            root=root,
            aggressiveness=aggressiveness,
            k=k,
            seed=seed,
            bits=bits,
            joint=joint,
            projective=projective,
            inference=inference,
            features=features,
            rounds=rounds,
            prune=prune,
        )
        trainer = training.Trainer(list(treebank), list(dev or ()), settings)
        return cls(
            **trainer.run(epochs, patience, checkpoint=checkpoint, progress=progress),
            tagger=tagger,
            text=text,
        )

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges of a sentence.

        Parameters
        ----------
        sentence
            Of n words. Without UPOS, and if there is a tagger, it is tagged first.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            ``scores[h, d]`` is the weight of the edge h -> d; column 0 and the diagonal are 0.
            Of a parser that prunes, other edges are -inf.
            The tree that `parse` finds is ``arborescence.decode(scores)``, or, if the parser is
            for projective trees, ``arborescence.decode(scores, projective=True)``. If its inference
            is undirected, it is ``arborescence.decode(scores, method="undirected",
            rounds=parser.rounds)``; but if its features are undirected as well, both directions of
            an edge have the same score here, enhancement goes by other scores, and the tree is that
            only for 0 rounds.
            ``arborescence.TreeDistribution(scores / parser.temperature)`` is what the parser
            believes about all trees.
        """
        _, batch = self._prepare([sentence])
        [(_, matrices)] = self._score(batch, projective=bool(self.projective))
        return matrices.reshape(matrices.shape[1:])

    def labeled_scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges with each of their relations; of joint models only.

        Parameters
        ----------
        sentence
            As for `scores`.

        Returns
        -------
        scores : (n + 1, n + 1, L) float32
            ``scores[h, d, l]`` is the weight of the edge h -> d plus that of the relation
            ``labels[l]`` on it, by the part of the model that has a say in the tree; -inf where
            the relation cannot be. The maximum over relations is `scores`. The relations that
            `parse` gives may differ: they are chosen once the whole tree is known.

        Raises
        ------
        ModelError
            If the parser was trained without ``joint=True``: then relations have no weight
            before the tree is known.
        """
        if self._joint is None:
            raise ModelError(
                "labeled scores need a parser that was trained with joint=True; this one chooses "
                "relations once the tree is known"
            )
        _, batch = self._prepare([sentence])
        [(_, [edges])] = self._score(batch, projective=bool(self.projective), joint=False)
        labeled: NDArray[np.float32] = np.repeat(edges[..., None], len(self.labels), axis=-1)
        add_all_relations(
            batch,
            self._joint_templates,
            self._joint,
            self._allowed,
            self._joint_unit,
            self._label_sums(self._joint),
            labeled,
        )
        return labeled

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file, those of the tagger among them."""
        header: dict[str, Any] = {
            "kind": self.kind,
            "library": arborescence.__version__,
            "columns": self.columns,
            "labels": self.labels,
            "layout": self._layout,
            "units": [self._edges_unit, self._relations_unit, self._joint_unit],
            "projective": self.projective,
            "inference": self.inference,
            "features": self.features,
            "rounds": self.rounds,
            "temperature": self.temperature,
            "info": self.info,
        }
        arrays = {
            "allowed": self._allowed,
            "tags": self._tags,
            "edges": self._edges,
            "relations": self._relations,
        }
        if self._joint is not None:
            arrays["joint"] = self._joint
        if self._directed is not None:
            header["directed_unit"] = self._directed_unit
            arrays["directed"] = self._directed
        if self._pruning is not None:
            header["pruning"] = self._pruning.threshold
            arrays |= self._pruning.to_arrays()
        tagging.pack(self.tagger, self.text, header, arrays)
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser of what `model_file.load` returned; ModelError if anything is amiss."""
        fields = scheme.fields_of(header, _FIELDS)
        inference, features = fields["inference"], fields["features"]
        if (inference, features) not in _KINDS:
            raise ModelError(f"inference and features are {inference!r} and {features!r}")
        layout = Layout(*fields["layout"])
        wanted = {"allowed", "tags", "edges", "relations"}
        if features == "undirected" and fields["rounds"] != 0:
            wanted.add("directed")
        lengths = {
            "labels": len(fields["labels"]),
            "known": layout.tags - 2,
            "weights": layout.size,
        }
        kept = scheme.arrays_of(arrays, _ARRAYS, lengths, optional=_ARRAYS.keys() - wanted)
        pruning = None
        if fields["pruning"] is not None:
            if inference != "exact":
                raise ModelError(f"pruning does not go with {inference} inference")
            pruning = EdgeFilter.from_arrays(
                arrays, fields["pruning"], fields["columns"], layout.tags
            )
        edges_unit, relations_unit, joint_unit = fields["units"]
        same = ("columns", "labels", "projective", "rounds", "temperature", "directed_unit", "info")
        return cls(
            **{name: fields[name] for name in same},
            allowed=kept["allowed"],
            tags=kept["tags"],
            layout=layout,
            edges=kept["edges"],
            edges_unit=edges_unit,
            relations=kept["relations"],
            relations_unit=relations_unit,
            joint=kept.get("joint"),
            joint_unit=joint_unit,
            directed=kept["directed"] if "directed" in wanted else None,
            pruning=pruning,
            inference=inference,
            features=features,
            tagger=tagging.unpack(header, arrays),
            text=tagging.unpack_text(header, arrays),
        )

    def _parse_batch(self, sentences: list[Sentence], options: Options) -> list[Sentence]:
        if self.inference == "undirected" and (options.projective or options.confidence):
            raise ModelError(
                "projective trees and confidence need a parser with exact inference; this one was "
                "trained with inference='undirected'"
            )
        sentences, batch = self._prepare(sentences)
        heads = np.empty((1, batch.starts[-1]), dtype=np.int64)
        sure = np.ones(heads.shape if options.confidence else (1, 0))
        if self._pruning is not None and self._finds_by_edges(options):
            heads[0] = self._keep(batch, self._pruning, False).best_trees(options.root)
        else:
            for chosen, scores, trees in self._best_trees(batch, options):
                nodes = batch.starts[chosen][:, None] + np.arange(scores.shape[-1])
                heads[0, nodes] = trees
                if options.confidence:
                    sure[0, nodes] = self._probabilities(scores, trees[:, None], options)[:, 0]
        return [tree for [tree] in self._annotated(sentences, batch, heads, sure, options)]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        if self.inference == "undirected":
            raise ModelError(
                "the k best trees need a parser with exact inference; this one was trained with "
                "inference='undirected'"
            )
        sentences, batch = self._prepare(sentences)
        projective = self._decodes_projectively(options)
        heads = np.full((k, batch.starts[-1]), -1, dtype=np.int64)
        weights = np.full((k, len(sentences)), -np.inf)
        sure = np.ones(heads.shape if options.confidence else (k, 0))
        for chosen, scores in self._score(batch, projective=projective):
            nodes = batch.starts[chosen][:, None] + np.arange(scores.shape[-1])
            trees, of_trees, _ = kbest(scores, k, root=options.root, projective=projective)
            most = of_trees.shape[1]  # short sentences have fewer than k trees
            heads[:most, nodes] = trees.swapaxes(0, 1)
            weights[:most, chosen] = of_trees.T
            if options.confidence:
                sure[:most, nodes] = self._probabilities(scores, trees, options).swapaxes(0, 1)
        parsed = self._annotated(sentences, batch, heads, sure, options)
        return [
            list(zip(trees, of_trees, strict=False))
            for trees, of_trees in zip(parsed, weights.T.tolist(), strict=True)
        ]

    def _evidence_batch(
        self, sentences: list[Sentence], options: Options
    ) -> list[tuple[Sentence, NDArray[Any]]]:
        if self.inference == "undirected":
            return super()._evidence_batch(sentences, options)
        sentences, batch = self._prepare(sentences)
        heads = np.empty((1, batch.starts[-1]), dtype=np.int64)
        evidence = [np.empty(0)] * len(sentences)
        for chosen, scores, trees in self._best_trees(batch, options):
            heads[0, batch.starts[chosen][:, None] + np.arange(scores.shape[-1])] = trees
            believed = TreeDistribution(
                scores / np.float32(self.temperature),
                root=options.root,
                projective=self._decodes_projectively(options),
            )
            for b, marginals in zip(chosen.tolist(), believed.marginals, strict=True):
                evidence[b] = marginals
        parsed = self._annotated(sentences, batch, heads, np.ones((1, 0)), options)
        for b, [tree] in enumerate(parsed):
            before, after = heads[0, batch.starts[b] : batch.starts[b + 1]], tree.heads
            moved = np.flatnonzero(before != after)  # lowered edges take what spoke for the lifted
            of_both = evidence[b][[before[moved], after[moved]], moved]
            evidence[b][[after[moved], before[moved]], moved] = of_both
        return [(tree, of_sentence) for [tree], of_sentence in zip(parsed, evidence, strict=True)]

    def _best_trees(
        self, batch: Batch, options: Options
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]]:
        """Yield sentences of equal length, their scores and their trees; as `_score` does."""
        projective = self._decodes_projectively(options)
        groups = self._score(batch, projective=projective)
        if self.inference == "exact":
            for chosen, scores in groups:
                yield chosen, scores, decode(scores, root=options.root, projective=projective)
            return
        by_way = partial(decode, root=options.root, method="undirected")
        if self._directed is None:
            for chosen, scores in groups:
                yield chosen, scores, by_way(scores, rounds=self.rounds)
            return
        guides = self._score(batch, self._directed)
        for (chosen, scores), (_, guide) in zip(groups, guides, strict=True):
            yield chosen, scores, enhance(guide, by_way(scores, rounds=0), self.rounds)

    def _finds_by_edges(self, options: Options) -> bool:
        """Whether a list of edges is all that the trees need; other cases look at matrices."""
        projective = self._decodes_projectively(options)
        return self._joint is None and not projective and not options.confidence

    def _decodes_projectively(self, options: Options) -> bool:
        return bool(self.projective) if options.projective is None else options.projective

    def _probabilities(
        self, scores: NDArray[np.float32], trees: NDArray[np.int64], options: Options
    ) -> NDArray[np.float64]:
        return edge_probabilities(
            scores,
            trees,
            self.temperature,
            root=options.root,
            projective=self._decodes_projectively(options),
        )

    def _annotated(
        self,
        sentences: list[Sentence],
        batch: Batch,
        heads: NDArray[np.int64],
        sure: NDArray[np.float64],
        options: Options,
    ) -> list[list[Sentence]]:
        """Return each sentence with each of its trees.

        `heads` (K, N) are the trees of all sentences in a row, and `sure` the probabilities of
        their edges, to be written where they were asked for.
        """
        labels = self._label(batch, heads)
        lower = options.projective is None if self.projective == "pseudo" else None
        parsed = annotated(sentences, batch.starts, heads, labels, self.labels, lower=lower)
        if options.confidence:
            for sentence, trees, start in zip(sentences, parsed, batch.starts, strict=False):
                of_words = sure[:, start + 1 : start + 1 + len(sentence)].tolist()
                trees[:] = [
                    tree.replace(misc=with_edge_probs(sentence.misc, probabilities))
                    for tree, probabilities in zip(trees, of_words, strict=False)
                ]
        return parsed

    def _prepare(self, sentences: list[Sentence]) -> tuple[list[Sentence], Batch]:
        """Hash the words of some sentences, with tags and lemmas first, where they are missing."""
        return tagging.annotated(sentences, self._sides, self._tags, self.tagger, self.text)

    def _score(
        self,
        batch: Batch,
        directed: NDArray[Any] | None = None,
        *,
        projective: bool = False,
        joint: bool = True,
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return the scores of a batch: sentences of equal length, and their matrices.

        With `directed`, the scores are those of directed edges by these weights. `projective` says
        for which trees the edges are that pruning keeps.
        """
        templates, weights, unit = self._edge_templates, self._edges, self._edges_unit
        if directed is not None:
            templates = templates._replace(undirected=False)
            weights, unit = directed, self._directed_unit
        layout = Matrices.of(np.diff(batch.starts))
        if self._pruning is not None:
            out = self._keep(batch, self._pruning, projective).to_matrices(layout)
        else:
            out = np.zeros(layout.size, dtype=np.float32)
            sums = self._edge_sums(batch, weights)
            met = np.empty(self._layout.tags, dtype=sums.dtype)
            score_edges(batch, templates, self._layout, weights, sums, met, out, layout.places)
            out *= np.float32(unit)
        if joint and self._joint is not None:
            add_relations(
                batch,
                self._joint_templates,
                self._joint,
                self._allowed,
                self._joint_unit,
                _NO_GOLD,
                _NO_GOLD,
                self._label_sums(self._joint),
                out,
                layout.places,
                np.empty(out.shape, dtype=np.int16),
            )
        return layout.split(out)

    def _keep(self, batch: Batch, pruning: EdgeFilter, projective: bool) -> KeptEdges:
        """Prune the edges of a batch, and score those that are left."""
        starts, heads = keep_edges(batch, pruning, projective)
        scores = np.empty(len(heads), dtype=np.float32)
        score_kept_edges(
            batch,
            self._edge_templates,
            self._layout,
            self._edges,
            self._edge_sums(batch, self._edges),
            starts,
            heads,
            scores,
        )
        scores *= np.float32(self._edges_unit)
        return KeptEdges(batch.starts, starts, heads, scores)

    def _edge_sums(self, batch: Batch, weights: NDArray[Any]) -> NDArray[Any]:
        """Make room to add up weights of edges in."""
        sums = np.float32 if weights.dtype == np.float32 else np.int32
        return np.empty((2, np.diff(batch.starts).max(), WIDE), dtype=sums)

    def _label(self, batch: Batch, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the relations of all nodes in a row, for each row of heads."""
        labels: NDArray[np.int64] = np.zeros(heads.shape, dtype=np.int64)
        label_edges(
            batch,
            self._relation_templates,
            self._relations,
            self._allowed,
            heads,
            self._label_sums(self._relations),
            labels,
        )
        return labels

    def _label_sums(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Make room to add up weights of relations in."""
        return np.empty(len(self.labels), np.float32 if weights.dtype == np.float32 else np.int32)
