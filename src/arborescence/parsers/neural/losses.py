"""The losses of neural parsers, by inference over heads or over trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from arborescence.inference.decode import decode

if TYPE_CHECKING:
    from arborescence.parsers.neural.settings import Settings


def edge_loss(edges: Tensor, gold: Tensor, lengths: Tensor, settings: Settings) -> Tensor:
    """Return the mean loss of a word: scores (B, T, T), gold heads (B, T) with -1 for padding."""
    words = int((gold >= 0).sum())
    if settings.loss == "head":
        return cross_entropy(
            edges.mT.reshape(-1, edges.shape[1]), gold.reshape(-1), ignore_index=-1
        )
    if settings.loss == "tree":
        from arborescence.torch import TreeDistribution

        trees = TreeDistribution(
            edges.float(), lengths, root=settings.root, projective=settings.projective
        )
        loss: Tensor = -trees.log_prob(gold).sum() / words
        return loss
    return _margin(edges, gold, lengths, settings) / words


def _margin(edges: Tensor, gold: Tensor, lengths: Tensor, settings: Settings) -> Tensor:
    """Return by how much the best tree, with 1 for each wrong head, beats the gold tree."""
    right = one_hot(gold.clamp(min=0), edges.shape[1]).mT.bool() & (gold >= 0)[:, None]
    costly = edges.detach().float() + 1 - right.float()
    found = decode(
        costly.cpu().numpy(),
        lengths.cpu().numpy(),
        root=settings.root,
        projective=settings.projective,
    )
    best = torch.from_numpy(found).to(gold)
    wrong = (best != gold) & (gold >= 0)
    heads = torch.stack([best, gold]).clamp(min=0)
    of_best, of_gold = (edges.gather(1, each[:, None])[:, 0] for each in heads)
    gains = (of_best - of_gold + 1).masked_fill(~wrong, 0)
    return gains.sum(dim=1).relu().sum()
