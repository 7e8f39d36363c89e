"""Undirected inference for linear parsers: calls into `arborescence.undirected`.

Imports are local: only parsers with undirected inference need that package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from arborescence.core.choices import Root


def find_trees(scores: NDArray[np.float32], root: Root, rounds: int | None) -> NDArray[np.int64]:
    """Find trees through undirected spanning trees: (..., n + 1) from (..., n + 1, n + 1)."""
    from arborescence.undirected import decode

    trees: NDArray[np.int64] = decode(scores, root=root, rounds=rounds)
    return trees


def find_listed(*edges: Any, root: Root, rounds: int | None) -> NDArray[np.int64]:
    """Find a tree through an undirected spanning tree of a list of edges, in edge-linear time."""
    from arborescence.undirected import decode_sparse

    tree: NDArray[np.int64] = decode_sparse(*edges, root=root, rounds=rounds)
    return tree


def enhanced(
    scores: NDArray[np.float32], trees: NDArray[np.int64], rounds: int | None
) -> NDArray[np.int64]:
    """Improve trees by local enhancement with scores of directed edges."""
    from arborescence.undirected import enhance

    better: NDArray[np.int64] = enhance(scores, trees, rounds)
    return better
