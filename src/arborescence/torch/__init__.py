"""Distributions over dependency trees in PyTorch: batched and differentiable sums over trees.

>>> import torch
>>> from arborescence.torch import TreeDistribution
>>> scores = torch.zeros(2, 4, 4, requires_grad=True)  # two sentences of three words
>>> gold = torch.tensor([[-1, 2, 0, 2], [-1, 0, 1, 2]])
>>> loss = -TreeDistribution(scores).log_prob(gold).mean()
>>> loss.backward()
>>> 2 * scores.grad[0, :, 1]  # of the first sentence: probability of the edge, less 1 if it is gold
tensor([ 0.3333,  0.0000, -0.6667,  0.3333])
"""

from arborescence.errors import MissingExtraError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "arborescence.torch needs PyTorch: install it with `pip install 'arborescence[torch]'`"
    ) from error

from arborescence.distribution.tensors import TreeDistribution

__all__ = ["TreeDistribution"]
