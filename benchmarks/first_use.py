"""How long a user waits for the first result, in a new process, and what a call costs after that.

``python benchmarks/first_use.py`` measures the installation that this Python has: native kernels,
or those that Numba compiles. Nothing is kept on disk from earlier runs; where Numba compiles, each
row has other runs with what the first one has kept. ``--demo`` adds ``make demo`` in a fresh
clone, which installs packages.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from timing import table

ROOT = Path(__file__).parents[1]
ENGLISH = ROOT.parent / "shared" / "ud" / "English-EWT" / "en_ewt-ud-test.conllu.gz"
SENTENCE = "Old trees grow slowly\n"
BUDGET = 10.0  # seconds of runs after which there are no more
RUNS = 9

BEGINNING = "import numpy as np, arborescence as arb; scores = np.random.default_rng(0).normal("
GRAPH = f"{BEGINNING}size=(26, 26)); "
EDGES = "h, d = np.triu_indices(26, 1); "
FIRST = {
    "`import numpy`": "import numpy",
    "`decode` one graph of 25 words": f"{GRAPH}arb.decode(scores)",
    "... of float32": f"{BEGINNING}size=(26, 26)).astype('f'); arb.decode(scores)",
    "`decode(projective=True)`": f"{GRAPH}arb.decode(scores, projective=True)",
    "`decode_sparse`": f"{GRAPH}{EDGES}arb.decode_sparse(25, h, d, scores[h, d])",
    "`decode_labeled`": f"{BEGINNING}size=(26, 26, 5)); arb.decode_labeled(scores)",
    "`kbest`": f"{GRAPH}arb.kbest(scores, 5)",
    "`kbest(projective=True)`": f"{GRAPH}arb.kbest(scores, 5, projective=True)",
    "`second_best`": f"{GRAPH}arb.second_best(scores)",
    "`TreeDistribution`, marginals": f"{GRAPH}arb.TreeDistribution(scores).marginals",
    "`TreeDistribution`, draws": f"{GRAPH}arb.TreeDistribution(scores).sample(5, rng=0)",
}
COMMANDS = {
    "`arborescence parse`, one sentence": ("parse", "--format", "lines", "-"),
    "`arborescence parse`, test part of English-EWT": ("parse", str(ENGLISH)),
}

# A graph whose greedy edges are a tree, and 1,000 like those of a parser: the least of 7 means.
CALLS = """
import timeit, numpy as np, arborescence as arb
from arborescence.experiments.runtime.graphs import model_like

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
    """Run a command; return the seconds that it takes, and those of processors."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "ARBORESCENCE_QUIET": "1"}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        command, input=text, env=environment, stdout=subprocess.DEVNULL, text=True, check=False
    )
    passed, after = time.perf_counter() - start, os.times()
    if done.returncode:
        sys.exit(f"this fails: {command}")
    used = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return passed, used


def median(run):
    """Return the medians of several runs, of one if that takes long."""
    found = [run()]
    while len(found) < RUNS and sum(passed for passed, _ in found) < BUDGET:
        found.append(run())
    return [f"{statistics.median(column):.2f}" for column in zip(*found, strict=True)]


def row(name, command, native):
    """Measure one command with nothing kept, and again."""

    def run_alone():
        with tempfile.TemporaryDirectory() as empty:
            return seconds(command, empty, SENTENCE)

    if native:
        return name, *median(run_alone)
    with tempfile.TemporaryDirectory() as folder:
        first = [f"{each:.1f}" for each in seconds(command, folder, SENTENCE)]
        return name, *first, *median(lambda: seconds(command, folder, SENTENCE))


def megabytes(package):
    """Return the size of an installed package, without what Python and Numba write into it."""
    folder = Path(find_spec(package).origin).parent
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


def demo():
    """Return the seconds of ``make demo`` in a fresh clone."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", str(ROOT), folder], check=True)
        return seconds(["make", "-C", folder, "demo"], "")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--demo", action="store_true", help="also make demo in a fresh clone")
    options = parser.parse_args()
    from arborescence._config import config, described
    from arborescence.core import native

    is_native = native.KERNELS is not None
    print(f"{described()}\n{os.cpu_count()} cores\n")
    header = ["a new process", "s", "processor, s"]
    if not is_native:
        header += ["again, s", "again, processor, s"]
    python = [sys.executable, "-c"]
    rows = [row(name, [*python, code], is_native) for name, code in FIRST.items()]
    for name, command in COMMANDS.items():
        if command[-1] == "-" or ENGLISH.exists():
            rows.append(row(name, [sys.executable, "-m", "arborescence", *command], is_native))
    if options.demo:
        rows.append(("`make demo` in a fresh clone", f"{demo():.0f}", *[""] * (len(header) - 2)))
    table(header, rows)

    calls = subprocess.run([*python, CALLS], capture_output=True, text=True, check=True).stdout
    table(("a call", "µs"), [line.split("\t") for line in calls.splitlines()])

    packages = ["arborescence"] + ["numba", "llvmlite"] * (config()["numba"] != "not installed")
    table(("installed", "MB"), [(each, f"{megabytes(each):.1f}") for each in packages])


if __name__ == "__main__":
    main()
