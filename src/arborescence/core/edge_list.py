"""Graphs given as lists of directed edges, or as sparse matrices: checks, and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.conversion import as_array, as_float64, as_int64, as_it_is
from arborescence.core.faults import BAD_NODE
from arborescence.errors import OptionError, ScoresError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Kernels number words and contracted nodes with 32 bits.
_MOST_WORDS = 2**30 - 1


class EdgeList(NamedTuple):
    """The edges of a sentence in the types of the kernels, which check the values."""

    #: the number of words
    words: int
    #: (m,): the head of each edge
    heads: NDArray[np.int64]
    #: (m,): the dependent of each edge
    deps: NDArray[np.int64]
    #: (m,): the weight of each edge
    weights: NDArray[np.float64]
    #: the caller's own heads and dependents, for messages: int64 may hold other numbers
    ends: tuple[Any, Any]
    #: converts a result to the caller's kind of array: a tensor on the device of the weights
    give_back: Callable[[NDArray[Any]], Any]

    def fault(self, fault: int, edge: int) -> ScoresError:
        """Return the error for an edge with an invalid node or weight."""
        if fault == BAD_NODE:
            head, dep = (as_array(end)[0][edge] for end in self.ends)
            return ScoresError(
                f"edge {edge} is {head} -> {dep}: nodes are 0, the root, to {self.words}, "
                "the last word"
            )
        return ScoresError(
            f"weights[{edge}], the edge {self.heads[edge]} -> {self.deps[edge]}, is "
            f"{self.weights[edge]}; weights are finite, or -inf for an absent edge"
        )


def as_edges(
    names: tuple[str, str, str], ends: tuple[Any, Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Check a graph given as an edge list, two ends and weights, and convert it for kernels.

    ScoresError, with `names`, if shapes or types are invalid. The kernels check the values.
    """
    arrays = [
        as_array(values, name)[0] for values, name in zip((*ends, weights), names, strict=True)
    ]
    shapes = [array.shape for array in arrays]
    if len(shapes[0]) != 1 or len(set(shapes)) != 1:
        raise ScoresError(
            f"{names[0]}, {names[1]} and {names[2]} must have one entry an edge, not shapes "
            + ", ".join(map(str, shapes))
        )
    for name, array in zip(names, arrays[:2], strict=False):
        if array.dtype.kind not in "iu" and array.size:
            raise ScoresError(f"{name} must be whole numbers, not {array.dtype}")
    firsts, seconds = map(as_int64, arrays[:2])
    return firsts, seconds, as_float64(arrays[2])


def as_edge_list(n: Any, heads: Any, deps: Any, weights: Any, caller: str) -> EdgeList:
    """Check a list of edges, or a sparse matrix in place of all four arguments.

    OptionError if `n` is no number of words, or the arguments do not fit together.
    """
    give_back: Callable[[NDArray[Any]], Any] = as_it_is
    if hasattr(n, "tocoo"):
        if not heads is deps is weights is None:
            raise OptionError(f"{caller} takes a matrix by itself, without heads, deps, weights")
        if len(n.shape) != 2 or n.shape[0] != n.shape[1] or n.shape[0] == 0:
            raise ScoresError(
                f"the matrix must have shape (N, N) with N = words + 1, not {n.shape}"
            )
        entries = n.tocoo()
        n, heads, deps, weights = n.shape[0] - 1, entries.row, entries.col, entries.data
    elif heads is None or deps is None or weights is None:
        raise OptionError(f"{caller} takes n, heads, deps and weights, or a SciPy sparse matrix")
    else:
        weights, give_back = as_array(weights, "weights", absent=-np.inf)
    words = check_count(n, "n", 0, _MOST_WORDS, " of words, or a SciPy sparse matrix")
    edges = as_edges(("heads", "deps", "weights"), (heads, deps), weights)
    return EdgeList(words, *edges, (heads, deps), give_back)
