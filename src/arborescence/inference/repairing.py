"""The tree nearest to a head vector that is none: the fewest heads change, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.checks import check_count
from arborescence.errors import OptionError
from arborescence.inference.decode import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Root

_MOST_VOTES: Final = 10**6  # of a column


class Repaired(NamedTuple):
    """What `repair` found."""

    heads: NDArray[np.int64]  # (n + 1,): the tree
    # (c,): the words whose heads are others than those that were given (by most votes, if several
    # columns were)
    changed: NDArray[np.int64]


def repair(
    heads: Sequence[Any] | NDArray[Any],
    words: int | None = None,
    *,
    weights: Sequence[int] | None = None,
    scores: ArrayLike | None = None,
    root: Root = "single",
    projective: bool = False,
) -> Repaired:
    """Return the tree that keeps the most of given heads, exactly.

    The weight of an edge is how often it was given, so that this is one run of `decode`; smaller
    weights decide between the trees that keep equally many.

    Parameters
    ----------
    heads : (n + 1,) or (K, n + 1)
        The head of each word; ``heads[0]`` is ignored. Or K columns, which vote. What is no node
        (-1, a number that is too large, the word itself, ``None``, NaN, text) is no vote. A list of
        lists may have columns of different lengths: what lacks is no vote, what is beyond is
        ignored.
    words
        The number of words n; by default that of the longest column.
    weights : (K,), optional
        How many votes each column has: whole numbers from 0 to a million. By default one each.
    scores : (n + 1, n + 1), optional
        A parser's weights of edges, which decide between trees that keep equally many heads. By
        default near words are preferred, and words to the root.
    root, projective
        As for `decode`.

    Returns
    -------
    Repaired

    Raises
    ------
    OptionError
        If there is no word, there are not as many weights as columns, or an option is invalid.
    ScoresError, NoTreeError
        As for `decode`, if the scores are invalid, or have no tree.

    Notes
    -----
    O(n²), or O(n³) for projective trees. Scores are scaled to sums below 1/2: trees whose scaled
    scores differ by less than rounding (1e-16 n) may change places.

    Examples
    --------
    >>> repair([-1, 2, 1, 2])  # a cycle
    Repaired(heads=array([-1,  0,  1,  2]), changed=array([1]))
    >>> repair([-1, 0, 0, 7, None]).heads  # two roots, a head out of range, and none
    array([-1,  2,  0,  2,  3])
    """
    columns = _columns(heads)
    nodes = max(map(len, columns), default=1) if words is None else words + 1
    if nodes < 2:
        raise OptionError("there must be a word at least")
    counts = [1] * len(columns) if weights is None else list(weights)
    if len(counts) != len(columns):
        raise OptionError(f"{len(columns)} columns need as many weights, not {len(counts)}")
    votes = np.zeros((nodes, nodes))
    for column, count in zip(columns, counts, strict=True):
        kept = _nodes(column, nodes)
        words_kept = np.flatnonzero(kept >= 0)
        votes[kept[words_kept], words_kept] += check_count(count, "a weight", 0, _MOST_VOTES)
    tree: NDArray[np.int64] = decode(
        votes + scaled(scores, nodes), root=root, projective=projective
    )
    places = np.arange(1, nodes)
    short = votes[tree[1:], places] < np.maximum(votes[:, 1:].max(axis=0), 1)
    return Repaired(tree, places[short])


def _columns(heads: Sequence[Any] | NDArray[Any]) -> list[Any]:
    """Return the columns; there is one if its values are no columns themselves."""
    several = len(heads) and all(isinstance(one, (list, tuple, np.ndarray)) for one in heads)
    return list(heads) if several else [heads]


def _nodes(column: Sequence[Any] | NDArray[Any], nodes: int) -> NDArray[np.int64]:
    """Return the heads of a column, -1 for what is none."""
    found = np.full(nodes, -1)
    for word, value in enumerate(list(column)[1:nodes], 1):
        try:
            head = int(value)
        except (TypeError, ValueError, OverflowError):
            continue
        if head == value and 0 <= head < nodes and head != word:
            found[word] = head
    return found


def scaled(scores: ArrayLike | None, nodes: int) -> NDArray[np.float64]:
    """Return scores as what a whole tree adds less than 1/2 by."""
    if scores is None:
        places = np.arange(nodes)
        table = -np.abs(places[:, None] - places).astype(np.float64)
        table[0] = -nodes
    else:
        table = np.array(scores, dtype=np.float64)
        if table.shape != (nodes, nodes):
            raise OptionError(f"scores are {table.shape}, and must be ({nodes}, {nodes})")
    there = np.isfinite(table)
    np.fill_diagonal(there, False)
    there[:, 0] = False
    if not there.any():
        return table
    _, exponent = np.frexp(np.abs(table[there]).max())
    values = np.ldexp(table[there], -exponent)  # below 1, so that no difference is infinite
    values -= values.min()
    table[there] = values / (2 * nodes) / max(values.max(), np.finfo(float).tiny)
    return table
