"""Trees with a direction against the same, edge by edge."""

import numpy as np
import pytest

from arborescence.errors import OptionError, TreeError
from arborescence.undirected import orient


def slow_orient(n, u, v, root):
    heads = [-1] * n
    edges = list(zip(u, v, strict=True))
    reached = {root}
    while grown := {(a, b) for e in edges for a, b in (e, e[::-1]) if a in reached} - {
        (a, b) for a in reached for b in reached
    }:
        for a, b in grown:
            heads[b] = a
            reached.add(b)
    return heads


def random_forest(rng, n, keep):
    """Edges of a random tree, in any order and direction, each of them kept or not."""
    names = rng.permutation(n)
    parents = [rng.integers(0, k) for k in range(1, n)]
    edges = np.stack([names[1:], names[np.array(parents, np.int64)]], axis=1)
    edges = rng.permutation(rng.permuted(edges[rng.random(n - 1) < keep], axis=1))
    return edges[:, 0], edges[:, 1]


def test_every_edge_points_away_from_the_root():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 12):
        for keep in (1.0, 0.7):
            for _ in range(20):
                u, v = random_forest(rng, n, keep)
                root = int(rng.integers(n))
                heads = orient(n, u, v, root)
                assert heads.dtype == np.int64
                assert heads.tolist() == slow_orient(n, u.tolist(), v.tolist(), root)
                assert (heads < 0).sum() == 1 or keep < 1


def test_a_long_path():
    n = 100_000
    heads = orient(n, range(n - 1), range(1, n), root=n - 1)
    assert (heads == [*range(1, n), -1]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [0, 1, 2], [1, 2, 0]), "the edges form a cycle"),
        ((3, [0, 0], [1, 1]), "the edges form a cycle"),
        ((3, [0, 1], [1, 1]), "the edges form a cycle"),
        ((4, [1, 2, 3], [2, 3, 1]), "the edges form a cycle"),  # where the root does not come
        ((5, [0, 2, 3], [1, 3, 2]), "the edges form a cycle"),
        ((3, [0, 1], [1, 3]), r"v\[1\] is 3, but nodes are 0 to 2"),
        ((3, [-1], [1]), r"u\[0\] is -1, but nodes are 0 to 2"),
        ((3, [0], [1, 2]), "u has 1 entries and v has 2"),
        ((3, [0.5], [1]), "u must be a row of whole numbers"),
        ((3, [0], [1], 3), "root is 3, but there are 3 nodes"),
        ((0, [], []), "root is 0, but there are 0 nodes"),
    ],
)
def test_what_is_no_tree(arguments, message):
    with pytest.raises(TreeError, match=message):
        orient(*arguments)


@pytest.mark.parametrize("n", [10**14, 10**30])
def test_more_nodes_than_memory_holds(n):
    with pytest.raises(OptionError, match=f"nodes is {n}: there is no memory"):
        orient(n, [], [])
