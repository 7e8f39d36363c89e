"""A first-order graph-based parser with a linear model, decoded exactly (McDonald et al. 2005)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np

from arborescence.core.errors import ModelError
from arborescence.inference.decode import decode
from arborescence.nonprojective.sparse import decode_sparse
from arborescence.parsers.linear.edges import (
    LAYOUT,
    WIDE,
    EdgeModel,
    EdgeTemplates,
    Layout,
    score_edges,
    score_kept_edges,
)
from arborescence.parsers.linear.joint import add_all_relations, add_relations
from arborescence.parsers.linear.kept import KeptEdges, Matrices, both_ways
from arborescence.parsers.linear.pruning import THRESHOLD, EdgeFilter, keep_edges
from arborescence.parsers.linear.settings import Settings
from arborescence.parsers.linear.undirected import enhanced, find_listed, find_trees
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.annotating import annotated
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.confidence import edge_probabilities
from arborescence.parsers.shared.features import Sides
from arborescence.parsers.shared.options import kept_fields
from arborescence.parsers.shared.relations import RelationModel, RelationTemplates, label_edges
from arborescence.parsers.shared.weights import Weights
from arborescence.parsers.tagger import tagging
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.run import ParserRun, Task
    from arborescence.parsers.shared.types import Features, Inference, Projective
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

#: The valid combinations of inference and features.
_KINDS: Final = [("exact", "directed"), ("undirected", "directed"), ("undirected", "undirected")]
_FIELDS: Final = {
    "columns": scheme.LOOKED_AT,
    "labels": scheme.VALUES,
    "layout": LAYOUT,
    "units": scheme.list_of(scheme.UNIT, 3, 3),
    "directed_unit": scheme.UNIT,
    "projective": scheme.one_of([False, True, "pseudo"], False),
    **kept_fields(Settings),
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
#: The weights whose units are in the header field ``units``, in this order.
_UNITS: Final = ("edges", "relations", "joint")


class LinearParser(Parser):
    """A parser that scores edges, and then relations, by linear functions of hashed features.

    Created by `train`, or by `arborescence.load`.

    Attributes
    ----------
    columns : tuple of str
        The columns that features use: some of form, lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that it can assign.
    projective : bool or "pseudo"
        Its kind of trees: what ``"auto"`` in `Settings` has chosen.
    inference : {"exact", "undirected"}
        How `parse` finds a tree: see `Settings`, also for the next two.
    features : {"directed", "undirected"}
        Whether edge scores depend on direction.
    rounds : int or None
        The number of rounds of local enhancement, if inference is undirected.
    temperature : float
        The divisor that turns scores into log-probabilities (up to a constant): fitted on the dev
        set, 1 without one.
    tagger : Tagger or None
        Tags sentences without UPOS.
    text : Text or None
        Splits raw text into sentences and words, and adds missing lemmas.
    info : dict
        The training settings, and the scores on the dev set after each epoch.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> treebank = [
    ...     Sentence.from_words(["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"],
    ...                         heads=[-1, 2, 3, 0], deprels=["amod", "nsubj", "root"]),
    ...     Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"],
    ...                         heads=[-1, 2, 0], deprels=["nsubj", "root"]),
    ... ]
    >>> parser = LinearParser.train(treebank, epochs=3)
    >>> new = Sentence.from_words(["Old", "birds", "sing"], upos=["ADJ", "NOUN", "VERB"])
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([-1,  2,  3,  0]), ['amod', 'nsubj', 'root'])
    >>> [(best, second)] = parser.kbest([new], 2)
    >>> best[0].heads, bool(best[1] > second[1])
    (array([-1,  2,  3,  0]), True)
    """

    kind: ClassVar[str] = "linear"
    settings_class = Settings

    def __init__(
        self,
        *,
        columns: Sequence[str],
        labels: Sequence[str],
        allowed: NDArray[np.bool_],
        tags: NDArray[np.uint64],
        layout: Layout,
        weights: Mapping[str, Weights],
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
        """Make a parser from its parts.

        Parameters
        ----------
        columns, labels, projective, inference, features, rounds, temperature, tagger, text, info
            As the attributes.
        allowed : (2, L) bool
            The relations allowed on edges from the root, and on other edges.
        tags : (P - 2,) uint64
            Sorted hashes of the UPOS tags that have their own number.
        layout
            The layout of the edge weights.
        weights
            ``"edges"``, (layout.size,); ``"relations"``, (R, L), for relations given the tree;
            optionally ``"joint"``, (R, L), for joint scores of relations; and ``"directed"``, like
            edges, for the enhancement of trees with undirected features.
        pruning
            Selects the edges to score; None: all edges.
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
        self._weights = weights
        self._pruning = pruning
        sides: list[str] = []
        directed = EdgeTemplates.of(self.columns, sides)
        self._edge_templates = {
            "edges": directed._replace(undirected=features == "undirected"),
            "directed": directed,
        }
        self._relation_templates = {
            "relations": RelationTemplates.of(self.columns, sides),
            "joint": RelationTemplates.of(self.columns, sides, "dh"),
        }
        self._add_templates(sides)
        self._sides = Sides.of(sides)

    def _add_templates(self, sides: list[str]) -> None:
        """Add the sides of more templates, for parsers with more features."""

    @classmethod
    def _trainer(cls, task: Task) -> ParserRun:
        from arborescence.parsers.linear.training import Trainer

        return Trainer(task)

    def scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges of a sentence.

        Parameters
        ----------
        sentence
            A sentence of n words. It is tagged first if it has no UPOS and there is a tagger.

        Returns
        -------
        scores : (n + 1, n + 1) float32
            ``scores[h, d]`` is the weight of the edge h -> d; column 0 and the diagonal are 0. If
            the parser prunes, removed edges are -inf. The tree that `parse` finds is
            ``arborescence.decode(scores)``, or, if the parser is for projective trees,
            ``arborescence.decode(scores, projective=True)``. With undirected inference, it is
            ``arborescence.undirected.decode(scores, rounds=parser.rounds)``. But with undirected
            features, both directions of an edge have the same score here and enhancement uses other
            scores, so this holds only for 0 rounds.
            ``arborescence.TreeDistribution(scores / parser.temperature)`` is the parser's
            distribution over trees.
        """
        _, batch = self._prepare([sentence])
        [(_, matrices)] = self._score(batch, projective=bool(self.projective))
        return matrices.reshape(matrices.shape[1:])

    def labeled_scores(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the weights of all edges with each of their relations; for joint models only.

        Parameters
        ----------
        sentence
            As for `scores`.

        Returns
        -------
        scores : (n + 1, n + 1, L) float32
            ``scores[h, d, l]`` is the weight of the edge h -> d plus the joint score of the
            relation ``labels[l]`` on it; -inf if the relation is not allowed there. The maximum
            over relations is `scores`. The relations of `parse` may differ: they are chosen after
            decoding, given the whole tree.

        Raises
        ------
        ModelError
            If the parser was trained without ``joint=True``.
        """
        if "joint" not in self._weights:
            raise ModelError(
                "labeled scores need a parser that was trained with joint=True; this one chooses "
                "relations once the tree is known"
            )
        _, batch = self._prepare([sentence])
        [(_, [edges])] = self._score(batch, projective=bool(self.projective), joint=False)
        labeled: NDArray[np.float32] = np.repeat(edges[..., None], len(self.labels), axis=-1)
        model, unit, sums = self._relation_model("joint")
        add_all_relations(batch, model, unit, sums, labeled)
        return labeled

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a model file, including those of the tagger."""
        weights = self._weights
        header: dict[str, Any] = {
            "kind": self.kind,
            "library": __version__,
            "columns": self.columns,
            "labels": self.labels,
            "layout": self._layout,
            "units": [weights[name].unit if name in weights else 1.0 for name in _UNITS],
            "projective": self.projective,
            **{name: getattr(self, name) for name in kept_fields(Settings)},
            "temperature": self.temperature,
            "info": self.info,
        }
        arrays = {"allowed": self._allowed, "tags": self._tags}
        arrays |= {name: weights[name].table for name in _ARRAYS if name in weights}
        if "directed" in weights:
            header["directed_unit"] = weights["directed"].unit
        if self._pruning is not None:
            header["pruning"] = self._pruning.threshold
            arrays |= self._pruning.to_arrays()
        tagging.pack(self.tagger, self.text, header, arrays)
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from what `model_file.load` returned; raise ModelError if it is invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        inference, features = fields["inference"], fields["features"]
        if (inference, features) not in _KINDS:
            raise ModelError(f"inference and features are {inference!r} and {features!r}")
        layout = fields["layout"] = Layout(*fields["layout"])
        guided = features == "undirected" and fields["rounds"] != 0
        missing = {"joint"} if guided else {"joint", "directed"}
        lengths = {
            "labels": len(fields["labels"]),
            "known": layout.tags - 2,
            "weights": layout.size,
        }
        kept = scheme.arrays_of(arrays, _ARRAYS, lengths, optional=missing)
        units = dict(zip(_UNITS, fields.pop("units"), strict=True))
        units["directed"] = fields.pop("directed_unit")
        weights = {name: Weights(kept[name], unit) for name, unit in units.items() if name in kept}
        if not guided:
            weights.pop("directed", None)
        if fields["pruning"] is not None:
            fields["pruning"] = EdgeFilter.from_arrays(
                arrays, fields["pruning"], fields["columns"], layout.tags
            )
        return cls(
            **fields,
            allowed=kept["allowed"],
            tags=kept["tags"],
            weights=weights,
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
        probabilities = np.ones(heads.shape if options.confidence else (1, 0))
        if self._pruning is not None and self._finds_by_edges(options):
            kept = self._keep(batch, self._pruning, False)
            heads[0] = kept.trees(*self._decoders(options.root))
        else:
            for chosen, scores, trees in self._best_trees(batch, options):
                nodes = batch.starts[chosen][:, None] + np.arange(scores.shape[-1])
                heads[0, nodes] = trees
                if options.confidence:
                    of_trees = self._probabilities(scores, trees[:, None], options)
                    probabilities[0, nodes] = of_trees[:, 0]
        parsed = self._annotated(sentences, batch, heads, probabilities, options)
        return [tree for [tree] in parsed]

    def _kbest_batch(
        self, sentences: list[Sentence], k: int, options: Options
    ) -> list[list[tuple[Sentence, float]]]:
        if self.inference == "undirected":
            raise ModelError(
                "the k best trees need a parser with exact inference; this one was trained with "
                "inference='undirected'"
            )
        from arborescence.inference.kbest import kbest

        sentences, batch = self._prepare(sentences)
        projective = self._decodes_projectively(options)
        heads = np.full((k, batch.starts[-1]), -1, dtype=np.int64)
        weights = np.full((k, len(sentences)), -np.inf)
        probabilities = np.ones(heads.shape if options.confidence else (k, 0))
        for chosen, scores in self._score(batch, projective=projective):
            nodes = batch.starts[chosen][:, None] + np.arange(scores.shape[-1])
            trees, of_trees, _ = kbest(scores, k, root=options.root, projective=projective)
            most = of_trees.shape[1]  # short sentences may have fewer than k trees
            heads[:most, nodes] = trees.swapaxes(0, 1)
            weights[:most, chosen] = of_trees.T
            if options.confidence:
                of_edges = self._probabilities(scores, trees, options)
                probabilities[:most, nodes] = of_edges.swapaxes(0, 1)
        parsed = self._annotated(sentences, batch, heads, probabilities, options)
        return [
            list(zip(trees, of_trees, strict=False))
            for trees, of_trees in zip(parsed, weights.T.tolist(), strict=True)
        ]

    def _evidence_batch(
        self, sentences: list[Sentence], options: Options
    ) -> list[tuple[Sentence, NDArray[Any]]]:
        if self.inference == "undirected":
            return super()._evidence_batch(sentences, options)
        from arborescence.distribution.arrays import TreeDistribution

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
            # Lowered edges swap marginals with the lifted ones.
            moved = np.flatnonzero(before != after)
            of_both = evidence[b][[before[moved], after[moved]], moved]
            evidence[b][[after[moved], before[moved]], moved] = of_both
        return [(tree, of_sentence) for [tree], of_sentence in zip(parsed, evidence, strict=True)]

    def _best_trees(
        self, batch: Batch, options: Options
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]]:
        """Yield the numbers of sentences of equal length, their scores and their trees."""
        projective = self._decodes_projectively(options)
        groups = self._score(batch, projective=projective)
        if self.inference == "exact":
            for chosen, scores in groups:
                yield chosen, scores, decode(scores, root=options.root, projective=projective)
        elif "directed" not in self._weights:
            for chosen, scores in groups:
                yield chosen, scores, find_trees(scores, options.root, self.rounds)
        else:
            guides = self._score(batch, "directed")
            for (chosen, scores), (_, guide) in zip(groups, guides, strict=True):
                trees = find_trees(scores, options.root, rounds=0)
                yield chosen, scores, enhanced(guide, trees, self.rounds)

    def _finds_by_edges(self, options: Options) -> bool:
        """Return whether decoding needs only a list of kept edges; other cases need matrices."""
        projective = self._decodes_projectively(options)
        of_matrices = self._weights.keys() & {"joint", "directed"} or projective
        return not (of_matrices or options.confidence)

    def _decoders(self, root: Root) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return what finds the trees of matrices, and that of a list of edges."""
        if self.inference == "exact":
            return partial(decode, root=root), partial(decode_sparse, root=root)
        return (
            partial(find_trees, root=root, rounds=self.rounds),
            partial(find_listed, root=root, rounds=self.rounds),
        )

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
        probabilities: NDArray[np.float64],
        options: Options,
    ) -> list[list[Sentence]]:
        """Return, for each sentence, a copy with each of its trees.

        `heads` (K, N) are the trees of all sentences in a row. `probabilities` are those of their
        edges, written into MISC if requested.
        """
        labels = self._label(batch, heads)
        lower = options.projective is None if self.projective == "pseudo" else None
        return annotated(
            sentences,
            batch.starts,
            heads,
            labels,
            self.labels,
            lower=lower,
            probabilities=probabilities if options.confidence else None,
        )

    def _prepare(self, sentences: list[Sentence]) -> tuple[list[Sentence], Batch]:
        """Add missing tags and lemmas to sentences, and hash their words."""
        return tagging.annotated(sentences, self._sides, self._tags, self.tagger, self.text)

    def _score(
        self,
        batch: Batch,
        name: Literal["edges", "directed"] = "edges",
        *,
        projective: bool = False,
        joint: bool = True,
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return the scores of a batch: numbers of sentences of equal length, and their matrices.

        `name` selects the weights; with `projective`, pruning keeps a projective tree.
        """
        layout = Matrices.of(np.diff(batch.starts))
        if self._pruning is not None:
            out = self._keep(batch, self._pruning, projective, name).to_matrices(layout)
        else:
            model, unit, sums = self._edge_model(name, batch)
            out = np.zeros(layout.size, dtype=np.float32)
            met = np.empty(self._layout.tags, dtype=sums.dtype)
            score_edges(batch, model, sums, met, out, layout.places)
            out *= np.float32(unit)
        if joint and "joint" in self._weights:
            relations, unit, sums = self._relation_model("joint")
            best = np.empty(out.shape, dtype=np.int16)
            nothing = np.empty(0, dtype=np.int64)
            add_relations(batch, relations, unit, nothing, nothing, sums, out, layout.places, best)
        return layout.split(out)

    def _keep(
        self, batch: Batch, pruning: EdgeFilter, projective: bool, name: str = "edges"
    ) -> KeptEdges:
        """Prune the edges of a batch, and score the kept ones with the weights of this name."""
        starts, heads = keep_edges(batch, pruning, projective)
        turned = None
        if self.inference == "undirected":
            starts, heads, turned = both_ways(batch.starts, starts, heads)
        scores = np.empty(len(heads), dtype=np.float32)
        model, unit, sums = self._edge_model(name, batch)
        score_kept_edges(batch, model, sums, starts, heads, scores)
        if turned is not None and model.templates.undirected:  # scored from left to right
            nodes = np.concatenate([np.arange(n) for n in np.diff(batch.starts)])
            leftward = heads > np.repeat(nodes, np.diff(starts))
            scores[leftward] = scores[turned[leftward]]
        scores *= np.float32(unit)
        return KeptEdges(batch.starts, starts, heads, scores)

    def _label(self, batch: Batch, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the relation numbers of all nodes in a row, for each row of heads."""
        labels: NDArray[np.int64] = np.zeros(heads.shape, dtype=np.int64)
        model, _, sums = self._relation_model("relations")
        label_edges(batch, model, heads, sums, labels)
        return labels

    def _edge_model(self, name: str, batch: Batch) -> tuple[EdgeModel, float, NDArray[Any]]:
        """Return edge weights for kernels, their unit, and scratch for sums."""
        table, unit = self._weights[name]
        longest = int(np.diff(batch.starts).max())
        sums = self._weights[name].sums((2, longest, WIDE))
        return EdgeModel(self._edge_templates[name], self._layout, table), unit, sums

    def _relation_model(self, name: str) -> tuple[RelationModel, float, NDArray[Any]]:
        """Return relation weights for kernels, their unit, and scratch for sums."""
        table, unit = self._weights[name]
        model = RelationModel(self._relation_templates[name], table, self._allowed)
        return model, unit, self._weights[name].sums(len(self.labels))
