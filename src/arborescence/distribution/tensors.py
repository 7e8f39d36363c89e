"""`TreeDistribution` in PyTorch, with gradients: matrix-tree theorem or Eisner's algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from arborescence.core.conversion import as_doubles
from arborescence.core.faults import BAD_SCORE, NO_TREE, name_of, no_answer
from arborescence.core.graph import Graph, as_graph, matrix_of
from arborescence.core.weights import FURTHEST
from arborescence.distribution.base import Distribution
from arborescence.distribution.counting import leaves, possible
from arborescence.distribution.far import HUGE, as_far, rounded
from arborescence.distribution.tensor_sums import inside, matrix_tree, scaled
from arborescence.errors import ScoresError
from arborescence.system.lazy import remembered

if TYPE_CHECKING:
    from arborescence.core.choices import Root
    from arborescence.errors import ArborescenceError

# Lower weights are raised to this value, so that their sums stay finite.
_LOWEST = -1e300


class TreeDistribution(Distribution[Tensor, Tensor, Tensor]):
    """The distribution over dependency trees in which a tree's probability is exp(its weight) / Z.

    `arborescence.TreeDistribution` for training: results can be differentiated, any number of
    times, with respect to `scores` (and edge values) that require gradients.

    Parameters
    ----------
    scores : (..., N, N) floating tensor
        As in `arborescence.decode`, on any device.
    lengths, root, projective
        As in `arborescence.decode`.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape, type or lengths are invalid.
    NoTreeError
        At the first use, if the edges of a sentence form no such tree.

    Notes
    -----
    All results are computed in float64 and returned in the dtype of the scores, on their device; a
    number for each sentence is a tensor (...). The loss for training is the negative mean of
    `log_prob`. There is no loop over sentences. The log-partition and the marginals, from which the
    other results follow, are computed at their first use and kept, with their autograd graph.

    Non-projective: the determinant of Koo, Globerson, Carreras and Collins (2007), O(n³), with one
    LU decomposition of the whole batch. Sentences for which it may be inaccurate are computed again
    by an elimination without subtraction, in n steps. Projective: Eisner's algorithm (1996) with
    sums, O(n³) time and memory, in n steps. Marginals are the gradient of `log_partition` (Eisner
    2016), and covariances are the gradient of the marginals (Zmigrod, Vieira and Cotterell 2021,
    *Efficient Computation of Expectations under Spanning Tree Distributions*).

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

    def __init__(
        self,
        scores: Tensor,
        lengths: Any = None,
        *,
        root: Root = "single",
        projective: bool = False,
    ) -> None:
        if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
            kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
            raise ScoresError(f"scores must be a tensor of floats, not {kind}")
        # `as_graph` checks shape and lengths; the scores stay on their device.
        form = as_graph(np.empty(tuple(scores.shape), np.float32), lengths)
        super().__init__(form, root, projective)
        self.scores, self.lengths = scores, lengths
        batch, size = self._batch, self._size

        nodes = torch.arange(size, device=scores.device)
        counts = np.full(batch, size - 1) if lengths is None else form.lengths
        words = nodes <= torch.tensor(counts, device=scores.device)[:, None]
        edges = words[:, :, None] & words[:, None, :] & (nodes != nodes[:, None])
        edges[:, :, 0] = False
        weights = scores.reshape(batch, size, size).to(torch.float64)
        bad = edges & ~(weights < torch.inf)
        if bad.any():
            raise self._error(BAD_SCORE, bad.any(2).any(1))
        self._words = words & (nodes > 0)
        self._edges = edges & (weights > -torch.inf)

        weights = weights.masked_fill(~self._edges, -torch.inf)
        # Each padding word gets the previous word as its only head: then all sentences have the
        # same length, and the same trees as before.
        weights = weights.masked_fill(torch.diag_embed(~words[:, 1:], offset=1), 0)
        absent = weights == -torch.inf
        weights, self._scale = scaled(weights, self._kind.single)
        self._weights = weights.clamp(min=_LOWEST).masked_fill(absent, -torch.inf)

    # Single trees.

    def _log_prob(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        rows = rows.to(torch.int64)
        words = self._words[:, None]
        total = self._log_sums  # first, because it may change the weights
        inside = rows.masked_fill(~words, 0).clamp(0, self._size - 1)
        entering = self._weights.mT.gather(2, inside.mT).mT.masked_fill(~words, 0)
        wrong = ~self._are_trees(rows) | (entering == -torch.inf).any(2)
        result = entering.sum(2) - total[:, None]
        for b, far in self._far.items():  # exact values, with the same gradients
            scores = matrix_of(self._graph(), b).astype(np.float64)
            trees = rows[b, :, : len(scores)].cpu().numpy()
            far = far._replace(log_partition=far.log_partition + float(total[b].detach()))
            exact = [
                -torch.inf if bad else far.log_prob(scores, tree)
                for tree, bad in zip(trees, wrong[b].tolist(), strict=True)
            ]
            moved = result[b] - result[b].detach().masked_fill(wrong[b], 0)
            moved = moved.masked_fill(wrong[b], 0) + torch.tensor(exact, dtype=torch.float64).to(
                result
            )
            result = torch.cat([result[:b], moved[None], result[b + 1 :]])
        return result.clamp(max=0).masked_fill(wrong, -torch.inf), wrong

    def _are_trees(self, rows: Tensor) -> Tensor:
        """Return which of (B, K, N) head vectors are trees of this kind. O(n log n), or O(n²)."""
        words = self._words[:, None]
        nodes = torch.arange(rows.shape[2], device=rows.device)
        lasts = self._words.sum(1)[:, None, None]
        fits = ((rows >= 0) & (rows <= lasts) | ~words).all(2)
        rows = rows.clamp(0, len(nodes) - 1).masked_fill(~words, 0)
        ancestors = rows
        for _ in range(len(nodes).bit_length()):
            ancestors = ancestors.gather(2, ancestors)
        fits &= (ancestors == 0).all(2)
        if self._kind.single:
            fits &= ((rows == 0) & words).sum(2) == words.any(2)
        if self._kind.projective:
            low = torch.minimum(rows, nodes)[..., None]
            high = torch.maximum(rows, nodes).masked_fill(~words, 0)[..., None]
            crossing = (low < low.mT) & (low.mT < high) & (high < high.mT)
            fits &= ~crossing.any(3).any(2)
        return fits

    def _gains(self) -> Tensor:
        gains = self._marginals.detach().masked_fill(~self._edges, -torch.inf)
        return gains.reshape(self.scores.shape)

    def _sample(self, k: int, generator: np.random.Generator, replace: bool) -> Tensor:
        # Sampled by the NumPy class, so the same seed gives the same trees.
        from arborescence.distribution.arrays import TreeDistribution as Sampled

        drawn_from = Sampled(self.scores.detach(), self.lengths, **self._options)
        return drawn_from.sample(k, generator, replace=replace)

    # Sums over trees.

    # Kept results have an autograd graph if the scores have one, also if they are computed within
    # `no_grad`: later uses may be outside.

    @property
    def _log_partition(self) -> Tensor:
        return self._log_sums + self._scale

    @property
    def _entropy(self) -> Tensor:
        return self._cross_entropy(self)

    @property
    @remembered
    def _log_sums(self) -> Tensor:
        """The log-partition, (B,) float64, of the scaled weights."""
        with torch.set_grad_enabled(self._weights.requires_grad):
            total = self._sum(self._weights)
            return total if self._settled(total) else self._sum(self._weights)

    @property
    @remembered
    def _marginals(self) -> Tensor:
        differentiable = self._weights.requires_grad
        p, _, self.__dict__["_log_sums()"] = self._gradient(differentiable)
        with torch.set_grad_enabled(differentiable):
            # Rounding may give -1e-17, and padding words have heads.
            return p.clamp(0, 1).masked_fill(~self._edges, 0)

    def _gradient(self, differentiable: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return the log-partition's gradient, its weights, and itself."""
        # The autograd graph is new, so no earlier `backward` has freed it
        with torch.inference_mode(False), torch.enable_grad():
            weights = self._weights
            if not weights.requires_grad:
                weights = weights.clone().requires_grad_()
            total = self._sum(weights)
            if not self._settled(total):
                return self._gradient(differentiable)
            (p,) = torch.autograd.grad(total.sum(), weights, create_graph=differentiable)
        return p, weights, total if self._weights.requires_grad else total.detach()

    def _sum(self, weights: Tensor) -> Tensor:
        """Return the log-partition under any weights, for trees of this kind."""
        if weights.shape[1] == 1:
            return weights[:, 0, 1:].exp().sum(1)  # the empty tree: 0, and differentiable
        return (inside if self._kind.projective else matrix_tree)(weights, self._kind.single)

    def _settled(self, total: Tensor) -> bool:
        """Return whether the sums (B,) are accurate."""
        # If not, make the weights moderate, or raise the error that says why there is no sum.
        unsettled = ~(total.detach() > -FURTHEST) | ~self._scale.isfinite()
        if not unsettled.any():
            return True
        sentences = [b for b in unsettled.nonzero()[:, 0].tolist() if b not in self._far]
        graph = self._graph()
        for b in sentences:
            scores = as_doubles(matrix_of(graph, b))
            huge = (np.abs(scores[np.isfinite(scores)]) > HUGE).any()
            found = None
            if not (total[b] == -torch.inf and not huge):
                found = as_far(scores, *self._kind)
                if found is not None and self._kind.projective:
                    raise ScoresError(
                        f"{name_of(graph, b)}scores are too far apart: all projective trees need "
                        "edges some 1e6 or more below others; arborescence.TreeDistribution takes "
                        "such scores, but has no gradients"
                    )
            if found is None:
                raise no_answer(graph, b, NO_TREE, self._kind.single)
            self._far[b] = found
        if sentences:
            with torch.inference_mode(False), torch.set_grad_enabled(self._weights.requires_grad):
                self._make_moderate(sentences)
        return not sentences

    def _make_moderate(self, sentences: list[int]) -> None:
        """Replace the weights of some sentences by moderate ones with the same gradients."""
        size = self._words.shape[1]
        made = torch.full((len(sentences), size, size), -torch.inf, dtype=torch.float64)
        for row, b in zip(made, sentences, strict=True):
            scores = torch.from_numpy(self._far[b].scores)
            row[: len(scores), : len(scores)] = scores
            beyond = range(len(scores), size)
            row[[d - 1 for d in beyond], list(beyond)] = 0.0
        index = torch.tensor(sentences, device=self._weights.device)
        edges = self._edges[index]
        scores = self.scores.reshape(self._words.shape[0], size, size)[index].to(torch.float64)
        scores = scores.masked_fill(~edges, 0)
        weights = made.to(scores.device) + (scores - scores.detach())
        weights, scale = scaled(weights, self._kind.single)
        for place, b in enumerate(sentences):  # the sum of the scaled weights is added later
            self._far[b] = self._far[b]._replace(log_partition=float(scale[place]))
        base = scale.new_tensor([rounded(self._far[b].base) for b in sentences])
        self._weights = self._weights.index_copy(0, index, weights)
        self._scale = self._scale.index_copy(0, index, scale + base)

    def _cross_entropy(self, other: Self) -> Tensor:
        p = self._marginals  # first, because this computes the log-partition too
        total = other._log_sums  # first, because it may change the weights
        if other is not self:
            other._refuse_far()
        weights = other._weights.masked_fill(~other._edges, 0)
        result = total - (p * weights).sum((1, 2))
        return result.masked_fill(self._leaves(other), torch.inf)

    def _leaves(self, other: Self) -> Tensor:
        """Return for each sentence whether `other` lacks some of its trees, (B,)."""
        own_kind, other_kind = self._kind, other._kind
        suspects = (self._edges & ~other._edges).any(2).any(1)
        if other_kind.single > own_kind.single or other_kind.projective > own_kind.projective:
            suspects = torch.ones_like(suspects)
        result = torch.zeros_like(suspects)
        sentences = suspects.nonzero()[:, 0].tolist()
        if not sentences:
            return result
        total = self._log_sums.tolist()
        for b in sentences:
            size = int(self._words[b].sum()) + 1
            weights, others = (
                part[b, :size, :size].detach().cpu().numpy()
                for part in (self._weights, other._edges)
            )
            result[b] = leaves(possible(weights, total[b]), own_kind, others, other_kind)
        return result

    def _expectation(self, values: Tensor) -> Tensor:
        return (self._marginals.flatten(1)[:, None] @ values.flatten(1, 2))[:, 0]

    def _covariance(self, first: Tensor, second: Tensor) -> Tensor:
        """(B, R, S): the gradient of one expectation along the other's values, the fewer ones."""
        if first.shape[3] > second.shape[3]:
            return self._covariance(second, first).mT
        p, weights, _ = self._gradient(True)
        differentiable = self._weights.requires_grad or first.requires_grad
        changes = [
            torch.autograd.grad(
                p, weights, direction, retain_graph=True, create_graph=differentiable
            )[0]
            for direction in first.unbind(3)
        ]
        return torch.stack(changes, 1).flatten(2) @ second.flatten(1, 2)

    # Shapes and sentences.

    @property
    def _scores(self) -> Tensor:
        return self.scores

    @property
    def _lengths(self) -> Any:
        return self.lengths

    def _uniform(self) -> TreeDistribution:
        scores = self.scores.detach()
        alike = torch.zeros_like(scores).masked_fill(scores == -torch.inf, -torch.inf)
        return TreeDistribution(alike, self.lengths, **self._options)

    def _as_long(self, other: Self) -> bool:
        return torch.equal(self._words, other._words)

    def _as_heads(self, heads: Any) -> tuple[Tensor, bool]:
        tensor = torch.as_tensor(heads, device=self.scores.device)
        return tensor, not tensor.is_floating_point()

    def _as_values(self, edge_values: Tensor) -> Tensor:
        return edge_values

    def _of_present_edges(self, values: Tensor) -> Tensor:
        return values.to(torch.float64).masked_fill(~self._edges[..., None], 0)

    def _given_back(self, result: Tensor) -> Tensor:
        return result.reshape((*self._shape, *result.shape[1:])).to(self.scores.dtype)

    def _error(self, fault: int, where: Tensor) -> ArborescenceError:
        """Return the error for the first marked sentence, (B,)."""
        return no_answer(self._graph(), int(where.nonzero()[0, 0]), fault, self._kind.single)

    def _graph(self) -> Graph:
        return as_graph(self.scores, self.lengths)
