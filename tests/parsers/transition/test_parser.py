import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers import LinearParser, Reranker, Tagger, TransitionParser, model_file
from arborescence.parsers.shared.run import Task, Weights
from arborescence.parsers.transition.features import rows_for
from arborescence.parsers.transition.settings import Settings
from arborescence.parsers.transition.training import Trainer
from arborescence.transitions import SYSTEMS, get_system
from arborescence.treebank import Sentence, evaluate, read
from samples import bare, treebank, unparsed

BITS = 14  # little, so that tests are quick
PROJECTIVE = [name for name in SYSTEMS if name != "swap"]
WAYS = [
    (name, oracle, beam)
    for name in SYSTEMS
    for oracle in ("static", "dynamic")
    for beam in (1, 4)
    if oracle == "static" or name in ("arc-eager", "arc-hybrid")
]


def train(name, beam=1, **options):
    options = {"epochs": 20, "bits": BITS} | options
    return TransitionParser.train(treebank(), system=name, beam=beam, **options)


@pytest.fixture(scope="module", params=SYSTEMS)
def greedy(request):
    return train(request.param)


@pytest.fixture(scope="module", params=SYSTEMS)
def beam(request):
    return train(request.param, beam=4)


@pytest.fixture(scope="module", params=[1, 4], ids=["greedy", "beam"])
def parser(request):
    return train("arc-hybrid", request.param)


def raws(sentences):
    return [sentence.raw for sentence in sentences]


def lifted():
    return [sentence.replace(heads=arb.projectivize(sentence.tree)) for sentence in treebank()]


@pytest.mark.parametrize(("name", "oracle", "beam"), WAYS)
def test_learns_a_small_treebank_by_heart(name, oracle, beam):
    parser = train(name, beam, oracle=oracle)
    assert (parser.system, parser.oracle, parser.beam) == (name, oracle, beam)
    gold = treebank() if name == "swap" else lifted()
    assert raws(parser.parse(map(unparsed, treebank()))) == raws(gold)


@pytest.mark.parametrize("name", PROJECTIVE)
@pytest.mark.parametrize("beam", [1, 4])
def test_a_pseudo_projective_parser_learns_crossing_trees_by_heart(name, beam):
    parser = train(name, beam, projective="pseudo")
    assert raws(parser.parse(map(unparsed, treebank()))) == raws(treebank())
    [*flat] = parser.parse(map(unparsed, treebank()), projective=True)
    assert raws(flat) == raws(lifted())
    made = get_system(name).replay(7, parser.derivation(treebank()[5]))
    assert made.heads.tolist() == lifted()[5].heads.tolist()
    assert made.deprels[5] == "nmod↑nsubj"
    assert (arb.decode(parser.scores(treebank()[5])) == treebank()[5].tree).all()


def test_columns():
    parser = train("arc-eager", columns=("upos", "form"))
    assert raws(parser.parse(treebank())) == raws(lifted())
    renamed = [s.replace(lemmas=["x"] * len(s), xpos=["x"] * len(s)) for s in treebank()]
    for one, other in zip(parser.parse(renamed), parser.parse(treebank()), strict=True):
        assert one.tree.tolist() == other.tree.tolist()


def test_the_oracle_is_dynamic_where_there_is_one():
    for name in SYSTEMS:
        parser = train(name, epochs=1)
        dynamic = name in ("arc-eager", "arc-hybrid")
        assert parser.oracle == parser.info["oracle"] == ("dynamic" if dynamic else "static")
        if not dynamic:
            with pytest.raises(ValueError, match=f"does not go with system='{name}'"):
                train(name, oracle="dynamic")


@pytest.mark.parametrize("beam", [1, 4])
def test_the_same_seed_gives_the_same_parser(tmp_path, beam):
    files = []
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        train("arc-hybrid", beam, epochs=3, rng=seed).save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] != files[2]


class InterruptedTrainingError(Exception):
    pass


@pytest.mark.parametrize("beam", [1, 4])
def test_an_interrupted_training_goes_on_to_the_same_end(tmp_path, beam):
    options = {"dev": treebank()[:3], "epochs": 5, "patience": 9}

    def interrupt(phase, done, total):
        assert total == len(treebank())
        if (phase, done) == ("epoch 4", 0):
            raise InterruptedTrainingError

    path = tmp_path / "checkpoint"
    with pytest.raises(InterruptedTrainingError):
        train("arc-eager", beam, **options, checkpoint=path, progress=interrupt)
    phases = []
    resumed = train(
        "arc-eager",
        beam,
        **options,
        checkpoint=path,
        progress=lambda phase, done, total: phases.append(phase),
    )
    assert phases[0] == "epoch 4"
    assert phases[-1].startswith("epoch 5: UAS ")
    resumed.save(tmp_path / "resumed")
    train("arc-eager", beam, **options).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(
    "other",
    [{"beam": 2}, {"oracle": "static"}, {"rng": 2}, {"bits": 12}, {"columns": ("upos",)}],
    ids=str,
)
def test_a_checkpoint_of_another_training(tmp_path, other):
    path = tmp_path / "checkpoint"
    options = {"epochs": 1, "checkpoint": path}
    train("arc-eager", **options)
    with pytest.raises(ModelError, match=r"checkpoint: the checkpoint is of another"):
        train("arc-eager", **(options | other))
    with pytest.raises(ModelError, match="not a checkpoint of a linear parser"):
        LinearParser.train(treebank(), **options)


def test_dev_chooses_the_epoch_and_stops():
    parser = train("arc-standard", dev=treebank(), epochs=50, patience=2)
    las = [scores["las"] for scores in parser.info["dev"]]
    assert parser.info["epoch"] == las.index(max(las)) + 1 == len(las) - 2
    assert (parser.info["sentences"], parser.info["bits"]) == (7, BITS)
    found = evaluate(treebank(), parser.parse(map(unparsed, treebank())))
    assert 100 * found.las.f1 == pytest.approx(max(las))


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", ["arc-eager", "swap"])
def test_what_is_right_is_left_alone(name, beam):
    chosen = Settings(
        columns=("form", "upos"),
        system=name,
        oracle="static",
        beam=beam,
        root="single",
        projective=False,
        rng=1,
        bits=BITS,
    )
    trainer = Trainer(Task(treebank(), [], chosen, TransitionParser))
    trainer.run(30, 1)
    before = {part: weights.copy() for part, weights in trainer._weights.items()}
    trainer.run(31, 1)  # one epoch more
    for part, weights in trainer._weights.items():
        assert weights.any()
        assert (weights == before[part]).all()


def test_one_word_leaves_nothing_to_learn():
    one = Sentence.from_words(["Grow"], upos=["VERB"], heads=[-1, 0], deprels=["root"])
    for beam in (1, 4):
        parser = TransitionParser.train([one], beam=beam, epochs=2, bits=BITS)
        _, arrays = parser.to_file()
        assert not arrays["actions"].any()
        assert not arrays["relations"].any()
        # Training saw no relation of two words.
        [parsed] = parser.parse([Sentence.from_words(["Grow", "up"], upos=["VERB", "ADV"])])
        assert arb.is_tree(parsed.tree)
        assert sorted(parsed.deprels) == ["_", "root"]


@pytest.mark.parametrize("beam", [1, 8])
def test_a_derivation_makes_the_parse(greedy, beam):
    greedy.beam = beam
    for sentence in [*map(unparsed, treebank()), *map(bare, treebank())]:
        transitions = greedy.derivation(sentence)
        swaps = sum(transition.action == "SWAP" for transition in transitions)
        assert len(transitions) == 2 * len(sentence) + 2 * swaps
        made = get_system(greedy.system).replay(len(sentence), transitions)
        [parsed] = greedy.parse([sentence])
        assert (made.heads.tolist(), made.deprels) == (parsed.heads.tolist(), parsed.deprels)
        assert arb.decode(greedy.scores(sentence)).tolist() == made.tree.tolist()
    greedy.beam = 1


def test_the_beam_may_be_changed(beam):
    unknown = [Sentence.from_words(["bird", "tree", "the"] * 5)]
    [narrow] = beam.kbest(unknown, 9)
    assert 1 <= len(narrow) <= 4
    beam.beam = 32
    [wide] = beam.kbest(unknown, 9)
    assert len(wide) == 9
    assert wide[0][1] >= narrow[0][1]
    for wrong in (0, -1, 10**30):
        with pytest.raises(ValueError, match="beam must be a whole number from 1 to 10000"):
            beam.beam = wrong
    beam.beam = 4


def test_the_k_best_are_different_trees_and_the_first_is_the_parse(beam):
    for k in (1, 2, 4):
        found = list(beam.kbest(treebank(), k))
        assert raws(trees[0][0] for trees in found) == raws(beam.parse(treebank()))
        for sentence, trees in zip(treebank(), found, strict=True):
            weights = [weight for _, weight in trees]
            assert weights == sorted(weights, reverse=True)
            assert len({tuple(tree.tree) for tree, _ in trees}) == len(trees) <= k
            for tree, _ in trees:
                assert tree.forms == sentence.forms
                assert arb.is_tree(tree.tree)
                assert beam.system == "swap" or arb.is_projective(tree.tree)
                for head, relation in zip(tree.heads, tree.deprels, strict=True):
                    assert (head == 0) == (relation == "root")


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=10)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sampled_from(["single", "multi"]),
    st.sampled_from([None, True]),
    st.sampled_from([1, 3, 20]),
)
def test_every_parse_is_a_tree_whatever_the_weights(name, seed, lengths, root, projective, beam):
    generator = np.random.default_rng(seed)
    labels = [f"r{i}" for i in range(generator.integers(1, 70))]
    parser = TransitionParser(
        system=name,
        oracle="static",
        beam=beam,
        columns=("form", "upos"),
        labels=labels,
        allowed=generator.random((2, len(labels))) < 0.5,
        weights={
            "actions": Weights(
                generator.integers(-128, 128, size=(rows_for(7), 4)).astype(np.int8)
            ),
            "relations": Weights(
                generator.integers(-128, 128, size=(2, len(labels))).astype(np.int8)
            ),
        },
    )
    sentences = [
        Sentence.from_words([f"w{i}" for i in generator.integers(0, 9, size=n)]) for n in lengths
    ]
    for parsed in parser.parse(sentences, root=root, projective=projective):
        assert arb.is_tree(parsed.tree, root=root)
        if projective or name != "swap":
            assert arb.is_projective(parsed.tree)


def test_edges_that_may_cross_or_not(greedy):
    crossing = unparsed(treebank()[5])
    if greedy.system == "swap":
        for projective in (None, False):
            [parsed] = greedy.parse([crossing], projective=projective)
            assert not arb.is_projective(parsed.tree)
        [parsed] = greedy.parse([crossing], projective=True)
        assert arb.is_projective(parsed.tree)
    else:
        with pytest.raises(ModelError, match=f"{greedy.system} cannot build crossing edges"):
            list(greedy.parse([crossing], projective=False))


def test_there_are_no_probabilities(parser):
    with pytest.raises(ModelError, match="graph-based"):
        list(parser.parse(treebank(), confidence=True))


def test_threads_and_batches_change_nothing(parser):
    many = treebank() * 800
    plain = raws(parser.parse(many))
    assert plain == raws(parser.parse(treebank())) * 800
    assert plain == raws(parser.parse(iter(many), threads=3))
    assert [[t.raw for t, _ in trees] for trees in parser.kbest(many[:300], 3, threads=2)] == [
        [t.raw for t, _ in trees] for trees in parser.kbest(treebank(), 3)
    ] * 42 + [[t.raw for t, _ in trees] for trees in parser.kbest(treebank()[:6], 3)]


def test_no_sentences_no_parses(parser):
    assert list(parser.parse([])) == []
    assert list(parser.kbest(iter(()), 2, threads=2)) == []


def test_words_that_were_never_seen_are_parsed(parser):
    strange = Sentence.from_words(["Ωδή", "_", "x" * 300], upos=["_", "NEW", "NOUN"])
    [parsed] = parser.parse([strange])
    assert arb.is_tree(parsed.tree)
    assert set(parsed.deprels) <= set(parser.labels)


def test_a_long_sentence(beam):
    generator = np.random.default_rng(0)
    words = [word for sentence in treebank() for word in sentence.forms]
    long = Sentence.from_words(generator.choice(words, size=300).tolist())
    [parsed] = beam.parse([long])
    assert arb.is_tree(parsed.tree)
    assert len(beam.derivation(long)) >= 600


@pytest.mark.parametrize(("n", "beam"), [(300, 1), (40, 4)])
def test_a_long_sentence_with_crossing_edges_is_learned(n, beam):
    heads = [-1, *range(2, n + 1), 0]  # a chain, but that every tenth edge crosses another
    for d in range(10, n, 10):
        heads[d - 1], heads[d] = d + 1, d + 3
    assert not arb.is_projective(heads)
    long = Sentence.from_words(
        [f"w{i}" for i in range(n)], heads=heads, deprels=["dep"] * (n - 1) + ["root"]
    )
    parser = TransitionParser.train([long], system="swap", beam=beam, epochs=150, bits=16)
    assert raws(parser.parse([unparsed(long)])) == [long.raw]


def test_trees_with_several_roots():
    twins = Sentence.from_words(["Go", "grow"], heads=[-1, 0, 0], deprels=["root", "root"])
    with pytest.raises(TreebankError, match="root='multi'"):
        TransitionParser.train([twins, *treebank()], bits=BITS)
    for name in SYSTEMS:
        for beam in (1, 4):
            parser = TransitionParser.train(
                [twins, *treebank()], system=name, beam=beam, root="multi", bits=BITS, epochs=20
            )
            [parsed] = parser.parse([unparsed(twins)], root="multi")
            assert parsed.tree.tolist() == [-1, 0, 0]
            [parsed] = parser.parse([unparsed(twins)])
            assert arb.is_tree(parsed.tree)


def test_sentences_without_tags_are_tagged(tmp_path):
    tagger = Tagger.train(treebank(), epochs=10)
    parser = train("arc-hybrid", tagger=tagger, columns=("form", "upos"))
    untagged = list(map(bare, treebank()))
    parsed = list(parser.parse(untagged))
    assert [s.upos for s in parsed] == [s.upos for s in tagger.tag(untagged)]
    assert [s.tree.tolist() for s in parsed] == [s.tree.tolist() for s in lifted()]
    assert parser.derivation(untagged[0]) == parser.derivation(parsed[0])
    parser.save(tmp_path / "model")
    assert raws(arb.load(tmp_path / "model").parse(untagged)) == raws(parsed)


def test_settings_that_make_no_sense():
    for wrong in (
        {"columns": ()},
        {"columns": ("misc",)},
        {"columns": ("feats",)},
        {"system": "arc-lazy"},
        {"oracle": "delphi"},
        {"beam": 0},
        {"epochs": 0},
        {"patience": 0},
        {"root": "none"},
        {"bits": 9},
        {"bits": 27},
        {"system": "swap", "projective": "pseudo"},
    ):
        *_, name = wrong
        with pytest.raises(ValueError, match=name):
            TransitionParser.train(treebank(), **wrong)


def test_a_treebank_that_teaches_nothing():
    with pytest.raises(TreebankError, match="empty"):
        TransitionParser.train([])
    with pytest.raises(TreebankError, match="not a tree"):
        TransitionParser.train([unparsed(treebank()[0])])


def test_a_reranker_chooses_among_its_trees(tmp_path):
    def make(sentences, **options):
        return TransitionParser.train(
            sentences, system="arc-eager", beam=4, epochs=2, bits=BITS, **options
        )

    reranker = Reranker.train(treebank(), k=4, folds=2, epochs=2, bits=10, make_parser=make)
    reranker.save(tmp_path / "model")
    for parsed in arb.load(tmp_path / "model").parse(treebank()):
        assert arb.is_tree(parsed.tree)
        found = reranker.parser.kbest([parsed], 4)
        assert parsed.tree.tolist() in [t.tree.tolist() for [*trees] in found for t, _ in trees]


def test_round_trip(parser, saved):
    for load in (arb.load, TransitionParser.load):
        loaded = load(saved)
        assert isinstance(loaded, TransitionParser)
        for name in ("system", "oracle", "beam", "columns", "labels", "projective"):
            assert getattr(loaded, name) == getattr(parser, name)
        assert loaded.info == json.loads(json.dumps(parser.info))
        strange = [Sentence.from_words(["bird", "tree", "the"] * 5)]
        for sentences in (treebank(), strange):
            assert list(loaded.kbest(sentences, 3)) == list(parser.kbest(sentences, 3))
    loaded.save(saved.with_name("again"))
    assert saved.with_name("again").read_bytes() == saved.read_bytes()


def test_a_model_of_another_kind(saved, tmp_path):
    with pytest.raises(ModelError, match=r"some\.model: holds a parser of the kind 'transition'"):
        LinearParser.load(saved)
    LinearParser.train(treebank(), epochs=1, bits=10).save(tmp_path / "other.model")
    with pytest.raises(ModelError, match=r"other\.model: holds a parser of the kind 'linear'"):
        TransitionParser.load(tmp_path / "other.model")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_file_that_is_cut_off(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelError, match=r"some\.model: "):
        arb.load(saved)


MISSING = object()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("kind", ["transitive", None]),
        ("system", ["arc-lazy", 2, ["swap"]]),
        ("oracle", ["none", None]),
        ("features", ["00000000", None]),
        ("beam", [0, -1, 2.5, "8", None]),
        ("columns", [[], ["misc"], ["feats"], [["form"]], "form", None]),
        ("labels", ["root", [1], [""], ["a\tb"], ["a\n"], None]),
        ("pseudo_projective", ["yes", None]),
        ("units", [[1.0], [1.0, 0.0], [1.0, -1.0], ["1", 1.0], 1.0, None]),
        (
            "allowed",
            [np.ones((2, 3), bool), np.ones((1, 9), bool), np.ones((2, 9), np.int8)],
        ),
        (
            "actions",
            [
                np.ones((rows_for(10), 3), np.int8),
                np.ones(rows_for(10), np.int8),
                np.ones((rows_for(10) - 1, 4), np.int8),
                np.ones((1, 4), np.int8),
                np.ones((0, 4), np.int8),
                np.ones((rows_for(10), 4), np.int16),
            ],
        ),
        ("relations", [np.ones((8, 3), np.int8), np.ones((6, 9), np.int8), np.ones((8, 9))]),
    ],
)
def test_parts_that_do_not_fit(saved, name, values):
    header, arrays = model_file.load(saved)
    for value in (MISSING, *values):
        parts = {**header}, {**arrays}
        changed = parts[1 if name in arrays else 0]
        if value is MISSING:
            del changed[name]
        else:
            changed[name] = value
        model_file.save(saved, *parts)
        with pytest.raises(ModelError, match=r"some\.model: .*(no parser|" + name + ")"):
            arb.load(saved)


def test_learns_from_a_real_treebank(treebanks):
    sentences = list(read(treebanks / "Turkish-IMST" / "tr_imst-ud-dev.conllu.gz"))
    for name in ("arc-hybrid", "swap"):
        parser = TransitionParser.train(sentences[:800], system=name, epochs=3, bits=16)
        evaluation = evaluate(sentences[800:], parser.parse(sentences[800:], threads=2))
        assert evaluation.uas.f1 > 0.5
        assert evaluation.las.f1 > 0.35
        assert evaluation.root_violations == 0


@pytest.mark.parametrize("train", [LinearParser.train, TransitionParser.train])
def test_marks_of_lifted_edges_mean_nothing_to_other_parsers(train):
    lesson = Sentence.from_words(
        ["the", "tree"], upos=["DET", "NOUN"], heads=[-1, 2, 0], deprels=["det↑root", "root"]
    )
    [parsed] = train([lesson], epochs=2, bits=BITS).parse([unparsed(lesson)])
    assert parsed.deprels == lesson.deprels
