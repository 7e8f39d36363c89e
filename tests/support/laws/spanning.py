"""Spanning trees of undirected graphs: each algorithm against sorting.

A graph is n nodes, and lists of the ends and the weights of its edges.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from arborescence.errors import TreeError
from arborescence.undirected import orient, spanning_tree
from forests import Forest, by_sorting

#: The most nodes that there may be, and between two that have edges.
MOST = 2**31 - 1
FAR = 5 * 10**7


ALGORITHMS = ("auto", "boruvka", "kruskal", "prim", "kkt")


def edges(n, u, v, weight):
    """Each algorithm finds the best tree, the minimum one, and that of few nodes among many."""
    right = by_sorting(n, u, v, weight)
    ends = [np.array(x, np.int64) for x in (u, v)]
    for algorithm in ALGORITHMS:
        found = spanning_tree(n, *ends, np.array(weight, float), algorithm=algorithm)
        assert found.dtype == np.int64
        assert found.tolist() == right, ("not the best tree", algorithm, n, u, v, weight)
        found = spanning_tree(n, *ends, -np.array(weight, float), algorithm=algorithm, minimum=True)
        assert found.tolist() == right, ("not the minimum tree", algorithm, n, u, v, weight)
        far = [np.repeat(each * FAR, 2)[::2] for each in ends]  # not contiguous
        found = spanning_tree(MOST, *far, np.array(weight, ">f8"), algorithm=algorithm)
        assert found.tolist() == right, ("not the best tree of few nodes", algorithm)


def matrix(n, u, v, weight):
    """Each algorithm finds the best tree of a matrix, dense or sparse."""
    dense = np.full((n, n), -np.inf)
    for a, b, w in zip(u, v, weight, strict=True):
        dense[a, b] = dense[b, a] = max(dense[a, b], w)
    above, right_of = np.triu_indices(n, 1)
    chosen = by_sorting(n, above.tolist(), right_of.tolist(), dense[above, right_of].tolist())
    right = [[int(above[k]), int(right_of[k])] for k in chosen]
    for algorithm in ALGORITHMS:
        assert spanning_tree(dense, algorithm=algorithm).tolist() == right, algorithm
    present = dense[above, right_of] > -np.inf
    stored = scipy.sparse.coo_array(
        (dense[above, right_of][present], (above[present], right_of[present])), shape=(n, n)
    )
    assert spanning_tree(stored).tolist() == right, "not the best tree of a sparse matrix"


def direction(n, u, v, weight):
    """Trees can be directed, and what is no tree is refused."""
    chosen = by_sorting(n, u, v, weight)
    tree = [u[k] for k in chosen], [v[k] for k in chosen]
    root = len(u) % n
    heads = orient(n, *tree, root)
    pairs = {frozenset(pair) for pair in zip(*tree, strict=True)}
    for node, head in enumerate(heads.tolist()):
        assert head < 0 or frozenset((node, head)) in pairs, "an edge that is not there"
    forest = Forest(n)
    for pair in zip(*tree, strict=True):
        forest.joins(*pair)
    reached = [node for node in range(n) if forest.part[node] == forest.part[root]]
    assert np.flatnonzero(heads >= 0).tolist() == [node for node in reached if node != root]
    if len(chosen) < len(u):
        # All edges together, of which some close a cycle or are loops.
        forest = Forest(n)
        if not all(forest.joins(*pair) for pair in zip(u, v, strict=True)):
            try:
                orient(n, u, v, root)
            except TreeError:
                return
            raise AssertionError("no TreeError for a cycle")
