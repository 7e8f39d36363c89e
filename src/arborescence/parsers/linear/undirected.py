"""Trees by way of undirected ones: all that linear parsers need of `arborescence.undirected`.

Only parsers with undirected inference come here, so that the others work without that folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from arborescence.core.choices import Root


def find_trees(scores: NDArray[np.float32], root: Root, rounds: int | None) -> NDArray[np.int64]:
    """Find trees by way of the best undirected ones: (..., n + 1) for (..., n + 1, n + 1)."""
    from arborescence.undirected import decode

    trees: NDArray[np.int64] = decode(scores, root=root, rounds=rounds)
    return trees


def enhanced(
    scores: NDArray[np.float32], trees: NDArray[np.int64], rounds: int | None
) -> NDArray[np.int64]:
    """Enhance trees by scores of directed edges."""
    from arborescence.undirected import enhance

    better: NDArray[np.int64] = enhance(scores, trees, rounds)
    return better
