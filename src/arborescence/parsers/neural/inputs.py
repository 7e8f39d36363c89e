"""The input of a neural parser for a batch of sentences, as arrays without padding.

Sentences stand side by side, longest first: first all roots, then all first words, and so on. So
step t of a recurrent network is a matrix product with a block of rows (PyTorch's packed sequence).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.parsers.neural.vectors import row_of
from arborescence.parsers.neural.vocabulary import (
    BEGIN,
    END,
    ROOT,
    ROOT_LETTER,
    STRANGE,
    UNKNOWN,
)
from arborescence.parsers.tagger.kernels import Guesses
from arborescence.parsers.tagger.stages import UNKNOWN as _NO_TAG
from arborescence.parsers.tagger.tagging import taggers_of_others
from arborescence.treebank.joined import Joined
from arborescence.treebank.sentence import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.neural.pieces import Pieces
    from arborescence.parsers.neural.vocabulary import Tagset, Vocabulary
    from arborescence.treebank import Sentence

    Numbers = NDArray[np.int64]

    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.tagger.tagger import Tagger

    #: The guesses for the words of a sentence, by column.
    Hints = dict[str, Guesses]

#: The largest number of characters of a word; of longer words, the middle is left out.
LONGEST_WORD: Final = 32


class BatchLayout(NamedTuple):
    """The order of rows for B sentences with N words and roots in all."""

    #: The number of sentences with a node at each place; the first is B.
    sizes: list[int]
    #: (B, T) int64: the row of each node of each sentence; 0 for padding.
    rows: Numbers
    #: (B,) int64: the number of nodes of each sentence, with the root.
    lengths: Numbers
    #: (N,) int64: the row of each node, sentence by sentence.
    flat: Numbers
    #: (N,) int64: for each row, the row of the node at the same distance from the other end of the
    #: sentence.
    mirrored: Numbers
    #: (N,) int64: the number of the sentence of each row.
    sentence: Numbers

    @classmethod
    def of(cls, words: Sequence[int]) -> Self:
        """Lay out sentences with these numbers of words."""
        lengths = np.array(words, dtype=np.int64) + 1
        order = np.argsort(-lengths, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        places = np.arange(lengths.max())
        sizes = (lengths[:, None] > places).sum(axis=0)
        starts = np.cumsum(sizes) - sizes
        is_word = places < lengths[:, None]
        rows = np.where(is_word, starts + rank[:, None], 0)
        flat = rows[is_word]
        last = np.cumsum(lengths) - 1
        nodes = np.arange(len(flat))
        within = nodes - np.repeat(last + 1 - lengths, lengths)
        mirrored = np.empty_like(flat)
        mirrored[flat] = flat[np.repeat(last, lengths) - within]
        sentence = np.empty_like(flat)
        sentence[flat] = np.repeat(np.arange(len(lengths)), lengths)
        return cls(sizes.tolist(), rows, lengths, flat, mirrored, sentence)

    def packed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put values that are given sentence by sentence into the order of rows."""
        packed = np.empty_like(values)
        packed[self.flat] = values
        return packed

    @property
    def words(self) -> Numbers:
        """The row of each word, sentence by sentence: `flat` without the roots."""
        return np.delete(self.flat, np.cumsum(self.lengths) - self.lengths)


class Bag(NamedTuple):
    """The tags of words as sums of pieces."""

    #: (N,) int64: for each word a row of `pieces`; for the root, row 0.
    row: Numbers
    #: (V, P): 1 for the pieces of each value, else 0. Row 0 has no piece.
    pieces: NDArray[np.float32]
    #: (B,): whether a sentence is read with these tags, not with tags that the network predicts.
    given: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        column: str,
        tagset: Tagset,
        layout: BatchLayout,
        given: NDArray[np.bool_],
    ) -> Self:
        """Look up the tags of the sentences that are read with their tags."""
        numbers: dict[str, int] = {"": 0}
        rows: list[int] = []
        for sentence, shown in zip(sentences, given.tolist(), strict=True):
            tags = ("", *getattr(sentence, column)) if shown else ()
            rows += (numbers.setdefault(tag, len(numbers)) for tag in tags)
            rows += [0] * (len(sentence) + 1 - len(tags))
        return cls(layout.packed(np.array(rows, dtype=np.int64)), tagset.table(numbers), given)


class Inputs(NamedTuple):
    """The inputs of the network for a batch, with U different forms."""

    #: The order of rows.
    layout: BatchLayout
    #: The U different forms; "" for the root.
    forms: tuple[str, ...]
    #: (U,) int64: the numbers of the different forms as words.
    words: Numbers
    #: (N,) int64: the form of each word: a row of `words` and `letters`.
    spelling: Numbers
    #: (U, C) int64: the numbers of the characters of forms, with both ends.
    letters: Numbers
    #: The most probable tags by the linear tagger, by column: (N, k) each.
    hints: dict[str, Guesses]
    #: (N,) int64 or None: the numbers of the lemmas; unknown where a sentence has no lemmas.
    lemmas: Numbers | None
    #: The tags of the sentences, by column.
    given: dict[str, Bag]
    #: (U,) int64 or None: the rows of pretrained vectors; 0 for forms without vectors, and for the
    #: root.
    vectors: Numbers | None
    #: (N, L, D), Pieces, or None: the output of the encoder's `read`, if there is an encoder.
    encoded: NDArray[np.floating] | Pieces | None

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        vocabulary: Vocabulary,
        hints: Sequence[Hints] | None,
        given: Mapping[str, NDArray[np.bool_]],
        encoder: Any = None,
    ) -> Self:
        """Look up the words of sentences; `given` says whether each sentence has a column."""
        layout = BatchLayout.of([len(sentence) for sentence in sentences])
        forms = [form for sentence in sentences for form in ("", *sentence.forms)]
        spellings: dict[str, int] = {}
        spelling = [spellings.setdefault(form, len(spellings)) for form in forms]
        numbers = [vocabulary.words.get(form.lower(), UNKNOWN) for form in spellings]
        numbers[spellings[""]] = ROOT
        vectors = None
        if vocabulary.vectors:
            known = [row_of(form, vocabulary.vectors) for form in spellings]
            vectors = np.array(known, dtype=np.int64)
        tags, guesses = {}, {}
        for column, tagset in vocabulary.tags.items():
            tags[column] = Bag.of(sentences, column, tagset, layout, given[column])
            if hints is not None:
                guesses[column] = _packed([each[column] for each in hints], layout)
        lemmas = None
        if vocabulary.lemmas:
            lemma_numbers: list[int] = []
            for sentence, known in zip(sentences, given["lemma"], strict=True):
                shown = sentence.lemmas if known else [""] * len(sentence)
                lemma_numbers.append(ROOT)
                lemma_numbers += (vocabulary.lemmas.get(each.lower(), UNKNOWN) for each in shown)
            lemmas = layout.packed(np.array(lemma_numbers, dtype=np.int64))
        return cls(
            layout,
            tuple(spellings),
            np.array(numbers, dtype=np.int64),
            layout.packed(np.array(spelling, dtype=np.int64)),
            letters_of(spellings, vocabulary),
            guesses,
            lemmas,
            tags,
            vectors,
            encoder.read(sentences, layout) if encoder else None,
        )


def given_columns(
    sentences: Sequence[Sentence], vocabulary: Vocabulary
) -> dict[str, NDArray[np.bool_]]:
    """Return whether each sentence has a column, for the vocabulary's columns of tags and lemmas.

    A sentence that has the other tags but no FEATS has words without features.
    """
    joined = Joined.of(sentences)
    columns = (*vocabulary.tags, "lemma")
    given = {column: joined.is_given(COLUMNS.index(column.upper())) for column in columns}
    others = [given[column] for column in vocabulary.tags if column != "feats"]
    if others and "feats" in given:
        given["feats"] |= np.logical_and.reduce(others)
    return given


def letters_of(forms: Sequence[str] | dict[str, int], vocabulary: Vocabulary) -> Numbers:
    """Return the numbers of the characters of forms, (U, C); an empty form is the root."""
    half = LONGEST_WORD // 2
    short = [each if len(each) <= LONGEST_WORD else each[:half] + each[-half:] for each in forms]
    sizes = np.array([len(each) for each in short])
    codes, places = np.unique(
        np.frombuffer("".join(short).encode("utf-32-le"), dtype=np.uint32), return_inverse=True
    )
    numbers = np.array([vocabulary.letters.get(chr(code), STRANGE) for code in codes.tolist()])
    letters = np.zeros((len(short), sizes.max() + 2), dtype=np.int64)
    columns = np.arange(letters.shape[1])
    letters[(columns > 0) & (columns <= sizes[:, None])] = numbers[places]
    letters[:, 0] = np.where(sizes > 0, BEGIN, ROOT_LETTER)
    letters[sizes > 0, sizes[sizes > 0] + 1] = END
    return letters


def _packed(hints: Sequence[Guesses], layout: BatchLayout) -> Guesses:
    """Put the guesses for sentences into the order of rows; roots have no guess."""
    root = Guesses.empty(1, hints[0].tags.shape[1])
    tags, chances = (
        np.concatenate([part for each in hints for part in (root[i], each[i])]) for i in range(2)
    )
    return Guesses(layout.packed(tags), layout.packed(chances))


def hints_of(sentences: Sequence[Sentence], tagger: Tagger, vocabulary: Vocabulary) -> list[Hints]:
    """Return a tagger's guesses for each sentence, as numbers of the vocabulary (-1: none)."""
    if not sentences:
        return []
    hints_of_all: list[Hints] = [{} for _ in sentences]
    ends = np.cumsum([0, *map(len, sentences)]).tolist()
    for column, (tags, guesses) in tagger.guess(sentences).items():
        if column not in vocabulary.tags:
            continue
        numbers = {value: number for number, value in enumerate(vocabulary.tags[column].values)}
        known = np.array([*(numbers.get(tag, _NO_TAG) for tag in tags), _NO_TAG])
        guesses = guesses._replace(tags=known[guesses.tags])
        for hints, (start, stop) in zip(hints_of_all, pairwise(ends), strict=True):
            hints[column] = Guesses(guesses.tags[start:stop], guesses.chances[start:stop])
    return hints_of_all


def jackknifed_hints(
    treebank: Sequence[Sentence],
    tagger: Tagger,
    vocabulary: Vocabulary,
    *,
    rng: Rng,
    progress: Progress | None = None,
) -> list[Hints]:
    """Return guesses of taggers that have not seen the sentence; of `tagger` for few sentences."""
    hints: dict[int, Hints] = {}
    for part, other in taggers_of_others(
        treebank, columns=tagger.columns, rng=rng, progress=progress
    ):
        hints |= zip(part, hints_of([treebank[i] for i in part], other, vocabulary), strict=True)
    if not hints:
        return hints_of(treebank, tagger, vocabulary)
    return [hints[i] for i in range(len(treebank))]
