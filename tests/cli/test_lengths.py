"""Very long sentences: a word before they are parsed, and a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from arborescence.cli import parsing
from arborescence.cli.parsing import Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

LINES = ("--format", "tokens")


def test_sentences_above_the_limit_are_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Old trees grow .\n" + "old " * 59 + "trees\nBirds sing .\n")
    parse = ("parse", path, *LINES, "--max-words", 50, "-o", tmp_path / "parsed.conllu")
    complaint = command(*parse).complaint()
    assert "sentence 2: 60 words; --max-words is 50." in complaint
    assert "it takes about 0 seconds" in complaint
    assert "--skip-invalid" in complaint
    assert not (tmp_path / "parsed.conllu").exists()
    result = command(*parse, "--skip-invalid")
    assert result.status == 0
    assert result.err.startswith("skipped 1 broken sentence; the first: sentence 2: ")
    assert (tmp_path / "parsed.conllu").read_text().count("\n\n") == 2
    assert command(*parse, "--max-words", 60).err == ""


def test_the_limit_holds_without_an_option(command: Command) -> None:
    assert "5,001 words" in command("parse", *LINES, stdin="tree " * 5001).complaint()


@pytest.mark.parametrize(
    ("options", "announced"),
    [
        (("--no-projective",), ()),
        (("--projective",), (2,)),
        (("--no-projective", "--confidence"), (1, 2)),
        (("--projective", "--kbest", "2"), (1, 2, 3)),
        (("--projective", "--quiet"), ()),
    ],
)
def test_what_takes_long_is_announced(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    announced: tuple[int, ...],
) -> None:
    costs = {
        ("best", False): parsing.Cost(0.0, 0.0, 5.0),
        ("best", True): parsing.Cost(0.0, 0.1, 5e5),
        ("kbest", True): parsing.Cost(0.0, 100.0, 5e6),
        ("marginals", False): parsing.Cost(0.0, 10.0, 5e6),
    }
    monkeypatch.setattr(parsing, "COSTS", costs)
    text = "Trees grow\nOld trees grow tall and old\nBirds"
    result = command("parse", *LINES, *options, stdin=text)
    assert result.status == 0
    lines = [f"sentence {line}: {(2, 6, 1)[line - 1]} words: it takes about " for line in announced]
    assert len(result.err.splitlines()) == len(lines)
    for said, line in zip(result.err.splitlines(), lines, strict=True):
        assert said.startswith(line)


def test_the_file_and_the_line_are_named(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.conllu"
    block = "1\tTrees" + 8 * "\t_" + "\n"
    path.write_text(f"{block}\n{block}2{block[1:]}\n")
    assert f"{path}:3: 2 words; " in command("parse", path, "--max-words", 1).complaint()


def test_a_transition_based_parser_is_never_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    from arborescence.parsers import TransitionParser
    from arborescence.treebank import Sentence

    words = [Sentence.from_words(["tree"] * 60)]
    parser = TransitionParser.train(
        [Sentence.from_words(["Grow"], heads=[-1, 0], deprels=["root"])], epochs=1, bits=10
    )
    said: list[str] = []
    monkeypatch.setattr(parsing, "note", lambda line, **_: said.append(line))
    monkeypatch.setattr(parsing, "WORTH_A_WORD", 1e-6)
    assert list(parsing.watched(words, parser, Options(max_words=60), None)) == words
    assert said == []
