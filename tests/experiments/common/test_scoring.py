"""Many parsers: kept, resumed, side by side, and what goes wrong with some."""

from __future__ import annotations

import errno
import gzip

import numpy as np
import pytest
from arborescence.experiments.common.scoring import Exam, take

from arborescence.experiments.common import scores as scored_module
from arborescence.experiments.common.recipes import Recipe
from arborescence.experiments.common.scores import Scored
from arborescence.experiments.common.treebanks import LeftOut, find
from small_treebanks import sentences, write_treebanks

RECIPES = [Recipe(objective="mira", epochs=1, bits=10, seed=seed) for seed in (1, 2)]


@pytest.fixture
def corpora(tmp_path):
    return find(write_treebanks(tmp_path / "ud")).corpora


def taken(corpora, folder, recipes=RECIPES, **options):
    exams = [Exam(corpus, recipe) for corpus in corpora for recipe in recipes]
    results = list(take(exams, folder, **options))
    assert [exam for exam, _ in results] == exams
    return [result for _, result in results]


def fail(*_):
    raise AssertionError("trained again")


def test_kept_and_resumed(corpora, tmp_path, monkeypatch):
    folder = tmp_path / "deep" / "scores"
    first = taken(corpora, folder)
    assert [scored.treebank for scored in first] == ["Birdish", "Birdish", "Arboric", "Arboric"]
    assert [scored.lessons for scored in first] == [4, 4, 5, 5]
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.npz"))
    assert files == [
        f"mira-multi-seed{seed}/{name}.npz" for seed in (1, 2) for name in ("Arboric", "Birdish")
    ]
    monkeypatch.setattr(Recipe, "train", fail)
    assert [scored.settings for scored in taken(corpora, folder)] == [
        scored.settings for scored in first
    ]
    # A treebank that has changed, other settings, a damaged file: made anew.
    birdish, arboric = corpora
    file = birdish.lesson_files[0]
    file.write_bytes(b"# more\n" + file.read_bytes())
    with pytest.raises(AssertionError, match="trained again"):
        taken([birdish], folder)
    with pytest.raises(AssertionError, match="trained again"):
        taken([arboric], folder, [Recipe(objective="mira", epochs=2, bits=10)])
    (folder / "mira-multi-seed2" / "Arboric.npz").write_bytes(b"PK")
    with pytest.raises(AssertionError, match="trained again"):
        taken([arboric], folder)


def test_a_stopped_run_goes_on(corpora, tmp_path, monkeypatch):
    results = take([Exam(corpus, RECIPES[0]) for corpus in corpora], tmp_path / "scores")
    next(results)
    results.close()
    trained = []
    train = Recipe.train

    def watched(self, lessons, progress=None):
        trained.append(len(lessons))
        return train(self, lessons, progress)

    monkeypatch.setattr(Recipe, "train", watched)
    assert len(taken(corpora, tmp_path / "scores", RECIPES[:1])) == 2
    assert trained == [5]


def test_processes_give_the_same(corpora, tmp_path):
    done = []
    alone = taken(corpora, tmp_path / "alone")
    beside = taken(
        corpora, tmp_path / "beside", jobs=2, progress=lambda what, *counts: done.append(counts)
    )
    for one in tmp_path.glob("alone/*/*.npz"):
        assert one.read_bytes() == (tmp_path / "beside" / one.parent.name / one.name).read_bytes()
    assert len(alone) == len(beside) == 4
    assert done[-1] == (4, 4)


def test_loaded_parsers(corpora, tmp_path, monkeypatch):
    models = tmp_path / "models"
    models.mkdir()
    parser = Recipe(objective="perceptron", epochs=1, bits=10, sentences=3).train(sentences())
    parser.save(models / "Birdish.npz")
    trained = []
    monkeypatch.setattr(Recipe, "train", lambda *_: trained.append(1) or parser)
    birdish, arboric = taken(corpora, tmp_path / "scores", RECIPES[:1], models=models)
    assert trained == [1]
    assert birdish.lessons == 3
    assert birdish.settings.keys() == {"library", "model", "treebank"}
    assert arboric.settings["recipe"]["objective"] == "mira"
    (models / "Birdish.npz").write_bytes(b"no model")
    birdish, _ = taken(corpora, tmp_path / "scores", RECIPES[:1], models=models)
    assert birdish == LeftOut(
        "Birdish", f"{models / 'Birdish.npz'}: not a model file of arborescence", failed=True
    )


def test_scores_of_others(corpora, tmp_path, monkeypatch):
    birdish, arboric = corpora
    models = tmp_path / "models"
    models.mkdir()
    exams = birdish.read()[1]
    theirs = [np.ones((len(sentence) + 1,) * 2) for sentence in exams]
    Scored.of(theirs, exams, treebank="x", lessons=77).write(models / "Birdish.npz")
    monkeypatch.setattr(Recipe, "train", fail)
    [scored] = taken([birdish], tmp_path / "scores", RECIPES[:1], models=models)
    assert (scored.lessons, scored.scores[0].min(), scored.treebank) == (77, 1, "Birdish")
    [again] = taken([birdish], tmp_path / "scores", RECIPES[:1], models=models)
    assert again.settings == scored.settings
    (models / "Birdish.npz").rename(models / "Arboric.npz")
    [other] = taken([arboric], tmp_path / "scores", RECIPES[:1], models=models)
    assert other.reason == (
        f"{models / 'Arboric.npz'}: scores of other sentences, or for other trees, than those of "
        f"{arboric.exam_files[0]}"
    )


def test_broken_treebanks_are_left_out(tmp_path):
    write_treebanks(tmp_path)
    birdish, arboric = find(tmp_path).corpora
    whole = gzip.decompress(arboric.exam_files[0].read_bytes())
    for content, reason in (
        (gzip.compress(whole)[:-20], str(arboric.exam_files[0])),
        (gzip.compress(b""), f"{arboric.exam_files[0]}: no sentence"),
        (gzip.compress(whole.replace(b"\t2\t", b"\ttwo\t")), f"{arboric.exam_files[0]}:1"),
        (gzip.compress(b"1\tx" + b"\t_" * 8 + b"\n\n"), f"{arboric.exam_files[0]}:1"),
    ):
        arboric.exam_files[0].write_bytes(content)
        broken, fine = taken([arboric, birdish], tmp_path / "scores", RECIPES[:1])
        assert isinstance(broken, LeftOut)
        assert (broken.treebank, broken.failed) == ("Arboric", True)
        assert broken.reason.startswith(reason)
        assert fine.treebank == "Birdish"
    arboric.exam_files[0].unlink()
    [gone] = taken([arboric], tmp_path / "scores", RECIPES[:1])
    assert gone.reason == f"{arboric.exam_files[0]}: No such file or directory"


def test_a_full_disk_leaves_one_out(corpora, tmp_path, monkeypatch):
    save = scored_module.model_file.save

    def full(path, *rest, **options):
        if path.stem == "Birdish":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        save(path, *rest, **options)

    monkeypatch.setattr(scored_module.model_file, "save", full)
    folder = tmp_path / "scores"
    birdish, arboric = taken(corpora, folder, RECIPES[:1])
    path = folder / "mira-multi-seed1" / "Birdish.npz"
    assert birdish == LeftOut("Birdish", f"{path}: No space left on device", failed=True)
    assert isinstance(arboric, Scored)
    monkeypatch.undo()
    assert all(isinstance(result, Scored) for result in taken(corpora, folder, RECIPES[:1]))
