import numpy as np
import pytest

import arborescence as arb
import laws
from arborescence.errors import TreebankError
from arborescence.parsers import LinearParser
from arborescence.treebank import Sentence, evaluate, read
from samples import treebank, unparsed

BITS = 13  # little, so that tests are quick


@pytest.fixture(scope="module", params=[False, True], ids=["after", "joint"])
def parser(request):
    options = {"projective": False, "epochs": 12, "bits": BITS}
    return LinearParser.train(treebank(), joint=request.param, **options)


def raws(sentences):
    return [sentence.raw for sentence in sentences]


@pytest.mark.parametrize("loss", ["mira", "perceptron"])
@pytest.mark.parametrize("columns", [("form", "lemma", "upos", "xpos", "feats"), ("form", "upos")])
@pytest.mark.parametrize("joint", [False, True])
def test_learns_a_small_treebank_by_heart(loss, columns, joint):
    parser = LinearParser.train(
        treebank(), epochs=30, bits=BITS, loss=loss, columns=columns, joint=joint
    )
    assert raws(parser.parse(map(unparsed, treebank()))) == raws(treebank())


def test_the_same_seed_gives_the_same_parser(tmp_path):
    files = []
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        LinearParser.train(treebank(), epochs=3, bits=BITS, rng=seed).save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] != files[2]


def test_parse_finds_the_best_tree_of_its_scores(parser):
    for sentence in treebank():
        scores = parser.scores(sentence)
        laws.are_scores(scores, sentence)
        for root in ("single", "multi"):
            [parsed] = parser.parse([sentence], root=root)
            assert (parsed.tree == arb.decode(scores, root=root)).all()


def test_labeled_scores_are_the_scores_of_each_relation(parser):
    for sentence in treebank():
        labeled = parser.labeled_scores(sentence)
        assert labeled.shape == (len(sentence) + 1,) * 2 + (len(parser.labels),)
        assert labeled.dtype == np.float32
        assert (labeled.max(axis=-1) == parser.scores(sentence)).all()
        # Learned by heart: the best labeled tree is the gold one. Only it has the label "root".
        heads, labels = arb.decode_labeled(labeled)
        assert heads.tolist() == sentence.tree.tolist()
        assert [parser.labels[label] for label in labels[1:]] == sentence.deprels
        root = parser.labels.index("root")
        assert (labeled[1:, 1:, root][~np.eye(len(sentence), dtype=bool)] == -np.inf).all()
    one, two = arb.kbest_labeled(labeled, 2)[1]
    assert np.count_nonzero(one != two) == 1


def test_threads_and_batches_change_nothing(parser):
    many = treebank() * 800
    plain = raws(parser.parse(many))
    assert plain == raws(parser.parse(treebank())) * 800
    assert plain == raws(parser.parse(iter(many), threads=3))


def test_parsing_is_lazy_and_an_error_in_the_input_gets_through(parser):
    def sentences():
        yield from treebank() * 800
        raise TreebankError("broken")

    for threads in (1, 2):
        parsed = parser.parse(sentences(), threads=threads)
        next(parsed)
        with pytest.raises(TreebankError, match="broken"):
            list(parsed)


def test_nothing_but_heads_and_relations_is_written(parser):
    sentence = treebank()[0].replace(misc=["x=1"] * 6, comments=["# text = the old trees"])
    [parsed] = parser.parse([sentence])
    restored = parsed.replace(heads=sentence.tree, deprels=sentence.deprels)
    assert restored.raw == sentence.raw


def test_words_that_were_never_seen_are_parsed(parser):
    strange = Sentence.from_words(["Ωδή", "_", "x" * 300], upos=["_", "NEW", "NOUN"])
    [parsed] = parser.parse([strange])
    assert arb.is_tree(parsed.tree)
    assert set(parsed.deprels) <= set(parser.labels)


def test_no_sentences_no_parses(parser):
    assert list(parser.parse([])) == []
    assert list(parser.parse(iter(()), threads=2)) == []


def test_relations_of_the_root_are_for_root_edges_only(parser):
    for parsed in parser.parse([Sentence.from_words([word] * 9) for word in ("a", "tree", ".")]):
        for head, relation in zip(parsed.heads, parsed.deprels, strict=True):
            assert (head == 0) == (relation == "root")


def test_settings_that_make_no_sense():
    for wrong in (
        {"columns": ()},
        {"columns": ("misc",)},
        {"columns": ("feats",)},
        {"loss": "svm"},
        {"epochs": 0},
        {"patience": 0},
        {"root": "none"},
        {"C": 0.0},
        {"rate": -1.0},
        {"bits": 40},
    ):
        [name] = wrong
        with pytest.raises(ValueError, match=name):
            LinearParser.train(treebank(), **wrong)


def test_parsing_options_that_make_no_sense(parser):
    with pytest.raises(ValueError, match="threads"):
        parser.parse([], threads=0)
    with pytest.raises(ValueError, match="root"):
        parser.parse([], root="none")


def test_an_empty_treebank():
    with pytest.raises(TreebankError, match="empty"):
        LinearParser.train([])


def test_heads_that_are_no_tree(tmp_path):
    path = tmp_path / "cycle.conllu"
    path.write_text(
        "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
    )
    with pytest.raises(TreebankError, match=r"cycle\.conllu:3: the heads are not a tree"):
        LinearParser.train(read(path))


def test_trees_with_several_roots():
    twins = Sentence.from_words(["Go", "grow"], heads=[-1, 0, 0], deprels=["root", "root"])
    with pytest.raises(TreebankError, match="root='multi'"):
        LinearParser.train([twins, *treebank()], bits=BITS)
    parser = LinearParser.train([twins, *treebank()], root="multi", bits=BITS, epochs=20)
    [parsed] = parser.parse([unparsed(twins)], root="multi")
    assert parsed.tree.tolist() == [-1, 0, 0]
    [parsed] = parser.parse([unparsed(twins)])
    assert arb.is_tree(parsed.tree)


def test_dev_chooses_the_epoch_and_stops():
    calls = []
    parser = LinearParser.train(
        treebank(),
        dev=treebank()[:3],
        epochs=50,
        patience=2,
        bits=BITS,
        progress=lambda *call: calls.append(call),
    )
    las = [scores["las"] for scores in parser.info["dev"]]
    assert parser.info["epoch"] == las.index(max(las)) + 1 == len(las) - 2
    assert calls[0] == ("epoch 1", 0, 7)
    assert calls[-1][0].startswith(f"epoch {len(las)}: UAS ")


def test_a_large_step_limit_is_plain_mira_and_a_small_one_is_not():
    parsers = [
        LinearParser.train(treebank(), epochs=2, bits=BITS, C=c) for c in (10.0, 1000.0, 1e-5)
    ]
    scores = [parser.scores(treebank()[0]) for parser in parsers]
    assert (scores[0] == scores[1]).all()
    assert not np.allclose(scores[0], scores[2])


def test_learns_from_a_real_treebank(treebanks):
    sentences = list(read(treebanks / "Turkish-IMST" / "tr_imst-ud-dev.conllu.gz"))
    parser = LinearParser.train(sentences[:800], epochs=3, bits=16)
    evaluation = evaluate(sentences[800:], parser.parse(sentences[800:], threads=2))
    assert evaluation.uas.f1 > 0.5
    assert evaluation.las.f1 > 0.4
    assert evaluation.root_violations == 0
