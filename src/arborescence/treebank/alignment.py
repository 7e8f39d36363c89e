"""Word alignment of two treebanks by character offsets (CoNLL 2018 shared task).

Both must have the same characters, except for spaces. A word that is a token matches the word with
the same span; in multiword tokens, words match by the longest common subsequence of their forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.errors import TreebankError
from arborescence.treebank.columns import Columns, equal
from arborescence.treebank.sentence import FORM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt


def aligned_pieces(
    gold: Iterable[Columns], predicted: Iterable[Columns]
) -> Iterator[tuple[Columns, Columns]]:
    """Read two treebanks in pieces that end with the same sentence-final token.

    No alignment crosses the end of a piece. The memory is that of the longest piece, nearly always
    a piece of `columns_of`. TreebankError names the first words where the texts differ by more than
    spaces.
    """
    ours, theirs = _Held(gold), _Held(predicted)
    while True:
        first, second = (ours, theirs) if ours.length <= theirs.length else (theirs, ours)
        # Read on in the shorter text; at its end, the other text must be at its end, too.
        if not (first.read() or (first.length == second.length and second.read())):
            break
        _check_same(ours.columns, theirs.columns)
        end = _last_common_end(ours.columns, theirs.columns)
        if end:
            yield ours.cut(end), theirs.cut(end)
    _check_same(ours.columns, theirs.columns, whole=True)
    if len(ours.columns) or len(theirs.columns):
        yield ours.columns, theirs.columns


class _Held:
    """The sentences of a treebank that have been read, but not yet compared."""

    def __init__(self, pieces: Iterable[Columns]) -> None:
        self.pieces = iter(pieces)
        self.columns = Columns.of_sentences([])

    @property
    def length(self) -> int:
        return self.columns.characters.size

    def read(self) -> bool:
        """Read pieces until the held text has doubled; return whether there was any piece."""
        goal = 2 * self.columns.data.size
        before = len(self.columns)
        for piece in self.pieces:
            self.columns = self.columns.followed_by(piece) if len(self.columns) else piece
            if self.columns.data.size >= goal:
                break
        return len(self.columns) > before

    def cut(self, end: int) -> Columns:
        """Remove and return the sentences up to a place in the characters."""
        held = self.columns
        count = int(np.searchsorted(held.sentence_spans[1], end, side="right"))
        self.columns = held.part(count, len(held))
        return held.part(0, count)


def _last_common_end(ours: Columns, theirs: Columns) -> int:
    """Find the last place where both have a sentence end after the same token, or 0."""
    tokens, their_tokens = ours.offsets[1:] - 1, theirs.offsets[1:] - 1
    ends, ours_at, theirs_at = np.intersect1d(
        ours.ends[tokens], theirs.ends[their_tokens], return_indices=True
    )
    starts, their_starts = ours.starts[tokens[ours_at]], theirs.starts[their_tokens[theirs_at]]
    return int(ends[starts == their_starts].max(initial=0))


def _check_same(gold: Columns, predicted: Columns, *, whole: bool = False) -> None:
    """Raise an error if characters differ in the common length or, if `whole`, lengths differ."""
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
    """Pair the words of two treebanks with the same characters: their indices (k,), ascending."""
    n, m = len(gold.spans), len(predicted.spans)
    pairs = np.empty((min(n, m), 2), dtype=np.int64)
    stretches = np.empty((min(n, m), 4), dtype=np.int64)
    ours, theirs = (
        _WordArrays(each.data, each.spans, each.starts, each.ends, each.in_multiword)
        for each in (gold, predicted)
    )
    count, different = _align(ours, theirs, pairs, stretches)
    pairs = pairs[:count]
    if different:
        more = [
            (i + first, j + second)
            for first, stop, second, end in stretches[:different].tolist()
            for i, j in _longest_common(
                [_form(gold, word) for word in range(first, stop)],
                [_form(predicted, word) for word in range(second, end)],
            )
        ]
        pairs = np.concatenate([pairs, np.array(more, dtype=np.int64).reshape(-1, 2)])
        pairs = pairs[np.argsort(pairs[:, 0])]
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _form(columns: Columns, word: int) -> str:
    """Return the form as the shared task compares it: with spaces only in multiword tokens."""
    if columns.in_multiword[word]:
        return columns.text(word, FORM).lower()
    token = columns.characters[columns.starts[word] : columns.ends[word]]
    return token.tobytes().decode().lower()


class _WordArrays(NamedTuple):
    """The arrays of `Columns` that the alignment needs."""

    #: As `Columns.data`.
    data: np.ndarray
    #: As `Columns.spans`.
    spans: np.ndarray
    #: As `Columns.starts`.
    starts: np.ndarray
    #: As `Columns.ends`.
    ends: np.ndarray
    #: As `Columns.in_multiword`.
    in_multiword: np.ndarray


_WORDS: Final = (
    "treebank.alignment._WordArrays(uint8[::1], int64[:, ::1], int64[::1], int64[::1], bool[::1])"
)


@kernel
@takes(f"{_WORDS}, {_WORDS}, out int64[:, ::1], out int64[:, ::1]")
def _align(
    ours: _WordArrays, theirs: _WordArrays, pairs: np.ndarray, stretches: np.ndarray
) -> tuple[int, int]:
    """Pair n and m words; return the numbers of pairs and of spans still to be paired. O(size).

    `pairs`, (min(n, m), 2), gets words that are the same token, and the words of multiword spans
    with the same words. Other spans go to `stretches`, (min(n, m), 4): first word and last word + 1
    in both treebanks.
    """
    starts, ends, in_multiword = ours.starts, ours.ends, ours.in_multiword
    their_starts, their_ends, theirs_in = theirs.starts, theirs.ends, theirs.in_multiword
    n, m = starts.shape[0], their_starts.shape[0]
    count = 0
    different = 0
    i = j = 0
    while i < n and j < m:
        if not in_multiword[i] and not theirs_in[j]:
            start, their_start = starts[i], their_starts[j]
            same = start == their_start and ends[i] == their_ends[j]
            if same:
                pairs[count, 0], pairs[count, 1] = i, j
                count += 1
            i += 1 if start <= their_start else 0
            j += 1 if start > their_start or same else 0
        else:
            # A multiword token opens a span, which grows while multiword tokens overlap. A word of
            # the other text that starts before the span and overlaps it is left out.
            if in_multiword[i]:
                end = ends[i]
                j += 1 if not theirs_in[j] and their_starts[j] < starts[i] else 0
            else:
                end = their_ends[j]
                i += 1 if starts[i] < their_starts[j] else 0
            first, second = i, j
            while True:
                mine = i < n and (ends[i] <= end or (in_multiword[i] and starts[i] < end))
                other = j < m and (their_ends[j] <= end or (theirs_in[j] and their_starts[j] < end))
                if not mine and not other:
                    break
                if i < n and (j == m or starts[i] <= their_starts[j]):
                    end = max(end, ends[i]) if in_multiword[i] else end
                    i += 1
                else:
                    end = max(end, their_ends[j]) if theirs_in[j] else end
                    j += 1
            stop, their_stop = i, j
            alike = stop - first == their_stop - second
            for k in range(stop - first):
                alike = alike and in_multiword[first + k] == theirs_in[second + k]
                alike = alike and equal(
                    ours.data,
                    ours.spans[first + k, FORM],
                    ours.spans[first + k, FORM + 1] - 1,
                    theirs.data,
                    theirs.spans[second + k, FORM],
                    theirs.spans[second + k, FORM + 1] - 1,
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
