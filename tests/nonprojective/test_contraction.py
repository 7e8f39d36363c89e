"""The error bounds of gains hold where many cycles lie in each other."""

from fractions import Fraction

import numpy as np
import pytest

import arborescence as arb
from arborescence.core.accumulator import SCALE
from arborescence.nonprojective import decode
from modes import UNCOMPILED


def staircase(rng, steps, far):
    """Each cycle is the last cycle and the next word; all roundings of far edges add up."""
    n, small = steps + far, 4e-14  # less than half of the unit in the last place of the far edges
    scores = -1000.0 - 10.0 * np.arange(n + 1) - rng.random((n + 1, n + 1))
    scores[0, steps + 1 :] = 0.0
    for word in range(1, steps):
        scores[word, word + 1] = small
        scores[word + 1, 1] = small * (1 - word)
    return scores


def exact_gain(scores, kicked, parent, head, word, node):
    """The gain of the edge head -> word into a node, without rounding."""
    gain = Fraction(float(scores[head, word]) * SCALE)
    while word != node:
        gain -= kicked[word]
        word = parent[word]
    return gain


@pytest.mark.skipif(not UNCOMPILED, reason="compiled kernels do not call the check")
def test_errors_of_gains_are_within_their_bounds(monkeypatch):
    contract, checked, kicked = decode.contract, [], {}

    def check(forest, scores, dependents_first, n, *cycle):
        node = contract(forest, scores, dependents_first, n, *cycle)
        matrix = scores.T if dependents_first else scores
        chosen, columns = forest.chosen, forest.columns
        slot, parent = columns.slot[node], forest.nest.parent
        for x in np.flatnonzero(parent[:node] == node):
            kicked[x] = exact_gain(matrix, kicked, parent, chosen.tail[x], chosen.into[x], x)
        for u in range(n + 1):
            gain, word = float(columns.gains[slot, u]), int(columns.entry[slot, u])
            if gain > -np.inf:
                exact = exact_gain(matrix, kicked, parent, u, word, node)
                off = Fraction(float(chosen.bound[node]))
                off += Fraction(float(chosen.relative[node])) * abs(Fraction(gain))
                assert abs(Fraction(gain) - exact) <= off
        checked.append(node)
        return node

    monkeypatch.setattr(decode, "contract", check)
    arb.decode(staircase(np.random.default_rng(0), 20, 5), root="multi")
    assert len(checked) >= 15
