"""Steps of MIRA against slow ones, by counted features."""

from collections import Counter

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers import LinearParser
from arborescence.parsers.linear import edges, joint, training
from arborescence.parsers.shared import features, relations
from edge_features import list_weights
from samples import treebank, unparsed

ALL = tuple(features.COLUMNS)


def prepared(bits):
    sides = []
    templates = edges.EdgeTemplates.of(ALL, sides)
    pairs = relations.RelationTemplates.of(ALL, sides, "dh")
    tags = features.tags_of(treebank())
    batch = features.Batch.of(treebank(), features.Sides.of(sides), tags)
    return batch, templates, pairs, edges.WeightLayout(1 << bits - 3, 1 << bits, len(tags) + 2)


def features_of(batch, b, templates, layout, heads):
    """Count how often each weight takes part in the score of a tree: the difference of two."""
    counts = np.zeros(layout.size)
    out = edges.room_for(templates, 1)
    for d in range(1, len(heads)):
        found = list_weights(batch, b, templates, layout, heads[d], d, out)
        np.add.at(counts, out[:found], 1)
    return counts


def scores_of(batch, b, templates, layout, weights):
    one = batch._replace(starts=batch.starts[b : b + 2])
    n = int(np.diff(one.starts)[0])
    scores = np.zeros((n, n), dtype=np.float32)
    sums = np.empty((2, n, edges.WIDE), np.float32)
    place = np.zeros(1, dtype=np.int64)
    model = edges.EdgeModel(templates, layout, weights)
    edges.score_edges(one, model, sums, scores.reshape(-1), place)
    return scores


@pytest.mark.parametrize("bits", [5, 12], ids=["collisions", "room"])
@pytest.mark.parametrize("limit", [0.002, 1000.0])
def test_an_update_is_that_of_counted_features(bits, limit):
    batch, templates, _, layout = prepared(bits)
    generator = np.random.default_rng(bits)
    for b, sentence in enumerate(treebank()):
        gold = sentence.tree
        weights = generator.normal(size=layout.size).astype(np.float32)
        sums = np.zeros_like(weights)
        costs = np.ones((len(gold),) * 2, dtype=np.float32)
        costs[gold[1:], np.arange(1, len(gold))] = 0
        scores = scores_of(batch, b, templates, layout, weights) + costs
        trees, of_trees, _ = arb.kbest(scores, 5)
        for tree, loss in zip(trees, of_trees - arb.tree_weight(scores, gold), strict=True):
            difference = features_of(batch, b, templates, layout, gold)
            difference -= features_of(batch, b, templates, layout, tree)
            now, then = weights.copy(), sums.copy()
            step = edges.update_edges(
                batch._replace(starts=batch.starts[b : b + 2]),
                edges.EdgeModel(templates, layout, now),
                then,
                gold,
                tree,
                loss,
                0.0,
                limit,
                3,
            )
            wanted = min(limit, max(loss, 0.0) / max(difference @ difference, 1.0))
            assert step == pytest.approx(wanted, abs=1e-6)
            assert np.allclose(now - weights, wanted * difference, atol=1e-5)
            assert np.allclose(then - sums, 3 * wanted * difference, atol=3e-5)
            if limit > 1 and difference.any():  # the tree no longer beats its margin
                after = scores_of(batch, b, templates, layout, now) + costs
                assert arb.tree_weight(after, gold) >= arb.tree_weight(after, tree) - 1e-3


def test_products_of_labelled_trees_are_those_of_counted_features():
    batch, _, templates, _ = prepared(10)
    sentence = treebank()[1]
    labels = sorted(set(sentence.deprels))
    gold = sentence.tree
    named = np.array([-1, *(labels.index(name) for name in sentence.deprels)])
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(1 << 8, len(labels))).astype(np.float32)
    trees, _, _ = arb.kbest(generator.normal(size=(len(gold),) * 2).astype(np.float32), 4)
    trees[3] = gold
    relations_of_trees = generator.integers(0, len(labels), size=trees.shape)
    relations_of_trees[2] = named
    relations_of_trees[3, 1:4] = named[1:4]
    one = batch._replace(starts=batch.starts[1:3])

    def counted(heads, names):
        counts = Counter()
        rows = np.empty(len(templates.roles), dtype=np.int64)
        for d in range(1, len(heads)):
            around = np.array([d, heads[d], -1, -1, -1, -1, -1])
            mask = np.uint64(len(weights) - 1)
            relations.list_rows(batch.sides, batch.starts[1], around, templates, mask, rows)
            counts.update((d, t, row, names[d]) for t, row in enumerate(rows.tolist()))
        return counts

    def difference(one, other):
        return {key: one[key] - other[key] for key in one | other}

    of_gold = counted(gold, named)
    differences = [
        difference(of_gold, counted(tree, names))
        for tree, names in zip(trees, relations_of_trees, strict=True)
    ]
    model = relations.RelationModel(templates, weights, np.ones((2, len(labels)), dtype=bool))
    for tree, names, row in zip(trees, relations_of_trees, differences, strict=True):
        found = np.zeros(2)
        joint.difference(one, model, gold, named, tree, names, found)
        wrong = (tree != gold) | (names != named)
        score = sum(weights[r, name] for (d, _, r, name) in of_gold if wrong[d])
        assert found[0] == pytest.approx(score, abs=1e-4)
        assert found[1] == sum(count**2 for count in row.values())


def slow_update(batch, model, sums, gold, tree, loss, other, limit, clock):
    """Take the step of passive-aggressive learning."""
    templates, layout, weights = model
    change = features_of(batch, 0, templates, layout, gold)
    change -= features_of(batch, 0, templates, layout, tree)
    step = np.float32(min(limit, max(loss, 0.0) / max(change @ change + other, 1)))
    moves = step * change.astype(np.float32)
    weights += moves
    sums += moves * np.float32(clock)
    return float(step)


@pytest.mark.parametrize("with_relations", [False, True], ids=["after", "joint"])
def test_training_with_slow_steps_finds_the_same(monkeypatch, tmp_path, with_relations):
    options = {"epochs": 4, "bits": 10, "joint": with_relations}
    LinearParser.train(treebank(), **options).save(tmp_path / "fast")
    monkeypatch.setattr(training, "update_edges", slow_update)
    LinearParser.train(treebank(), **options).save(tmp_path / "slow")
    assert (tmp_path / "fast").read_bytes() == (tmp_path / "slow").read_bytes()


@pytest.mark.parametrize("with_relations", [False, True], ids=["after", "joint"])
def test_it_learns_trees_by_heart_and_always_the_same(tmp_path, with_relations):
    for name in ("one", "again"):
        parser = LinearParser.train(treebank(), epochs=15, bits=13, joint=with_relations)
        parser.save(tmp_path / name)
        parsed = parser.parse(map(unparsed, treebank()))
        assert [one.raw for one in parsed] == [one.raw for one in treebank()]
    assert (tmp_path / "one").read_bytes() == (tmp_path / "again").read_bytes()
