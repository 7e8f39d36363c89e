"""Lemmatizer: a log-linear choice among edit scripts, from forms and tags (Chrupała 2006)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Self
from zlib import crc32

import numpy as np

from arborescence.core.random import as_generator
from arborescence.errors import TreebankError
from arborescence.parsers.shared.given import batches
from arborescence.parsers.text.rewriting import CONTEXTS, Rewriter
from arborescence.parsers.text.rules import CASES, STEM
from arborescence.treebank.joined import Joined, with_columns
from arborescence.treebank.sentence import FEATS, FORM, LEMMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.options import Progress
    from arborescence.parsers.text.rules import Rules
    from arborescence.treebank import Sentence

    #: A form with its UPOS, XPOS and FEATS.
    Word = tuple[str, ...]

_EPOCHS: Final = 10
_MOST_WORDS: Final = 100_000


class Lemmatizer(Rewriter):
    """Finds the lemmas of words with tags.

    Lemmatizers are made by `train` and `from_file`.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> taught = [
    ...     Sentence.from_words([form], lemmas=[lemma], upos=["VERB"])
    ...     for form, lemma in [("walked", "walk"), ("talked", "talk"), ("went", "go")]
    ... ]
    >>> lemmatizer = Lemmatizer.train(taught)
    >>> new = Sentence.from_words(["jumped", "went"], upos=["VERB", "VERB"])
    >>> [lemmatized] = lemmatizer.lemmatize([new])
    >>> lemmatized.lemmas
    ['jump', 'go']
    """

    def __init__(self, rules: Rules, known: NDArray[np.int64], weights: NDArray[np.int8]) -> None:
        super().__init__(rules, known, weights)
        self._known_lemmas: dict[bytes, bytes] = {}

    @classmethod
    def train(
        cls, treebank: Iterable[Sentence], *, rng: Rng = 0, progress: Progress | None = None
    ) -> Self:
        """Train a lemmatizer on a treebank with lemmas; words whose lemma is ``_`` are skipped.

        The parameters are those of `Tokenizer.train`. The order of the words is random.

        Raises
        ------
        TreebankError
            If the treebank has no lemmas.
        """
        lemmas: defaultdict[Word, Counter[str]] = defaultdict(Counter)
        for sentence in treebank:
            for row in _rows(Joined.of([sentence])):
                word, lemma = _parted(row)
                if (lemma != "_" or word[0] == "_") and STEM not in lemma and " " not in lemma:
                    lemmas[word][lemma] += 1
        if not lemmas:
            raise TreebankError("the treebank has no lemmas to learn from")
        words: list[Word] = []
        targets: list[str | None] = []
        for word, counts in lemmas.items():
            lemma, count = counts.most_common(1)[0]
            # Frequent words are repeated, but not in proportion to their counts.
            times = count.bit_length()
            words += [word] * times
            targets += [None if lemma == word[0] else lemma] * times
        return cls.trained(
            [word[0] for word in words],
            targets,
            _contexts(words),
            cases=CASES,
            epochs=_EPOCHS,
            generator=as_generator(rng),
            progress=lambda done, total: progress and progress("lemmas", done, total),
        )

    def lemmatize(
        self, sentences: Iterable[Sentence], *, overwrite: bool = False
    ) -> Iterator[Sentence]:
        """Fill in the lemmas of sentences without lemmas.

        Parameters
        ----------
        sentences
            Sentences with the same kinds of tags as in training.
        overwrite
            Whether to replace given lemmas, too.

        Yields
        ------
        Sentence
            The same sentences in the same order.
        """
        for batch in batches(sentences):
            wanted = ~Joined.of(batch).is_given(LEMMA) | np.bool_(overwrite)
            places = np.flatnonzero(wanted).tolist()
            bare = [batch[i] for i in places]
            joined = Joined.of(bare)
            lemmatized = with_columns(bare, {LEMMA: self._lemmas(_rows(joined))}, joined)
            for i, sentence in zip(places, lemmatized, strict=True):
                batch[i] = sentence
            yield from batch

    def _lemmas(self, rows: list[bytes]) -> list[bytes]:
        known = self._known_lemmas
        # Other threads may fill or clear the dictionary at the same time.
        lemmas = {row: known.get(row, b"") for row in rows}
        unknown = [row for row, lemma in lemmas.items() if not lemma]
        if unknown:
            words = [_parted(row)[0] for row in unknown]
            new = self.rewritten([word[0] for word in words], _contexts(words))
            computed = {row: new.get(i, words[i][0]).encode() for i, row in enumerate(unknown)}
            if len(known) > _MOST_WORDS:
                known.clear()
            known.update(computed)
            lemmas |= computed
        return [lemmas[row] for row in rows]


def _rows(joined: Joined) -> list[bytes]:
    """Return the columns from FORM to FEATS of each word."""
    raw, places = joined.raw.tobytes(), joined.places_of_columns
    starts, stops = places[:, FORM].tolist(), (places[:, FEATS + 1] - 1).tolist()
    return [raw[start:stop] for start, stop in zip(starts, stops, strict=True)]


def _parted(row: bytes) -> tuple[Word, str]:
    """Split a row of `_rows` into a form with its tags, and the lemma."""
    form, lemma, *tags = row.decode().split("\t")
    return (form, *tags), lemma


def _contexts(words: Sequence[Word]) -> NDArray[np.uint64]:
    """Hash the tags of words: each tag alone, and all tags of a word together."""
    hashes = {
        tags: [crc32(tag.encode()) for tag in (*tags, "\t".join(tags))]
        for tags in {word[1:] for word in words}
    }
    return np.array([hashes[word[1:]] for word in words], dtype=np.uint64).reshape(-1, CONTEXTS)
