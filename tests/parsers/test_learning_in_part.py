"""Learning from sentences that lack heads: from all trees that agree, beside sums over them."""

import numpy as np
import pytest

from arborescence.errors import TreebankError
from arborescence.parsers import LinearParser, SecondOrderParser, TransitionParser
from arborescence.parsers.linear import training
from arborescence.parsers.shared.training_trees import TrainingTrees, agreeing
from brute_force import all_trees
from samples import treebank

SMALL = {"epochs": 2, "bits": 10}
TREES = [(root, projective) for root in ("single", "multi") for projective in (False, True)]


def random_part(rng, n, root, projective):
    """Scores, the trees and which of them agree with some heads of one of them."""
    scores = rng.normal(size=(n + 1, n + 1)) * rng.choice([0.1, 1, 30])
    trees = np.array(list(all_trees(n, root == "single", projective)))
    gold = trees[rng.integers(len(trees))].copy()
    gold[1:][rng.random(n) < 0.5] = -1
    return scores, trees, gold, ((gold < 0) | (trees == gold)).all(axis=1)


def marginals(scores, trees):
    """How probable each edge is, by sums over trees."""
    n = trees.shape[1] - 1
    words = np.arange(1, n + 1)
    weights = scores[trees[:, 1:], words].sum(axis=1)
    chances = np.exp(weights - np.logaddexp.reduce(weights))
    found = np.zeros(scores.shape)
    for tree, chance in zip(trees, chances, strict=True):
        found[tree[1:], words] += chance
    return found


@pytest.mark.parametrize(("root", "projective"), TREES)
def test_the_gradient_of_the_log_linear_parser(root, projective, monkeypatch):
    rng, moved = np.random.default_rng(1), []
    monkeypatch.setattr(training, "move_edges", lambda *given: moved.append(given[3]))

    def expect(scores):
        how = {"root": root, "projective": projective}
        return training.TreeDistribution(scores, **how).marginals()

    for n in (1, 2, 3, 4) * 5:
        scores, trees, gold, agree = random_part(rng, n, root, projective)
        training.Ascent(None, None, 0, 0.0, 1, expect, by_trees=True).step(None, scores, gold)
        right = marginals(scores, trees[agree]) - marginals(scores, trees)
        assert moved.pop()[:, 1:] == pytest.approx(right[:, 1:], abs=1e-9)


@pytest.mark.parametrize(("root", "projective"), TREES)
def test_the_loss_and_the_gradient_of_a_neural_parser(root, projective):
    torch = pytest.importorskip("torch", reason="training needs the extra 'torch'")
    from arborescence.parsers.neural.settings import Settings
    from arborescence.parsers.neural.training import edge_loss

    rng, n = np.random.default_rng(2), 3
    settings = Settings(loss="tree", root=root, projective=projective)
    for _ in range(10):
        scores, trees, gold, agree = random_part(rng, n, root, projective)
        np.fill_diagonal(scores, -1e9)
        edges = torch.tensor(scores[None], dtype=torch.float32, requires_grad=True)
        scores = edges[0].detach().numpy().astype(np.float64)
        known = (gold >= 0).sum()
        loss = edge_loss(edges, torch.tensor(gold[None]), torch.tensor([n]), settings)
        loss.backward()
        weights = scores[trees[:, 1:], np.arange(1, n + 1)].sum(axis=1)
        right = np.logaddexp.reduce(weights) - np.logaddexp.reduce(weights[agree])
        assert loss.item() == pytest.approx(right / max(known, 1), abs=1e-4)
        right = (marginals(scores, trees) - marginals(scores, trees[agree])) / max(known, 1)
        assert edges.grad[0, :, 1:].numpy() == pytest.approx(right[:, 1:], abs=1e-5)


def partly(sentence, rng):
    gone = rng.random(len(sentence)) < 0.4
    heads = [-1, *np.where(gone, -1, sentence.heads)]
    deprels = ["_" if yes else label for yes, label in zip(gone, sentence.deprels, strict=True)]
    return sentence.replace(heads=heads, deprels=deprels)


@pytest.mark.parametrize("projective", [False, True, "pseudo"])
@pytest.mark.parametrize("loss", ["mira", "perceptron", "tree", "head"])
def test_the_heads_that_are_there_are_learned(loss, projective):
    rng = np.random.default_rng(3)
    parts = [partly(sentence, rng) for sentence in treebank()]
    how = {"bits": 12, "loss": loss, "projective": projective, "epochs": 12}
    parser = LinearParser.train(parts, **how)
    assert "_" not in parser.labels
    plain = [0, 2, 3, 4]  # none crosses
    bare = [treebank()[i].replace(heads=None, deprels=None) for i in plain]
    right = []
    for i, found in zip(plain, parser.parse(bare), strict=True):
        known = parts[i].heads >= 0
        right += (found.heads == parts[i].heads)[known].tolist()
        pairs = zip(parts[i].deprels, found.deprels, known, strict=True)
        right += [given == label for given, label, yes in pairs if yes]
    assert np.mean(right) > 0.9


def test_a_head_that_follows_from_the_others_is_as_good_as_given():
    whole = [sentence for sentence in treebank() if len(sentence) == 2] * 3
    part = [sentence.replace(heads=[-1, -1, 1]) for sentence in whole]  # so 1 hangs from the root
    how = {"loss": "tree", "projective": False, **SMALL}
    one, two = (LinearParser.train(sentences, **how) for sentences in (whole, part))
    assert whole[0].heads.tolist() == [0, 1]
    assert one.scores(whole[0]) == pytest.approx(two.scores(whole[0]), abs=0.02)


def test_filters_and_networks_learn_from_them_too():
    rng = np.random.default_rng(4)
    parts = [partly(sentence, rng) for sentence in treebank() * 2]
    parser = LinearParser.train(parts, dev=treebank(), prune=True, **SMALL)
    assert parser.pruning is not None
    pytest.importorskip("torch", reason="training needs the extra 'torch'")
    from arborescence.parsers import BiaffineParser
    from tiny_networks import TINY

    nothing = treebank()[0].replace(heads=None, deprels=None)
    for loss in ("head", "tree", "margin"):
        how = TINY | {"epochs": 2, "batch": 10, "loss": loss}
        parser = BiaffineParser.train([*parts, nothing], dev=treebank(), **how)
        assert all(np.isfinite(array).all() for array in parser.weights.values())
        assert "_" not in parser.labels


def test_trees_of_parts_are_lifted_as_one_that_agrees():
    [crossing] = [each for each in treebank() if each.forms[0] == "A" and len(each) == 7]
    part = crossing.replace(heads=[-1, -1, *crossing.heads[1:]])
    for projective in (True, "pseudo"):
        [heads], *_ = TrainingTrees.of([part], projective)
        assert heads[1] == -1
        assert training.decode(agreeing(np.zeros((8, 8)), heads), projective=True).shape == (8,)


def test_a_head_without_a_relation():
    part = [each.replace(deprels=["_", *each.deprels[1:]]) for each in treebank()]
    assert "_" not in LinearParser.train(part, **SMALL).labels
    none = [each.replace(deprels=None) for each in treebank()[:3]]  # none crosses
    for kind in (LinearParser, TransitionParser):
        parser = kind.train(none, **SMALL)
        assert parser.labels == ("_",)
        [found] = parser.parse([none[0].replace(heads=None)])
        assert found.deprels == ["_"] * len(found)


def test_who_learns_from_whole_trees_only():
    part = treebank()[0]
    part = part.replace(heads=[-1, -1, *part.heads[1:]])
    for kind, options in (
        (TransitionParser, {}),
        (SecondOrderParser, {}),
        (LinearParser, {"joint": True}),
        (LinearParser, {"inference": "undirected"}),
    ):
        with pytest.raises(TreebankError, match="the heads are not a tree"):
            kind.train([part], **SMALL, **options)
    with pytest.raises(TreebankError, match="the heads are not a tree"):
        LinearParser.train(treebank(), dev=[part], **SMALL)
    cycle = part.replace(heads=[-1, 2, 1, -1, -1, -1, -1])
    with pytest.raises(TreebankError, match=r"words 1, 2 form a cycle: mend them, or leave out"):
        LinearParser.train([cycle], **SMALL)
