"""A part-of-speech tagger: log-linear models over hashed features, greedy from left to right.

A first stage predicts a draft of UPOS from words and previous tags; a second stage sees the draft
on both sides. Further stages predict XPOS, then FEATS, among the values that occurred with the tags
so far.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.random import as_generator
from arborescence.errors import OptionError, TreebankError
from arborescence.parsers.shared import scheme
from arborescence.parsers.shared.confidence import fit_choices, with_probs
from arborescence.parsers.shared.given import as_sentences, batches
from arborescence.parsers.tagger import kernels
from arborescence.parsers.tagger.stages import (
    COLUMNS,
    Stage,
    TaggerWords,
    joint,
    trained,
    untrained,
)
from arborescence.treebank.joined import names_of, with_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.tagger.kernels import Guesses
    from arborescence.parsers.tagger.stages import Codes, Mask
    from arborescence.treebank import Sentence

_VERSION = 1
# One stage for the draft of the first column, and one for each column.
_FIELDS: Final = {"stages": scheme.list_of(scheme.MAPPING, 1, len(COLUMNS) + 1)}


class Tagger:
    """Predicts the UPOS, XPOS and FEATS of words.

    Taggers are made by `train` and `from_file`.

    Attributes
    ----------
    columns : tuple of str
        The predicted columns, in this order: some of ``"upos"``, ``"xpos"`` and ``"feats"``.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> taught = ["the", "tree", "grows"], ["a", "bird", "sings"]
    >>> tags = ["DET", "NOUN", "VERB"]
    >>> tagger = Tagger.train([Sentence.from_words(words, upos=tags) for words in taught])
    >>> tagger.columns
    ('upos',)
    >>> [tagged] = tagger.tag([Sentence.from_words(["the", "bird", "grows"])])
    >>> tagged.upos
    ['DET', 'NOUN', 'VERB']
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = tuple(stages)
        self.columns = tuple(dict.fromkeys(stage.column for stage in self._stages))

    @classmethod
    def train(
        cls,
        treebank: Iterable[Sentence],
        *,
        dev: Iterable[Sentence] | None = None,
        columns: Sequence[str] = ("upos", "xpos", "feats"),
        epochs: int = 8,
        rng: Rng = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Train a tagger on tagged sentences.

        Parameters
        ----------
        treebank
            Sentences with values in the columns. A sentence without values in a column is not used
            for that column. A column without any values is left out.
        dev
            If given, each stage keeps the epoch of the second half that tags these sentences best,
            and the probabilities of UPOS are fitted to them.
        columns
            The columns to predict. Each column is predicted from the columns before it.
        epochs
            The number of training epochs of each stage.
        rng
            A seed or a generator, for the order of the sentences: the same seed, the same result.
        progress
            Called as ``progress(phase, done, total)`` after each epoch.

        Raises
        ------
        OptionError
            If a column cannot be predicted, or `epochs` is less than 1.
        TreebankError
            If the treebank has no values in any of the columns.
        """
        check_count(epochs, "epochs")
        if len(set(columns) & set(COLUMNS)) < len(columns):
            raise OptionError(f"columns must be some of {list(COLUMNS)}, each once, not {columns}")
        words = TaggerWords(list(treebank))
        dev = list(dev or ())
        columns = [column for column in columns if words.given(column).any()]
        if not columns:
            raise TreebankError(
                "the treebank has no tags to learn from: train without a tagger (tagger=False)"
            )
        generator = as_generator(rng)
        stages: list[Stage] = []
        gold: dict[str, Codes] = {}

        def accuracy(stage: Stage) -> float:
            return cls([*stages, stage]).accuracy(dev).get(stage.column, 0.0)

        def report(column: str, epoch: int, epochs: int) -> None:
            if progress:
                done, total = len(stages) * epochs + epoch, (len(columns) + 1) * epochs
                progress(f"tagger: {column}", done, total)

        for column in (columns[0], *columns):
            taught = words.annotated(column)
            tags = words.values(column, taught)
            right = words.codes(column, tags, taught)
            combined = joint(gold, _sizes(stages), len(words))
            features = (kernels.HISTORY, kernels.NEIGHBOURS, kernels.OWN)[min(len(stages), 2)]
            stages.append(
                trained(
                    untrained(column, tags, features, combined, right),
                    words,
                    np.flatnonzero(taught),
                    combined,
                    right,
                    epochs=epochs,
                    generator=generator,
                    accuracy=accuracy if dev else None,
                    progress=partial(report, column),
                )
            )
            gold[column] = right
        return cls(stages).tempered(dev)

    def tag(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        *,
        overwrite: bool = False,
        confidence: bool = False,
    ) -> Iterator[Sentence]:
        """Fill in columns that are ``_`` for a whole sentence.

        Parameters
        ----------
        sentences
            Any number of sentences. They are read lazily, in batches.
        overwrite
            Whether to replace given values. If not, they are kept, and the other columns are
            predicted from them.
        confidence
            Whether to write the probability of each UPOS that is predicted into MISC, as
            ``UposProb=0.9731``.

        Yields
        ------
        Sentence
            The same sentences in the same order, tagged.
        """
        for batch in batches(as_sentences(sentences)):
            words = TaggerWords(batch)
            keep = {
                column: words.given(column) & np.bool_(not overwrite) for column in self.columns
            }
            wanted = ~np.logical_and.reduce(list(keep.values()))
            places = np.flatnonzero(wanted).tolist()
            tagged = self._tagged(
                [batch[i] for i in places],
                {column: kept[wanted] for column, kept in keep.items()},
                confidence,
            )
            for i, sentence in zip(places, tagged, strict=True):
                batch[i] = sentence
            yield from batch

    def guess(
        self, sentences: Sequence[Sentence], k: int = 3
    ) -> dict[str, tuple[tuple[str, ...], Guesses]]:
        """Return, for each column, the tags by code, and the k most probable tags of all words.

        Tags of the sentences are ignored.

        Examples
        --------
        >>> from arborescence.treebank import Sentence
        >>> noun = Sentence.from_words(["a", "saw"], upos=["DET", "NOUN"])
        >>> verb = Sentence.from_words(["I", "saw"], upos=["PRON", "VERB"])
        >>> tags, guesses = Tagger.train([noun] * 2 + [verb]).guess([verb], k=2)["upos"]
        >>> tags, guesses.tags[1], bool(guesses.chances[1, 0] > 0.5)
        (('DET', 'NOUN', 'PRON', 'VERB'), array([3, 1]), True)
        """
        _, guesses = self._run(TaggerWords(sentences), {}, k)
        return {stage.column: (stage.tags, guesses[stage.column]) for stage in self._stages}

    def tempered(self, sentences: Iterable[Sentence]) -> Self:
        """Return a tagger with the temperature that fits the UPOS of unseen sentences."""
        taught = [sentence for sentence in sentences if set(sentence.upos) != {"_"}]
        stages = list(self._stages)
        last = max((i for i, each in enumerate(stages) if each.column == "upos"), default=0)
        if not taught or stages[last].column != "upos":
            return self
        stages[last] = replace(stages[last], temperature=1.0)
        plain = type(self)(stages)
        names, (codes, chances) = plain.guess(taught, len(stages[last].tags))["upos"]
        given = [tag for sentence in taught for tag in sentence.upos]
        right = [names[code] == tag for code, tag in zip(codes[:, 0], given, strict=True)]
        with np.errstate(divide="ignore"):
            temperature = fit_choices(np.log(chances), np.array(right))
        stages[last] = replace(stages[last], temperature=temperature)
        return type(self)(stages)

    def accuracy(self, sentences: Iterable[Sentence]) -> dict[str, float]:
        """Return the share of correctly tagged words for each column; no tags are given.

        Sentences without values in a column do not count for it. A column without values in all
        sentences is left out.
        """
        words = TaggerWords(list(sentences))
        codes, _ = self._run(words, {})
        shares = {}
        for stage in self._stages:
            counted = words.annotated(stage.column)
            gold = words.codes(stage.column, stage.tags, counted)
            right = codes[stage.column] == gold
            counted_words = np.repeat(counted, np.diff(words.starts))
            if counted_words.any():
                shares[stage.column] = float(right[counted_words].mean())
        return shares

    def to_file(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the header and the arrays of a model file; see `from_file`."""
        headers, arrays = zip(*(stage.to_file() for stage in self._stages), strict=True)
        parts = {f"{i}.": of_stage for i, of_stage in enumerate(arrays)}
        return {"version": _VERSION, "stages": list(headers)}, scheme.joined(parts)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Restore a tagger from the output of `to_file`.

        Raises
        ------
        ModelError
            If header and arrays do not match each other, or come from another version.
        """
        stages = scheme.fields_of_part("tagger", header, _FIELDS, _VERSION)["stages"]
        return cls(
            [Stage.from_file(stage, scheme.part(arrays, f"{i}.")) for i, stage in enumerate(stages)]
        )

    def _tagged(
        self, sentences: Sequence[Sentence], keep: Mapping[str, Mask], confidence: bool
    ) -> list[Sentence]:
        """Predict the columns of sentences, except those in the masks `keep`."""
        words = TaggerWords(sentences)
        tags = {stage.column: stage.tags for stage in self._stages}
        codes, guesses = self._run(words, keep, int(confidence))
        sizes = np.diff(words.starts)
        new = {
            COLUMNS[column]: names_of(tags[column], codes[column], np.repeat(keep[column], sizes))
            for column in sorted(self.columns, key=COLUMNS.__getitem__)
        }
        tagged = with_columns(sentences, new)
        if confidence and "upos" in self.columns:
            chances = guesses["upos"].chances[:, 0].tolist()
            starts = words.starts.tolist()
            for i in np.flatnonzero(~keep["upos"]).tolist():
                of_sentence = chances[starts[i] : starts[i + 1]]
                misc = with_probs(tagged[i].misc, of_sentence, "UposProb")
                tagged[i] = tagged[i].replace(misc=misc)
        return tagged

    def _run(
        self, words: TaggerWords, keep: Mapping[str, Mask], k: int = 0
    ) -> tuple[dict[str, Codes], dict[str, Guesses]]:
        """Return the codes of words in each column, and their k most probable tags.

        Sentences in the masks `keep` have the codes of their given tags, and no guesses.
        """
        codes: dict[str, Codes] = {}
        guesses: dict[str, Guesses] = {}
        for stage in self._stages:
            column = stage.column
            kept = keep.get(column, np.zeros(len(words.sentences), dtype=np.bool_))
            combined = joint(codes, _sizes(self._stages), len(words))
            if column not in codes:
                codes[column] = words.codes(column, stage.tags, kept)
            guesses[column] = stage.tag(words, ~kept, combined, codes[column], k)
        return codes, guesses


def _sizes(stages: Iterable[Stage]) -> dict[str, int]:
    return {stage.column: len(stage.tags) for stage in stages}
