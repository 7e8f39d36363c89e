"""Parsers for projective trees, and for others by way of projective ones."""

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers import LinearParser, Reranker, load, model_file
from samples import treebank, unparsed

BITS = 13


def train(**options):
    return LinearParser.train(
        treebank(), **{"projective": False, "epochs": 20, "bits": BITS} | options
    )


@pytest.fixture(scope="module")
def plain():
    return train()


@pytest.fixture(scope="module")
def projective():
    return train(projective=True)


@pytest.fixture(scope="module")
def pseudo():
    return train(projective="pseudo")


def heads_of(sentences):
    return [sentence.tree.tolist() for sentence in sentences]


def test_a_projective_parser_learns_the_lifted_trees_by_heart(projective):
    lifted = [arb.projectivize(sentence.tree).tolist() for sentence in treebank()]
    assert lifted != heads_of(treebank())
    parsed = list(projective.parse(map(unparsed, treebank())))
    assert heads_of(parsed) == lifted
    assert [s.deprels for s in parsed] == [s.deprels for s in treebank()]


def test_a_pseudo_projective_parser_learns_crossing_trees_by_heart(pseudo):
    assert "nmod↑nsubj" in pseudo.labels
    assert list(pseudo.parse(map(unparsed, treebank()))) == treebank()


@pytest.mark.parametrize(
    "options",
    [
        {"joint": True},
        {"loss": "perceptron"},
        {"loss": "tree"},
        {"root": "multi"},
    ],
    ids=str,
)
def test_every_way_of_training_finds_projective_trees(options):
    parser = train(projective="pseudo", **options)
    assert list(parser.parse(map(unparsed, treebank()))) == treebank()
    assert parser.info["projective"] == "pseudo"


def test_what_parse_is_asked_for_goes_before_what_the_parser_was_trained_for(
    plain, projective, pseudo
):
    rng = np.random.default_rng(3)
    sentences = [s.replace(upos=rng.permutation(s.upos).tolist()) for s in treebank() * 9]
    crossing = 0
    for parser in (plain, projective, pseudo):
        for wanted in (False, True):
            for sentence, parsed in zip(
                sentences, parser.parse(sentences, projective=wanted, rules="none"), strict=True
            ):
                best = arb.decode(parser.scores(sentence), projective=wanted)
                assert parsed.tree.tolist() == best.tolist()
                assert not any("↑" in label for label in parsed.deprels)
                crossing += not arb.is_projective(parsed.tree)
    assert crossing
    assert heads_of(plain.parse(sentences)) == heads_of(plain.parse(sentences, projective=False))
    assert heads_of(projective.parse(sentences)) == heads_of(
        projective.parse(sentences, projective=True)
    )


def test_the_k_best_trees_are_projective_too(projective, pseudo):
    for sentence, trees in zip(treebank(), projective.kbest(treebank(), 5), strict=True):
        scores = projective.scores(sentence)
        best, weights, _ = arb.kbest(scores, 5, projective=True)
        assert heads_of(tree for tree, _ in trees) == best.tolist()
        assert [weight for _, weight in trees] == weights.tolist()
        assert arb.is_projective(best).all()
    firsts = [trees[0][0] for trees in pseudo.kbest(map(unparsed, treebank()), 3)]
    assert firsts == treebank()


def test_a_reranker_takes_what_its_parser_finds(plain, projective):
    def rerank(parser, **options):
        reranker = Reranker(
            parser=parser, k=4, weights=np.zeros(1 << 10, dtype=np.float32), scale=1.0
        )
        return heads_of(reranker.parse(treebank(), **options))

    assert rerank(projective) == heads_of(projective.parse(treebank()))
    assert rerank(plain, projective=True) == heads_of(plain.parse(treebank(), projective=True))


def test_a_model_file_remembers(tmp_path, projective, pseudo):
    for parser in (projective, pseudo):
        path = tmp_path / "model"
        parser.save(path)
        again = load(path)
        assert again.projective == parser.projective
        assert list(again.parse(treebank())) == list(parser.parse(treebank()))


def test_a_model_file_of_before_and_a_damaged_one(tmp_path, plain):
    header, arrays = plain.to_file()
    for name in ("projective", "temperature"):
        del header[name]
    model_file.save(tmp_path / "old", header, arrays)
    old = load(tmp_path / "old")
    assert (old.projective, old.temperature) == (False, 1.0)
    assert list(old.parse(treebank())) == list(plain.parse(treebank()))
    for wrong in ({"projective": "yes"}, {"temperature": 0.0}, {"temperature": "hot"}):
        model_file.save(tmp_path / "damaged", header | wrong, arrays)
        with pytest.raises(ModelError, match=f"damaged: {next(iter(wrong))} is"):
            load(tmp_path / "damaged")


def test_a_training_that_is_started_again(tmp_path):
    path = tmp_path / "checkpoint"
    options = {"dev": treebank()[2:], "projective": "pseudo"}
    train(epochs=1, checkpoint=path, **options)
    train(epochs=3, checkpoint=path, **options).save(tmp_path / "resumed")
    train(epochs=3, **options).save(tmp_path / "straight")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "straight").read_bytes()
    with pytest.raises(ModelError, match="other settings"):
        train(epochs=4, checkpoint=path, dev=treebank()[2:], projective=True)


def test_relations_that_hold_the_mark():
    marked = treebank()[3].replace(deprels=["nsubj↑obj", "punct", "case", "root"])
    with pytest.raises(TreebankError, match=r"Birds , unlike sing.*nsubj↑obj"):
        LinearParser.train([marked], projective="pseudo", bits=BITS)
    LinearParser.train([marked], projective=True, bits=BITS, epochs=1)


def test_settings_that_make_no_sense(plain):
    with pytest.raises(ValueError, match="projective must be"):
        train(projective="yes")
    for call in (plain.parse, lambda *args, **options: plain.kbest(*args, 2, **options)):
        with pytest.raises(ValueError, match="projective must be"):
            call(treebank(), projective="pseudo")


def uncrossed(times=1):
    return [s for s in treebank() if arb.is_projective(s.tree)] * times


def crossed(times=1):
    return [s for s in treebank() if not arb.is_projective(s.tree)] * times


@pytest.mark.parametrize(
    ("lessons", "becomes"),
    [
        (uncrossed(), True),
        (crossed() + uncrossed(9), "pseudo"),
        (crossed(30) + uncrossed(), False),
    ],
    ids=["none crosses", "some cross", "many cross"],
)
def test_the_treebank_chooses(lessons, becomes):
    chosen, asked = (
        LinearParser.train(lessons, epochs=4, bits=BITS, projective=projective)
        for projective in ("auto", becomes)
    )
    assert chosen.projective == asked.projective == becomes
    assert chosen.info["projective"] == "auto"
    new = list(map(unparsed, treebank()))
    assert list(chosen.parse(new)) == list(asked.parse(new))


def test_the_treebank_chooses_for_undirected_inference():
    parser = train(projective="auto", inference="undirected")
    assert parser.projective is False


@pytest.mark.parametrize("joint", [False, True])
def test_edges_are_lowered_only_if_that_brings_something(joint):
    lessons = crossed() * 2 + uncrossed(9)
    options = {"epochs": 8, "bits": BITS, "joint": joint}
    lowered = LinearParser.train(lessons, dev=crossed(), projective="auto", **options)
    assert lowered.projective == "pseudo"
    assert lowered.info["dev"][-1]["las"] == 100
    lifted = LinearParser.train(lessons, dev=uncrossed(), projective="auto", **options)
    assert lifted.projective is True
    assert not any("↑" in label for label in lifted.labels)
    assert lifted.labels == tuple(label for label in lowered.labels if "↑" not in label)
    for parsed, gold in zip(lifted.parse(map(unparsed, crossed())), crossed(), strict=True):
        assert arb.is_projective(parsed.tree)
        assert set(parsed.deprels) <= set(lifted.labels)
        assert parsed.tree.tolist() == arb.projectivize(gold.tree).tolist()


def test_what_the_treebank_has_chosen_is_in_the_model_file(tmp_path):
    lessons = crossed() + uncrossed(9)
    parser = LinearParser.train(lessons, dev=uncrossed(), epochs=4, bits=BITS, projective="auto")
    parser.save(tmp_path / "model")
    assert load(tmp_path / "model").projective is True
    assert list(load(tmp_path / "model").parse(treebank())) == list(parser.parse(treebank()))


def test_trees_that_are_none_are_named_before_anything_is_chosen():
    cycle = treebank()[0].replace(heads=[-1, 2, 1, 4, 0, 4, 4])
    with pytest.raises(TreebankError, match="the heads are not a tree"):
        LinearParser.train([cycle], projective="auto", bits=BITS)
    with pytest.raises(TreebankError, match="the treebank is empty"):
        LinearParser.train([], projective="auto", bits=BITS)
