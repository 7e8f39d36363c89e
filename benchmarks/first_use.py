"""How long a user waits for the first result, in a new process, and what a call costs after that.

The installation of this Python, whose kernels Numba compiles with nothing kept on disk from earlier
runs; and the wheel that ``make wheel`` has put into ``dist``, in an environment of its own. Without
one, tables are printed and no results written.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recording import Results, options

ROOT = Path(__file__).parents[1]
ENGLISH = ROOT.parent / "shared" / "ud" / "English-EWT" / "en_ewt-ud-test.conllu.gz"
SENTENCE = "Old trees grow slowly\n"
BUDGET = 3.0  # seconds of runs after which there are no more
RUNS = 9

BEGINNING = "import numpy as np, arborescence as arb; scores = np.random.default_rng(0).normal("
GRAPH = f"{BEGINNING}size=(26, 26)); "
EDGES = "h, d = np.triu_indices(26, 1); "
FIRST = {
    "`import numpy`": "import numpy",
    "`decode` one graph of 25 words": f"{GRAPH}arb.decode(scores)",
    "`decode(projective=True)`": f"{GRAPH}arb.decode(scores, projective=True)",
    "`decode_sparse`": f"{GRAPH}{EDGES}arb.decode_sparse(25, h, d, scores[h, d])",
    "`decode_labeled`": f"{BEGINNING}size=(26, 26, 5)); arb.decode_labeled(scores)",
    "`kbest`": f"{GRAPH}arb.kbest(scores, 5)",
    "`TreeDistribution`, marginals": f"{GRAPH}arb.TreeDistribution(scores).marginals()",
    "`TreeDistribution`, draws": f"{GRAPH}arb.TreeDistribution(scores).sample(5, rng=0)",
}
COMMANDS = {
    "`arborescence parse`, one sentence": ("parse", "--format", "lines", "-"),
    "`arborescence parse`, test part of English-EWT": ("parse", str(ENGLISH)),
}

# A graph whose greedy edges are a tree, and 1,000 like those of a parser: the least of 7 means.
CALLS = """
import timeit, numpy as np, arborescence as arb
from arborescence_papers.runtime.graphs import model_like

rng = np.random.default_rng(0)

def least(call, count):
    return min(timeit.repeat(call, number=1, repeat=7)) / count * 1e6

easy = np.zeros((26, 26), np.float32)
easy[range(25), range(1, 26)] = 9
graphs, short = model_like(rng, 1000, 25), model_like(rng, 1000, 10)
decode, kbest = arb.decode, arb.kbest
for name, call in {
    "`decode`, easy graph of 25 words": lambda: [decode(easy) for _ in range(1000)],
    "`decode`, model-like graphs of 25 words": lambda: [decode(each) for each in graphs],
    "`kbest(k=1)`, model-like graphs of 10 words": lambda: [kbest(each, 1) for each in short],
}.items():
    print(name, f"{least(call, 1000):.2f}", sep="\\t")
"""


def seconds(command, folder, text=""):
    """Run a command; return the seconds that it takes."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "ARBORESCENCE_QUIET": "1"}
    start = time.perf_counter()
    done = subprocess.run(
        command, input=text, env=environment, stdout=subprocess.DEVNULL, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"this fails: {command}")
    return time.perf_counter() - start


def median(run):
    """Return the median seconds of several runs, of one if that takes long."""
    found = [run()]
    while len(found) < RUNS and sum(found) < BUDGET:
        found.append(run())
    return statistics.median(found)


def first(python, command):
    """Return the seconds of a command with nothing kept."""

    def run_alone():
        with tempfile.TemporaryDirectory() as empty:
            return seconds([python, *command], empty, SENTENCE)

    return median(run_alone)


def megabytes(python, package):
    """Return the size of an installed package, without what Python and Numba write into it."""
    found = f"from importlib.util import find_spec; print(find_spec({package!r}).origin)"
    done = subprocess.run([python, "-c", found], capture_output=True, text=True, check=False)
    if done.returncode:
        return 0.0
    folder = Path(done.stdout.strip()).parent
    folders = [folder, *folder.parent.glob(f"{package}.libs")]
    return (
        sum(
            path.stat().st_size
            for each in folders
            for path in each.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        )
        / 1e6
    )


def with_wheel(folder, extras="cli"):
    """Return the Python of an environment with the wheel alone, or None if there is no wheel."""
    wheels = [file for file in (ROOT / "dist").glob("*.whl") if "-none-any" not in file.name]
    if not wheels:
        return None
    newest = max(wheels, key=lambda file: file.stat().st_mtime)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", f"{newest}[{extras}]"], check=True)
    return python


def main():
    quick = options(__doc__).quick
    with tempfile.TemporaryDirectory() as folder:
        pythons = {"by the JIT, from a checkout": sys.executable}
        if wheel := with_wheel(folder):
            pythons = {"the wheel": wheel, **pythons}
        else:
            print("(no wheel in dist: `make wheel` makes one; no results written)", file=sys.stderr)
        results = Results(
            "first_use", "whole processes, from the start of Python to its end", quick or not wheel
        )
        commands = {name: ("-c", code) for name, code in FIRST.items()}
        for name, command in COMMANDS.items():
            if command[-1] == "-" or ENGLISH.exists():
                commands[name] = ("-m", "arborescence", *command)
        rows = [
            [name, *(first(python, command) for python in pythons.values())]
            for name, command in list(commands.items())[: 2 if quick else None]
        ]
        results.table(
            "processes", ["a new process", *pythons], rows, unit="s",
            condition="nothing kept from before; median, of one run where that takes long",
        )  # fmt: skip
        rows = []
        for name, python in pythons.items():
            calls = subprocess.run(
                [python, "-c", CALLS], capture_output=True, text=True, check=True
            ).stdout
            cells = [line.split("\t") for line in calls.splitlines()]
            rows.append([name, *(float(value) for _, value in cells)])
        results.table(
            "calls", ["kernels", *(name for name, _ in cells)], rows, unit="µs",
            condition="one call, float32, least of 7 means",
        )  # fmt: skip
        packages = ("arborescence", "numpy", "numba", "llvmlite")
        results.table(
            "installed", ["kernels", *packages],
            [[name, *(megabytes(python, each) for each in packages)]
             for name, python in pythons.items()],
            unit="MB", condition="files of the package; 0: not installed",
        )  # fmt: skip
        results.save()


if __name__ == "__main__":
    main()
