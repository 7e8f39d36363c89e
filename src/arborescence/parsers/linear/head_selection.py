"""Head selection: each word chooses its head by itself (Zhang, Cheng and Lapata 2017).

The probability of a head is the softmax of the scores of all edges into the word, whatever heads
the other words have. Neural parsers learn that way as well (Dozat and Manning 2017). It takes
O(n²) a sentence, where marginals of trees take O(n³). Training knows nothing of trees, so it is up
to the decoder that the heads make one, and that it has one root edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def head_probabilities(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the probability of each head of each word, chosen without regard to other words.

    Parameters
    ----------
    scores : (n + 1, n + 1)
        Of edges, finite; column 0 and the diagonal are ignored.

    Returns
    -------
    probabilities : (n + 1, n + 1) float64
        Columns add up to 1, but for column 0; that and the diagonal are 0.

    Notes
    -----
    O(n²). Zhang, Cheng and Lapata 2017, Section 3.

    Examples
    --------
    >>> scores = np.log([[1, 3, 2], [1, 1, 2], [1, 1, 1]])
    >>> head_probabilities(scores)
    array([[0.  , 0.75, 0.5 ],
           [0.  , 0.  , 0.5 ],
           [0.  , 0.25, 0.  ]])
    """
    probabilities = scores.astype(np.float64)
    probabilities[:, 0] = 0.0
    np.fill_diagonal(probabilities, -np.inf)
    probabilities -= probabilities.max(axis=0)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=0)
    probabilities[:, 0] = 0.0
    return probabilities
