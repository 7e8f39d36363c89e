"""Very long sentences: a word before they are parsed, and a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.cli import parsing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    Command = Callable[..., Any]

LINES = ("--format", "tokens")


def test_sentences_above_the_limit_are_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Old trees grow .\n" + "old " * 59 + "trees\nBirds sing .\n")
    parse = ("parse", path, *LINES, "--max-words", 50, "-o", tmp_path / "parsed.conllu")
    complaint = command(*parse).complaint()
    assert "sentence 2: 60 words; --max-words is 50." in complaint
    assert "--skip-invalid" in complaint
    assert not (tmp_path / "parsed.conllu").exists()
    result = command(*parse, "--skip-invalid")
    assert result.status == 0
    assert result.err.startswith(
        "skipped 1 broken sentence (60 words, 60 lines); the first: sentence"
    )
    assert (tmp_path / "parsed.conllu").read_text().count("\n\n") == 2
    assert command(*parse, "--max-words", 60).err == ""


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


def test_the_file_and_the_line_are_named(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.conllu"
    block = "1\tTrees" + 8 * "\t_" + "\n"
    path.write_text(f"{block}\n{block}2{block[1:]}\n")
    assert f"{path}:3: 2 words; " in command("parse", path, "--max-words", 1).complaint()
