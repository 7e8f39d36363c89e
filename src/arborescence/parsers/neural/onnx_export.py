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
from arborescence.parsers.neural.mpnet import with_tables
from arborescence.parsers.neural.onnx_blocks import Bits, round_weights
from arborescence.parsers.neural.onnx_encoder import OnnxEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.parsers.neural.encoder import Encoder

_VERSION: Final = 18  # of ONNX's operators


def exported(encoder: Encoder, model: Any, layers: int, bits: Bits | None) -> OnnxEncoder:
    """Return an encoder in ONNX, whose graph is `model`: from pieces (1, P) to (P, layers, size).

    `bits` says how weights are rounded; None: weights are not rounded.
    """
    try:
        import onnx
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
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
            with_tables(model.eval(), encoder.room),
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
        graph = onnx.load(path)
    if bits is not None:
        round_weights(graph, bits)
    for node in graph.graph.node:
        node.ClearField("metadata_props")  # the files and lines of this machine that made the node
    data = graph.SerializeToString()
    return OnnxEncoder(
        {"name": encoder.name, "room": encoder.room, "unknown": tokenizer.unk_token_id},
        {"onnx": np.frombuffer(data, np.uint8), "tokenizer": np.frombuffer(text, np.uint8)},
        layers,
        encoder.size,
    )


class States(nn.Module):
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
