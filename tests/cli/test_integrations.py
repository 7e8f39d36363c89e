"""The command `integrations`: what is installed, what would be replaced, and a check."""

import sys
import types

import numpy as np
import pytest

from arborescence import decode, integrations
from arborescence.integrations import patching
from arborescence.integrations.tools import Replacement


@pytest.fixture
def tool(monkeypatch):
    """A made-up tool in place of Stanza, whose own decoder takes the best head of each word."""
    package = types.ModuleType("old_tool")
    package.best = lambda scores: np.array([0, *scores[1:].argmax(axis=1)])
    monkeypatch.setitem(sys.modules, "old_tool", package)

    class Tool:
        VERSIONS = ("1.0",)

        @staticmethod
        def ours(scores):
            return np.maximum(decode(scores.T), 0)

        @staticmethod
        def replacements():
            return [Replacement(package, "best", Tool.ours)]

        @staticmethod
        def decode(scores, lengths):
            heads = np.zeros(scores.shape[:2], np.int64)
            for row, matrix, n in zip(heads, scores, lengths, strict=True):
                row[: n + 1] = package.best(matrix[: n + 1, : n + 1])
            return heads

    monkeypatch.setattr(patching, "module_of", lambda name: Tool)
    monkeypatch.setattr("arborescence.integrations.patching.module_of", lambda name: Tool)
    monkeypatch.setattr(patching, "version_of", lambda name: "1.0")
    return Tool


def test_what_is_replaced_and_how_it_does(command, tool):
    lines = command("integrations", "stanza").out.splitlines()
    assert lines[:2] == ["stanza 1.0", "    replaces old_tool.best"]
    assert "on 200 random graphs: the same weight" in lines[2]
    assert "a tree where stanza finds none" in lines[2]
    assert command("integrations", "stanza", "--no-check").out.splitlines() == lines[:2]


def test_a_check_that_fails(command, tool):
    tool.ours = staticmethod(lambda scores: np.zeros(len(scores), np.int64))
    result = command("integrations", "stanza")
    assert result.status == 1
    assert "stanza: the check failed, so do not install it" in result.err
    assert "wrong" in result.out


def test_versions(command, monkeypatch):
    versions = {"supar": "9.9"}
    monkeypatch.setattr(patching, "version_of", versions.get)
    lines = command("integrations").out.splitlines()
    assert len(lines) == len(integrations.TOOLS)
    assert "hanlp: not installed" in lines
    assert "supar 9.9: not known, so nothing is replaced; known: 1.1.4" in lines


def test_a_tool_that_nobody_knows(command):
    assert "not 'malt'" in command("integrations", "malt").complaint(2)
