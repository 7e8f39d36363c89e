"""Which words of two treebanks are the same words of the same text.

The rules are those of the CoNLL 2018 shared task: both treebanks must spell the same characters,
spaces aside. A word that is a token of its own matches the word over the same characters. Where
either treebank has multiword tokens, the words over the joint stretch of characters are matched by
the longest common subsequence of their forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arborescence._jit import kernel
from arborescence.errors import TreebankError
from arborescence.treebank.columns import Columns, equal
from arborescence.treebank.sentence import FORM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt


def together(
    gold: Iterable[Columns], predicted: Iterable[Columns]
) -> Iterator[tuple[Columns, Columns]]:
    """Read two treebanks side by side, and cut both where a sentence ends in both.

    Memory is that of the longest stretch without such a place: nearly always a piece of a file.

    Yields
    ------
    ours, theirs : Columns
        The same text in both, whole sentences in both.

    Raises
    ------
    TreebankError
        If the texts differ by more than spaces, naming the first words that do.
    """
    ours, theirs = _Held(gold), _Held(predicted)
    while True:
        first, second = (ours, theirs) if ours.length <= theirs.length else (theirs, ours)
        # Read on in the text that is behind; if it is over, the other one must be too.
        if not (first.read() or (first.length == second.length and second.read())):
            break
        _check_same(ours.columns, theirs.columns)
        ends = np.intersect1d(ours.columns.sentence_spans[1], theirs.columns.sentence_spans[1])
        if ends.size:
            yield ours.cut(ends[-1]), theirs.cut(ends[-1])
    _check_same(ours.columns, theirs.columns, whole=True)
    if len(ours.columns) or len(theirs.columns):
        yield ours.columns, theirs.columns


class _Held:
    """What was read of a treebank and not yet compared."""

    def __init__(self, pieces: Iterable[Columns]) -> None:
        self.pieces = iter(pieces)
        self.columns = Columns.of_sentences([])

    @property
    def length(self) -> int:
        return self.columns.characters.size

    def read(self) -> bool:
        """Read as much again as is held, one piece at least, and tell whether there was any."""
        goal = 2 * self.columns.data.size
        before = len(self.columns)
        for piece in self.pieces:
            self.columns = self.columns.followed_by(piece) if len(self.columns) else piece
            if self.columns.data.size >= goal:
                break
        return len(self.columns) > before

    def cut(self, end: int) -> Columns:
        """Take away the sentences up to a place in the characters."""
        held = self.columns
        count = int(np.searchsorted(held.sentence_spans[1], end, side="right"))
        self.columns = held.part(count, len(held))
        return held.part(0, count)


def _check_same(gold: Columns, predicted: Columns, *, whole: bool = False) -> None:
    """Compare characters: of as much as there is of both, or of all."""
    ours, theirs = gold.characters, predicted.characters
    shorter = min(ours.size, theirs.size)
    different = np.flatnonzero(ours[:shorter] != theirs[:shorter])
    if different.size or (whole and ours.size != theirs.size):
        at = int(different[0]) if different.size else shorter
        raise TreebankError(
            f"the texts differ: gold has {gold.place(at)} where predicted has "
            f"{predicted.place(at)}; only parses of the same text can be compared"
        )


def align(gold: Columns, predicted: Columns) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pair the words of two treebanks with the same characters.

    Returns
    -------
    gold_words, predicted_words : ndarray, int64, shape (k,)
        Indices of the `k` words that match, ascending.
    """
    n, m = len(gold.spans), len(predicted.spans)
    pairs = np.empty((min(n, m), 2), dtype=np.int64)
    stretches = np.empty((min(n, m), 4), dtype=np.int64)
    count, different = _align(
        *(gold.data, gold.spans, gold.starts, gold.ends, gold.in_multiword),
        *(predicted.data, predicted.spans, predicted.starts, predicted.ends),
        *(predicted.in_multiword, pairs, stretches),
    )
    pairs = pairs[:count]
    if different:
        more = [
            (i + first, j + second)
            for first, stop, second, end in stretches[:different].tolist()
            for i, j in _longest_common(
                [gold.text(word, FORM).lower() for word in range(first, stop)],
                [predicted.text(word, FORM).lower() for word in range(second, end)],
            )
        ]
        pairs = np.concatenate([pairs, np.array(more, dtype=np.int64).reshape(-1, 2)])
        pairs = pairs[np.argsort(pairs[:, 0])]
    return pairs[:, 0], pairs[:, 1]


@kernel
def _align(
    data: np.ndarray,
    spans: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    in_multiword: np.ndarray,
    their_data: np.ndarray,
    their_spans: np.ndarray,
    their_starts: np.ndarray,
    their_ends: np.ndarray,
    their_in_multiword: np.ndarray,
    pairs: np.ndarray,
    stretches: np.ndarray,
) -> tuple[int, int]:
    """Pair words of n and m; give the numbers of pairs, and of stretches still to pair: O(size).

    Shapes are those of `Columns`. `pairs` has room for (min(n, m), 2): filled with words that are
    the same token, and with those of stretches of multiword tokens with the same words. Other
    such stretches go to `stretches` (min(n, m), 4): our first word and our last + 1, and theirs.
    """
    n, m = starts.shape[0], their_starts.shape[0]
    count = 0
    different = 0
    i = j = 0
    while i < n and j < m:
        ours, theirs = in_multiword[i], their_in_multiword[j]
        same = starts[i] == their_starts[j] and ends[i] == their_ends[j]
        if same and not ours and not theirs:
            pairs[count, 0], pairs[count, 1] = i, j
            count += 1
            i += 1
            j += 1
        elif not same and ends[i] <= their_starts[j]:
            i += 1
        elif not same and their_ends[j] <= starts[i]:
            j += 1
        elif not ours and not theirs:
            end, their_end = ends[i], their_ends[j]
            i += 1 if end <= their_end else 0
            j += 1 if their_end <= end else 0
        elif not ours and starts[i] < their_starts[j]:
            i += 1
        elif not theirs and their_starts[j] < starts[i]:
            j += 1
        else:
            # A stretch of multiword tokens that overlap begins here.
            end = max(ends[i] if ours else 0, their_ends[j] if theirs else 0)
            first, second = i, j
            grows = True
            while grows:
                grows = False
                while i < n and (starts[i] < end or ends[i] <= end):
                    end = max(end, ends[i]) if in_multiword[i] else end
                    i += 1
                while j < m and (their_starts[j] < end or their_ends[j] <= end):
                    if their_in_multiword[j] and their_ends[j] > end:
                        end = their_ends[j]
                        grows = True
                    j += 1
            stop = i - 1 if ends[i - 1] > end else i
            their_stop = j - 1 if their_ends[j - 1] > end else j
            alike = stop - first == their_stop - second
            for k in range(stop - first):
                alike = alike and equal(
                    data,
                    spans[first + k, FORM],
                    spans[first + k, FORM + 1] - 1,
                    their_data,
                    their_spans[second + k, FORM],
                    their_spans[second + k, FORM + 1] - 1,
                )
            if alike:
                for k in range(stop - first):
                    pairs[count, 0], pairs[count, 1] = first + k, second + k
                    count += 1
            elif first < stop and second < their_stop:
                stretches[different, 0], stretches[different, 1] = first, stop
                stretches[different, 2], stretches[different, 3] = second, their_stop
                different += 1
    return count, different


def _longest_common(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the items of a longest common subsequence; O(len(ours) · len(theirs))."""
    longest = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            longest[i][j] = (
                longest[i + 1][j + 1] + 1
                if ours[i] == theirs[j]
                else max(longest[i + 1][j], longest[i][j + 1])
            )
    pairs = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            pairs.append((i, j))
            i += 1
            j += 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
