"""`TreeDistribution` in PyTorch: NumPy's results, with gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from arborescence.core.checks import mask_is_lengths
from arborescence.core.faults import BAD_SCORE, name_of, no_answer
from arborescence.distribution.arrays import TreeDistribution as Arrays
from arborescence.distribution.base import Distribution
from arborescence.errors import OptionError, ScoresError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arborescence.core.choices import Root
    from arborescence.core.graph import Graph


class TreeDistribution(Distribution[Tensor, Tensor, Tensor]):
    """The distribution over dependency trees in which a tree's probability is exp(its weight) / Z.

    `arborescence.TreeDistribution` for training: results can be differentiated with respect to
    `scores` (and edge values) that require gradients.

    Parameters
    ----------
    scores : (..., N, N) floating tensor
        As in `arborescence.decode`, on any device that supports float64.
    lengths, root, projective, threads
        As in `arborescence.decode`.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape, type or lengths are invalid. For projective trees
        also, at the first use, if each tree of a sentence needs an edge whose score is some 1e6 or
        more below other edges.
    NoTreeError
        At the first use, if the edges of a sentence form no such tree.
    OptionError
        In `backward`, if third derivatives of `log_partition` with respect to the scores are asked
        for: these are also the second derivatives of `marginals`, `entropy` and `cross_entropy`,
        and the first derivatives of `covariance`.

    Notes
    -----
    All results are computed in float64 on the CPU, by `arborescence.TreeDistribution`, and returned
    in the dtype of the scores, on their device; a number for each sentence is a tensor (...). If
    the scores are on another device, they are copied to the CPU once, and results are copied back.
    The loss for training is the negative mean of `log_prob`.

    `log_partition` and `log_prob` can be differentiated twice, other results once. The gradient of
    `log_partition` is the marginals (Eisner 2016); the gradient of the marginals is the covariances
    (Zmigrod, Vieira and Cotterell 2021, *Efficient Computation of Expectations under Spanning Tree
    Distributions*). Both cost O(n³) a sentence. Sums are kept.

    Examples
    --------
    Two words with equal scores: either word is the root word, and the head of the other.

    >>> import torch
    >>> from arborescence.torch import TreeDistribution
    >>> dist = TreeDistribution(torch.zeros(3, 3))
    >>> dist.log_partition().exp(), dist.marginals()
    (tensor(2.), tensor([[0.0000, 0.5000, 0.5000],
            [0.0000, 0.0000, 0.5000],
            [0.0000, 0.5000, 0.0000]]))

    The expected number of the two edges that go to the right:

    >>> dist.expectation(torch.ones(3, 3).triu())
    tensor(1.5000)
    """

    @mask_is_lengths
    def __init__(
        self,
        scores: Tensor,
        lengths: Any = None,
        *,
        root: Root = "single",
        projective: bool = False,
        threads: int = 1,
    ) -> None:
        if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
            kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
            raise ScoresError(f"scores must be a tensor of floats, not {kind}")
        self._arrays: Any = Arrays(
            scores.detach(), lengths, root=root, projective=projective, threads=threads
        )
        super().__init__(self._graph(), root, projective)
        self._options["threads"] = threads
        self.scores, self.lengths = scores, lengths
        graph = self._graph()
        flat = scores.reshape(self._batch, self._size, self._size).to(torch.float64)
        counts = graph.lengths if graph.lengths.size else np.full(self._batch, self._size - 1)
        nodes = torch.arange(self._size, device=flat.device)
        words = nodes <= torch.tensor(counts, device=flat.device)[:, None]
        edges = words[:, :, None] & words[:, None] & (nodes != nodes[:, None]) & (nodes > 0)
        bad = edges & ~(flat.detach() < torch.inf)
        if bad.any():
            first = int(bad.nonzero()[0, 0])
            raise no_answer(graph, first, BAD_SCORE, self._kind.single)
        self._edges = edges & (flat.detach() > -torch.inf)
        self._weights = flat.masked_fill(~self._edges, 0)

    # The values come from `_arrays`. A term of the value 0 has the gradient.

    @property
    def _log_partition(self) -> Tensor:
        change = self._change()  # first, because it may compute all sums at once
        return self._tensor(self._arrays._log_partition) + change

    def _change(self) -> Tensor:
        """Return zeros, (B,), with the gradient of the log-partition."""
        return _Change.apply(self._weights, self._arrays)

    @property
    def _marginals(self) -> Tensor:
        return _Marginals.apply(self._weights, self._arrays)

    @property
    def _entropy(self) -> Tensor:
        _ = self._arrays._entropy  # finds sentences whose scores are too far apart
        if self._weights.requires_grad and self._arrays._moderate and self._kind.projective:
            raise ScoresError(
                f"{name_of(self._graph(), min(self._arrays._moderate))}scores are too far "
                "apart: each projective tree needs an edge whose score is some 1e6 or more below "
                "other edges, and the entropy has no gradient; scores.detach() gives its value"
            )
        return self._cross_entropy(self)

    def _cross_entropy(self, other: Self) -> Tensor:
        own, others = self._arrays, other._arrays
        result = self._tensor(own._entropy if other is self else own._cross_entropy(others))
        if not (self._weights.requires_grad or other._weights.requires_grad):
            return result
        p = self._marginals
        lowered = other._lowered + (other._weights - other._weights.detach())
        change = other._change() - (p * lowered.masked_fill(p == 0, 0)).sum((1, 2))
        return result + (change - change.detach()).masked_fill(result.isinf(), 0)

    @property
    def _lowered(self) -> Tensor:
        """The scores minus the best of each word, (B, N, N), without a gradient."""
        lowered = np.empty((self._batch, self._size, self._size))
        for part, _, logs, _ in self._arrays._lowered_parts():
            lowered[part] = logs
        for b, moderate in self._arrays._moderate.items():
            size = len(moderate.scores)
            lowered[b, :size, :size] = self._arrays._weights_of(moderate).logs
        return self._tensor(lowered).masked_fill(~self._edges, 0)

    def _log_prob(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        change = self._change()
        values, wrong = map(self._tensor, self._arrays._log_prob(rows.cpu().numpy()))
        heads = rows.to(torch.int64).clamp(0, self._size - 1)
        entering = self._weights.mT.gather(2, heads.mT).mT
        change = (entering - entering.detach()).sum(2) - change[:, None]
        return values + change.masked_fill(wrong, 0), wrong

    def _expectation(self, values: Tensor) -> Tensor:
        return (self._marginals.flatten(1)[:, None] @ values.flatten(1, 2))[:, 0]

    def _covariance(self, first: Tensor, second: Tensor) -> Tensor:
        """Return covariances, (B, R, S): products of derivatives of the marginals with values."""
        if first.shape[3] > second.shape[3]:
            return self._covariance(second, first).mT
        slopes = [self._derivatives(each) for each in first.unbind(3)]
        return torch.stack(slopes, 1).flatten(2) @ second.flatten(1, 2)

    def _derivatives(self, direction: Tensor) -> Tensor:
        return _Derivatives.apply(_Last.apply(self._weights), direction, self._arrays)

    # Results without a gradient.

    def _gains(self) -> Tensor:
        return self._arrays._gains()

    def _sample(self, k: int, generator: np.random.Generator, replace: bool) -> Tensor:
        return self._arrays._sample(k, generator, replace)

    def _uniform(self) -> TreeDistribution:
        alike = torch.zeros_like(self.scores).masked_fill(self.scores == -torch.inf, -torch.inf)
        return TreeDistribution(alike, self.lengths, **self._options)

    # Shapes and sentences.

    def _graph(self) -> Graph:
        return self._arrays._graph()

    @property
    def _scores(self) -> Tensor:
        return self.scores

    @property
    def _lengths(self) -> Any:
        return self.lengths

    def _as_long(self, other: Self) -> bool:
        return self._arrays._as_long(other._arrays)

    def _as_heads(self, heads: Any) -> tuple[Tensor, bool]:
        tensor = torch.as_tensor(heads, device=self.scores.device)
        return tensor, not tensor.is_floating_point()

    def _as_values(self, edge_values: Tensor) -> Tensor:
        return edge_values

    def _of_present_edges(self, values: Tensor) -> Tensor:
        return values.to(torch.float64).masked_fill(~self._edges[..., None], 0)

    def _given_back(self, result: Tensor) -> Tensor:
        return result.reshape((*self._shape, *result.shape[1:])).to(self.scores.dtype)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.tensor(array, device=self.scores.device)


# Functions of the weights (B, N, N): `arrays` has computed the values, and only the gradients
# matter.


class _Change(torch.autograd.Function):
    """Zeros, (B,), with the gradient of the log-partition: the marginals."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, arrays: Any) -> Tensor:
        ctx.arrays = arrays
        ctx.save_for_backward(weights)
        if ctx.needs_input_grad[0]:
            _ = arrays._marginals  # with the log-partition, in one pass
        return weights.new_zeros(len(weights))

    @staticmethod
    def backward(ctx: Any, towards: Tensor) -> tuple[Tensor, None]:
        (weights,) = ctx.saved_tensors
        return towards[:, None, None] * _Marginals.apply(weights, ctx.arrays), None


class _Marginals(torch.autograd.Function):
    """The marginals, (B, N, N)."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, arrays: Any) -> Tensor:
        ctx.arrays = arrays
        ctx.save_for_backward(weights)
        return weights.new_tensor(arrays._marginals)

    @staticmethod
    def backward(ctx: Any, towards: Tensor) -> tuple[Tensor, None]:
        (weights,) = ctx.saved_tensors
        return _Derivatives.apply(_Last.apply(weights), towards, ctx.arrays), None


class _Derivatives(torch.autograd.Function):
    """The derivatives of the marginals in a direction, both (B, N, N): a symmetric linear map."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, direction: Tensor, arrays: Any) -> Tensor:
        ctx.arrays = arrays
        ctx.save_for_backward(weights)
        return weights.new_tensor(arrays._derivatives(direction.detach().cpu().numpy()))

    @staticmethod
    def backward(ctx: Any, towards: Tensor) -> tuple[Tensor, Tensor, None]:
        (weights,) = ctx.saved_tensors
        return towards, _Derivatives.apply(weights, towards, ctx.arrays), None


class _Last(torch.autograd.Function):
    """The weights, where differentiation ends with an error."""

    @staticmethod
    def forward(_ctx: Any, weights: Tensor) -> Tensor:
        return weights.view_as(weights)

    @staticmethod
    def backward(_ctx: Any, _towards: Tensor) -> Tensor:
        raise OptionError(
            "third derivatives of the log-partition are not computed: log_partition and log_prob "
            "can be differentiated twice in the scores; marginals, expectation, entropy and "
            "cross_entropy once; covariance not"
        )
