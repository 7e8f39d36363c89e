"""The data and the README of a treebank's folder: neither is trusted, as anybody may write them."""

from __future__ import annotations

import re
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import normalize

from arborescence.errors import OptionError, TreebankError
from arborescence.parsers.recipe import parts_of
from arborescence.treebank.conllu import read

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from arborescence.treebank import Sentence

_NAME: Final = re.compile(r"[\w .-]+")
#: The most bytes that are read of a README: enough for the fields at the end of UD's READMEs.
_LONGEST: Final = 2**20
#: Identifiers of SPDX that treebanks have.
_IDENTIFIER: Final = re.compile(
    r"CC-BY(-NC)?(-SA|-ND)?-[0-9]\.[0-9]|CC0-1\.0|MIT|LGPLLR|GPL-[23]\.0-only"
)
#: SPDX has other names for these licences of treebanks.
_SPDX: Final = {
    "LGPL-LR": "LGPLLR",
    "GNU GPL 2.0": "GPL-2.0-only",
    "GNU GPL 3.0": "GPL-3.0-only",
    "PD": "CC0-1.0",
}


class Treebank(NamedTuple):
    """A treebank in a folder of Universal Dependencies."""

    #: The name, such as ``UD_French-GSD``.
    name: str
    #: The language in the name.
    language: str
    #: The licence in the README, or "".
    licence: str
    #: The contributors in the README.
    contributors: str
    #: The genres in the README.
    genre: str
    #: The files of each part: train, dev, test.
    parts: dict[str, list[Path]]
    #: The file with the licence's text, if there is one.
    terms: Path | None
    #: The words of the test part that are measured; None: all.
    most: int | None = None
    #: The name of the file with the licence's text in a package; "" without such a file.
    terms_in_package: str = ""

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> Treebank:
        """Read the README of a folder.

        TreebankError if the folder has no part of a treebank, an invalid name, or a file that is a
        link out of the folder.
        """
        path = Path(folder)
        parts = parts_of(path)
        if not any(parts.values()):
            raise TreebankError(f"{path}: there is no part of a treebank, such as *-train.conllu")
        for file in (each for files in parts.values() for each in files):
            _check_inside(file, path)
        readme = _fields(_first(path, "README*"))
        name = f"UD_{normalize('NFC', path.resolve().name).removeprefix('UD_')}"
        if not _NAME.fullmatch(name):
            raise TreebankError(
                f"{path}: the name of a treebank has letters, digits, blanks, hyphens, underscores "
                f"and dots only, but this is {name!r}: rename the folder"
            )
        return cls(
            name,
            name.removeprefix("UD_").partition("-")[0].replace("_", " "),
            readme.get("License", ""),
            readme.get("Contributors", "see its README"),
            readme.get("Genre", "see its README"),
            parts,
            _first(path, "LICENSE*"),
        )

    def sentences(self, part: str) -> list[Sentence]:
        """Read a part; it may have no sentences."""
        return [sentence for file in self.parts[part] for sentence in read(file)]

    def tested(self) -> list[Sentence]:
        """Read the test part: the first sentences, until they have `most` words."""
        sentences = self.sentences("test")
        before = accumulate(map(len, sentences), initial=0)
        return [
            sentence
            for sentence, words in zip(sentences, before, strict=False)
            if self.most is None or words < self.most
        ]


def _first(folder: Path, pattern: str) -> Path | None:
    """Return the first file of a folder whose name matches a pattern, if there is one."""
    first = next((file for file in sorted(folder.glob(pattern)) if not file.is_dir()), None)
    if first:
        _check_inside(first, folder)
    return first


def _check_inside(file: Path, folder: Path) -> None:
    """Raise TreebankError for a link out of a folder, a pipe or a device."""
    try:
        real = file.resolve(strict=True)
    except (OSError, RuntimeError):  # the link leads nowhere, or to itself
        real = None
    if real is None or not real.is_file() or not real.is_relative_to(folder.resolve()):
        raise TreebankError(
            f"{file}: only plain files within the folder are read, but this is a link out of the "
            "folder, or no plain file: replace it by a copy, or remove it"
        )


def _fields(readme: Path | None) -> dict[str, str]:
    """Return the lines ``Name: value`` of a README."""
    if readme is None:
        return {}
    with readme.open("rb") as file:
        text = file.read(_LONGEST).decode("utf-8", "replace")
    pairs = (line.partition(":")[::2] for line in text.splitlines())
    return {name: value.strip() for name, value in pairs if value.strip()}


def with_terms(data: Sequence[Treebank]) -> list[Treebank]:
    """Name the files with the texts of licences in a package of treebanks: a file for each text."""
    files: dict[bytes, str] = {}
    named = []
    for each in data:
        own = "LICENSE" if len(data) == 1 else f"LICENSE-{each.name.removeprefix('UD_')}"
        file = files.setdefault(each.terms.read_bytes(), own) if each.terms else ""
        named.append(each._replace(terms_in_package=file))
    return named


def joined(licences: Iterable[str]) -> str:
    """Return one expression of SPDX for the licences of several treebanks, or OptionError.

    >>> joined(["MIT", "CC BY 4.0", "CC-BY-4.0 AND MIT"])
    'CC-BY-4.0 AND MIT'
    """
    named = (spdx(each).split(" AND ") for each in licences)
    return " AND ".join(sorted(set(chain.from_iterable(named))))


def spdx(licence: str) -> str:
    """Return the SPDX identifier of a licence as treebanks name it, or OptionError.

    >>> spdx("CC BY-SA 4.0"), spdx("CC-BY-4.0 AND MIT")
    ('CC-BY-SA-4.0', 'CC-BY-4.0 AND MIT')
    """
    if all(map(_IDENTIFIER.fullmatch, licence.split(" AND "))):
        return licence
    if re.fullmatch(r"CC BY(-NC)?(-SA|-ND)? [0-9]\.[0-9]", licence):
        return licence.replace(" ", "-")
    if licence in _SPDX:
        return _SPDX[licence]
    stated = repr(licence) if licence else "missing in its README"
    raise OptionError(
        f"the licence of the treebank is {stated}: give its SPDX identifier (licence=)"
    )
