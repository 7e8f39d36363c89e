"""A trained network for many treebanks as a parser that needs no PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from arborescence.errors import ModelError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.bert.encoder import BertEncoder
from arborescence.parsers.neural.bert.families import is_bert
from arborescence.parsers.neural.devices import own_threads
from arborescence.parsers.neural.joint.forward import above_encoder
from arborescence.parsers.neural.joint.network import JointNetwork
from arborescence.parsers.neural.joint.parser import MIXTURES, MultilingualParser
from arborescence.parsers.neural.onnx_blocks import EIGHT
from arborescence.parsers.neural.onnx_export import exported

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.file_encoder import FileEncoder
    from arborescence.parsers.neural.joint.inventory import Inventory
    from arborescence.parsers.neural.joint.languages import Language
    from arborescence.parsers.neural.onnx_blocks import Bits
    from arborescence.parsers.text.identifier import LanguageIdentifier


def parser_of(
    encoder: Encoder,
    inventory: Inventory,
    weights: Mapping[str, NDArray[np.float32]],
    languages: Mapping[str, Language],
    *,
    identifier: LanguageIdentifier | None = None,
    bits: Bits | None = EIGHT,
) -> MultilingualParser:
    """Return a parser with trained weights, for the first of several languages.

    `encoder` is the encoder before training: its table of pieces is not trained, so `weights` need
    not have this table. `identifier` finds the language of a text. `bits` rounds the encoder's
    weights.
    """
    sizes = {"arc": weights["edge_weights"].shape[1], "label": len(weights["relation_weights"]) - 1}
    network = JointNetwork(encoder, inventory, **sizes, dropout=0)
    parameters = dict(network.named_parameters())
    missing = {name for name, each in parameters.items() if each.requires_grad} - weights.keys()
    if missing:
        raise ModelError(f"the trained weights lack {min(missing)}")
    with torch.no_grad():
        for name, array in weights.items():
            parameters[name].copy_(torch.from_numpy(array))
    made: FileEncoder
    if is_bert(encoder.model):
        made = BertEncoder.of(encoder, weights, bits)
    else:
        with own_threads(1):
            made = exported(encoder, _Mixtures(network), MIXTURES, bits)
    return MultilingualParser(
        language=next(iter(languages)),
        languages={code: each.stored() for code, each in languages.items()},
        inventory=inventory,
        weights=stored.to_arrays(above_encoder(weights), "int8"),
        encoder=made,
        identifier=identifier,
        **sizes,
    )


class _Mixtures(nn.Module):
    """An encoder from pieces (1, P) to their vectors by both mixtures of layers (P, 2, size)."""

    def __init__(self, network: JointNetwork) -> None:
        super().__init__()
        self._encoder: Any = network.encoder
        self.register_buffer("_shares", network.mix.detach().softmax(dim=1))
        self._shares: Tensor

    def forward(self, ids: Tensor) -> Tensor:
        """Encode one window."""
        states = self._encoder(input_ids=ids, output_hidden_states=True).hidden_states
        stacked = torch.stack(states, dim=-1)[0]  # (P, size, layers)
        return (stacked @ self._shares.mT).mT
