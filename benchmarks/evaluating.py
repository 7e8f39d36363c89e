"""How fast are treebanks evaluated, and in how much memory?

Real treebanks, one after the other, against themselves with one head in seven, and one relation and
one tag in ten, changed. ``python benchmarks/evaluating.py``
"""

from __future__ import annotations

import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from arborescence.treebank import evaluate, read, write
from inputs import TREEBANKS
from recording import Results, options
from timing import least_seconds


def changed(sentence, generator):
    """Hang some words from the word below the root, and change some relations and tags."""
    heads = sentence.tree
    root = int(np.flatnonzero(heads == 0)[0])
    heads[generator.random(heads.size) < 1 / 7] = root
    heads[[0, root]] = -1, 0

    def some(values, other):
        kept = generator.random(len(values)) > 0.1
        return [value if keep else other for value, keep in zip(values, kept, strict=True)]

    return sentence.replace(
        heads=heads, deprels=some(sentence.deprels, "obl"), feats=some(sentence.feats, "_")
    )


def whole_sentences():
    """Read sentences with one root edge and all heads from all treebanks."""
    for file in sorted(TREEBANKS.glob("*/*.conllu.gz")):
        for sentence in read(file):
            heads = sentence.heads
            if np.count_nonzero(heads == 0) == 1 and heads.min() >= 0:
                yield sentence


def main():
    quick = options(__doc__).quick
    if not TREEBANKS.is_dir():
        print("(no ../shared/ud: nothing to evaluate)\n")
        return
    results = Results("evaluating", "two files of treebanks read and compared", quick)
    rows = []
    for size in (15_000,) if quick else (15_000, 90_000):
        with tempfile.TemporaryDirectory() as folder:
            gold, predicted = Path(folder) / "gold.conllu", Path(folder) / "predicted.conllu"
            write(islice(whole_sentences(), size), gold)
            generator = np.random.default_rng(0)
            write((changed(sentence, generator) for sentence in read(gold)), predicted)
            words = evaluate(gold, predicted).words.gold
            seconds = least_seconds(
                lambda files=(gold, predicted): evaluate(*files), budget=5, clock=time.process_time
            )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append([words, seconds, int(words / seconds), int(peak)])
    results.table(
        "evaluate",
        ["words in each file", "processor time, s", "words a second", "peak memory, MiB"], rows,
        unit="as the columns say", condition="one head in seven, one relation and one set of "
        "features in ten changed; processor time, least of runs",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
