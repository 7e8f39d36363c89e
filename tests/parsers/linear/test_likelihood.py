"""Losses by likelihood: of trees, and of the heads of single words."""

import math
from functools import partial

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers import LinearParser
from arborescence.parsers.linear.edges import (
    EdgeModel,
    EdgeTemplates,
    WeightLayout,
    move_edges,
    room_for,
)
from arborescence.parsers.linear.training import (
    LEAST,
    PRECISION,
    Ascent,
    head_probabilities,
)
from arborescence.parsers.shared.features import Batch, Sides, tags_of
from edge_features import list_weights
from samples import treebank, unparsed

BITS = 13
COLUMNS = ("form", "upos")


@pytest.fixture(scope="module")
def prepared():
    """Templates, layout, and for each sentence its batch, heads and the weights of each edge."""
    sides = []
    templates = EdgeTemplates.of(COLUMNS, sides)
    tags = tags_of(treebank())
    layout = WeightLayout(1 << 6, 1 << 8, len(tags) + 2)
    buffer = room_for(templates, 1)
    sentences = []
    for sentence in treebank():
        batch = Batch.of([sentence], Sides.of(sides), tags)
        edges = {}
        for h in range(len(sentence) + 1):
            for d in range(1, len(sentence) + 1):
                if h != d:
                    count = list_weights(batch, 0, templates, layout, h, d, buffer)
                    edges[h, d] = buffer[:count].copy()
        sentences.append((batch, sentence.tree, edges))
    return templates, layout, sentences


def scores_of(weights, edges, size):
    scores = np.zeros((size, size), dtype=np.float32)
    for (h, d), numbers in edges.items():
        scores[h, d] = weights[numbers].sum()
    return scores


def test_moves_reach_all_weights_of_an_edge(prepared):
    templates, layout, sentences = prepared
    rng = np.random.default_rng(4)
    for batch, heads, edges in sentences:
        moves = rng.normal(size=(len(heads), len(heads)))
        weights = rng.normal(size=layout.size).astype(np.float32)
        sums = np.zeros_like(weights)
        expected = weights.astype(np.float64)
        for edge, numbers in edges.items():
            if abs(moves[edge]) >= 0.5:
                np.add.at(expected, numbers, 0.25 * moves[edge])
        change = expected - weights
        model = EdgeModel(templates, layout, weights)
        move_edges(batch, model, sums, moves, 0.5, 0.25, 7.0)
        np.testing.assert_allclose(weights, expected, atol=1e-5)
        np.testing.assert_allclose(sums, 7 * change, atol=1e-4)


def marginals(**trees):
    return lambda scores: arb.TreeDistribution(scores, **trees).marginals()


@pytest.mark.parametrize(
    "expect",
    [
        marginals(root="single"),
        marginals(root="multi"),
        marginals(root="single", projective=True),
        marginals(root="multi", projective=True),
        head_probabilities,
    ],
)
def test_a_pass_is_gradient_ascent_with_a_prior_and_averages(prepared, expect):
    """Against the same, written densely: w += rate * (gradient - precision * w / sentences)."""
    templates, layout, sentences = prepared
    weights = np.zeros(layout.size, dtype=np.float32)
    model = EdgeModel(templates, layout, weights)
    sums = np.zeros_like(weights)
    dense = np.zeros(layout.size)
    total = np.zeros(layout.size)
    rate, clock = 0.05, 0
    for _ in range(3):
        ascent = Ascent(
            model,
            sums,
            clock,
            rate=rate,
            sentences=len(sentences),
            expect=expect,
            by_trees=expect is not head_probabilities,
        )
        factor = 1.0
        for batch, heads, edges in sentences:
            if not arb.is_projective(heads):
                heads = arb.projectivize(heads)
            clock += 1
            # The scores by the weights as they are kept: divided by the factor.
            ascent.step(batch, scores_of(weights, edges, len(heads)), heads)
            factor *= math.exp(-rate * PRECISION / len(sentences))
            dense *= math.exp(-rate * PRECISION / len(sentences))
            scores = scores_of(dense, edges, len(heads))
            gradient = -expect(scores)
            gradient[heads[1:], np.arange(1, len(heads))] += 1
            for edge, numbers in edges.items():
                if abs(gradient[edge]) >= LEAST:
                    np.add.at(dense, numbers, rate * gradient[edge])
            np.testing.assert_allclose(weights * factor, dense, atol=1e-4)
            total += dense
        ascent.finish(clock)
        np.testing.assert_allclose(weights, dense, atol=1e-4)
    average = weights - sums / clock
    assert np.abs(average - dense).max() > 0.01
    np.testing.assert_allclose(average, total / clock, atol=1e-4)


@pytest.mark.parametrize("loss", ["tree", "head"])
@pytest.mark.parametrize("projective", [False, "pseudo"])
def test_learns_a_small_treebank_by_heart(loss, projective):
    parser = LinearParser.train(treebank(), epochs=30, bits=BITS, loss=loss, projective=projective)
    assert list(parser.parse(map(unparsed, treebank()))) == treebank()


def test_the_gold_tree_becomes_likely():
    train = partial(LinearParser.train, bits=BITS)
    likely = [
        np.mean([arb.TreeDistribution(parser.scores(s)).log_prob(s.tree) for s in treebank()])
        for parser in (train(treebank(), projective=False, epochs=n, loss="tree") for n in (1, 3))
    ]
    assert likely[0] < likely[1]
    assert likely[1] > math.log(0.8)


@pytest.mark.parametrize("loss", ["tree", "head"])
def test_a_training_that_is_started_again(tmp_path, loss):
    def train(epochs, **options):
        return LinearParser.train(
            treebank(),
            dev=treebank()[2:],
            epochs=epochs,
            bits=BITS,
            loss=loss,
            **options,
        )

    path = tmp_path / "checkpoint"
    train(2, checkpoint=path)
    train(4, checkpoint=path).save(tmp_path / "resumed")
    train(4).save(tmp_path / "straight")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "straight").read_bytes()


@pytest.mark.parametrize("loss", ["tree", "head"])
def test_a_huge_rate_ends_in_numbers_all_the_same(loss):
    parser = LinearParser.train(treebank(), epochs=5, bits=BITS, loss=loss, rate=10.0, C=10.0)
    assert all(np.isfinite(parser.scores(sentence)).all() for sentence in treebank())


@pytest.mark.parametrize("loss", ["tree", "head"])
def test_settings_that_make_no_sense(loss):
    for wrong in ({"joint": True}, {"inference": "undirected"}):
        [name] = wrong
        with pytest.raises(ValueError, match=name):
            LinearParser.train(treebank(), loss=loss, **wrong)


def log_likelihood_of_heads(scores, heads):
    """Of the heads of all words, each chosen by itself: written out."""
    total = 0.0
    for d in range(1, len(heads)):
        rivals = [scores[h, d] for h in range(len(heads)) if h != d]
        total += scores[heads[d], d] - math.log(sum(math.exp(rival) for rival in rivals))
    return total


def test_the_gradient_of_heads_is_gold_minus_their_probabilities():
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
            rise = log_likelihood_of_heads(scores + step, heads) - log_likelihood_of_heads(
                scores - step, heads
            )
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


def test_head_selection_takes_no_notice_of_root():
    def train(root):
        return LinearParser.train(treebank(), epochs=3, bits=BITS, loss="head", root=root)

    single, multi = train("single"), train("multi")
    for sentence in treebank():
        np.testing.assert_array_equal(single.scores(sentence), multi.scores(sentence))


def test_what_a_parser_by_head_selection_can_do():
    parser = LinearParser.train(treebank(), dev=treebank(), epochs=9, bits=BITS, loss="head")
    question = unparsed(treebank()[2])
    [(best, second)] = parser.kbest([question], 2)
    assert best[1] > second[1]
    [sure] = parser.parse([question], confidence=True)
    assert all(misc.startswith("EdgeProb=") for misc in sure.misc)
    assert parser.info["loss"] == "head"
