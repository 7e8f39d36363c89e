"""Record the report of an experiment: ``python benchmarks/experiments.py NAME FOLDER COMMAND``.

NAME is that of the file in ``benchmarks/results``, FOLDER what ``arborescence experiment`` wrote,
or a file with what a benchmark printed that takes too long for ``make bench``
(``python benchmarks/pruning.py > pruning.md``), and COMMAND how it was called. Each table is named
after its heading, as on a web page, with a number from the second one on. The cells stay as they
are printed. Figures go into ``docs/images``, with the end of NAME before their own.
"""

from __future__ import annotations

import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from figures import IMAGES
from recording import commit, processor, versions, write

#: A heading, or a table.
PART = re.compile(r"^#+ (.*)\n|^\|.*\|\n\| ---.*\n(?:\|.*\n)*", re.MULTILINE)


def tables_of(text):
    """Return the tables of a report or of a page, by name."""
    found, heading = {}, ""
    for part in PART.finditer(text):
        if part[1] is not None:
            heading = re.sub(r"[^a-z0-9]+", "-", part[1].lower()).strip("-")
            continue
        lines = [line.strip("|").split("|") for line in part[0].splitlines()]
        number = 1 + sum(re.fullmatch(rf"{heading}(-\d+)?", name) is not None for name in found)
        name = heading if number == 1 else f"{heading}-{number}"
        columns, _, *rows = [[cell.strip() for cell in line] for line in lines]
        found[name] = {
            "unit": "as the header says", "condition": heading, "columns": columns, "rows": rows,
        }  # fmt: skip
    return found


def record(name, folder, command):
    """Write the tables and the figures of a report."""
    folder = Path(folder)
    report = folder if folder.is_file() else folder / "report.md"
    write(name, {
        "measures": f"The tables of {report.name}",
        "command": command,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit(),
        "processor": processor(),
        "versions": versions(),
        "tables": tables_of(report.read_text(encoding="utf-8")),
    })  # fmt: skip
    for figure in sorted(folder.glob("*.svg")):
        shutil.copy(figure, IMAGES / f"{name.removeprefix('experiment-')}-{figure.name}")


if __name__ == "__main__":
    record(*sys.argv[1:])
