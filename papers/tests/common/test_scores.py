"""Score files: what they hold, and what is said of broken ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

import arborescence as arb
from arborescence import ModelError, NoTreeError, ScoresError, TreebankError
from arborescence.parsers import model_file
from arborescence.treebank import Sentence
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.scores import Scores
from small_treebanks import sentences

ABOUT = {"treebank": "Birdish", "split": "train", "settings": {"recipe": {"seed": 1}}}


@pytest.fixture(scope="module")
def parser():
    return Recipe(loss="mira", epochs=1, bits=10).train(sentences()[:4])


@pytest.fixture(scope="module")
def scores(parser):
    return Scores.by(parser, sentences(), **ABOUT)


def same(ours, theirs):
    return len(ours) == len(theirs) and all(map(np.array_equal, ours, theirs))


def test_what_the_parser_makes_of_it(parser, scores):
    birds = sentences()
    assert (scores.treebank, scores.split, scores.training_sentences) == ("Birdish", "train", 4)
    assert scores.lengths.tolist() == [len(sentence) for sentence in birds]
    assert same(scores.gold, [sentence.tree for sentence in birds])
    assert [words.tolist() for words in scores.counted[:2]] == [[True, True, False], [True] * 4]
    for matrix, single, multi, sentence in zip(
        scores.matrices, scores.single, scores.multi, birds, strict=True
    ):
        assert np.array_equal(matrix, parser.scores(sentence))
        assert np.array_equal(single, arb.decode(matrix))
        assert np.array_equal(multi, arb.decode(matrix, root="multi"))


def test_there_and_back(scores, tmp_path):
    path = tmp_path / "Birdish.npz"
    scores.write(path)
    again = Scores.read(path)
    for name in ("gold", "counted", "single", "multi", "matrices"):
        ours, theirs = getattr(scores, name), getattr(again, name)
        assert same(ours, theirs)
        assert ours[0].dtype == theirs[0].dtype
    assert again.settings == ABOUT["settings"]
    assert not again.projective


def test_the_file_as_it_is_documented(scores, tmp_path):
    """As somebody reads it who has NumPy only."""
    scores.write(tmp_path / "Birdish.npz")
    file = np.load(tmp_path / "Birdish.npz")
    header = json.loads(file["header"].tobytes())
    assert (header["kind"], header["treebank"], header["training_sentences"]) == (
        "scores",
        "Birdish",
        4,
    )
    word = cell = right = 0
    for n in file["lengths"].tolist():
        matrix = file["scores"][cell : cell + (n + 1) ** 2].reshape(n + 1, n + 1)
        assert np.array_equal(arb.decode(matrix)[1:], file["single"][word : word + n])
        right += (file["single"] == file["gold"])[word : word + n].sum()
        word, cell = word + n, cell + (n + 1) ** 2
    assert (word, cell) == (len(file["gold"]), len(file["scores"]))
    assert right == sum(
        (tree == gold)[1:].sum() for tree, gold in zip(scores.single, scores.gold, strict=True)
    )


def test_parsers_without_edge_scores(tmp_path):
    parser = Recipe(parser="transition", epochs=1, bits=10).train(sentences())
    scores = Scores.by(parser, sentences()[:1], **ABOUT)
    assert scores.matrices is None
    scores.write(tmp_path / "Birdish.npz")
    assert Scores.read(tmp_path / "Birdish.npz").matrices is None


def test_scores_of_others(parser, scores):
    birds = sentences()
    about = {"treebank": "Birdish", "training_sentences": 4, "settings": ABOUT["settings"]}
    theirs = Scores.of(
        (matrix.astype(float).tolist() for matrix in scores.matrices), birds, **about
    )
    for name in ("gold", "counted", "single", "multi", "matrices"):
        assert same(getattr(scores, name), getattr(theirs, name))
    assert Scores.of(scores.matrices, birds, **about).training_sentences == 4
    with pytest.raises(ScoresError, match="5 matrices for 6 sentences"):
        Scores.of(scores.matrices[1:], birds, **about)
    turned = [*scores.matrices[1:], scores.matrices[0]]
    with pytest.raises(ScoresError, match=r"Birds sing.*shape \(5, 5\), not \(4, 4\)"):
        Scores.of(turned, birds, **about)
    for value, error in ((np.nan, ScoresError), (-np.inf, NoTreeError)):
        broken = [matrix.copy() for matrix in scores.matrices]
        broken[1][:, 2] = value
        with pytest.raises(error, match="Old trees grow slowly"):
            Scores.of(broken, birds, **about)


@pytest.mark.parametrize("heads", [[-1, -1, 1], [-1, 2, 1]])
def test_test_sets_need_trees(parser, heads):
    broken = Sentence.from_words(["Birds", "sing"], heads=heads, deprels=["dep", "dep"])
    with pytest.raises(TreebankError, match="not a tree"):
        Scores.by(parser, [broken], **ABOUT)


def test_broken_files(scores, tmp_path):
    path = tmp_path / "Birdish.npz"
    with pytest.raises(ModelError, match="No such file"):
        Scores.read(path)
    scores.write(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"Birdish\.npz: not a model file .*, or damaged"):
        Scores.read(path)
    path.write_bytes(whole)
    header, arrays = model_file.load(path)
    for name, value in arrays.items():
        model_file.save(path, header, arrays | {name: value[:-1]})
        with pytest.raises(ModelError, match="score file is damaged"):
            Scores.read(path)
    for name, value in (
        ("gold", -1),
        ("gold", 99),
        ("single", 2**31 - 1),
        ("multi", -(2**31)),
        ("lengths", -1),
        ("lengths", 0),
        ("lengths", 2**31 - 1),
        ("scores", np.nan),
        ("scores", np.inf),
    ):
        changed = arrays[name].copy()
        changed[1] = value
        model_file.save(path, header, arrays | {name: changed})
        with pytest.raises(ModelError, match="score file is damaged"):
            Scores.read(path)
    for name, value in (
        ("training_sentences", -1),
        ("training_sentences", "many"),
        ("projective", 1),
        ("settings", []),
    ):
        model_file.save(path, header | {name: value}, arrays)
        with pytest.raises(ModelError, match=f"score file is damaged .{name} is"):
            Scores.read(path)
    for name in ("treebank", "settings"):
        model_file.save(path, {key: header[key] for key in header if key != name}, arrays)
        with pytest.raises(ModelError, match="score file is damaged"):
            Scores.read(path)
    model_file.save(path, {"kind": "linear"}, {})
    with pytest.raises(ModelError, match="not a score file but 'linear'"):
        Scores.read(path)
