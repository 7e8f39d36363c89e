"""Which files of a folder are to be parsed, and where each result goes."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from arborescence.errors import OptionError
from arborescence.system.files import unfinished_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Kind = Literal["conllu", "text", "parquet"]

_KINDS: Final[dict[str, Kind]] = {".conllu": "conllu", ".txt": "text", ".parquet": "parquet"}


class Shard(NamedTuple):
    """A unit of work: a file, how it is written, where its result goes, and its size in bytes."""

    source: Path
    kind: Kind
    target: Path
    size: int


class Found(NamedTuple):
    """The files of a folder."""

    waiting: list[Shard]
    """Those to be parsed, the largest first, so that no large one is left for the end."""
    finished: int
    """How many are there already."""
    others: list[Path]
    """What is no file, or neither CoNLL-U nor text nor Parquet by its name."""


def find(folder: Path, target: Path, *, parquet: bool = False) -> Found:
    """Find the files of a folder and of the folders in it.

    ``.conllu``, ``.txt``, the same with ``.gz``, and ``.parquet``. Names with a dot or an
    underscore in front are left out, as other tools do. Links to files are followed, to folders
    not. OptionError without the folder, if one is in the other, or if results collide.
    """
    # folder: where the files are
    # target: where the results go, under the same names; that of a text ends in ``.conllu``
    # parquet: whether all results are Parquet; else those of Parquet files only
    if not folder.is_dir():
        raise OptionError(f"{folder}: no such folder")
    if target.resolve().is_relative_to(folder.resolve()):
        raise OptionError(f"{target} is in {folder}: the results would be parsed the next time")
    waiting: list[Shard] = []
    others: list[Path] = []
    sources: dict[Path, Path] = {}
    for path in sorted(_files(folder)):
        inside = path.relative_to(folder)
        packed = path.suffix == ".gz"
        plain = inside.with_suffix("") if packed else inside
        kind = _KINDS.get(plain.suffix)
        if kind is None or (packed and kind == "parquet") or not path.is_file():
            others.append(path)
            continue
        ending = ".parquet" if parquet or kind == "parquet" else ".conllu"
        result = target / plain.with_suffix(ending)
        if packed and ending == ".conllu":
            result = result.with_name(f"{result.name}.gz")
        if result in sources:
            raise OptionError(f"{sources[result]} and {path} would both become {result}")
        sources[result] = path
        waiting.append(Shard(path, kind, result, path.stat().st_size))
    unfinished = [shard for shard in waiting if not shard.target.exists()]
    unfinished.sort(key=lambda shard: -shard.size)
    return Found(unfinished, len(waiting) - len(unfinished), others)


def remove_unfinished(targets: Iterable[Path]) -> None:
    """Remove what is left of results whose process was killed (see `system.files.replacing`)."""
    names = defaultdict(set)
    for target in targets:
        names[target.parent].add(unfinished_name(target))
    for folder, begun in names.items():
        for path in folder.glob(".*"):
            if path.name[:-16] in begun and re.fullmatch("[0-9a-f]{16}", path.name[-16:]):
                path.unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[Path]:
    folders = [folder]
    while folders:
        for path in folders.pop().iterdir():
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir() and not path.is_symlink():
                folders.append(path)
            else:
                yield path
