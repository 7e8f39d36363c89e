"""A trained network for many treebanks as a parser that needs no PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.errors import ModelError
from arborescence.parsers.neural import stored
from arborescence.parsers.neural.bert.blocks import EIGHT
from arborescence.parsers.neural.bert.encoder import BertEncoder, shares_of
from arborescence.parsers.neural.bert.weights import MIX
from arborescence.parsers.neural.joint.forward import above_encoder
from arborescence.parsers.neural.joint.network import JointNetwork
from arborescence.parsers.neural.joint.parser import MultilingualParser

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from arborescence.parsers.neural.bert.blocks import Bits
    from arborescence.parsers.neural.encoder import Encoder
    from arborescence.parsers.neural.joint.inventory import Inventory
    from arborescence.parsers.neural.joint.languages import Language
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

    ModelError if a parameter is missing; OptionError if the encoder is no BERT.
    """
    sizes = {"arc": weights["edge_weights"].shape[1], "label": len(weights["relation_weights"]) - 1}
    network = JointNetwork(encoder, inventory, **sizes, dropout=0)
    needed = {name for name, each in network.named_parameters() if each.requires_grad}
    if missing := needed - weights.keys():
        raise ModelError(f"the trained weights lack {min(missing)}")
    return MultilingualParser(
        language=next(iter(languages)),
        languages={code: each.stored() for code, each in languages.items()},
        inventory=inventory,
        weights=stored.to_arrays(above_encoder(weights), "int8"),
        encoder=BertEncoder.of(encoder, weights, shares_of(weights[MIX]), bits),
        identifier=identifier,
        **sizes,
    )
