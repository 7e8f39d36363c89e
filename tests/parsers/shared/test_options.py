"""An option that is declared once: its check, its field in a file, its help, its row of a table."""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest

from arborescence.errors import ModelError, OptionError
from arborescence.parsers.linear.settings import Settings as LinearSettings
from arborescence.parsers.shared import options
from arborescence.parsers.shared.options import (
    TRAINABLE,
    Option,
    described,
    kept_fields,
    record_of,
    settings_of,
)
from arborescence.parsers.shared.run import identity
from arborescence.parsers.shared.scheme import fields_of, whole


@dataclass(frozen=True, kw_only=True)
class Settings(LinearSettings):
    """Options of a linear parser with one more."""

    warmth: Annotated[int, Option(whole(1, 9), kept=True)] = 3
    """How warm
    it is."""
    mood: Annotated[Literal["good", "bad"] | None, Option(stored=False)] = None
    """How it feels."""


def test_a_new_option_is_checked():
    assert (Settings().warmth, Settings.of({"warmth": np.int8(9)}).warmth) == (3, 9)
    for value in (0, 10, 2.0, "3", True, None):
        with pytest.raises(OptionError, match="warmth must be a whole number from 1 to 9, not "):
            Settings(warmth=value)
    with pytest.raises(OptionError, match="mood must be 'good' or 'bad', or None, not 'blue'"):
        Settings(mood="blue")
    with pytest.raises(
        OptionError, match=r"warm is not an option; the options are columns, .*warmth"
    ):
        Settings.of({"warm": 3})


def test_a_seed_is_drawn_from_a_generator_or_the_system():
    drawn = [Settings(rng=np.random.default_rng(seed)).rng for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert Settings(rng=None).rng != Settings(rng=None).rng
    assert (
        Settings(rng=7).stored()["seed"],
        record_of(Settings, Settings(rng=7).stored()).rng,
    ) == (7, 7)
    with pytest.raises(OptionError, match="seed is not an option"):
        Settings.of({"seed": 1})


def test_a_new_option_is_in_the_header():
    kept = {
        "inference": "exact",
        "features": "directed",
        "rounds": None,
        "changes": "best",
        "warmth": 4,
    }
    assert fields_of(kept, kept_fields(Settings, required=True)) == kept
    assert fields_of({}, kept_fields(Settings))["warmth"] == 3  # an older file
    with pytest.raises(ModelError, match="warmth is 44, not a whole number from 1 to 9"):
        fields_of(kept | {"warmth": 44}, kept_fields(Settings))


def test_what_is_stored_is_what_a_checkpoint_compares():
    one, other, moody = Settings(), Settings(warmth=4), Settings(mood="bad", epochs=7)
    assert "mood" not in moody.stored()
    assert identity(one) == identity(moody) != identity(other)
    assert record_of(Settings, other.stored()) == other


def test_a_new_option_is_on_the_command_line(monkeypatch, capsys):
    pytest.importorskip("typer", reason="needs the extra 'cli'")
    from arborescence.cli import run

    monkeypatch.setattr("arborescence.parsers.recipe.settings_of", lambda _: Settings)
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["train", "linear", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--warmth " in shown
    assert "How warm it is." in shown
    assert "<good|bad>" in shown
    arguments = ["train", "linear", "none.conllu", "--dev", "none.conllu", "-o", "none"]
    assert run([*arguments, "--warmth", "10"]) == 2
    assert "--warmth must be a whole number from 1 to 9, not 10" in capsys.readouterr().err
    assert run([*arguments, "--mood", "blue"]) == 2
    assert "'blue' is not one of 'good', 'bad'" in capsys.readouterr().err


def test_a_new_option_is_in_the_reference():
    page = Path(__file__).parents[3] / "docs" / "reference" / "options.py"
    spec = importlib.util.spec_from_file_location("reference_options", page)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table = module.table(described(Settings).values()).splitlines()
    assert "| `warmth` | a whole number from 1 to 9 | 3 | How warm it is. |" in table
    written = module.on_page_markdown("Before\n<!-- options: transition -->\nAfter").splitlines()
    assert [row.split("`")[1] for row in written if row.startswith("| `beam`")] == ["beam"]
    assert (written[0], written[-1]) == ("Before", "After")


@pytest.mark.parametrize("kind", TRAINABLE)
def test_each_option_has_a_default_that_fits_and_help(kind):
    settings = settings_of(kind)
    for name, option in described(settings).items():
        assert option.values.fits(option.default), name
        assert option.help.endswith("."), name
    assert settings.__doc__.startswith("Options of a ")


def test_a_kind_whose_folder_is_deleted(monkeypatch):
    monkeypatch.setattr(options, "find_spec", lambda name: None if "second" in name else sys)
    assert options.present_kinds() == ["linear", "transition", "neural"]
