"""What *undirected* says of minimum spanning trees, on small graphs."""

from itertools import combinations, pairwise

import numpy as np
import pytest

import arborescence as arb
from arborescence.undirected import spanning_tree

ALGORITHMS = ("boruvka", "kruskal", "prim", "kkt")


def random_graph(rng, n):
    """A connected graph of few edges, all of different weights."""
    pairs = np.array(list(combinations(range(n), 2)))
    path = pairs[:, 1] == pairs[:, 0] + 1
    u, v = pairs[path | (rng.random(len(pairs)) < 0.5)].T
    return u, v, rng.permutation(len(u)).astype(float)


def is_connected(n, edges):
    reached = {0}
    for _ in range(n):
        reached |= {x for edge in edges if reached & set(edge) for x in edge}
    return len(reached) == n


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_cut_and_the_cycle_property(algorithm):
    rng, n = np.random.default_rng(0), 6
    for _ in range(12):
        u, v, weight = random_graph(rng, n)
        tree = set(spanning_tree(n, u, v, weight, algorithm=algorithm, minimum=True).tolist())
        # Cut: the lightest edge with one end in a set of nodes is in the tree.
        for size in range(1, n):
            for some in map(set, combinations(range(n), size)):
                crossing = [k for k in range(len(u)) if (u[k] in some) != (v[k] in some)]
                assert min(crossing, key=weight.__getitem__) in tree
        # Cycle: an edge that is not in the tree is the heaviest of the cycle that it closes.
        for k in set(range(len(u))) - tree:
            for other in tree:
                left = [(u[e], v[e]) for e in {*tree, k} - {other}]
                if is_connected(n, left):  # the other edge is on the cycle
                    assert weight[other] < weight[k]


def test_a_boruvka_step_at_least_halves_the_nodes():
    rng = np.random.default_rng(1)
    for n in (11, 20, 30):
        steps = arb.explain(rng.normal(size=(n + 1, n + 1)), "undirected")
        # One root edge: the words are spanned, and then one of them hangs from the root.
        counts = [n, *(len(step.nodes) for step in steps if step.kind == "boruvka")]
        assert len(counts) > 2
        assert all(2 * after <= before for before, after in pairwise(counts))


def test_a_boruvka_step_chooses_at_least_half_as_many_edges_as_nodes():
    """The work bounds them from above by the half. An edge is chosen by two nodes at most."""
    rng = np.random.default_rng(2)
    more = 0
    for _ in range(200):
        n = int(rng.integers(3, 12))
        u, v, weight = random_graph(rng, n)
        lightest = {
            min((k for k in range(len(u)) if x in (u[k], v[k])), key=weight.__getitem__)
            for x in range(n)
        }
        assert 2 * len(lightest) >= n
        more += 2 * len(lightest) > n
    assert more > 100
