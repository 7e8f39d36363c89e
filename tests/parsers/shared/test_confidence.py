"""How sure a parser is of each edge."""

import math
from copy import copy

import numpy as np
import pytest

import arborescence as arb
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers import CombinedParser, LinearParser, Reranker, Tagger, load, train
from arborescence.parsers.calibrating import calibrate, fitted, fitted_on
from arborescence.parsers.shared.confidence import (
    edge_probs,
    fit_choices,
    fit_temperature,
    reliability,
    with_probs,
)
from arborescence.parsers.shared.graph_parser import TEMPERATURES
from arborescence.treebank import Sentence, write
from brute_force import all_trees
from samples import treebank, unparsed
from small_parsers import small_parser

BITS = 13


@pytest.fixture(scope="module")
def parser():
    options = {"projective": False, "epochs": 2, "bits": BITS}
    return LinearParser.train(treebank()[:4], dev=treebank()[3:], **options)


def marginals_of(parser, sentence, **options):
    scores = parser.scores(sentence) / np.float32(parser.temperature)
    marginals = arb.TreeDistribution(scores, **options).marginals()
    return marginals[sentence.heads, np.arange(1, len(sentence) + 1)]


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("projective", [False, True])
def test_what_is_written_are_the_marginals_of_the_edges(parser, root, projective):
    options = {"root": root, "projective": projective}
    sure = list(parser.parse(treebank(), confidence=True, **options))
    for sentence, parsed in zip(sure, parser.parse(treebank(), **options), strict=True):
        assert sentence.replace(misc=parsed.misc, comments=parsed.comments) == parsed
        expected = marginals_of(parser, sentence, **options)
        np.testing.assert_allclose(edge_probs(sentence), expected, atol=5.1e-5)
    assert len({round(p, 1) for sentence in sure for p in edge_probs(sentence)}) > 2


def test_each_of_the_k_best_trees_has_its_own(parser):
    for trees in parser.kbest(treebank(), 3, confidence=True):
        for tree, _ in trees:
            np.testing.assert_allclose(edge_probs(tree), marginals_of(parser, tree), atol=5.1e-5)
    reranker = Reranker(parser=parser, k=3, weights=np.zeros(1 << 10, np.float32), scale=1.0)
    assert list(reranker.parse(treebank(), confidence=True)) == list(
        parser.parse(treebank(), confidence=True, rules="none")
    )


def test_of_lifted_edges_it_is_that_of_the_edge_that_was_lifted():
    parser = LinearParser.train(
        treebank(), dev=treebank(), epochs=20, patience=20, bits=BITS, projective="pseudo"
    )
    crossing = treebank()[-2]
    assert not arb.is_projective(crossing.tree)
    [parsed] = parser.parse([unparsed(crossing)], confidence=True)
    assert parsed.tree.tolist() == crossing.tree.tolist()
    assert min(edge_probs(parsed)) > 0.9


def test_other_entries_are_kept_and_stay_sorted():
    misc = ["_", "SpaceAfter=No", "Align=1|SpaceAfter=No", "EdgeProb=0.1|Gloss=x", "Z|a|EdgeProb=x"]
    assert with_probs(misc, [1, 0.5, 0.25, 0.12345, 0.99999]) == [
        "EdgeProb=1.0000",
        "EdgeProb=0.5000|SpaceAfter=No",
        "Align=1|EdgeProb=0.2500|SpaceAfter=No",
        "EdgeProb=0.1235|Gloss=x",
        "EdgeProb=1.0000|Z|a",
    ]


def test_words_without_a_probability():
    for misc in ("_", "EdgeProb=high"):
        sentence = Sentence.from_words(["Trees", "grow"], misc=["EdgeProb=1", misc])
        with pytest.raises(TreebankError, match="word 2 has no probability"):
            edge_probs(sentence)


def test_the_temperature_is_found_on_dev_and_kept(tmp_path, parser):
    assert parser.temperature != 1.0
    parser.save(tmp_path / "model")
    assert load(tmp_path / "model").temperature == parser.temperature
    alone = LinearParser.train(treebank()[:4], epochs=2, bits=BITS)
    assert alone.temperature == 1.0


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("projective", [False, True])
def test_the_temperature_makes_right_edges_likely_and_wrong_ones_unlikely(root, projective):
    options = {"root": root, "projective": projective}
    rng = np.random.default_rng(5)
    scores, gold = [], []
    for n in rng.integers(1, 9, size=60).tolist():
        tree = arb.decode(rng.normal(size=(n + 1, n + 1)).astype(np.float32), **options)
        scores.append(7 * rng.normal(size=(n + 1, n + 1)).astype(np.float32))
        scores[-1][tree[1:], np.arange(1, n + 1)] += 10  # so that gold is likely, not certain
        tree[1:][rng.random(n) < 0.1] = -1  # not known
        gold.append(tree)
    temperature = fit_temperature(scores, gold, **options)

    def loss(temperature):
        total = 0.0
        for matrix, heads in zip(scores, gold, strict=True):
            marginals = arb.TreeDistribution(
                matrix / np.float32(temperature), **options
            ).marginals()
            tree = arb.decode(matrix, **options)
            for d in np.flatnonzero(heads >= 0):
                p = marginals[tree[d], d]
                total -= math.log(max(p if tree[d] == heads[d] else 1 - p, 1e-12))
        return total

    grid = temperature * np.geomspace(0.1, 10, 41)
    assert loss(temperature) <= min(map(loss, grid)) + 1e-3
    twice = fit_temperature([2 * matrix for matrix in scores], gold, **options)
    assert twice == pytest.approx(2 * temperature, rel=0.01)


def test_a_dev_set_that_is_known_by_heart_leaves_the_temperature_finite():
    parser = LinearParser.train(treebank(), dev=treebank(), epochs=20, patience=20, bits=BITS)
    assert 2**-11 < parser.temperature < 1
    parsed = list(parser.parse(treebank(), confidence=True))
    assert min(p for sentence in parsed for p in edge_probs(sentence)) > 0.99


def test_reliability():
    gold = Sentence.from_words(["a"] * 4, heads=[-1, 0, 1, 2, 3])
    guess = gold.replace(
        heads=[-1, 0, 1, 1, 1],
        misc=["EdgeProb=1.0", "EdgeProb=0.96", "EdgeProb=0.94", "EdgeProb=0.2"],
    )
    found = reliability([gold], [guess], bins=5)
    assert found.counts.tolist() == [0, 1, 0, 0, 3]
    assert found.accuracy[[1, 4]].tolist() == [0, 2 / 3]
    assert found.confidence[[1, 4]].tolist() == pytest.approx([0.2, 2.9 / 3])
    assert math.isnan(found.confidence[0])
    assert math.isnan(found.accuracy[0])
    assert found.error == pytest.approx((0.2 + 0.9) / 4)
    half = reliability([gold.replace(heads=[-1, 0, -1, -1, -1])], [guess])
    assert half.counts.sum() == 1  # words without a gold head are not counted
    with pytest.raises(TreebankError, match="EdgeProb"):
        reliability([gold], [gold])


def test_a_real_parser_is_calibrated(treebanks):
    from arborescence.treebank import read

    sentences = list(read(treebanks / "Turkish-IMST" / "tr_imst-ud-dev.conllu.gz"))
    np.random.default_rng(6).shuffle(sentences)  # neighbours are alike
    lessons, dev, test = sentences[:600], sentences[600:800], sentences[800:]
    parser = LinearParser.train(lessons, dev=dev, epochs=2, bits=16)
    error = reliability(test, parser.parse(test, confidence=True)).error
    parser.temperature = 1.0
    assert error < 0.1 < reliability(test, parser.parse(test, confidence=True)).error


@pytest.fixture
def heated(parser, request):
    before = vars(parser).copy()
    for name in TEMPERATURES:
        setattr(parser, name, request.param)
    yield parser
    vars(parser).update(before)


@pytest.mark.parametrize("heated", [1e-3, 0.5, 3.0, 1e3], indirect=True)
@pytest.mark.parametrize("rules", ["none", "ud"])
def test_temperatures_change_no_tree(parser, heated, rules):
    hot = list(heated.parse(treebank(), confidence=True, rules=rules))
    for name in TEMPERATURES:
        setattr(heated, name, 1.0)
    for one, other in zip(hot, parser.parse(treebank(), rules=rules), strict=True):
        assert (one.tree.tolist(), one.deprels) == (other.tree.tolist(), other.deprels)


@pytest.mark.parametrize("heated", [0.5, 3.0], indirect=True)
def test_relations_and_trees_have_probabilities(heated):
    parser, temperature = heated, heated.tree_temperature
    for sentence in parser.parse(treebank(), confidence=True, rules="none"):
        words = np.arange(1, len(sentence) + 1)
        weights = parser.labeled_scores(sentence)[sentence.heads, words].astype(np.float64)
        shares = np.exp(weights / temperature)
        shares /= shares.sum(axis=1, keepdims=True)
        codes = [parser.labels.index(label) for label in sentence.deprels]
        expected = shares[np.arange(len(sentence)), codes]
        np.testing.assert_allclose(edge_probs(sentence, "RelationProb"), expected, atol=1e-4)
        if len(sentence) <= 5:
            trees = all_trees(len(sentence), True, False)
            scores = parser.scores(sentence).astype(np.float64) / temperature
            logs = [arb.tree_weight(scores, tree) for tree in trees]
            log = arb.tree_weight(scores, sentence.tree) - np.logaddexp.reduce(logs)
            assert float(sentence.comment("tree_prob")) == pytest.approx(math.exp(log), abs=1e-4)


def test_each_of_the_k_best_trees_has_its_own_probability(parser):
    for trees in parser.kbest(treebank(), 3, confidence=True):
        shares = [float(tree.comment("tree_prob")) for tree, _ in trees]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1 + 1e-3


def test_given_relations_are_sure(parser):
    [sentence] = treebank()[:1]
    given = sentence.replace(heads=None)
    [parsed] = parser.parse([given], keep=True, confidence=True)
    assert edge_probs(parsed, "RelationProb") == [1.0] * len(sentence)


def test_temperatures_are_fitted_and_kept(parser, tmp_path):
    parser.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    fitted = parser.fitted_temperatures(treebank()[3:], "single")
    assert tuple(fitted) == TEMPERATURES
    for name, value in fitted.items():
        assert getattr(parser, name) == getattr(again, name) == value
    assert len(set(fitted.values())) == 3


def test_a_parser_that_goes_on_without_dev_keeps_all_temperatures(parser):
    more = LinearParser.train(treebank(), start=parser, epochs=1)
    for name in TEMPERATURES:
        assert getattr(more, name) == getattr(parser, name) != 1.0
    assert more.info["fitted"] == parser.info["fitted"] == len(treebank()[3:])
    again = LinearParser.train(treebank(), dev=treebank()[:2], start=parser, epochs=1)
    assert again.info["fitted"] == 2


def test_training_says_on_how_many_sentences_temperatures_were_fitted():
    how = {"kind": "linear", "epochs": 1, "bits": BITS, "text": False}
    whole = train(treebank(), treebank()[4:], **how)  # gold and predicted tags: each is there twice
    assert whole.info["fitted"] == len(treebank()[4:])
    assert "fitted" not in train(treebank(), **how).info


def test_fitting_anew_is_what_training_does(tmp_path):
    """From words, if the parser finds their tags, and with the tags that are given."""
    how = {"kind": "linear", "epochs": 1, "bits": BITS, "text": False}
    how["columns"] = ("form", "upos")  # no lemmas, which only a parser with text can find
    before = train(treebank(), treebank()[4:], **how)
    before.save(tmp_path / "model.npz")
    after = load(tmp_path / "model.npz")
    for name in TEMPERATURES:
        setattr(after, name, 1.0)
    write(treebank()[4:], tmp_path / "dev.conllu")
    assert calibrate(after, tmp_path / "dev.conllu") == len(treebank()[4:])
    for name in TEMPERATURES:
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=0.01)
    assert after.info["fitted"] == before.info["fitted"]


def test_parsers_in_parsers_are_fitted_too():
    parsers = [copy(small_parser("tree")), copy(small_parser("linear"))]
    calibrate(CombinedParser([*parsers, small_parser("greedy")]), treebank())
    for each in parsers:
        assert fitted(each)
        assert fitted_on(each) == len(treebank())
    alone = copy(small_parser("tree"))
    reranker = Reranker(parser=alone, k=2, weights=np.zeros(1 << 10, np.float32), scale=1.0)
    calibrate(reranker, treebank())
    assert [fitted(each) for each in (reranker, alone, small_parser("tree"))] == [True, True, False]
    with pytest.raises(TreebankError):
        calibrate(alone, [])
    with pytest.raises(ModelError, match="no probabilities"):
        calibrate(small_parser("second-order"), treebank())


def test_tags_that_are_predicted_have_probabilities():
    tagger = Tagger.train(treebank()[:4], dev=treebank()[4:], epochs=2)
    bare = [sentence.replace(upos=None, xpos=None, feats=None) for sentence in treebank()]
    heats = [stage.temperature for stage in tagger._stages]
    assert heats[0] == 1 != heats[1]
    names, guesses = tagger.guess(bare, 1)["upos"]
    found = list(tagger.tag(bare, confidence=True))
    shares = [share for sentence in found for share in edge_probs(sentence, "UposProb")]
    np.testing.assert_allclose(shares, guesses.chances[:, 0], atol=5.1e-5)
    assert [tag for one in found for tag in one.upos] == [names[c] for c in guesses.tags[:, 0]]
    header, arrays = tagger.to_file()
    assert [stage.temperature for stage in Tagger.from_file(header, arrays)._stages] == heats
    for stage in header["stages"]:
        del stage["temperature"]  # a tagger from before
    assert {stage.temperature for stage in Tagger.from_file(header, arrays)._stages} == {1.0}
    assert "UposProb" not in "".join(next(iter(tagger.tag(treebank(), confidence=True))).misc)


def test_reliability_of_relations_tags_and_trees():
    gold = Sentence.from_words(
        ["Trees", "grow"], upos=["NOUN", "VERB"], heads=[2, 0], deprels=["nsubj", "root"]
    )
    parsed = gold.replace(
        heads=[2, 0],
        deprels=["obj", "root"],
        upos=["NOUN", "NOUN"],
        misc=["RelationProb=0.15|UposProb=0.95", "RelationProb=0.85|UposProb=0.45"],
        comments=["# tree_prob = 0.3500"],
    )
    of = {what: reliability([gold], [parsed], of=what) for what in ("relation", "tag", "tree")}
    assert of["relation"].error == pytest.approx(0.15)
    assert of["tag"].error == pytest.approx(0.25)
    assert of["tree"].error == pytest.approx(0.65)
    wrong = parsed.replace(heads=[0, 1])
    assert reliability([gold], [wrong], of="tree").error == pytest.approx(0.35)
    with pytest.raises(arb.OptionError, match="of must be"):
        reliability([gold], [parsed], of="lemma")


def test_choices_among_classes():
    weights = np.array([[4.0, 0, -np.inf], [0, 4, 0], [4, 0, 0]])
    heat = fit_choices(weights, np.array([True, True, True]))
    assert heat < 0.2
    assert fit_choices(2 * weights, np.array([True, False, True])) == pytest.approx(
        2 * fit_choices(weights, np.array([True, False, True])), rel=0.01
    )


def test_choices_without_any_class_say_nothing():
    """As after training on a tree of which only the root edge is known."""
    weights = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [-np.inf, -np.inf]])
    right = np.array([True, True, False, False])
    with np.errstate(all="raise", under="ignore"):
        assert fit_choices(weights, right) == fit_choices(weights[:3], right[:3])
