"""The command line with a model of several languages, that in ``models/multi``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lessons import Command

pytest.importorskip("tokenizers", reason="multi needs tokenizers")

MODEL = Path(__file__).parents[2] / "models/multi/src/arborescence_multi/multi.npz"
pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="the source archive leaves it out")
GERMAN = "Die alte Frau liest ein Buch. Ihr Hund schläft im Garten."


def test_the_language_is_named_by_an_option_or_with_the_model(command: Command) -> None:
    for given in (["-m", MODEL, "--language", "de"], ["-m", f"{MODEL}:de"]):
        parsed = command("parse", *given, "--format", "text", stdin=GERMAN).out
        assert "3\tFrau\tFrau\tNOUN\tNN\t" in parsed
        assert "4-5\tim\t_" in parsed
        assert "# language" not in parsed
    split = command("split", "-m", MODEL, "--language", "de", stdin=GERMAN).out
    assert split.splitlines() == ["Die alte Frau liest ein Buch.", "Ihr Hund schläft im Garten."]
    tagged = command("tag", "-m", MODEL, "--language", "de", "--format", "text", stdin=GERMAN).out
    assert "3\tFrau\tFrau\tNOUN\tNN\t" in tagged


def test_the_language_is_found(command: Command) -> None:
    given = ["-m", MODEL, "--language", "auto", "--format", "text"]
    assert command("parse", *given, stdin=GERMAN).out.count("# language = de\n") == 2


def test_without_a_language_the_error_lists_them(command: Command) -> None:
    done = command("parse", "-m", MODEL, "--format", "text", stdin=GERMAN).complaint()
    assert "it reads several languages: choose one of af, be, ca, cs" in done
    done = command("parse", "-m", MODEL, "--language", "xx", stdin=GERMAN).complaint()
    assert "it does not read 'xx': choose one of af" in done


def test_commands_that_need_one_language_say_so(command: Command) -> None:
    auto = f"{MODEL}:auto"
    for call in (
        ["rank", "-m", auto, "--format", "text"],
        ["explain", "-m", auto, "--sentence", "Ja"],
    ):
        done = command(*call, stdin=GERMAN).complaint()
        assert "name the language, such as multi:de, not auto" in done
