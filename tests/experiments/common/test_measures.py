"""What is counted when trees are compared, on trees made by hand and at random."""

from __future__ import annotations

import numpy as np
import pytest

from arborescence.experiments.common.measures import Counts, oracle_uas, wins
from arborescence.treebank import Sentence, evaluate
from brute_force import all_trees


def sentence(heads, relations):
    return Sentence.from_words(["word"] * len(heads), heads=[-1, *heads], deprels=relations.split())


GOLD = [
    sentence([2, 0, 2, 3, 2], "nsubj root obj nmod punct"),
    sentence([0, 1], "root obj"),
    sentence([0], "punct:odd"),
]


def test_gold_itself():
    counts = Counts.of(GOLD, [gold.heads for gold in GOLD])
    assert counts.words.tolist() == counts.directed.tolist() == [4, 2, 0]
    assert counts.undirected.tolist() == [4, 2, 0]
    assert (counts.uas, counts.undirected_uas, counts.right_roots) == (100, 100, 100)


def test_turned_edges():
    # 1: root in place of 2; 3 -> 4 turned, so that 3 hangs from 4 and 4 from 2; the point is wrong.
    trees = [[-1, 0, 1, 4, 2, 3], [-1, 2, 0], [-1, 0]]
    counts = Counts.of(GOLD, trees)
    assert counts.directed.tolist() == [0, 0, 0]
    # 1-2 is there (turned), and 3-4 (turned); the edge from the root is another, and 2-3 is not.
    assert counts.undirected.tolist() == [2, 1, 0]
    assert counts.roots.tolist() == [False, False, True]
    assert counts.undirected_uas == 50


def test_no_words():
    counts = Counts.of(GOLD[2:], [[-1, 0]])
    assert counts.uas == oracle_uas(counts, counts) == 0


def test_wins_and_the_oracle():
    ours = Counts.of(GOLD, [[-1, 2, 0, 2, 2, 2], [-1, 2, 0], [-1, 0]])
    theirs = Counts.of(GOLD, [[-1, 2, 0, 4, 2, 2], [-1, 0, 1], [-1, 0]])
    assert ours.directed.tolist() == [3, 0, 0]
    assert theirs.directed.tolist() == [2, 2, 0]
    assert wins(ours, theirs) == wins(theirs, ours) == pytest.approx(100 / 3)
    assert wins(ours, ours) == 0
    assert oracle_uas(ours, theirs) == pytest.approx(100 * 5 / 6)


def test_directed_uas_is_that_of_evaluate():
    trees = all_trees(4, True)
    generator = np.random.default_rng(3)
    gold = [
        sentence(trees[i][1:], " ".join(relations))
        for i, relations in zip(
            generator.integers(len(trees), size=50),
            generator.choice(["obj", "punct", "nmod:poss"], (50, 4)),
            strict=True,
        )
    ]
    found = [trees[i] for i in generator.integers(len(trees), size=50)]
    parsed = [one.replace(heads=tree) for one, tree in zip(gold, found, strict=True)]
    counts = Counts.of(gold, found)
    assert counts.uas == pytest.approx(100 * evaluate(gold, parsed, punctuation=False).uas.f1)
    assert 0 < counts.uas < counts.undirected_uas < 100


def test_undirected_edges_by_sets():
    """The obvious way: an edge is a set of two nodes."""
    trees = all_trees(4, True)
    generator = np.random.default_rng(4)
    for _ in range(200):
        heads, found = (trees[i] for i in generator.integers(len(trees), size=2))
        relations = generator.choice(["obj", "punct"], 4).tolist()
        edges = {frozenset((d, int(found[d]))) for d in range(1, 5)}
        right = [
            frozenset((d, int(heads[d]))) in edges
            for d, relation in enumerate(relations, 1)
            if relation != "punct"
        ]
        counts = Counts.of([sentence(heads[1:], " ".join(relations))], [found])
        assert (counts.words.item(), counts.undirected.item()) == (len(right), sum(right))
