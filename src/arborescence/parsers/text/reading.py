"""Files of raw text to sentences."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from arborescence.treebank.plain import read_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arborescence.parsers.text.tokenizer import Tokenizer
    from arborescence.treebank import Sentence


def read_text(
    tokenizer: Tokenizer,
    source: str | os.PathLike[str] | IO[bytes],
    *,
    lines: bool = False,
    warn: Callable[[str], None] | None = None,
) -> Iterator[Sentence]:
    """Read raw text: see `Parser.read_text`."""
    name = ""
    if isinstance(source, (str, os.PathLike)) and source != "-":
        name = Path(source).name.removesuffix(".gz").removesuffix(".txt")
    name = "-".join(name.split())
    return tokenizer.stream(read_pieces(source), lines=lines, name=name, warn=warn)
