"""How often is a word's root edge its best edge, by what the parser learned by?

From the score files of ``arborescence experiment root``: ``python benchmarks/root_edges.py
root/scores``. Averages of treebanks, for the words that are the root in the treebank and for
others.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from arborescence_papers.common.recipes import Recipe
from arborescence_papers.common.scores import Scores
from arborescence_papers.root import methods
from recording import table


def shares(scores):
    """Return in percent how many gold roots, and other words, score best as a root."""
    wins = {True: [], False: []}
    for matrix, gold in zip(scores.matrices, scores.gold, strict=True):
        others = matrix[1:, 1:].copy()
        np.fill_diagonal(others, -np.inf)
        best = matrix[0, 1:] > others.max(axis=0)
        for root in (True, False):
            wins[root].extend(best[(gold[1:] == 0) == root])
    return [100 * np.mean(found) for found in wins.values()]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("scores", type=Path)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    rows = []
    for method, recipe in methods(Recipe(seed=given.seed)).items():
        files = sorted((given.scores / recipe.name).glob("*.npz"))
        roots, rest = np.mean([shares(Scores.read(file)) for file in files], axis=0)
        rows.append([method, f"{roots:.1f}", f"{rest:.1f}"])
    table(["", "gold roots, %", "other words, %"], rows)


if __name__ == "__main__":
    main()
