"""Steps of k-best MIRA against slow ones: all sets of active constraints, counted features."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers import LinearParser
from arborescence.parsers.linear import edges, joint, training
from arborescence.parsers.shared import features, relations
from edge_features import list_weights
from samples import treebank, unparsed

ALL = tuple(features.COLUMNS)


def slow_steps(gram, losses, limit):
    """Try which steps are 0, which at the limit and which between, until all conditions hold."""
    for states in product((0, limit, None), repeat=len(losses)):
        free = [i for i, state in enumerate(states) if state is None]
        steps = np.array([state or 0.0 for state in states])
        missing = (losses - gram @ steps)[free]
        steps[free] = np.linalg.lstsq(gram[np.ix_(free, free)], missing, rcond=None)[0]
        missed = losses - gram @ steps
        if (
            (steps >= -1e-9).all()
            and (steps <= limit + 1e-9).all()
            and (missed[steps < limit - 1e-9] < 1e-6).all()
            and (missed[steps > 1e-9] > -1e-6).all()
        ):
            return steps
    raise AssertionError("the programme has no solution")


def fast_steps(gram, losses, limit):
    steps = np.full(len(losses), np.nan)
    edges.hildreth(gram, losses, limit, steps)
    return steps


@pytest.mark.parametrize("limit", [0.01, 0.1, 1000.0])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_steps_are_those_of_the_quadratic_programme(limit, k):
    generator = np.random.default_rng(k)
    limits = 0
    for _ in range(20):
        differences = generator.integers(-1, 2, size=(k, 30)).astype(float)
        losses = generator.normal(2, 2, size=k)
        gram = differences @ differences.T
        steps = fast_steps(gram, losses, limit)
        assert (steps >= 0).all()
        assert (steps <= limit).all()
        limits += (steps == limit).any()
        # Several sets of steps may make the same change.
        change = slow_steps(gram, losses, limit) @ differences
        assert np.allclose(steps @ differences, change, atol=1e-4)
        margins = gram @ steps
        assert (margins[steps < limit] >= losses[steps < limit] - 1e-4).all()
        assert (margins[steps > 0] <= losses[steps > 0] + 1e-4).all()
    assert (limits > 0) == (limit < 1)


def test_one_step_is_that_of_passive_aggressive_learning():
    for norm, loss, limit in ((7.0, 3.0, 1.0), (7.0, 3.0, 0.1), (7.0, -1.0, 1.0), (0.0, 2.0, 0.5)):
        [step] = fast_steps(np.array([[norm]]), np.array([loss]), limit)
        assert step == min(limit, max(loss, 0) / max(norm, 1))


def test_the_same_tree_twice_and_gold_among_the_trees():
    gram = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    steps = fast_steps(gram, np.array([2.0, 2.0, 0.0]), 10.0)
    assert steps[:2].sum() == pytest.approx(0.5)
    assert steps[2] == 0


def prepared(bits):
    sides = []
    templates = edges.EdgeTemplates.of(ALL, sides)
    pairs = relations.RelationTemplates.of(ALL, sides, "dh")
    tags = features.tags_of(treebank())
    batch = features.Batch.of(treebank(), features.Sides.of(sides), tags)
    return batch, templates, pairs, edges.Layout(1 << bits - 3, 1 << bits, len(tags) + 2)


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
        losses = of_trees - arb.tree_weight(scores, gold)
        differences = features_of(batch, b, templates, layout, gold) - np.array(
            [features_of(batch, b, templates, layout, tree) for tree in trees]
        )
        before = weights.copy()
        others = np.zeros((len(trees), len(trees)))
        steps = np.empty(len(trees), np.float32)
        edges.update_edges(
            batch._replace(starts=batch.starts[b : b + 2]),
            edges.EdgeModel(templates, layout, weights),
            sums,
            gold,
            trees,
            losses,
            others,
            limit,
            3,
            steps,
        )
        wanted = slow_steps(differences @ differences.T, losses, limit) @ differences
        assert np.allclose(steps @ differences, wanted, atol=1e-4)
        assert np.allclose(weights - before, wanted, atol=1e-4)
        assert np.allclose(sums, 3 * wanted, atol=3e-4)
        if limit > 1:  # no other tree is left that beats its margin
            after = scores_of(batch, b, templates, layout, weights) + costs
            of_gold = arb.tree_weight(after, gold)
            differ = np.abs(differences).any(axis=1)
            assert all(of_gold >= arb.tree_weight(after, tree) - 1e-3 for tree in trees[differ])


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
    scores, gram = np.zeros(len(trees)), np.zeros((len(trees), len(trees)))
    joint.difference(one, model, gold, named, trees, relations_of_trees, scores, gram)
    for k, row in enumerate(differences):
        wrong = (trees[k] != gold) | (relations_of_trees[k] != named)
        score = sum(weights[r, name] for (d, _, r, name) in of_gold if wrong[d])
        assert scores[k] == pytest.approx(score, abs=1e-4)
        for other, column in enumerate(differences):
            assert gram[k, other] == sum(row[key] * column.get(key, 0) for key in row)


def slow_update(batch, model, sums, gold, trees, losses, others, limit, clock, steps):
    """Take the step of passive-aggressive learning from one tree."""
    templates, layout, weights = model
    [tree], [loss], [[other]] = trees, losses, others
    change = features_of(batch, 0, templates, layout, gold)
    change -= features_of(batch, 0, templates, layout, tree)
    step = np.float32(min(limit, max(loss, 0.0) / max(change @ change + other, 1)))
    moves = step * change.astype(np.float32)
    weights += moves
    sums += moves * np.float32(clock)
    steps[:] = step


@pytest.mark.parametrize("with_relations", [False, True], ids=["after", "joint"])
def test_with_one_tree_it_is_1_best_mira(monkeypatch, tmp_path, with_relations):
    options = {"epochs": 4, "bits": 10, "joint": with_relations}
    LinearParser.train(treebank(), **options).save(tmp_path / "fast")
    monkeypatch.setattr(training, "update_edges", slow_update)
    LinearParser.train(treebank(), **options).save(tmp_path / "slow")
    assert (tmp_path / "fast").read_bytes() == (tmp_path / "slow").read_bytes()


@pytest.mark.parametrize("with_relations", [False, True], ids=["after", "joint"])
def test_k_best_mira_learns_and_always_the_same(tmp_path, with_relations):
    files = []
    for name, k in (("one", 3), ("again", 3), ("other", 1)):
        parser = LinearParser.train(treebank(), k=k, epochs=15, bits=13, joint=with_relations)
        parser.save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
        assert parser.info["k"] == k
        parsed = parser.parse(map(unparsed, treebank()))
        assert [one.raw for one in parsed] == [one.raw for one in treebank()]
    assert files[0] == files[1] != files[2]


def test_k_that_makes_no_sense():
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, not 0"):
        LinearParser.train(treebank(), k=0)
    with pytest.raises(ValueError, match="k=5 goes with loss='mira' only"):
        LinearParser.train(treebank(), k=5, loss="perceptron")
