"""The example of Zmigrod, Vieira and Cotterell (2021): the trees of their Figs. 6 and 8."""

from itertools import islice

import numpy as np
import pytest

import arborescence as arb

EDGES = [
    (0, 1, 90), (0, 2, 40), (1, 3, 10), (2, 3, 30), (2, 4, 60), (3, 2, 50), (4, 3, 70), (4, 1, 20),
]  # fmt: skip

# Weights and head vectors, in order; these weights are all different.
WITHOUT_CONSTRAINT = [
    (260, [-1, 0, 0, 4, 2]),
    (220, [-1, 0, 0, 2, 2]),
    (210, [-1, 0, 3, 1, 2]),
    (200, [-1, 0, 0, 1, 2]),
    (190, [-1, 4, 0, 4, 2]),
    (150, [-1, 4, 0, 2, 2]),
    (130, [-1, 4, 0, 1, 2]),
]
WITH_CONSTRAINT = [tree for tree in WITHOUT_CONSTRAINT if tree[1].count(0) == 1]

roots = pytest.mark.parametrize(
    ("root", "expected"), [("multi", WITHOUT_CONSTRAINT), ("single", WITH_CONSTRAINT)]
)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def scores(request):
    scores = np.full((5, 5), -np.inf, request.param)
    for h, d, weight in EDGES:
        scores[h, d] = weight
    return scores


def test_the_weights_that_the_paper_prints():
    assert [weight for weight, _ in WITHOUT_CONSTRAINT] == [260, 220, 210, 200, 190, 150, 130]
    assert [weight for weight, _ in WITH_CONSTRAINT] == [210, 190, 150, 130]


@roots
def test_trees(scores, root, expected):
    found = [(weight, heads.tolist()) for heads, weight in arb.trees(scores, root=root)]
    assert found == expected
    drawn = islice(arb.trees(scores, root=root), 2)
    assert [(weight, heads.tolist()) for heads, weight in drawn] == expected[:2]


@roots
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 8, 100])
def test_kbest(scores, root, expected, k):
    heads, weights, _ = arb.kbest(scores, k, root=root)
    assert list(zip(weights.tolist(), heads.tolist(), strict=True)) == expected[:k]


@roots
def test_kbest_with_one_label_for_each_edge(scores, root, expected):
    """The same trees, if each edge has a label of its own."""
    labeled = np.full((5, 5, len(EDGES)), -np.inf)
    for label, (h, d, weight) in enumerate(EDGES):
        labeled[h, d, label] = weight
    heads, labels, weights, _ = arb.kbest_labeled(labeled, 100, root=root)
    assert list(zip(weights.tolist(), heads.tolist(), strict=True)) == expected
    for tree, of_tree in zip(heads, labels, strict=True):
        assert [EDGES[label][:2] for label in of_tree[1:]] == list(
            zip(tree[1:], range(1, 5), strict=True)
        )
