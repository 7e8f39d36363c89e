"""What the root constraint does to the trees of a test part, sentence by sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from arborescence.experiments.common.statistics import (
    Interval,
    change_interval,
    paired_p,
    ratio_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.experiments.common.scores import Scored


@dataclass(frozen=True)
class Change:
    """How much is right in S sentences, without and with the root constraint, for P parsers.

    Attributes
    ----------
    whole : (S,) int64
        How much there is, such as the words of each sentence.
    multi, single : (P, S) int64
        How much of it is right without the constraint, and with it.

    Examples
    --------
    >>> change = Change(np.array([4, 4]), np.array([[2, 3]]), np.array([[3, 3]]))
    >>> change.rate_multi, change.rate_single, f"{change.relative:.1f}"
    (62.5, 75.0, '20.0')
    """

    whole: NDArray[np.int64]
    multi: NDArray[np.int64]
    single: NDArray[np.int64]

    @classmethod
    def join(cls, changes: Sequence[Self]) -> Self:
        """Put parsers together that were tested on the same sentences."""
        return cls(
            changes[0].whole,
            np.concatenate([one.multi for one in changes]),
            np.concatenate([one.single for one in changes]),
        )

    @property
    def rate_multi(self) -> float:
        """The percentage that is right without the constraint; nan if there is nothing."""
        return _percent(self.multi.sum(), self.whole.sum() * len(self.multi))

    @property
    def rate_single(self) -> float:
        """The percentage that is right with the constraint; nan if there is nothing."""
        return _percent(self.single.sum(), self.whole.sum() * len(self.single))

    @property
    def relative(self) -> float:
        """The relative change in percent; nan if nothing is right without the constraint."""
        return _percent(self.single.sum() - self.multi.sum(), self.multi.sum())

    @property
    def each(self) -> list[float]:
        """The relative change for each of the parsers."""
        return [
            _percent(single - multi, multi)
            for multi, single in zip(self.multi.sum(axis=1), self.single.sum(axis=1), strict=True)
        ]

    @cached_property
    def interval(self) -> Interval:
        """The interval of the relative change in percent, over sentences."""
        low, high = change_interval(self.multi.sum(axis=0), self.single.sum(axis=0))
        return Interval(100 * low, 100 * high)

    @cached_property
    def p(self) -> float:
        """The p-value of the difference, from signs of sentences drawn at random."""
        return paired_p((self.single - self.multi).sum(axis=0))


@dataclass(frozen=True)
class Effect:
    """What the root constraint does to P parsers on a treebank of S test sentences.

    The parsers differ by their seeds only. A tree is malformed if not exactly one edge leaves the
    root; a spanning tree has one at least, so it has too many.

    Attributes
    ----------
    treebank, split, lessons
        As in `Scored`.
    loaded : bool
        Whether the parser was taken from a file.
    lengths : (S,) int32
        The words of each sentence.
    roots : (P, S) int64
        The root edges of each tree that is found without the constraint.
    uas : Change
        Words with the right head, of those that count.
    exact : Change
        Sentences of which every word, punctuation too, has the right head.

    Examples
    --------
    >>> from arborescence.experiments.common.scores import Scored
    >>> from arborescence.treebank import Sentence
    >>> sentence = Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 0],
    ...                                deprels=["nsubj", "root"])
    >>> scored = Scored.of([[[0, 2, 3], [0, 0, 0], [0, 1, 0]]], [sentence],
    ...                    treebank="Birdish", lessons=100)
    >>> effect = Effect.of(scored)
    >>> effect.rate, effect.uas.rate_multi, effect.uas.rate_single, effect.exact.rate_single
    (100.0, 50.0, 100.0, 100.0)
    """

    treebank: str
    split: str
    lessons: int
    loaded: bool
    lengths: NDArray[np.int32]
    roots: NDArray[np.int64]
    uas: Change
    exact: Change

    @classmethod
    def of(cls, scored: Scored) -> Self:
        """Compare the trees that one parser finds without the constraint and with it."""
        columns = []
        for gold, counted, *trees in zip(
            scored.gold, scored.counted, scored.multi, scored.single, strict=True
        ):
            multi, single = (tree[1:] == gold[1:] for tree in trees)
            columns.append(
                (
                    (trees[0] == 0).sum(),
                    *(counted.sum(), multi[counted].sum(), single[counted].sum()),
                    *(multi.all(), single.all()),
                )
            )
        table = np.array(columns, dtype=np.int64)
        roots, words, *right = table.T
        uas_multi, uas_single, exact_multi, exact_single = (row[np.newaxis] for row in right)
        return cls(
            treebank=scored.treebank,
            split=scored.split,
            lessons=scored.lessons,
            loaded="model" in scored.settings,
            lengths=scored.lengths,
            roots=roots[np.newaxis],
            uas=Change(words, uas_multi, uas_single),
            exact=Change(np.ones_like(words), exact_multi, exact_single),
        )

    @classmethod
    def join(cls, effects: Sequence[Self]) -> Self:
        """Put parsers of the same treebank together."""
        return replace(
            effects[0],
            roots=np.concatenate([one.roots for one in effects]),
            uas=Change.join([one.uas for one in effects]),
            exact=Change.join([one.exact for one in effects]),
        )

    @property
    def malformed(self) -> NDArray[np.bool_]:
        """Which trees have more than one root edge: (P, S)."""
        return np.not_equal(self.roots, 1)

    @property
    def rate(self) -> float:
        """The percentage of malformed trees."""
        return 100 * float(self.malformed.mean())

    @property
    def rates(self) -> list[float]:
        """The same for each of the parsers."""
        return [100 * float(rate) for rate in self.malformed.mean(axis=1)]

    @cached_property
    def rate_interval(self) -> Interval:
        """The interval of the percentage, over sentences."""
        parsers, sentences = self.roots.shape
        low, high = ratio_interval(self.malformed.sum(axis=0), np.full(sentences, parsers))
        return Interval(100 * low, 100 * high)


def _percent(part: np.int64, whole: np.int64) -> float:
    return float(100 * part / whole) if whole else float("nan")
