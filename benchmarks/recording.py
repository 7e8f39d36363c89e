"""What benchmarks found, as data: ``results/NAME.json``, written by the benchmark, read by figures.

A file says what was measured, by which command, when, at which commit, on which processor, and with
which versions; then it has tables, each with its unit, its condition, columns and rows. Ratios are
not kept: they are computed from what was measured in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from figures import markdown

FOLDER = Path(__file__).parent / "results"
ROOT = Path(__file__).parents[1]
#: Whose versions are noted, where they are installed.
PACKAGES = (
    "arborescence", "numpy", "numba", "torch", "torch-struct", "ufal.chu-liu-edmonds", "stanza",
    "networkx", "scipy", "rustworkx", "igraph",
)  # fmt: skip


def processor():
    """Return the name of the processor, and how many cores this process may use."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    known = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    name = known.get("model name", platform.processor() or platform.machine())
    vectors = ", AVX-512" if "avx512f" in known.get("flags", "").split() else ""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}{vectors}, {cores} cores"


def versions():
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit():
    """Return the commit of this checkout, with a + if files were changed since."""
    done = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--abbrev=10", "--dirty=+", "--exclude=*"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() or "unknown"


def rounded(value):
    """Return a cell as it is kept: numbers with four digits, all else as text."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    return float(f"{value:.4g}")


class Results:
    """The results of one benchmark.

    Each table is one step, of which one line on standard error tells. `save` writes the file; after
    a short run, which is only for a look, it prints the tables and writes nothing.
    """

    def __init__(self, name, measures, short=False):
        self.name, self.measures, self.short = name, measures, short
        self._tables = {}
        self._start = time.perf_counter()

    def table(self, name, columns, rows, *, unit="", condition=""):
        """Keep a table; each row has a cell, a number or text, for each column."""
        rows = [[rounded(cell) for cell in row] for row in rows]
        if any(len(row) != len(columns) for row in rows):
            raise ValueError(f"table {name!r} has rows that are not as long as its header")
        self._tables[name] = {
            "unit": unit, "condition": condition, "columns": list(columns), "rows": rows,
        }  # fmt: skip
        seconds = time.perf_counter() - self._start
        print(f"{self.name}: {name} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    def save(self):
        """Write the file; or print the tables of a short run."""
        if self.short:
            for name, table in self._tables.items():
                print(f"### {name} ({table['unit']}): {table['condition']}\n")
                print(markdown(table["columns"], table["rows"]), flush=True)
            return
        write(self.name, {
            "measures": self.measures,
            "command": f"python benchmarks {self.name}",
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "commit": commit(),
            "processor": processor(),
            "versions": versions(),
            "tables": self._tables,
        })  # fmt: skip


def text_of(value, indent=""):
    """Return JSON in which objects are spread over lines, and lists of rows have a row a line."""
    more = indent + "  "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {text_of(each, more)}" for key, each in value.items()]
        return f"{{\n{more}" + f",\n{more}".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], list):
        lines = [text_of(each) for each in value]
        return f"[\n{more}" + f",\n{more}".join(lines) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def write(name, content):
    """Write a file of results, under a temporary name first."""
    FOLDER.mkdir(exist_ok=True)
    partial = FOLDER / f"{name}.part"
    partial.write_text(text_of(content) + "\n", encoding="utf-8")
    partial.replace(FOLDER / f"{name}.json")


def options(text, models=False, **folders):
    """Read a benchmark's options: whether it is a short run, and its models or folders, if any."""
    parser = argparse.ArgumentParser(description=text.partition("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="less, for a look: writes no results")
    if models:
        parser.add_argument("models", nargs="*", metavar="MODEL", help="a name, or a file")
    for name, about in folders.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FOLDER", help=about)
    return parser.parse_args()


def table(header, rows):
    """Print a table of what takes too long for ``make bench``; `experiments` records such."""
    print(markdown(header, rows), flush=True)
