"""`arborescence trace` on a terminal, and of models; all else is in transcripts."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.treebank import Sentence, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]


def actions(line: str) -> list[str | None]:
    return [step["action"] for step in json.loads(line)["steps"]]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "gold.conllu"
    cats = Sentence.from_words(
        ["Cats", "see", "birds"], upos=["NOUN", "VERB", "NOUN"], heads=[-1, 2, 0, 2],
        deprels=["nsubj", "root", "obj"],
    )  # fmt: skip
    birds = Sentence.from_words(
        ["Birds", "sing"], upos=["NOUN", "VERB"], heads=[-1, 2, 0], deprels=["nsubj", "root"],
    )  # fmt: skip
    write([cats, birds], path)
    return path


def test_lines_fit_the_terminal(
    command: Command, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    colored = command("trace", "--treebank", gold).out
    assert "\033[" in colored
    assert "…" in colored
    monkeypatch.setenv("NO_COLOR", "1")
    bare = command("trace", "--treebank", gold).out
    assert "\033[" not in bare
    assert max(map(len, bare.splitlines())) <= 60


def test_a_transition_based_model_shows_what_it_does(
    command: Command, gold: Path, tmp_path: Path
) -> None:
    from arborescence.parsers import TransitionParser
    from arborescence.treebank import read

    birds = list(read(gold))[:2]
    parser = TransitionParser.train(birds * 3, system="arc-eager", epochs=2, bits=10)
    model = tmp_path / "eager.model"
    parser.save(model)
    own = command("trace", "-m", model, "--sentence", "Birds see cats")
    assert own.out.startswith("# system = arc-eager\n")
    [line] = command("trace", "-m", model, "--json", stdin="Birds see cats\n").out.splitlines()
    words = Sentence.from_words(["Birds", "see", "cats"])
    assert actions(line) == [*(step.action for step in parser.derivation(words)), None]
    other = command("trace", "-m", model, "--sentence", "Birds see cats", "--system", "swap")
    assert other.out.startswith("# system = swap\n")
    again = command("trace", "-m", model, "--treebank", gold, "--which", 2, "--json").out
    assert actions(again) == ["SHIFT", "LEFT-ARC", "SHIFT", "LEFT-ARC", None]


def test_words_that_are_not_utf8(command: Command) -> None:
    word = b"na\xefve".decode(errors="surrogateescape")
    assert "byte 0xef is not UTF-8" in command("trace", "--sentence", word).complaint()
