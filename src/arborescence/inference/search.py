"""Trees that keep a rule: edges that they must or must not have, and predicates."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.conversion import as_array, as_floats, shape_text
from arborescence.errors import NoTreeError, ScoresError
from arborescence.inference.decode import Labeled
from arborescence.inference.kbest import trees
from arborescence.inference.labeled import trees_labeled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Root, Tensor, TensorLike, Which


@overload
def decode_where(
    scores: TensorLike[Tensor],
    predicate: Callable[[Tensor], object],
    *,
    limit: int = 10_000,
    **which: Unpack[Which],
) -> Tensor: ...
@overload
def decode_where(
    scores: ArrayLike,
    predicate: Callable[[NDArray[np.int64]], object],
    *,
    limit: int = 10_000,
    **which: Unpack[Which],
) -> NDArray[np.int64]: ...
def decode_where(
    scores: Any,
    predicate: Callable[[Any], object],
    *,
    limit: int = 10_000,
    root: Root = "single",
    projective: bool = False,
) -> Any:
    """Return the tree of highest weight for which a predicate is true, exactly.

    Parameters
    ----------
    scores : (N, N) array or torch tensor
        As in `decode`.
    predicate : callable
        Called as ``predicate(heads)`` for the trees, best first, with a copy of the head vector.
        Returns whether the tree satisfies the condition.
    limit : int
        The largest number of trees to try.
    root, projective
        As in `decode`.

    Returns
    -------
    heads : (N,) int64
        As in `decode`.

    Raises
    ------
    NoTreeError
        If no tree satisfies the condition, or none of the best `limit` trees (the message says
        which), or if there is no tree.
    ScoresError
        As in `decode`.
    OptionError
        If `limit` is less than 1.

    Notes
    -----
    O(n²) and one call of the predicate for each tree tried. The number of trees depends on the
    scores and the predicate. It can be very large if the best trees differ only in edges that do
    not matter to the predicate. Conditions on single edges are better expressed with `forbid` and
    `require`, which need no search.

    Examples
    --------
    The best tree in which no word has more than one child:

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.zeros((4, 4))
    >>> scores[2, [1, 3]] = [3.0, 4.0]
    >>> scores[0, 2], scores[1, 3] = 5.0, 2.0
    >>> arb.decode(scores)
    array([-1,  2,  0,  2])
    >>> arb.decode_where(scores, lambda heads: np.bincount(heads[1:]).max() == 1)
    array([-1,  2,  0,  1])
    """
    array, give_back = as_array(scores, absent=-np.inf)
    stream = trees(array, root=root, projective=projective)
    [heads] = _first(stream, predicate, limit, give_back, "trees")
    return heads


@overload
def decode_where_labeled(
    scores: TensorLike[Tensor],
    predicate: Callable[[Tensor, Tensor], object],
    *,
    limit: int = 10_000,
    **which: Unpack[Which],
) -> Labeled[Tensor]: ...
@overload
def decode_where_labeled(
    scores: ArrayLike,
    predicate: Callable[[NDArray[np.int64], NDArray[np.int64]], object],
    *,
    limit: int = 10_000,
    **which: Unpack[Which],
) -> Labeled[NDArray[np.int64]]: ...
def decode_where_labeled(
    scores: Any,
    predicate: Callable[[Any, Any], object],
    *,
    limit: int = 10_000,
    root: Root = "single",
    projective: bool = False,
) -> Labeled[Any]:
    """Return the labeled tree of highest weight for which a predicate is true, exactly.

    Heads and labels are searched together: the result may differ from the best labeled tree in
    labels, in heads, or in both.

    Parameters
    ----------
    scores : (N, N, L) array or torch tensor
        As in `decode_labeled`.
    predicate : callable
        Called as ``predicate(heads, labels)``; otherwise as in `decode_where`.
    limit, root, projective
        As in `decode_where`; trees that differ only in a label count separately.

    Returns
    -------
    heads, labels : (N,) int64
        As in `decode_labeled`.

    Raises
    ------
    NoTreeError, ScoresError, OptionError
        As in `decode_where`.

    Examples
    --------
    The best tree in which no word has two children with the label 0:

    >>> import numpy as np
    >>> import arborescence as arb
    >>> scores = np.zeros((4, 4, 2))
    >>> scores[2, 1], scores[2, 3], scores[0, 2] = [3.0, 1.0], [4.0, 3.0], [5.0, 0.0]
    >>> arb.decode_labeled(scores)
    Labeled(heads=array([-1,  2,  0,  2]), labels=array([-1,  0,  0,  0]))
    >>> def at_most_one(heads, labels):
    ...     return np.bincount(heads[labels == 0]).max(initial=0) <= 1
    >>> arb.decode_where_labeled(scores, at_most_one)
    Labeled(heads=array([-1,  2,  0,  2]), labels=array([-1,  0,  0,  1]))
    """
    array, give_back = as_array(scores, absent=-np.inf)
    stream = trees_labeled(array, root=root, projective=projective)
    return Labeled(*_first(stream, predicate, limit, give_back, "labeled trees"))


def _first(
    stream: Iterator[Any],
    predicate: Callable[..., object],
    limit: int,
    give_back: Callable[[NDArray[Any]], Any],
    kind: str,
) -> list[Any]:
    """Return the arrays (not the weight) of the first tree for which the predicate is true."""
    limit = check_count(limit, "limit")
    searched = 0
    for *tree, _ in stream:
        if searched == limit:
            raise NoTreeError(
                f"the predicate is false for the best {limit} {kind}, and there are more: "
                "raise limit, or express conditions on single edges with forbid and require"
            )
        if predicate(*_copies(tree, give_back)):
            return _copies(tree, give_back)
        searched += 1
    raise NoTreeError(
        f"the predicate is false for all {searched} {kind} that exist: "
        "loosen it, or let more edges be present"
    )


def _copies(tree: Any, give_back: Callable[[NDArray[Any]], Any]) -> list[Any]:
    return [give_back(part.copy()) for part in tree]


def require(scores: Any, edges: Iterable[Sequence[int]]) -> Any:
    """Return a copy of the scores that allows only trees with these edges.

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
    edges : pairs (h, d) of whole numbers
        Indices into `scores`; with leading dimensions, (b, h, d) for the sentence b.

    Returns
    -------
    scores : like the input
        All other edges into each d are -inf. Whole numbers become float64.

    Raises
    ------
    ScoresError
        If an edge is not a pair of whole numbers, is out of range, enters the root or is a loop, or
        if two edges require different heads of one word.

    Examples
    --------
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> arb.decode(arb.require(scores, [(2, 1)]))
    array([-1,  2,  0])
    """
    array, give_back = _own_floats(scores)
    kept: dict[tuple[int, ...], int] = {}
    for edge in edges:
        *sentence, h, d = _checked_edge(array, edge)
        if kept.setdefault((*sentence, d), h) != h:
            raise ScoresError(
                f"word {d} cannot have both {kept[(*sentence, d)]} and {h} as its head"
            )
        entering = array[tuple(sentence)][:, d]
        weight = entering[h]
        entering[:] = -np.inf
        entering[h] = weight
    return give_back(array)


def forbid(scores: Any, edges: Iterable[Sequence[int]]) -> Any:
    """Return a copy of the scores in which these edges are absent.

    Parameters, return value and errors as in `require`; edges cannot contradict each other.

    Examples
    --------
    >>> import arborescence as arb
    >>> scores = np.array([[0.0, 5.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> arb.decode(arb.forbid(scores, [(0, 1)]))
    array([-1,  2,  0])
    """
    array, give_back = _own_floats(scores)
    for edge in edges:
        array[_checked_edge(array, edge)] = -np.inf
    return give_back(array)


def _own_floats(scores: Any) -> tuple[NDArray[Any], Callable[[NDArray[Any]], Any]]:
    array, give_back = as_array(scores, absent=-np.inf)
    array = as_floats(array)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ScoresError(f"scores must have shape (..., N, N), not {shape_text(array.shape)}")
    return array, give_back


def _checked_edge(array: NDArray[Any], edge: Sequence[int]) -> tuple[int, ...]:
    try:
        index = tuple(map(operator.index, edge))
    except TypeError:
        raise ScoresError(
            f"edge {edge!r} must be a pair (h, d) of whole numbers, in a list of such pairs"
        ) from None
    if len(index) != array.ndim:
        raise ScoresError(
            f"edge {index} must have {array.ndim} indices into scores of shape "
            f"{shape_text(array.shape)}"
        )
    if not all(0 <= i < size for i, size in zip(index, array.shape, strict=True)):
        raise ScoresError(f"edge {index} is outside scores of shape {shape_text(array.shape)}")
    h, d = index[-2:]
    if d == 0 or h == d:
        raise ScoresError(f"edge {index} enters the root" if d == 0 else f"edge {index} is a loop")
    return index
