from functools import partial

import numpy as np
import pytest

import arborescence as arb
from altered_models import altered
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers import LinearParser, Reranker, Tagger, model_file
from arborescence.parsers.reranker import training
from arborescence.treebank import Sentence
from ranked_lists import prepare, ranked
from samples import bare, treebank, unparsed

BITS = 13
make_parser = partial(LinearParser.train, projective=False, epochs=3, bits=BITS)
small = partial(Reranker.train, k=8, folds=3, bits=BITS, make_parser=make_parser)


@pytest.fixture(scope="module")
def reranker():
    return small(treebank(), dev=treebank()[:4])


@pytest.fixture
def saved(reranker, tmp_path):
    path = tmp_path / "some.model"
    reranker.save(path)
    return path


def raws(sentences):
    return [sentence.raw for sentence in sentences]


def twigs(n):
    """Words all alike, of which every other one has the next two as its children."""
    heads = [-1, 0, *(d - 1 if d % 2 == 0 else d - 2 for d in range(2, n + 1))]
    return Sentence.from_words(
        ["x"] * n, upos=["X"] * n, heads=heads, deprels=["root"] + ["dep"] * (n - 1)
    )


def test_learns_what_a_first_order_parser_cannot():
    # In the middle of a sentence, every edge over one word looks the same, and so does every edge
    # over two: which of them a word has depends on those of the words around it.
    training_sentences = [twigs(n) for n in (7, 9)] * 10
    make = partial(LinearParser.train, projective=False, epochs=5, bits=BITS)
    reranker = Reranker.train(training_sentences, k=200, folds=2, bits=BITS, make_parser=make)
    new = [unparsed(twigs(n)) for n in (7, 9)]
    assert raws(reranker.parser.parse(new)) != raws([twigs(7), twigs(9)])
    assert raws(reranker.parse(new)) == raws([twigs(7), twigs(9)])


def test_the_sentences_of_a_fold_are_not_seen_by_its_parser():
    numbered = [s.replace(comments=[f"# {i}"]) for i, s in enumerate(treebank())]
    seen, parsed = [], []

    class Spy(LinearParser):
        def kbest(self, sentences, k, **options):
            sentences = list(sentences)
            parsed.append((self.training_sentences, sentences))
            return super().kbest(sentences, k, **options)

    def make(sentences, **options):
        seen.append(list(sentences))
        parser = Spy.train(sentences, epochs=1, bits=10, **options)
        parser.training_sentences = seen[-1]
        return parser

    Reranker.train(numbered, k=2, folds=3, bits=10, make_parser=make)
    assert seen[0] == numbered  # the parser that is kept
    assert len(parsed) == 3
    for training_sentences, fold in parsed:
        assert not set(training_sentences) & set(fold)
        assert set(training_sentences) | set(fold) == set(numbered)
    assert sorted(raws(s for _, fold in parsed for s in fold)) == sorted(raws(numbered))


def test_the_same_seed_gives_the_same_reranker(tmp_path):
    files = []
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        small(treebank(), rng=seed).save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] != files[2]


def test_it_chooses_among_the_trees_of_its_parser(reranker):
    before = list(reranker.parser.kbest(treebank(), 8))
    after = list(reranker.kbest(treebank(), 8))
    changed = 0
    for ours, theirs in zip(after, before, strict=True):
        assert sorted(raws(s for s, _ in ours)) == sorted(raws(s for s, _ in theirs))
        weights = [weight for _, weight in ours]
        assert weights == sorted(weights, reverse=True)
        changed += raws(s for s, _ in ours) != raws(s for s, _ in theirs)
    assert changed
    assert [trees[:3] for trees in after] == list(reranker.kbest(treebank(), 3))
    assert after == list(reranker.kbest(treebank(), 1000))  # it looks at no more than 8
    assert [trees[0][0] for trees in after] == list(reranker.parse(treebank()))


def test_its_score_is_the_scaled_weight_and_the_features(reranker):
    before = list(reranker.parser.kbest(treebank(), 8))
    after = list(reranker.kbest(treebank(), 8))
    blank = Reranker(
        parser=reranker.parser, k=8, weights=np.zeros(1 << BITS, np.float32), scale=2.0
    )
    doubled = [[(tree, 2 * weight) for tree, weight in trees] for trees in before]
    assert list(blank.kbest(treebank(), 8)) == doubled
    batch, lists, templates, work = prepare(before)
    scores = np.empty(len(lists.weights))
    training.score_lists(batch, lists, templates, reranker.weights, work, scores)
    scores += reranker.scale * lists.weights
    for b, trees in enumerate(after):
        first, last = lists.firsts[b : b + 2]
        assert [weight for _, weight in trees] == sorted(scores[first:last], reverse=True)


def test_with_one_tree_to_choose_from_it_is_its_parser(reranker):
    alone = small(treebank())
    alone.k = 1
    assert list(alone.parse(treebank())) == list(alone.parser.parse(treebank()))


def test_scores_are_those_of_its_parser(reranker):
    for sentence in treebank():
        assert (reranker.scores(sentence) == reranker.parser.scores(sentence)).all()


def test_threads_and_batches_change_nothing(reranker):
    many = treebank() * 300
    plain = raws(reranker.parse(many))
    assert plain == raws(reranker.parse(treebank())) * 300
    assert plain == raws(reranker.parse(iter(many), threads=3))


def test_several_roots():
    twins = Sentence.from_words(["Go", "grow"], heads=[-1, 0, 0], deprels=["root", "root"])
    training_sentences = [twins, *treebank()] * 2
    with pytest.raises(TreebankError, match="root='multi'"):
        small(training_sentences)
    many = small(training_sentences, root="multi")
    assert {len(trees) for trees in many.kbest([unparsed(twins)], 8, root="multi")} == {3}
    assert all(arb.is_tree(s.tree) for s in many.parse(treebank()))


def test_one_word_no_sentences_and_words_never_seen(reranker):
    one = Sentence.from_words(["Grow"])
    [parsed] = reranker.parse([one])
    assert parsed.tree.tolist() == [-1, 0]
    assert len(next(iter(reranker.kbest([one], 8)))) == 1
    assert list(reranker.parse([])) == []
    strange = Sentence.from_words(["Ωδή", "_", "x" * 300], upos=["_", "NEW", "NOUN"])
    assert arb.is_tree(next(iter(reranker.parse([strange]))).tree)
    only = Sentence.from_words(["Grow"], heads=[-1, 0], deprels=["root"])
    alone = small([only] * 3)
    assert list(alone.parse([one])) == [one.replace(heads=[-1, 0], deprels=["root"])]


def test_words_without_tags_are_tagged_first():
    tagger = Tagger.train(treebank())
    tagging = small(treebank(), make_parser=partial(make_parser, tagger=tagger))
    tagged = list(tagger.tag(map(bare, treebank())))
    assert list(tagging.parse(map(bare, treebank()))) == list(tagging.parse(tagged))
    assert next(iter(tagging.parse([bare(treebank()[0])]))).upos == tagged[0].upos


def test_lists_without_the_gold_tree():
    lists = ranked(6)
    for trees in lists:
        trees.pop()  # the gold one
    batch, arrays, templates, _ = prepare(lists, gold=treebank())
    words = np.repeat([len(s) for s in treebank()], np.diff(arrays.firsts))
    assert (arrays.right[:, 1] < words)[words > 2].all()
    trainer = training.Trainer((batch, arrays), (batch, arrays), templates, seed=1, bits=BITS)
    trainer.run(30)
    best = np.maximum.reduceat(arrays.right[:, 1], arrays.firsts[:-1]).sum()
    assert trainer.history[-1]["las"] == pytest.approx(100 * best / sum(map(len, treebank())))


def test_the_slope_is_that_of_the_likelihood_of_the_best_trees():
    _, arrays, _, _ = prepare(ranked(9), gold=treebank())
    rng = np.random.default_rng(3)
    scale = 0.7

    def loss(b, scores):
        first, last = arrays.firsts[b : b + 2]
        chances = np.exp(scores + scale * arrays.weights[first:last])
        right = arrays.right[first:last, 1]
        return -np.log(chances[right == right.max()].sum() / chances.sum())

    for b in range(len(treebank())):
        scores = rng.normal(size=np.diff(arrays.firsts)[b])
        slope = scores.copy()
        training._to_slopes(arrays, b, scale, slope)
        for i in range(len(scores)):
            step = np.zeros(len(scores))
            step[i] = 1e-6
            numeric = (loss(b, scores + step) - loss(b, scores - step)) / 2e-6
            assert slope[i] == pytest.approx(numeric, abs=1e-6)


def test_a_hopeless_tree_is_no_accident():
    lists = [[(treebank()[0], 0.0), (treebank()[0].replace(deprels=["x"] * 6), -1e6)]]
    _, arrays, _, _ = prepare(lists, gold=[lists[0][1][0]])
    slope = np.zeros(2)
    training._to_slopes(arrays, 0, 1.0, slope)
    assert slope.tolist() == [1.0, -1.0]
    assert np.isfinite(training.fit_scale(arrays))


def test_a_step_goes_against_the_slope():
    """One list, from weights of 0: AdaGrad by hand."""
    lists = ranked(5)[:1]
    batch, arrays, templates, work = prepare(lists, gold=treebank()[:1])
    bits = 18
    trainer = training.Trainer((batch, arrays), None, templates, seed=1, bits=bits)
    trainer.run(1)
    weights, scale = trainer.best["weights"], float(trainer.best["scale"])
    assert trainer.info() == {"epoch": 1, "dev": [], "sentences": 1}
    slope = np.zeros(len(arrays.weights))
    training._to_slopes(arrays, 0, scale, slope)
    mask = np.uint64((1 << bits) - 1)
    training.find_parts(batch, arrays, 0, templates, mask, work)
    slopes = np.zeros(1 << bits)
    for i in range(len(slope)):
        np.add.at(slopes, work.rows[work.parts[i, 1:7]].reshape(-1), slope[i])
    slopes[np.abs(slopes) < 1e-4] = 0
    steps = 0.03 / np.sqrt(0.1 + slopes**2)
    moved = -steps * slopes
    expected = np.sign(moved) * np.maximum(np.abs(moved) - 0.01 * steps, 0)
    assert np.count_nonzero(weights) > 100
    np.testing.assert_allclose(weights, expected, atol=1e-5)


def test_the_scale_makes_the_best_trees_likely():
    _, arrays, _, _ = prepare(ranked(9), gold=treebank())
    noise = np.random.default_rng(1).normal(size=len(arrays.weights))
    arrays = arrays._replace(weights=arrays.right[:, 1] + noise)
    scale = training.fit_scale(arrays)
    stretched = arrays._replace(weights=arrays.weights * 64)
    assert training.fit_scale(stretched) == pytest.approx(scale / 64)


def test_the_best_of_ties_is_the_first():
    _, arrays, _, _ = prepare(ranked(3))
    assert training.best_trees(arrays, np.zeros(28)).tolist() == arrays.firsts[:-1].tolist()
    scores = np.arange(28.0) % 4
    assert training.best_trees(arrays, scores).tolist() == (arrays.firsts[1:] - 1).tolist()


def test_dev_chooses_epoch_and_scale():
    calls = []
    chosen = small(treebank(), dev=treebank(), epochs=3, progress=lambda *call: calls.append(call))
    las = [scores["las"] for scores in chosen.info["dev"]]
    assert len(las) == 3
    assert chosen.info["epoch"] == las.index(max(las)) + 1
    phases = [phase for phase, _, _ in calls]
    assert phases[0] == "parser, epoch 1"
    assert "fold 3 of 3, epoch 1" in phases
    assert phases[-1].startswith("ranking, epoch 3: UAS ")
    assert calls[-1][1:] == (7, 7)


def test_round_trip(reranker, saved):
    loaded = arb.load(saved)
    assert isinstance(loaded, Reranker)
    assert isinstance(loaded.parser, LinearParser)
    assert (loaded.k, loaded.info) == (8, reranker.info)
    assert list(loaded.kbest(treebank(), 8)) == list(reranker.kbest(treebank(), 8))
    assert Reranker.load(saved).parser.labels == reranker.parser.labels
    with pytest.raises(ModelError, match="of the kind 'reranker'"):
        LinearParser.load(saved)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelError, match=r"some\.model: "):
        arb.load(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 0),
        ("k", "8"),
        ("scale", None),
        ("scale", -1.0),
        ("scale", 1),
        ("parser", None),
        ("weights", None),
        ("weights", np.zeros(0, np.float16)),
        ("weights", np.zeros(1000, np.float16)),
        ("weights", np.zeros(1024)),
        ("weights", np.full(1024, np.inf, np.float16)),
        ("parser/edges", None),
        ("parser/edges", np.zeros(7, np.int8)),
    ],
)
def test_parts_that_do_not_fit(saved, name, value):
    with pytest.raises(ModelError, match=rf"some\.model: .*{name.rpartition('/')[2]}"):
        arb.load(altered(saved, **{name: value}))


def test_a_parser_of_no_known_kind_inside(saved):
    header, _ = model_file.load(saved)
    with pytest.raises(ModelError, match="'quantum'"):
        arb.load(altered(saved, parser=header["parser"] | {"kind": "quantum"}))


def test_settings_that_make_no_sense(reranker):
    for wrong in (
        {"k": 1},
        {"folds": 1},
        {"epochs": 0},
        {"bits": 9},
        {"threads": 0},
        {"root": "none"},
    ):
        [name] = wrong
        with pytest.raises(ValueError, match=name):
            Reranker.train(treebank(), **wrong)
    with pytest.raises(TreebankError, match="7 sentences cannot be split into 8 folds"):
        Reranker.train(treebank(), folds=8)
    with pytest.raises(ValueError, match="k must be"):
        reranker.kbest([], 0)
