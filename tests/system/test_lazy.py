"""The public names of a package: those that it imports for type checkers."""

import importlib
import sys

import pytest

PACKAGE = '''
"""A package."""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily
from box.version import __version__ as __version__

if TYPE_CHECKING:
    from box import inner as inner
    from box.things import One as One
    from box.things import (
        a_rather_long_name as a_rather_long_name,
    )

__all__, __getattr__, __dir__ = lazily(__name__)
'''


def test_names_are_those_for_type_checkers(tmp_path, monkeypatch):
    (tmp_path / "box").mkdir()
    texts = {
        "__init__": PACKAGE,
        "version": "__version__ = '1.2'",
        "inner": "",
        "things": "One = 1\na_rather_long_name = 2",
    }
    for name, text in texts.items():
        (tmp_path / "box" / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    box = importlib.import_module("box")
    assert box.__all__ == ["One", "a_rather_long_name"]
    assert dir(box) == ["One", "a_rather_long_name", "inner"]
    assert not {"box.inner", "box.things"} & sys.modules.keys()
    assert (box.One, box.a_rather_long_name) == (1, 2)
    assert box.inner.__name__ == "box.inner"
    with pytest.raises(AttributeError, match="module 'box' has no attribute 'two'"):
        _ = box.two
