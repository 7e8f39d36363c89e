"""Parsing through undirected trees beside exact decoding: time, and how much weight is lost.

Scores of the model english-fast for the sentences of English-EWT test, and random ones.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

import arborescence as arb
from arborescence import parsers
from arborescence.treebank import read
from inputs import TREEBANKS, model_like, uniform
from recording import Results, options
from timing import microseconds

ENCODINGS = ("mean", "max", "min")
ROUNDS = (0, 1, 5, None)


def english():
    """Scores of real sentences, a batch for each length, but for the short and the very long."""
    parser = parsers.load("english-fast")
    sentences = sorted(read(TREEBANKS / "English-EWT" / "en_ewt-ud-test.conllu.gz"), key=len)
    for n, group in groupby((s for s in sentences if 3 <= len(s) <= 60), key=len):
        yield n, np.stack([parser.scores(sentence) for sentence in group])


def compare(batches, find):
    """Share of trees that are as good as the best, of edges in common, and of weight lost.

    `find` makes the tree of a sentence from what stands first in its batch, and its scores.
    """
    trees = optimal = edges = same = 0
    lost = spread = 0.0
    for first, scores in batches:
        best = arb.decode(scores)
        found = find(first, scores)
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


def once(rows):
    """Leave out the first cell of a row that has that of the row above."""
    kinds = [None, *(row[0] for row in rows)]
    return [
        ["" if row[0] == above else row[0], *row[1:]]
        for above, row in zip(kinds, rows, strict=False)
    ]


def main():
    quick = options(__doc__).quick
    results = Results("through_undirected", "parsing through undirected trees beside decode", quick)
    rng = np.random.default_rng(0)
    real = list(english())[: 20 if quick else None]
    kinds = {
        "English": real,
        "model-like": [(n, model_like(rng, 200, n)) for n in (10, 25, 50)],
        "uniform": [(n, uniform(rng, 200, n)) for n in (10, 25, 50)],
    }
    rows = []
    for kind, batches in kinds.items():
        for encoding in ENCODINGS:
            for rounds in ROUNDS if encoding == "mean" else (0, 5):
                how = {"encoding": encoding, "rounds": rounds}
                found = compare(batches, lambda _, s, how=how: arb.undirected.decode(s, **how))
                rows.append([kind, encoding, "no limit" if rounds is None else rounds, *found])
    results.table(
        "weight",
        ["scores", "encoding", "rounds", "best trees", "edges of the best tree", "weight lost"],
        once(rows), unit="as the cells say",
        condition="exactly one root edge; weight lost in standard deviations of a word's scores",
    )  # fmt: skip

    graphs = []
    by_length = dict(real)
    for n in (10, 25, 40):
        near = [by_length[m] for m in (n - 1, n, n + 1) if m in by_length]
        several = [np.tile(scores, (max(1, 300 // len(scores)), 1, 1)) for scores in near]
        if several:
            graphs.append(("English", n, max(several, key=len)))
    for kind, make in (("model-like", model_like), ("uniform", uniform)):
        for n in (10, 25, 50, 100, 200):
            graphs.append((kind, n, make(rng, max(10, 20_000 // n**2), n)))
    rows = []
    for kind, n, scores in graphs:
        took = [
            microseconds(call, len(scores))
            for call in (
                lambda s=scores: arb.decode(s),
                lambda s=scores: arb.undirected.decode(s, rounds=0),
                lambda s=scores: arb.undirected.decode(s, rounds=5),
            )
        ]
        rows.append([kind, n, *took, f"{took[-1] / took[0]:.1f}"])
    results.table(
        "time",
        ["scores", "n words", "exact", "undirected, 0 rounds", "5 rounds", "5 rounds / exact"],
        once(rows), unit="µs a sentence", condition="batches, processor time, least of runs",
    )  # fmt: skip
    results.save()


if __name__ == "__main__":
    main()
