"""The export of a fine-tuned encoder to ONNX, which `onnx_encoder` reads."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from arborescence.errors import MissingExtraError, OptionError
from arborescence.parsers.neural.onnx_encoder import OnnxEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.parsers.neural.encoder import Encoder

_VERSION: Final = 18  # of ONNX's operators
_BLOCK: Final = 128  # the number of weights that share a scale


def exported(encoder: Encoder, model: Any, *, quantized: bool) -> OnnxEncoder:
    """Return an encoder in ONNX, with the weights of `model`: see `BiaffineParser.to_onnx`."""
    try:
        import onnx
        import onnxscript  # noqa: F401
        from onnxruntime.quantization import QuantType, quantize_dynamic
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    except ImportError as error:
        raise MissingExtraError(
            "the export of an encoder to ONNX needs the packages onnx, onnxscript and onnxruntime: "
            "install them with `pip install 'arborescence[onnx]'`"
        ) from error
    tokenizer = encoder.tokenizer
    if not tokenizer.is_fast:
        raise OptionError(f"{encoder.name}: its tokenizer is not of the package tokenizers")
    text = tokenizer.backend_tokenizer.to_str().encode()
    with TemporaryDirectory() as folder, _quiet():
        path = Path(folder, "encoder.onnx")
        torch.onnx.export(
            _States(model, encoder.layers).eval(),
            (torch.zeros(1, 9, dtype=torch.int64),),
            path,
            input_names=["ids"],
            output_names=["states"],
            dynamic_shapes=({1: torch.export.Dim.DYNAMIC},),
            opset_version=_VERSION,
            dynamo=True,
            verbose=False,
            external_data=False,
        )
        if quantized:
            # First round the vectors of pieces, then the matrices. Matrices are rounded in blocks:
            # with one scale for all inputs of a layer, LAS of English-EWT's dev part fell by 0.24;
            # with blocks, it falls by 0.06.
            embedding = ["Gather"]
            quantize_dynamic(
                path, path, weight_type=QuantType.QInt8, op_types_to_quantize=embedding
            )
            matrices = MatMulNBitsQuantizer(
                onnx.load(path), bits=8, block_size=_BLOCK, is_symmetric=True, accuracy_level=4
            )
            matrices.process()
            graph = matrices.model.model
        else:
            graph = onnx.load(path)
    for node in graph.graph.node:
        node.ClearField("metadata_props")  # the files and lines of this machine that made the node
    data = graph.SerializeToString()
    return OnnxEncoder(
        {"name": encoder.name, "room": encoder.room, "unknown": tokenizer.unk_token_id},
        {"onnx": np.frombuffer(data, np.uint8), "tokenizer": np.frombuffer(text, np.uint8)},
        encoder.layers,
        encoder.size,
    )


class _States(nn.Module):
    """An encoder from pieces (1, P) to their vectors in the last layers (P, layers, size)."""

    def __init__(self, model: Any, layers: int) -> None:
        super().__init__()
        self._model, self._layers = model, layers

    def forward(self, ids: Tensor) -> Tensor:
        """Encode one window."""
        states = self._model(input_ids=ids, output_hidden_states=True).hidden_states
        return torch.stack(states[-self._layers :], dim=2)[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the log and the warnings of PyTorch and onnxruntime."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
