"""A conversion between annotation schemes, learned from sentences that are annotated in both.

An old word and its new head are near each other in the old tree. So the candidates are the edges
between such words, and what chooses among them looks at the path between them in the old tree. The
best tree is found exactly. Relations and tags are chosen by the same kind of model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.random import as_generator
from arborescence.distribution.arrays import TreeDistribution
from arborescence.errors import ModelError, NoTreeError, TreebankError
from arborescence.inference.decode import decode
from arborescence.parsers import model_file
from arborescence.parsers.harmonizer.chooser import ClassChooser, HeadChooser, cooler
from arborescence.parsers.harmonizer.features import EDGES, WORDS, Edges, hashed
from arborescence.parsers.harmonizer.lessons import COLUMNS, SAME, Lessons, counted
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.confidence import fit_choices, fit_temperature, with_probs
from arborescence.parsers.shared.given import batches

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.harmonizer.pairing import Pair
    from arborescence.treebank import Sentence

#: What an annotator writes into MISC of a word whose annotation shall stay.
CORRECTED: Final = "Corrected=Yes"

_KIND: Final = "harmonizer"
_VERSION: Final = 1
# The log-probability of edges between words that are far from each other in the old tree.
_FAR: Final = np.float32(-25)
# Relations are scored for candidates with at least this log-probability.
_LIKELY: Final = -4.0
_BATCH: Final = 4000
# One in this number of sentences is kept to fit the temperatures.
_HELD_OUT: Final = 5
_ROW: Final = [str, str, str, int]
_FIELDS: Final = {
    "version_of_kind": scheme.whole(_VERSION, _VERSION),
    "relations": scheme.VALUES,
    "roots": scheme.list_of(scheme.whole(0, 3), 1, 10**6),
    "columns": scheme.MAPPING,
    "temperatures": scheme.list_of(scheme.real(1e-4, 1e4), 2, 2),
    "table": scheme.list_of(
        scheme.Field(
            "three texts and a number",
            lambda row: isinstance(row, list) and [type(each) for each in row] == _ROW,
        ),
        0,
        10**6,
    ),
}


class _Converted(NamedTuple):
    """The trees of a batch."""

    heads: list[NDArray[np.int64]]  # a head vector of each sentence
    relations: NDArray[np.int64]  # (words,): numbers of new relations
    rows: NDArray[np.int64]  # (words,): the candidate of each word
    edge_chances: NDArray[np.float64]  # (words,)
    relation_chances: NDArray[np.float64]  # (words,)


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
        heads: HeadChooser,
        relations: ClassChooser,
        roots: NDArray[np.int64],
        columns: dict[str, ClassChooser],
        table: list[list[str | int]],
        temperatures: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self._heads, self._relations, self._columns = heads, relations, columns
        # of each relation: 1 if it can be at the root, 2 if elsewhere, or their sum
        self._roots = roots
        self._temperatures = temperatures
        #: What became of each old relation: the old one, where its head is (``"same head"``,
        #: ``"reversed"``, ``"another head"``), the new one, and how many words.
        self.table = table

    @classmethod
    def learn(cls, pairs: Iterable[Pair], *, epochs: int = 8, rng: Rng = 1) -> Harmonizer:
        """Learn from sentences that have both annotations.

        Parameters
        ----------
        pairs
            As from `pair`.
        epochs
            How often each sentence is learned from.
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
        held_out = pairs[_HELD_OUT - 1 :: _HELD_OUT]
        temperatures = (1.0, 1.0)
        if held_out:
            others = [each for i, each in enumerate(pairs, 1) if i % _HELD_OUT]
            temperatures = cls._learned(others, epochs, generator, tags=False)._fitted(held_out)
        found = cls._learned(pairs, epochs, generator)
        found._temperatures = temperatures
        return found

    @classmethod
    def _learned(
        cls, pairs: Sequence[Pair], epochs: int, rng: np.random.Generator, *, tags: bool = True
    ) -> Harmonizer:
        lessons = Lessons(pairs) if pairs else None
        if lessons is None or not (lessons.gold >= 0).any():
            raise TreebankError("no word has a head in both annotations: nothing can be learned")
        edges = lessons.edges
        words = np.flatnonzero(lessons.gold >= 0)
        rows = lessons.gold[words]
        places = edges.places(EDGES)
        heads = HeadChooser.learn(places, edges.groups, lessons.gold, epochs, rng)
        gold = [lessons.relations[word] for word in words.tolist()]
        relations = ClassChooser.learn(places[rows], gold, epochs, rng)
        at_root = np.where(lessons.heads[words] == 0, 1, 2)
        codes = np.searchsorted(np.array(relations.classes), np.array(gold))
        roots = np.zeros(len(relations.classes), dtype=np.int64)
        np.bitwise_or.at(roots, codes, at_root)
        columns = {}
        if tags:
            lessons.with_relations()
            places = edges.places(WORDS, rows)
            for name in COLUMNS:
                values = [lessons.columns[name][word] for word in words.tolist()]
                if set(values) != {SAME}:
                    columns[name] = ClassChooser.learn(places, values, epochs, rng)
        return cls(heads, relations, roots, columns, counted(pairs))

    def _fitted(self, pairs: Sequence[Pair]) -> tuple[float, float]:
        """Return the temperatures of edges and of relations that fit sentences not learned from."""
        lessons = Lessons(pairs)
        edges = lessons.edges
        matrices, chances = self._scored(edges)
        gold = np.full(edges.trees.size, -1)
        gold[edges.nodes] = lessons.heads
        trees = [gold[a:b] for a, b in zip(edges.starts[:-1], edges.starts[1:], strict=True)]
        of_edges = fit_temperature(matrices, trees, root="single", projective=False)
        known = np.flatnonzero(lessons.gold >= 0)
        found = chances[lessons.gold[known]]
        names = np.array(self._relations.classes)[found.argmax(axis=1)]
        right = names == np.array([lessons.relations[word] for word in known.tolist()])
        logs = np.log(np.maximum(found, 1e-30))
        return of_edges, fit_choices(logs, right)

    def convert(
        self,
        sentences: Iterable[Sentence],
        *,
        corrected: Iterable[Sentence] | None = None,
        confidence: bool = False,
    ) -> Iterator[Sentence]:
        """Convert sentences to the new scheme.

        Comments, forms, lemmas, MISC, multiword tokens and empty nodes stay. The column DEPS is
        cleared, since it belongs to the old scheme. Words are not cut or joined.

        Parameters
        ----------
        sentences
            In the old annotation. They are read lazily.
        corrected
            The same sentences as they were converted before and corrected by hand: a word with
            ``Corrected=Yes`` in MISC keeps its annotation, and the best tree around it is found.
        confidence
            Whether to write the probability of each edge, and of each relation given its edge, into
            MISC, as ``EdgeProb=0.9731`` and ``RelationProb=0.9902``.

        Yields
        ------
        Sentence
            The same sentences in the same order.

        Raises
        ------
        TreebankError
            If a corrected sentence has another number of words, or its heads are no part of a tree.
        """
        fixed = None if corrected is None else iter(corrected)
        for batch in batches(sentences, _BATCH):
            kept = [_corrected(each, fixed) for each in batch]
            yield from self._converted(batch, kept, confidence)
        if fixed is not None and (more := next(fixed, None)) is not None:
            raise TreebankError(
                f"{more.source}:{more.line}: more corrected sentences than sentences to convert"
            )

    def _scored(self, edges: Edges) -> tuple[list[NDArray[np.float32]], NDArray[np.float32]]:
        """Return the scores of edges by sentence, and the chances of relations by candidate."""
        places = edges.places(EDGES)
        logs = self._heads.logs(places, edges.groups)
        likely = np.flatnonzero(logs > _LIKELY)
        chances = np.full((logs.size, len(self._relations.classes)), 1e-6, dtype=np.float32)
        chances[likely] = self._relations.chances(places[likely])
        is_root = ~edges.words[edges.ends[:, 0]]
        chances *= (self._roots & np.where(is_root, 1, 2)[:, None]) > 0
        logs = logs + np.log(np.maximum(chances.max(axis=1), np.float32(1e-6)))
        matrices = []
        rows = np.searchsorted(edges.ends[:, 1], edges.starts)
        for k, (start, stop) in enumerate(zip(edges.starts[:-1], edges.starts[1:], strict=True)):
            matrix = np.full((stop - start, stop - start), _FAR, dtype=np.float32)
            part = slice(rows[k], rows[k + 1])
            ends = edges.ends[part] - start
            matrix[ends[:, 0], ends[:, 1]] = logs[part]
            matrices.append(matrix)
        return matrices, chances

    def _decoded(
        self, batch: Sequence[Sentence], kept: Sequence[Sentence | None], confidence: bool
    ) -> tuple[Edges, _Converted]:
        edges = Edges(batch)
        matrices, chances = self._scored(edges)
        trees, shares = [], []
        for sentence, matrix, fixed in zip(batch, matrices, kept, strict=True):
            if fixed is not None:
                _keep(matrix, fixed)
            try:
                heads = decode(matrix)
            except NoTreeError as error:
                raise TreebankError(
                    f"{sentence.source}:{sentence.line}: the corrected heads are no part of a tree "
                    "with one root"
                ) from error
            trees.append(heads)
            if confidence:
                heat = np.float32(self._temperatures[0])
                marginals = TreeDistribution(matrix / heat).marginals()
                shares.append(marginals[heads[1:], np.arange(1, heads.size)])
        rows = _rows_of(edges, trees)
        found = chances[rows]
        certain = cooler(found, self._temperatures[1]).max(axis=1)
        return edges, _Converted(
            trees,
            found.argmax(axis=1),
            rows,
            np.concatenate(shares) if shares else np.zeros(0),
            certain,
        )

    def _converted(
        self, batch: Sequence[Sentence], kept: Sequence[Sentence | None], confidence: bool
    ) -> Iterator[Sentence]:
        edges, found = self._decoded(batch, kept, confidence)
        relations = [self._relations.classes[k] for k in found.relations.tolist()]
        values = {"deprels": relations} | self._tagged(edges, found.rows, relations)
        first = 0
        for sentence, fixed, heads in zip(batch, kept, found.heads, strict=True):
            last = first + len(sentence)
            new: dict[str, Any] = {name: each[first:last] for name, each in values.items()}
            for name in COLUMNS:
                if name in new:
                    old = getattr(sentence, name)
                    new[name] = [b if a == SAME else a for a, b in zip(new[name], old, strict=True)]
            misc = sentence.misc
            if fixed is not None:
                misc = fixed.misc
                marked = _marked(fixed)
                for name in ("deprels", *COLUMNS):
                    theirs = getattr(fixed, name)
                    ours = new.get(name) or getattr(sentence, name)
                    new[name] = [
                        b if m else a for a, b, m in zip(ours, theirs, marked, strict=True)
                    ]
            if confidence:
                misc = with_probs(misc, found.edge_chances[first:last].tolist())
                chances = found.relation_chances[first:last].tolist()
                misc = with_probs(misc, chances, "RelationProb")
            yield sentence.replace(heads=heads, deps=None, misc=misc, **new)
            first = last

    def _tagged(
        self, edges: Edges, rows: NDArray[np.int64], relations: list[str]
    ) -> dict[str, list[str]]:
        """Return the new values of each column that changes; `SAME` for the old one."""
        if not self._columns:
            return {}
        edges.known[rows, 3] = [hashed(name) for name in relations]
        places = edges.places(WORDS, rows)
        return {
            name: [chooser.classes[k] for k in chooser.chances(places).argmax(axis=1).tolist()]
            for name, chooser in self._columns.items()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file: arrays and a JSON header, without executable code."""
        header = {
            "kind": _KIND,
            "version_of_kind": _VERSION,
            "relations": list(self._relations.classes),
            "roots": self._roots.tolist(),
            "columns": {name: list(each.classes) for name, each in self._columns.items()},
            "temperatures": list(self._temperatures),
            "table": self.table,
        }
        parts = {"heads/": self._heads.to_file(), "relations/": self._relations.to_file()}
        parts |= {f"{name}/": each.to_file() for name, each in self._columns.items()}
        model_file.save(path, header, scheme.joined(parts))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Harmonizer:
        """Read a file that `save` wrote.

        Raises
        ------
        ModelError
            If there is no such file, it is damaged, or it is the model of a parser.
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
        relations = fields["relations"]
        if len(fields["roots"]) != len(relations):
            raise ModelError("roots and relations have different lengths")
        if not set(fields["columns"]) <= set(COLUMNS):
            raise ModelError(f"columns other than {', '.join(COLUMNS)}")
        columns = dict.fromkeys(fields["columns"], scheme.VALUES)
        classes = scheme.fields_of(fields["columns"], columns)
        return cls(
            HeadChooser.from_file(scheme.part(arrays, "heads/")),
            ClassChooser.from_file(relations, scheme.part(arrays, "relations/")),
            np.array(fields["roots"]),
            {
                name: ClassChooser.from_file(each, scheme.part(arrays, f"{name}/"))
                for name, each in classes.items()
            },
            fields["table"],
            tuple(fields["temperatures"]),
        )


def _corrected(sentence: Sentence, fixed: Iterator[Sentence] | None) -> Sentence | None:
    """Return the next corrected sentence, which has as many words."""
    if fixed is None:
        return None
    found = next(fixed, None)
    if found is None:
        raise TreebankError(
            f"{sentence.source}:{sentence.line}: no corrected sentence is left for this one"
        )
    if len(found) != len(sentence):
        raise TreebankError(
            f"{found.source}:{found.line}: {len(found)} words, but the sentence to convert "
            f"({sentence.source}:{sentence.line}) has {len(sentence)}"
        )
    return found


def _marked(sentence: Sentence) -> list[bool]:
    return [CORRECTED in entry.split("|") for entry in sentence.misc]


def _keep(matrix: NDArray[np.float32], fixed: Sentence) -> None:
    """Leave the words that were corrected only the head that they have."""
    heads = fixed.heads
    for word, marked in enumerate(_marked(fixed), 1):
        if marked and heads[word - 1] >= 0:
            score = matrix[heads[word - 1], word]
            matrix[:, word] = -np.inf
            matrix[heads[word - 1], word] = score


def _rows_of(edges: Edges, trees: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return each word's candidate in the trees; its first one, if its edge is no candidate."""
    target = np.full(edges.trees.size, -1)
    for start, heads in zip(edges.starts[:-1], trees, strict=True):
        target[start + 1 : start + heads.size] = start + heads[1:]
    found = np.full(edges.trees.size, -1)
    found[edges.nodes] = edges.groups[:-1]
    rows = np.flatnonzero(edges.ends[:, 0] == target[edges.ends[:, 1]])
    found[edges.ends[rows, 1]] = rows
    return found[edges.nodes]
