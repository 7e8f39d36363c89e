"""Treebanks in folders, each with a part to learn from and a part to be tested on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from arborescence.errors import TreebankError
from arborescence.treebank import read

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from arborescence.treebank import Sentence


@dataclass(frozen=True)
class Corpus:
    """A treebank that a parser can be trained and tested on.

    Attributes
    ----------
    name : str
        The name of its folder.
    split : str
        The part that there is to learn from: ``"train"`` or, where that is missing, ``"dev"``.
    lesson_files, exam_files : tuple of Path
        The files of that part, and those of the test part.
    """

    name: str
    split: str
    lesson_files: tuple[Path, ...]
    exam_files: tuple[Path, ...]

    def read(self) -> tuple[list[Sentence], list[Sentence]]:
        """Read what to learn from, and what to be tested on."""
        lessons, exams = (
            list(chain.from_iterable(map(read, files)))
            for files in (self.lesson_files, self.exam_files)
        )
        return lessons, exams


def fingerprint(*parts: Iterable[Sentence]) -> str:
    """Return a string that differs where a byte of the sentences does."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"a part\n")
        for sentence in part:
            digest.update(sentence.raw)
    return digest.hexdigest()[:16]


def find(folder: Path, only: Iterable[str] = ()) -> list[Corpus]:
    """Find the treebanks in a folder that an experiment can use.

    Parameters
    ----------
    folder
        Holds a folder for each treebank, with files such as ``train.conllu``,
        ``en_ewt-ud-dev.conllu.gz`` and ``test.conllu.gz``.
    only
        The names of some of them; none for all.

    Returns
    -------
    list of Corpus
        Those with a test part and one to learn from: first those with a train part, by name.

    Raises
    ------
    TreebankError
        If there is none, or one of those named in `only` is missing or cannot be used.
    OSError
        If the folder cannot be read.
    """
    found = {}
    for place in sorted(folder.iterdir()):
        parts = {
            part: tuple(sorted([*place.glob(f"*{part}.conllu"), *place.glob(f"*{part}.conllu.gz")]))
            for part in ("train", "dev", "test")
        }
        split = "train" if parts["train"] else "dev"
        if parts[split] and parts["test"]:
            found[place.name] = Corpus(place.name, split, parts[split], parts["test"])
    for name in only:
        if name not in found:
            raise TreebankError(
                f"{folder}: no treebank {name!r} with a part to learn from (train or dev) and a "
                "test part"
            )
    if not found:
        raise TreebankError(
            f"{folder}: no treebank that can be used: give a folder of folders with files such as "
            "train.conllu (or dev.conllu) and test.conllu, plain or gzipped"
        )
    chosen = (corpus for name, corpus in found.items() if not only or name in only)
    return sorted(chosen, key=lambda corpus: (corpus.split != "train", corpus.name))
