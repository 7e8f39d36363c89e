"""Functions of another package are replaced wherever modules hold them, and put back exactly."""

import sys
import types

import pytest

from arborescence import MissingExtraError, OptionError, integrations
from arborescence.integrations import patching
from arborescence.integrations.tools import Replacement

SOURCES = {
    "old_tool": """
def best(scores):
    return "theirs"

class Parser:
    @staticmethod
    def decode(scores):
        return "theirs"
""",
    "old_tool.user": "from old_tool import best",
    "old_tool.other": "from old_tool import best as chosen\nbest = 3",
    "old_tool.late": "from old_tool import best",
}


class Tool:
    """In place of one of our modules."""

    VERSIONS = ("1.0", "1.1")

    @staticmethod
    def replacements():
        module = sys.modules["old_tool"]
        return [
            Replacement(module, "best", lambda scores: "ours"),
            Replacement(module.Parser, "decode", staticmethod(lambda scores: "ours")),
        ]


@pytest.fixture
def load(monkeypatch):
    """Loads the made-up package; in place of Stanza, in the version 1.1."""

    def load(name):
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(SOURCES[name], module.__dict__)
        return module

    monkeypatch.setattr(patching, "module_of", lambda tool: Tool)
    monkeypatch.setattr(patching, "version_of", lambda tool: "1.1")
    load("old_tool")
    yield load
    integrations.unpatch("stanza")


def test_every_module_that_has_it(load):
    user, other = load("old_tool.user"), load("old_tool.other")
    tool = sys.modules["old_tool"]
    best, decode = tool.best, vars(tool.Parser)["decode"]

    integrations.patch("stanza")
    late = load("old_tool.late")
    parser = tool.Parser()
    for function in (tool.best, user.best, other.chosen, late.best, tool.Parser.decode):
        assert function(None) == "ours"
    assert parser.decode(None) == "ours"
    assert other.best == 3
    assert tool.best.__wrapped__ is best

    integrations.unpatch("stanza")
    assert tool.best is user.best is other.chosen is late.best is best
    assert vars(tool.Parser)["decode"] is decode
    integrations.unpatch("stanza")
    assert tool.best is best


def test_what_the_replacement_was_made_of_stays_where_it_is(load, monkeypatch):
    mine = types.ModuleType("mine")
    mine.best = lambda scores: "ours"
    monkeypatch.setitem(sys.modules, "mine", mine)
    kept = mine.best
    tool = sys.modules["old_tool"]
    monkeypatch.setattr(Tool, "replacements", lambda: [Replacement(tool, "best", mine.best)])
    with integrations.patch("stanza"):
        assert tool.best(None) == "ours"
    assert mine.best is kept
    assert tool.best(None) == "theirs"


def test_leaving_a_block_restores_what_was_before(load):
    tool = sys.modules["old_tool"]
    with integrations.patch("stanza") as installed:
        assert "stanza" in repr(installed)
        assert tool.best(None) == "ours"
        with integrations.patch("stanza"):
            assert tool.best(None) == "ours"
        assert tool.best(None) == "ours"
    assert tool.best(None) == "theirs"
    with pytest.raises(ZeroDivisionError), integrations.patch("stanza"):
        _ = 1 / 0
    assert tool.best(None) == "theirs"


def test_a_version_that_is_not_known(load, monkeypatch):
    monkeypatch.setattr(patching, "version_of", lambda tool: "1.2")
    line = r"stanza 1.2 is not known, so its decoding was not replaced; known: 1.0, 1.1"
    with pytest.raises(MissingExtraError, match=line):
        integrations.patch("stanza")
    assert sys.modules["old_tool"].best(None) == "theirs"


def test_a_tool_that_is_not_there(monkeypatch):
    monkeypatch.setattr(patching, "version_of", lambda tool: None)
    with pytest.raises(MissingExtraError, match="hanlp is not installed: pip install hanlp"):
        integrations.patch("hanlp")
    assert patching.version_of("no-such-package-at-all") is None


@pytest.mark.parametrize("call", [integrations.patch, integrations.unpatch])
def test_a_tool_that_nobody_knows(call):
    with pytest.raises(OptionError, match=r"tool must be one of diaparser, .*, not 'malt'"):
        call("malt")


@pytest.mark.parametrize("tool", integrations.TOOLS)
def test_each_tool_has_its_module(tool):
    module = patching.module_of(tool)
    assert module.VERSIONS
    assert callable(module.replacements)
    assert callable(module.decode)
