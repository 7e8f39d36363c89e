"""Decode in other tools' conventions: [dependent, head] scores in, head 0 for the root out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.inference.decode import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray


def one_root(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the best tree's heads (N,), ``heads[0]`` 0, of scores ``[d, h]``."""
    # errors as `decode`
    heads: NDArray[Any] = decode(scores.T)
    heads[0] = 0
    return heads


def masked(scores: Any, mask: Any, *, multiroot: bool = False, projective: bool = False) -> Any:
    """Return the best trees' heads (B, N), 0 for the root and padding, on the device of `mask`."""
    # scores: (B, N, N) tensor: ``scores[b, d, h]``; row 0, the diagonal and padding are ignored
    # mask: (B, N) bool tensor: true for words; false for the root and for padding
    # multiroot: whether more than one edge may leave the root
    # projective: whether edges must not cross
    heads = decode(
        scores.mT,
        mask.sum(1),
        root="multi" if multiroot else "single",
        projective=projective,
    )
    return heads.clamp_(min=0).to(mask.device)


def mst(scores: Any, mask: Any, multiroot: bool = False) -> Any:
    """Return the best trees; as `masked`."""
    return masked(scores, mask, multiroot=multiroot)


def eisner(scores: Any, mask: Any) -> Any:
    """Return the best projective trees; as `masked`."""
    return masked(scores, mask, projective=True)


def from_mst(mst: Any, scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode arrays by a function that takes tensors and a mask: `Tool.decode` for such a tool."""
    import torch

    words = torch.arange(scores.shape[-1])
    mask = (words > 0) & (words <= torch.tensor(lengths)[:, None])
    heads: NDArray[Any] = mst(torch.tensor(scores), mask).numpy()
    return heads


def each(function: Any, scores: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Decode a batch by a function that takes one sentence: `Tool.decode` for such a tool."""
    heads = np.zeros(scores.shape[:2], np.int64)
    for row, matrix, size in zip(heads, scores, lengths + 1, strict=True):
        row[:size] = function(matrix[:size, :size].copy())
    return heads
