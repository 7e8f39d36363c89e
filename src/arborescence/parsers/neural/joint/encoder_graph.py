"""The weights in a BERT's graph of ONNX: read for further training, and written again.

In the graph, biases, norms and tables have the names of their parameters. A matrix has no name: its
parameter is found by the bias that is added to the product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arborescence.errors import MissingExtraError, ModelError
from arborescence.parsers.neural.encoder import Encoder
from arborescence.parsers.neural.onnx_blocks import restored, rounded
from arborescence.parsers.neural.onnx_encoder import OnnxEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Weights = Mapping[str, NDArray[np.float32]]

#: The prefix of the encoder's parameters in the graph, and in the network.
_GRAPH: Final = "_encoder."
_NETWORK: Final = "encoder."
_MIX: Final = "mix"
#: The bits of weights that were trained further.
_BITS: Final = 8
_OTHER: Final = "the encoder is no BERT that was exported by this library: it cannot be trained"


class _Place(NamedTuple):
    """Where the graph has a parameter."""

    #: The names of one initializer, or of numbers, scales and zeros.
    names: tuple[str, ...]
    #: The bits of a weight; 0 if it is not rounded.
    bits: int = 0
    #: The weights that share a scale.
    block: int = 0
    #: Whether it is a matrix, not a table.
    is_matrix: bool = False
    #: Whether the graph has the transposed matrix.
    transposed: bool = False


class EncoderGraph:
    """The graph of an encoder, with the places of its parameters."""

    def __init__(self, encoder: OnnxEncoder) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtraError(
                "training that continues from this model needs the package onnx: install it with "
                "`pip install 'arborescence[onnx]'`"
            ) from error
        self._encoder = encoder
        self._model = onnx.load_from_string(encoder.arrays["onnx"].tobytes())
        self._tensors = {each.name: each for each in self._model.graph.initializer}
        self._readers: dict[str, list[Any]] = {}
        for node in self._model.graph.node:
            for name in node.input:
                self._readers.setdefault(name, []).append(node)
        self._places = dict(self._found())

    @classmethod
    def of(cls, encoder: OnnxEncoder) -> Self:
        """Read the graph of an encoder; ModelError if it is not a BERT."""
        try:
            graph = cls(encoder)
            graph.weights()
        except (KeyError, IndexError, ValueError) as error:
            raise ModelError(_OTHER) from error
        return graph

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the parameters by their names in `JointNetwork`, as float32."""
        parameters = {name: self._read(place) for name, place in self._places.items()}
        parameters[_MIX] = np.log(parameters[_MIX])
        return parameters

    def encoder(self) -> Encoder:
        """Return the encoder in PyTorch, to be fine-tuned; MissingExtraError without packages."""
        import torch

        try:
            import tokenizers
            import transformers
        except ImportError as error:
            raise MissingExtraError(
                "training that continues from this model needs the package transformers: install "
                "it with `pip install 'arborescence[transformers]'`"
            ) from error
        fields = self._encoder.to_file()
        weights = {
            name.removeprefix(_NETWORK): torch.from_numpy(array)
            for name, array in self.weights().items()
            if name != _MIX
        }
        try:
            model = transformers.BertModel(self._config(weights), add_pooling_layer=False)
            model.load_state_dict(weights, strict=True)
        except (KeyError, ValueError, RuntimeError) as error:
            raise ModelError(_OTHER) from error
        cutter = tokenizers.Tokenizer.from_str(self._encoder.arrays["tokenizer"].tobytes().decode())
        special = {"unk_token": fields["unknown"]}
        special = {name: cutter.id_to_token(number) for name, number in special.items() if number}
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=cutter, model_max_length=fields["room"], **special
        )
        return Encoder(self._encoder.name, model, tokenizer, layers=1, fine_tune=True)

    def written(self, weights: Weights) -> OnnxEncoder:
        """Return an encoder with other weights; the others stay the same.

        Rounded matrices get 8 bits. With 4 bits, the changes of a short training are smaller than
        a step between two numbers: most of what was learned would be lost.
        """
        for name in weights.keys() & self._places.keys():
            place, array = self._places[name], weights[name]
            if name == _MIX:
                shares = np.exp(array - array.max(axis=1, keepdims=True))
                array = shares / shares.sum(axis=1, keepdims=True)
            turned = array.T if place.transposed else array
            array = np.ascontiguousarray(turned, dtype=np.float32)
            arrays: Any = (array,)
            if place.bits:
                arrays = rounded(array, _BITS, place.block)
                numbers = arrays[0] if place.is_matrix else arrays[0].reshape(len(array), -1)
                arrays = (numbers, *arrays[1:])
                [bits] = [
                    each
                    for each in self._readers[place.names[0]][0].attribute
                    if each.name == "bits"
                ]
                bits.i = _BITS
            for tensor, part in zip(place.names, arrays, strict=True):
                self._tensors[tensor].raw_data = part.tobytes()
                self._tensors[tensor].dims[:] = part.shape
        data = np.frombuffer(self._model.SerializeToString(), np.uint8)
        fields = self._encoder.to_file()
        del fields["format"]
        both = self._encoder.arrays | {"onnx": data}
        return OnnxEncoder(fields, both, self._encoder.layers, self._encoder.size)

    def _found(self) -> Any:
        """Yield the names and the places of all parameters."""
        for node in self._model.graph.node:
            has_bits = node.op_type in ("MatMulNBits", "GatherBlockQuantized")
            if node.op_type in ("MatMul", "MatMulNBits") and node.input[1] in self._weighty:
                yield self._matrix(node, has_bits)
            elif node.op_type in ("Gather", "GatherBlockQuantized"):
                first = node.input[0]
                if first.startswith(_GRAPH):
                    yield _name(first.removesuffix(".numbers")), _place(node, has_bits)
        for name, tensor in self._tensors.items():
            if name.startswith(_GRAPH) and name.endswith(("bias", "LayerNorm.weight")):
                yield _name(name), _Place((tensor.name,))

    @property
    def _weighty(self) -> set[str]:
        """The names of matrices."""
        return {name for name, each in self._tensors.items() if len(each.dims) > 1}

    def _matrix(self, node: Any, has_bits: bool) -> tuple[str, _Place]:
        """Return the name and the place of a matrix; the last one mixes the layers."""
        [reader] = self._readers[node.output[0]]
        if reader.op_type == "Transpose":
            return _MIX, _Place((node.input[1],), transposed=True)
        bias = next(name for name in reader.input if name.startswith(_GRAPH))
        place = _place(node, has_bits)
        return _name(bias.removesuffix("bias") + "weight"), place._replace(transposed=not has_bits)

    def _read(self, place: _Place) -> NDArray[np.float32]:
        from onnx import numpy_helper

        arrays = [numpy_helper.to_array(self._tensors[name]) for name in place.names]
        array = restored(arrays, place.bits) if place.bits else arrays[0]
        return np.array(array.T if place.transposed else array, dtype=np.float32)

    def _config(self, weights: Mapping[str, Any]) -> Any:
        """Return the configuration of a BERT with such weights."""
        import transformers
        from onnx import numpy_helper

        words, size = weights["embeddings.word_embeddings.weight"].shape
        depth = sum(name.endswith("intermediate.dense.bias") for name in weights)
        query = f"{_GRAPH}encoder.layer.0.attention.self.query.bias"
        [added] = self._readers[query]
        [shaped] = self._readers[added.output[0]]
        heads = numpy_helper.to_array(self._tensors[shaped.input[1]])[-2]
        [norm] = self._readers[f"{_GRAPH}embeddings.LayerNorm.weight"]
        [epsilon] = [each.f for each in norm.attribute if each.name == "epsilon"]
        return transformers.BertConfig(
            vocab_size=words,
            hidden_size=size,
            num_hidden_layers=depth,
            num_attention_heads=int(heads),
            intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
            max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]),
            type_vocab_size=len(weights["embeddings.token_type_embeddings.weight"]),
            layer_norm_eps=epsilon,
        )


def _name(name: str) -> str:
    """Return the name of a parameter in the network."""
    return name.replace(_GRAPH, _NETWORK, 1)


def _place(node: Any, has_bits: bool) -> _Place:
    """Return the place of the matrix or table that a node reads."""
    is_matrix = node.op_type.startswith("MatMul")
    if not has_bits:
        return _Place((node.input[1 if is_matrix else 0],))
    numbers = {each.name: each.i for each in node.attribute}
    names = node.input[1:] if is_matrix else (node.input[0], *node.input[2:])
    return _Place(tuple(names), numbers["bits"], numbers["block_size"], is_matrix)
