"""A conversion between annotation schemes, learned from sentences that are annotated in both.

A word and its new head are near each other in the old tree. So the candidates are the edges between
words that are near each other. A log-linear model scores each candidate by the path between its two
words in the old tree, and the best tree is found exactly. Models of the same kind choose relations
and tags.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.core.random import as_generator
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers import model_file
from arborescence.parsers.harmonizer import calibration
from arborescence.parsers.harmonizer.calibration import PlattCalibration
from arborescence.parsers.harmonizer.chooser import ClassChooser
from arborescence.parsers.harmonizer.constrained import keep_rules
from arborescence.parsers.harmonizer.corrections import next_corrected, overlaid
from arborescence.parsers.harmonizer.features import WORDS, hashed
from arborescence.parsers.harmonizer.lessons import COLUMNS, SAME, Lessons, counted
from arborescence.parsers.harmonizer.scorer import EdgeScorer
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.confidence import with_probs
from arborescence.parsers.shared.given import batches
from arborescence.parsers.shared.keeping import Keeper, keeper_of, scheme_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.harmonizer.features import CandidateEdges
    from arborescence.parsers.harmonizer.pairing import Pair
    from arborescence.parsers.harmonizer.scorer import Scored
    from arborescence.rules.sets import AnyRules
    from arborescence.treebank import Sentence

_KIND: Final = "harmonizer"
_VERSION: Final = 2
_BATCH: Final = 4000
_ROW: Final = [str, str, str, int]
_FIELDS: Final = {
    "version_of_kind": scheme.whole(_VERSION, _VERSION),
    "columns": scheme.MAPPING,
    "rules": scheme.one_of(["ud", "none"]),
    "table": scheme.list_of(
        scheme.Field(
            "three texts and a number",
            lambda row: isinstance(row, list) and [type(each) for each in row] == _ROW,
        ),
        0,
        10**6,
    ),
    **calibration.FIELDS,
}


class Harmonizer:
    """Converts a treebank to another annotation scheme, as it has learned from a sample.

    See `learn`, `load` and `convert`.

    Examples
    --------
    >>> from arborescence.parsers import pair
    >>> from arborescence.treebank import Sentence
    >>> names = ["Oslo", "Rome", "Bern", "Paris", "Cairo"]
    >>> old = [
    ...     Sentence.from_words(["in", name], heads=[0, 1], deprels=["root", "pobj"])
    ...     for name in names
    ... ]
    >>> new = [each.replace(heads=[2, 0], deprels=["case", "root"]) for each in old[:4]]
    >>> harmonizer = Harmonizer.learn(pair(old[:4], new).pairs)
    >>> [converted] = harmonizer.convert(old[4:])
    >>> converted.heads, converted.deprels
    (array([2, 0]), ['case', 'root'])
    """

    def __init__(
        self,
        scorer: EdgeScorer,
        columns: Mapping[str, ClassChooser],
        table: list[list[str | int]],
        *,
        calibration: PlattCalibration | None = None,
        rules: str = "none",
    ) -> None:
        self._scorer, self._columns = scorer, columns
        self._calibration = calibration or PlattCalibration()
        #: The changes of relations: the old relation, the change of the head (``"same head"``,
        #: ``"reversed"``, ``"another head"``), the new relation, and the number of words.
        self.table = table
        #: The rules that converted trees keep: ``"ud"`` if the new scheme is Universal
        #: Dependencies, and rules make no more words of held-out sentences wrong; else ``"none"``.
        self.rules = rules

    @property
    def parser_weight(self) -> float:
        """The factor of the scores of a parser; 0 if there is no parser, or it does not help."""
        return self._scorer.weight if self._scorer.parser else 0.0

    @classmethod
    def learn(
        cls,
        pairs: Iterable[Pair],
        *,
        parser: bool = False,
        calibrated: bool = True,
        epochs: int = 8,
        rng: Rng = 1,
    ) -> Harmonizer:
        """Learn from sentences that have both annotations.

        Parameters
        ----------
        pairs
            As from `pair`.
        parser
            Whether to train a parser on the new trees, too, and to add its scores, for schemes that
            differ much. The factor of its scores is fitted on sentences that are not in its
            training.
        calibrated
            Whether to fit probabilities, and the factor of the parser, on parts of the sample that
            are held out: this takes most of the time.
        epochs
            The number of passes over the sentences.
        rng
            A seed or a generator, for the order of learning.

        Returns
        -------
        Harmonizer

        Raises
        ------
        TreebankError
            If no word has a head in both annotations.
        """
        pairs = [each for each in pairs if (each.words >= 0).any()]
        generator = as_generator(rng)
        lessons = Lessons(pairs) if pairs else None
        if lessons is None or not lessons.learnable:
            raise TreebankError("no word has a head in both annotations: nothing can be learned")
        relations = {name for name in lessons.relations if name}
        rules = scheme_of(relations, [each.new for each in pairs])
        keeper = Keeper(rules) if rules != "none" else None
        held = pairs if calibrated else ()
        fitted = calibration.fitted(held, epochs, generator, parser=parser, keeper=keeper)
        scorer = EdgeScorer.learn(
            pairs, lessons, epochs, generator, parser=parser and fitted.weight > 0
        )
        scorer.weight = fitted.weight
        return cls(
            scorer,
            _learned_columns(lessons, epochs, generator),
            counted(pairs),
            calibration=fitted.calibration,
            rules=rules if fitted.rules_help else "none",
        )

    def convert(
        self,
        sentences: Iterable[Sentence],
        *,
        corrected: Iterable[Sentence] | None = None,
        confidence: bool = False,
        rules: AnyRules | Keeper | None = None,
    ) -> Iterator[Sentence]:
        """Convert sentences to the new scheme.

        Comments, forms, lemmas, MISC, multiword tokens and empty nodes stay. The column DEPS is
        cleared, since it belongs to the old scheme. Words are not cut or joined.

        Parameters
        ----------
        sentences
            In the old annotation. They are read lazily.
        corrected
            The same sentences after an earlier conversion, corrected by hand: a word with
            ``Corrected=Yes`` in MISC keeps its annotation, and the other words get the best tree.
        confidence
            Whether to write the probability of each edge, and of each relation given its edge, into
            MISC, as ``EdgeProb=0.9731`` and ``RelationProb=0.9902``.
        rules
            Rules that trees keep, as for `Parser.parse`: ``"ud"``, a file, rules or a `Keeper`;
            ``"none"``; or None for the attribute `rules`.

        Yields
        ------
        Sentence
            The same sentences in the same order.

        Raises
        ------
        TreebankError
            If a corrected sentence has another number of words, or its heads are no part of a tree.
        OptionError
            If `rules` are not rules, or a file of rules has an error.
        """
        keeper = keeper_of(self.rules if rules is None else rules)
        fixed = None if corrected is None else iter(corrected)
        for batch in batches(sentences, _BATCH):
            kept = [next_corrected(each, fixed) for each in batch]
            wanted = keeper if isinstance(keeper, Keeper) else None
            yield from self._converted(batch, kept, wanted, confidence=confidence)
        if fixed is not None and (more := next(fixed, None)) is not None:
            raise TreebankError(
                f"{more.source}:{more.line}: more corrected sentences than sentences to convert"
            )

    def _converted(
        self,
        batch: Sequence[Sentence],
        kept: Sequence[Sentence | None],
        keeper: Keeper | None,
        *,
        confidence: bool,
    ) -> Iterator[Sentence]:
        scored = self._scorer.scored(batch, kept)
        labels = scored.labels
        tags = self._tagged(scored.candidates, scored.rows, self._names(labels))
        every = range(len(batch))
        converted = self._written(batch, kept, scored, labels, tags, every)
        if keeper is not None:
            names = self._scorer.relations
            scored, changed = keep_rules(keeper, converted, scored, labels, names, kept)
            again = self._written(batch, kept, scored, labels, tags, changed)
            for b, sentence in zip(changed, again, strict=True):
                converted[b] = keeper.finished(sentence)
        if confidence:
            edges = self._calibration.edges(scored, scored.trees).tolist()
            relations_of = self._calibration.relations(scored, scored.rows, labels).tolist()
            for sentence, part in zip(converted, _parts(converted), strict=True):
                misc = with_probs(sentence.misc, edges[part])
                yield sentence.replace(misc=with_probs(misc, relations_of[part], "RelationProb"))
        else:
            yield from converted

    def _written(
        self,
        batch: Sequence[Sentence],
        kept: Sequence[Sentence | None],
        scored: Scored,
        labels: NDArray[np.int64],
        tags: Mapping[str, Sequence[str]],
        numbers: Iterable[int],
    ) -> list[Sentence]:
        """Return some sentences with new trees, and with the corrected annotation."""
        names, parts, written = self._names(labels), _parts(batch), []
        for b in numbers:
            sentence, fixed, heads, part = batch[b], kept[b], scored.trees[b], parts[b]
            new: dict[str, Any] = {
                name: [
                    old if value == SAME else value
                    for value, old in zip(values[part], getattr(sentence, name), strict=True)
                ]
                for name, values in tags.items()
            }
            converted = sentence.replace(heads=heads, deprels=names[part], deps=None, **new)
            if fixed is not None:
                converted = overlaid(converted, fixed, ("deprels", *COLUMNS))
            written.append(converted)
        return written

    def _names(self, labels: NDArray[np.int64]) -> list[str]:
        return [self._scorer.relations[k] for k in labels.tolist()]

    def _tagged(
        self, candidates: CandidateEdges, rows: NDArray[np.int64], relations: list[str]
    ) -> dict[str, list[str]]:
        """Return the new values of each column that changes; `SAME` for an unchanged value."""
        if not self._columns:
            return {}
        candidates.known[rows, 3] = [hashed(name) for name in relations]
        places = candidates.places(WORDS, rows)
        return {name: chooser.values(places) for name, chooser in self._columns.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file: arrays and a JSON header, without executable code."""
        header, arrays = self._scorer.to_file()
        header |= {
            "kind": _KIND,
            "version_of_kind": _VERSION,
            "columns": {name: list(each.classes) for name, each in self._columns.items()},
            "rules": self.rules,
            "table": self.table,
            **self._calibration._asdict(),
        }
        parts = {f"{name}/": each.to_file() for name, each in self._columns.items()}
        model_file.save(path, header, arrays | scheme.joined(parts))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Harmonizer:
        """Read a file that `save` wrote.

        Raises
        ------
        ModelError
            If there is no such file, or the file is damaged or holds a parser.
        """
        header, arrays = model_file.load(path)
        if header.get("kind") != _KIND:
            raise ModelError(
                f"{path}: not a conversion: make one with 'arborescence convert --learn OLD NEW'"
            )
        try:
            return cls._from_file(header, arrays)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from error

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Harmonizer:
        fields = scheme.fields_of(header, _FIELDS)
        if not set(fields["columns"]) <= set(COLUMNS):
            raise ModelError(f"columns other than {', '.join(COLUMNS)}")
        columns = dict.fromkeys(fields["columns"], scheme.VALUES)
        classes = scheme.fields_of(fields["columns"], columns)
        return cls(
            EdgeScorer.from_file(header, arrays),
            {
                name: ClassChooser.from_file(each, scheme.part(arrays, f"{name}/"))
                for name, each in classes.items()
            },
            fields["table"],
            calibration=PlattCalibration(
                fields["temperature"], tuple(fields["edge_line"]), tuple(fields["relation_line"])
            ),
            rules=fields["rules"],
        )


def _parts(sentences: Sequence[Sentence]) -> list[slice]:
    """Return the slice of all words for each sentence."""
    ends = np.cumsum([0, *map(len, sentences)]).tolist()
    return [slice(*each) for each in pairwise(ends)]


def _learned_columns(
    lessons: Lessons, epochs: int, rng: np.random.Generator
) -> dict[str, ClassChooser]:
    """Learn the columns in which some value changes."""
    words = lessons.with_relations()
    places = lessons.candidates.places(WORDS, lessons.gold[words])
    columns = {}
    for name in COLUMNS:
        values = [lessons.columns[name][word] for word in words.tolist()]
        if set(values) != {SAME}:
            columns[name] = ClassChooser.learn(places, values, epochs, rng)
    return columns
