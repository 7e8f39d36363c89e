"""The options of training one network on many treebanks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from arborescence.parsers.shared import options as shared
from arborescence.parsers.shared.options import Option, OptionSet
from arborescence.parsers.shared.scheme import positive, real, whole


@dataclass(frozen=True, kw_only=True)
class Settings(OptionSet):
    """Options of one network for many treebanks."""

    epochs: Annotated[int, Option(whole(1, 10**6), stored=False)] = 60
    """The number of epochs. An interrupted run may go on with more, unless the rate falls
    already."""
    words: Annotated[int, Option(whole(1, 10**9))] = 60_000
    """The number of words of an epoch."""
    pieces: Annotated[int, Option(whole(1, 10**6))] = 1200
    """The number of pieces in a batch, approximately; fewer need less memory."""
    rate: Annotated[float, Option(positive())] = 1e-3
    """The highest learning rate of the layers above the encoder."""
    encoder_rate: Annotated[float, Option(positive())] = 2e-4
    """The encoder's highest learning rate."""
    warm_up: Annotated[int, Option(whole(0, 10**6))] = 2
    """The number of epochs in which the rates rise."""
    fall: Annotated[float, Option(real(0, 1), stored=False)] = 0.3
    """The share of the epochs in which the rates fall to 0, at the end."""
    arc: Annotated[int, Option(whole(1, 10_000))] = 384
    """The size of the vectors by which edges are scored."""
    label: Annotated[int, Option(whole(1, 10_000))] = 96
    """The size of the vectors by which relations are scored."""
    dropout: Annotated[float, Option(real(0, 0.99))] = 0.3
    """The share of numbers that are left out in each layer."""
    tags: Annotated[float, Option(positive())] = 0.5
    """The factor of the loss of tags, beside edges and relations; features have 0.6 of it."""
    rng: shared.Rng = 1
    device: Annotated[str, Option(metavar="cpu|cuda", stored=False)] = "cpu"
    """The device on which PyTorch computes."""
    mixed: bool = False
    """Multiply matrices in bfloat16: faster on a GPU, and on processors with avx512_bf16."""
