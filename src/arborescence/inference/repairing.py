"""Repair of head vectors that are not trees: the tree that changes the fewest heads, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.conversion import as_floats
from arborescence.errors import OptionError
from arborescence.inference.constraints import Constraints
from arborescence.inference.decode import decode
from arborescence.inference.levels import combined
from arborescence.inference.solver import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Root

_MOST_VOTES: Final = 10**6  # votes of a column


class Repaired(NamedTuple):
    """A repaired tree, from `repair`.

    Attributes
    ----------
    heads : (n + 1,) int64
        The head vector of the tree.
    changed : (c,) int64
        The words whose heads differ from the given heads. If there are several columns, the words
        whose heads do not have the most votes.
    """

    heads: NDArray[np.int64]
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
    """Return the tree that keeps the largest number of given heads, exactly.

    Votes are a price that counts before all scores: see `solve`. So one run of `decode` is enough.

    Parameters
    ----------
    heads : (n + 1,) or (K, n + 1)
        The head of each word; ``heads[0]`` is ignored. Or K columns, each with a head for each
        word: the columns vote. A value that is not a possible head (-1, a number that is too large,
        the word itself, ``None``, NaN, text) is no vote. In a list of lists, columns may differ in
        length: a column does not vote on words after its end, and values after the last word are
        ignored.
    words
        The number of words n; by default the length of the longest column, less the root.
    weights : (K,), optional
        The number of votes of each column: whole numbers from 0 to a million. By default 1.
    scores : (n + 1, n + 1), optional
        A parser's weights of edges, which decide between trees that keep equally many heads. By
        default a near word is a better head than a far word, and any word better than the root.
    root, projective
        As for `decode`.

    Returns
    -------
    Repaired

    Raises
    ------
    OptionError
        If there is no word, the number of weights is not the number of columns, or an option is
        invalid.
    ScoresError, NoTreeError
        As for `decode`, if the scores are invalid, or have no tree.

    Notes
    -----
    O(n²), or O(n³) for projective trees.

    Examples
    --------
    >>> repair([-1, 2, 1, 2])  # a cycle
    Repaired(heads=array([-1,  0,  1,  2]), changed=array([1]))
    >>> repair([-1, 0, 0, 7, None]).heads  # two roots, a head out of range, and none
    array([-1,  0,  1,  2,  3])
    """
    columns = _columns(heads)
    nodes = max(map(len, columns), default=1) if words is None else words + 1
    if nodes < 2:
        raise OptionError("there must be a word at least")
    counts = [1] * len(columns) if weights is None else list(weights)
    if len(counts) != len(columns):
        raise OptionError(f"{len(columns)} columns need as many weights, not {len(counts)}")
    votes = np.zeros((nodes, nodes), np.int64)
    for column, count in zip(columns, counts, strict=True):
        kept = _nodes(column, nodes)
        words_kept = np.flatnonzero(kept >= 0)
        votes[kept[words_kept], words_kept] += check_count(count, "a weight", 0, _MOST_VOTES)
    table = nearness(nodes) if scores is None else as_floats(np.asarray(scores))
    if table.shape != votes.shape:
        raise OptionError(f"scores are {table.shape}, and must be ({nodes}, {nodes})")
    which: Any = {"root": root, "projective": projective}
    exact = combined((votes, table))  # if floats hold both exactly, a kernel decodes
    tree: NDArray[np.int64]
    if exact is not None:
        tree = decode(exact[0], **which)
    else:
        [(tree, *_)] = solve(table, Constraints(votes=(votes,) if votes.any() else (), **which))
    places = np.arange(1, nodes)
    short = votes[tree[1:], places] < np.maximum(votes[:, 1:].max(axis=0), 1)
    return Repaired(tree, places[short])


def _columns(heads: Sequence[Any] | NDArray[Any]) -> list[Any]:
    """Return the columns; values that are not columns themselves make one column."""
    several = len(heads) and all(isinstance(column, (list, tuple, np.ndarray)) for column in heads)
    return list(heads) if several else [heads]


def _nodes(column: Sequence[Any] | NDArray[Any], nodes: int) -> NDArray[np.int64]:
    """Return the heads of a column, -1 for values that are not possible heads."""
    heads = np.full(nodes, -1)
    for word, value in enumerate(list(column)[1:nodes], 1):
        try:
            head = int(value)
        except (TypeError, ValueError, OverflowError):
            continue
        if head == value and 0 <= head < nodes and head != word:
            heads[word] = head
    return heads


def nearness(nodes: int) -> NDArray[np.float64]:
    """Return scores by which near heads are better than far heads, and words than the root."""
    places = np.arange(float(nodes))
    table = np.abs(places[:, None] - places)
    table[0] = nodes
    np.negative(table, out=table)
    return table
