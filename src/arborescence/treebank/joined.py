"""The concatenated bytes of many sentences, for kernels that process all of them in one call."""
# `Sentence.replace` does so for one sentence and any columns, but takes longer than decoding

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from arborescence.compiling.kernels import kernel
from arborescence.errors import OptionError
from arborescence.treebank.sentence import DEPREL, DEPS, HEAD, MISC, Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from numpy.typing import NDArray


class Joined(NamedTuple):
    """The bytes of B sentences with n words in all."""

    raw: NDArray[np.uint8]  # the bytes
    places: NDArray[np.int64]  # (B + 1,): the first byte of each sentence, and the number of bytes
    offsets: NDArray[np.int64]  # (B + 1,): the number of words before each sentence, and in all
    # (n, 11): the spans of each word, relative to the start of its sentence
    spans: NDArray[np.int32]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Self:
        """Join sentences."""
        raws = [sentence.raw for sentence in sentences]
        spans = [sentence.spans for sentence in sentences]
        return cls(
            np.frombuffer(b"".join(raws), dtype=np.uint8),
            np.cumsum([0, *map(len, raws)]),
            np.cumsum([0, *map(len, spans)]),
            np.concatenate([np.empty((0, MISC + 2), np.int32), *spans]),
        )

    def is_blank(self, column: int) -> NDArray[np.bool_]:
        """Return for each word whether a column is ``_``, shape (n,)."""
        starts = self.spans[:, column] + np.repeat(self.places[:-1], np.diff(self.offsets))
        widths = self.spans[:, column + 1] - self.spans[:, column] - 1
        blank: NDArray[np.bool_] = (widths == 1) & (self.raw[starts] == _UNDERSCORE)
        return blank

    def is_given(self, column: int) -> NDArray[np.bool_]:
        """Return for each sentence whether any word has a value in a column, shape (B,)."""
        given: NDArray[np.bool_] = np.logical_or.reduceat(~self.is_blank(column), self.offsets[:-1])
        return given

    @property
    def places_of_columns(self) -> NDArray[np.int64]:
        """The spans as indices into `raw`: int64 (n, 11)."""
        return self.spans + np.repeat(self.places[:-1], np.diff(self.offsets))[:, np.newaxis]


_TAB = 9
_ZERO = 48
_UNDERSCORE = 95
_DIGITS: Final = 20  # the largest number of digits of a head


def with_trees(
    # B sentences with N nodes in all (words, and one root for each sentence)
    sentences: Sequence[Sentence],
    # (N,): the concatenated head vectors of all sentences; -1 for no head
    heads: npt.NDArray[np.int64],
    # (N,): the index in `names` of each word's relation; -1 for none. Those of roots are ignored.
    labels: npt.NDArray[np.int64],
    names: Sequence[str],  # the relations, as written in a file
) -> list[Sentence]:
    """Return the sentences with other heads and relations; all other bytes are kept. O(bytes)."""
    # OptionError if the numbers of heads, labels and nodes differ, or a label has no name
    raw, places, offsets, spans = Joined.of(sentences)
    starts = offsets + np.arange(len(offsets))
    if not len(heads) == len(labels) == starts[-1]:
        raise OptionError(f"{len(heads)} heads and {len(labels)} labels for {starts[-1]} nodes")
    if labels.size and labels.max() >= len(names):
        raise OptionError(f"label {labels.max()} has no name: there are {len(names)}")
    written = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, written)])
    longest = max(map(len, written), default=0) + _DIGITS
    out = np.empty(places[-1] + longest * len(spans), dtype=np.uint8)
    new_places = np.empty_like(places)
    new_spans = np.empty_like(spans)
    values = np.frombuffer(b"".join(written) or b"_", dtype=np.uint8)
    _write(raw, places, spans, starts, heads, labels, values, ends, out, new_places, new_spans)
    new_raw = out[: new_places[-1]].tobytes()
    cuts, rows = new_places.tolist(), offsets.tolist()
    return [
        Sentence(
            new_raw[cuts[b] : cuts[b + 1]],
            new_spans[rows[b] : rows[b + 1]],
            old.source,
            old.line,
        )
        for b, old in enumerate(sentences)
    ]


@kernel
def _write(
    # raw, places: the bytes of all sentences, uint8, and the start of each sentence, int64 (B + 1,)
    raw: np.ndarray,
    places: np.ndarray,
    # spans, starts: the spans of all sentences, int32 (N - B, 11), and their first nodes, int64 (B
    # + 1,)
    spans: np.ndarray,
    starts: np.ndarray,
    # heads, labels: as in `with_trees`
    heads: np.ndarray,
    labels: np.ndarray,
    # names, ends: the bytes of all names, uint8, and their starts and ends, int64 (L + 1,)
    names: np.ndarray,
    ends: np.ndarray,
    # out, new_places, new_spans: written: like raw, places and spans; `out` has additional room for
    # the longest values
    out: np.ndarray,
    new_places: np.ndarray,
    new_spans: np.ndarray,
) -> None:
    """Copy sentences with other heads and relations."""
    written = 0
    for b in range(len(places) - 1):
        first = places[b]
        new_places[b] = written
        begun = written
        read = first
        for node in range(starts[b] + 1, starts[b + 1]):
            i = node - b - 1
            shift = first - read + written - begun
            for column in range(HEAD + 1):
                new_spans[i, column] = spans[i, column] + shift
            for at in range(read, first + spans[i, HEAD]):
                out[written] = raw[at]
                written += 1
            head = heads[node]
            if head < 0:
                out[written] = _UNDERSCORE
                written += 1
            else:
                digits = 1
                while head >= 10**digits:
                    digits += 1
                for k in range(digits - 1, -1, -1):
                    out[written + k] = _ZERO + head % 10
                    head //= 10
                written += digits
            out[written] = _TAB
            written += 1
            new_spans[i, DEPREL] = written - begun
            label = labels[node]
            if label < 0:
                out[written] = _UNDERSCORE
                written += 1
            else:
                for at in range(ends[label], ends[label + 1]):
                    out[written] = names[at]
                    written += 1
            read = first + spans[i, DEPS] - 1
            shift = first - read + written - begun
            for column in range(DEPS, 11):
                new_spans[i, column] = spans[i, column] + shift
        for at in range(read, places[b + 1]):
            out[written] = raw[at]
            written += 1
    new_places[len(places) - 1] = written
