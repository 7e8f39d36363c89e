"""Searches that are stopped at every point: a tree and a true bound, or the error that says so."""

from itertools import count
from math import fsum

import numpy as np
import pytest

import arborescence as arb
import arborescence.inference.branching as module
from arborescence.inference.branching import Search
from arborescence.inference.parts import Lazy
from arborescence.rules import Alternative, Edges
from brute_force import whole_numbers
from modes import FEW, UNCOMPILED
from random_rules import allowed_trees, labeled_graphs, random_rules

#: After which call a search is stopped: after each, later after some.
CALLS = [*range(1, 60, 5 if UNCOMPILED else 1), *([] if FEW or UNCOMPILED else range(60, 300, 12))]


def stopping(calls):
    """A budget that is over at the call of this number."""
    asked = count(1)
    return arb.Budget(stop=lambda: next(asked) >= calls)


@pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")
@pytest.mark.parametrize("patience", [12, 0], ids=["branching", "with multipliers"])
def test_stopped_after_every_number_of_calls(patience, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", patience)
    monkeypatch.setattr(module, "_MANY", 8 if patience else 2)
    monkeypatch.setattr(module, "_REPAIRS", (16,) if patience else (1, 2))
    seen = set()
    for number, (scores, rng) in enumerate(labeled_graphs("normal-64", 4, seed=9)):
        conflicts = random_rules(rng, len(scores) - 1, scores.shape[-1])
        root, projective = ("single", "multi")[number % 2], bool(number // 2 % 2)
        trees = allowed_trees(scores, conflicts, root == "single", projective)
        words = np.arange(1, len(scores))
        best, heads, labels = next(trees, (None, None, None))
        options = {"root": root, "projective": projective}
        lazy = Lazy(scores.max(axis=-1), scores.shape[-1], lambda h, d, s=scores: s[h, d])
        proved = False  # that there is none
        for k, given in ((1, scores), (2, scores), (1, lazy)):
            for calls in CALLS:
                search = Search(given, conflicts, None, options, stopping(calls))
                try:
                    found, *_ = search.run(k, by_heads=False)
                except arb.StoppedError:
                    seen.add(arb.StoppedError)
                    continue
                except arb.NoTreeError:
                    proved = True
                    break
                assert not proved
                edges = found.heads[1:], words, found.labels[1:]
                weight = whole_numbers(scores)[edges].sum()
                assert not conflicts(found.heads, found.labels)
                assert weight <= best
                assert found.weight <= found.bound
                assert found.bound >= fsum(scores[heads[1:], words, labels[1:]])
                assert (weight == best) or not found.certified
                seen.add(found.certified)
                if found.certified and k == 1:
                    break
        assert not proved or best is None
    assert seen >= {True, arb.StoppedError}


def test_work_ends_a_search_and_more_of_it_ends_in_the_proof():
    scores = np.random.default_rng(1).normal(size=(9, 9))

    def conflicts(heads):
        children = np.bincount(heads[1:], minlength=9)
        many = [h for h in range(1, 9) if children[h] > 2]
        return [
            [Alternative(forbid=[Edges(h, d)]) for d in np.flatnonzero(heads == h)[:3]]
            for h in many
        ]

    found = arb.decode_constrained(scores, conflicts)
    assert found.certified
    budget = arb.Budget(2e4 * (found.nodes + 1))
    again = arb.decode_constrained(scores, conflicts, budget=budget)
    assert again.certified
    assert budget.spent < budget.work

    # Trees that are proved when the last work is spent are certified.
    whole = arb.Budget(1e9)
    assert len(arb.kbest_constrained(scores, conflicts, 3, budget=whole)) == 3
    ending = arb.Budget(whole.spent)
    found = arb.kbest_constrained(scores, conflicts, 3, budget=ending)
    assert ending.over
    assert [each.certified for each in found] == [True] * 3
