"""Second-order parsers: what they learn, that their scores are those of their features, files."""

import numpy as np
import pytest

import arborescence as arb
from altered_models import altered
from arborescence import second_order
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import CombinedParser, LinearParser, SecondOrderParser
from arborescence.parsers.second_order.parts import PartModel, list_features, rounded, score_parts
from arborescence.parsers.second_order.settings import Settings
from arborescence.parsers.shared.base import VOTE, votes
from brute_force import all_trees
from samples import treebank

BITS = 12


def train(path=None, **options):
    options = {"epochs": 8, "bits": BITS, "patience": 8} | options
    return SecondOrderParser.train(treebank(), checkpoint=path, **options)


@pytest.fixture(scope="module")
def parser():
    return train()


@pytest.mark.parametrize("loss", ["mira", "perceptron"])
def test_learns_a_small_treebank_by_heart(loss):
    parser = train(loss=loss, epochs=15)
    for sentence, parsed in zip(treebank(), parser.parse(treebank()), strict=True):
        assert parsed.tree.tolist() == sentence.tree.tolist()
        assert parsed.deprels == sentence.deprels


def test_the_scores_of_parts_are_those_of_their_features(parser):
    [sentence] = [sentence for sentence in treebank() if len(sentence) == 4][:1]
    _, batch = parser._prepare([sentence])
    rng = np.random.default_rng(1)
    weights = rng.integers(-9, 10, (1 << 8, 4)).astype(np.float32)
    model = PartModel(parser.templates["parts"], weights)
    scores = np.zeros((5, 5))
    parts = score_parts(batch, 0, model, 0.5, scores)
    for heads in all_trees(4, single=False):
        features = list_features(batch, model.templates, len(weights), heads)
        total = weights.reshape(-1)[features].sum()
        assert second_order.tree_weight(scores, heads, *parts) == total / 2
    # Parts of absent edges are not scored; the others are the same.
    scores[1:, 2] = -np.inf
    fewer = score_parts(batch, 0, model, 0.5, scores)
    for heads in all_trees(4, single=False):
        if heads[2] == 0:
            assert second_order.tree_weight(scores, heads, *fewer) == second_order.tree_weight(
                scores, heads, *parts
            )


@pytest.mark.parametrize("root", ["single", "multi"])
def test_the_tree_is_the_best_one(parser, root):
    for sentence in treebank():
        if len(sentence) > 5:
            continue
        found = parser.decode(sentence, root=root)
        assert found.exact
        _, batch = parser._prepare([sentence])
        table, unit = parser.weights["parts"]
        scores = rounded(parser.scores(sentence))
        model = PartModel(parser.templates["parts"], table)
        parts = score_parts(batch, 0, model, unit, scores)
        weights = [
            second_order.tree_weight(scores, heads, *parts)
            for heads in all_trees(len(sentence), single=root == "single")
        ]
        assert found.weight == max(weights)
        assert found.weight == second_order.tree_weight(scores, found.heads, *parts)


def test_options_of_parsing(parser):
    sentences = [sentence.replace(heads=None, deprels=None) for sentence in treebank()]
    expected = [parsed.raw for parsed in parser.parse(sentences)]
    assert [parsed.raw for parsed in parser.parse(sentences, threads=2)] == expected
    for parsed in parser.parse(sentences, projective=True, root="multi"):
        assert arb.is_projective(parsed.tree)
    with pytest.raises(ModelError, match="a second-order parser has no k-best lists"):
        list(parser.kbest(sentences, 2))
    with pytest.raises(ModelError, match="a second-order parser has no confidence"):
        list(parser.parse(sentences, confidence=True))


def test_its_trees_can_be_combined(parser):
    combined = CombinedParser([parser, parser])
    heads = [parsed.tree.tolist() for parsed in combined.parse(treebank())]
    assert heads == [parsed.tree.tolist() for parsed in parser.parse(treebank())]


def test_it_votes_beside_a_parser_with_probabilities(parser, tmp_path):
    options = {"projective": False, "epochs": 1, "bits": BITS}
    linear = LinearParser.train(treebank(), dev=treebank(), **options)
    combined = CombinedParser([parser, linear])
    for sentence in treebank():
        [parsed], [(tree, _), *_] = combined.parse([sentence]), next(combined.kbest([sentence], 2))
        [ours] = parser.parse([sentence])
        certain = arb.TreeDistribution(linear.scores(sentence) / linear.temperature).marginals()
        expected = VOTE * votes(ours) + certain
        assert np.allclose(combined.scores(sentence)[:, 1:], expected[:, 1:], atol=1e-4)
        assert parsed.tree.tolist() == tree.tree.tolist()
    combined.save(tmp_path / "model")
    loaded = arb.load(tmp_path / "model")
    ours, theirs = (each.parse(treebank(), confidence=True) for each in (combined, loaded))
    assert [tree.raw for tree in ours] == [tree.raw for tree in theirs]


def test_saved_and_loaded_it_is_the_same(parser, tmp_path):
    path = tmp_path / "model"
    parser.save(path)
    loaded = arb.load(path)
    assert isinstance(loaded, SecondOrderParser)
    ours, theirs = (list(each.parse(treebank())) for each in (parser, loaded))
    assert [tree.raw for tree in ours] == [tree.raw for tree in theirs]
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": None}, "parts"),
        ({"parts": np.zeros((3, 4), np.int8)}, "parts"),
        ({"parts": np.zeros((4, 3), np.int8)}, "parts"),
        ({"parts_unit": 0.0}, "parts_unit"),
        ({"pruning": None}, "pruning"),
    ],
)
def test_damaged_files(parser, tmp_path, changes, message):
    path = tmp_path / "model"
    parser.save(path)
    with pytest.raises(ModelError, match=message):
        arb.load(altered(path, **changes))


class InterruptedTrainingError(Exception):
    pass


def test_a_training_that_is_started_again_ends_as_if_never_stopped(tmp_path):
    def interrupt(phase, done, total):
        if phase == "epoch 3":
            raise InterruptedTrainingError

    path = tmp_path / "checkpoint"
    with pytest.raises(InterruptedTrainingError):
        train(path, epochs=4, progress=interrupt)
    train(path, epochs=4).save(tmp_path / "resumed")
    train(epochs=4).save(tmp_path / "straight")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "straight").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {"k": 2},
        {"joint": True},
        {"projective": "pseudo"},
        {"loss": "tree"},
        {"inference": "undirected"},
        {"features": "undirected"},
        {"rate": 0.2},
        {"rounds": 3},
    ],
)
def test_it_has_its_own_options_only(options):
    [name] = options
    with pytest.raises(OptionError, match=f"^{name} (is not an option|must be 'mira' or )"):
        SecondOrderParser.train(treebank(), **options)


def test_its_edges_are_those_of_a_pruned_linear_parser():
    chosen = Settings(loss="perceptron", C=0.2, rng=3, bits=12, epochs=4, patience=2)
    edges = chosen.of_edges
    assert edges.stored().items() >= chosen.stored().items()
    assert (edges.prune, edges.projective, edges.epochs, edges.patience) == (True, False, 4, 2)
