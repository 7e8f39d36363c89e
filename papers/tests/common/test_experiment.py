"""Treebanks, parsers, measures: what is measured, and what is told of those that fail."""

from __future__ import annotations

import re

import pytest

from arborescence import ScoresError, TreebankError
from arborescence_papers.common import experiment as module
from arborescence_papers.common.experiment import Experiment
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
