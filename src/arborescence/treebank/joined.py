"""The concatenated bytes of many sentences, for kernels that process all of them in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.treebank.sentence import MISC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.treebank.sentence import Sentence

_UNDERSCORE = ord("_")


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
