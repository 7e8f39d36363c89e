"""Direct undirected trees by breadth-first search: Levi, Reichart and Rappoport (2016), §3.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arborescence.compiling.kernels import kernel, takes
from arborescence.core.checks import check_count
from arborescence.core.conversion import as_array
from arborescence.core.union_find import find
from arborescence.errors import OptionError, TreeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Tensor, TensorLike


@kernel
@takes("int64[::1], int64[::1], int64, out int64[::1]")
def orient_kernel(u: np.ndarray, v: np.ndarray, root: int, heads: np.ndarray) -> None:
    """Direct the edges {u[k], v[k]} of a forest away from `root`, breadth first. O(n + m)."""
    # u, v: (m,) int64
    # root: a node
    # heads: (n,) int64: written: the predecessor of each node in the search; -1 for the root and
    # unreached nodes
    n = len(heads)
    # The neighbours of x are from starts[x] to starts[x + 1].
    starts = np.zeros(n + 2, np.int64)
    for k in range(len(u)):
        starts[u[k] + 2] += 1
        starts[v[k] + 2] += 1
    for x in range(2, n + 2):
        starts[x] += starts[x - 1]
    neighbours = np.empty(2 * len(u), np.int64)
    for k in range(len(u)):
        for x, y in ((u[k], v[k]), (v[k], u[k])):
            neighbours[starts[x + 1]] = y
            starts[x + 1] += 1
    heads[:] = -1
    queue = np.empty(n, np.int64)
    queue[0] = root
    first, last = 0, 1
    while first < last:
        x = queue[first]
        first += 1
        for k in range(starts[x], starts[x + 1]):
            y = neighbours[k]
            if heads[y] < 0 and y != root:
                heads[y] = x
                queue[last] = y
                last += 1


@kernel
@takes("int64[::1], int64[::1], out int64[::1]")
def forest_kernel(u: np.ndarray, v: np.ndarray, link: np.ndarray) -> bool:
    """Return whether the edges {u[k], v[k]} form no cycle. O(m log n)."""
    # u, v: (m,) int64
    # link: (n,) int64: disjoint sets, each node in its own; changed in place
    for k in range(len(u)):
        x, y = find(link, u[k]), find(link, v[k])
        if x == y:
            return False
        link[x] = y
    return True


@overload
def orient(nodes: int, u: TensorLike[Tensor], v: Any, root: int = 0) -> Tensor: ...
@overload
def orient(nodes: int, u: ArrayLike, v: ArrayLike, root: int = 0) -> NDArray[np.int64]: ...
def orient(nodes: int, u: Any, v: Any, root: int = 0) -> Any:
    """Direct the edges of an undirected tree away from its root. O(n log n).

    Parameters
    ----------
    nodes : int
        The number n of nodes: 0 to n - 1.
    u, v : (m,) whole numbers
        The two ends of each edge: of a tree, or of a forest.
    root : int
        The node to start from.

    Returns
    -------
    heads : (n,) int64
        The neighbour of each node on the path to the root; -1 for the root, and for nodes that are
        not connected to it. A torch tensor, on the same device, if `u` is one.

    Raises
    ------
    TreeError
        If a node is out of range, `u` and `v` differ in length, or the edges contain a cycle.
    OptionError
        If `nodes` or `root` is not a whole number, or there is no room for n nodes.

    Notes
    -----
    Breadth-first search: Section 3.2 of Levi, Reichart and Rappoport (2016).

    Examples
    --------
    >>> orient(4, [0, 1, 3], [2, 2, 1])
    array([-1,  2,  0,  1])
    """
    n, root = check_count(nodes, "nodes", least=0), check_count(root, "root", least=0)
    if root >= n:
        raise TreeError(f"root is {root}, which is none of {n} nodes")
    ends: list[NDArray[np.int64]] = []
    _, give_back = as_array(u, "u")
    for name, values in (("u", u), ("v", v)):
        array, _ = as_array(values, name)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TreeError(f"{name} must be a row of whole numbers")
        whole = array.astype(np.int64, "C")
        outside = np.flatnonzero((whole < 0) | (whole >= n))
        if outside.size:
            k = int(outside[0])
            raise TreeError(f"{name}[{k}] is {array[k]}, which is none of {n} nodes")
        ends.append(whole)
    if len(ends[0]) != len(ends[1]):
        raise TreeError(f"u has {len(ends[0])} entries and v {len(ends[1])}: edges need both")
    try:
        heads, alone = np.empty(n, np.int64), np.arange(n)
    except (MemoryError, ValueError):  # the second: larger than the address space
        raise OptionError(f"nodes is {n}: there is no room for so many") from None
    if len(ends[0]) >= n or not forest_kernel(ends[0], ends[1], alone):
        raise TreeError("the edges hold a cycle: only trees can be directed; see spanning_tree")
    orient_kernel(ends[0], ends[1], root, heads)
    return give_back(heads)
