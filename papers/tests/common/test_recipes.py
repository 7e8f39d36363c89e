"""Recipes: their names, what they draw and what they train."""

from __future__ import annotations

from typing import get_args

import pytest

from arborescence.errors import OptionError
from arborescence.parsers import LinearParser, TransitionParser
from arborescence.parsers.registry import KINDS
from arborescence_papers.common.recipes import AnyKind, Recipe
from small_treebanks import sentences

SMALL = {"epochs": 1, "bits": 10}


def test_names_tell_recipes_apart():
    recipes = [
        Recipe(),
        Recipe(seed=2),
        Recipe(sentences=20),
        Recipe(sentences=50),
        *(
            Recipe(loss=loss, root=root, inference=inference)
            for loss in ("mira", "perceptron", "tree")
            for root in ("single", "multi")
            for inference in ("exact", "undirected")
        ),
        Recipe(loss="mira", inference="undirected", features="undirected"),
        Recipe(parser="transition"),
        Recipe(parser="transition", root="single"),
        *(Recipe(parser="biaffine", loss=loss) for loss in ("head", "margin", "tree")),
    ]
    assert len({recipe.name for recipe in recipes}) == len(recipes)
    assert Recipe(root="single").name == Recipe(root="multi").name  # it knows no trees


@pytest.mark.parametrize(
    "wrong",
    [
        *({"parser": "neural"}, {"loss": "hinge"}, {"root": "both"}, {"sentences": 0}),
        *({"inference": "inexact"}, {"features": "turned"}),
    ],
)
def test_wrong_settings(wrong):
    [(name, value)] = wrong.items()
    with pytest.raises(ValueError, match=f"{name} must be .*{value}"):
        Recipe(**wrong)


@pytest.mark.parametrize(("parser", "loss"), [("linear", "margin"), ("biaffine", "mira")])
def test_losses_of_other_parsers(parser, loss):
    with pytest.raises(OptionError, match=f"a {parser} parser has no loss '{loss}'"):
        Recipe(parser=parser, loss=loss)


def test_epochs_by_default():
    assert (Recipe().epochs, Recipe(parser="biaffine").epochs) == (10, None)
    assert Recipe(epochs=3).epochs == 3
    assert (Recipe().effort, Recipe(parser="biaffine").effort) == (
        "epochs 10, bits 20",
        "epochs by size of the treebank",
    )


def test_draws():
    training = sentences()
    assert Recipe().draw(training) == training
    assert Recipe(sentences=99).draw(training) == training
    few, more = (Recipe(sentences=count, seed=3).draw(training) for count in (2, 4))
    assert len(few) == 2
    assert few == [sentence for sentence in training if sentence in few]  # in their order
    assert all(sentence in more for sentence in few)
    draws = {
        tuple(sentence.raw for sentence in Recipe(sentences=2, seed=seed).draw(training))
        for seed in range(10)
    }
    assert len(draws) > 3


def test_training():
    training = sentences()
    parser = Recipe(loss="mira", root="single", seed=4, sentences=3, **SMALL).train(training)
    assert isinstance(parser, LinearParser)
    told = {name: parser.info[name] for name in ("loss", "root", "seed", "bits", "sentences")}
    assert told == {
        "loss": "mira",
        "root": "single",
        "seed": 4,
        "bits": 10,
        "sentences": 3,
    }
    assert parser.info["epoch"] == 1
    parser = Recipe(parser="transition", **SMALL).train(training)
    assert isinstance(parser, TransitionParser)
    assert parser.info["root"] == "multi"


def test_neural_training():
    pytest.importorskip("torch", reason="trains a neural parser")
    parser = Recipe(parser="biaffine", loss="margin", epochs=1, sentences=3).train(sentences())
    assert parser.kind == "biaffine"
    told = {name: parser.info[name] for name in ("loss", "root", "given", "sentences")}
    assert told == {"loss": "margin", "root": "multi", "given": 1.0, "sentences": 3}


def test_its_kinds_are_kinds_of_parsers():
    assert set(get_args(AnyKind)) <= set(KINDS)
