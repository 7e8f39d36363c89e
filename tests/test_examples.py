"""Examples of what no user calls: a file for each module, whose names it sees."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "examples"


@pytest.mark.parametrize("name", [str(file.relative_to(HERE)) for file in HERE.rglob("*.txt")])
def test_examples_run(name: str) -> None:
    try:
        module = importlib.import_module(
            "arborescence." + name.removesuffix(".txt").replace("/", ".")
        )
    except ImportError as error:
        assert not (error.name or "").startswith("arborescence."), f"move the examples in {name}"
        pytest.skip(f"needs {error.name or error}")
    text = (HERE / name).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, name, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
