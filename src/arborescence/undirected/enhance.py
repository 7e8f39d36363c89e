"""Local enhancement of a directed tree: Levi, Reichart and Rappoport (2016), Section 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from arborescence.core.errors import OptionError, TreeError
from arborescence.core.graph import as_graph, bad_score, check_count, in_float64, matrix_of
from arborescence.core.jit import kernel
from arborescence.core.tree import as_rows, is_tree

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.types import Tensor, Tensors

#: As many rounds as bring a gain.
WITHOUT_END: Final = -1

# What kernels can count, and more than any tree takes.
_MOST: Final = 2**63 - 1

_LOWEST: Final = -np.finfo(np.float64).max
# Two differences of scores, and their sum, are off by at most this part of their sizes, or by the
# least of normal floats.
_ROUNDING: Final = 2.0**-51
_TINY: Final = float(np.finfo(np.float64).tiny)


@kernel
def enhance_kernel(
    scores: np.ndarray,
    heads: np.ndarray,
    n: int,
    rounds: int,
    gains: np.ndarray,
    foremost: np.ndarray,
) -> None:
    """Enhance a tree. O(n) a round.

    Parameters
    ----------
    scores : (N, N) float64
        ``[h, d]``, without NaN and +inf. Here -inf counts as the lowest float64.
    heads : (N,) int64
        Changed: a tree.
    n
        The number of words.
    rounds
        How many, or `WITHOUT_END`.
    gains : (N,) float64
        Scratch: what the change of the edge into each word would bring; 0 if nothing.
    foremost : (N,) int64
        Scratch: of the changes in which a word has part, the one that brings most.
    """
    while rounds != 0:
        rounds -= 1
        for x in range(n + 1):
            foremost[x] = 0
        gains[0] = 0.0
        for v in range(1, n + 1):
            gains[v] = 0.0
            u = heads[v]
            if u == 0:
                continue
            t = heads[u]
            # Quarters, so that no difference of two scores goes beyond the largest float.
            entering = 0.25 * max(scores[t, v], _LOWEST) - 0.25 * max(scores[t, u], _LOWEST)
            between = 0.25 * max(scores[v, u], _LOWEST) - 0.25 * max(scores[u, v], _LOWEST)
            gain = entering + between
            if gain > _ROUNDING * (abs(entering) + abs(between)) + _TINY:
                gains[v] = gain
                if gain > gains[foremost[u]]:
                    foremost[u] = v
                if gain > gains[foremost[v]]:
                    foremost[v] = v
        changed = False
        for v in range(1, n + 1):
            u = heads[v]
            if foremost[v] == v and foremost[u] == v:
                heads[v] = heads[u]
                heads[u] = v
                changed = True
        if not changed:
            break


@overload
def enhance(scores: Tensors[Tensor], heads: Any, rounds: int | None = 5) -> Tensor: ...
@overload
def enhance(scores: ArrayLike, heads: Any, rounds: int | None = 5) -> NDArray[np.int64]: ...
def enhance(scores: Any, heads: Any, rounds: int | None = 5) -> Any:
    """Turn edges of a tree round where that adds to its weight: local enhancement.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        Directed, as in `arborescence.decode`.
    heads : (..., N) whole numbers
        Trees, with one root edge or more. An edge that is absent counts as one of the lowest
        float64, so it is left if it can be.
    rounds : int or None
        How many rounds; None: until there is nothing to gain.

    Returns
    -------
    heads : (..., N) int64
        Trees with as many root edges, of the same weight or of more. A torch tensor, on the same
        device, if `scores` is one.

    Raises
    ------
    ScoresError
        If the scores hold NaN or +inf, or shape or type cannot be used.
    TreeError
        If the heads are not trees of as many nodes.
    OptionError
        If `rounds` is negative.

    Notes
    -----
    The local enhancement procedure of Levi, Reichart and Rappoport (2016), Section 4: O(n) a round.
    The path t -> u -> v may become t -> v -> u, whatever else hangs from u and v, and t may be the
    root. This gains s(t,v) + s(v,u) - s(t,u) - s(u,v). In each round, gains are computed
    for all v from the tree as it is. A change excludes those that share u or v with it. It is made
    if it gains more than each of them, or as much and its v is the lowest. Changes that are made in
    one round have no word in common, so their gains add up, and none of them closes a cycle. Each
    round makes the change that gains most, so it ends with nothing to gain. A gain within
    rounding of 0 is none: so in real arithmetic, too, the weight never goes down.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.zeros((4, 4))
    >>> scores[0, 2] = scores[2, 1] = 3
    >>> enhance(scores, [-1, 0, 1, 1])
    array([-1,  2,  0,  1])
    """
    limit = as_limit(rounds)
    graph = as_graph(scores)
    rows, shape = as_rows(heads)
    batch, size, _ = graph.scores.shape
    if shape != graph.shape or rows.shape != (batch, size):
        raise TreeError(
            f"heads of shape {(*shape, rows.shape[1])} do not fit scores of shape "
            f"{(*graph.shape, size, size)}"
        )
    trees = is_tree(rows, "multi")
    if not trees.all():
        raise TreeError(f"sentence {int(np.argmin(trees))}: the heads are not a tree")
    graph = graph._replace(lengths=np.count_nonzero(rows >= 0, axis=1))
    result: NDArray[np.int64] = rows.copy()
    gains, foremost = np.empty(size), np.empty(size, np.int64)
    for part, matrices, lengths in in_float64(graph, 0, batch):
        for sentence, (matrix, n) in enumerate(
            zip(matrices, lengths.tolist(), strict=True), part.start
        ):
            if not _usable(matrix_of(graph, sentence)):
                raise bad_score(graph, sentence)
            enhance_kernel(matrix, result[sentence], n, limit, gains, foremost)
    result = result.reshape(*graph.shape, size)
    return graph.give_back(result) if graph.give_back else result


def as_limit(rounds: int | None) -> int:
    """Return the number of rounds, or `WITHOUT_END`, as `enhance_kernel` takes it."""
    if rounds is None:
        return WITHOUT_END
    if isinstance(rounds, int) and rounds < 0:
        raise OptionError(f"rounds must be 0 or more, or None for no limit, not {rounds}")
    return min(check_count(rounds, "rounds", least=0), _MOST)


def _usable(matrix: NDArray[Any]) -> bool:
    """Tell whether all edges are below +inf, and none is NaN."""
    usable = matrix < np.inf
    usable[:, 0] = True
    np.fill_diagonal(usable, val=True)
    return bool(usable.all())
