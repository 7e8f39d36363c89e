"""Scores of new edges and their relations, by the old tree around the two words of an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.errors import ModelError, NoTreeError, TreebankError
from arborescence.inference.decode import decode
from arborescence.parsers import registry
from arborescence.parsers.harmonizer.chooser import ClassChooser, HeadChooser
from arborescence.parsers.harmonizer.corrections import keep
from arborescence.parsers.harmonizer.features import EDGES, CandidateEdges, universal
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.harmonizer.lessons import Lessons
    from arborescence.parsers.harmonizer.pairing import Pair
    from arborescence.parsers.shared.graph_parser import GraphParser
    from arborescence.treebank import Sentence

    Numbers = NDArray[np.int64]

# The log-probability of edges between words that are far from each other in the old tree.
_FAR: Final = np.float32(-25)
# Relations are scored for candidates with at least this log-probability.
_LIKELY: Final = -4.0
_LEAST: Final = np.float32(1e-6)
#: The kind of parser whose scores are added, and its epochs.
_PARSER: Final = "linear"
_EPOCHS: Final = 8
_FIELDS: Final = {
    "relations": scheme.VALUES,
    "roots": scheme.list_of(scheme.whole(0, 3), 1, 10**6),
    "parser": scheme.INFO,
    "parser_weight": scheme.real(0, 100),
}


class Scored(NamedTuple):
    """The scores of edges in some sentences, and the best trees."""

    #: the edges that have scores
    candidates: CandidateEdges
    #: of each sentence: scores of edges
    matrices: list[NDArray[np.float32]]
    #: (m, L): the probabilities of relations of each candidate
    chances: NDArray[np.float32]
    #: of each sentence: the head vector with the highest score
    trees: list[Numbers]
    #: (words,): the candidate for each word's edge in `trees`
    rows: Numbers

    @property
    def labels(self) -> Numbers:
        """The most probable relation of each word."""
        labels: Numbers = self.chances[self.rows].argmax(axis=1)
        return labels


class EdgeScorer:
    """Scores edges of the new scheme, and chooses their relations.

    Signs come last, since their heads depend on the new edges of the words around them. Their
    scores are the mean of two log-probabilities, one by the old tree, one by the new tree of all
    other words.
    """

    def __init__(
        self,
        heads: HeadChooser,
        signs: HeadChooser | None,
        relations: ClassChooser,
        roots: Numbers,
        parser: GraphParser | None = None,
        weight: float = 0.0,
    ) -> None:
        self._heads, self._signs, self._relations = heads, signs, relations
        # of each relation: 1 if it can be at the root, 2 if elsewhere, or their sum
        self._roots = roots
        #: The parser whose scores are added, and their factor.
        self.parser, self.weight = parser, weight

    @classmethod
    def learn(
        cls,
        pairs: Sequence[Pair],
        lessons: Lessons,
        epochs: int,
        rng: np.random.Generator,
        *,
        parser: bool = False,
    ) -> Self:
        """Learn from pairs, and from the lessons made of them; perhaps train a parser, too."""
        candidates, gold = lessons.candidates, lessons.gold
        words = np.flatnonzero(gold >= 0)
        places = candidates.places(EDGES)
        heads = HeadChooser.learn(places, candidates.groups, gold, epochs, rng)
        names = [lessons.relations[word] for word in words.tolist()]
        relations = ClassChooser.learn(places[gold[words]], names, epochs, rng)
        at_root = np.where(lessons.heads[words] == 0, 1, 2)
        codes = np.searchsorted(np.array(relations.classes), np.array(names))
        roots = np.zeros(len(relations.classes), dtype=np.int64)
        np.bitwise_or.at(roots, codes, at_root)
        settled = candidates.with_new_trees(lessons.heads, lessons.relations)
        rows, groups = _rows_of_signs(settled)
        of_signs = settled.where(lessons.heads)[settled.signs[settled.nodes]]
        signs = None
        if (of_signs >= 0).any():
            of_signs = np.where(of_signs >= 0, np.searchsorted(rows, of_signs), -1)
            signs = HeadChooser.learn(settled.places(EDGES, rows), groups, of_signs, epochs, rng)
        trained = _parser_of(pairs, lessons, rng) if parser else None
        return cls(heads, signs, relations, roots, trained)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the new scheme."""
        return self._relations.classes

    def scored(self, sentences: Sequence[Sentence], kept: Sequence[Sentence | None] = ()) -> Scored:
        """Score sentences in the old annotation, and find the best trees.

        Parameters
        ----------
        sentences
            In the old annotation.
        kept
            The same sentences with corrected words, which keep their heads; None for sentences
            without them.

        Raises
        ------
        TreebankError
            If corrected heads are no part of a tree.
        """
        candidates = CandidateEdges(sentences)
        weights, chances = self._weighed(candidates)
        scores = np.full(int(np.square(np.diff(candidates.starts)).sum()), _FAR)
        scores[candidates.cells()] = weights
        matrices = candidates.matrices(scores)
        if self.parser is not None and self.weight:
            of_parser = self.parser.scores_of(map(_dressed, sentences))
            for matrix, added in zip(matrices, of_parser, strict=True):
                matrix += np.float32(self.weight) * added
        for matrix, fixed in zip(matrices, kept, strict=False):
            if fixed is not None:
                keep(matrix, fixed)
        trees = [_decoded(*each) for each in zip(matrices, sentences, strict=True)]
        scored = Scored(candidates, matrices, chances, trees, candidates.rows_of(trees))
        if self._signs is None or not candidates.signs.any():
            return scored
        return self._with_signs(self._signs, scored, scores, weights)

    def _with_signs(
        self,
        signs: HeadChooser,
        scored: Scored,
        scores: NDArray[np.float32],
        weights: NDArray[np.float32],
    ) -> Scored:
        """Score the heads of signs by the new trees, too, and find the best trees again."""
        names = [self.relations[k] for k in scored.labels.tolist()]
        settled = scored.candidates.with_new_trees(
            np.concatenate([t[1:] for t in scored.trees]), names
        )
        rows, groups = _rows_of_signs(settled)
        logs = signs.logs(settled.places(EDGES, rows), groups)
        # the mean of both scores: half of the second is added, and half of the first removed
        before, _ = _rows_of_signs(scored.candidates)
        scores[scored.candidates.cells(before)] += (_FAR - weights[before]) / 2
        scores[settled.cells(rows)] += (logs - _FAR) / 2
        parts = np.split(settled.signs, settled.starts[1:-1])
        trees = [
            decode(matrix) if part.any() else tree
            for matrix, part, tree in zip(scored.matrices, parts, scored.trees, strict=True)
        ]
        return scored._replace(trees=trees, rows=scored.candidates.rows_of(trees))

    def _weighed(
        self, candidates: CandidateEdges
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the weights of candidates, and the probabilities of their relations."""
        places = candidates.places(EDGES)
        logs = self._heads.logs(places, candidates.groups)
        at_root = (~candidates.words[candidates.ends[:, 0]]).astype(np.int64)
        allowed = np.stack([self._roots & 2, self._roots & 1]) > 0
        chances = (_LEAST * allowed)[at_root]
        best = np.full(logs.size, _LEAST)
        likely = np.flatnonzero(logs > _LIKELY)
        chances[likely] = self._relations.chances(places[likely]) * allowed[at_root[likely]]
        best[likely] = np.maximum(chances[likely].max(axis=1), _LEAST)
        return logs + np.log(best), chances

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fields of a model file's header, and the arrays."""
        header: dict[str, Any] = {
            "relations": list(self.relations),
            "roots": self._roots.tolist(),
            "parser_weight": self.weight,
        }
        parts = {"heads/": self._heads.to_file(), "relations/": self._relations.to_file()}
        if self._signs is not None:
            parts["signs/"] = self._signs.to_file()
        if self.parser is not None:
            header["parser"], parts["parser/"] = self.parser.to_file()
        return header, scheme.joined(parts)

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore a scorer from the output of `to_file`, or raise `ModelError`."""
        fields = scheme.fields_of(header, _FIELDS)
        relations = fields["relations"]
        if len(fields["roots"]) != len(relations):
            raise ModelError("roots and relations have different lengths")
        signs, parser = scheme.part(arrays, "signs/"), fields["parser"]
        if parser and parser.get("kind") != _PARSER:
            raise ModelError(f"the parser in it is not {_PARSER}")
        return cls(
            HeadChooser.from_file(scheme.part(arrays, "heads/")),
            HeadChooser.from_file(signs) if signs else None,
            ClassChooser.from_file(relations, scheme.part(arrays, "relations/")),
            np.array(fields["roots"]),
            parser and registry.from_file(parser, scheme.part(arrays, "parser/")),
            fields["parser_weight"],
        )


def _decoded(matrix: NDArray[np.float32], sentence: Sentence) -> Numbers:
    try:
        return decode(matrix)
    except NoTreeError as error:
        raise TreebankError(
            f"{sentence.source}:{sentence.line}: the corrected heads are no part of a tree "
            "with one root"
        ) from error


def _rows_of_signs(candidates: CandidateEdges) -> tuple[Numbers, Numbers]:
    """Return the candidates of signs, and the index of each sign's first, as in `groups`."""
    signs = candidates.nodes[candidates.signs[candidates.nodes]]
    rows = np.flatnonzero(candidates.signs[candidates.ends[:, 1]])
    ends = np.append(signs, candidates.trees.size)
    return rows, np.searchsorted(candidates.ends[rows, 1], ends)


def _dressed(sentence: Sentence) -> Sentence:
    """Return a sentence as the input of the parser: old relations stand in XPOS."""
    return sentence.replace(
        xpos=list(map(universal, sentence.deprels)), heads=None, deprels=None, deps=None
    )


def _parser_of(pairs: Sequence[Pair], lessons: Lessons, rng: np.random.Generator) -> GraphParser:
    """Train a parser on the words whose new heads are known."""
    treebank, first = [], 0
    for each in pairs:
        last = first + len(each.old)
        heads = lessons.heads[first:last]
        relations = [
            name if head >= 0 else "_"
            for name, head in zip(lessons.relations[first:last], heads.tolist(), strict=True)
        ]
        if (heads >= 0).any():
            treebank.append(_dressed(each.old).replace(heads=heads, deprels=relations))
        first = last
    parser: GraphParser = registry.parser_class(_PARSER).train(
        treebank, loss="tree", projective=False, epochs=_EPOCHS, rng=int(rng.integers(2**31))
    )
    return parser
