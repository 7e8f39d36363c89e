"""Find and read treebanks in folders, each with a training part and a test part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Self

from arborescence.errors import TreebankError
from arborescence.parsers.recipe import parts_of
from arborescence.treebank import Sentence, read, write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from arborescence.errors import ArborescenceError


@dataclass(frozen=True)
class Treebank:
    """A treebank that a parser can be trained and tested on.

    Attributes
    ----------
    name : str
        The name of its folder.
    split : str
        The part used for training: ``"train"`` or, if that is missing, ``"dev"``.
    training_files, test_files : tuple of Path
        The files of that part, and of the test part.
    """

    name: str
    split: str
    training_files: tuple[Path, ...]
    test_files: tuple[Path, ...]

    def read(self) -> tuple[list[Sentence], list[Sentence]]:
        """Read the training sentences and the test set.

        Raises
        ------
        TreebankError
            If a file is broken, or one of the two parts has no sentences.
        OSError
            If a file cannot be read.
        """
        training, test = (
            list(chain.from_iterable(map(read, files)))
            for files in (self.training_files, self.test_files)
        )
        for sentences, files in ((training, self.training_files), (test, self.test_files)):
            if not sentences:
                raise TreebankError(f"{', '.join(map(str, files))}: no sentence")
        return training, test

    @property
    def size(self) -> int:
        """The size of its files in bytes."""
        return sum(file.stat().st_size for file in (*self.training_files, *self.test_files))


def digest(*files: Path) -> str:
    """Return a hash of the content of files."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]


class LeftOut(NamedTuple):
    """A treebank that is left out of an experiment.

    Attributes
    ----------
    treebank : str
        Its name.
    reason : str
        The missing part or the error, with its position.
    failed : bool
        Whether there was an error, such as a broken file or a full disk. False if the treebank only
        lacks a part.
    """

    treebank: str
    reason: str
    failed: bool

    @classmethod
    def because(cls, treebank: str, error: ArborescenceError | OSError) -> Self:
        """Make the entry of a treebank from an error."""
        reason = str(error)
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename else ""
            reason = f"{where}{error.strerror or error}"
        return cls(treebank, reason, failed=True)


class Found(NamedTuple):
    """The result of `find`.

    Attributes
    ----------
    treebanks : list of Treebank
        The treebanks with a test part and a training part: first those with a train part, by name.
    left_out : list of LeftOut
        The others.
    """

    treebanks: list[Treebank]
    left_out: list[LeftOut]


def find(folder: Path, only: Iterable[str] = (), smallest: int | None = None) -> Found:
    """Find the usable treebanks in a folder.

    Parameters
    ----------
    folder
        Contains one folder per treebank, with files such as ``train.conllu``,
        ``en_ewt-ud-dev.conllu.gz`` and ``test.conllu.gz``. Other files, and folders whose names
        begin with a dot, are ignored.
    only
        The names of the treebanks to use; empty for all.
    smallest
        The number of treebanks to keep: those with the smallest files. None for all.

    Raises
    ------
    TreebankError
        If no treebank is usable, or one of those named in `only` is missing or not usable.
    OSError
        If the folder cannot be read.
    """
    treebanks, left_out = [], []
    for place in sorted(folder.iterdir()):
        if place.name.startswith(".") or not place.is_dir():
            continue
        parts = parts_of(place)
        split = "train" if parts["train"] else "dev"
        if parts[split] and parts["test"]:
            files = tuple(parts[split]), tuple(parts["test"])
            treebanks.append(Treebank(place.name, split, *files))
        else:
            missing = "test part" if parts[split] else "part to learn from (train or dev)"
            left_out.append(LeftOut(place.name, f"no {missing}", failed=False))
    wanted = set(only)
    for name in sorted(wanted - {treebank.name for treebank in treebanks}):
        raise TreebankError(
            f"{folder}: no treebank {name!r} with a part to learn from (train or dev) and a "
            "test part"
        )
    if not treebanks:
        raise TreebankError(
            f"{folder}: no treebank that can be used: give a folder of folders with files such as "
            "train.conllu (or dev.conllu) and test.conllu, plain or gzipped"
        )
    if wanted:
        treebanks, left_out = [one for one in treebanks if one.name in wanted], []
    treebanks = sorted(treebanks, key=lambda one: (one.size, one.name))[:smallest]
    return Found(sorted(treebanks, key=lambda one: (one.split != "train", one.name)), left_out)


def write_birdish(folder: Path) -> Path:
    """Write a treebank of one sentence into a new folder of treebanks, for examples."""
    (folder / "Birdish").mkdir(parents=True)
    sentence = Sentence.from_words(["Birds", "sing"], heads=[2, 0], deprels=["dep", "root"])
    for part in ("train", "test"):
        write([sentence], folder / "Birdish" / f"{part}.conllu")
    return folder
