"""Treebanks, parsers, measures: what is measured, and what is told of those that fail."""

from __future__ import annotations

import json
import re

import pytest

from arborescence import ScoresError, TreebankError
from arborescence_papers.common import experiment as module
from arborescence_papers.common.experiment import Experiment, Results
from arborescence_papers.common.recipes import Recipe
from small_treebanks import sentences, write_treebanks

RECIPE = Recipe(epochs=1, bits=10)


@pytest.fixture
def treebanks(tmp_path):
    return write_treebanks(tmp_path / "ud")


def test_each_parser_is_measured(treebanks, tmp_path):
    experiment = Experiment(treebanks, tmp_path / "out")
    birdish, arboric = experiment.treebanks
    plans = {birdish: RECIPE.seeds(2), arboric: [RECIPE]}
    measured = experiment.measure(
        plans, lambda recipe, scores: (recipe.seed, scores.training_sentences)
    )
    assert measured == {birdish: [(1, 4), (2, 4)], arboric: [(1, 5)]}
    assert [one.failed for one in experiment.left_out] == [False] * 3


def test_what_fails_first_is_told(treebanks, tmp_path):
    def fail(recipe, scores):
        if scores.treebank == "Birdish":
            raise ScoresError(f"seed {recipe.seed}")
        return scores.treebank

    experiment = Experiment(treebanks, tmp_path / "out")
    birdish, arboric = experiment.treebanks
    plans = {one: RECIPE.seeds(2) for one in (birdish, arboric)}
    assert experiment.measure(plans, fail, "curve: ") == {arboric: ["Arboric"] * 2}
    assert experiment.left_out[-1] == ("Birdish", "curve: seed 1", True)
    message = f"{treebanks}: no treebank that can be used: curve: seed 1"
    with pytest.raises(TreebankError, match=re.escape(message)):
        experiment.report([], None, None)


def test_parsers_that_are_given(treebanks, tmp_path):
    (tmp_path / "models").mkdir()
    RECIPE.train(sentences()).save(tmp_path / "models" / "Birdish.npz")
    experiment = Experiment(treebanks, tmp_path / "out", models=tmp_path / "models")
    assert list(map(experiment.trains, experiment.treebanks)) == [False, True]


def test_options(treebanks, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_QUICK", 1)
    [arboric] = Experiment(treebanks, tmp_path / "out", quick=True).treebanks
    assert arboric.name == "Arboric"  # the smallest
    assert Experiment(None, tmp_path / "out").treebanks == []
    with pytest.raises(TreebankError, match="Missing"):
        Experiment(treebanks, tmp_path / "new", only=["Missing"])
    assert not (tmp_path / "new").exists()


# Results are made once, unless what they depend on changes.


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "deep" / "results")


def fail():
    raise AssertionError("made again")


def test_made_once(results, tmp_path):
    made = {"heads": [[-1, 0]], "name": "ü"}
    assert results.once("a/b", {"epochs": 2, "name": "x"}, lambda: made) == made
    again = Results(tmp_path / "deep" / "results")
    assert again.once("a/b", {"name": "x", "epochs": 2}, fail) == made
    assert [path.name for path in tmp_path.rglob("*.*")] == ["b.json"]


def test_other_settings_replace_it(results):
    assert results.once("a", {"epochs": 2}, lambda: 2) == 2
    assert results.once("a", {"epochs": 3}, lambda: 3) == 3
    assert results.once("a", {"epochs": 2}, lambda: 4) == 4
    with pytest.raises(AssertionError, match="made again"):
        results.once("a", {"epochs": 2, "bits": 3}, fail)
    assert results.once("a", {"epochs": 2}, fail) == 4  # what failed has changed nothing


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", "null", '{"settings": {"epochs": 2}}'])
def test_damaged_files_count_as_missing(results, tmp_path, content):
    file = tmp_path / "deep" / "results" / "a.json"
    file.write_text(content)
    assert results.once("a", {"epochs": 2}, lambda: 5) == 5
    assert json.loads(file.read_bytes()) == {"settings": {"epochs": 2}, "result": 5}


def test_an_interruption_leaves_nothing(results, tmp_path):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results.once("a", {}, interrupted)
    assert not list(tmp_path.rglob("*.*"))


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Results(tmp_path / "file" / "results")
