"""The vectors of words by a fine-tuned encoder in a model file: parsing needs no PyTorch.

Each window of pieces is read by itself, so nothing is padded, and a word has the same vector in any
batch. The file may come from a stranger: what an encoder reads from it is checked.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from arborescence.errors import ArborescenceError, MissingExtraError, ModelError
from arborescence.parsers.neural.pieces import LONGEST_WINDOW, PieceSplitter, SequentialTokenizer
from arborescence.parsers.neural.tokenizer_file import tokenizer_of
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import BatchLayout
    from arborescence.treebank import Sentence

#: The fields of the header that every such encoder has.
FIELDS: Final = {
    "name": scheme.VALUE,
    "room": scheme.whole(1, LONGEST_WINDOW),
    "unknown": scheme.or_none(scheme.whole(0, 2**31)),
}
#: The array of the tokenizer.
TOKENIZER: Final = "tokenizer"
#: The largest number that a sound encoder returns.
_LARGEST: Final = float(np.finfo(np.float16).max)


class FileEncoder(ABC):
    """An encoder from words to vectors (N, layers, size) float32, with its tokenizer."""

    extra: ClassVar[str] = "encoder"
    fine_tune: ClassVar[bool] = False
    shapes: ClassVar[dict[str, tuple[int, ...]]] = {}
    #: The name of the format in a model file.
    format: ClassVar[str]

    def __init__(
        self, fields: dict[str, Any], arrays: dict[str, NDArray[Any]], layers: int, size: int
    ) -> None:
        # The valid fields and arrays of a model file, and the shape of a word's vectors.
        self._fields, self.arrays = fields, arrays
        self.name: str = fields["name"]  # of the encoder before the export
        self.layers, self.size = layers, size
        try:
            import tokenizers
        except ImportError as error:
            raise missing("tokenizers") from error
        with understood():
            text = tokenizer_of(arrays[TOKENIZER].tobytes())
            sequential = SequentialTokenizer(tokenizers.Tokenizer.from_str(text), fields["unknown"])
            self._splitter = PieceSplitter(sequential, fields["room"])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields, self.arrays, self.layers, self.size)

    @property
    def digest(self) -> str:
        """A digest that identifies the encoder."""
        digest = hashlib.blake2b(digest_size=16)
        for array in self.arrays.values():
            digest.update(array.tobytes())
        return digest.hexdigest()

    def to_file(self) -> dict[str, Any]:
        """Return the fields of a model file; it also has `arrays`."""
        return {"format": self.format, **self._fields}

    def read(self, sentences: Sequence[Sentence], layout: BatchLayout) -> NDArray[np.float32]:
        """Return the vectors of words (N, layers, size), 0 for roots."""
        encoded = np.zeros((len(layout.flat), self.layers, self.size), dtype=np.float32)
        encoded[layout.words] = self.features([sentence.forms for sentence in sentences])
        return encoded

    def features(
        self, sentences: Sequence[Sequence[str]], *, roots: bool = False
    ) -> NDArray[np.float32]:
        """Return the vectors of all words: the means of the vectors of their pieces.

        With `roots`, the vector of the piece before a sentence stands before those of its words.
        """
        with understood():
            pieces = self._splitter(sentences)
            states = self._states(pieces.ids, pieces.lengths)
        if not (np.abs(states) <= _LARGEST).all():
            raise ModelError("the encoder gives numbers that are too large, or NaN")
        window, place = np.divmod(pieces.place, pieces.ids.shape[1])
        starts = np.cumsum(pieces.lengths) - pieces.lengths
        place += starts[window]
        word = pieces.word
        if roots:
            words = np.array([len(words) for words in sentences])
            firsts = np.searchsorted(word, np.cumsum(words) - words)
            place = np.insert(place, firsts, starts[window[firsts]])
            word = np.insert(word, firsts, -1)
        first = np.flatnonzero(np.diff(word, prepend=-2))
        counts = np.diff(first, append=len(word))
        sums: NDArray[np.float32] = np.add.reduceat(states[place], first)
        sums /= counts[:, None, None]
        return sums

    @abstractmethod
    def _states(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors (N, layers, size) of the N pieces of windows: see `Pieces`."""


def missing(name: str) -> MissingExtraError:
    """Return the error for a package that is not installed."""
    return MissingExtraError(
        f"a model with an encoder needs the package {name}: install it with "
        f"`pip install 'arborescence[{FileEncoder.extra}]'`"
    )


@contextmanager
def understood() -> Iterator[None]:
    """Turn errors of onnxruntime and tokenizers, which are of many classes, into ModelErrors.

    Errors of Rust are a BaseException, not an Exception.
    """
    try:
        yield
    except (ArborescenceError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"the encoder cannot be read: {reason}") from error
