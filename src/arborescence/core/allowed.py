"""Scores that allow only trees with certain edges, or without them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.core.conversion import as_array, as_floats, shape_text
from arborescence.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


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
        if two edges require different heads of a word.

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
