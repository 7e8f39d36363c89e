"""The k best trees on treebanks, by each algorithm: what ``arborescence experiment runtime`` took.

``python benchmarks/race.py OUTPUT``: reads the times that the experiment has kept in its folder.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from math import inf
from pathlib import Path

from arborescence_papers.common.groups import grouped
from arborescence_papers.runtime.measure import CONTESTANTS, Lists
from arborescence_papers.runtime.report import ROOTS
from recording import Results

LENGTHS = (0, 10, 20, 30, 50, inf)


def seconds(group, name, low=0, high=inf):
    """Return the seconds of all sentences of these lengths, without what calls take."""
    return sum(
        took
        for one in group
        for n, took in zip(one.words, one.searches(name), strict=True)
        if low < n <= high
    )


def main():
    files = sorted(Path(sys.argv[1], "times", "treebanks").glob("*.json"))
    kept = {file.stem: json.loads(file.read_bytes()) for file in files}
    lists = {name: [Lists(**one) for one in content["result"]] for name, content in kept.items()}
    most = max(content["settings"]["sentences"] for content in kept.values())
    results = Results("race", "the k best trees by each algorithm, on the scores of parsers")
    for root, names in CONTESTANTS.items():
        by_treebank, by_length = [], []
        for name, found in lists.items():
            for one in (one for one in found if one.root == root):
                count = len(one.words)
                took = (1e6 * seconds([one], who) / count for who in names)
                by_treebank.append(
                    [name, one.k, count, sum(one.words) / count, *took, one.unequal, one.unfinished]
                )
        of_root = [one for found in lists.values() for one in found if one.root == root]
        for k, group in grouped(of_root, lambda one: one.k).items():
            for low, high in pairwise(LENGTHS):
                count = sum(low < n <= high for one in group for n in one.words)
                words = f"{low + 1} to {high}" if high < inf else f"more than {low}"
                took = (1e6 * seconds(group, who, low, high) / count for who in names)
                by_length.append([words, k, count, *took])
        condition = (
            f"root edges: {ROOTS[root]}; up to {most} test sentences of each treebank, one call a "
            "sentence, without what a call takes"
        )
        unit = "microseconds of processor time a sentence"
        columns = ["treebank", "k", "sentences", "words", *names, "unequal", "unfinished"]
        results.table(f"treebanks, {ROOTS[root]}", columns, by_treebank, unit=unit,
                      condition=condition)  # fmt: skip
        columns = ["words", "k", "sentences", *names]
        results.table(f"lengths, {ROOTS[root]}", columns, by_length, unit=unit, condition=condition)
    results.save()


if __name__ == "__main__":
    main()
