"""Convert nine old training parts to today's annotation, without sentences of today's dev and test.

``python models/treebanks.py FOLDER OUTPUT [NAME...]``, where FOLDER is `../shared/ud-more`. Each
conversion learns from today's dev part and the same sentences in the old annotation.
"""

from __future__ import annotations

import sys
from pathlib import Path

from arborescence.treebank import write
from arborescence_papers.conversion.sources import PARTS, converted


def main(folder: str, output: str, *names: str) -> None:
    """Write a training part into a folder for each treebank."""
    for name in names or PARTS:
        place = Path(output) / name
        place.mkdir(parents=True, exist_ok=True)
        found = converted(Path(folder), name)
        write(found, place / "train.conllu")
        print(f"{name}: {len(found):,} sentences, {sum(map(len, found)):,} words", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
