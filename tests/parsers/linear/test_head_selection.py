"""Head selection; what it has in common with the log-linear model is tested with that."""

import math

import numpy as np
import pytest

from arborescence.parsers import LinearParser
from arborescence.parsers.linear.head_selection import head_probabilities
from samples import treebank, unparsed

BITS = 13


def log_likelihood(scores, heads):
    """Of the heads of all words, each chosen by itself: written out."""
    total = 0.0
    for d in range(1, len(heads)):
        rivals = [scores[h, d] for h in range(len(heads)) if h != d]
        total += scores[heads[d], d] - math.log(sum(math.exp(rival) for rival in rivals))
    return total


def test_the_gradient_is_gold_minus_the_probabilities():
    rng = np.random.default_rng(1)
    for n in (1, 2, 5):
        scores = rng.normal(size=(n + 1, n + 1))
        heads = np.array([-1, *((d + rng.integers(1, n + 1)) % (n + 1) for d in range(1, n + 1))])
        gradient = -head_probabilities(scores)
        gradient[heads[1:], np.arange(1, n + 1)] += 1
        expected = np.zeros_like(scores)
        for edge in np.ndindex(scores.shape):
            step = np.zeros_like(scores)
            step[edge] = 1e-5
            rise = log_likelihood(scores + step, heads) - log_likelihood(scores - step, heads)
            expected[edge] = rise / 2e-5
        np.testing.assert_allclose(gradient, expected, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_any_size_and_whatever_is_ignored(dtype):
    scores = np.array([[np.nan, 1e38, -1e38], [np.inf, np.nan, -1e38], [0, 1e38, np.inf]], dtype)
    before = scores.copy()
    np.testing.assert_array_equal(
        head_probabilities(scores), [[0, 0.5, 0.5], [0, 0, 0.5], [0, 0.5, 0]]
    )
    np.testing.assert_array_equal(scores, before)


def test_learning_takes_no_notice_of_root():
    def train(root):
        return LinearParser.train(
            treebank(), epochs=3, bits=BITS, algorithm="head-selection", root=root
        )

    single, multi = train("single"), train("multi")
    for sentence in treebank():
        np.testing.assert_array_equal(single.scores(sentence), multi.scores(sentence))


def test_what_such_a_parser_can_do():
    parser = LinearParser.train(
        treebank(), dev=treebank(), epochs=9, bits=BITS, algorithm="head-selection"
    )
    question = unparsed(treebank()[2])
    [(best, second)] = parser.kbest([question], 2)
    assert best[0] > second[0]
    [sure] = parser.parse([question], confidence=True)
    assert all(misc.startswith("EdgeProb=") for misc in sure.misc)
    assert parser.info["algorithm"] == "head-selection"
