"""The tagger: it learns, keeps what is given, and survives its model file."""

import json
from itertools import pairwise, product

import numpy as np
import pytest

from arborescence.errors import ModelError, TreebankError
from arborescence.parsers.shared.classifier import values_of
from arborescence.parsers.tagger import kernels
from arborescence.parsers.tagger.stages import Stage, TaggerWords
from arborescence.parsers.tagger.tagger import Tagger
from arborescence.treebank import Sentence, read
from hostile import changed
from real import TREEBANKS

EWT = TREEBANKS / "English-EWT" / "en_ewt-ud-train.conllu.gz"

NOUNS = {"bird": "Number=Sing", "birds": "Number=Plur", "tree": "Number=Sing"}
VERBS = {"sings": "Number=Sing", "sing": "Number=Plur", "waits": "Number=Sing"}


def taught(determiner, noun, verb):
    return Sentence.from_words(
        [determiner, noun, verb, "."],
        upos=["DET", "NOUN", "VERB", "PUNCT"],
        xpos=["D", "NS" if NOUNS[noun] == "Number=Plur" else "N", "V", "."],
        feats=["_", NOUNS[noun], VERBS[verb], "_"],
    )


TREEBANK = [taught(*words) for words in product(["the", "The", "some"], NOUNS, VERBS)][::2]
WORDS = Sentence.from_words(["The", "birds", "waits", "."])


@pytest.fixture(scope="module")
def tagger():
    return Tagger.train(TREEBANK, epochs=4)


def test_learns_what_it_is_taught(tagger):
    assert tagger.columns == ("upos", "xpos", "feats")
    assert tagger.accuracy(TREEBANK) == {"upos": 1, "xpos": 1, "feats": 1}
    [tagged] = tagger.tag([WORDS])
    assert tagged.upos == ["DET", "NOUN", "VERB", "PUNCT"]
    assert tagged.xpos == ["D", "NS", "V", "."]
    assert tagged.feats == ["_", "Number=Plur", "Number=Sing", "_"]
    assert tagged.forms == WORDS.forms


def test_unseen_words_are_told_by_their_looks_and_neighbours(tagger):
    [tagged] = tagger.tag([Sentence.from_words(["some", "branches", "wings", "."])])
    assert tagged.upos == ["DET", "NOUN", "VERB", "PUNCT"]


def test_what_is_given_is_kept_and_used(tagger):
    given = WORDS.replace(upos=["DET", "VERB", "NOUN", "PUNCT"])
    [tagged] = tagger.tag([given])
    assert tagged.upos == given.upos
    assert tagged.xpos[1] == "V"  # the only one that verbs have
    assert tagged.xpos[2] in ("N", "NS")
    [tagged] = tagger.tag([given], overwrite=True)
    assert tagged.upos == ["DET", "NOUN", "VERB", "PUNCT"]


def test_what_is_given_may_be_unknown(tagger):
    given = WORDS.replace(upos=["DET", "STRANGE", "VERB", "PUNCT"], xpos=["?"] * 4)
    [tagged] = tagger.tag([given])
    assert (tagged.upos, tagged.xpos) == (given.upos, given.xpos)
    assert set(tagged.feats) <= {"_", *NOUNS.values()}


def test_complete_sentences_are_left_alone(tagger):
    mixed = [TREEBANK[0], WORDS, TREEBANK[1]]
    tagged = list(tagger.tag(mixed))
    assert tagged[0] is TREEBANK[0]
    assert tagged[2] is TREEBANK[1]
    assert tagged[1].upos == ["DET", "NOUN", "VERB", "PUNCT"]
    assert list(tagger.tag([])) == []


def test_a_sentence_is_tagged_the_same_in_any_company(tagger, monkeypatch):
    sentences = [WORDS, Sentence.from_words(["."]), *(s.replace(upos=["_"] * 4) for s in TREEBANK)]
    together = list(tagger.tag(sentences))
    assert together == [tagged for sentence in sentences for tagged in tagger.tag([sentence])]
    monkeypatch.setattr("arborescence.parsers.shared.given.BATCH_WORDS", 7)
    assert list(tagger.tag(sentences)) == together


def test_the_same_seed_gives_the_same_tagger(tagger):
    again = Tagger.train(TREEBANK, epochs=4)
    (header, arrays), (again_header, again_arrays) = tagger.to_file(), again.to_file()
    for name, array in arrays.items():
        assert np.array_equal(array, again_arrays[name])
    assert header == again_header


def test_survives_its_model_file(tagger):
    header, arrays = tagger.to_file()
    again = Tagger.from_file(json.loads(json.dumps(header)), arrays)
    assert again.columns == tagger.columns
    assert list(again.tag([WORDS])) == list(tagger.tag([WORDS]))


def test_weights_far_apart_survive():
    weights = np.zeros(kernels.PLACES + 2, dtype=np.int8)
    weights[[0, 254, 255, 510, 766, 5000, kernels.PLACES + 1]] = [1, -2, 3, -4, 5, -127, 127]
    stage = Stage(
        column="upos",
        tags=("A", "B"),
        features=kernels.HISTORY,
        contexts=np.empty(0, np.int64),
        allowed=np.arange(2, dtype=np.uint64),
        allowed_starts=np.array([0, 2]),
        weights=weights,
    )
    again = Stage.from_file(*stage.to_file())
    assert np.array_equal(again.weights, weights)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("0.gaps", lambda gaps: np.full(10**5, 255, dtype=np.uint8)),
        ("0.gaps", lambda gaps: gaps[1:]),
        ("2.allowed", lambda allowed: allowed + 50),
        ("2.allowed_starts", lambda starts: starts[:-1]),
        ("2.allowed_starts", lambda starts: starts + 1),
        ("2.allowed_starts", lambda starts: np.roll(starts, 1)),
        ("2.contexts", lambda contexts: contexts[1:]),
        ("1.weights", None),
    ],
)
def test_damaged_models_are_refused(tagger, name, change):
    header, arrays = tagger.to_file()
    with pytest.raises(ModelError):
        Tagger.from_file(header, changed(arrays, name, change))


def test_models_of_other_versions_are_refused(tagger):
    header, arrays = tagger.to_file()
    with pytest.raises(ModelError, match="version 99"):
        Tagger.from_file(header | {"version": 99}, arrays)


def test_columns_without_values_are_left_out():
    treebank = [s.replace(xpos=["_"] * 4, feats=["_"] * 4) for s in TREEBANK]
    assert Tagger.train(treebank, epochs=1).columns == ("upos",)
    assert Tagger.train(TREEBANK, columns=["xpos"], epochs=1).columns == ("xpos",)
    with pytest.raises(TreebankError, match="no tags"):
        Tagger.train([WORDS])
    with pytest.raises(TreebankError, match="no tags"):
        Tagger.train([])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"columns": ["lemma"]}, "columns must be some of"),
        ({"columns": ["upos"] * 2}, "columns must be some of"),
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
    ],
)
def test_wrong_settings(wrong, message):
    with pytest.raises(ValueError, match=message):
        Tagger.train(TREEBANK, **wrong)


def test_untagged_sentences_teach_nothing_and_do_not_count(tagger):
    mixed = Tagger.train([*TREEBANK, WORDS], epochs=4)
    assert mixed.to_file()[0] == tagger.to_file()[0]
    assert tagger.accuracy([WORDS]) == {}
    assert tagger.accuracy([*TREEBANK, WORDS])["upos"] == 1


def test_dev_and_progress():
    calls = []
    tagger = Tagger.train(
        TREEBANK,
        dev=TREEBANK[:3],
        columns=["upos", "xpos"],
        epochs=2,
        progress=lambda *call: calls.append(call),
    )
    assert tagger.accuracy(TREEBANK[:3])["upos"] == 1
    assert calls == [
        *(("tagger: upos", done, 6) for done in (1, 2, 3, 4)),
        *(("tagger: xpos", done, 6) for done in (5, 6)),
    ]


def test_words_outside_a_sentence_do_not_leak_into_it():
    alone = TaggerWords([WORDS])
    among = TaggerWords([TREEBANK[0], WORDS, TREEBANK[1]])
    first, last = among.starts[1:3]
    assert np.array_equal(among.letters[first:last], alone.letters)
    assert np.array_equal(among.places[first:last], alone.places)


def slow_tags(words, stage, context):
    """Tag greedily with Python's own sums."""
    found = []
    for first, last in pairwise(words.starts.tolist()):
        tag = tag_2 = np.uint64(len(stage.tags))
        for i in range(first, last):
            places = np.empty(stage.features, dtype=np.uint64)
            places[: kernels.WORD_FEATURES] = words.places[i]
            here = (words.letters, first, last, i, context)
            kernels._look_at_tags(*here, tag, tag_2, values_of(kernels._TAGS, 12), places)
            row = context[i] + 1 if stage.features == kernels.OWN else 0
            choices = stage.allowed[stage.allowed_starts[row] : stage.allowed_starts[row + 1]]
            scores = [sum(int(stage.weights[int(p) + int(c)]) for p in places) for c in choices]
            tag, tag_2 = choices[int(np.argmax(scores))], tag
            found.append(int(tag))
    return found


def test_kernel_tags_as_the_slow_tagger_does(tagger):
    generator = np.random.default_rng(5)
    words = TaggerWords([*TREEBANK[:4], WORDS])
    for stage in tagger._stages:
        noisy = generator.integers(-9, 10, stage.weights.size).astype(np.int8)
        stage.weights[:], kept = noisy, stage.weights.copy()
        found = (
            generator.choice(stage.contexts, len(words))
            if stage.contexts.size
            else np.full(len(words), -1)
        )
        codes = np.empty(len(words), dtype=np.int64)
        stage.tag(words, np.ones(5, dtype=np.bool_), found, codes)
        assert codes.tolist() == slow_tags(words, stage, stage.context(found))
        stage.weights[:] = kept


@pytest.mark.skipif(not EWT.exists(), reason="needs the English-EWT treebank in ../shared/ud")
def test_learns_from_a_real_treebank():
    sentences = list(read(EWT))
    tagger = Tagger.train(sentences[:2000], epochs=4)
    accuracy = tagger.accuracy(sentences[-500:])
    assert accuracy["upos"] > 0.88
    assert accuracy["xpos"] > 0.87
    assert accuracy["feats"] > 0.88


def test_guesses_are_those_of_the_tagger(tagger):
    tagged = list(tagger.tag(TREEBANK, overwrite=True))
    for column, (tags, guesses) in tagger.guess(TREEBANK, k=4).items():
        best = [tags[code] for code in guesses.tags[:, 0].tolist()]
        assert best == [tag for sentence in tagged for tag in getattr(sentence, column)]
        there = guesses.tags >= 0
        assert (guesses.chances[there] > 0).all()
        assert (guesses.chances[~there] == 0).all()
        assert (np.diff(guesses.chances) <= 0).all()
        assert (guesses.chances.sum(axis=1) <= 1.00001).all()
        if len(tags) <= 4:  # then these are all tags that are allowed
            np.testing.assert_allclose(guesses.chances.sum(axis=1), 1, rtol=1e-5)
        for row in guesses.tags:
            codes = row[row >= 0].tolist()
            assert len(set(codes)) == len(codes)
