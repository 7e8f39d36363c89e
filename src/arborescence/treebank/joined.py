"""Many sentences as one stretch of bytes, for kernels that look at all of them in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arborescence.core.jit import kernel
from arborescence.treebank.sentence import HEAD, MISC, read_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from arborescence.treebank.sentence import Sentence


class Joined(NamedTuple):
    """The bytes of B sentences with n words in all.

    Attributes
    ----------
    raw : uint8
        The bytes.
    places : int64, shape (B + 1,)
        Where the bytes of each sentence begin, and their number.
    offsets : int64, shape (B + 1,)
        The number of words before each sentence, and of all.
    spans : int32, shape (n, 11)
        The spans of each word, as distances from where its sentence begins.
    """

    raw: NDArray[np.uint8]
    places: NDArray[np.int64]
    offsets: NDArray[np.int64]
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

    @property
    def places_of_columns(self) -> NDArray[np.int64]:
        """The spans as places in `raw`: int64 (n, 11)."""
        return self.spans + np.repeat(self.places[:-1], np.diff(self.offsets))[:, np.newaxis]


@kernel
def read_head_vectors(
    data: np.ndarray, spans: np.ndarray, offsets: np.ndarray, vectors: np.ndarray
) -> None:
    """Read column HEAD of sentences into one head vector after the other. O(n).

    Parameters
    ----------
    data : uint8
    spans : int64, shape (n, 11)
        As places in `data`.
    offsets : int64, shape (B + 1,)
        As in `Joined`.
    vectors : int64, shape (n + B,)
        Filled.
    """
    at = 0
    for sentence in range(offsets.shape[0] - 1):
        vectors[at] = -1
        at += 1
        for word in range(offsets[sentence], offsets[sentence + 1]):
            vectors[at] = read_head(data, spans[word, HEAD], spans[word, HEAD + 1] - 1)
            at += 1
