"""Very long sentences: a word before they are parsed, and a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.cli import parsing

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    Command = Callable[..., Any]

LINES = ("--format", "tokens")


def test_the_limit_holds_without_an_option(command: Command) -> None:
    assert "5,001 words" in command("parse", *LINES, stdin="tree " * 5001).complaint()


def test_what_takes_long_is_announced(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "LONG", 2)
    text = "Trees grow\nOld trees grow tall and old\nBirds"
    for options in (("--kbest", "2"), ()):
        result = command("parse", *LINES, *options, stdin=text)
        assert result.status == 0
        assert result.err == "sentence 2: 6 words: this may take a while\n"
    assert command("parse", *LINES, "--quiet", stdin=text).err == ""
