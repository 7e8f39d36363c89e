"""MPNet with tables of positions, as BERT has them, for ONNX.

MPNet (Song et al. 2020) adds to each attention score a number for the distance of two pieces. It
counts the pieces that are no padding. Here no piece is padding, and a table has the numbers.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding


def with_tables(model: nn.Module, room: int) -> nn.Module:
    """Return a model for windows without padding; MPNets in it are replaced, in a copy.

    `room` is the largest number of pieces of a window.
    """
    if not any(map(_is_mpnet, model.modules())):
        return model
    model = deepcopy(model)
    networks: list[Any] = [*filter(_is_mpnet, model.modules())]
    for each in networks:
        each.embeddings = _Embeddings(each.embeddings)
        each.encoder.distances = _Distances(each.encoder, room)
        vars(each.encoder)["compute_position_bias"] = each.encoder.distances  # instead of a method
    return model


def _is_mpnet(module: nn.Module) -> bool:
    return type(module).__name__ == "MPNetModel"


class _Embeddings(nn.Module):
    """The vectors of the pieces (1, P) of a window at the places 0 to P - 1."""

    def __init__(self, embeddings: Any) -> None:
        super().__init__()
        self._embeddings = embeddings

    def forward(self, input_ids: Tensor, **_: Any) -> Tensor:
        first = self._embeddings.padding_idx + 1
        places = torch.arange(input_ids.shape[1], device=input_ids.device) + first
        vectors: Tensor = self._embeddings(input_ids=input_ids, position_ids=places[None])
        return vectors


class _Distances(nn.Module):
    """What is added to the scores of attention: (1, heads, P, P), for states (1, P, size)."""

    def __init__(self, encoder: Any, room: int) -> None:
        super().__init__()
        distances = torch.arange(1 - room, room)
        buckets = encoder.relative_position_bucket(distances)
        #: (2 room - 1, heads): the numbers of each distance, the least distance first.
        self.table = nn.Parameter(encoder.relative_attention_bias(buckets).detach())
        self._zero = room - 1

    def forward(self, states: Tensor) -> Tensor:
        places = torch.arange(states.shape[1], device=states.device)
        distances = places - places[:, None]
        return embedding(distances + self._zero, self.table).permute(2, 0, 1)[None]
