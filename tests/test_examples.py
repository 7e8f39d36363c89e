"""Examples of what no user calls: a file for each module, whose names it sees."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import arborescence

HERE = Path(__file__).parent / "examples"
SOURCE = Path(arborescence.__file__).parent


@pytest.mark.parametrize("name", [str(file.relative_to(HERE)) for file in HERE.rglob("*.txt")])
def test_examples_run(name: str) -> None:
    where = "arborescence." + name.removesuffix(".txt").replace("/", ".")
    assert (SOURCE / name).with_suffix(".py").is_file(), "its module has moved"
    try:
        module = importlib.import_module(where)
    except ImportError as error:
        pytest.skip(f"needs {error.name or error}")
    text = (HERE / name).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, name, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
