"""CoNLL-U Plus: a file whose first line names its columns.

Columns beside the ten become entries of MISC when a file is read, and columns again when sentences
are written. So functions for CoNLL-U also work with these files.
"""

from __future__ import annotations

import re
from typing import Final

from arborescence.errors import TreebankError
from arborescence.treebank.sentence import COLUMNS, MISC

_HEADER: Final = re.compile(rb"\A\s*(?:\xef\xbb\xbf)?#\s*global\.columns\s*=([^\n]*)")
_COMMENT: Final = re.compile(rb"#\s*global\.columns\s*=")
_ESCAPED: Final = re.compile(rb"\\([p\\])")


def columns_in(data: bytes, name: str) -> tuple[str, ...]:
    """Return the columns that the beginning of a file names; () if they are the ten of CoNLL-U."""
    header = _HEADER.match(data)
    if header is None:
        return ()
    columns = tuple(header[1].decode(errors="replace").split())
    twice = [column for column in columns if columns.count(column) > 1]
    missing = [column for column in ("ID", "FORM") if column not in columns]
    if twice or missing:
        fault = f"names {twice[0]} twice" if twice else f"does not name {missing[0]}"
        raise TreebankError(f"{name}:1: '# global.columns' {fault}")
    return () if columns == COLUMNS else columns


def to_conllu(data: bytes, columns: tuple[str, ...]) -> bytes:
    """Return lines of CoNLL-U Plus as CoNLL-U; a line with too few or many columns has a fault."""
    places = [columns.index(name) if name in columns else -1 for name in COLUMNS]
    others = [(at, f"{name}=".encode()) for at, name in enumerate(columns) if name not in COLUMNS]
    lines = []
    for line in data.split(b"\n"):
        if not line or line.startswith(b"#"):
            lines.append(_header(COLUMNS) if _COMMENT.match(line) else line)
            continue
        cells = line.split(b"\t")
        if len(cells) != len(columns):
            lines.append(line + b"\t" if len(cells) == len(COLUMNS) else line)
            continue
        ten = [cells[at] if at >= 0 else b"_" for at in places]
        entries = [] if ten[MISC] == b"_" else [ten[MISC]]
        entries += (
            name + cells[at].replace(b"\\", rb"\\").replace(b"|", rb"\p")
            for at, name in others
            if cells[at] not in (b"", b"_")
        )
        ten[MISC] = b"|".join(entries) or b"_"
        lines.append(b"\t".join(ten))
    return b"\n".join(lines)


def to_plus(raw: bytes, columns: tuple[str, ...], *, first: bool) -> bytes:
    """Return a sentence in these columns; the `first` of a file begins with their names.

    If the columns lack some of the ten, all ten are written, and the others after them.
    """
    others = [name for name in columns if name not in COLUMNS]
    if not set(COLUMNS) <= set(columns):
        columns = (*COLUMNS, *others)
    lines = [_header(columns)] if first else []
    for line in (raw.lstrip(b"\n") if first else raw).split(b"\n"):
        if not line or line.startswith(b"#"):
            if not _COMMENT.match(line):
                lines.append(line)
            continue
        cells = dict(zip(COLUMNS, line.split(b"\t"), strict=True))
        entries = cells["MISC"].split(b"|")
        for name in reversed(others):
            key = f"{name}=".encode()
            at = next(
                (at for at in reversed(range(len(entries))) if entries[at].startswith(key)), -1
            )
            value = entries.pop(at)[len(key) :] if at >= 0 else b"_"
            cells[name] = _ESCAPED.sub(_character, value)
        cells["MISC"] = b"|".join(entries) or b"_"
        lines.append(b"\t".join(cells[name] for name in columns))
    return b"\n".join(lines)


def misfit(data: bytes, at: int, columns: tuple[str, ...]) -> str:
    """Describe the line around a byte, which has too few or many columns."""
    start = data.rfind(b"\n", 0, at) + 1
    line = data[start:].partition(b"\n")[0].rstrip(b"\t")
    shown = line[:60].decode(errors="replace")
    count = line.count(b"\t") + 1
    return f"{count} columns where the first line of the file names {len(columns)}: {shown!r}"


def _header(columns: tuple[str, ...]) -> bytes:
    return f"# global.columns = {' '.join(columns)}".encode()


def _character(match: re.Match[bytes]) -> bytes:
    return b"|" if match[1] == b"p" else b"\\"
