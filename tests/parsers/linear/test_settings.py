"""A model says by which settings it was trained."""

from dataclasses import asdict

import pytest

from arborescence.errors import OptionError
from arborescence.parsers import LinearParser
from arborescence.parsers.linear.settings import Settings
from arborescence.parsers.shared.options import record_of
from samples import treebank


def settings_of(parser):
    return record_of(Settings, {name: parser.info[name] for name in Settings().stored()})


def test_training_with_the_settings_of_a_model_gives_it_again():
    options = {"loss": "tree", "rate": 0.2, "bits": 12, "projective": "auto", "columns": ["form"]}
    parser = LinearParser.train(treebank(), epochs=2, **options)
    settings = settings_of(parser)
    assert (settings.loss, settings.C, settings.rate) == ("tree", 0.1, 0.2)
    assert settings.columns == ("form",)
    again = LinearParser.train(treebank(), **asdict(settings) | {"epochs": 2})
    assert again.info == parser.info
    sentence = treebank()[0]
    assert (again.scores(sentence) == parser.scores(sentence)).all()


def test_the_learning_rate_is_for_edges_and_the_largest_step_for_relations():
    def trained(**options):
        return LinearParser.train(treebank(), epochs=2, bits=12, loss="head", **options).to_file()

    _, plain = trained()
    _, other_rate = trained(rate=0.3)
    _, other_step = trained(C=0.01)
    assert (plain["edges"] != other_rate["edges"]).any()
    assert (plain["relations"] == other_rate["relations"]).all()
    assert (plain["edges"] == other_step["edges"]).all()
    assert (plain["relations"] != other_step["relations"]).any()


def test_a_choice_that_is_none():
    with pytest.raises(OptionError, match="projective must be False, True, 'pseudo' or 'auto'"):
        LinearParser.train(treebank(), projective="yes")
