"""A first-order graph-based parser with a linear model, decoded exactly (McDonald et al. 2005)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.errors import ModelError
from arborescence.parsers.linear.edges import LAYOUT, WeightLayout
from arborescence.parsers.linear.graphs import LinearGraphs, UndirectedGraphs, compiled
from arborescence.parsers.linear.pruning import ARRAYS, THRESHOLD, EdgeFilter, sides_for
from arborescence.parsers.linear.settings import Settings
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.graph_parser import TEMPERATURES, GraphParser
from arborescence.parsers.shared.options import kept_fields
from arborescence.parsers.shared.run import Weights
from arborescence.parsers.tagger import tagging

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from arborescence.core.choices import Changes
    from arborescence.parsers.shared.base import Options
    from arborescence.parsers.shared.features import Batch
    from arborescence.parsers.shared.options import Features, Inference, Projective
    from arborescence.parsers.shared.run import ParserRun, Task
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.text.model import Text
    from arborescence.treebank import Sentence

#: The valid pairs of inference and features.
_KINDS: Final = [("exact", "directed"), ("undirected", "directed"), ("undirected", "undirected")]
_FIELDS: Final = {
    "columns": scheme.LOOKED_AT,
    "labels": scheme.VALUES,
    "layout": LAYOUT,
    "units": scheme.list_of(scheme.UNIT, 3, 3),
    "directed_unit": scheme.UNIT,
    "projective": scheme.one_of([False, True, "pseudo"], False),
    **kept_fields(Settings),
    **dict.fromkeys(TEMPERATURES, scheme.real(1e-4, 1e4, 1.0)),
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


@dataclass(kw_only=True, eq=False, repr=False)
class LinearParser(GraphParser):
    """A parser that scores edges, and then relations, by linear functions of hashed features.

    Created by `train`, or by `arborescence.load`.

    Attributes
    ----------
    columns : tuple of str
        The columns that features use: some of form, lemma, upos, xpos and feats.
    labels : tuple of str
        The relations that the parser can assign.
    allowed : (2, L) bool
        The relations allowed on edges from the root, and on other edges.
    tags : (P - 2,) uint64
        The sorted hashes of the UPOS tags that have numbers of their own.
    layout : WeightLayout
        The sizes of the parts of the vector of edge weights.
    weights : dict of str to Weights
        ``"edges"``, (layout.size,); ``"relations"``, (R, L), for relations given the tree;
        optionally ``"joint"``, (R, L), for joint scores of relations; and ``"directed"``, of the
        shape of edges, for the enhancement of trees with undirected features.
    pruning : EdgeFilter or None
        The filter that selects the edges to score; None: all edges are scored.
    projective : bool or "pseudo"
        The kind of trees; ``"auto"`` in `Settings` has been decided.
    inference : {"exact", "undirected"}
        Whether `parse` finds the best tree, or a tree by way of an undirected tree.
    features : {"directed", "undirected"}
        Whether features see an edge's direction, with undirected inference.
    rounds : int or None
        The number of rounds of local enhancement, with undirected inference.
    changes : {"disjoint", "best"}
        The changes of a round of local enhancement: see `Settings`.
    temperature, relation_temperature, tree_temperature : float
        The divisors that turn scores of edges, relations and whole trees into log-probabilities
        (up to a constant). Training fits them on the dev set; without a dev set, they are 1.
    tagger : Tagger or None
        Tags sentences without UPOS.
    text : Text or None
        Splits raw text into sentences and words, and adds missing lemmas.
    info : dict
        The training settings, and the scores on the dev set after each epoch.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> one = Sentence.from_words(["Old", "trees", "grow"], upos=["ADJ", "NOUN", "VERB"],
    ...                           heads=[2, 3, 0], deprels=["amod", "nsubj", "root"])
    >>> two = Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"],
    ...                           heads=[2, 0], deprels=["nsubj", "root"])
    >>> parser = LinearParser.train([one, two], epochs=3)
    >>> new = Sentence.from_words(["Old", "birds", "sing"], upos=["ADJ", "NOUN", "VERB"])
    >>> [parsed] = parser.parse([new])
    >>> parsed.heads, parsed.deprels
    (array([2, 3, 0]), ['amod', 'nsubj', 'root'])
    >>> [(best, second)] = parser.kbest([new], 2)
    >>> best[0].heads, bool(best[1] > second[1])
    (array([2, 3, 0]), True)
    """

    kind: ClassVar[str] = "linear"
    settings_class = Settings
    #: The kinds of templates besides those of edges and relations.
    more_templates: ClassVar[Mapping[str, Any]] = {}

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    allowed: NDArray[np.bool_]
    tags: NDArray[np.uint64]
    layout: WeightLayout
    weights: Mapping[str, Weights]
    pruning: EdgeFilter | None = None
    projective: Projective = False
    inference: Inference = "exact"
    features: Features = "directed"
    rounds: int | None = 5
    changes: Changes = "disjoint"
    temperature: float = 1.0
    relation_temperature: float = 1.0
    tree_temperature: float = 1.0
    tagger: Tagger | None = None
    text: Text | None = None
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compile the feature templates."""
        self.columns, self.labels = tuple(self.columns), tuple(self.labels)
        self._sides, self.templates = compiled(self.columns, self.features, self.more_templates)

    @classmethod
    def _trainer(cls, task: Task) -> ParserRun:
        from arborescence.parsers.linear.training import Trainer

        return Trainer(task)

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of the header that this kind of parser has, and the arrays."""
        weights = self.weights
        header: dict[str, Any] = {
            "columns": self.columns,
            "labels": self.labels,
            "layout": self.layout,
            "units": [weights[name].unit if name in weights else 1.0 for name in _UNITS],
            "projective": self.projective,
            **{name: getattr(self, name) for name in kept_fields(Settings)},
            **{name: getattr(self, name) for name in TEMPERATURES},
            "info": self.info,
        }
        arrays = {"allowed": self.allowed, "tags": self.tags}
        arrays |= {name: weights[name].table for name in _ARRAYS if name in weights}
        if "directed" in weights:
            header["directed_unit"] = weights["directed"].unit
        if self.pruning is not None:
            header["pruning"] = self.pruning.threshold
            arrays |= dict(zip(ARRAYS, self.pruning[1:4], strict=True))
        tagging.pack(self.tagger, self.text, header, arrays)
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a parser from the header and arrays of a model file; ModelError if invalid."""
        fields = scheme.fields_of(header, _FIELDS)
        inference, features = fields["inference"], fields["features"]
        if (inference, features) not in _KINDS:
            raise ModelError(f"inference and features are {inference!r} and {features!r}")
        layout = fields["layout"] = WeightLayout(*fields["layout"])
        guided = features == "undirected" and fields["rounds"] != 0
        missing = {"joint"} if guided else {"joint", "directed"}
        lengths = {"labels": len(fields["labels"]), "known": layout.tags - 2, "tags": layout.tags}
        lengths["weights"] = layout.size
        pruned = fields["pruning"] is not None
        schemes = _ARRAYS | (ARRAYS if pruned else {})
        kept = scheme.arrays_of(arrays, schemes, lengths, optional=missing)
        units = dict(zip(_UNITS, fields.pop("units"), strict=True))
        units["directed"] = fields.pop("directed_unit")
        weights = {name: Weights(kept[name], unit) for name, unit in units.items() if name in kept}
        if not guided:
            weights.pop("directed", None)
        if pruned:
            limits, words, of_tags = (kept[name] for name in ARRAYS)
            sides = sides_for(fields["columns"])
            fields["pruning"] = EdgeFilter(sides, limits, words, of_tags, fields["pruning"])
        return cls(
            **fields,
            allowed=kept["allowed"],
            tags=kept["tags"],
            weights=weights,
            **tagging.unpack(header, arrays),
        )

    @property
    def probabilistic(self) -> bool:
        """Whether inference is exact, so that the weights define a distribution over trees."""
        return self.inference == "exact"

    @property
    def _keeps_all_rules(self) -> bool:
        return self.inference == "exact"

    def _refuse(self, options: Options, *, kbest: bool = False) -> None:
        wanted = kbest, options.projective, options.confidence, options.rules, options.keep
        if self.inference == "undirected" and any(wanted):
            options_named = (
                "the k best trees need" if kbest else "projective trees, confidence and rules need"
            )
            raise ModelError(
                f"{options_named} a parser with exact inference; this parser was trained with "
                "inference='undirected'"
            )

    def _graphs(self, sentences: list[Sentence], options: Options) -> LinearGraphs:
        kind = LinearGraphs if self.inference == "exact" else UndirectedGraphs
        return kind(self, *self._prepare(sentences, options.confidence), options)

    def _unfiltered(self) -> Self | None:
        if self.pruning is None:
            return None
        parser = copy(self)
        parser.pruning = self.pruning.keeping_all()
        return parser

    def _prepare(
        self, sentences: list[Sentence], confidence: bool = False
    ) -> tuple[list[Sentence], Batch]:
        """Add missing tags and lemmas to sentences, and hash their words."""
        models = self.tagger, self.text
        return tagging.annotated(
            sentences, self._sides, self.tags, *models, self.reading, confidence
        )
