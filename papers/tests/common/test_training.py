"""Many parsers: kept, resumed, side by side, and what goes wrong with some."""

from __future__ import annotations

import errno
import gzip
import multiprocessing

import numpy as np
import pytest

from arborescence.errors import ArborescenceError
from arborescence.system.workers import Failure
from arborescence_papers.common import scores as scores_module
from arborescence_papers.common import training
from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.scores import Scores
from arborescence_papers.common.training import score
from arborescence_papers.common.treebanks import LeftOut, find
from small_treebanks import sentences, write_treebanks

RECIPES = [Recipe(loss="mira", epochs=1, bits=10, seed=seed) for seed in (1, 2)]


@pytest.fixture
def treebanks(tmp_path):
    return find(write_treebanks(tmp_path / "ud")).treebanks


def scored(treebanks, folder, recipes=RECIPES, **options):
    tasks = [(treebank, recipe) for treebank in treebanks for recipe in recipes]
    results = list(score(tasks, folder, **options))
    assert [task for task, _ in results] == tasks
    return [result for _, result in results]


def fail(*_):
    raise AssertionError("trained again")


def test_kept_and_resumed(treebanks, tmp_path, monkeypatch):
    folder = tmp_path / "deep" / "scores"
    first = scored(treebanks, folder)
    assert [scores.treebank for scores in first] == ["Birdish", "Birdish", "Arboric", "Arboric"]
    assert [scores.training_sentences for scores in first] == [4, 4, 5, 5]
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.npz"))
    assert files == [
        f"mira-multi-seed{seed}/{name}.npz" for seed in (1, 2) for name in ("Arboric", "Birdish")
    ]
    monkeypatch.setattr(Recipe, "train", fail)
    assert [scores.settings for scores in scored(treebanks, folder)] == [
        scores.settings for scores in first
    ]
    # A treebank that has changed, other settings, a damaged file: made anew.
    birdish, arboric = treebanks
    file = birdish.training_files[0]
    file.write_bytes(b"# more\n" + file.read_bytes())
    with pytest.raises(AssertionError, match="trained again"):
        scored([birdish], folder)
    with pytest.raises(AssertionError, match="trained again"):
        scored([arboric], folder, [Recipe(loss="mira", epochs=2, bits=10)])
    (folder / "mira-multi-seed2" / "Arboric.npz").write_bytes(b"PK")
    with pytest.raises(AssertionError, match="trained again"):
        scored([arboric], folder)


def test_a_stopped_run_goes_on(treebanks, tmp_path, monkeypatch):
    results = score([(treebank, RECIPES[0]) for treebank in treebanks], tmp_path / "scores")
    next(results)
    results.close()
    trained = []
    train = Recipe.train

    def watched(self, training, progress=None):
        trained.append(len(training))
        return train(self, training, progress)

    monkeypatch.setattr(Recipe, "train", watched)
    assert len(scored(treebanks, tmp_path / "scores", RECIPES[:1])) == 2
    assert trained == [5]


@pytest.mark.races
def test_processes_give_the_same(treebanks, tmp_path):
    done = []
    alone = scored(treebanks, tmp_path / "alone")
    beside = scored(
        treebanks, tmp_path / "beside", jobs=2, progress=lambda what, *counts: done.append(counts)
    )
    for one in tmp_path.glob("alone/*/*.npz"):
        assert one.read_bytes() == (tmp_path / "beside" / one.parent.name / one.name).read_bytes()
    assert len(alone) == len(beside) == 4
    assert done[-1] == (4, 4)


def test_loaded_parsers(treebanks, tmp_path, monkeypatch):
    models = tmp_path / "models"
    models.mkdir()
    parser = Recipe(loss="perceptron", epochs=1, bits=10, sentences=3).train(sentences())
    parser.save(models / "Birdish.npz")
    trained = []
    monkeypatch.setattr(Recipe, "train", lambda *_: trained.append(1) or parser)
    birdish, arboric = scored(treebanks, tmp_path / "scores", RECIPES[:1], models=models)
    assert trained == [1]
    assert birdish.training_sentences == 3
    assert birdish.settings.keys() == {"library", "model", "treebank"}
    assert arboric.settings["recipe"]["loss"] == "mira"
    (models / "Birdish.npz").write_bytes(b"no model")
    birdish, _ = scored(treebanks, tmp_path / "scores", RECIPES[:1], models=models)
    assert birdish == LeftOut(
        "Birdish", f"{models / 'Birdish.npz'}: not a model file of arborescence", failed=True
    )


def test_scores_of_others(treebanks, tmp_path, monkeypatch):
    birdish, arboric = treebanks
    models = tmp_path / "models"
    models.mkdir()
    test = birdish.read()[1]
    theirs = [np.ones((len(sentence) + 1,) * 2) for sentence in test]
    Scores.of(theirs, test, treebank="x", training_sentences=77).write(models / "Birdish.npz")
    monkeypatch.setattr(Recipe, "train", fail)
    [scores] = scored([birdish], tmp_path / "scores", RECIPES[:1], models=models)
    assert (scores.training_sentences, scores.matrices[0].min(), scores.treebank) == (
        77,
        1,
        "Birdish",
    )
    [again] = scored([birdish], tmp_path / "scores", RECIPES[:1], models=models)
    assert again.settings == scores.settings
    (models / "Birdish.npz").rename(models / "Arboric.npz")
    [other] = scored([arboric], tmp_path / "scores", RECIPES[:1], models=models)
    assert other.reason == (
        f"{models / 'Arboric.npz'}: scores of other sentences, or for other trees, than those of "
        f"{arboric.test_files[0]}"
    )


def test_broken_treebanks_are_left_out(tmp_path):
    write_treebanks(tmp_path)
    birdish, arboric = find(tmp_path).treebanks
    whole = gzip.decompress(arboric.test_files[0].read_bytes())
    for content, reason in (
        (gzip.compress(whole)[:-20], str(arboric.test_files[0])),
        (gzip.compress(b""), f"{arboric.test_files[0]}: no sentence"),
        (gzip.compress(whole.replace(b"\t2\t", b"\ttwo\t")), f"{arboric.test_files[0]}:1"),
        (gzip.compress(b"1\tx" + b"\t_" * 8 + b"\n\n"), f"{arboric.test_files[0]}:1"),
    ):
        arboric.test_files[0].write_bytes(content)
        broken, fine = scored([arboric, birdish], tmp_path / "scores", RECIPES[:1])
        assert isinstance(broken, LeftOut)
        assert (broken.treebank, broken.failed) == ("Arboric", True)
        assert broken.reason.startswith(reason)
        assert fine.treebank == "Birdish"
    arboric.test_files[0].unlink()
    [gone] = scored([arboric], tmp_path / "scores", RECIPES[:1])
    assert gone.reason == f"{arboric.test_files[0]}: No such file or directory"


def test_a_full_disk_leaves_one_out(treebanks, tmp_path, monkeypatch):
    save = scores_module.model_file.save

    def full(path, *rest, **options):
        if path.stem == "Birdish":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        save(path, *rest, **options)

    monkeypatch.setattr(scores_module.model_file, "save", full)
    folder = tmp_path / "scores"
    birdish, arboric = scored(treebanks, folder, RECIPES[:1])
    path = folder / "mira-multi-seed1" / "Birdish.npz"
    assert birdish == LeftOut("Birdish", f"{path}: No space left on device", failed=True)
    assert isinstance(arboric, Scores)
    monkeypatch.undo()
    assert all(isinstance(result, Scores) for result in scored(treebanks, folder, RECIPES[:1]))


@pytest.mark.races
def test_processes_end_with_the_caller(treebanks, tmp_path):
    tasks = [(treebank, recipe) for treebank in treebanks for recipe in RECIPES]
    results = score(tasks, tmp_path / "scores", jobs=2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()
    assert not list(tmp_path.rglob(".*.npz*"))


def test_processes_that_die(treebanks, tmp_path, monkeypatch):
    def die(_make, items, *_, **__):
        yield items[1], Failure("3 processes died over it (SIGKILL): not enough memory?")

    monkeypatch.setattr(training, "in_processes", die)
    with pytest.raises(ArborescenceError, match=r"Birdish: 3 processes died.*fewer jobs need less"):
        scored(treebanks, tmp_path / "scores", jobs=2)
