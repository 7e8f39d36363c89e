"""Words cut into the pieces that a pretrained encoder reads, in windows that overlap by half.

The vector of a word comes from the window where it has most context (Devlin et al. 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.errors import ModelError
from arborescence.parsers.neural.bert.kernels import average

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float32]

#: The most pieces of a word; of longer words only the first pieces are read.
LONGEST_WORD: Final = 64
#: A splitter keeps the pieces of at most this number of words; without room, it forgets all words.
_MOST_KNOWN: Final = 1 << 16
#: The most pieces of a window, also where an encoder has room for more.
LONGEST_WINDOW: Final = 512


class Pieces(NamedTuple):
    """The input of an encoder: W windows of at most P pieces."""

    #: (W, P) int64: the numbers of the pieces, with padding.
    ids: Numbers
    #: (W,) int64: the number of pieces of each window.
    lengths: Numbers
    #: (M,) int64: the index in the flattened `ids` of each piece whose vector is used.
    place: Numbers
    #: (M,) int64: the number of the word of each such piece, counted over all sentences. The vector
    #: of a word is the mean over its pieces.
    word: Numbers

    def means(self, states: Floats, words: Numbers | None = None) -> Floats:
        """Return the vectors of all words: the means of the vectors of their pieces.

        `states`, (N, L, size), has the vectors of the pieces of all windows, without padding. If
        the numbers of words of all sentences are given, each sentence has one more vector, the
        first: of the piece before its words.
        """
        window, place = np.divmod(self.place, self.ids.shape[1])
        starts = np.cumsum(self.lengths) - self.lengths
        place += starts[window]
        word = self.word
        if words is not None:
            firsts = np.searchsorted(word, np.cumsum(words) - words)
            place = np.insert(place, firsts, starts[window[firsts]])
            word = np.insert(word, firsts, -1)
        first = np.flatnonzero(np.diff(word, prepend=-2, append=-2))
        means = np.empty((len(first) - 1, *states.shape[1:]), dtype=np.float32)
        average(states.reshape(len(states), -1), place, first, means.reshape(len(means), -1))
        return means


class SequentialTokenizer:
    """A tokenizer of the package tokenizers, with the interface of the package transformers.

    It cuts one text after the other, so it starts no threads.
    """

    def __init__(self, tokenizer: Any, unknown: int | None, padding: int | None = 0) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.unk_token_id, self.pad_token_id = unknown, padding

    def __call__(
        self, texts: Sequence[str], add_special_tokens: bool = True
    ) -> dict[str, list[list[int]]]:
        """Return the numbers of the pieces of each text."""
        # One call for all texts would start threads of the package tokenizers.
        cut = [
            self._tokenizer.encode(text, add_special_tokens=add_special_tokens) for text in texts
        ]
        return {"input_ids": [each.ids for each in cut]}


class PieceSplitter:
    """Cuts words into pieces, each word by itself, by slow or fast tokenizers.

    A word without pieces becomes the unknown piece.
    """

    def __init__(self, tokenizer: Any, room: int) -> None:
        self._tokenizer = tokenizer
        # Byte-level tokenizers cut a word after a space differently; others ignore spaces.
        plain, spaced = self._cut(["a", " a"])
        self._space = " " if len(spaced) <= len(plain) else ""
        [whole] = tokenizer([f"{self._space}a"])["input_ids"]
        [inner] = self._cut([f"{self._space}a"])
        start = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
        self._before, self._after = whole[:start], whole[start + len(inner) :]
        self._room = min(room, LONGEST_WINDOW) - len(self._before) - len(self._after)
        self._longest = min(LONGEST_WORD, self._room // 2)
        if self._longest < 1:
            raise ModelError(f"the encoder has room for {room} pieces only")
        self._known: dict[str, list[int]] = {}

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Pieces:
        """Cut the words of sentences into pieces, and put the pieces into windows."""
        cut = self._pieces_of({word for words in sentences for word in words})
        rows: list[list[int]] = []
        taken: list[tuple[int, int, int]] = []  # window, place in it, word
        first = 0
        for words in sentences:
            pieces = [cut[word] for word in words]
            for begin, end, kept in windows([len(each) for each in pieces], self._room):
                row = list(self._before)
                for number in range(begin, end):
                    if number in kept:
                        places = range(len(row), len(row) + len(pieces[number]))
                        taken += [(len(rows), place, first + number) for place in places]
                    row += pieces[number]
                rows.append(row + self._after)
            first += len(words)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        padding = int(self._tokenizer.pad_token_id or 0)
        ids = np.full((len(rows), lengths.max(initial=1)), padding, dtype=np.int64)
        for into, row in zip(ids, rows, strict=True):
            into[: len(row)] = row
        window, place, word = np.array(taken, dtype=np.int64).reshape(-1, 3).T
        return Pieces(ids, lengths, window * ids.shape[1] + place, word)

    def _pieces_of(self, words: set[str]) -> dict[str, list[int]]:
        """Return the pieces by word, at least one piece each; other words may be there, too."""
        known = self._known  # threads share it, and may replace it meanwhile
        new = sorted(word for word in words if word not in known)
        if len(known) + len(new) > _MOST_KNOWN:
            known, new = {}, sorted(words)
        unknown = self._tokenizer.unk_token_id
        pieces_of_all = self._cut([f"{self._space}{word}" for word in new]) if new else []
        for word, pieces in zip(new, pieces_of_all, strict=True):
            if not pieces and unknown is None:
                raise ModelError(f"the encoder's tokenizer finds no piece in {word!r}")
            known[word] = pieces[: self._longest] or [unknown]
        self._known = known
        return known

    def _cut(self, texts: list[str]) -> list[list[int]]:
        ids: list[list[int]] = self._tokenizer(texts, add_special_tokens=False)["input_ids"]
        return ids


def windows(counts: Sequence[int], room: int) -> list[tuple[int, int, range]]:
    """Split a sentence into windows: first word, end, and the words whose vectors it gives.

    The vector of a word comes from the window whose ends are farthest from the word; ends of the
    sentence do not count. A word has 1 to ``room // 2`` pieces.
    """
    starts = np.cumsum([0, *counts])
    words = len(counts)
    begin, end = 0, _last_start(starts, room)
    bounds = [(begin, end)]
    while end < words:
        begin = int(np.searchsorted(starts, starts[end] - room // 2))
        end = _last_start(starts, int(starts[begin]) + room)
        bounds.append((begin, end))
    if len(bounds) == 1:
        return [(0, words, range(words))]
    context = np.full((len(bounds), words), -1.0)
    for row, (begin, end) in zip(context, bounds, strict=True):
        before = starts[begin:end] - (starts[begin] if begin else -np.inf)
        after = (starts[end] if end < words else np.inf) - starts[begin + 1 : end + 1]
        row[begin:end] = np.minimum(before, after)
    best = context.argmax(axis=0)
    ends = np.searchsorted(best, np.arange(len(bounds) + 1))
    return [
        (begin, end, range(int(first), int(last)))
        for (begin, end), first, last in zip(bounds, ends[:-1], ends[1:], strict=True)
    ]


def _last_start(starts: Numbers, limit: int) -> int:
    """Return the last word that starts at `limit` or before."""
    return int(np.searchsorted(starts, limit, side="right")) - 1
