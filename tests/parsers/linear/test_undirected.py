"""Parsers that parse through undirected trees: the four models of Levi et al. (2016)."""

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ModelError
from arborescence.parsers import LinearParser, load, model_file
from arborescence.parsers.linear import edges
from arborescence.parsers.shared import features
from arborescence.undirected import enhance
from edge_features import list_weights
from samples import treebank, unparsed

BITS = 12
ALL = tuple(features.COLUMNS)
MODELS = {
    "D-MST": {"projective": False},
    "U-MST-uf-lep": {"inference": "undirected", "features": "undirected"},
    "U-MST-uf": {"inference": "undirected", "features": "undirected", "rounds": 0},
    "U-MST-df": {"inference": "undirected", "features": "directed", "rounds": 0},
    "U-MST-df-lep": {"inference": "undirected", "features": "directed"},
}
UNDIRECTED = list(MODELS)[1:]


def train(model, **options):
    return LinearParser.train(treebank(), **{"epochs": 12, "bits": BITS} | MODELS[model] | options)


@pytest.fixture(scope="module")
def parsers():
    return {model: train(model) for model in MODELS}


@pytest.fixture(scope="module")
def strangers():
    """Sentences that no parser finds easy: the words of those they know, in disorder."""
    rng = np.random.default_rng(3)
    return [s.replace(upos=rng.permutation(s.upos).tolist()) for s in treebank() * 5]


def heads_of(sentences):
    return [sentence.tree.tolist() for sentence in sentences]


def prepared():
    sides = []
    templates = edges.EdgeTemplates.of(ALL, sides, undirected=True)
    tags = features.tags_of(treebank())
    batch = features.Batch.of(treebank(), features.Sides.of(sides), tags)
    return batch, templates, edges.WeightLayout(1 << 7, 1 << 10, len(tags) + 2)


def scores_of(batch, b, templates, layout, weights):
    one = batch._replace(starts=batch.starts[b : b + 2])
    n = int(np.diff(one.starts)[0])
    scores = np.zeros((n, n), np.float32)
    sums = np.empty((2, n, edges.WIDE), np.float32)
    place = np.zeros(1, np.int64)
    model = edges.EdgeModel(templates, layout, weights)
    edges.score_edges(one, model, sums, scores.reshape(-1), place)
    return scores


def test_an_edge_has_the_score_of_the_one_from_left_to_right():
    batch, templates, layout = prepared()
    weights = np.random.default_rng(0).integers(-99, 99, layout.size).astype(np.float32)
    numbers = edges.room_for(templates, 1)
    for b in range(len(treebank())):
        scores = scores_of(batch, b, templates, layout, weights)
        directed = scores_of(batch, b, templates._replace(undirected=False), layout, weights)
        assert (np.triu(scores) == np.triu(directed)).all()
        assert (scores[1:, 1:] == scores[1:, 1:].T).all()
        assert (scores[:, 0] == 0).all()
        for h, d in np.argwhere(scores):
            count = list_weights(batch, b, templates, layout, h, d, numbers)
            assert scores[h, d] == weights[numbers[:count]].sum()


def test_an_edge_the_other_way_round_is_no_mistake():
    batch, templates, layout = prepared()
    numbers = edges.room_for(templates, 1)

    def features_of(pairs):
        counts = np.zeros(layout.size)
        for h, d in pairs:
            count = list_weights(batch, 0, templates, layout, h, d, numbers)
            np.add.at(counts, numbers[:count], 1)
        return counts

    gold = treebank()[0].tree
    tree = np.array([-1, 3, 1, 0, 3, 4, 4])  # in gold, too, 3 and 4 are joined, but not 1 and 3
    wanted = features_of([(1, 2), (2, 3), (0, 4)]) - features_of([(3, 1), (1, 2), (0, 3)])
    assert gold.tolist() == [-1, 2, 3, 4, 0, 4, 4]
    weights, sums = np.zeros((2, layout.size), np.float32)
    step = edges.update_edges(
        batch._replace(starts=batch.starts[:2]),
        edges.EdgeModel(templates, layout, weights),
        sums,
        gold,
        tree,
        2.0,
        0.0,
        1000.0,
        1,
    )
    assert step == np.float32(2.0 / (wanted @ wanted))
    assert np.allclose(weights, step * wanted, atol=1e-6)


@pytest.mark.parametrize("model", UNDIRECTED)
def test_it_learns_by_heart(parsers, model):
    assert list(parsers[model].parse(map(unparsed, treebank()))) == treebank()


@pytest.mark.parametrize("model", UNDIRECTED)
@pytest.mark.parametrize("options", [{"loss": "perceptron"}, {"root": "multi"}], ids=str)
def test_every_way_of_training(model, options):
    parser = train(model, **options)
    root = options.get("root", "single")
    assert heads_of(parser.parse(map(unparsed, treebank()), root=root)) == heads_of(treebank())


@pytest.mark.parametrize("root", ["single", "multi"])
def test_parse_finds_the_tree_that_it_says(parsers, strangers, root):
    for model in UNDIRECTED:
        parser = parsers[model]
        parsed = heads_of(parser.parse(strangers, root=root))
        rounds = 0 if parser.features == "undirected" else parser.rounds
        trees = [
            arb.undirected.decode(parser.scores(s), rounds=rounds, root=root) for s in strangers
        ]
        if model == "U-MST-uf-lep":
            guide = parsers["D-MST"]
            trees = [
                enhance(guide.scores(sentence), tree)
                for sentence, tree in zip(strangers, trees, strict=True)
            ]
        assert parsed == [tree.tolist() for tree in trees]
    assert heads_of(parsers["U-MST-uf-lep"].parse(strangers, root=root)) != heads_of(
        parsers["U-MST-uf"].parse(strangers, root=root)
    )


def test_it_keeps_the_weights_of_the_exact_parser_to_enhance_by(parsers):
    _, of_exact = parsers["D-MST"].to_file()
    _, of_both = parsers["U-MST-uf-lep"].to_file()
    _, of_tree = parsers["U-MST-uf"].to_file()
    assert (of_both["directed"] == of_exact["edges"]).all()
    assert (of_both["edges"] == of_tree["edges"]).all()
    assert (of_both["edges"] != of_exact["edges"]).any()
    assert "directed" not in of_tree


@pytest.mark.parametrize("model", UNDIRECTED)
def test_a_model_file_remembers(parsers, strangers, tmp_path, model):
    parser = parsers[model]
    parser.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.inference, again.features) == (parser.inference, parser.features)
    assert again.rounds == parser.rounds
    assert list(again.parse(strangers)) == list(parser.parse(strangers))


def test_a_model_file_of_before_and_damaged_ones(parsers, tmp_path):
    header, arrays = parsers["D-MST"].to_file()
    for name in ("inference", "features", "rounds"):
        del header[name]
    model_file.save(tmp_path / "old", header, arrays)
    old = load(tmp_path / "old")
    assert (old.inference, old.features) == ("exact", "directed")
    assert list(old.parse(treebank())) == list(parsers["D-MST"].parse(treebank()))

    header, arrays = parsers["U-MST-uf-lep"].to_file()
    for wrong, message in (
        ({"inference": "exact"}, "inference and features are 'exact' and 'undirected'"),
        ({"features": 3}, "features is 3, not 'directed' or 'undirected'"),
        ({"rounds": -1}, "rounds is -1"),
        ({"rounds": "many"}, "rounds is 'many'"),
        ({"directed_unit": 0.0}, "directed_unit is 0.0"),
    ):
        model_file.save(tmp_path / "damaged", header | wrong, arrays)
        with pytest.raises(ModelError, match=f"damaged: {message}"):
            load(tmp_path / "damaged")
    del arrays["directed"]
    model_file.save(tmp_path / "damaged", header, arrays)
    with pytest.raises(ModelError, match="array 'directed' is missing"):
        load(tmp_path / "damaged")


def test_a_training_that_is_started_again(tmp_path):
    path = tmp_path / "checkpoint"
    options = {"dev": treebank()[2:], "patience": 9}
    train("U-MST-uf-lep", epochs=1, checkpoint=path, **options)
    train("U-MST-uf-lep", epochs=3, checkpoint=path, **options).save(tmp_path / "resumed")
    train("U-MST-uf-lep", epochs=3, **options).save(tmp_path / "straight")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "straight").read_bytes()
    for other in ("D-MST", "U-MST-uf", "U-MST-df"):
        with pytest.raises(ModelError, match="other settings"):
            train(other, epochs=4, checkpoint=path, **options)


def test_what_it_does_not_give(parsers):
    for model in UNDIRECTED:
        with pytest.raises(ModelError, match="the k best trees need a parser with exact"):
            list(parsers[model].kbest(treebank(), 2))
        for option in ("projective", "confidence"):
            with pytest.raises(ModelError, match="projective trees, confidence and rules need"):
                list(parsers[model].parse(treebank(), **{option: True}))


def test_settings_that_make_no_sense():
    for options, message in (
        ({"inference": "greedy"}, "inference must be 'exact' or 'undirected', not 'greedy'"),
        ({"features": "none"}, "features must be 'directed' or 'undirected', not 'none'"),
        ({"features": "undirected"}, "goes with inference='undirected' only"),
        ({"rounds": -1}, "rounds must be a whole number from 0 to .*, or None, not -1"),
        ({"inference": "undirected", "joint": True}, "does not go with joint=True"),
        ({"inference": "undirected", "projective": True}, "does not go with projective=True"),
        ({"inference": "undirected", "loss": "tree"}, "does not go with loss='tree'"),
        ({"inference": "undirected", "loss": "head"}, "does not go with loss='head'"),
    ):
        with pytest.raises(ValueError, match=message):
            LinearParser.train(treebank(), **options)


def test_a_round_makes_all_changes_or_the_best_alone(parsers, strangers, tmp_path):
    found = {}
    for changes in ("disjoint", "best"):
        parser = train("U-MST-df-lep", rounds=1, changes=changes, epochs=1)
        parser.save(tmp_path / "kept.npz")
        assert load(tmp_path / "kept.npz").changes == changes
        found[changes] = heads_of(parser.parse(strangers))
        for sentence, heads in zip(strangers, found[changes], strict=True):
            scores = parser.scores(sentence)
            plain = arb.undirected.decode(scores, rounds=0)
            assert enhance(scores, plain, 1, changes=changes).tolist() == heads
    assert found["best"] != found["disjoint"]
