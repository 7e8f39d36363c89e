"""The vectors of words by a fine-tuned BERT in a model file, with its tokenizer, without PyTorch.

No window of pieces is padded, so a word has the same vector in any batch. The file may come from a
stranger: what an encoder reads from it is checked.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.errors import ArborescenceError, MissingExtraError, ModelError, OptionError
from arborescence.parsers.neural.bert import weights as stored
from arborescence.parsers.neural.bert.blocks import EIGHT, Bits
from arborescence.parsers.neural.bert.families import is_bert, sizes_and_weights
from arborescence.parsers.neural.bert.forward import BertForward
from arborescence.parsers.neural.pieces import LONGEST_WINDOW, PieceSplitter, SequentialTokenizer
from arborescence.parsers.neural.tokenizer_file import tokenizer_of
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.inputs import BatchLayout
    from arborescence.treebank import Sentence

    Weights = Mapping[str, NDArray[np.float32]]

#: The array of the tokenizer.
TOKENIZER: Final = "tokenizer"
#: The name of the format in a model file.
FORMAT: Final = "bert"
_FIELDS: Final = {
    "format": scheme.one_of([FORMAT]),
    "name": scheme.VALUE,
    "room": scheme.whole(1, LONGEST_WINDOW),
    "unknown": scheme.or_none(scheme.whole(0, 2**31)),
    **stored.FIELDS,
}
#: The most multiplications for a window: seconds of work.
_MOST_WORK: Final = 1 << 38
_TOKENIZER: Final = {TOKENIZER: scheme.Array((np.uint8,), ("bytes",))}
#: The largest number that a sound encoder returns.
_LARGEST: Final = float(np.finfo(np.float16).max)


class BertEncoder:
    """A BERT from words to vectors (N, layers, size) float32, with its tokenizer.

    The vectors of a word are mixtures of the layers.
    """

    extra: ClassVar[str] = "encoder"
    fine_tune: ClassVar[bool] = False
    shapes: ClassVar[dict[str, tuple[int, ...]]] = {}

    def __init__(
        self, fields: Mapping[str, Any], arrays: dict[str, NDArray[Any]], layers: int, size: int
    ) -> None:
        # The fields and arrays of a model file; ModelError if they are no BERT of this shape.
        self._fields = fields = scheme.fields_of(fields, _FIELDS)
        self.arrays, self.layers, self.size = arrays, layers, size
        self.name: str = fields["name"]  # of the encoder in PyTorch
        self.sizes = stored.BertSizes(**{name: fields[name] for name in stored.FIELDS})
        if self.sizes.size != size or size % self.sizes.heads:
            raise ModelError(
                f"the encoder has vectors of {self.sizes.size} numbers and {self.sizes.heads} "
                f"heads, which do not fit to {size}"
            )
        if fields["room"] > self.sizes.positions or (
            0 < self.sizes.distances < 2 * fields["room"] - 1
        ):
            raise ModelError(
                f"the encoder has {self.sizes.positions} places, and room for {fields['room']}"
            )
        if self.sizes.work(fields["room"]) > _MOST_WORK:
            raise ModelError(
                f"the encoder needs more than {_MOST_WORK:,} multiplications for a window"
            )
        self.parameters = stored.from_arrays(arrays, self.sizes)
        wanted = scheme.Array((np.float32,), (layers, self.sizes.depth + 1), low=0, high=1)
        found = scheme.arrays_of(arrays, {stored.MIX: wanted} | _TOKENIZER, {})
        self._network = BertForward(self.parameters, found[stored.MIX], self.sizes)
        try:
            import tokenizers
        except ImportError as error:
            raise MissingExtraError(
                "a model with an encoder needs the package tokenizers: install it with "
                f"`pip install 'arborescence[{self.extra}]'`"
            ) from error
        with _understood():
            text = tokenizer_of(found[TOKENIZER].tobytes())
            sequential = SequentialTokenizer(tokenizers.Tokenizer.from_str(text), fields["unknown"])
            self._splitter = PieceSplitter(sequential, fields["room"])
        self.features([["a"]])  # a wrong piece raises its error now

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields, self.arrays, self.layers, self.size)

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        weights: Weights,
        shares: NDArray[np.float32],
        bits: Bits | None = EIGHT,
    ) -> Self:
        """Return an encoder in PyTorch with other weights, rounded.

        `weights` has parameters by their names in a network; the others stay as they are. `shares`,
        (L, depth + 1), says how each of L vectors mixes the embeddings and the layers.

        OptionError for an encoder of another family, or another kind of tokenizer.
        """
        tokenizer = encoder.tokenizer
        if not is_bert(encoder.model):
            raise OptionError(
                f"{encoder.name}: a model file can have the encoders BERT, ELECTRA, DistilBERT, "
                f"RoBERTa and MPNet, but not a {type(encoder.model).__name__} like this"
            )
        if not tokenizer.is_fast:
            raise OptionError(f"{encoder.name}: its tokenizer is not of the package tokenizers")
        sizes, own = sizes_and_weights(encoder.model, weights, encoder.room)
        fields = {"name": encoder.name, "room": encoder.room, "unknown": tokenizer.unk_token_id}
        text = tokenizer.backend_tokenizer.to_str().encode()
        arrays = stored.to_arrays(own, bits)
        arrays |= {stored.MIX: shares, TOKENIZER: np.frombuffer(text, np.uint8)}
        fields |= {"format": FORMAT, **sizes._asdict()}
        return cls(fields, arrays, len(shares), sizes.size)

    @property
    def digest(self) -> str:
        """A digest that identifies the encoder."""
        digest = hashlib.blake2b(digest_size=16)
        for array in self.arrays.values():
            digest.update(array.tobytes())
        return digest.hexdigest()

    def to_file(self) -> dict[str, Any]:
        """Return the fields of a model file; it also has `arrays`."""
        return dict(self._fields)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the parameters by their names in `JointNetwork`, and the logits of ``mix``."""
        weights = {name: stored.rows_of(each) for name, each in self.parameters.items()}
        return weights | {stored.MIX: np.log(self.arrays[stored.MIX] + np.float32(1e-30))}

    def written(self, weights: Weights) -> Self:
        """Return an encoder with other weights, as `weights` has them; the others stay the same.

        If they are rounded, they get 8 bits. With 4 bits, the changes of a short training are
        smaller than a step between two numbers: most of what was learned would be lost.
        """
        changed = {name: weights[name] for name in weights.keys() & self.parameters.keys()}
        is_rounded = any(isinstance(each, stored.Rounded) for each in self.parameters.values())
        kept = {
            name: each
            for name, each in self.arrays.items()
            if name not in changed and name.rpartition(".")[0] not in changed
        }
        new = stored.to_arrays(changed, EIGHT if is_rounded else None)
        if stored.MIX in weights:
            new[stored.MIX] = shares_of(weights[stored.MIX])
        return type(self)(self._fields, kept | new, self.layers, self.size)

    def read(self, sentences: Sequence[Sentence], layout: BatchLayout) -> NDArray[np.float32]:
        """Return the vectors of words (N, layers, size), 0 for roots."""
        encoded = np.zeros((len(layout.flat), self.layers, self.size), dtype=np.float32)
        encoded[layout.words] = self.features([sentence.forms for sentence in sentences])
        return encoded

    def features(
        self, sentences: Sequence[Sequence[str]], *, roots: bool = False
    ) -> NDArray[np.float32]:
        """Return the vectors of all words: the means of the vectors of their pieces.

        With `roots`, each sentence has one more vector, the first: of the piece before its words.
        """
        with _understood():
            pieces = self._splitter(sentences)
        ids = pieces.ids
        if ids.min(initial=0) < 0 or ids.max(initial=0) >= self.sizes.pieces:
            raise ModelError(
                "the tokenizer has pieces that the encoder does not know: it knows "
                f"{self.sizes.pieces}"
            )
        states = self._network.run(ids, pieces.lengths)
        if not (np.abs(states) <= _LARGEST).all():
            raise ModelError("the encoder gives numbers that are too large, or NaN")
        words = np.array([len(words) for words in sentences]) if roots else None
        return pieces.means(states, words)


def shares_of(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the softmax of each row.

    >>> shares_of(np.zeros((1, 2), dtype=np.float32))
    array([[0.5, 0.5]], dtype=float32)
    """
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float32] = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


@contextmanager
def _understood() -> Iterator[None]:
    """Turn errors of the package tokenizers, which are of many classes, into ModelErrors.

    Errors of Rust are a BaseException, not an Exception.
    """
    try:
        yield
    except (ArborescenceError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"the encoder cannot be read: {reason}") from error
