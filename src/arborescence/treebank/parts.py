"""The parts of a treebank by the names of its files: train, dev and test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import os

# en_ewt-ud-train.conllu, test.conllu.gz; for large treebanks also cs_pdt-ud-train-ca.conllu
_PART: Final = re.compile(r"(?:.*[-_.])?(train|dev|test)(?:[-_.].*)?\.conllu(?:\.gz)?")


def parts_of(folder: str | os.PathLike[str]) -> dict[str, list[Path]]:
    """Return the files of "train", "dev" and "test" in a folder, by name."""
    # other files are ignored
    parts: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    for file in sorted(Path(folder).iterdir()):
        if match := _PART.fullmatch(file.name):
            parts[match[1]].append(file)
    return parts
