"""Undirected edges: checks of the caller's edges, and the arrays that the kernels use."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.faults import BAD_NODE, BAD_SCORE, FINE


class UndirectedEdges(NamedTuple):
    """The edges that can be chosen: neither absent nor loops. Kernels may overwrite them."""

    #: (m,) int32: one end
    u: np.ndarray
    #: (m,) int32: the other end
    v: np.ndarray
    #: (m,) float64: finite; the higher the better
    weight: np.ndarray
    #: (m,) int32, ascending: the edge's index among the caller's edges
    origin: np.ndarray


#: `UndirectedEdges` in signatures: to read, or to change.
EDGES: Final = "undirected.edges.UndirectedEdges(int32[::1], int32[::1], float64[::1], int32[::1])"
OUT_EDGES: Final = EDGES.replace("int32", "out int32").replace("float64", "out float64")


@inlined_kernel
def move(edges: UndirectedEdges, e: int, place: int) -> None:
    """Copy the edge at index `e` to index `place`. O(1)."""
    edges.u[place] = edges.u[e]
    edges.v[place] = edges.v[e]
    edges.weight[place] = edges.weight[e]
    edges.origin[place] = edges.origin[e]


@kernel
def first_of(edges: UndirectedEdges, count: int) -> UndirectedEdges:
    """Return a view of the first `count` edges. O(1)."""
    return UndirectedEdges(
        edges.u[:count], edges.v[:count], edges.weight[:count], edges.origin[:count]
    )


@kernel
@takes(f"int64, int64[::1], int64[::1], float64[::1], int64, {OUT_EDGES}")
def take_edges(
    n: int,
    of_u: np.ndarray,
    of_v: np.ndarray,
    of_weight: np.ndarray,
    sign: int,
    room: UndirectedEdges,
) -> tuple[int, int]:
    """Copy the edges that can be chosen; return their number, or a bad edge, and a fault. O(m).

    `of_u`, `of_v` and `of_weight` (M,) are the caller's edges of the nodes 0, ..., n - 1; `sign` is
    1, or -1 for minimum spanning trees; `room` has room for M edges.
    """
    u, v, weight, origin = room
    count = 0
    for k in range(len(of_weight)):
        # Each number is read only once, so the checked number is also the copied number.
        end, other, gain = of_u[k], of_v[k], sign * of_weight[k]
        if not (0 <= end < n and 0 <= other < n):
            return k, BAD_NODE
        if not gain < np.inf:
            return k, BAD_SCORE
        u[count] = end
        v[count] = other
        weight[count] = gain
        origin[count] = k
        count += gain > -np.inf and end != other
    return count, FINE
