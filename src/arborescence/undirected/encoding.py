"""One score for each undirected pair of nodes: Levi, Reichart and Rappoport (2016), Section 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args, overload

import numpy as np

from arborescence.compiling.kernels import inlined_kernel, kernel, takes
from arborescence.core.choices import Encoding as Encoding
from arborescence.core.faults import BAD_SCORE, FINE, NEGATIVE, bad_score, name_of
from arborescence.core.graph import as_graph, in_float64, matrix_of
from arborescence.errors import OptionError, ScoresError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from arborescence.core.choices import Tensor, Tensors
    from arborescence.core.graph import Graph

MEAN, PRODUCT, MAX, MIN = range(4)

_LARGEST: Final = np.finfo(np.float64).max


@inlined_kernel
def combine(one: float, other: float, how: int) -> float:
    """Return the score of a pair: its two scores combined, or the only one that is present."""
    if how == MEAN:
        both = 0.5 * one + 0.5 * other
    elif how == PRODUCT:
        both = min(one * other, _LARGEST)
    elif how == MAX:
        both = max(one, other)
    else:
        both = min(one, other)
    both = other if one == -np.inf else both
    return one if other == -np.inf else both


@inlined_kernel
def combine_rows(
    scores: np.ndarray, first: int, n: int, how: int, out: np.ndarray
) -> tuple[int, int]:
    """Combine scores with the other direction's in `out`."""
    # return how many are bad, how many negative. If `how` is a constant, LLVM vectorizes the loop
    bad = 0
    negative = 0
    for i in range(1, n + 1):
        for start, stop in ((1, i), (i + 1, n + 1)):  # the diagonal is ignored
            row = scores[i, start:stop]
            pairs = out[i - first, start - first : stop - first]
            for k in range(stop - start):
                one = row[k]
                bad += 0 if one < np.inf else 1
                negative += 1 if (one < 0.0) & (one > -np.inf) else 0
                pairs[k] = combine(one, pairs[k], how)
    return bad, negative


@kernel
@takes("float64[:, ::1], int64, int64, int64, out float64[:, ::1]")
def encode_kernel(scores: np.ndarray, first: int, n: int, how: int, out: np.ndarray) -> int:
    """Encode the nodes from `first` to n: FINE, BAD_SCORE, or NEGATIVE for a product. O(n²)."""
    # scores: (N, N) float64: ``[h, d]``; column 0 and the diagonal are ignored, but every other
    # edge is checked
    # first: 0, or 1 to leave the root out
    # n: the number of words
    # how: `MEAN`, `PRODUCT`, `MAX` or `MIN`
    # out: (n + 1 - first, n + 1 - first) float64: written: a symmetric matrix with -inf on the
    # diagonal
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
        (For log-probabilities, the mean does what the product does for probabilities.)

    Returns
    -------
    weights : (..., N, N) float64
        Symmetric, with -inf on the diagonal. A torch tensor, on the same device, if `scores` is
        one.

    Raises
    ------
    ScoresError
        If a score is NaN or +inf, or the shape or type is invalid; or if a score is negative and
        ``encoding="product"``.
    OptionError
        If the encoding is none of those above.

    Notes
    -----
    Section 3.1 of Levi, Reichart and Rappoport (2016), who do not describe pairs with only one
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
    how = number_of(encoding)
    graph = as_graph(scores)
    batch, size, _ = graph.scores.shape
    weights: NDArray[np.float64] = np.empty((batch, size, size))
    for part, matrices, _ in in_float64(graph, 0, batch):
        for sentence, matrix in enumerate(matrices, part.start):
            fault = encode_kernel(matrix, 0, size - 1, how, weights[sentence])
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
        "encoding='product' is for scores that are not negative; encoding='mean' takes any"
    )
