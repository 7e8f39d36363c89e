"""Each kind of parser is found by the name that it has in model files."""

from importlib.metadata import EntryPoint
from typing import get_args

import pytest

import arborescence as arb
from arborescence.errors import ModelError
from arborescence.parsers import registry
from arborescence.parsers.registry import KINDS, from_file, parser_class
from arborescence.parsers.shared.base import Parser
from arborescence.parsers.shared.options import System
from arborescence.transitions import SYSTEMS


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_has_the_kind_that_it_is_found_by(kind):
    found = parser_class(kind)
    assert issubclass(found, Parser)
    assert found.kind == kind


@pytest.mark.parametrize("kind", [None, 3, ["linear"], {}, "neural"])
def test_a_kind_that_is_none(kind):
    with pytest.raises(ModelError, match="holds no parser that this version knows but"):
        from_file({"kind": kind}, {})


def test_types_name_what_there_is():
    assert get_args(System) == SYSTEMS


MODELS = """
from pathlib import Path

missing = lambda: Path("no-such-file.npz")
number = lambda: 3
nothing = lambda: None
folder = lambda: Path(__file__).parent
leaving = lambda: exit(3)
value = 3
"""


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("missing", r"PosixPath\('no-such-file.npz'\) is no file"),
        ("number", "3 is no file"),
        ("nothing", "None is no file"),
        ("folder", r"PosixPath\(.*\) is no file"),
        ("leaving", r"SystemExit\(3\)"),
        ("value", "TypeError"),
        ("absent", "AttributeError"),
    ],
)
def test_models_of_broken_distributions(tmp_path, monkeypatch, place, why):
    (tmp_path / "broken_models.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("odd", f"broken_models:{place}", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    with pytest.raises(arb.ModelError, match=f"odd: broken_models:{place} is broken: {why}"):
        arb.load("odd")
