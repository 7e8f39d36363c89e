"""What is counted of the k best trees of each sentence, with and without the root constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.errors import ScoresError
from arborescence.inference.kbest import kbest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.experiments.common.scores import Scored

    Whole = NDArray[np.int64]


class Counts(NamedTuple):
    """Whole numbers for each of S sentences and K lengths of lists, or one where k does not matter.

    Those of several parsers add up, see `sum_of`: rates are quotients of two of them.

    Attributes
    ----------
    lists : (S, 1) int64
        How many lists are counted: 1 for each parser.
    words : (S, 1) int64
        The words that count for UAS.
    trees : (S, K) int64
        How many of the first k trees there are: fewer than k where a sentence has no more.
    malformed : (S, K) int64
        How many of these trees, found without the constraint, have not exactly one root edge.
    touched : (S, K) int64
        Whether there is such a tree among them.
    multi, single : (S, K) int64
        How many words are right in the best of the first k trees, found without and with the
        constraint.
    multi_exact, single_exact : (S, K) int64
        Whether the gold tree is among them.
    """

    lists: Whole
    words: Whole
    trees: Whole
    malformed: Whole
    touched: Whole
    multi: Whole
    single: Whole
    multi_exact: Whole
    single_exact: Whole

    @classmethod
    def of(cls, scored: Scored, ks: Sequence[int]) -> Self:
        """Find the trees of a test set and count.

        Parameters
        ----------
        scored
            What a parser makes of the test set.
        ks
            Lengths of lists; increasing.

        Raises
        ------
        ScoresError
            If the parser has no edge scores.
        NoTreeError
            If a sentence has no tree.

        Notes
        -----
        The k best trees begin with those of any smaller k: two searches a sentence do.

        Examples
        --------
        Two words that both would hang from the root, if they could:

        >>> from arborescence.experiments.common.scores import Scored
        >>> scores = np.array([[0, 3, 3], [0, 0, 1], [0, 2, 0]], np.float32)
        >>> gold = np.array([-1, 0, 1])
        >>> scored = Scored("Birdish", "train", 1, {}, False, [gold], [np.array([True, True])],
        ...                 [gold], [gold], [scores])
        >>> counts = Counts.of(scored, [1, 2, 5])
        >>> counts.trees, counts.malformed
        (array([[1, 2, 3]]), array([[1, 1, 1]]))
        >>> counts.multi, counts.single
        (array([[1, 1, 2]]), array([[0, 2, 2]]))
        """
        if scored.scores is None:
            raise ScoresError(
                "its parser gives edges no scores, so there is no list of its k best trees: take a "
                "graph-based parser"
            )
        rows: dict[str, list[Whole]] = {name: [] for name in cls._fields}
        for scores, gold, counted in zip(scored.scores, scored.gold, scored.counted, strict=True):
            rows["lists"].append(np.ones(1, np.int64))
            rows["words"].append(counted.sum(keepdims=True))
            for root in ("multi", "single"):
                heads, _ = kbest(scores, ks[-1], root=root, projective=scored.projective)
                last = np.minimum(ks, len(heads)) - 1
                same = heads[:, 1:] == gold[1:]
                right = np.maximum.accumulate(same[:, counted].sum(axis=1))
                exact = np.maximum.accumulate(same.all(axis=1))
                rows[root].append(right[last])
                rows[f"{root}_exact"].append(exact[last])
                if root == "multi":
                    malformed = ((heads == 0).sum(axis=1) != 1).cumsum()[last]
                    rows["trees"].append(last + 1)
                    rows["malformed"].append(malformed)
                    rows["touched"].append(malformed > 0)
        return cls.from_json(rows)

    @classmethod
    def from_json(cls, columns: Mapping[str, Iterable[object]]) -> Self:
        """Undo `as_json`."""
        return cls(**{name: np.array(rows, np.int64) for name, rows in columns.items()})

    def as_json(self) -> dict[str, list[list[int]]]:
        """Return the columns as JSON can hold them."""
        return {name: column.tolist() for name, column in self._asdict().items()}

    @classmethod
    def sum_of(cls, parsers: Iterable[Self]) -> Self:
        """Add up what is counted for several parsers on the same sentences."""
        return cls(*(np.sum(columns, axis=0) for columns in zip(*parsers, strict=True)))
