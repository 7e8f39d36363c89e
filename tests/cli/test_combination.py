"""`parse -m A -m B`: several models at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from arborescence.treebank import write
from lessons import sentences_of

if TYPE_CHECKING:
    from pathlib import Path

    from lessons import Command

# (words, tags, heads, relations), written for these tests; the other model sees its own version
LESSONS = [
    ("Birds sing", "NOUN VERB", [2, 0], "nsubj root"),
    ("Cats see birds", "NOUN VERB NOUN", [2, 0, 2], "nsubj root obj"),
]
OTHERWISE = [
    ("Birds sing", "NOUN VERB", [0, 1], "root dep"),
    ("Cats see birds", "NOUN VERB NOUN", [0, 1, 1], "root dep dep"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two models that have learned different trees of the same sentences."""
    from arborescence.cli import run

    folder = tmp_path_factory.mktemp("combination")
    for name, lessons in (("verbs", LESSONS), ("nouns", OTHERWISE)):
        path = folder / f"{name}.conllu"
        write(sentences_of(lessons) * 5, path)
        options = ["-o", str(path.with_suffix(".model")), "--epochs", "3", "--bits", "12"]
        assert run(["train", "linear", str(path), "--dev", str(path), "--no-tagger", *options]) == 0
    return [folder / "verbs.model", folder / "nouns.model"]


INPUT = "1\tBirds\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"


def parsed(command: Command, *arguments: object) -> Any:
    result = command("parse", "--json", *arguments, stdin=INPUT)
    assert (result.status, result.err) == (0, ""), result
    return json.loads(result.out)


def test_the_weights_decide(command: Command, models: list[Path]) -> None:
    verbs, nouns = models
    for weights, heads, relations in (
        ("2,1", [2, 0], ["nsubj", "root"]),
        ("1,2", [0, 1], ["root", "dep"]),
    ):
        found = parsed(command, "-m", verbs, "-m", nouns, "--weights", weights)
        assert (found["heads"], found["deprels"]) == (heads, relations)
    assert parsed(command, "-m", nouns, "-m", verbs, "-m", nouns)["heads"] == [0, 1]
    assert parsed(command, "-m", nouns, "--model", verbs, "-m", verbs)["heads"] == [2, 0]


def test_other_options_go_with_it(command: Command, models: list[Path]) -> None:
    verbs, nouns = models
    together = ("-m", verbs, "-m", nouns, "--weights", "3,1")
    found = parsed(command, *together, "--kbest", 5, "--confidence")
    first, second = found["analyses"]
    assert (first["heads"], second["heads"]) == ([2, 0], [0, 1])
    assert first["weight"] + second["weight"] == pytest.approx(8, abs=1e-4)  # 2 words, 4 in all
    assert first["edge_probs"] == pytest.approx([first["weight"] / 8] * 2, abs=1e-3)
    options = ("--projective", "--root", "multi", "--threads", 2)
    assert parsed(command, *together, *options)["heads"] == [2, 0]
