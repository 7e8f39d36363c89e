"""Neural parsers: trees, k-best lists, probabilities, tags, lemmas, files, devices."""

import importlib.util
import json
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import arborescence as arb
import laws
from arborescence.errors import ModelError, OptionError
from arborescence.parsers import BiaffineParser, CombinedParser, LinearParser, Reranker, Tagger
from arborescence.parsers.text import Text
from arborescence.treebank import Sentence
from samples import bare, treebank, unparsed
from tiny_networks import TINY, random_parser

NEW = [
    *map(unparsed, treebank()),
    *map(bare, treebank()),
    Sentence.from_words(["Grow"]),
    Sentence.from_words(["old", "?"] * 60, upos=["NOUN", "NEW"] * 60),
]
DEVICES = [None]
if importlib.util.find_spec("torch"):
    import torch

    DEVICES += ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(scope="module")
def tagger():
    return Tagger.train(treebank(), epochs=2)


@pytest.fixture(scope="module")
def text():
    return Text.train(treebank())


@pytest.fixture(
    scope="module",
    params=[(device, scorer) for device in DEVICES for scorer in ("biaffine", "mlp")],
    ids=str,
)
def parser(request, tagger):
    device, scorer = request.param
    return random_parser(
        treebank(), tagger=tagger if scorer == "biaffine" else None, device=device, scorer=scorer
    )


def raws(sentences):
    return [sentence.raw for sentence in sentences]


def test_parse_finds_the_best_tree_of_its_scores(parser):
    for sentence in NEW:
        scores = parser.scores(sentence)
        laws.are_scores(scores, sentence)
        for root in ("single", "multi"):
            for projective in (False, True):
                [parsed] = parser.parse([sentence], root=root, projective=projective)
                best = arb.decode(scores, root=root, projective=projective)
                assert (parsed.tree == best).all()


def test_all_sentences_at_once_or_one_by_one(parser):
    """Batches change rounding errors, and no tree."""
    together = list(parser.parse(NEW))
    assert raws(together) == [sentence.raw for one in NEW for sentence in parser.parse([one])]
    many = NEW * 60
    assert raws(parser.parse(many)) == raws(together) * 60
    assert raws(parser.parse(iter(many), threads=2)) == raws(together) * 60


def test_nothing_to_parse(parser):
    assert list(parser.parse([])) == []
    assert list(parser.kbest([], 3)) == []
    assert parser._parse_batch([], arb.parsers.shared.base.Options("single", None, True)) == []


def test_words_in_lists(parser):
    [parsed] = parser.parse([["Old", "trees", "grow"]])
    [same] = parser.parse([Sentence.from_words(["Old", "trees", "grow"])])
    assert parsed.raw == same.raw


def test_missing_tags_are_filled_in_and_given_ones_kept(parser):
    for given, parsed in zip(NEW, parser.parse(NEW), strict=True):
        for column in ("upos", "xpos", "feats"):
            before, after = getattr(given, column), getattr(parsed, column)
            if set(before) != {"_"}:
                assert after == before
            else:
                known = parser.vocabulary.tags[column].values
                assert set(after) <= set(known)
        assert all(parsed.deprels)


def test_relations_of_the_root_are_for_the_root_only(parser):
    for parsed in parser.parse(NEW, root="multi"):
        for head, relation in zip(parsed.heads, parsed.deprels, strict=True):
            assert (head == 0) == (relation == "root")


@pytest.mark.parametrize("projective", [None, True])
def test_the_k_best_trees(parser, projective):
    for sentence, found in zip(NEW, parser.kbest(NEW, 5, projective=projective), strict=True):
        scores = parser.scores(sentence)
        heads, weights, _ = arb.kbest(scores, 5, projective=bool(projective))
        words = np.arange(1, len(sentence) + 1)
        assert len({tree.tree.tobytes() for tree, _ in found}) == len(heads)
        for tree, weight in found:  # trees of nearly the same weight may change places
            assert weight == pytest.approx(scores[tree.heads, words].sum(), rel=1e-5, abs=1e-4)
        assert [weight for _, weight in found] == pytest.approx(weights, rel=1e-5, abs=1e-4)
        [best] = parser.parse([sentence], projective=projective)
        assert found[0][0].raw == best.raw
        for tree, _ in found:  # the relation of an edge does not depend on the rest of the tree
            same = tree.tree == best.tree
            assert all(
                one == two
                for one, two, is_same in zip(tree.deprels, best.deprels, same[1:], strict=True)
                if is_same
            )


@pytest.mark.parametrize("root", ["single", "multi"])
def test_confidence_is_the_marginal(parser, root):
    parser.temperature = 2.0
    for sentence, parsed in zip(NEW, parser.parse(NEW, root=root, confidence=True), strict=True):
        believed = arb.TreeDistribution(parser.scores(sentence) / 2, root=root)
        marginals = believed.marginals()[parsed.heads, np.arange(1, len(sentence) + 1)]
        found = arb.parsers.shared.confidence.edge_probs(parsed)
        assert found == pytest.approx(marginals, abs=1e-3)
    [(one, _), (two, _)] = next(parser.kbest(NEW[:1], 2, confidence=True))
    assert one.misc != two.misc
    parser.temperature = 1.0


def test_evidence_for_combined_parsers(parser):
    options = arb.parsers.shared.base.Options("single", None, False)
    for sentence, (tree, evidence) in zip(NEW, parser._evidence_batch(NEW, options), strict=True):
        marginals = arb.TreeDistribution(parser.scores(sentence)).marginals()
        assert evidence == pytest.approx(marginals, abs=1e-4)
        assert (tree.tree == arb.decode(parser.scores(sentence))).all()
    both = CombinedParser([parser, LinearParser.train(treebank(), epochs=1, bits=10)])
    assert all(arb.is_tree(tree.tree) for tree in both.parse(NEW, rules="none"))


@pytest.mark.parametrize("precision", ["float16", "int8"])
@pytest.mark.parametrize("has_tagger", [False, True])
def test_a_saved_parser_is_the_same(tmp_path, tagger, text, precision, has_tagger):
    parser = random_parser(
        treebank(),
        tagger=tagger if has_tagger else None,
        text=text,
        precision=precision,
        columns=("form", "lemma", "upos", "xpos", "feats"),
    )
    parser.info["dev"] = [{}]
    parser.temperature = 1.5
    parser.save(tmp_path / "one.model")
    loaded = arb.load(tmp_path / "one.model")
    assert isinstance(loaded, BiaffineParser)
    assert raws(loaded.parse(NEW, confidence=True)) == raws(parser.parse(NEW, confidence=True))
    assert (loaded.scores(NEW[0]) == parser.scores(NEW[0])).all()
    assert loaded.info == json.loads(json.dumps(parser.info))
    loaded.save(tmp_path / "two.model")
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "two.model").read_bytes()


def test_missing_lemmas_are_filled_in(text):
    parser = random_parser(treebank(), text=text)
    for given, parsed in zip(NEW, parser.parse(NEW), strict=True):
        if set(given.lemmas) == {"_"}:
            assert set(parsed.lemmas) != {"_"}
        else:
            assert parsed.lemmas == given.lemmas
    assert [sentence.forms for sentence in parser.parse("Old trees grow.")]


def changed(sentence, column):
    """The sentence with another value for its last word."""
    values = getattr(sentence, column)
    other = next(value for value in getattr(treebank()[0], column) if value not in values[-1:])
    return sentence.replace(**{column + "s" * (column == "lemma"): [*values[:-1], other]})


@pytest.mark.parametrize("device", DEVICES)
def test_every_input_reaches_the_scores(device, tagger):
    """Also those of the first word, by way of the LSTMs, if only the last one changes."""
    parser = random_parser(
        treebank(),
        tagger=tagger,
        device=device,
        columns=("form", "lemma", "upos", "xpos", "feats"),
    )
    sentence = treebank()[1]
    before = parser.scores(sentence)
    everything = {
        **{column: changed(sentence, column) for column in ("upos", "xpos", "feats")},
        "lemma": sentence.replace(lemmas=[*sentence.lemmas[:-1], "old"]),
        "word": with_last_word(sentence, "slowly"),
        "spelling": with_last_word(sentence, "Tree"),  # the same word in lower case
    }
    for name, other in everything.items():
        after = parser.scores(other)
        assert (after[1:, 1:] != before[1:, 1:])[~np.eye(len(sentence), dtype=bool)].all(), name

    guess = tagger.guess
    try:
        for column in ("upos", "xpos", "feats"):

            def otherwise(some, column=column):
                found = guess(some)
                found[column][1].chances[-1] /= 2
                return found

            tagger.guess = otherwise
            assert (parser.scores(sentence) != before)[1:, 2:].any(), f"hints of {column}"
    finally:
        del tagger.guess


def with_last_word(sentence, word):
    columns = {c: getattr(sentence, c) for c in ("lemmas", "upos", "xpos", "feats")}
    return Sentence.from_words([*sentence.forms[:-1], word], **columns)


@pytest.mark.skipif("cpu" not in DEVICES, reason="needs the extra 'torch'")
def test_torch_finds_the_same_on_each_device_and_is_near_numpy(tagger):
    """NumPy multiplies bytes, PyTorch float32."""
    parser = random_parser(treebank(), tagger=tagger)
    with_numpy = [parser.scores(sentence) for sentence in NEW]
    assert parser.device is None
    assert parser.to("cpu") is parser
    assert parser.device == "cpu"
    parsed = raws(parser.parse(NEW))
    for device in DEVICES:
        parser.to(device)
        assert device is None or raws(parser.parse(NEW)) == parsed
        for sentence, near in zip(NEW, with_numpy, strict=True):
            scores = parser.scores(sentence)
            assert np.abs(scores - near).max() < 0.1 * np.abs(scores).max()
    with pytest.raises(OptionError, match="device='tpu' is not available"):
        parser.to("tpu")


def test_a_device_for_parsers_that_have_none():
    linear = LinearParser.train(treebank(), epochs=1, bits=10)
    for parser in (linear, CombinedParser([linear])):
        with pytest.raises(OptionError, match="goes with neural parsers, not with a"):
            parser.to("cpu")
    if "cpu" in DEVICES:
        neural = random_parser(treebank())
        CombinedParser([linear, neural]).to("cpu")
        assert neural.device == "cpu"


def test_parsing_needs_no_torch(tmp_path):
    path = tmp_path / "some.model"
    random_parser(treebank()).save(path)
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import arborescence as arb\n"
        f"parser = arb.load({str(path)!r})\n"
        "[parsed] = parser.parse([['Trees', 'grow']])\n"
        "print(parsed.tree)\n"
        "parser.to('cpu')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith("[-1 "), done.stderr
    assert "MissingExtraError: the option device needs PyTorch: install it" in done.stderr


def test_training_returns_what_was_learned(tagger, text):
    pytest.importorskip("torch", reason="training needs the extra 'torch'")
    some = treebank()[:3]
    settings = {**TINY, "epochs": 40}
    parser = BiaffineParser.train(some, dev=some, text=text, tagger=tagger, **settings)
    assert raws(parser.parse(map(unparsed, some))) == raws(some)
    assert parser.info["dev"][parser.info["epoch"] - 1]["las"] == 100
    assert parser.info["epochs"] == 40
    assert parser.temperature != 1
    assert (parser.text, parser.tagger, parser.device) == (text, tagger, None)
    without = BiaffineParser.train(some, **{**settings, "epochs": 1})
    assert (without.temperature, without.info["epoch"], without.info["dev"]) == (1.0, 1, [{}])


def test_a_tagger_that_lacks_a_column():
    pytest.importorskip("torch", reason="training needs the extra 'torch'")
    tagger = Tagger.train(treebank(), epochs=1, columns=["upos"])
    with pytest.raises(OptionError, match="the tagger does not predict xpos, feats"):
        BiaffineParser.train(treebank(), tagger=tagger, **TINY)


def test_a_reranker_on_top():
    pytest.importorskip("torch", reason="training needs the extra 'torch'")
    make = partial(BiaffineParser.train, **TINY, epochs=2)
    reranker = Reranker.train(treebank(), k=3, folds=2, epochs=1, bits=10, make_parser=make)
    assert isinstance(reranker.parser, BiaffineParser)
    assert all(arb.is_tree(tree.tree) for tree in reranker.parse(NEW))
    if "cpu" in DEVICES:
        assert reranker.to("cpu").parser.device == "cpu"


def test_files_of_other_taggers(tmp_path, tagger):
    header, arrays = random_parser(treebank(), tagger=tagger).to_file()
    header = json.loads(json.dumps(header))
    small, of_small = Tagger.train(treebank(), epochs=1, columns=["upos"]).to_file()
    others = {name: array for name, array in arrays.items() if not name.startswith("tagger/")}
    others |= {f"tagger/{name}": array for name, array in of_small.items()}
    with pytest.raises(ModelError, match="the tagger does not predict feats, xpos"):
        BiaffineParser.from_file({**header, "tagger": small}, others)
    del header["tagger"]
    with pytest.raises(ModelError, match=r"array 'lower\.0\.input' is"):
        BiaffineParser.from_file(header, arrays)
