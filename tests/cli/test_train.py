"""`arborescence train`: which options go with which kind of parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from arborescence.treebank import Sentence, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

# (words, tags, heads, relations), written for these tests
LESSONS = [
    ("Birds sing .", "NOUN VERB PUNCT", [2, 0, 2], "nsubj root punct"),
    ("Old trees grow .", "ADJ NOUN VERB PUNCT", [2, 3, 0, 3], "amod nsubj root punct"),
    ("Cats see birds", "NOUN VERB NOUN", [2, 0, 2], "nsubj root obj"),
]


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("train") / "lessons.conllu"
    sentences = [
        Sentence.from_words(
            words.split(), upos=tags.split(), heads=[-1, *heads], deprels=relations.split()
        )
        for words, tags, heads, relations in LESSONS
    ]
    write(sentences * 5, path)
    return path


@pytest.mark.parametrize(
    ("parser", "options"),
    [
        ("linear", ("--system swap", "--oracle static", "--beam 1")),
        (
            "transition",
            (
                "--algorithm mira",
                "--aggressiveness 0.1",
                "--k 1",
                "--joint",
                "--projective",
                "--inference exact",
                "--features directed",
                "--rounds 5",
                "--prune",
            ),
        ),
    ],
)
def test_options_of_another_parser_are_refused(
    command: Command, lessons: Path, tmp_path: Path, parser: str, options: tuple[str, ...]
) -> None:
    other = {"linear": "transition", "transition": "linear"}[parser]
    train = ("train", lessons, "--dev", lessons, "-o", tmp_path / "model", "--parser", parser)
    for option in options:
        name = option.split()[0]
        complaint = command(*train, *option.split()).complaint(2)
        assert f"{name} goes with --parser {other}, not {parser}" in complaint
    assert not list(tmp_path.iterdir())
