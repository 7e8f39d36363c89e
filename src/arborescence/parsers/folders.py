"""What the folder of a treebank says of itself; it may come from anybody, so nothing is trusted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import normalize

from arborescence.errors import OptionError, TreebankError
from arborescence.parsers.recipe import parts_of
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    import os

    from arborescence.treebank import Sentence

_NAME: Final = re.compile(r"[\w .-]+")
#: What is read of a README: the fields that UD has at its end are within.
_LONGEST: Final = 2**20
#: SPDX has other names for these licences of treebanks.
_SPDX: Final = {
    "LGPL-LR": "LGPLLR",
    "GNU GPL 2.0": "GPL-2.0-only",
    "GNU GPL 3.0": "GPL-3.0-only",
    "PD": "CC0-1.0",
}


class Treebank(NamedTuple):
    """What a folder of Universal Dependencies says of itself."""

    name: str
    language: str
    licence: str
    contributors: str
    genre: str
    parts: dict[str, list[Path]]
    terms: Path | None

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> Treebank:
        """Read the README of a folder.

        TreebankError if it has no part of a treebank, another name than treebanks have, or a file
        that is a link out of it.
        """
        path = Path(folder)
        parts = parts_of(path)
        if not any(parts.values()):
            raise TreebankError(f"{path}: there is no part of a treebank: *-train.conllu or so")
        for file in (each for files in parts.values() for each in files):
            _check_inside(file, path)
        said = _fields(_first(path, "README*"))
        name = f"UD_{normalize('NFC', path.resolve().name).removeprefix('UD_')}"
        if not _NAME.fullmatch(name):
            raise TreebankError(
                f"{path}: a treebank has a name of letters, digits, blanks, hyphens, underscores "
                f"and dots, not {name!r}: rename the folder"
            )
        return cls(
            name,
            name.removeprefix("UD_").partition("-")[0].replace("_", " "),
            said.get("License", ""),
            said.get("Contributors", "see its README"),
            said.get("Genre", "see its README"),
            parts,
            _first(path, "LICENSE*"),
        )

    def sentences(self, part: str) -> list[Sentence]:
        """Read a part; it may have no sentences."""
        return [sentence for file in self.parts[part] for sentence in read(file)]


def _first(folder: Path, pattern: str) -> Path | None:
    """Return the first file of a folder with such a name, if there is one."""
    found = next((file for file in sorted(folder.glob(pattern)) if not file.is_dir()), None)
    if found:
        _check_inside(found, folder)
    return found


def _check_inside(file: Path, folder: Path) -> None:
    """Raise TreebankError for what is no plain file within a folder: a link, a pipe, a device."""
    try:
        real = file.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or to itself
        real = None
    if real is None or not real.is_file() or not real.is_relative_to(folder.resolve()):
        raise TreebankError(
            f"{file}: only plain files within the folder are read, and this is a link out of it, "
            "or no plain file: put a copy in its place, or remove it"
        )


def _fields(readme: Path | None) -> dict[str, str]:
    """Return the lines ``Name: value`` of a README."""
    if readme is None:
        return {}
    with readme.open("rb") as file:
        text = file.read(_LONGEST).decode("utf-8", "replace")
    pairs = (line.partition(":")[::2] for line in text.splitlines())
    return {name: value.strip() for name, value in pairs if value.strip()}


def spdx(licence: str) -> str:
    """Return the SPDX identifier of a licence as treebanks name it, or OptionError."""
    if re.fullmatch(r"CC BY(-NC)?(-SA|-ND)? [0-9]\.[0-9]", licence):
        return licence.replace(" ", "-")
    if licence in _SPDX:
        return _SPDX[licence]
    told = repr(licence) if licence else "not said in its README"
    raise OptionError(f"the licence of the treebank is {told}: name it by licence=, as SPDX does")
