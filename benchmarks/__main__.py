"""Benchmarks, one after the other, each in a process of its own: ``python benchmarks [NAME ...]``.

Each writes ``benchmarks/results/NAME.json``; ``make figures`` shows the results in the pages.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ESSENTIAL = ("decoding", "growth", "kbest", "distributions", "parsing", "first_use")
OTHERS = (
    "sparse", "graphs", "undirected", "edge_linear", "through_undirected", "evaluating",
    "searching", "neural", "gradients", "styles", "rules", "asking", "threads", "shipped", "kinds",
    "english", "languages", "las_and_speed", "parts_of_parsing", "few_sentences",
)  # fmt: skip
HERE = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    names = (*ESSENTIAL, *OTHERS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; or all")
    parser.add_argument("--essential", action="store_true", help=f"only {', '.join(ESSENTIAL)}")
    parser.add_argument("--quick", action="store_true", help="less, for a look: writes no results")
    options = parser.parse_args()
    chosen = options.names or (ESSENTIAL if options.essential else names)
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {names}")
    failed, start = [], time.perf_counter()
    for name in chosen:
        command = [sys.executable, HERE / f"{name}.py", *["--quick"] * options.quick]
        # One thread in NumPy's libraries, too.
        done = subprocess.run(command, env={"OPENBLAS_NUM_THREADS": "1", **os.environ}, check=False)
        failed += [name] * (done.returncode != 0)
        print(f"{name}: done ({time.perf_counter() - start:.0f} s in all)", file=sys.stderr)
    if failed:
        sys.exit(f"these failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
