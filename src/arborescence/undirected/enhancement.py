"""Local enhancement of a directed tree (hill climbing): Levi et al. (2016), Section 4.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args, overload

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.checks import check_count
from arborescence.core.choices import Changes, check_choice
from arborescence.core.faults import bad_edges, bad_score
from arborescence.core.graph import as_graph, in_float64, matrix_of
from arborescence.core.tree import is_tree, rows_for
from arborescence.errors import OptionError, TreeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Tensor, Tensors

#: No limit: rounds are made as long as the weight increases.
WITHOUT_END: Final = -1

# The largest number that the kernel can count to; no tree needs as many rounds.
_MOST: Final = 2**63 - 1

_LOWEST: Final = -np.finfo(np.float64).max
# The relative rounding error of the sum of two differences of scores is at most this, or the
# absolute error is at most the smallest normal float.
_ROUNDING: Final = 2.0**-51
_TINY: Final = float(np.finfo(np.float64).tiny)


@inlined_kernel
def gain_of(grand: float, turned: float, above: float, own: float) -> float:
    """Return a quarter of the gain s(t,v) + s(v,u) - s(t,u) - s(u,v); 0 if rounding may hide it."""
    # Here -inf counts as the lowest float64. With a quarter, no difference overflows
    entering = 0.25 * max(grand, _LOWEST) - 0.25 * max(above, _LOWEST)
    between = 0.25 * max(turned, _LOWEST) - 0.25 * max(own, _LOWEST)
    gain = entering + between
    return gain if gain > _ROUNDING * (abs(entering) + abs(between)) + _TINY else 0.0


@inlined_kernel
def turn(heads: np.ndarray, v: int) -> None:
    """Turn the path t -> u -> v into t -> v -> u."""
    u = heads[v]
    heads[v] = heads[u]
    heads[u] = v


@inlined_kernel
def make_changes(
    n: int, gains: np.ndarray, alone: bool, heads: np.ndarray, foremost: np.ndarray
) -> bool:
    """Make the best change, or each change with a higher gain than all that it excludes. O(n).

    Return whether any change was made.

    - n: the number of words
    - gains: (N,) float64: the gain of turning the edge into each word; 0 if there is none
    - alone: whether only the best change is made
    - heads: (N,) int64: the tree; changed in place
    - foremost: (N,) int64: scratch: for each word, the change with the largest gain among the
      changes that involve the word
    """
    gains[0] = 0.0
    if alone:
        best = 0
        for v in range(1, n + 1):
            if gains[v] > gains[best]:
                best = v
        if best > 0:
            turn(heads, best)
        return best > 0
    for x in range(n + 1):
        foremost[x] = 0
    for v in range(1, n + 1):
        if gains[v] > 0.0:
            u = heads[v]
            if gains[v] > gains[foremost[u]]:
                foremost[u] = v
            if gains[v] > gains[foremost[v]]:
                foremost[v] = v
    changed = False
    for v in range(1, n + 1):
        if foremost[v] == v and foremost[heads[v]] == v:
            turn(heads, v)
            changed = True
    return changed


@kernel
@takes("float64[:, ::1], out int64[::1], int64, int64, bool, out float64[::1], out int64[::1]")
def enhance_kernel(
    scores: np.ndarray,
    heads: np.ndarray,
    n: int,
    rounds: int,
    alone: bool,
    gains: np.ndarray,
    foremost: np.ndarray,
) -> None:
    """Enhance a tree. O(n) a round.

    `scores` (N, N), ``[h, d]``, are without NaN and +inf, and -inf counts as the lowest float64.
    `heads` (N,) is a tree, which is changed in place. `rounds` is the number of rounds, or
    `WITHOUT_END`. `alone` is as in `make_changes`; `gains` and `foremost` (N,) are scratch.
    """
    while rounds != 0:
        rounds -= 1
        for v in range(1, n + 1):
            gains[v] = 0.0
            u = heads[v]
            if u > 0:
                t = heads[u]
                gains[v] = gain_of(scores[t, v], scores[v, u], scores[t, u], scores[u, v])
        if not make_changes(n, gains, alone, heads, foremost):
            break


@overload
def enhance(
    scores: Tensors[Tensor], heads: Any, rounds: int | None = 5, *, changes: Changes = "disjoint"
) -> Tensor: ...
@overload
def enhance(
    scores: ArrayLike, heads: Any, rounds: int | None = 5, *, changes: Changes = "disjoint"
) -> NDArray[np.int64]: ...
def enhance(
    scores: Any, heads: Any, rounds: int | None = 5, *, changes: Changes = "disjoint"
) -> Any:
    """Reverse edges of a tree if the tree's weight increases: local enhancement.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        Directed, as in `arborescence.decode`.
    heads : (..., N) whole numbers
        Trees, with one root edge or more. An absent edge counts as an edge whose score is the
        lowest float64, so it is removed if possible.
    rounds : int or None
        The number of rounds; None: until no change increases the weight.
    changes : {"disjoint", "best"}
        The changes of a round: the best change alone, as the paper prints it; or changes that have
        no word in common, the best change among them.

    Returns
    -------
    heads : (..., N) int64
        Trees with the same number of root edges, and the same weight or a higher weight. If
        `scores` is a torch tensor, a tensor on the same device.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape or type is invalid.
    TreeError
        If the heads are not trees with as many nodes as `scores`.
    OptionError
        If `rounds` is negative, or `changes` has another value.

    Notes
    -----
    Levi, Reichart and Rappoport (2016), Section 4.3, *Local Enhancement Procedure*: O(n) a round.
    A change turns the path t -> u -> v into t -> v -> u; t may be the root, and other dependents
    of u and v stay. Its gain is s(t,v) + s(v,u) - s(t,u) - s(u,v). In each round, the gains of all
    v are computed from the current tree.

    As printed (``changes="best"``), a round makes the change with the largest gain; of equal gains,
    the change of the lowest v. The paper does not have ``"disjoint"``: two changes that share u or
    v exclude each other, and a change is made if its gain is higher than the gains of all changes
    that it excludes. These changes have no word in common, so their gains add up, and none of them
    creates a cycle. The change with the largest gain is among them, so no gain is left in the end.

    A gain that may be due to rounding counts as 0, so the weight never decreases in real
    arithmetic.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.zeros((4, 4))
    >>> scores[0, 2] = scores[2, 1] = 3
    >>> enhance(scores, [-1, 0, 1, 1])
    array([-1,  2,  0,  1])
    """
    limit, alone = as_limit(rounds), is_alone(changes)
    graph = as_graph(scores)
    rows = rows_for(graph, heads)
    batch, size = rows.shape
    trees = is_tree(rows, "multi")
    if not trees.all():
        raise TreeError(f"sentence {int(np.argmin(trees))}: the heads are not a tree")
    graph = graph._replace(lengths=np.count_nonzero(rows >= 0, axis=1))
    gains, foremost = np.empty(size), np.empty(size, np.int64)
    for part, matrices, lengths in in_float64(graph, 0, batch):
        for sentence, (matrix, n) in enumerate(
            zip(matrices, lengths.tolist(), strict=True), part.start
        ):
            if bad_edges(matrix_of(graph, sentence)).any():
                raise bad_score(graph, sentence)
            enhance_kernel(matrix, rows[sentence], n, limit, alone, gains, foremost)
    return graph.given_back(rows)


def as_limit(rounds: int | None) -> int:
    """Check `rounds`, and return it as a number for `enhance_kernel`."""
    if rounds is None:
        return WITHOUT_END
    if isinstance(rounds, int) and rounds < 0:
        raise OptionError(f"rounds must be 0 or more, or None for no limit, not {rounds}")
    return min(check_count(rounds, "rounds", least=0), _MOST)


def is_alone(changes: str) -> bool:
    """Check `changes`, and return whether a round makes the best change alone."""
    check_choice("changes", changes, get_args(Changes))
    return changes == "best"
