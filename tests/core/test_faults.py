"""Messages that say why a head vector is no tree of a graph."""

import numpy as np
import pytest

import arborescence as arb


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([-1, 2, 0, 7], "the head of word 3 is 7, not 0 to 3;"),
        ([-1, 2, 0, -1], "the head of word 3 is -1, not 0 to 3; if that is padding"),
        ([-1, 0, 3, 2], "the root does not reach words 2, 3;"),
        ([-1, 0, 0, 2], "the root is the head of words 1, 2; root='multi'"),
        ([-1, 2, 0, 1], "the edge 1 -> 3 is absent"),
    ],
)
def test_why_heads_are_no_tree(heads, message):
    scores = np.zeros((4, 4))
    scores[1, 3] = -np.inf
    with pytest.raises(arb.TreeError, match=message):
        arb.TreeDistribution(scores).log_prob(heads)


def test_edges_that_cross():
    distribution = arb.TreeDistribution(np.zeros((5, 5)), projective=True)
    with pytest.raises(arb.TreeError, match="the edges 4 -> 2 and 3 -> 1 cross"):
        distribution.log_prob([-1, 3, 4, 0, 3])
