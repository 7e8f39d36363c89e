"""A fine-tuned encoder in a model file, as ONNX, with its tokenizer: parsing needs no PyTorch.

Each window of pieces is read by itself, so nothing is padded, and a word has the same vector in any
batch. The file may come from a stranger, so the encoder's operators, its tokenizer, and its needs
of memory and time are checked before it runs.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from arborescence.errors import ArborescenceError, MissingExtraError, ModelError
from arborescence.parsers.neural.onnx_file import graph_of
from arborescence.parsers.neural.onnx_sizes import Sizes
from arborescence.parsers.neural.pieces import LONGEST_WINDOW, PieceSplitter, SequentialTokenizer
from arborescence.parsers.neural.tokenizer_file import tokenizer_of
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.inputs import BatchLayout
    from arborescence.treebank import Sentence

#: The name of the format in a model file.
FORMAT: Final = "onnx"
_FIELDS: Final = {
    "name": scheme.VALUE,
    "room": scheme.whole(1, LONGEST_WINDOW),
    "unknown": scheme.or_none(scheme.whole(0, 2**31)),
}
_ARRAYS: Final = {
    name: scheme.Array((np.uint8,), (f"bytes of {name}",)) for name in ("onnx", "tokenizer")
}
#: The largest number that a sound encoder returns.
_LARGEST: Final = float(np.finfo(np.float16).max)


class OnnxEncoder:
    """An encoder from pieces (1, P) int64 to their vectors (P, layers, size) float32."""

    extra: ClassVar[str] = "encoder"
    fine_tune: ClassVar[bool] = False
    shapes: ClassVar[dict[str, tuple[int, ...]]] = {}

    def __init__(
        self, fields: dict[str, Any], arrays: dict[str, NDArray[np.uint8]], layers: int, size: int
    ) -> None:
        # The fields and arrays of a model file; ModelError if they are no encoder of this shape.
        self._fields = scheme.fields_of(fields, _FIELDS)
        self.arrays = scheme.arrays_of(arrays, _ARRAYS, {})
        self.name: str = self._fields["name"]  # of the encoder before the export
        self.layers, self.size = layers, size
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise MissingExtraError(
                "a model with an encoder in ONNX needs the packages onnxruntime and tokenizers: "
                f"install them with `pip install 'arborescence[{self.extra}]'`"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised
        # Run the checked format only: the same bytes can be valid in two formats.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        # ONNX can name other files to read. None is read, since this path is no folder.
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", os.devnull
        )
        with _understood():
            data = self.arrays["onnx"].tobytes()
            self._sizes = Sizes(graph_of(memoryview(data)))
            self._sizes.check(self._fields["room"])
            self._session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
            text = tokenizer_of(self.arrays["tokenizer"].tobytes())
            tokenizer = tokenizers.Tokenizer.from_str(text)
            sequential = SequentialTokenizer(tokenizer, self._fields["unknown"])
            self._splitter = PieceSplitter(sequential, self._fields["room"])
        self.features([["a"]])  # a wrong shape raises its error now

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
        return {"format": FORMAT, **self._fields}

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
        with _understood():
            pieces = self._splitter(sentences)
            for length in np.unique(pieces.lengths).tolist():
                self._sizes.check(length)
            states = [
                self._session.run(None, {"ids": row[np.newaxis, :length]})[0]
                for row, length in zip(pieces.ids, pieces.lengths, strict=True)
            ]
        for state, length in zip(states, pieces.lengths, strict=True):
            if state.dtype != np.float32 or state.shape != (length, self.layers, self.size):
                shape = (int(length), self.layers, self.size)
                raise ModelError(
                    f"the encoder returns {state.dtype} {state.shape}, not float32 {shape}"
                )
            if not (np.abs(state) <= _LARGEST).all():
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
        sums: NDArray[np.float32] = np.add.reduceat(np.concatenate(states)[place], first)
        sums /= counts[:, None, None]
        return sums


@contextmanager
def _understood() -> Iterator[None]:
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
