"""Short sentences with trees, written for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from arborescence.treebank import Sentence, write

if TYPE_CHECKING:
    from pathlib import Path

#: The fixture `command`.
Command = Callable[..., Any]
#: Words, tags, heads, relations.
Lesson = tuple[str, str, list[int], str]

BIRDS: Lesson = ("Birds sing .", "NOUN VERB PUNCT", [2, 0, 2], "nsubj root punct")
TREES: Lesson = ("Old trees grow .", "ADJ NOUN VERB PUNCT", [2, 3, 0, 3], "amod nsubj root punct")
CATS: Lesson = ("Cats see birds", "NOUN VERB NOUN", [2, 0, 2], "nsubj root obj")
#: Its edges cross.
SONGS: Lesson = (
    "Songs began of birds", "NOUN VERB ADP NOUN", [2, 0, 4, 1], "nsubj root case nmod"
)  # fmt: skip


def sentences_of(lessons: Iterable[Lesson]) -> list[Sentence]:
    return [
        Sentence.from_words(
            words.split(), upos=tags.split(), heads=[-1, *heads], deprels=relations.split()
        )
        for words, tags, heads, relations in lessons
    ]


def write_lessons(folder: Path, *lessons: Lesson) -> Path:
    """Write a treebank that has each of these sentences five times."""
    path = folder / "lessons.conllu"
    write(sentences_of(lessons) * 5, path)
    return path
