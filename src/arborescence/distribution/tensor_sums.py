"""Log-partition in PyTorch: the matrix-tree theorem (Tutte 1984), and Eisner's algorithm (1996).

Each takes log-weights (B, N, N) float64, `scaled`, -inf for absent edges and in column 0, and
returns the log of the sum over trees, (B,), -inf if there is none; differentiable any number of
times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from arborescence.core.weights import FURTHEST

if TYPE_CHECKING:
    from torch import Tensor

# A determinant is trusted if no entry of the inverse is larger than this; those of the matrix are
# about 1. Each derivative loses as many digits: the errors of marginals are about 1e-13, those of
# covariances about 1e-10.
_LARGEST = 1e3


def scaled(weights: Tensor, single: bool) -> tuple[Tensor, Tensor]:
    """Return log-weights with 0 as each column's maximum, and what trees lost, (B,)."""
    # A tree has one edge into each word, and if `single` one of the root's row: from that, first
    # just so much is subtracted that the root is the best head of one word only.
    if not single or weights.shape[1] <= 2:
        columns = _finite(weights.detach().amax(1))
        return weights - columns[:, None], columns.sum(1)
    given = weights.detach()[:, 0, 1:]
    words = _finite(weights.detach()[:, 1:].amax(1))
    weights = weights - words[:, None]
    # Root edges and others may differ by a large number that is the same for all words. It is
    # subtracted, and its rounding error is added back.
    root = weights.detach()[:, 0, 1:]
    missing = _rounded_away(root, given, words[:, 1:])
    best, second = root.topk(2).values.unbind(1)
    ahead = second.clamp(min=0).minimum(best)
    ahead = ahead.masked_fill(ahead.isinf(), 0)
    root_row = weights[:, 0] - ahead[:, None] + torch.nn.functional.pad(missing, (1, 0))
    weights = torch.cat([root_row[:, None], weights[:, 1:]], 1)
    columns = _finite(weights.detach().amax(1))
    from_root = columns[:, 1:] == root_row.detach()[:, 1:]
    lost = torch.where(from_root, given, words[:, 1:]).sum(1) + ahead * (1 - from_root.sum(1))
    return weights - columns[:, None], lost


def _rounded_away(total: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Return the rounding error of ``total = one - other`` (Knuth's two-sum); 0 if not finite."""
    back = total - one
    missing = (one - (total - back)) - (other + back)
    return missing.masked_fill(~missing.isfinite(), 0)


def matrix_tree(weights: Tensor, single: bool) -> Tensor:
    """Sum over non-projective trees by a determinant, or by `elimination` if it is inaccurate."""
    # O(n³). With one root edge, a row of the Laplacian is replaced by the root's edges (Koo et al.
    # 2007): that of the best root word keeps the matrix far from singular.
    linear = weights.exp()
    root, words = linear[:, 0, 1:], linear[:, 1:, 1:]
    if single:
        laplacian = torch.diag_embed(words.sum(1)) - words
        nodes = torch.arange(root.shape[1], device=root.device)
        child = nodes == root.argmax(1, keepdim=True)
        laplacian = torch.where(child[:, :, None], root[:, None], laplacian)
    else:
        laplacian = torch.diag_embed(words.sum(1) + root) - words
    result = _LogDeterminant.apply(laplacian)[0]  # type: ignore[no-untyped-call, unused-ignore]
    untrusted = result.isnan()
    if untrusted.any():
        (index,) = untrusted.nonzero(as_tuple=True)
        result = result.index_copy(0, index, elimination(weights[index], single))
    return result


def elimination(weights: Tensor, single: bool) -> Tensor:
    """Sum over non-projective trees by removing one word after the other. O(n³), n steps."""
    # Removing k gives the factor Σ_h w(h, k), and every path h -> k -> d becomes an edge: Gaussian
    # elimination without any subtraction (Grassmann, Taksar and Heyman 1985), so accurate near
    # singular. With one root edge, pivots leave out the root's, and the last word gets one. NaN if
    # a pivot is so low that rounding may spoil the sum of the pivots.
    size = weights.shape[1]
    if single:
        weights = _child_first(weights)
    first = 1 if single else 0
    loops = torch.eye(size, dtype=torch.bool, device=weights.device)
    total = weights.new_zeros(len(weights))
    lowest = total
    for k in range(size - 1, first, -1):
        into, out_of = weights[:, :k, k], weights[:, k, :k]
        pivot = _log_sum(into[:, first:].T)
        total = total + pivot
        lowest = lowest.minimum(pivot.detach())
        into = into - _finite(pivot)[:, None]
        paths = into[:, :, None] + out_of[:, None, :]
        weights = _log_sum(torch.stack([weights[:, :k, :k], paths]))
        weights = weights.masked_fill(loops[:k, :k], -torch.inf)
    if single:
        total = total + weights[:, 0, 1]
    return total.masked_fill((lowest < -FURTHEST) & (lowest > -torch.inf), torch.nan)


def _child_first(weights: Tensor) -> Tensor:
    """Exchange word 1 and a word from which all others can be reached, if there is one."""
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


def inside(weights: Tensor, single: bool) -> Tensor:
    """Sum over projective trees by Eisner (1996), all spans of one width at once. O(n³), n steps.

    The tables (width, place, B) hold the spans of all widths so far, by their start with growing
    widths or by their end with falling ones: so the two spans of a split are at the same place.
    With one root edge, spans contain only words, and the root gets a span of all words.
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


class _LogDeterminant(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    """Logarithms of determinants, and inverses (their gradients), from one LU decomposition."""

    # The inverse is an output too, so that the gradient can be differentiated. If a result may be
    # inaccurate, it is NaN and the inverse is 0: such a sentence gets no gradient here.

    @staticmethod
    def forward(ctx: Any, matrices: Tensor) -> tuple[Tensor, Tensor]:
        """Return (B,) logarithms and (B, n, n) inverses of (B, n, n) matrices."""
        ctx.set_materialize_grads(False)
        factors, pivots, _ = torch.linalg.lu_factor_ex(matrices)
        logarithms = factors.diagonal(dim1=1, dim2=2).abs().log().sum(1)
        identity = torch.eye(matrices.shape[1], dtype=matrices.dtype, device=matrices.device)
        inverses = torch.linalg.lu_solve(factors, pivots, identity.expand_as(matrices))
        untrusted = ~(inverses.abs().amax((1, 2)) <= _LARGEST)  # NaN is untrusted too
        logarithms.masked_fill_(untrusted, torch.nan)
        inverses.masked_fill_(untrusted[:, None, None], 0)
        ctx.save_for_backward(inverses)
        return logarithms, inverses

    @staticmethod
    def backward(ctx: Any, towards: Tensor | None, towards_inverse: Tensor | None) -> Tensor | None:
        """Use d log|M| = tr(M⁻¹ dM), and dM⁻¹ = -M⁻¹ dM M⁻¹."""
        (inverses,) = ctx.saved_tensors
        across = inverses.mT
        result = None if towards is None else towards[:, None, None] * across
        if towards_inverse is not None:
            inner = across @ towards_inverse @ across
            result = -inner if result is None else result - inner
        return result


class _LogDot(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    """log Σ exp(x + y) over the first dimension; -inf without a gradient if all terms are -inf."""

    # The share of each term is the gradient, and an output, so that it can be differentiated

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
        """Use the shares, and the derivative of a softmax."""
        (shares,) = ctx.saved_tensors
        result = None if towards is None else towards * shares
        if towards_shares is not None:
            inner = shares * (towards_shares - (towards_shares * shares).sum(0))
            result = inner if result is None else result + inner
        return result, result


def _log_dot(x: Tensor, y: Tensor) -> Tensor:
    return _LogDot.apply(x, y)[0]  # type: ignore[no-untyped-call, unused-ignore]


def _log_sum(x: Tensor) -> Tensor:
    return _log_dot(x, torch.zeros_like(x))


def _finite(x: Tensor) -> Tensor:
    return x.masked_fill(x == -torch.inf, 0)
