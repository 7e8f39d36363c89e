"""Parsing through undirected trees beside exact decoding: time, and how much weight is lost.

``python benchmarks/through_undirected.py``: scores of the built-in English model for the sentences
of English-EWT test, and random ones.
"""

from __future__ import annotations

import time
from itertools import groupby

import numpy as np

import arborescence as arb
from arborescence import parsers
from arborescence.treebank import read
from inputs import TREEBANKS, model_like, uniform
from recording import table
from timing import least_seconds

ENCODINGS = ("mean", "max", "min")
ROUNDS = (0, 1, 5, None)


def english():
    """Scores of real sentences, a batch for each length, but for the short and the very long."""
    parser = parsers.load("english")
    sentences = sorted(read(TREEBANKS / "English-EWT" / "en_ewt-ud-test.conllu.gz"), key=len)
    for n, group in groupby((s for s in sentences if 3 <= len(s) <= 60), key=len):
        yield n, np.stack([parser.scores(sentence) for sentence in group])


def compare(batches, **options):
    """Share of trees that are as good as the best, of weight lost, and of edges in common."""
    trees = optimal = edges = same = 0
    lost = spread = 0.0
    for _, scores in batches:
        best = arb.decode(scores)
        found = arb.undirected.decode(scores, **options)
        gaps = arb.tree_weight(scores, best) - arb.tree_weight(scores, found)
        words = best.shape[1] - 1
        trees += len(best)
        optimal += np.count_nonzero(gaps == 0)
        edges += words * len(best)
        same += np.count_nonzero(best[:, 1:] == found[:, 1:])
        lost += gaps.sum()
        # The scale of the scores: how much they differ among the heads of a word.
        off = ~np.eye(words + 1, dtype=np.bool_)[:, 1:]
        spread += scores[:, :, 1:].std(axis=1, where=off).sum()
    return [f"{100 * optimal / trees:.1f} %", f"{100 * same / edges:.1f} %", f"{lost / spread:.3f}"]


def microseconds(scores, decode, **options):
    seconds = least_seconds(lambda: decode(scores, **options), budget=0.3, clock=time.process_time)
    return 1e6 * seconds / len(scores)


def main():
    rng = np.random.default_rng(0)
    real = list(english())
    kinds = {
        "English": real,
        "model-like": [(n, model_like(rng, 200, n)) for n in (10, 25, 50)],
        "uniform": [(n, uniform(rng, 200, n)) for n in (10, 25, 50)],
    }
    rows = []
    for kind, batches in kinds.items():
        for encoding in ENCODINGS:
            for rounds in ROUNDS if encoding == "mean" else (0, 5):
                found = compare(batches, encoding=encoding, rounds=rounds)
                rows.append([kind, encoding, str(rounds), *found])
    table(["scores", "encoding", "rounds", "best trees", "edges of those", "weight lost"], rows)

    rows = []
    by_length = dict(real)
    for n in (10, 25, 40):
        near = [by_length[m] for m in (n - 1, n, n + 1) if m in by_length]
        several = [np.tile(scores, (max(1, 300 // len(scores)), 1, 1)) for scores in near]
        rows.append(("English", n, max(several, key=len)))
    for n in (10, 25, 50, 100, 200):
        rows.append(("model-like", n, model_like(rng, max(10, 20_000 // n**2), n)))
        rows.append(("uniform", n, uniform(rng, max(10, 20_000 // n**2), n)))
    lines = []
    for kind, n, scores in sorted(rows, key=lambda row: (row[0], row[1])):
        exact = microseconds(scores, arb.decode)
        by_way = [microseconds(scores, arb.undirected.decode, rounds=r) for r in (0, 5)]
        lines.append(
            [
                kind,
                str(n),
                f"{exact:.1f}",
                *(f"{t:.1f}" for t in by_way),
                f"{by_way[1] / exact:.1f}",
            ]
        )
    table(["scores", "n words", "exact", "0 rounds", "5 rounds", "5 rounds / exact"], lines)


if __name__ == "__main__":
    main()
