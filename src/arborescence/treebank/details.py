"""The counts of an evaluation by sentence, with intervals, groups and confusions."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.errors import TreebankError
from arborescence.treebank.statistics import Interval, paired_p, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from arborescence.treebank.columns import Columns, Integers
    from arborescence.treebank.comparison import Compared

    Mask = npt.NDArray[np.bool_]

#: The longest sentence of each group of lengths but the last.
_LONGEST: Final = (10, 20, 30, 40)
#: The genre of the sentences that follow: a comment, or the beginning of a document's id.
_GENRE: Final = re.compile(
    rb"^# *(?:newdoc(?: +id *= *(?P<document>[^-\n]*)[^\n]*)?"
    rb"|(?:meta::)?genre *= *(?P<genre>[^\n]*))$",
    re.MULTILINE,
)


class Difference(NamedTuple):
    """The difference of two parsers on the same sentences.

    Attributes
    ----------
    value : float
        The F1 of the first parser minus the F1 of the other parser.
    interval : Interval
        The 95 % bootstrap interval of the difference, over sentences.
    p : float
        The probability of such a difference, or a larger one, between two equally good parsers: a
        paired permutation test over sentences.
    """

    value: float
    interval: Interval
    p: float


class Details:
    """The counts of each gold sentence, and the confusions of values.

    Attributes
    ----------
    confusions : dict of str to Counter
        For ``"relations"`` and ``"tags"`` (UPOS): the number of words for each pair of a gold value
        and another, predicted value.
    """

    def __init__(self) -> None:
        self.confusions: dict[str, Counter[tuple[str, str]]] = {
            "relations": Counter(), "tags": Counter(),
        }  # fmt: skip
        self._parts: list[Integers] = []
        self._genres: list[str] = []
        self._last = "", ""  # the file and the genre of the last sentence

    def add(self, compared: Compared, counted: Mask, their_counted: Mask) -> None:
        """Count a part of the text, by the masks of words that count."""
        ours, theirs, g = compared.ours, compared.theirs, compared.g
        sentences, lengths = len(ours), np.diff(ours.offsets)
        sentence_of = np.repeat(np.arange(sentences), lengths)
        starts = ours.sentence_spans[0]
        theirs_of = np.searchsorted(starts, theirs.starts[their_counted], side="right") - 1
        words = (
            sentence_of[g[compared.attached & counted[g]]],
            sentence_of[g[compared.labelled & counted[g]]],
            sentence_of[counted],
            theirs_of,
        )
        columns = [np.bincount(each, minlength=sentences) for each in words]
        self._parts.append(np.stack([*columns, lengths]))
        self._genres += self._genres_of(ours)

    def confuse(self, kind: str, names: list[str], gold: Integers, predicted: Integers) -> None:
        """Count the values of the same words in both treebanks, where they differ."""
        wrong = gold != predicted
        pairs = np.stack([gold[wrong], predicted[wrong]], axis=1)
        different, counts = np.unique(pairs, axis=0, return_counts=True)
        for (right, wrong_value), count in zip(different.tolist(), counts.tolist(), strict=True):
            self.confusions[kind][names[right], names[wrong_value]] += count

    def _genres_of(self, columns: Columns) -> list[str]:
        """Return the genre of each sentence; without one, the name of its file."""
        data = columns.data.tobytes()
        said: dict[int, str] = {}
        for match in _GENRE.finditer(data):
            number = int(np.searchsorted(columns.begins, match.start(), side="right")) - 1
            said[number] = (match["genre"] or match["document"] or b"").decode().strip()
        source, genre = self._last
        genres = []
        for number, file in enumerate(columns.sources):
            genre = said.get(number, genre if file == source else "")
            source = file
            genres.append(genre or file)
        self._last = source, genre
        return genres

    @property
    def counts(self) -> Integers:
        """The counts of each gold sentence, shape (5, sentences).

        The rows are the words with the correct head, those with the correct head and relation, the
        gold words, the predicted words, and the length.
        """
        empty = np.zeros((5, 0), dtype=np.int64)
        return np.concatenate([empty, *self._parts], axis=1)

    def by_length(self) -> dict[str, Integers]:
        """Return the counts of LAS for each group of lengths: correct, gold and predicted words."""
        counts = self.counts
        groups = np.searchsorted(_LONGEST, counts[4])
        ends = [*map(str, _LONGEST), ""]
        names = [f"{first + 1}-{end}" for first, end in zip((0, *_LONGEST), ends, strict=True)]
        names[-1] = f"over {_LONGEST[-1]}"
        rows = {name: counts[1:4, groups == at].sum(axis=1) for at, name in enumerate(names)}
        return {name: row for name, row in rows.items() if row.any()}

    def by_genre(self) -> dict[str, Integers]:
        """Return the counts of LAS for each genre, or for each file: as `by_length`."""
        names, places = np.unique(np.array(self._genres, dtype=object), return_inverse=True)
        counts = self.counts
        return {str(name): counts[1:4, places == at].sum(axis=1) for at, name in enumerate(names)}

    def interval(self, name: str) -> Interval:
        """Return the 95 % bootstrap interval of UAS or LAS, over sentences.

        Parameters
        ----------
        name
            ``"uas"`` or ``"las"``.
        """
        correct, words = self._shares(name)
        return ratio_interval(correct, words)

    def difference(self, other: Details, name: str) -> Difference:
        """Compare with another parser on the same gold sentences.

        Parameters
        ----------
        other
            The details of the evaluation of the other parser.
        name
            ``"uas"`` or ``"las"``.

        Raises
        ------
        TreebankError
            If the gold sentences differ.
        """
        if not np.array_equal(self.counts[[2, 4]], other.counts[[2, 4]]):
            raise TreebankError("two parsers are compared on the same gold sentences only")
        correct, words = self._shares(name)
        others, their_words = other._shares(name)
        # In the units of `words`, so that the sum of the differences is the difference of both F1.
        gains = correct - others * (words.sum() / max(their_words.sum(), 1))
        value = float(gains.sum() / max(words.sum(), 1))
        return Difference(value, ratio_interval(gains, words), paired_p(gains))

    def confusion_lines(self, most: int = 30) -> Iterator[str]:
        """Yield a table of the confusions, the most frequent of each kind first.

        Parameters
        ----------
        most
            The number of confusions of each kind that are named.
        """
        for kind, counts in self.confusions.items():
            yield ""
            yield f"{'words':>7}  {f'gold {kind}':<16}predicted"
            for (gold, predicted), count in counts.most_common(most):
                yield f"{count:>7}  {gold:<16}{predicted}"
            if len(counts) > most:
                rest = counts.total() - sum(count for _, count in counts.most_common(most))
                yield f"{rest:>7}  in {len(counts) - most} other pairs"

    def _shares(self, name: str) -> tuple[npt.NDArray[np.float64], Integers]:
        """Return for each sentence the two numbers whose sums give F1."""
        counts = self.counts
        return 2.0 * counts[["uas", "las"].index(name)], counts[2] + counts[3]
