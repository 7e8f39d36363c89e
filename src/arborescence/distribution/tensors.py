"""The differentiable distribution: what the sums over trees and their derivatives mean."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from arborescence.core.errors import ScoresError, TreeError
from arborescence.core.faults import BAD_SCORE, NO_TREE, no_answer, no_such_tree, raises
from arborescence.core.graph import Graph, Root, as_graph, check_root, matrix_of, name_of
from arborescence.core.weights import FURTHEST
from arborescence.distribution.counting import Kind, leaves
from arborescence.distribution.far import HUGE, Far, as_far, rounded
from arborescence.distribution.tensor_sums import inside, matrix_tree, scaled
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest

if TYPE_CHECKING:
    from torch import Tensor

    from arborescence.core.errors import ArborescenceError

# Lower weights are raised to this, so that sums of them stay finite.
_LOWEST = -1e300

# A tree whose logarithm of the probability is lower has the probability 0 as a float.
_IMPOSSIBLE = -745.0


class TreeDistribution:
    """The distribution over dependency trees in which a tree's probability is exp(its weight) / Z.

    `arborescence.TreeDistribution` for training: what is returned can be differentiated, any
    number of times, with respect to `scores` (and edge values), unless they take no gradient.

    Parameters
    ----------
    scores : (..., N, N) floating tensor
        ``scores[..., h, d]`` is the weight of the edge h -> d, as in `arborescence.decode`. Any
        strides, any device. -inf means that the edge is absent. Column 0 and the diagonal are
        ignored.
    lengths : (...) whole numbers, optional
        Words in each sentence of a padded batch, the root not counted.
    root : {"single", "multi"}
        Exactly one edge may leave the root (the default), or one or more.
    projective : bool
        Whether trees have no crossing edges.

    Raises
    ------
    ScoresError
        If the scores hold NaN or +inf, or shape, type or lengths cannot be used.
    NoTreeError
        When something is asked for, if the edges of a sentence form no such tree.

    Notes
    -----
    Everything is computed in float64 and returned in the type of the scores, on their device.
    There is no loop over sentences. What others are made of, the log-partition and the marginals,
    is computed when it is first asked for and kept, with its graph.

    Non-projective: the determinant of Koo, Globerson, Carreras and Collins (2007), O(n³), by one LU
    decomposition of the whole batch. Sentences for which rounding could show are summed once more
    by an elimination that never subtracts, of n steps. Projective: Eisner's algorithm (1996) with
    sums, O(n³) time and memory, in n steps. Marginals are the gradient of `log_partition` (Eisner
    2016), and covariances that of the marginals (Zmigrod, Vieira and Cotterell 2021, *Efficient
    Computation of Expectations under Spanning Tree Distributions*).

    Examples
    --------
    Two words and all edges equal: one of them hangs from the root, and the other from it.

    >>> import torch
    >>> from arborescence.torch import TreeDistribution
    >>> dist = TreeDistribution(torch.zeros(3, 3))
    >>> dist.log_partition.exp(), dist.marginals
    (tensor(2.), tensor([[0.0000, 0.5000, 0.5000],
            [0.0000, 0.0000, 0.5000],
            [0.0000, 0.5000, 0.0000]]))
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
        # Shape and lengths are checked where all are; the scores stay on their device.
        form = as_graph(np.empty(tuple(scores.shape), np.float32), lengths)
        batch, size, _ = form.scores.shape
        self.scores, self.lengths = scores, lengths
        self.root, self.projective = root, projective
        self._single = check_root(root)
        self._leading = form.shape

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
        # A word beyond the end hangs from the one before it: then all sentences end at the last
        # place, and each has the trees that it had.
        weights = weights.masked_fill(torch.diag_embed(~words[:, 1:], offset=1), 0)
        absent = weights == -torch.inf
        weights, self._scale = scaled(weights, self._single)
        self._weights = weights.clamp(min=_LOWEST).masked_fill(absent, -torch.inf)
        # Sentences that floats are too short for; known once the log-partition is.
        self._far: dict[int, Far] = {}

    @property
    def log_partition(self) -> Tensor:
        """The logarithm of the summed weights exp(·) of all trees, (...)."""
        return self._given_back(self._log_partition + self._scale)

    @property
    def marginals(self) -> Tensor:
        """The probability of each edge, (..., N, N) as ``[h, d]``.

        0 in column 0, on the diagonal and in padding; otherwise each column sums to 1.
        """
        return self._given_back(self._marginals)

    @property
    def entropy(self) -> Tensor:
        """The entropy in nats, (...)."""
        return self._given_back(self._cross_entropy(self))

    @cached_property
    def log_count(self) -> Tensor:
        """The logarithm of the number of trees whose edges are present, (...)."""
        flat = torch.zeros_like(self._weights).masked_fill(~self._edges, -torch.inf)
        trees = TreeDistribution(
            flat.reshape(self.scores.shape),
            self.lengths,
            root=self.root,
            projective=self.projective,
        )
        return trees.log_partition.to(self.scores.dtype)

    @cached_property
    def argmax(self) -> Tensor:
        """The tree of highest probability, (..., N) int64: `arborescence.decode`."""
        return decode(self.scores, self.lengths, root=self.root, projective=self.projective)

    def kbest(self, k: int) -> tuple[Tensor, ...]:
        """Return the k trees of highest probability, as `arborescence.kbest` does."""
        return kbest(self.scores, k, self.lengths, root=self.root, projective=self.projective)

    def mbr(self) -> Tensor:
        """Return the tree of minimum Bayes risk, (..., N) int64.

        It has the highest expected number of right heads: the best tree by `marginals`.
        """
        gains = self._marginals.detach().masked_fill(~self._edges, -torch.inf)
        gains = gains.reshape(self.scores.shape)
        return decode(gains, self.lengths, root=self.root, projective=self.projective)

    def sample(
        self, k: int, rng: np.random.Generator | int | None = None, *, replace: bool = True
    ) -> Tensor:
        """Return k trees drawn at random, (..., k, N) int64.

        Drawn, and with the same seed the same ones, by `arborescence.TreeDistribution.sample`.
        """
        from arborescence.distribution.arrays import TreeDistribution as Sampled

        dist = Sampled(
            self.scores.detach(), self.lengths, root=self.root, projective=self.projective
        )
        return dist.sample(k, rng, replace=replace)

    def log_prob(self, heads: Any, *, errors: Literal["raise", "-inf"] = "raise") -> Tensor:
        """Return the logarithms of the probabilities of trees.

        The negative of its mean is the loss for training.

        Parameters
        ----------
        heads : (..., N) or (..., k, N) whole numbers
            One tree for each sentence, or k. What stands at the root's place and in the padding is
            ignored, whatever it is.
        errors : {"raise", "-inf"}
            What is done about a head vector that is none of a sentence's trees: with another number
            of root edges, a cycle, edges that cross or that are absent. An error (the default), or
            -inf, which has no gradient.

        Returns
        -------
        log_prob : (...) or (..., k)

        Raises
        ------
        TreeError
            If the shape does not fit, or a head vector is none of a sentence's trees; the message
            names the sentence and what is wrong.
        """
        strict = raises(errors)
        heads = torch.as_tensor(heads, device=self.scores.device)
        size = self.scores.shape[-1]
        several = heads.ndim == self.scores.ndim
        k = heads.shape[-2:-1] if several else ()
        if heads.is_floating_point() or heads.shape != (*self._leading, *k, size):
            raise TreeError(
                f"heads must be whole numbers of shape {tuple(self.scores.shape[:-1])}, or k for "
                f"each sentence, not {heads.dtype} of shape {tuple(heads.shape)}"
            )
        rows = heads.reshape(len(self._words), *(k or [1]), size).to(torch.int64)
        words = self._words[:, None]
        total = self._log_partition  # before the weights, which may change with it
        inside = rows.masked_fill(~words, 0).clamp(0, size - 1)
        entering = self._weights.mT.gather(2, inside.mT).mT.masked_fill(~words, 0)
        wrong = ~self._are_trees(rows) | (entering == -torch.inf).any(2)
        if strict and wrong.any():
            b, place = wrong.nonzero()[0].tolist()
            raise no_such_tree(
                self._graph,
                b,
                rows[b, place].cpu().numpy(),
                single=self._single,
                projective=self.projective,
            )
        result = entering.sum(2) - total[:, None]
        for b, far in self._far.items():  # the values are exact ones, the gradients as they are
            scores = matrix_of(self._graph, b).astype(np.float64)
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
        result = result.clamp(max=0).masked_fill(wrong, -torch.inf)
        return self._given_back(result if several else result[:, 0])

    def cross_entropy(self, other: TreeDistribution) -> Tensor:
        """Return -Σ p(T) log q(T) in nats, (...), where q is `other`.

        Parameters
        ----------
        other : TreeDistribution
            Over sentences of the same lengths. inf where it rules out a tree that is possible here,
            as in `arborescence.TreeDistribution.cross_entropy`.

        Raises
        ------
        ScoresError
            If the sentences are not as many, or not as long.
        """
        return self._given_back(self._cross_entropy(other))

    def kl(self, other: TreeDistribution) -> Tensor:
        """Return the Kullback-Leibler divergence from `other` in nats, (...).

        `cross_entropy` less `entropy`, and raises what the former does.
        """
        divergence = self._cross_entropy(other) - self._cross_entropy(self)
        return self._given_back(divergence.clamp(min=0))

    def expectation(self, edge_values: Tensor) -> Tensor:
        """Return the expected sum of the values of a tree's edges.

        Parameters
        ----------
        edge_values : (..., N, N) or (..., N, N, R)
            One value for each edge, or R. Those of absent edges are ignored.

        Returns
        -------
        expectation : (...) or (..., R)

        Examples
        --------
        How many edges go to the right, of the two:

        >>> dist = TreeDistribution(torch.zeros(3, 3))
        >>> dist.expectation(torch.ones(3, 3).triu())
        tensor(1.5000)
        """
        values = self._values(edge_values)
        result = (self._marginals.flatten(1)[:, None] @ values)[:, 0]
        return self._given_back(result if self._many(edge_values) else result[:, 0])

    def covariance(self, f: Tensor, g: Tensor | None = None) -> Tensor:
        """Return the covariance of two sums over a tree's edges.

        Parameters
        ----------
        f, g : (..., N, N) or (..., N, N, R)
            As `expectation` takes them; g is f by default.

        Returns
        -------
        covariance : (...), or (..., R, S) if f has R values for each edge and g has S
            Costs one more gradient for each value of f, or of g if those are fewer.
        """
        g = f if g is None else g
        return self._given_back(self._shaped(self._covariance(f, g), f, g))

    def second_moment(self, f: Tensor, g: Tensor | None = None) -> Tensor:
        """Return the expected product of two sums over a tree's edges; as `covariance`."""
        g = f if g is None else g
        p = self._marginals.flatten(1)[:, None]
        left, right = p @ self._values(f), p @ self._values(g)
        result = self._covariance(f, g) + left.mT @ right
        return self._given_back(self._shaped(result, f, g))

    # What is kept is computed with a graph if the scores have one, also within `no_grad`: later
    # someone may ask from without.

    @cached_property
    def _log_partition(self) -> Tensor:
        """(B,) float64, of the scaled weights."""
        with torch.set_grad_enabled(self._weights.requires_grad):
            total = self._sum(self._weights)
            return total if self._settled(total) else self._sum(self._weights)

    @cached_property
    def _marginals(self) -> Tensor:
        """(B, N, N) float64."""
        differentiable = self._weights.requires_grad
        p, _, self._log_partition = self._gradient(differentiable)
        with torch.set_grad_enabled(differentiable):
            # Rounding may leave -1e-17, and the words beyond the end have heads.
            return p.clamp(0, 1).masked_fill(~self._edges, 0)

    def _gradient(self, differentiable: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradient of the log-partition, the weights that it belongs to, and that.

        The graph is a new one, which nobody's `backward` has freed.
        """
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
        """Sum over trees of this kind, whose weights need not be those of this distribution."""
        if weights.shape[1] == 1:
            return weights[:, 0, 1:].exp().sum(1)  # the empty tree: 0, and differentiable
        return (inside if self.projective else matrix_tree)(weights, self._single)

    def _settled(self, total: Tensor) -> bool:
        """Tell whether sums (B,) can be trusted; if not, the weights have been made moderate.

        Or raise the error that says why there are none.
        """
        doubtful = ~(total.detach() > -FURTHEST) | ~self._scale.isfinite()
        if not doubtful.any():
            return True
        sentences = [b for b in doubtful.nonzero()[:, 0].tolist() if b not in self._far]
        graph = self._graph
        for b in sentences:
            scores = np.ascontiguousarray(matrix_of(graph, b), np.float64)
            huge = (np.abs(scores[np.isfinite(scores)]) > HUGE).any()
            found = None
            if not (total[b] == -torch.inf and not huge):
                found = as_far(scores, self._single, self.projective)
                if found is not None and self.projective:
                    raise ScoresError(
                        f"{name_of(graph, b)}scores are too far apart: all projective trees need "
                        "edges some 1e6 or more below others; arborescence.TreeDistribution takes "
                        "such scores, but has no gradients"
                    )
            if found is None:
                raise no_answer(graph, b, NO_TREE, self._single)
            self._far[b] = found
        if sentences:
            with torch.inference_mode(False), torch.set_grad_enabled(self._weights.requires_grad):
                self._make_moderate(sentences)
        return not sentences

    def _make_moderate(self, sentences: list[int]) -> None:
        """Put other weights in place of those of some sentences, with the same gradients."""
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
        weights, scale = scaled(weights, self._single)
        for place, b in enumerate(sentences):  # without the sum of the scaled weights
            self._far[b] = self._far[b]._replace(log_partition=float(scale[place]))
        base = scale.new_tensor([rounded(self._far[b].base) for b in sentences])
        self._weights = self._weights.index_copy(0, index, weights)
        self._scale = self._scale.index_copy(0, index, scale + base)

    def _cross_entropy(self, other: TreeDistribution) -> Tensor:
        if not torch.equal(self._words, other._words) or self._leading != other._leading:
            raise ScoresError(
                "distributions can be compared over the same sentences only: batches of one shape, "
                "and of the same lengths"
            )
        p = self._marginals  # before the log-partition, which comes with it
        total = other._log_partition  # before the weights, which may change with it
        if other._far and other is not self:
            raise ScoresError(
                f"{name_of(other._graph, min(other._far))}the other's scores are too far apart: "
                "all of its trees need edges some 1e6 or more below others, and beside those "
                "nothing is left of the divergence"
            )
        weights = other._weights.masked_fill(~other._edges, 0)
        result = total - (p * weights).sum((1, 2))
        return result.masked_fill(self._leaves(other), torch.inf)

    def _leaves(self, other: TreeDistribution) -> Tensor:
        """Tell of each sentence whether some of its trees are none of the other's, (B,)."""
        own_kind = Kind(self._single, self.projective)
        other_kind = Kind(other._single, other.projective)
        suspects = (self._edges & ~other._edges).any(2).any(1)
        if other_kind.single > own_kind.single or other_kind.projective > own_kind.projective:
            suspects = torch.ones_like(suspects)
        result = torch.zeros_like(suspects)
        sentences = suspects.nonzero()[:, 0].tolist()
        if not sentences:
            return result
        # No tree with an edge weighs more than it and the best edges into all other words together.
        weights, total = self._weights.detach(), self._log_partition.detach()
        best = weights.amax(1).masked_fill(~self._words, 0)
        most = weights - best[:, None] + (best.sum(1) - total)[:, None, None]
        own = self._edges & ~(most < _IMPOSSIBLE - 1e-12 * total.abs()[:, None, None])
        for b in sentences:
            size = int(self._words[b].sum()) + 1
            mine, others = (part[b, :size, :size].cpu().numpy() for part in (own, other._edges))
            result[b] = leaves(mine, own_kind, others, other_kind)
        return result

    def _covariance(self, f: Tensor, g: Tensor) -> Tensor:
        """(B, R, S) float64: how the expectation of f changes if g is added to the weights."""
        left, right = self._values(f), self._values(g)
        if left.shape[2] > right.shape[2]:
            return self._covariance(g, f).mT
        p, weights, _ = self._gradient(True)
        differentiable = self._weights.requires_grad or left.requires_grad
        changes = [
            torch.autograd.grad(
                p, weights, direction, retain_graph=True, create_graph=differentiable
            )[0]
            for direction in left.unflatten(1, p.shape[1:]).unbind(3)
        ]
        return torch.stack(changes, 1).flatten(2) @ right

    def _many(self, edge_values: Tensor) -> bool:
        return bool(edge_values.ndim > self.scores.ndim)

    def _shaped(self, result: Tensor, f: Tensor, g: Tensor) -> Tensor:
        if not self._many(g):
            result = result[:, :, 0]
        return result if self._many(f) else result[:, 0]

    def _values(self, edge_values: Tensor) -> Tensor:
        """(B, N², R) float64, 0 for edges that are absent."""
        *edges, size = self.scores.shape
        if edge_values.shape not in ((*edges, size), (*edges, size, *edge_values.shape[-1:])):
            raise ScoresError(
                f"edge values must have shape {(*edges, size)}, or one more dimension, "
                f"not {tuple(edge_values.shape)}"
            )
        count = edge_values.shape[-1] if self._many(edge_values) else 1
        values = edge_values.reshape(len(self._words), size * size, count).to(torch.float64)
        return values.masked_fill(~self._edges.flatten(1)[:, :, None], 0)

    def _are_trees(self, rows: Tensor) -> Tensor:
        """Tell which of (B, K, N) head vectors are trees of the kind. O(n log n), or O(n²)."""
        words = self._words[:, None]
        nodes = torch.arange(rows.shape[2], device=rows.device)
        lasts = self._words.sum(1)[:, None, None]
        fits = ((rows >= 0) & (rows <= lasts) | ~words).all(2)
        rows = rows.clamp(0, len(nodes) - 1).masked_fill(~words, 0)
        ancestors = rows
        for _ in range(len(nodes).bit_length()):
            ancestors = ancestors.gather(2, ancestors)
        fits &= (ancestors == 0).all(2)
        if self._single:
            fits &= ((rows == 0) & words).sum(2) == words.any(2)
        if self.projective:
            low = torch.minimum(rows, nodes)[..., None]
            high = torch.maximum(rows, nodes).masked_fill(~words, 0)[..., None]
            crossing = (low < low.mT) & (low.mT < high) & (high < high.mT)
            fits &= ~crossing.any(3).any(2)
        return fits

    def _given_back(self, result: Tensor) -> Tensor:
        """Bring a result (B, ...) into the caller's shape and type."""
        return result.reshape((*self._leading, *result.shape[1:])).to(self.scores.dtype)

    def _error(self, fault: int, where: Tensor) -> ArborescenceError:
        """Return the error for the first of the sentences that are marked, (B,)."""
        return no_answer(self._graph, int(where.nonzero()[0, 0]), fault, self._single)

    @property
    def _graph(self) -> Graph:
        """The scores as messages name them, on the CPU."""
        return as_graph(self.scores, self.lengths)
