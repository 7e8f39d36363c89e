"""Encoders of the package transformers that BERT's computation covers.

ELECTRA (Clark et al. 2020) is a BERT; DistilBERT (Sanh et al. 2019) has only one kind of text. The
first places of RoBERTa (Liu et al. 2019) stand for padding. MPNet (Song et al. 2020) also adds a
number to each score of attention, by the distance of the two pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arborescence.parsers.neural.bert.weights import DISTANCES, PREFIX, BertSizes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Weights = Mapping[str, NDArray[np.float32]]

#: The classes of models, and whether their first places stand for padding.
_FAMILIES: Final = {
    "BertModel": False,
    "ElectraModel": False,
    "DistilBertModel": False,
    "RobertaModel": True,
    "CamembertModel": True,
    "XLMRobertaModel": True,
    "MPNetModel": True,
}
#: The names of parts in MPNet and DistilBERT, and the names of the same parts in BERT.
_RENAMED: Final = {
    ".attention.attn.q.": ".attention.self.query.",
    ".attention.attn.k.": ".attention.self.key.",
    ".attention.attn.v.": ".attention.self.value.",
    ".attention.attn.o.": ".attention.output.dense.",
    ".attention.LayerNorm.": ".attention.output.LayerNorm.",
    "encoder.transformer.": "encoder.encoder.",
    ".attention.q_lin.": ".attention.self.query.",
    ".attention.k_lin.": ".attention.self.key.",
    ".attention.v_lin.": ".attention.self.value.",
    ".attention.out_lin.": ".attention.output.dense.",
    ".sa_layer_norm.": ".attention.output.LayerNorm.",
    ".ffn.lin1.": ".intermediate.dense.",
    ".ffn.lin2.": ".output.dense.",
    ".output_layer_norm.": ".output.LayerNorm.",
}
_PLACES: Final = f"{PREFIX}embeddings.position_embeddings.weight"
_TYPES: Final = f"{PREFIX}embeddings.token_type_embeddings.weight"
_BUCKETS: Final = f"{PREFIX}encoder.relative_attention_bias.weight"
_INNER: Final = f"{PREFIX}encoder.layer.0.intermediate.dense.bias"
#: DistilBERT's configuration lacks the number that is added to variances.
_EPSILON: Final = 1e-12


def is_bert(model: Any) -> bool:
    """Return whether BERT's computation covers a model."""
    config = model.config
    return (
        type(model).__name__ in _FAMILIES
        and getattr(config, "hidden_act", None) in ("gelu", None)
        and getattr(config, "activation", None) in ("gelu", None)
        and getattr(config, "embedding_size", config.hidden_size) == config.hidden_size
        and getattr(config, "position_embedding_type", None) in ("absolute", None)
        and not getattr(config, "is_decoder", False)
    )


def sizes_and_weights(
    model: Any, weights: Weights, room: int
) -> tuple[BertSizes, dict[str, NDArray[np.float32]]]:
    """Return the sizes of an encoder, and its parameters by BERT's names.

    `weights` has parameters by their names in a network; the others are those of the model. `room`
    is the largest number of pieces of a window.
    """
    own = {
        f"{PREFIX}{name}": each.detach().cpu().numpy() for name, each in model.named_parameters()
    }
    own |= {name: weights[name] for name in own.keys() & weights.keys()}
    named = {}
    for name, array in own.items():
        for other, berts in _RENAMED.items():
            name = name.replace(other, berts)
        named[name] = array
    if _FAMILIES[type(model).__name__]:
        named[_PLACES] = named[_PLACES][model.embeddings.padding_idx + 1 :]
    config = model.config
    named.setdefault(_TYPES, np.zeros((1, config.hidden_size), dtype=np.float32))
    if buckets := named.pop(_BUCKETS, None) is not None:
        named[DISTANCES] = _distances(model.encoder, own[_BUCKETS], room)
    sizes = BertSizes(
        pieces=config.vocab_size,
        positions=len(named[_PLACES]),
        types=len(named[_TYPES]),
        size=config.hidden_size,
        inner=len(named[_INNER]),
        depth=config.num_hidden_layers,
        heads=config.num_attention_heads,
        epsilon=getattr(config, "layer_norm_eps", _EPSILON),
        distances=2 * room - 1 if buckets else 0,
    )
    return sizes, named


def _distances(encoder: Any, buckets: NDArray[np.float32], room: int) -> NDArray[np.float32]:
    """Return the number of each distance for each head of MPNet, the least distance first."""
    import torch

    numbers = encoder.relative_position_bucket(torch.arange(1 - room, room)).numpy()
    return np.ascontiguousarray(buckets[numbers].T)
