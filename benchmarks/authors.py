"""The k best trees by the library of the authors of *root* and *kbest*, beside ours.

The library is rycolab/spanningtrees, in Python, under the MIT licence. It is in no package index:
give the folder of a clone.

- The 50 best trees of 25 words with one root edge, by both libraries.
- Table 1 of *kbest* by the authors' own code: their `KBestCamerini` and their `KBest`.
- How many lists of their `KBest` are in another order than that of the weights. The paper assumes
  weights above 0, and there no list is. A parser's log-probabilities are below 0.

One process; processor time. ``python benchmarks/authors.py CLONE [--quick]``
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

import arborescence as arb
from inputs import english_scores, model_like, uniform
from recording import Results
from timing import microseconds

WORDS, MANY = 25, 50
#: A graph of three words and six edges: the smallest that a search over small whole numbers found.
SMALLEST = {(0, 2): -2, (0, 3): -1, (1, 2): -1, (2, 1): -1, (3, 1): -1, (3, 2): -3}


def trees_of(finder, scores, k, *, single=None):
    """Return the k best trees by a class of the authors' library."""
    given = () if single is None else (single,)
    return [tree.copy() for tree in islice(finder(scores).kbest(*given), k)]


def milliseconds(call, graphs):
    """Return the milliseconds of processor time for a graph, the least of two runs."""

    def run():
        for scores in graphs:
            call(scores)

    return microseconds(run, len(graphs), budget=0, at_least=2) / 1000


def positive(scores):
    """Add a number to all edges, so that each weighs more than 0: trees keep their order."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores - scores[np.isfinite(scores)].min() + 1


def speed(results, theirs, graphs):
    """Time the 50 best trees with one root edge."""
    kinds = {"model-like, all weights above 0": model_like, "uniform": uniform}
    rows = []
    for name, kind in kinds.items():
        scores = [positive(one) for one in kind(np.random.default_rng(0), graphs, WORDS)]
        calls = partial(trees_of, theirs, k=MANY, single=True), partial(arb.kbest, k=MANY)
        rows.append([name, *(milliseconds(call, scores) for call in calls)])
    results.table(
        "fifty best trees", ["graphs", "rycolab/spanningtrees", "arborescence"], rows,
        unit="milliseconds of processor time a graph",
        condition=f"{MANY} best trees of {WORDS} words with one root edge; {graphs} graphs, alone",
    )  # fmt: skip


def table_1(results, theirs, camerini, sentences):
    """Time both algorithms of Table 1 in the authors' implementations."""
    english = [one for one in english_scores() if 5 < len(one) <= 41][:sentences]
    rng = np.random.default_rng(1)
    kinds = {
        "English-EWT test, all weights above 0": [positive(one) for one in english],
        "uniform, 5 to 40 words": [
            positive(uniform(rng, 1, int(rng.integers(5, 41)))[0]) for _ in range(sentences)
        ],
    }
    rows = []
    for name, graphs in kinds.items():
        for k in (10, 20, 50) if graphs else ():
            calls = (partial(trees_of, one, k=k) for one in (camerini, theirs))
            took = [milliseconds(call, graphs) for call in calls]
            rows.append([name, k, *took, took[0] / took[1]])
    columns = ["graphs", "k", "Camerini et al.", "KBEST", "Camerini et al. / KBEST"]
    results.table(
        "table 1", columns, rows, unit="milliseconds of processor time a graph",
        condition=f"any number of root edges; {sentences} graphs, one after the other",
    )  # fmt: skip


def in_order(theirs, scores, k, single):
    """Return whether the authors' library lists the k best trees by their weights."""
    found = [arb.tree_weight(scores, tree) for tree in trees_of(theirs, scores, k, single=single)]
    right = arb.kbest(scores, k, root="single" if single else "multi").weights
    return len(found) == len(right) and bool(np.allclose(found, right))


def order(results, theirs, graphs):
    """Count lists in another order than that of the weights."""
    rng = np.random.default_rng(2)
    kinds = {
        "uniform, above 0": lambda: rng.uniform(0, 1, (4, 4)),
        "uniform, below 0": lambda: rng.uniform(-1, 0, (4, 4)),
        "normal": lambda: rng.normal(size=(4, 4)),
        "model-like": lambda: model_like(rng, 1, 3)[0].astype(np.float64),
        "model-like, 8 words": lambda: model_like(rng, 1, 8)[0].astype(np.float64),
    }
    rows = []
    for name, draw in kinds.items():
        drawn = [draw() for _ in range(graphs)]
        wrong = [
            sum(not in_order(theirs, scores, 20, single) for scores in drawn)
            for single in (False, True)
        ]
        rows.append([name, graphs, *wrong])
    columns = ["graphs of three words", "graphs", "any number of root edges", "one root edge"]
    results.table(
        "other order", columns, rows, unit="graphs",
        condition="the 20 best trees come in another order than that of their weights",
    )  # fmt: skip
    scores = np.full((4, 4), -np.inf)
    for edge, weight in SMALLEST.items():
        scores[edge] = weight
    found = trees_of(theirs, scores, 9)
    right = arb.kbest(scores, 9, root="multi")
    rows = [
        [str(ours.tolist()), arb.tree_weight(scores, ours), str(other.tolist()),
         arb.tree_weight(scores, other)]
        for ours, other in zip(right.heads, found, strict=True)
    ]  # fmt: skip
    results.table(
        "smallest case",
        ["arborescence", "weight", "rycolab/spanningtrees", "its weight"],
        rows,
        condition="edges " + ", ".join(f"{h} → {d}: {w}" for (h, d), w in SMALLEST.items()),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("clone", type=Path, help="the folder of a clone of rycolab/spanningtrees")
    parser.add_argument("--quick", action="store_true", help="less, for a look: writes no results")
    given = parser.parse_args()
    sys.path.insert(0, str(given.clone))
    theirs = importlib.import_module("spanningtrees.kbest").KBest
    camerini = importlib.import_module("spanningtrees.kbest_camerini").KBestCamerini
    git = ["git", "-C", given.clone, "log", "-1", "--format=%h of %as"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    results = Results(
        "authors", f"the k best trees by rycolab/spanningtrees, commit {commit}", given.quick
    )
    few = given.quick
    speed(results, theirs, 2 if few else 10)
    table_1(results, theirs, camerini, 3 if few else 30)
    order(results, theirs, 30 if few else 300)
    results.save()


if __name__ == "__main__":
    main()
