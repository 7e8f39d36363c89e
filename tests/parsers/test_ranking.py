"""What to annotate next."""

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers.ranking import rank
from brute_force import all_trees
from samples import treebank
from small_parsers import small_parser


def bare():
    return [sentence.replace(heads=None, deprels=None) for sentence in treebank()]


def chances_of(parser, sentence):
    """All trees, and the log-probability of each."""
    trees = all_trees(len(sentence), True, parser.projective)
    scores = parser.scores(sentence).astype(np.float64) / parser.temperature
    weights = np.array([arb.tree_weight(scores, tree) for tree in trees])
    return trees, weights - np.logaddexp.reduce(weights)


@pytest.mark.parametrize("by", ["loss", "entropy", "margin", "disagreement"])
@pytest.mark.parametrize("kind", ["tree", "biaffine"])
def test_sentences(kind, by):
    parser = small_parser(kind)
    sentences = [sentence for sentence in bare() if 1 < len(sentence) <= 5]
    found = rank(parser, sentences, by=by)
    assert [each.value for each in found] == sorted((e.value for e in found), reverse=True)
    for each in found:
        trees, logs = chances_of(parser, each.sentence)
        order = np.argsort(-logs)
        if by == "entropy":
            expected = -(np.exp(logs) * logs).sum() / len(each.sentence)
        elif by == "margin":
            expected = 1 / (1 + logs[order[0]] - logs[order[1]])
        elif by == "disagreement":
            few = trees[order[:10], 1:]
            expected = (few != few[0]).mean()
        else:
            same = trees[:, 1:] == trees[order[0], 1:]
            expected = 1 - (np.exp(logs)[:, None] * same).sum(axis=0).mean()
        assert each.value == pytest.approx(expected, abs=1e-4)


def test_words_with_both_readings():
    parser = small_parser("biaffine")
    sentence = next(sentence for sentence in bare() if len(sentence) == 4)
    trees, logs = chances_of(parser, sentence)
    found = rank(parser, [sentence], words=True)
    assert sorted(each.word for each in found) == [1, 2, 3, 4]
    for each in found:
        shares = [np.exp(logs)[trees[:, each.word] == head].sum() for head in range(5)]
        order = np.argsort(shares)[::-1]
        assert (each.head, each.other) == tuple(order[:2])
        assert each.shares == pytest.approx(tuple(np.take(shares, order[:2])), abs=1e-4)
        assert each.value == pytest.approx(1 - max(shares), abs=1e-4)


def test_given_heads_are_sure():
    parser = small_parser("biaffine")
    sentence = next(sentence for sentence in bare() if len(sentence) == 4)
    given = sentence.replace(heads=[-1, 2, -1, -1, -1])
    assert 1 not in [each.word for each in rank(parser, [given], words=True)]
    cycle = sentence.replace(heads=[-1, 2, 1, -1, -1])
    with pytest.raises(arb.TreebankError, match="cycle"):
        rank(parser, [cycle])


def test_the_budget_and_what_is_refused():
    parser, sentences = small_parser("tree"), bare()
    everything = rank(parser, sentences)
    some = rank(parser, sentences, budget=8)
    assert some == everything[: len(some)]
    assert sum(len(each.sentence) for each in some[:-1]) < 8
    assert sum(len(each.sentence) for each in some) >= 8
    with pytest.raises(arb.ModelError, match="only graph-based parsers"):
        rank(small_parser("greedy"), sentences)
    with pytest.raises(arb.OptionError, match="by must be"):
        rank(parser, sentences, by="age")
