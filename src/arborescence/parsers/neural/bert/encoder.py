"""A fine-tuned BERT in a model file, with its tokenizer: our kernels run it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from arborescence.errors import ModelError, OptionError
from arborescence.parsers.neural import file_encoder
from arborescence.parsers.neural.bert import weights as stored
from arborescence.parsers.neural.bert.families import sizes_and_weights
from arborescence.parsers.neural.bert.forward import BertForward
from arborescence.parsers.neural.file_encoder import TOKENIZER, FileEncoder
from arborescence.parsers.neural.onnx_blocks import EIGHT, Bits
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder

    Weights = Mapping[str, NDArray[np.float32]]

_FIELDS: Final = file_encoder.FIELDS | stored.FIELDS
_TOKENIZER: Final = {TOKENIZER: scheme.Array((np.uint8,), ("bytes",))}


class BertEncoder(FileEncoder):
    """A BERT; the vectors of a word are mixtures of its layers."""

    format: ClassVar[str] = "bert"

    def __init__(
        self, fields: dict[str, Any], arrays: dict[str, NDArray[Any]], layers: int, size: int
    ) -> None:
        # The fields and arrays of a model file; ModelError if they are no BERT of this shape.
        fields = scheme.fields_of(fields, _FIELDS)
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
        self.parameters = stored.from_arrays(arrays, self.sizes)
        wanted = scheme.Array((np.float32,), (layers, self.sizes.depth + 1), low=0, high=1)
        mix = scheme.arrays_of(arrays, {stored.MIX: wanted} | _TOKENIZER, {})[stored.MIX]
        self._network = BertForward(self.parameters, mix, self.sizes)
        super().__init__(fields, arrays, layers, size)
        self.features([["a"]])  # a wrong piece raises its error now

    @classmethod
    def of(cls, encoder: Encoder, weights: Weights, bits: Bits | None) -> Self:
        """Return an encoder in PyTorch with other weights, rounded.

        `weights` has ``mix``, (L, depth + 1), with the logits of shares, and parameters by their
        names in `JointNetwork`; the others stay as they are.
        """
        tokenizer = encoder.tokenizer
        if not tokenizer.is_fast:
            raise OptionError(f"{encoder.name}: its tokenizer is not of the package tokenizers")
        sizes, own = sizes_and_weights(encoder.model, weights, encoder.room)
        fields = {"name": encoder.name, "room": encoder.room, "unknown": tokenizer.unk_token_id}
        mix = _shares(weights[stored.MIX])
        arrays = stored.to_arrays(own, bits) | {stored.MIX: mix}
        text = tokenizer.backend_tokenizer.to_str().encode()
        arrays[TOKENIZER] = np.frombuffer(text, np.uint8)
        return cls(fields | sizes._asdict(), arrays, len(mix), sizes.size)

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
            new[stored.MIX] = _shares(weights[stored.MIX])
        return type(self)(self._fields, kept | new, self.layers, self.size)

    def _states(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        if ids.min(initial=0) < 0 or ids.max(initial=0) >= self.sizes.pieces:
            raise ModelError(
                f"the tokenizer has pieces that the encoder does not know: it knows "
                f"{self.sizes.pieces}"
            )
        return self._network.run(ids, lengths)


def _shares(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the softmax of each row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float32] = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares
