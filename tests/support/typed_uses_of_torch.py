"""The same as `typed_uses`, with torch's own tensors."""

from typing import assert_type

import torch

import arborescence as arb
from arborescence.inference.decode import Labeled
from arborescence.torch import TreeDistribution


def with_torch(scores: torch.Tensor, weight: torch.nn.Parameter) -> None:
    assert_type(arb.decode(scores), torch.Tensor)
    assert_type(arb.decode([scores, scores]), torch.Tensor)
    assert_type(arb.decode(weight), torch.Tensor)
    assert_type(arb.decode_labeled(scores), Labeled[torch.Tensor])
    assert_type(arb.TreeDistribution(scores).argmax(), torch.Tensor)
    dist = TreeDistribution(scores, root="multi")
    assert_type(dist.log_partition(), torch.Tensor)
    assert_type(dist.log_prob(dist.argmax()), torch.Tensor)
    assert_type(dist.marginals(), torch.Tensor)
    assert_type(dist.mbr(), torch.Tensor)
    dist.log_prob(dist.argmax()).mean().backward()  # type: ignore[no-untyped-call]
