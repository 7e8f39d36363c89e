"""The settings of neural parsers: checks, and their field in a model file."""

import json

import pytest

from arborescence.errors import ModelError, OptionError
from arborescence.parsers.neural.settings import Settings, pace
from arborescence.parsers.shared.options import record_of


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", ("upos",)),
        ("columns", ("form", "misc")),
        ("loss", "mira"),
        ("scorer", "linear"),
        ("root", "none"),
        ("projective", "pseudo"),
        ("mixed", 2),
        ("precision", "int4"),
        ("rng", -1),
        ("rng", 2**63),
        ("epochs", 0),
        ("hidden", 0),
        ("hidden", 2.5),
        ("upper", True),
        ("lower", 17),
        ("batch", 10**7),
        ("rate", 0),
        ("rate", float("nan")),
        ("dropout", 1),
        ("dropout", -0.1),
        ("given", 1.5),
    ],
)
def test_values_that_make_no_sense(name, value):
    with pytest.raises(OptionError, match=name):
        Settings(**{name: value})


def test_the_pace_that_help_and_documentation_name():
    assert Settings().epochs == 30
    assert Settings().batch == 1500
    assert pace(0) == pace(2_000) == {"batch": 200, "epochs": 100}
    assert pace(10**7) == {"batch": 1500, "epochs": 30}


def test_settings_survive_a_file():
    for settings in (
        Settings(),
        Settings(columns=["form", "lemma"], loss="tree", rate=1, dropout=0, rng=2**63 - 1),
    ):
        written = json.loads(json.dumps(settings.stored()))
        assert record_of(Settings, written) == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [("columns", ["upos"]), ("dropout", 1.0), ("hidden", 10**9), ("rate", "high"), ("seed", None)],
)
def test_a_file_with_other_values(name, value):
    with pytest.raises(ModelError, match=name):
        record_of(Settings, Settings().stored() | {name: value})


def test_a_file_that_lacks_a_setting():
    for name in Settings().stored():
        written = Settings().stored()
        del written[name]
        with pytest.raises(ModelError, match=f"{name} is missing"):
            record_of(Settings, written)
