"""A function with the interface of `ufal.chu_liu_edmonds`, which UDPipe 2 and others call."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from arborescence.core.conversion import as_array, as_floats
from arborescence.errors import ScoresError
from arborescence.inference.decode import decode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from arborescence.core.choices import Root


def chu_liu_edmonds(score_matrix: ArrayLike, root: Root = "multi") -> tuple[list[int], float]:
    """Return the best tree and its weight, with the interface of the function in ``ufal``.

    Parameters
    ----------
    score_matrix : (N, N) array
        ``score_matrix[d, h]`` is the weight of the edge h -> d; NaN or ``-inf`` forbids the edge.
        Row 0 and the diagonal are ignored. Any type of floats, not only float64.
    root : {"multi", "single"}
        One root edge or more, as in ``ufal``; or exactly one root edge, which ``ufal`` does not
        offer.

    Returns
    -------
    heads : list of int
        ``heads[d]`` is the head of word d; -1 for the root.
    weight : float
        The exact sum of the edges' weights, rounded once.

    Raises
    ------
    NoTreeError
        If the allowed edges have no tree. The function in ``ufal`` then returns heads that are not
        a tree, and the weight ``-inf``.
    ScoresError
        If the scores are not a square matrix of numbers, or a score is +inf.

    Examples
    --------
    >>> import numpy as np
    >>> from arborescence.integrations.ufal import chu_liu_edmonds
    >>> scores = np.array([[0.0, 0.0, 0.0], [9.0, np.nan, 1.0], [8.0, 3.0, np.nan]])
    >>> chu_liu_edmonds(scores)
    ([-1, 0, 0], 17.0)
    >>> chu_liu_edmonds(scores, root="single")
    ([-1, 0, 1], 12.0)
    """
    array, _ = as_array(score_matrix)
    if array.shape == (0, 0):
        return [], 0.0
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ScoresError(f"scores must be one (N, N) matrix, not of shape {array.shape}")
    scores = as_floats(array)
    scores[np.isnan(scores)] = -np.inf
    heads = decode(scores.T, root=root)
    weight = fsum(scores[np.arange(1, len(scores)), heads[1:]].tolist())
    return heads.tolist(), weight
