"""Record the report of an experiment: ``python benchmarks/experiments.py NAME FOLDER COMMAND``.

NAME is that of the file in ``benchmarks/results``, FOLDER what ``arborescence experiment`` wrote,
or a file with what a benchmark printed that takes too long for ``make bench``
(``python benchmarks/pruning.py > pruning.md``), and COMMAND how it was called. Each table is named
after its heading, as on a web page, with a number from the second one on. The cells stay as they
are printed. Figures go into ``papers/reports/images``, with the end of NAME before their own.
"""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from arborescence_papers.common.report import tables_of
from figures import REPORTS
from recording import commit, processor, versions, write


def tables_as_data(text):
    """Return the tables of a report or of a page, by name."""
    return {
        name: {
            "unit": "as the header says", "condition": name, "columns": columns, "rows": rows,
        }
        for name, (columns, *rows) in tables_of(text).items()
    }  # fmt: skip


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
        "tables": tables_as_data(report.read_text(encoding="utf-8")),
    })  # fmt: skip
    short = name.removeprefix("experiment-")
    for figure in sorted(folder.glob("*.svg")):
        shutil.copy(figure, REPORTS / "images" / f"{short}-{figure.name}")


if __name__ == "__main__":
    record(*sys.argv[1:])
