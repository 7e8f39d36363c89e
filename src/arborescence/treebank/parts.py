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
    """Return the files of each part in a folder, by name; other files are ignored.

    Parameters
    ----------
    folder
        Has files such as ``train.conllu`` and ``en_ewt-ud-dev.conllu.gz``.

    Returns
    -------
    parts : dict of str to list of Path
        The files of ``"train"``, ``"dev"`` and ``"test"``; none for a part that is not there.

    Raises
    ------
    OSError
        If the folder cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "xx_yy-ud-train.conllu").touch()
    >>> {part: [file.name for file in files] for part, files in parts_of(folder).items()}
    {'train': ['xx_yy-ud-train.conllu'], 'dev': [], 'test': []}
    """
    parts: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    for file in sorted(Path(folder).iterdir()):
        if match := _PART.fullmatch(file.name):
            parts[match[1]].append(file)
    return parts
