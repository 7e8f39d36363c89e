"""Distributions over dependency trees as PyTorch computes them: differentiable and batched.

>>> import torch
>>> from arborescence.torch import TreeDistribution
>>> scores = torch.zeros(2, 4, 4, requires_grad=True)  # two sentences of three words
>>> gold = torch.tensor([[-1, 2, 0, 2], [-1, 0, 1, 2]])
>>> loss = -TreeDistribution(scores).log_prob(gold).mean()
>>> loss.backward()  # the gradient of each score: how likely its edge is, less 1 if it is gold
>>> scores.grad[0, :, 1]
tensor([ 0.1667,  0.0000, -0.3333,  0.1667])

Three ways to sum over trees. Each takes `weights` (B, N, N), the logarithms of the weights of
edges, -inf where an edge is absent and in column 0, with columns that sum to 1; and returns the
logarithm of the sum, (B,), -inf if there is no tree. All can be differentiated any number of times.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.errors import MissingExtraError, ScoresError, TreeError
from arborescence.faults import BAD_SCORE, NO_TREE, no_answer
from arborescence.graph import Root, as_graph, check_root
from arborescence.inference.decode import decode
from arborescence.inference.kbest import kbest

try:
    import torch
except ImportError as error:
    raise MissingExtraError(
        "arborescence.torch needs PyTorch: install it with `pip install 'arborescence[torch]'`"
    ) from error

if TYPE_CHECKING:
    from torch import Tensor

    from arborescence.errors import ArborescenceError

# A determinant is trusted if rounding every entry of its matrix changes it by less than this
# times 1e-16. Beyond it, sentences are counted again by elimination, which loses nothing.
_CONDITION = 1e5

# Lower finite scores are raised to this, so that sums of them stay finite.
_LOWEST = -1e300

# What rounding leaves of the probability of an edge that no tree uses.
_NEGLIGIBLE = 1e-11


class _LogDeterminant(torch.autograd.Function):  # type: ignore[misc]
    """Logarithms of determinants, and inverses, from one LU decomposition.

    The inverse is the gradient, and is returned as well, so that the gradient can be
    differentiated in turn. Where rounding may spoil the result, it is NaN and the inverse 0:
    a sentence that is not trusted sends no gradient.
    """

    @staticmethod
    def forward(ctx: Any, matrices: Tensor) -> tuple[Tensor, Tensor]:
        """Return (B,) logarithms and (B, n, n) inverses of (B, n, n) matrices."""
        ctx.set_materialize_grads(False)
        factors, pivots, _ = torch.linalg.lu_factor_ex(matrices)
        logarithms = factors.diagonal(dim1=1, dim2=2).abs().log().sum(1)
        identity = torch.eye(matrices.shape[1], dtype=matrices.dtype, device=matrices.device)
        inverses = torch.linalg.lu_solve(factors, pivots, identity.expand_as(matrices))
        # The largest entry of the inverse, had the rows and columns been scaled to 1 before.
        sizes = matrices.abs()
        columns = sizes.amax(1)
        rows = (sizes / columns[:, None]).amax(2)
        condition = (columns[:, :, None] * inverses.abs() * rows[:, None]).amax((1, 2))
        doubtful = ~(condition <= _CONDITION)  # NaN is doubtful too
        logarithms.masked_fill_(doubtful, torch.nan)
        inverses.masked_fill_(doubtful[:, None, None], 0)
        ctx.save_for_backward(inverses)
        return logarithms, inverses

    @staticmethod
    def backward(ctx: Any, towards: Tensor | None, towards_inverse: Tensor | None) -> Tensor | None:
        """By d log|M| = tr(M⁻¹ dM), and dM⁻¹ = -M⁻¹ dM M⁻¹."""
        (inverses,) = ctx.saved_tensors
        across = inverses.mT
        result = None if towards is None else towards[:, None, None] * across
        if towards_inverse is not None:
            inner = across @ towards_inverse @ across
            result = -inner if result is None else result - inner
        return result


class _LogDot(torch.autograd.Function):  # type: ignore[misc]
    """log Σ exp(x + y) over the first dimension, -inf (and no gradient) where all terms are.

    The share of each term is the gradient, and is returned as well, so that the gradient can be
    differentiated in turn.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logarithms (...) of the sums over (M, ...), and the shares (M, ...)."""
        ctx.set_materialize_grads(False)
        shares = x + y
        highest = shares.amax(0)
        highest.masked_fill_(highest == -torch.inf, 0)
        shares.sub_(highest).exp_()
        total = shares.sum(0)
        shares.div_(total.masked_fill(total == 0, 1))
        ctx.save_for_backward(shares)
        return total.log_().add_(highest), shares

    @staticmethod
    def backward(
        ctx: Any, towards: Tensor | None, towards_shares: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        """By the shares, and by the derivative of a softmax."""
        (shares,) = ctx.saved_tensors
        result = None if towards is None else towards * shares
        if towards_shares is not None:
            inner = shares * (towards_shares - (towards_shares * shares).sum(0))
            result = inner if result is None else result + inner
        return result, result


def _log_dot(x: Tensor, y: Tensor) -> Tensor:
    return _LogDot.apply(x, y)[0]


def _log_sum(x: Tensor) -> Tensor:
    return _log_dot(x, torch.zeros_like(x))


def _finite(x: Tensor) -> Tensor:
    return x.masked_fill(x == -torch.inf, 0)


def _scaled(weights: Tensor, single: bool) -> tuple[Tensor, Tensor]:
    """Return weights (B, N, N) of one size, and what all trees have lost by that, (B,).

    A tree enters each word once, so any number may be taken from a column. One with a single root
    edge leaves the root once, so any number may be taken from the row of the root as well.
    """
    detached = weights.detach()
    columns = detached[:, 1 if single else 0 :].logsumexp(1)
    # A word that none but the root can be the head of.
    columns = _finite(torch.where(columns == -torch.inf, detached[:, 0], columns))
    weights = weights - columns[:, None]
    lost = columns.sum(1)
    if single:
        root = _finite(weights.detach()[:, 0].amax(1))
        weights = torch.cat([weights[:, :1] - root[:, None, None], weights[:, 1:]], 1)
        lost = lost + root
    return weights, lost


def _matrix_tree(weights: Tensor, single: bool) -> Tensor:
    """Sum over all trees by a determinant. O(n³).

    The matrix-tree theorem (Tutte 1948). With one root edge the Laplacian is one of words alone,
    and one of its rows is replaced by the root's edges (Koo et al. 2007). Which one is free in
    theory; the row of the word that the root prefers keeps the others far from singular.
    """
    linear = weights.exp()
    root, words = linear[:, 0, 1:], linear[:, 1:, 1:]
    if single:
        laplacian = torch.diag_embed(words.sum(1)) - words
        nodes = torch.arange(root.shape[1], device=root.device)
        child = nodes == root.argmax(1, keepdim=True)
        laplacian = torch.where(child[:, :, None], root[:, None], laplacian)
    else:
        laplacian = torch.diag_embed(words.sum(1) + root) - words
    result = _LogDeterminant.apply(laplacian)[0]
    doubtful = result.isnan()
    if doubtful.any():
        (index,) = doubtful.nonzero(as_tuple=True)
        result = result.index_copy(0, index, _elimination(weights[index], single))
    return result


def _elimination(weights: Tensor, single: bool) -> Tensor:
    """Sum over all trees by taking out one word after the other, in logarithms. O(n³).

    The word k leaves the factor Σ_h w(h, k), and every path h -> k -> d becomes an edge. It is
    Gaussian elimination of the Laplacian, but each pivot is summed anew from edges, so nothing is
    ever subtracted (Grassmann, Taksar and Heyman 1985), and rounding stays what it was, however
    close the determinant is to zero.
    With one root edge, no pivot counts the root's, and the word that is left over takes one.
    """
    size = weights.shape[1]
    if single:
        weights = _child_first(weights)
    first = 1 if single else 0
    loops = torch.eye(size, dtype=torch.bool, device=weights.device)
    total = weights.new_zeros(len(weights))
    for k in range(size - 1, first, -1):
        into, out_of = weights[:, :k, k], weights[:, k, :k]
        pivot = _log_sum(into[:, first:].T)
        total = total + pivot
        into = into - _finite(pivot)[:, None]
        paths = into[:, :, None] + out_of[:, None, :]
        weights = _log_sum(torch.stack([weights[:, :k, :k], paths]))
        weights = weights.masked_fill(loops[:k, :k], -torch.inf)
    return total + weights[:, 0, 1] if single else total


def _child_first(weights: Tensor) -> Tensor:
    """Exchange word 1 and one from which all others can be reached, where there is one."""
    words = weights[:, 1:, 1:].detach()
    reached = (words > -torch.inf).to(words.dtype) + torch.eye(
        words.shape[1], dtype=words.dtype, device=words.device
    )
    for _ in range(words.shape[1].bit_length()):
        reached = (reached @ reached).clamp(max=1)
    child = 1 + reached.all(2).to(torch.int64).argmax(1)
    rows = torch.arange(len(weights), device=weights.device)
    order = torch.arange(weights.shape[1], device=weights.device).repeat(len(weights), 1)
    order[rows, 1], order[rows, child] = child, torch.ones_like(child)
    return weights[rows[:, None, None], order[:, :, None], order[:, None, :]]


def _inside(weights: Tensor, single: bool) -> Tensor:
    """Sum over projective trees: Eisner's (1996) spans, all of one width at a time. O(n³).

    A span is complete or not (its outermost words are joined by an edge, and nothing is known of
    what is between), and its head is at the left or at the right. The tables hold the spans of all
    widths so far by where they start (widths grow) or by where they end (widths shrink), so that
    the two spans of a split lie at the same place: (width, place, B).
    With one root edge, spans are made of words alone, and the root takes one that covers them all.
    """
    root = weights[:, 0, 1:].T
    if single:
        weights = weights[:, 1:, 1:]
    batch, size, _ = weights.shape
    nodes = torch.arange(size, device=weights.device)
    others = (nodes + nodes[:, None]) % size
    edges = weights.permute(1, 2, 0)
    to_right, to_left = edges[nodes, others].unbind(0), edges[others, nodes].unbind(0)

    left_starts = right_starts = left_ends = right_ends = weights.new_zeros(1, size, batch)
    open_starts = open_ends = weights.new_zeros(0, size, batch)
    for width in range(1, size):
        left_starts, right_starts = left_starts[:, :-1], right_starts[:, :-1]
        left_ends, right_ends = left_ends[:, 1:], right_ends[:, 1:]
        between = _log_dot(left_starts, right_ends)
        span = between + to_right[width][:-width]
        open_starts = torch.cat([open_starts[:, :-1], span[None]])
        span = between + to_left[width][:-width]
        open_ends = torch.cat([span[None], open_ends[:, 1:]])
        span = _log_dot(open_starts, left_ends)[None]
        left_starts, left_ends = torch.cat([left_starts, span]), torch.cat([span, left_ends])
        span = _log_dot(right_starts, open_ends)[None]
        right_starts, right_ends = torch.cat([right_starts, span]), torch.cat([span, right_ends])
    if single:
        return _log_dot(root + right_starts[:, 0], left_ends[:, -1])
    return left_starts[-1, 0]


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

    Notes
    -----
    Everything is computed in float64 and returned in the type of the scores, on their device.
    There is no loop over sentences. Properties are computed when they are first asked for and
    kept, with their graph. Where there is no tree, they raise `NoTreeError`, as all methods do.

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
        words = nodes <= torch.as_tensor(counts, device=scores.device)[:, None]
        edges = words[:, :, None] & words[:, None, :] & (nodes != nodes[:, None])
        edges[:, :, 0] = False
        weights = scores.reshape(-1, size, size).to(torch.float64)
        bad = edges & ~(weights < torch.inf)
        if bad.any():
            raise self._error(BAD_SCORE, bad.any(2).any(1))
        self._words = words & (nodes > 0)
        self._edges = edges & (weights > -torch.inf)

        weights = weights.clamp(min=_LOWEST).masked_fill(~self._edges, -torch.inf)
        # A word beyond the end hangs from the one before it: then all sentences end at the last
        # place, and each has the trees that it had.
        weights = weights.masked_fill(torch.diag_embed(~words[:, 1:], offset=1), 0)
        self._weights, self._scale = _scaled(weights, self._single)

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
        from arborescence.distribution import TreeDistribution as Sampled

        dist = Sampled(
            self.scores.detach(), self.lengths, root=self.root, projective=self.projective
        )
        return dist.sample(k, rng, replace=replace)

    def log_prob(self, heads: Any) -> Tensor:
        """Return the logarithms of the probabilities of trees.

        The negative of its mean is the loss for training.

        Parameters
        ----------
        heads : (..., N) or (..., k, N) whole numbers
            One tree for each sentence, or k.

        Returns
        -------
        log_prob : (...) or (..., k)
            -inf if it is not a tree of the kind, or an edge is absent.

        Raises
        ------
        TreeError
            If the shape does not fit.
        """
        heads = torch.as_tensor(heads, device=self.scores.device)
        size = self.scores.shape[-1]
        several = heads.ndim == self.scores.ndim
        trees = heads.shape[-2:-1] if several else ()
        expected = (*self._leading, *trees, size)
        if heads.is_floating_point() or heads.shape != expected:
            raise TreeError(
                f"heads must be whole numbers of shape {tuple(self.scores.shape[:-1])}, or k for each "
                f"sentence, not {heads.dtype} of shape {tuple(heads.shape)}"
            )
        rows = heads.reshape(len(self._words), -1, size).to(torch.int64)
        words = self._words[:, None]
        inside = rows.clamp(0, size - 1)
        entering = self._weights.mT.gather(2, inside.mT).mT.masked_fill(~words, 0)
        result = entering.sum(2) - self._log_partition[:, None]
        result = result.masked_fill(~self._are_trees(rows), -torch.inf)
        return self._given_back(result if several else result[:, 0])

    def cross_entropy(self, other: TreeDistribution) -> Tensor:
        """Return -Σ p(T) log q(T) in nats, (...), where q is `other`.

        inf where `other` lacks an edge that is used here.

        Raises
        ------
        ValueError
            If `other` is over trees of another kind or shape.
        """
        return self._given_back(self._cross_entropy(other))

    def kl(self, other: TreeDistribution) -> Tensor:
        """Return the Kullback-Leibler divergence of `other` from this in nats, (...).

        `cross_entropy` less `entropy`; raises what `cross_entropy` does.
        """
        return self._given_back(self._cross_entropy(other) - self._cross_entropy(self))

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
        result = self._covariance(f, g)
        return self._given_back(self._shaped(result, f, g))

    def second_moment(self, f: Tensor, g: Tensor | None = None) -> Tensor:
        """Return the expected product of two sums over a tree's edges; as `covariance`."""
        p = self._marginals.flatten(1)[:, None]
        left, right = p @ self._values(f), p @ self._values(f if g is None else g)
        result = self._covariance(f, g) + left.mT @ right
        return self._given_back(self._shaped(result, f, g))

    # What is kept is computed with a graph if the scores have one, also within `no_grad`: later
    # someone may ask from without.

    @cached_property
    def _log_partition(self) -> Tensor:
        """(B,) float64, of the scaled weights."""
        with torch.set_grad_enabled(self._weights.requires_grad):
            return self._sum(self._weights)

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
            (p,) = torch.autograd.grad(total.sum(), weights, create_graph=differentiable)
        return p, weights, total if self._weights.requires_grad else total.detach()

    def _sum(self, weights: Tensor) -> Tensor:
        if weights.shape[1] == 1:
            return weights[:, 0, 1:].sum(1)  # the empty tree
        result = (_inside if self.projective else _matrix_tree)(weights, self._single)
        missing = result == -torch.inf
        if missing.any():
            raise self._error(NO_TREE, missing)
        return result

    def _cross_entropy(self, other: TreeDistribution) -> Tensor:
        if (other._leading, other.root, other.projective) != (
            self._leading,
            self.root,
            self.projective,
        ) or not torch.equal(other._words, self._words):
            raise ValueError("the other distribution must be over trees of the same kind and shape")
        p = self._marginals  # before the log-partition, which comes with it
        weights = other._weights.masked_fill(~other._edges, 0)
        result = other._log_partition - (p * weights).sum((1, 2))
        lacking = ((p > _NEGLIGIBLE) & ~other._edges).any(2).any(1)
        return result.masked_fill(lacking, torch.inf)

    def _covariance(self, f: Tensor, g: Tensor | None) -> Tensor:
        """(B, R, S) float64: how the expectation of f changes if g is added to the weights."""
        left, right = self._values(f), self._values(f if g is None else g)
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
        return edge_values.ndim > self.scores.ndim

    def _shaped(self, result: Tensor, f: Tensor, g: Tensor | None) -> Tensor:
        if not self._many(f if g is None else g):
            result = result[:, :, 0]
        return result if self._many(f) else result[:, 0]

    def _values(self, edge_values: Tensor) -> Tensor:
        """(B, N², R) float64, 0 for edges that are absent."""
        if edge_values.shape[: self.scores.ndim] != self.scores.shape or (
            edge_values.ndim > self.scores.ndim + 1
        ):
            raise ScoresError(
                f"edge values must have shape {tuple(self.scores.shape)}, or one more dimension, "
                f"not {tuple(edge_values.shape)}"
            )
        batch, size, _ = self._weights.shape
        values = edge_values.reshape(batch, size * size, -1).to(torch.float64)
        return values.masked_fill(~self._edges.flatten(1)[:, :, None], 0)

    def _are_trees(self, rows: Tensor) -> Tensor:
        """Tell which of (B, K, N) head vectors are trees of the kind. O(n log n), or O(n²)."""
        words = self._words[:, None]
        nodes = torch.arange(rows.shape[2], device=rows.device)
        lasts = self._words.sum(1)[:, None, None]
        fits = (~words | ((rows >= 0) & (rows <= lasts))).all(2)
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
        graph = as_graph(self.scores, self.lengths)
        return no_answer(graph, int(where.nonzero()[0, 0]), fault, self._single)
