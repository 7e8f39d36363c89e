"""Scores of undirected pairs, and directions of undirected trees: Levi et al. (2016), Section 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args, overload

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.checks import check_count
from arborescence.core.choices import Encoding as Encoding
from arborescence.core.conversion import as_array
from arborescence.core.faults import BAD_SCORE, FINE, NEGATIVE, bad_score, name_of
from arborescence.core.graph import as_graph, in_float64, matrix_of
from arborescence.core.tree import find
from arborescence.errors import OptionError, ScoresError, TreeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Tensor, TensorLike, Tensors
    from arborescence.core.graph import Graph

MEAN, PRODUCT, MAX, MIN = range(4)

_LARGEST: Final = np.finfo(np.float64).max


@inlined_kernel
def combine(score: float, reverse: float, how: int) -> float:
    """Return the score of a pair: its two scores combined, or the only score if one is absent."""
    if how == MEAN:
        combined = 0.5 * score + 0.5 * reverse
    elif how == PRODUCT:
        combined = min(score * reverse, _LARGEST)
    elif how == MAX:
        combined = max(score, reverse)
    else:
        combined = min(score, reverse)
    combined = reverse if score == -np.inf else combined
    return score if reverse == -np.inf else combined


@inlined_kernel
def combine_rows(
    scores: np.ndarray, first: int, n: int, how: int, out: np.ndarray
) -> tuple[int, int]:
    """Combine both directions' scores in `out`; return the numbers of bad and negative scores."""
    # If `how` is a constant, LLVM vectorizes the loop
    bad = 0
    negative = 0
    for i in range(1, n + 1):
        for start, stop in ((1, i), (i + 1, n + 1)):  # the diagonal is ignored
            row = scores[i, start:stop]
            pairs = out[i - first, start - first : stop - first]
            for k in range(stop - start):
                score = row[k]
                bad += 0 if score < np.inf else 1
                negative += 1 if (score < 0.0) & (score > -np.inf) else 0
                pairs[k] = combine(score, pairs[k], how)
    return bad, negative


@kernel
@takes("float64[:, ::1], int64, int64, int64, out float64[:, ::1]")
def encode_kernel(scores: np.ndarray, first: int, n: int, how: int, out: np.ndarray) -> int:
    """Encode the nodes from `first` to n: FINE, BAD_SCORE, or NEGATIVE for a product. O(n²).

    - scores: (N, N) float64: ``[h, d]``; column 0 and the diagonal are ignored, but every other
      edge is checked
    - first: 0, or 1 to leave the root out
    - n: the number of words
    - how: `MEAN`, `PRODUCT`, `MAX` or `MIN`
    - out: (n + 1 - first, n + 1 - first) float64: written: a symmetric matrix with -inf on the
      diagonal
    """
    for i in range(1, n + 1):
        row = scores[i, 1 : n + 1]
        column = out[1 - first :, i - first]
        for k in range(n):
            column[k] = row[k]
    if how == MEAN:
        bad, negative = combine_rows(scores, first, n, MEAN, out)
    elif how == PRODUCT:
        bad, negative = combine_rows(scores, first, n, PRODUCT, out)
    elif how == MAX:
        bad, negative = combine_rows(scores, first, n, MAX, out)
    else:
        bad, negative = combine_rows(scores, first, n, MIN, out)
    for d in range(1, n + 1):
        score = scores[0, d]
        bad += 0 if score < np.inf else 1
        if first == 0:
            out[0, d] = out[d, 0] = score
    for i in range(n + 1 - first):
        out[i, i] = -np.inf
    if bad > 0:
        return BAD_SCORE
    return NEGATIVE if negative > 0 and how == PRODUCT else FINE


@overload
def encode(scores: Tensors[Tensor], encoding: Encoding = "mean") -> Tensor: ...
@overload
def encode(scores: ArrayLike, encoding: Encoding = "mean") -> NDArray[np.float64]: ...
def encode(scores: Any, encoding: Encoding = "mean") -> Any:
    """Combine the scores of the two directions of each pair of nodes into one score. O(N²).

    Parameters
    ----------
    scores : (..., N, N) array or torch tensor
        As in `arborescence.decode`.
    encoding : {"mean", "product", "max", "min"}
        How ``scores[i, j]`` and ``scores[j, i]`` are combined. The product is for scores that are
        not negative, such as probabilities; a product that overflows becomes the largest float64.
        (The mean of log-probabilities ranks pairs as the product of probabilities does.)

    Returns
    -------
    weights : (..., N, N) float64
        Symmetric, with -inf on the diagonal. If `scores` is a torch tensor, a tensor on the same
        device.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape or type is invalid; or if a score is negative and
        ``encoding="product"``.
    OptionError
        If the encoding has another name.

    Notes
    -----
    Section 4.1 of Levi, Reichart and Rappoport (2016), who do not describe pairs with only one
    direction. Here such a pair gets the score of that direction in every encoding. This holds for
    all pairs with the root, because no edge enters the root. If both directions are absent, the
    pair is absent.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.0, 5.0, -np.inf], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    >>> encode(scores)
    array([[-inf,  5. , -inf],
           [ 5. , -inf,  2.5],
           [-inf,  2.5, -inf]])
    """
    encoding_number = number_of(encoding)
    graph = as_graph(scores)
    batch, size, _ = graph.scores.shape
    weights: NDArray[np.float64] = np.empty((batch, size, size))
    for part, matrices, _ in in_float64(graph, 0, batch):
        for sentence, matrix in enumerate(matrices, part.start):
            fault = encode_kernel(matrix, 0, size - 1, encoding_number, weights[sentence])
            if fault != FINE:
                raise no_encoding(graph, sentence, fault)
    return graph.given_back(weights)


def number_of(encoding: str) -> int:
    """Return the number of an encoding in the kernels."""
    names = get_args(Encoding)
    if encoding not in names:
        raise OptionError(f"encoding must be one of {', '.join(names)}, not {encoding!r}")
    return names.index(encoding)


def no_encoding(graph: Graph, sentence: int, fault: int) -> ScoresError:
    """Return the error for a sentence whose scores cannot be encoded."""
    if fault == BAD_SCORE:
        return bad_score(graph, sentence)
    matrix = np.array(matrix_of(graph, sentence))
    matrix[0] = matrix[:, 0] = 0  # a negative root score is allowed
    np.fill_diagonal(matrix, 0)
    h, d = map(int, np.argwhere((matrix < 0) & (matrix > -np.inf))[0])
    return ScoresError(
        f"{name_of(graph, sentence)}the edge {h} -> {d} has the score {matrix[h, d]}: "
        "encoding='product' is for scores that are not negative; encoding='mean' takes any score"
    )


@kernel
@takes("int64[::1], int64[::1], int64, out int64[::1]")
def orient_kernel(u: np.ndarray, v: np.ndarray, root: int, heads: np.ndarray) -> None:
    """Direct the edges {u[k], v[k]} of a forest away from `root`, breadth first. O(n + m).

    - u, v: (m,) int64
    - root: a node
    - heads: (n,) int64: written: the predecessor of each node in the search; -1 for the root and
      for nodes that the search does not reach
    """
    n = len(heads)
    # The neighbours of x stand from starts[x] to starts[x + 1].
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
    """Return whether the edges {u[k], v[k]} form no cycle. O(m log n).

    - u, v: (m,) int64
    - link: (n,) int64: disjoint sets, each node in its own set; changed in place
    """
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
        not connected to it. If `u` is a torch tensor, a tensor on the same device.

    Raises
    ------
    TreeError
        If a node is out of range, `u` and `v` differ in length, or the edges contain a cycle.
    OptionError
        If `nodes` or `root` is not a whole number, or there is no memory for n nodes.

    Notes
    -----
    Breadth-first search: Section 4.2 of Levi, Reichart and Rappoport (2016).

    Examples
    --------
    >>> orient(4, [0, 1, 3], [2, 2, 1])
    array([-1,  2,  0,  1])
    """
    n, root = check_count(nodes, "nodes", least=0), check_count(root, "root", least=0)
    if root >= n:
        raise TreeError(f"root is {root}, but there are {n} nodes, numbered from 0")
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
            raise TreeError(f"{name}[{k}] is {array[k]}, but nodes are 0 to {n - 1}")
        ends.append(whole)
    if len(ends[0]) != len(ends[1]):
        raise TreeError(
            f"u has {len(ends[0])} entries and v has {len(ends[1])}: each edge needs both"
        )
    try:
        heads, alone = np.empty(n, np.int64), np.arange(n)
    except (MemoryError, ValueError):  # ValueError: larger than the address space
        raise OptionError(f"nodes is {n}: there is no memory for an array of this size") from None
    if len(ends[0]) >= n or not forest_kernel(ends[0], ends[1], alone):
        raise TreeError("the edges form a cycle: only trees can be directed; see spanning_tree")
    orient_kernel(ends[0], ends[1], root, heads)
    return give_back(heads)
