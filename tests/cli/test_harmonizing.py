"""`arborescence convert --learn` and `--with`: a scheme learned from a sample in both."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.treebank import Sentence, read, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

WORDS = list(product(["owls", "mice", "cats"], ["Rome", "Oslo", "Bern"]))
FORBIDDEN = '[[rule]]\nname = "after"\nleft = ["nmod"]\n'
MISC = ["_", "Corrected=Yes", "_"]


def old(noun: str, place: str) -> Sentence:
    """Return a sentence in which the preposition is a head."""
    return Sentence.from_words([noun, "in", place], heads=[0, 1, 2], deprels=["ROOT", "ADV", "P"])


def new(noun: str, place: str) -> Sentence:
    """Return the same in Universal Dependencies."""
    return old(noun, place).replace(heads=[0, 3, 1], deprels=["root", "case", "nmod"])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write([old(*each) for each in WORDS], "old.conllu")
    write([new(*each) for each in WORDS[:7]], "sample.conllu")
    return tmp_path


@pytest.fixture
def learned(place: Path, command: Command) -> Any:
    return command("convert", "--learn", "old.conllu", "sample.conllu", "-o", "m.model")


def test_learned_and_converted(place: Path, command: Command, learned: Any) -> None:
    assert learned.status == 0
    assert learned.err.startswith("100.0 % of the words are paired, in 7 sentences")
    assert "7\tADV\tanother head\tcase\n" in learned.out
    assert command("convert", "--with", "m.model", "old.conllu", "-o", "new.conllu").status == 0
    assert list(read("new.conllu")) == [new(*each) for each in WORDS]
    result = command(
        "convert", "--with", "m.model", "--confidence", stdin="".join(map(str, [old(*WORDS[0])]))
    )
    assert result.out.count("EdgeProb=") == result.out.count("RelationProb=") == 3


def test_with_a_parser_and_rules(place: Path, command: Command) -> None:
    how = ("--learn", "--parser", "old.conllu", "sample.conllu", "-o", "m.model")
    learned = command("convert", *how)
    assert "the factor of the parser's scores is 0" in learned.err
    (place / "rules.toml").write_text(FORBIDDEN)
    result = command("convert", "--with", "m.model", "--rules", "rules.toml", "old.conllu")
    assert "rules: 9 of 9 sentences changed" in result.err
    assert "\tnmod\t" not in result.out
    result = command("convert", "--with", "m.model", "--rules", "none", "old.conllu")
    assert "rules:" not in result.err
    assert result.out.count("\tnmod\t") == 9


def test_corrected_words_stay(place: Path, command: Command, learned: Any) -> None:
    corrected = new(*WORDS[0]).replace(deprels=["dep", "mark", "dep"], misc=MISC)
    write([corrected, *(new(*each) for each in WORDS[1:])], "corrected.conllu")
    how = ("convert", "--with", "m.model", "old.conllu", "--corrected", "corrected.conllu")
    assert command(*how, "-o", "new.conllu").status == 0
    first, *others = read("new.conllu")
    assert first.deprels == ["root", "mark", "nmod"]
    assert others == [new(*each) for each in WORDS[1:]]


def test_enhanced_dependencies_are_removed_and_that_is_said(
    place: Path, command: Command, learned: Any
) -> None:
    given = str(old(*WORDS[0]).replace(deps=["0:ROOT", "1:ADV", "2:P"]))
    result = command("convert", "--with", "m.model", stdin=given)
    assert result.out == str(new(*WORDS[0]))
    assert "(DEPS) of 1 sentence were removed" in result.err


def test_files_that_do_not_fit(place: Path, command: Command, learned: Any) -> None:
    write([Sentence.from_words(["Something", "else", "entirely", "here"])], "other.conllu")
    said = command(
        "convert", "--learn", "other.conllu", "sample.conllu", "-o", "x.model"
    ).complaint()
    assert "no word of other.conllu is in sample.conllu" in said
    assert not (place / "x.model").exists()
    said = command("convert", "--with", "old.conllu", "old.conllu").complaint()
    assert "old.conllu: not a model file" in said
    write([new(*WORDS[0])], "corrected.conllu")
    how = ("convert", "--with", "m.model", "old.conllu", "--corrected", "corrected.conllu")
    assert "old.conllu:5: no corrected sentence" in command(*how).complaint()
