"""Spanning trees of undirected graphs: the algorithms against sorting, and each other."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from arborescence.errors import TreeError
from arborescence.undirected import orient, spanning_tree
from cases import Case, WrongError, examine
from forests import Forest, by_sorting
from sparse_graphs import WEIGHTS

#: The most nodes that there may be, and between two that have edges.
MOST = 2**31 - 1
FAR = 5 * 10**7


def attack(rng):
    for _ in range(10):
        n = int(rng.choice([1, 2, 3, 5, 10, 40]))
        m = int(rng.integers(0, 4 * n + 1))
        weight = WEIGHTS[str(rng.choice([*WEIGHTS]))](rng, m).astype(np.float64)
        weight[rng.random(m) < rng.choice([0, 0.3])] = -np.inf
        u, v = rng.integers(0, n, (2, m)).tolist()
        case = Case((), {"n": n, "u": u, "v": v, "weight": weight.tolist()})
        for check in (edges, matrix, direction):
            yield from examine(check, case)


def graph_of(case):
    return [case.options[name] for name in ("n", "u", "v", "weight")]


def edges(case):
    n, u, v, weight = graph_of(case)
    right = by_sorting(n, u, v, weight)
    ends = [np.array(x, np.int64) for x in (u, v)]
    for algorithm in ("auto", "boruvka", "kruskal", "prim", "kkt"):
        found = spanning_tree(n, *ends, np.array(weight, float), algorithm=algorithm)
        if found.tolist() != right:
            raise WrongError(f"not the best tree by {algorithm}", found.tolist(), right)
        found = spanning_tree(n, *ends, -np.array(weight, float), algorithm=algorithm, minimum=True)
        if found.tolist() != right:
            raise WrongError(f"not the minimum tree by {algorithm}", found.tolist(), right)
        far = [np.repeat(each * FAR, 2)[::2] for each in ends]  # not contiguous
        found = spanning_tree(MOST, *far, np.array(weight, ">f8"), algorithm=algorithm)
        if found.tolist() != right:
            raise WrongError(f"not the best tree of few nodes among many by {algorithm}")


def matrix(case):
    n, u, v, weight = graph_of(case)
    dense = np.full((n, n), -np.inf)
    for a, b, w in zip(u, v, weight, strict=True):
        dense[a, b] = dense[b, a] = max(dense[a, b], w)
    above, right_of = np.triu_indices(n, 1)
    chosen = by_sorting(n, above.tolist(), right_of.tolist(), dense[above, right_of].tolist())
    right = [[int(above[k]), int(right_of[k])] for k in chosen]
    for algorithm in ("auto", "boruvka", "kruskal", "prim", "kkt"):
        if spanning_tree(dense, algorithm=algorithm).tolist() != right:
            raise WrongError(f"not the best tree of a matrix by {algorithm}")
    present = dense[above, right_of] > -np.inf
    stored = scipy.sparse.coo_array(
        (dense[above, right_of][present], (above[present], right_of[present])), shape=(n, n)
    )
    if spanning_tree(stored).tolist() != right:
        raise WrongError("not the best tree of a sparse matrix")


def direction(case):
    """Trees can be directed, and what is no tree is refused."""
    n, u, v, weight = graph_of(case)
    chosen = by_sorting(n, u, v, weight)
    tree = [u[k] for k in chosen], [v[k] for k in chosen]
    root = len(u) % n
    heads = orient(n, *tree, root)
    pairs = {frozenset(pair) for pair in zip(*tree, strict=True)}
    for node, head in enumerate(heads.tolist()):
        if head >= 0 and frozenset((node, head)) not in pairs:
            raise WrongError("an edge that is not there", heads.tolist())
    forest = Forest(n)
    for pair in zip(*tree, strict=True):
        forest.joins(*pair)
    reached = [node for node in range(n) if forest.part[node] == forest.part[root]]
    if np.flatnonzero(heads >= 0).tolist() != [node for node in reached if node != root]:
        raise WrongError("not what the root reaches", heads.tolist())
    if len(chosen) < len(u):
        # All edges together, of which some close a cycle or are loops.
        forest = Forest(n)
        if not all(forest.joins(*pair) for pair in zip(u, v, strict=True)):
            try:
                orient(n, u, v, root)
            except TreeError:
                return
            raise WrongError("no TreeError for a cycle")
