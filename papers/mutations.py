"""Whether the test of each row of ALGORITHMS.md fails if the row is made false.

``python papers/mutations.py [TEXT ...]``: for each row whose work or subject contains a TEXT (all
rows, without one), runs the row's test in a copy of the repository: as it is, and after a change of
the row's function. ``mutations.toml`` has the change: a text of the file, and the text that
replaces it. Printed is what the test says then. If a test passes in spite of the change, or fails
without it, the exit status is 1.

Kernels run uncompiled, unless a row says ``compiled = true``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_MOST = 900  # seconds for one test
_FAILED = 1  # the exit status of pytest where tests failed, not where none could be run


class Row(NamedTuple):
    """A row of ALGORITHMS.md whose code is here."""

    work: str
    what: str
    file: Path
    function: str
    test: str


def rows(root: Path = ROOT) -> list[Row]:
    """Return the rows with a file, with paths from the root of the repository."""
    found = []
    for line in (root / "papers" / "ALGORITHMS.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| *") or cells[2] == "–":
            continue
        work, what, (file, function, test) = cells[0], cells[1], (c.strip("`") for c in cells[2:5])
        own = file.startswith("papers/")
        source = "papers/src/arborescence_papers" if own else "src/arborescence"
        tests = "papers/tests" if test.startswith("papers/") else "tests"
        path = Path(source, file.removeprefix("papers/"))
        found.append(
            Row(work.strip("*"), what, path, function, f"{tests}/{test.removeprefix('papers/')}")
        )
    return found


def mutations(root: Path = ROOT) -> dict[tuple[str, str], dict[str, str]]:
    """Return the recorded change of each row, by its work and its subject."""
    with (root / "papers" / "mutations.toml").open("rb") as file:
        return {(one["work"], one["what"]): one for one in tomllib.load(file)["mutation"]}


def changed(text: str, change: dict[str, str]) -> str:
    """Return the text of a file with a change; ValueError if its place is not there once."""
    count = text.count(change["old"])
    if count != 1:
        raise ValueError(f"{change['old']!r} is there {count} times")
    return text.replace(change["old"], change["new"])


def run(test: str, compiled: object, copy: Path) -> subprocess.CompletedProcess[str]:
    """Run a test in a copy of the repository."""
    paths = (copy / each for each in ("src", "papers/src", "models/en/src"))
    variables = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
        "NUMBA_CACHE_DIR": str(copy / "kernels"),
        "FEW_GRAPHS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    # Without the JIT, NumPy warns of arithmetic with infinity.
    command += ["-m", "not long", "-W", "ignore::RuntimeWarning", test]
    try:
        return subprocess.run(  # noqa: S603 (pytest, with a test of this repository)
            command,
            cwd=copy,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=_MOST,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, f"E   no end after {_MOST} s", "")


def run_changed(row: Row, change: dict[str, str], copy: Path) -> subprocess.CompletedProcess[str]:
    """Run a row's test on its changed function, in a copy of the repository."""
    path = copy / row.file
    before = path.read_text("utf-8")
    try:
        path.write_text(changed(before, change), "utf-8")
        return run(row.test, change.get("compiled"), copy)
    finally:
        path.write_text(before, "utf-8")


def main() -> int:
    """Run what is asked for; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("text", nargs="*", help="only rows with one of these texts")
    chosen = parser.parse_args().text
    recorded = mutations()
    wrong = 0
    sound: dict[tuple[str, object], bool] = {}  # whether a test passes without a change
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "repository")
        leave_out = shutil.ignore_patterns(".*", "__pycache__", "site", "dist", "build")
        shutil.copytree(ROOT, copy, ignore=leave_out)
        for row in rows():
            name = f"{row.work}: {row.what}"
            if chosen and not any(text in name for text in chosen):
                continue
            start = time.perf_counter()
            change = recorded[row.work, row.what]
            key = row.test, change.get("compiled")
            if key not in sound:
                sound[key] = run(*key, copy).returncode == 0
            done = run_changed(row, change, copy)
            state = {_FAILED: "fails, as it must", 0: "PASSES"}.get(done.returncode, "CANNOT RUN")
            state = state if sound[key] else "FAILS WITHOUT THE CHANGE"
            wrong += state != "fails, as it must"
            print(f"{time.perf_counter() - start:5.0f} s  {state}  {name}  {row.test}", flush=True)  # noqa: T201
            said = [line for line in done.stdout.splitlines() if line.startswith("E  ")]
            print("        " + " ".join(said[0].split()[1:])[:120] if said else "", flush=True)  # noqa: T201
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
